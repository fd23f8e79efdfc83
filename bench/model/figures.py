"""Counts the parameters and the multiply-adds of a model from its file's content alone."""
import math

import onnx
import onnxruntime  # type: ignore[import-untyped]
from onnx import TensorProto, helper

from networks import Feeds

_STATISTICS = (3, 4)  # the inputs of BatchNormalization that training measures but does not learn
_STORED = ("attn_mask", "inv_freq")  # floats that a formula gives


def count_parameters(model: onnx.ModelProto) -> int:
    """The number of learned values: the floats of initializers, without statistics and what a formula gives."""
    graph = model.graph
    statistics = {node.input[i] for node in graph.node if node.op_type == "BatchNormalization" for i in _STATISTICS}
    return sum(math.prod(tensor.dims) for tensor in graph.initializer
               if tensor.data_type == TensorProto.FLOAT and tensor.name not in statistics
               and not tensor.name.endswith(_STORED))


def count_multiply_adds(model: onnx.ModelProto, feeds: Feeds) -> int:
    """The multiply-adds of all Conv, Gemm and MatMul nodes. Runs the model, as shapes may depend on the inputs."""
    nodes = [node for node in model.graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]
    shapes = _shapes_of(model, sorted({name for node in nodes for name in (*node.input[:2], node.output[0])}), feeds)
    total = 0
    for node in nodes:
        first, second, result = (shapes[name] for name in (node.input[0], node.input[1], node.output[0]))
        total += math.prod(result) * (math.prod(second[1:]) if node.op_type == "Conv" else first[-1])
    return total


def _shapes_of(model: onnx.ModelProto, values: list[str], feeds: Feeds) -> dict[str, list[int]]:
    graph = model.graph
    names = [f"shape of {value}" for value in values]
    nodes = [helper.make_node("Shape", [value], [name]) for value, name in zip(values, names)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [None]) for name in names]
    asking = helper.make_model(helper.make_graph([*graph.node, *nodes], graph.name, graph.input, outputs,
                                                 graph.initializer),
                               opset_imports=model.opset_import, ir_version=model.ir_version)
    results = onnxruntime.InferenceSession(asking.SerializeToString()).run(names, feeds)
    return {value: result.tolist() for value, result in zip(values, results)}
