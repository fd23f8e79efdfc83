"""Weights of a file are given back to the system once kernels have packed them, and read again for other shapes."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hone


def write_model(path, weights):
    """x times each of the weights, one after the other, for any number of rows."""
    size = weights[0].shape[0]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(len(weights))]
    rows = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", size])
    graph = helper.make_graph(
        nodes, "weights", [rows("x0")], [rows(f"x{len(weights)}")],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture
def weights():
    rng = np.random.default_rng(5)
    made = [rng.standard_normal((320, 320), dtype=np.float32) / 18 for _ in range(3)]
    made[2][:] = made[0]  # found twice in the file
    return made


def expected(x, weights):
    for w in weights:
        x = x @ w
    return x


def test_weights_are_read_again_for_new_shapes(tmp_path, weights):
    write_model(tmp_path / "m.onnx", weights)
    session = hone.InferenceSession(str(tmp_path / "m.onnx"))
    rng = np.random.default_rng(1)
    for rows in [1, 7, 64, 1, 2, 7]:
        x = rng.standard_normal((rows, 320), dtype=np.float32)
        np.testing.assert_allclose(session.run(None, {"x0": x})[0], expected(x, weights), rtol=1e-3, atol=1e-4)


def test_a_file_that_changed_is_an_error(tmp_path, weights):
    write_model(tmp_path / "m.onnx", weights)
    session = hone.InferenceSession(str(tmp_path / "m.onnx"))
    x = np.ones((3, 320), dtype=np.float32)
    session.run(None, {"x0": x})
    content = (tmp_path / "m.onnx").read_bytes()
    (tmp_path / "m.onnx").write_bytes(content[: len(content) // 2])
    with pytest.raises(Exception, match="was changed after it was loaded"):
        session.run(None, {"x0": np.ones((4, 320), dtype=np.float32)})
    np.testing.assert_allclose(session.run(None, {"x0": x})[0], expected(x, weights), rtol=1e-3, atol=1e-4)


def test_a_file_that_was_replaced_is_not_missed(tmp_path, weights):
    write_model(tmp_path / "m.onnx", weights)
    session = hone.InferenceSession(str(tmp_path / "m.onnx"))
    session.run(None, {"x0": np.ones((3, 320), dtype=np.float32)})
    (tmp_path / "m.onnx").unlink()
    x = np.ones((4, 320), dtype=np.float32)
    np.testing.assert_allclose(session.run(None, {"x0": x})[0], expected(x, weights), rtol=1e-3, atol=1e-4)
