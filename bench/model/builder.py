"""Builds an ONNX graph node by node, with the names and the scattered constants that torch.onnx.export writes."""
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from weights import Weights

OPSET = 17
IR_VERSION = 8  # what exporters write with opset 17

Dim = int | str
Value = str


class Builder:
    """Collects the nodes and parameters of one model. A value is known by its name."""

    def __init__(self, name: str, seed: int, fold_batch_norm: bool = False) -> None:
        self.name = name
        self.weights = Weights(seed)
        self.fold_batch_norm = fold_batch_norm
        self._scope: list[str] = []
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._values: set[Value] = set()
        self._uses: dict[str, int] = {}

    @contextmanager
    def scope(self, path: str) -> Iterator[None]:
        """Puts a module's name before those of the nodes and parameters that are made inside."""
        parts = path.split(".")
        self._scope += parts
        try:
            yield
        finally:
            del self._scope[-len(parts):]

    def path(self, name: str) -> str:
        """The full name of a parameter of the current module."""
        return ".".join([*self._scope, name])

    def input(self, name: str, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> Value:
        """Declares an input of the model."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        self._values.add(name)
        return name

    def output(self, name: str, value: Value, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> None:
        """Declares `value` as an output of the model and gives it this name."""
        for node in self._nodes:
            for names in (node.input, node.output):
                names[:] = [name if old == value else old for old in names]
        self._values.discard(value)
        self._values.add(name)
        self._outputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))

    def parameter(self, name: str, array: NDArray[np.generic]) -> Value:
        """Stores an array under its full name, once: the second time it must be the same parameter."""
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(array, name)
            self._values.add(name)
        return name

    def op(self, kind: str, *inputs: Value, **attributes: object) -> Value:
        """Adds a node with one output; an empty name is an input left out."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, outputs: int, *inputs: Value, **attributes: object) -> list[Value]:
        """Adds a node with several outputs."""
        for value in inputs:
            if value and value not in self._values:
                raise ValueError(f"{kind}: no value is named '{value}'")
        name = "/" + "/".join([*self._scope, kind])
        count = self._uses.get(name, 0)
        self._uses[name] = count + 1
        if count:
            name += f"_{count}"
        results = [f"{name}_output_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), results, name, None, None, None, **attributes))
        self._values.update(results)
        return results

    def constant(self, array: NDArray[np.generic]) -> Value:
        """Adds a Constant node; like an exporter, one for each use."""
        return self.op("Constant", value=numpy_helper.from_array(array))

    def scalar(self, value: float) -> Value:
        """A constant float without axes."""
        return self.constant(np.array(value, np.float32))

    def index(self, value: int) -> Value:
        """A constant int64 without axes."""
        return self.constant(np.array(value, np.int64))

    def ints(self, *values: int) -> Value:
        """A constant list of int64."""
        return self.constant(np.array(values, np.int64))

    def finish(self) -> onnx.ModelProto:
        """The model of all that was added."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs,
                                  list(self._initializers.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                                 producer_name="hone-bench-model")
