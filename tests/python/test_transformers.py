"""Layers of transformers as exporters write them, beside onnxruntime: attention, softmax, norms and products."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper

import hone
from conftest import Build

ort = pytest.importorskip("onnxruntime")


def expect_same(model: bytes, feeds: dict[str, np.ndarray]) -> None:
    """Compares all outputs of a model with onnxruntime's, on one thread and on two."""
    expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)
    for threads in (1, 2):
        options = hone.SessionOptions()
        options.intra_op_num_threads = threads
        found = hone.InferenceSession(model, options).run(None, feeds)
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def attention_layer(mask: str) -> list[NodeProto]:
    """Attention of 3 heads of 16 between reshapes and transposes, as BERT and GPT-2 have it."""
    node = helper.make_node
    nodes = [node("Constant", [], ["by_heads"], value_ints=[0, 0, 3, 16])]
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes.append(node("Reshape", [name, "by_heads"], [f"{name}.heads"]))
        nodes.append(node("Transpose", [f"{name}.heads"], [f"{name}.swapped"], perm=order))
    nodes.append(node("MatMul", ["q.swapped", "k.swapped"], ["product"]))
    nodes.append(node("Constant", [], ["root"], value_float=4.0))
    nodes.append(node("Div", ["product", "root"], ["scores"]))
    if mask == "added":
        nodes.append(node("Add", ["scores", "mask"], ["masked"]))
    elif mask == "chosen":
        nodes.append(node("Constant", [], ["lowest"], value_float=float(np.finfo(np.float32).min)))
        nodes.append(node("Where", ["mask", "scores", "lowest"], ["masked"]))
    nodes.append(node("Softmax", ["scores" if mask == "none" else "masked"], ["weights"], axis=-1))
    nodes.append(node("MatMul", ["weights", "v.swapped"], ["attended"]))
    nodes.append(node("Transpose", ["attended"], ["joined"], perm=[0, 2, 1, 3]))
    nodes.append(node("Constant", [], ["flat"], value_ints=[0, 0, 48]))
    nodes.append(node("Reshape", ["joined", "flat"], ["y"]))
    return nodes


@pytest.mark.parametrize("mask", ["none", "added", "chosen"])
@pytest.mark.parametrize(("queries", "keys"), [(1, 7), (7, 7), (8, 1), (31, 33), (197, 197)])
def test_attention_of_any_length(build: Build, mask: str, queries: int, keys: int) -> None:
    rng = np.random.default_rng(queries)
    shapes = {"q": (2, queries, 48), "k": (2, keys, 48), "v": (2, keys, 48)}
    feeds = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    if mask == "added":
        feeds["mask"] = np.where(rng.random((2, 1, 1, keys)) < 0.3, -1e4, 0).astype(np.float32)
    elif mask == "chosen":
        feeds["mask"] = np.tril(np.ones((1, 1, queries, keys), dtype=bool), keys - queries)
    inputs = [
        (name, TensorProto.BOOL if array.dtype == bool else TensorProto.FLOAT, [None] * array.ndim)
        for name, array in feeds.items()
    ]
    expect_same(build(attention_layer(mask), inputs, [("y", TensorProto.FLOAT, None)]), feeds)


@pytest.mark.parametrize("length", [1, 2, 7, 16, 33, 197, 1000])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "LayerNormalization"])
def test_rows_of_any_length(build: Build, op: str, length: int) -> None:
    rng = np.random.default_rng(length)
    weights = {"scale": rng.standard_normal(length, dtype=np.float32)} if op == "LayerNormalization" else {}
    node = helper.make_node(op, ["x", *weights], ["y"], axis=-1)
    model = build([node], [("x", TensorProto.FLOAT, [3, 5, length])], [("y", TensorProto.FLOAT, None)], weights)
    x = rng.standard_normal((3, 5, length), dtype=np.float32)
    expect_same(model, {"x": x})
    expect_same(model, {"x": np.where(rng.random(x.shape) < 0.2, np.float32(-1e30), x)})  # exponentials of 0


@pytest.mark.parametrize("shape", [(1, 7, 7, 12), (2, 3, 12), (1, 1, 1, 12), (3, 1, 5, 12)])
def test_a_feed_forward_layer_of_any_rank(build: Build, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    weights = {
        name: rng.standard_normal(extents, dtype=np.float32)
        for name, extents in {"up": (12, 40), "bias": (40,), "down": (40, 12)}.items()
    }
    nodes = [
        helper.make_node("MatMul", ["x", "up"], ["wide"]),
        helper.make_node("Add", ["wide", "bias"], ["biased"]),
        helper.make_node("Gelu", ["biased"], ["active"]),
        helper.make_node("MatMul", ["active", "down"], ["narrow"]),
        helper.make_node("Add", ["x", "narrow"], ["y"]),
    ]
    model = build(nodes, [("x", TensorProto.FLOAT, shape)], [("y", TensorProto.FLOAT, None)], weights)
    expect_same(model, {"x": rng.standard_normal(shape, dtype=np.float32)})
