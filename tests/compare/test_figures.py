"""Tests of the figures that follow from measurements, and of the tables and files that show them."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

import cases
import report
import run_compare
from conftest import ROOT
from summary import Comparison, Measurement, geometric_mean, memory_ratio, speed_over, speed_over_best


def measured(*turns_ms: float, mb: float = 100) -> Measurement:
    """An engine whose rounds had these medians."""
    return Measurement(version="1.2", load_s=0.5, before_mb=50, resident_mb=mb, peak_mb=2 * mb, difference=1e-6,
                       turns_ms=[[0.9 * each, each, 2 * each] for each in turns_ms])


@pytest.fixture
def comparison() -> Comparison:
    """A machine that was twice as slow in the second of three rounds."""
    return Comparison("resnet18", 1, {"hone": measured(10, 20, 11, mb=120), "ort": measured(15, 30, 18),
                                      "openvino": measured(12, 24, 12)}, {"commit": "abc", "load_average": 0.1})


def failing() -> Comparison:
    """A model that hone cannot run."""
    return Comparison("vgg16", 1, {"hone": Measurement(error="Error: no such operator"), "ort": measured(5)})


def test_latencies_are_medians_of_medians_and_the_shortest_run(comparison: Comparison) -> None:
    hone = comparison.engines["hone"]
    assert hone.medians_ms == [10, 20, 11]
    assert hone.median_ms == 11
    assert hone.min_ms == 9


def test_ratios_are_taken_within_rounds(comparison: Comparison) -> None:
    assert speed_over(comparison, "ort") == 1.5  # of 1.5, 1.5, 1.64; the medians alone would say 18 / 11
    assert speed_over(comparison, "openvino") == 1.2
    assert speed_over_best(comparison) == 1.2
    assert memory_ratio(comparison, "resident_mb") == 1.2


def test_an_engine_without_times_has_no_ratio() -> None:
    assert speed_over(failing(), "ort") is None
    assert speed_over_best(failing()) is None
    assert memory_ratio(failing(), "peak_mb") is None
    assert speed_over(Comparison("m", 1, {"hone": measured(1)}), "ort") is None


def test_geometric_means() -> None:
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([0.5]) == pytest.approx(0.5)
    for bad in ([], [1, 0], [-1]):
        with pytest.raises(ValueError, match="a geometric mean needs positive values, not"):
            geometric_mean(bad)


def test_the_table_shows_failures_and_of_how_many_models_a_mean_is(comparison: Comparison) -> None:
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in
             report.table([comparison, failing()]).splitlines()]
    assert lines[0][:7] == ["model", "threads", "hone ms", "ort ms", "openvino ms", "× ort", "× best"]
    assert lines[2][:7] == ["resnet18", "1", "11.00", "18.00", "12.00", "1.50", "1.20"]
    assert lines[2][7:9] == ["9.00 / 13.50 / 10.80", "0.50 / 0.50 / 0.50"]
    assert lines[2][9:] == ["120 / 100 / 100", "1.20", "240 / 200 / 200", "1.20", "1e-06"]
    assert lines[3][:7] == ["vgg16", "1", "failed", "5.00", "–", "–", "–"]
    assert lines[4][:7] == ["**geometric mean**", "1", "", "", "", "1.50 (1 of 2)", "1.20 (1 of 2)"]
    assert lines[5][:7] == ["**worst**", "1", "", "", "", "1.50", "1.20"]
    assert len({len(line) for line in lines}) == 1
    assert report.failures([comparison, failing()]) == ["vgg16, 1 thread: hone: Error: no such operator"]


def test_a_model_on_which_every_engine_fails_is_still_shown() -> None:
    lost = Comparison("gpt2_64", 2, {"hone": Measurement(error="one"), "ort": Measurement(error="two")})
    assert "| gpt2_64 " in report.table([lost])
    assert report.failures([lost]) == ["gpt2_64, 2 threads: hone: one", "gpt2_64, 2 threads: ort: two"]
    assert report.progress(lost) == "gpt2_64, 2 threads: hone failed, ort failed"


def test_the_document_names_commit_versions_and_failures(comparison: Comparison) -> None:
    text = report.document([comparison, failing()], note="Untuned.")
    for part in ("Untuned.", "Commit: abc", "hone 1.2, ort 1.2", "- vgg16, 1 thread: hone: Error: no such operator"):
        assert part in text
    assert "Failed" not in report.document([comparison])


def test_what_was_kept_is_read_back_and_the_later_run_counts(tmp_path: Path, comparison: Comparison) -> None:
    file, later = tmp_path / "a.json", tmp_path / "b.json"
    for each in (comparison, failing()):
        report.append_json(file, each)
    mended = Comparison("vgg16", 1, {"hone": measured(4), "ort": measured(5)})
    report.append_json(later, mended)
    first = json.loads(file.read_text().splitlines()[0])
    assert first["context"]["commit"] == "abc"
    assert (first["figures"]["× ort"], first["figures"]["hone min ms"]) == (1.5, 9)
    assert report.read_json([file]) == [comparison, failing()]
    assert report.read_json([file, later]) == [comparison, mended]


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}", '{"model": "m", "threads": 1, "engines": {"hone": {"x": 1}}}'])
def test_a_file_that_holds_something_else_is_refused(
        tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    assert run_compare.main(["--from", str(file)]) == 2
    assert f"{file}:1 is not a comparison that was kept" in capsys.readouterr().err


def test_earlier_runs_are_shown_and_written_and_failures_are_the_exit_code(
        tmp_path: Path, comparison: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "a.json", tmp_path / "page.md"
    report.append_json(file, comparison)
    assert run_compare.main(["--from", str(file), "--write", str(page)]) == 0
    assert "resnet18" in capsys.readouterr().out
    assert "# hone beside" in page.read_text()
    report.append_json(file, failing())
    assert run_compare.main(["--from", str(file)]) == 1
    assert "failed: vgg16" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "message"), [
    (["--models", "resnet19"], "there is no model 'resnet19', only: resnet18,"),
    (["--engines", "hone,tvm"], "there is no engine 'tvm', only: hone, ort, openvino"),
    (["--threads", "0"], "--threads has '0', but must be 1 to"),
    (["--threads", "1,"], "--threads has '', but must be 1 to"),
    (["--rounds", "0"], "--rounds must be 1 or more"),
    (["--from", "no_such_file"], "no_such_file: No such file"),
])
def test_wrong_arguments_are_refused_with_what_is_allowed(arguments: list[str], message: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / "compare" / "run_compare.py"), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert message in result.stderr


def test_every_network_can_be_chosen_and_the_usual_ones_are_twelve() -> None:
    from networks import NETWORKS

    assert {case.name for case in cases.select(["all"])} == set(NETWORKS)
    assert len(cases.select(["usual", "gpt2"])) == 12
    assert cases.select(["gpt2"])[0].title == "gpt2_64"


def test_models_and_inputs_are_written_once_and_again_when_the_generator_changes(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.select(["llama_tiny"])[0]
    job = cases.make_job(case, 2, tmp_path)
    assert (job.threads, job.extents) == (2, {"batch": 1, "sequence": 64})
    assert job.feeds["input_ids"].shape == (1, 64)
    before = Path(job.model).stat().st_mtime_ns
    cases.make_job(case, 1, tmp_path)
    assert Path(job.model).stat().st_mtime_ns == before
    monkeypatch.setattr(cases, "_digest", lambda folder: "another")
    cases.make_job(case, 1, tmp_path)
    assert Path(job.model).stat().st_mtime_ns != before
