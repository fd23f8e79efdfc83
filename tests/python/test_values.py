"""What goes in and comes out: arrays without copies, DLPack, narrow types, strings, sequences, maps and optionals."""

from __future__ import annotations

import gc
import resource

import numpy as np
import pytest
from onnx import TensorProto, helper

import hone
from conftest import Build, dense_reference

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class OnlyDlpack:
    """An array that can be read through DLPack and in no other way."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def unaligned(array: np.ndarray) -> np.ndarray:
    """The same elements one byte past where they would be aligned."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = 1 + (-memory.ctypes.data) % 64
    view = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def test_arrays_of_any_layout_are_read(dense: bytes) -> None:
    session = hone.InferenceSession(dense)
    read_only = X.copy()
    read_only.flags.writeable = False
    variants = [
        X,
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X[::-1][::-1],
        unaligned(X),
        read_only,
        X.astype(">f4"),
        OnlyDlpack(X),
        X.tolist(),
    ]
    for feed in variants:
        np.testing.assert_allclose(session.run(None, {"x": feed})[0], dense_reference(X), rtol=1e-6)


def test_a_run_does_not_change_its_inputs(dense: bytes) -> None:
    x = -X
    hone.InferenceSession(dense).run(None, {"x": x})
    np.testing.assert_array_equal(x, -X)


def test_inputs_are_not_copied(build: Build) -> None:
    node = helper.make_node("ReduceMax", ["x"], ["y"], keepdims=0)
    session = hone.InferenceSession(build([node], [("x", TensorProto.FLOAT, ["n"])], [("y", TensorProto.FLOAT, [])]))
    big = np.zeros(48 << 20, np.float32)  # 192 MB
    big[12345] = 7
    session.run(None, {"x": big[:1000]})
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert session.run(None, {"x": big})[0] == 7
    assert session.run(None, {"x": OnlyDlpack(big)})[0] == 7
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 96 << 10


def test_outputs_are_the_sessions_memory_and_outlive_it(dense: bytes) -> None:
    session = hone.InferenceSession(dense)
    (first,) = session.run(None, {"x": X})
    (second,) = session.run(None, {"x": X + 1})
    assert not first.flags.owndata and first.flags.writeable and first.flags.c_contiguous
    assert not np.shares_memory(first, second)
    del session
    gc.collect()
    np.testing.assert_allclose(first, dense_reference(X), rtol=1e-6)
    first[...] = 3
    np.testing.assert_allclose(second, dense_reference(X + 1), rtol=1e-6)


def test_writing_to_an_output_changes_neither_the_model_nor_the_inputs(build: Build) -> None:
    nodes = [helper.make_node("Identity", ["w"], ["c"]), helper.make_node("Identity", ["x"], ["y"])]
    outputs = [("c", TensorProto.FLOAT, [3]), ("y", TensorProto.FLOAT, [3])]
    session = hone.InferenceSession(build(nodes, [("x", TensorProto.FLOAT, [3])], outputs, {"w": X[0]}))
    x = X[1].copy()
    for _ in range(2):
        c, y = session.run(None, {"x": x})
        np.testing.assert_array_equal(c, X[0])
        np.testing.assert_array_equal(y, X[1])
        c[...] = 9
        y[...] = 9


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (0, 3), (2, 1, 5)])
def test_every_shape_comes_back(build: Build, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    model = build(
        [helper.make_node("Neg", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, list(shape))],
        [("y", TensorProto.FLOAT, list(shape))],
    )
    (y,) = hone.InferenceSession(model).run(None, {"x": x})
    assert y.shape == shape
    np.testing.assert_array_equal(y, -x)


@pytest.mark.parametrize(
    "name", ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
)
def test_numpys_types_pass_through(build: Build, name: str) -> None:
    x = np.array([[0, 1], [1, 0]], dtype=name)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    model = build([helper.make_node("Transpose", ["x"], ["y"])], [("x", kind, [2, 2])], [("y", kind, [2, 2])])
    (y,) = hone.InferenceSession(model).run(None, {"x": x})
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_narrow_types_are_those_of_ml_dtypes(build: Build, name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([0, 1, 3, 2]).astype(getattr(ml_dtypes, name))
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["f"], ["y"], to=kind),
    ]
    outputs = [("f", TensorProto.FLOAT, [4]), ("y", kind, [4])]
    f, y = hone.InferenceSession(build(nodes, [("x", kind, [4])], outputs, opset=21)).run(None, {"x": x})
    np.testing.assert_array_equal(f, [0, 1, 3, 2])
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.astype(np.float32), [0, 1, 3, 2])


def test_strings_are_arrays_of_objects(build: Build) -> None:
    model = build(
        [helper.make_node("Identity", ["x"], ["y"])],
        [("x", TensorProto.STRING, ["n", "m"])],
        [("y", TensorProto.STRING, ["n", "m"])],
    )
    session = hone.InferenceSession(model)
    texts = np.array([["a", "ü"], ["", "日本"]], dtype=object)
    for feed in (texts, texts.astype(str), texts.tolist(), np.char.encode(texts.astype(str), "utf-8")):
        (y,) = session.run(None, {"x": feed})
        assert y.dtype == object and y.shape == (2, 2)
        np.testing.assert_array_equal(y, texts)
    with pytest.raises(hone.Error, match="input 'x' holds an element of type int"):
        session.run(None, {"x": np.array([["a", 1]], dtype=object)})


def test_sequences_are_lists(build: Build) -> None:
    nodes = [helper.make_node("SequenceInsert", ["s", "x"], ["t"]), helper.make_node("SequenceLength", ["t"], ["n"])]
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    s, t = helper.make_value_info("s", kind), helper.make_value_info("t", kind)
    session = hone.InferenceSession(
        build(nodes, [s, ("x", TensorProto.FLOAT, None)], [t, ("n", TensorProto.INT64, [])])
    )
    assert session.get_inputs()[0].type == "seq(tensor(float))"
    t, n = session.run(None, {"s": [X, X[0]], "x": X[1]})
    assert n == 3 and [item.shape for item in t] == [(2, 3), (3,), (3,)]
    np.testing.assert_array_equal(t[2], X[1])


def test_torch_tensors_are_read_where_they_are(dense: bytes) -> None:
    torch = pytest.importorskip("torch")
    session = hone.InferenceSession(dense)
    for tensor in (torch.from_numpy(X), torch.from_numpy(X.T.copy()).T, torch.from_numpy(X).bfloat16().float()):
        np.testing.assert_allclose(session.run(None, {"x": tensor})[0], dense_reference(X), rtol=1e-6)
