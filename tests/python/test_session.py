"""Sessions: loading, describing and running models, and what they say when something is wrong."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import hone
from conftest import Build, dense_reference

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def refusal(session: hone.InferenceSession, feeds: dict, names: list[str] | None = None) -> str:
    """The message of the error that a run ends in."""
    with pytest.raises(hone.Error) as caught:
        session.run(names, feeds)
    assert isinstance(caught.value, RuntimeError)
    return str(caught.value)


def test_a_model_runs_from_bytes_a_path_and_a_path_object(dense: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    for source in (dense, bytearray(dense), str(path), path):
        (y,) = hone.InferenceSession(source).run(None, {"x": X})
        np.testing.assert_allclose(y, dense_reference(X), rtol=1e-6)


def test_inputs_and_outputs_are_described_as_onnxruntime_does(dense: bytes) -> None:
    ort = pytest.importorskip("onnxruntime")
    ours, theirs = hone.InferenceSession(dense), ort.InferenceSession(dense, providers=["CPUExecutionProvider"])
    for mine, other in zip(
        ours.get_inputs() + ours.get_outputs(), theirs.get_inputs() + theirs.get_outputs(), strict=True
    ):
        assert (mine.name, mine.type, mine.shape) == (other.name, other.type, other.shape)
    assert ours.get_inputs()[0].shape == ["batch", 3]
    assert ours.get_providers() == theirs.get_providers()


def test_an_extent_without_a_name_is_none(build: Build) -> None:
    model = build(
        [helper.make_node("Abs", ["x"], ["y"])], [("x", TensorProto.FLOAT, [None, 2])], [("y", TensorProto.FLOAT, None)]
    )
    session = hone.InferenceSession(model)
    assert session.get_inputs()[0].shape == [None, 2]
    assert repr(session.get_inputs()[0]) == "NodeArg(name='x', type='tensor(float)', shape=[None, 2])"


def test_outputs_come_in_the_order_they_are_asked_for(build: Build) -> None:
    nodes = [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Neg", ["x"], ["n"])]
    session = hone.InferenceSession(
        build(nodes, [("x", TensorProto.FLOAT, [2])], [("a", TensorProto.FLOAT, [2]), ("n", TensorProto.FLOAT, [2])])
    )
    x = np.array([-1, 2], np.float32)
    n, a = session.run(["n", "a"], {"x": x})
    np.testing.assert_array_equal(a, [1, 2])
    np.testing.assert_array_equal(n, [1, -2])
    assert len(session.run(["n"], {"x": x})) == 1
    assert len(session.run([], {"x": x})) == 2


def test_wrong_inputs_are_named_with_what_was_found_and_expected(dense: bytes) -> None:
    session = hone.InferenceSession(dense)
    assert refusal(session, {"z": X}) == "the model has no input 'z', only: x"
    assert refusal(session, {"x": X}, ["q"]) == "the model has no output 'q', only: y"
    expected = "expected tensor(float) of shape [batch, 3]"
    assert refusal(session, {}) == f"input 'x' is missing, {expected}"
    assert refusal(session, {"x": None}) == f"input 'x' is missing, {expected}"
    assert refusal(session, {"x": X.astype(np.float64)}) == f"input 'x' is double[2, 3], {expected}"
    assert refusal(session, {"x": X[0]}) == f"input 'x' is float[3], {expected}"
    assert refusal(session, {"x": X[:, :2]}) == f"input 'x' is float[2, 2], {expected}"
    assert "input 'x' is a dict" in refusal(session, {"x": {"a": 1.0}}) or "map of 1" in refusal(
        session, {"x": {"a": 1.0}}
    )
    assert "input 'x' is a object" in refusal(session, {"x": object()})
    assert "input 'x' is an array of dtype datetime64" in refusal(session, {"x": np.zeros(3, "datetime64[s]")})


def test_an_error_has_a_code(dense: bytes) -> None:
    with pytest.raises(hone.Error) as caught:
        hone.InferenceSession(dense).run(None, {"z": X})
    assert caught.value.code == "not found"


def test_models_that_cannot_be_read_are_refused(tmp_path: Path, dense: bytes) -> None:
    (tmp_path / "text.onnx").write_text("this is not a model")
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "short.onnx").write_bytes(dense[: len(dense) // 2])
    for name in ("text.onnx", "empty.onnx", "short.onnx", "absent.onnx", ""):
        with pytest.raises(hone.Error):
            hone.InferenceSession(tmp_path / name)
    with pytest.raises(hone.Error):
        hone.InferenceSession(b"")
    with pytest.raises(TypeError, match="a model is a path or bytes, not int"):
        hone.InferenceSession(7)  # type: ignore[arg-type]


def test_an_unsupported_operator_is_named(build: Build) -> None:
    model = build(
        [helper.make_node("NoSuchThing", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, [2])],
        [("y", TensorProto.FLOAT, [2])],
    )
    with pytest.raises(hone.Error, match="NoSuchThing") as caught:
        hone.InferenceSession(model)
    assert caught.value.code == "unsupported"


def test_initializers_that_are_inputs_may_be_fed_as_with_onnxruntime(build: Build) -> None:
    """`w` is read by a node, and inside a branch."""
    branch = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["t"])], "branch", [], [helper.make_tensor_value_info("t", 1, [2])]
    )
    nodes = [
        helper.make_node("Add", ["x", "w"], ["sum"]),
        helper.make_node("If", ["flag"], ["inside"], then_branch=branch, else_branch=branch),
        helper.make_node("Sub", ["sum", "inside"], ["y"]),
    ]
    x, w, flag = ("x", TensorProto.FLOAT, [2]), ("w", TensorProto.FLOAT, [2]), ("flag", TensorProto.BOOL, [])
    weights = {"w": np.array([10, 20], np.float32), "other": np.zeros(2, np.float32)}
    model = build(nodes, [x, flag, w], [("y", TensorProto.FLOAT, [2])], weights)
    sessions = [hone.InferenceSession(model)]
    if ort := pytest.importorskip("onnxruntime"):
        sessions.append(ort.InferenceSession(model, providers=["CPUExecutionProvider"]))
    for session in sessions:
        assert [i.name for i in session.get_inputs()] == ["x", "flag"]
        assert [(i.name, i.type, i.shape) for i in session.get_overridable_initializers()] == [
            ("w", "tensor(float)", [2])
        ]
        feeds = {"x": np.array([1, 2], np.float32), "flag": np.array(True)}
        for w_value in (None, [3, 4], [5, 6], None):
            used = np.array([10, 20] if w_value is None else w_value, np.float32)
            more = {} if w_value is None else {"w": used}
            (y,) = session.run(None, {**feeds, **more})
            np.testing.assert_array_equal(y, feeds["x"] + used - feeds["x"] * used)
    assert refusal(sessions[0], {**feeds, "w": np.zeros(3, np.float32)}) == (
        "input 'w' is float[3], expected tensor(float) of shape [2]"
    )
    assert refusal(sessions[0], {**feeds, "other": used}) == "the model has no input 'other', only: x, flag"


def test_weights_of_gigabytes_are_not_held_in_memory_twice(tmp_path: Path) -> None:
    """A table of 3 GiB beside the model, of which two rows are read: hardly any of it has to be in memory."""
    rows, columns = 3 << 18, 1 << 10
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=[rows, columns])
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "table.bin"), ("offset", "0"), ("length", str(rows * columns * 4))):
        table.external_data.add(key=key, value=value)
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, [2])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, columns])]
    graph = helper.make_graph([helper.make_node("Gather", ["table", "i"], ["y"])], "g", inputs, outputs, [table])
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph, ir_version=9).SerializeToString())
    with open(tmp_path / "table.bin", "wb") as file:  # a file with holes takes no place on the disk
        file.truncate(rows * columns * 4)
        file.seek((rows - 1) * columns * 4)
        file.write(np.full(columns, 7, np.float32).tobytes())
    program = (
        "import resource, sys, numpy as np, hone\n"
        "(y,) = hone.InferenceSession(sys.argv[1]).run(None, {'i': np.array([0, -1])})\n"
        "assert (y[0] == 0).all() and (y[1] == 7).all()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "model.onnx")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1 << 20, "KiB at the most in use"


def test_options_of_onnxruntime_are_accepted(dense: bytes) -> None:
    options = hone.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = hone.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.execution_mode = hone.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = hone.InferenceSession(dense, options, ["CPUExecutionProvider"], [{}])
    (y,) = session.run(None, {"x": X}, hone.RunOptions())
    np.testing.assert_allclose(y, dense_reference(X), rtol=1e-6)
    assert session.get_session_options() is options
    options.intra_op_num_threads = -1
    with pytest.raises(hone.Error, match="threads is -1"):
        hone.InferenceSession(dense, options)


def test_the_models_own_notes_can_be_read(dense: bytes) -> None:
    meta = hone.InferenceSession(dense).get_modelmeta()
    assert "hone's tests" in meta.producer_name
    assert meta.graph_name == "test graph"


def test_the_version_is_the_packages() -> None:
    assert hone.__version__.count(".") == 2
    assert hone.get_device() == "CPU"
    assert hone.get_available_providers() == ["CPUExecutionProvider"]


def test_tuning_ends_with_finals_within_the_model(dense: bytes, tmp_path: Path) -> None:
    path, records = tmp_path / "dense.onnx", tmp_path / "records.db"
    path.write_bytes(dense)
    settings = {"trials": 4, "threads": 1, "records": str(records), "search": "random", "cost_model": "none"}

    def decisions() -> list[str]:
        with closing(sqlite3.connect(records)) as database:
            rows = database.execute("SELECT tags, candidate FROM records ORDER BY id").fetchall()
        return [candidate for tags, candidate in rows if json.loads(tags).get("in_model")]

    hone.tune(path, {"x": X}, finals=False, **settings)
    assert decisions() == []
    (task,) = hone.tune(path, {"x": X}, patience=0, **settings)
    assert decisions() == [task.candidate]
    assert task.tuned_ns > 0 and task.default_ns > 0
    with pytest.raises(ValueError, match="patience is 2, allowed are 0 to 1"):
        hone.tune(path, {"x": X}, patience=2, **settings)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("seconds", -1, "seconds above 0, or 0 for no limit"),
        ("seconds", float("nan"), "seconds above 0"),
        ("seconds", float("inf"), "seconds above 0"),
        ("trials", -4, "whole numbers in 0..1000000000"),
        ("trials", 10**30, "whole numbers in 0.."),
        ("trials_per_task", -1, "whole numbers in 0.."),
        ("explore", -1, "whole numbers in 0.."),
        ("early_stop", -1, "whole numbers in 0.."),
        ("seed", -1, "whole numbers in 0.."),
        ("threads", 1025, "whole numbers in 0..1024"),
        ("patience", float("nan"), "0 to 1"),
        ("target_latency", float("nan"), "seconds above 0"),
    ],
)
def test_tuning_refuses_what_is_out_of_range(
    dense: bytes, tmp_path: Path, option: str, value: float, allowed: str
) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    with pytest.raises(ValueError, match=f"^{option} is {re.escape(str(value))}, allowed are {allowed}"):
        hone.tune(path, {"x": X}, **{"records": tmp_path / "records.db", option: value})
    assert not (tmp_path / "records.db").exists()


def test_tuning_refuses_numbers_that_are_not_whole(dense: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    for option in ("trials", "trials_per_task", "explore", "early_stop", "seed", "threads"):
        with pytest.raises(TypeError, match=f"^{option} is 1.5, allowed are whole numbers in 0.."):
            hone.tune(path, {"x": X}, **{"records": tmp_path / "records.db", option: 1.5})


def test_tuning_names_all_cost_models(dense: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    with pytest.raises(hone.Error, match="no cost model 'foo', only: auto, tlp, mtl, gbt, none, random, ansor, rank-"):
        hone.tune(path, {"x": X}, records=tmp_path / "records.db", cost_model="foo")


def test_none_is_no_file_of_records(dense: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dense.onnx").write_bytes(dense)
    for records in ("none", ""):
        with pytest.raises(ValueError, match=f"records is '{records}': tuning needs a file"):
            hone.tune("dense.onnx", {"x": X}, trials=1, threads=1, records=records)
        options = hone.SessionOptions()
        options.records = records
        hone.InferenceSession("dense.onnx", options).run(None, {"x": X})
    assert [path.name for path in tmp_path.iterdir()] == ["dense.onnx"]


def test_tuning_says_what_was_known_before(dense: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    settings = {"trials": 2, "threads": 1, "search": "random", "cost_model": "none", "finals": False}

    def reused(rows: int) -> str:
        feeds = {"x": np.zeros((rows, 3), np.float32)}
        (task,) = hone.tune(path, feeds, records=tmp_path / "records.db", **settings)
        return task.reused

    assert [reused(rows) for rows in (2, 2, 4, 3)] == ["default", "tuned", "compatible", "nearest"]


def test_tuning_keeps_what_the_cost_model_learnt(dense: bytes, tmp_path: Path) -> None:
    path, learnt = tmp_path / "dense.onnx", tmp_path / "learnt"
    path.write_bytes(dense)
    settings = {"trials": 4, "threads": 1, "records": str(tmp_path / "records.db"), "finals": False}
    for _ in range(2):  # the second call begins with what the first one wrote
        hone.tune(path, {"x": X}, cost_model="gbt", cost_model_file=learnt, save_cost_model=learnt, **settings)
        assert learnt.read_bytes().startswith(b"hone cost model 1\n")
    with pytest.raises(hone.Error, match="written by the model 'ansor', not by 'rank-knob'"):
        hone.tune(path, {"x": X}, cost_model="rank-knob", cost_model_file=learnt, **settings)
    with pytest.raises(hone.Error, match="cannot be saved: tlp: a network is not changed"):
        hone.tune(path, {"x": X}, cost_model="tlp", save_cost_model=learnt, **settings)


def test_tuning_ends_where_it_is_told_to(dense: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    settings = {"threads": 1, "records": str(tmp_path / "records.db"), "search": "evolutionary", "cost_model": "none"}
    options = {"explore": 2, "early_stop": 8, "crossover": 0.5, **settings}
    (first,) = hone.tune(path, {"x": X}, trials=4, **options)
    (second,) = hone.tune(path, {"x": X}, target_latency=1, **options)  # it is that fast already
    assert second.trials == first.trials
    with pytest.raises(ValueError, match="target_latency is -1, allowed are seconds above 0"):
        hone.tune(path, {"x": X}, target_latency=-1, **options)
    with pytest.raises(hone.Error, match="crossover is 2, but must be in 0..1"):
        hone.tune(path, {"x": X}, **{**options, "crossover": 2})
