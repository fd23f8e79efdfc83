"""Small models for the tests of the Python package."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

Build = Callable[..., bytes]


def serialized(nodes: list[onnx.NodeProto], inputs: list, outputs: list, weights: dict[str, np.ndarray] | None = None,
               opset: int = 20, **fields: str) -> bytes:
    """A model as the bytes of its file. Inputs and outputs are value infos or (name, type, shape)."""
    infos = [
        [item if isinstance(item, onnx.ValueInfoProto) else helper.make_tensor_value_info(*item) for item in items]
        for items in (inputs, outputs)
    ]
    initializers = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "test graph", *infos, initializers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **fields).SerializeToString()


@pytest.fixture(scope="session")
def build() -> Build:
    """The function that writes models."""
    return serialized


@pytest.fixture(scope="session")
def dense(build: Build) -> bytes:
    """y = max(x · w + b, 0), with x of shape [batch, 3]."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["y"]),
    ]
    weights = {"w": np.arange(6, dtype=np.float32).reshape(3, 2) - 2, "b": np.array([0.5, -1], np.float32)}
    x, y = ("x", TensorProto.FLOAT, ["batch", 3]), ("y", TensorProto.FLOAT, ["batch", 2])
    return build(nodes, [x], [y], weights, producer_name="hone's tests", doc_string="a dense layer")


def dense_reference(x: np.ndarray) -> np.ndarray:
    """What the model above computes."""
    w = np.arange(6, dtype=np.float32).reshape(3, 2) - 2
    return np.maximum(x @ w + np.array([0.5, -1], np.float32), 0)
