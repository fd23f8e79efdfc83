"""Writes the models that the fuzzer of the importer starts from: small, and together a bit of everything.

python tests/fuzz/write_models.py tests/fuzz/import_onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h

FLOAT = T.FLOAT


def info(name, kind=FLOAT, shape=("n", 4)):
    return h.make_tensor_value_info(name, kind, shape)


def tensor(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), opset=21, ir=10, **more):
    graph = h.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [h.make_opsetid("", opset), h.make_opsetid("mine", 1), h.make_opsetid("com.microsoft", 1)]
    return h.make_model(graph, opset_imports=imports, ir_version=ir, **more)


def single(
    op, inputs, outputs=("y",), kinds=None, out_kinds=None, shapes=None, consts=None, opset=21, domain="", **attributes
):
    """A model of one node; `consts` are inputs with a content."""
    consts = consts or {}
    kinds, shapes, out_kinds = kinds or {}, shapes or {}, out_kinds or {}
    node = h.make_node(op, list(inputs), list(outputs), name=op.lower(), domain=domain, **attributes)
    ins = [info(i, kinds.get(i, FLOAT), shapes.get(i, (2, 3, 8, 8))) for i in inputs if i and i not in consts]
    outs = [info(o, out_kinds.get(o, FLOAT), None) for o in outputs if o]
    return model([node], ins, outs, [tensor(k, v) for k, v in consts.items()], opset=opset)


I64 = np.int64


def models():
    x = ["x"]
    f = np.float32
    # operators with attributes and shapes as inputs
    yield "conv", single(
        "Conv",
        ["x", "w", "b"],
        consts={"w": np.ones((4, 3, 3, 3), f), "b": np.ones(4, f)},
        pads=[1, 1, 1, 1],
        strides=[2, 2],
        group=1,
        dilations=[1, 1],
    )
    yield "conv_transpose", single(
        "ConvTranspose", ["x", "w"], consts={"w": np.ones((3, 2, 3, 3), f)}, strides=[2, 2], output_padding=[1, 1]
    )
    yield "max_pool", single(
        "MaxPool", x, ["y", "i"], out_kinds={"i": T.INT64}, kernel_shape=[2, 2], ceil_mode=1, pads=[0, 0, 1, 1]
    )
    yield "average_pool", single("AveragePool", x, kernel_shape=[3, 3], auto_pad="SAME_UPPER", count_include_pad=1)
    yield "gemm", single(
        "Gemm",
        ["x", "w", "c"],
        shapes={"x": ("n", 4)},
        consts={"w": np.ones((5, 4), f), "c": np.ones(5, f)},
        transB=1,
        alpha=0.5,
    )
    yield "matmul", single("MatMul", ["x", "w"], shapes={"x": (2, "m", 4), "w": (4, 5)})
    yield "einsum", single("Einsum", ["x", "w"], shapes={"x": (2, 3), "w": (3, 4)}, equation="ij,jk->ik")
    yield "reshape", single("Reshape", ["x", "s"], consts={"s": np.array([0, -1], I64)}, allowzero=0)
    yield "transpose", single("Transpose", x, perm=[0, 2, 3, 1])
    yield "slice", single(
        "Slice",
        ["x", "a", "b", "c", "d"],
        consts={"a": np.array([0], I64), "b": np.array([-1], I64), "c": np.array([2], I64), "d": np.array([2], I64)},
    )
    yield "split", single("Split", x, ["y", "z"], axis=1, num_outputs=2)
    yield "concat", single("Concat", ["x", "w"], axis=-1)
    yield "gather", single("Gather", ["x", "i"], consts={"i": np.array([[0, -1]], I64)}, axis=1)
    yield "gather_nd", single("GatherND", ["x", "i"], consts={"i": np.array([[0, 1]], I64)}, batch_dims=0)
    yield "scatter", single(
        "ScatterElements",
        ["x", "i", "u"],
        shapes={"x": (3,), "u": (2,)},
        consts={"i": np.array([0, 2], I64)},
        reduction="add",
    )
    yield "scatter_nd", single(
        "ScatterND", ["x", "i", "u"], shapes={"x": (3, 2), "u": (1, 2)}, consts={"i": np.array([[1]], I64)}
    )
    yield "pad", single("Pad", ["x", "p"], consts={"p": np.array([0, 0, 1, 1] * 2, I64)}, mode="reflect")
    yield "resize", single("Resize", ["x", "", "s"], consts={"s": np.array([1, 1, 2, 2], f)}, mode="linear")
    yield "expand", single("Expand", ["x", "s"], shapes={"x": (3, 1)}, consts={"s": np.array([2, 3, 4], I64)})
    yield "tile", single("Tile", ["x", "s"], consts={"s": np.array([1, 2, 1, 1], I64)})
    yield "reduce", single("ReduceSum", ["x", "a"], consts={"a": np.array([1, -1], I64)}, keepdims=0)
    yield "arg_max", single("ArgMax", x, out_kinds={"y": T.INT64}, axis=1, keepdims=0, select_last_index=1)
    yield "softmax", single("Softmax", x, axis=1)
    yield "layer_norm", single(
        "LayerNormalization", ["x", "s", "b"], consts={"s": np.ones(8, f), "b": np.ones(8, f)}, axis=-1
    )
    yield "batch_norm", single(
        "BatchNormalization", ["x", "s", "b", "m", "v"], consts={k: np.ones(3, f) for k in "sbmv"}
    )
    yield "instance_norm", single("InstanceNormalization", ["x", "s", "b"], consts={k: np.ones(3, f) for k in "sb"})
    yield "lstm", single(
        "LSTM",
        ["x", "w", "r"],
        ["y", "h", "c"],
        shapes={"x": (5, 2, 3)},
        consts={"w": np.ones((1, 16, 3), f), "r": np.ones((1, 16, 4), f)},
        hidden_size=4,
    )
    yield "gru", single(
        "GRU",
        ["x", "w", "r"],
        ["", "h"],
        shapes={"x": (5, 2, 3)},
        consts={"w": np.ones((2, 12, 3), f), "r": np.ones((2, 12, 4), f)},
        hidden_size=4,
        direction="bidirectional",
    )
    yield "top_k", single("TopK", ["x", "k"], ["y", "i"], out_kinds={"i": T.INT64}, consts={"k": np.array([2], I64)})
    yield "non_zero", single("NonZero", x, out_kinds={"y": T.INT64})
    yield "one_hot", single(
        "OneHot",
        ["i", "d", "v"],
        kinds={"i": T.INT64},
        shapes={"i": (3,)},
        consts={"d": np.array(5, I64), "v": np.array([0, 1], f)},
    )
    yield "range", single(
        "Range", ["a", "b", "c"], consts={"a": np.array(0, f), "b": np.array(5, f), "c": np.array(1, f)}
    )
    yield "constant_of_shape", single(
        "ConstantOfShape", ["s"], consts={"s": np.array([2, 3], I64)}, value=tensor("", np.array([7], f))
    )
    yield "cast", single("Cast", x, out_kinds={"y": T.FLOAT8E4M3FN}, to=T.FLOAT8E4M3FN, saturate=1)
    yield "quantize", single(
        "QuantizeLinear",
        ["x", "s", "z"],
        out_kinds={"y": T.UINT8},
        consts={"s": np.array(0.1, f), "z": np.array(128, np.uint8)},
    )
    yield "qlinear_conv", single(
        "QLinearConv",
        ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"],
        kinds={"x": T.UINT8},
        out_kinds={"y": T.UINT8},
        consts={
            "xs": np.array(0.1, f),
            "xz": np.array(1, np.uint8),
            "w": np.ones((2, 3, 1, 1), np.uint8),
            "ws": np.array(0.1, f),
            "wz": np.array(1, np.uint8),
            "ys": np.array(0.1, f),
            "yz": np.array(1, np.uint8),
        },
    )
    yield "attention", single(
        "Attention", ["q", "k", "v"], shapes={i: (1, 2, 4, 8) for i in "qkv"}, opset=23, is_causal=1
    )
    yield "grid_sample", single(
        "GridSample", ["x", "g"], shapes={"g": (2, 4, 4, 2)}, mode="linear", padding_mode="border"
    )
    yield "nms", single(
        "NonMaxSuppression",
        ["b", "s"],
        out_kinds={"y": T.INT64},
        shapes={"b": (1, 5, 4), "s": (1, 2, 5)},
        center_point_box=1,
    )
    yield "string", single(
        "StringConcat",
        ["x", "w"],
        kinds={"x": T.STRING, "w": T.STRING},
        out_kinds={"y": T.STRING},
        shapes={"x": (2,), "w": (2,)},
    )
    yield "dft", single("DFT", ["x"], shapes={"x": (1, 8, 1)}, opset=20, onesided=1)
    yield "gelu", single("Gelu", x, domain="com.microsoft")
    yield "matmul_n_bits", single(
        "MatMulNBits",
        ["x", "b", "s"],
        domain="com.microsoft",
        shapes={"x": (2, 32)},
        consts={"b": np.zeros((3, 1, 16), np.uint8), "s": np.ones((3,), f)},
        K=32,
        N=3,
        bits=4,
        block_size=32,
    )
    # forms of old versions
    yield "old_clip", single("Clip", x, opset=6, min=0.0, max=6.0)
    yield "old_upsample", single("Upsample", x, opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    yield "old_squeeze", single("Squeeze", x, opset=11, shapes={"x": (1, 3, 1, 2)}, axes=[0])
    yield "old_add", single("Add", ["x", "w"], opset=6, shapes={"w": (3,)}, broadcast=1, axis=1)
    yield "old_slice", single("Slice", x, opset=9, starts=[0], ends=[1], axes=[1])
    yield "old_pad", single("Pad", x, opset=10, pads=[0, 0, 1, 1, 0, 0, 1, 1], mode="edge")
    yield "old_dropout", single("Dropout", x, opset=7, ratio=0.5)
    yield from graphs()
    yield from encodings()


def graphs():
    flag = info("flag", T.BOOL, ())
    inner = h.make_graph([h.make_node("Mul", ["x", "t"], ["v"])], "inner", [], [info("v")])
    middle = h.make_graph(
        [
            h.make_node("Add", ["x", "w"], ["t"]),
            h.make_node("If", ["flag"], ["u"], then_branch=inner, else_branch=inner),
        ],
        "middle",
        [],
        [info("u")],
    )
    yield "if", model(
        [h.make_node("If", ["flag"], ["y"], then_branch=middle, else_branch=middle)],
        [info("x"), flag],
        [info("y")],
        [tensor("w", np.ones((1, 4), np.float32))],
    )
    body = h.make_graph(
        [
            h.make_node("Add", ["s", "x"], ["s2"]),
            h.make_node("Identity", ["s2"], ["out"]),
            h.make_node("Identity", ["c"], ["c2"]),
        ],
        "body",
        [info("i", T.INT64, ()), info("c", T.BOOL, ()), info("s")],
        [info("c2", T.BOOL, ()), info("s2"), info("out")],
    )
    yield "loop", model(
        [h.make_node("Loop", ["m", "", "x"], ["y", "z"], body=body)],
        [info("x")],
        [info("y"), info("z", shape=None)],
        [tensor("m", np.array(3, I64))],
    )
    step = h.make_graph(
        [h.make_node("Add", ["s", "e"], ["s2"]), h.make_node("Neg", ["s2"], ["o"])],
        "step",
        [info("s", shape=(4,)), info("e", shape=(4,))],
        [info("s2", shape=(4,)), info("o", shape=(4,))],
    )
    yield "scan", model(
        [h.make_node("Scan", ["a", "x"], ["y", "z"], body=step, num_scan_inputs=1, scan_input_directions=[1])],
        [info("a", shape=(4,)), info("x", shape=(3, 4))],
        [info("y", shape=None), info("z", shape=None)],
    )
    seq = h.make_tensor_sequence_value_info("s", FLOAT, None)
    yield "sequence", model(
        [
            h.make_node("SequenceConstruct", ["x", "x"], ["t"]),
            h.make_node("SequenceInsert", ["t", "x"], ["s"]),
            h.make_node("ConcatFromSequence", ["s"], ["y"], axis=0),
        ],
        [info("x")],
        [info("y"), seq],
    )
    yield "optional", model(
        [h.make_node("Optional", ["x"], ["o"]), h.make_node("OptionalHasElement", ["o"], ["y"])],
        [info("x")],
        [info("y", T.BOOL, ())],
    )
    scaled = h.make_function(
        "mine",
        "Scaled",
        ["x"],
        ["y"],
        [h.make_node("Constant", [], ["c"]), h.make_node("Mul", ["x", "c"], ["y"])],
        [h.make_opsetid("", 21)],
        attributes=["k"],
    )
    reference = scaled.node[0].attribute.add()
    reference.name, reference.type, reference.ref_attr_name = "value_float", onnx.AttributeProto.FLOAT, "k"
    twice = h.make_function(
        "mine",
        "Twice",
        ["x"],
        ["y"],
        [
            h.make_node("Scaled", ["x"], ["t"], domain="mine", k=2.0),
            h.make_node("Scaled", ["t"], ["y"], domain="mine", k=3.0),
        ],
        [h.make_opsetid("", 21), h.make_opsetid("mine", 1)],
    )
    yield "function", model(
        [h.make_node("Twice", ["x"], ["y"], domain="mine", name="call")],
        [info("x")],
        [info("y")],
        functions=[scaled, twice],
    )
    shape = [
        h.make_node("Shape", ["x"], ["s"]),
        h.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        h.make_node("Unsqueeze", ["n", "zeros"], ["n1"]),
        h.make_node("Concat", ["n1", "rest"], ["to"], axis=0),
        h.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    yield "shape_chain", model(
        shape,
        [info("x", shape=("n", 3, 4))],
        [info("y")],
        [tensor("zero", np.array(0, I64)), tensor("zeros", np.array([0], I64)), tensor("rest", np.array([-1], I64))],
    )
    yield "unsorted", model(
        [h.make_node("Neg", ["a"], ["y"]), h.make_node("Abs", ["x"], ["a"])], [info("x")], [info("y")]
    )
    yield "old_inputs", model(
        [h.make_node("Add", ["x", "w"], ["y"])],
        [info("x"), info("w", shape=(4,))],
        [info("y")],
        [tensor("w", np.ones(4, np.float32))],
        opset=7,
        ir=3,
    )


def encodings():
    kinds = [
        T.FLOAT,
        T.UINT8,
        T.INT8,
        T.UINT16,
        T.INT16,
        T.INT32,
        T.INT64,
        T.BOOL,
        T.FLOAT16,
        T.DOUBLE,
        T.UINT32,
        T.UINT64,
        T.BFLOAT16,
        T.FLOAT8E4M3FN,
        T.FLOAT8E5M2,
        T.UINT4,
        T.INT4,
        T.FLOAT4E2M1,
        T.UINT2,
        T.INT2,
    ]
    typed = [h.make_tensor(f"t{kind}", kind, [3], [1, 0, 1]) for kind in kinds]
    sizes = {T.UINT8: 1, T.INT8: 1, T.BOOL: 1, T.FLOAT16: 2, T.INT64: 8, T.DOUBLE: 8, T.FLOAT: 4, T.FLOAT8E5M2: 1}
    raw = [h.make_tensor(f"r{kind}", kind, [3], bytes(3 * size), raw=True) for kind, size in sizes.items()]
    raw += [
        h.make_tensor(f"p{kind}", kind, [3], bytes((3 * bits + 7) // 8), raw=True)
        for kind, bits in ((T.INT4, 4), (T.UINT2, 2), (T.FLOAT6E2M3, 6))
    ]
    strings = h.make_tensor("s", T.STRING, [2], [b"a", b"b"])
    all_of = typed + raw + [strings]
    nodes = [h.make_node("Identity", [one.name], [one.name + "_y"]) for one in all_of]
    yield "encodings", model(
        nodes,
        [],
        [info(one.name + "_y", one.data_type, (len(one.string_data) or 3,)) for one in all_of],
        all_of,
        opset=25,
        ir=13,
    )
    external = T(name="w", data_type=FLOAT, dims=[4], data_location=T.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "16")):
        external.external_data.add(key=key, value=value)
    yield "external", model([h.make_node("Add", ["x", "w"], ["y"])], [info("x")], [info("y")], [external])
    sparse = h.make_sparse_tensor(h.make_tensor("w", FLOAT, [1], [5.0]), h.make_tensor("", T.INT64, [1], [2]), [4])
    with_sparse = model([h.make_node("Add", ["x", "w"], ["y"])], [info("x")], [info("y")])
    with_sparse.graph.sparse_initializer.append(sparse)
    yield "sparse", with_sparse
    constants = [
        h.make_node("Constant", [], ["a"], value_floats=[1.0, 2.0]),
        h.make_node("Constant", [], ["b"], sparse_value=sparse),
        h.make_node("Constant", [], ["c"], value_strings=["s"]),
    ]
    yield "constants", model(constants, [], [info("a", shape=(2,)), info("b", shape=(4,)), info("c", T.STRING, (1,))])


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.onnx"):
        if not old.name.startswith(("crash-", "found-")):  # what fuzzing added
            old.unlink()
    size = 0
    for name, made in models():
        data = made.SerializeToString(deterministic=True)
        (target / f"{name}.onnx").write_bytes(data)
        size += len(data)
    print(f"{len(list(target.glob('*.onnx')))} models, {size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
