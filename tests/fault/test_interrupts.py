"""Ctrl-C: what was measured stays, tuning ends as usual, and goes on there the next time."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from record_file import Row, check_consistent, read_records, trials
from tuner import SECONDS_TO_GO, Hone, Tuner

QUICK = ["--search", "random", "--cost-model", "none", "--trials-per-task"]


def check_nothing_stays(hone: Hone) -> list[Row]:
    """No process and no temporary file is left, and the records are whole; gives them."""
    assert hone.wait_until_alone() == []
    assert list(hone.temporary.iterdir()) == []
    assert not (hone.folder / "records.db-wal").exists()
    rows = read_records(hone.folder / "records.db")
    check_consistent(rows)
    assert {row.status for row in rows} <= {"ok", "timeout"}, "a worker was interrupted"
    return rows


def resume(hone: Hone, before: list[Row], *arguments: str) -> list[Row]:
    """Tunes to the end from what is there; gives the records."""
    tuner = Tuner(hone, *arguments)
    assert tuner.finish() == 0, tuner.errors
    stored = trials(before)
    for task, count in tuner.first.items():
        assert stored[task] <= count <= stored[task] + 1
    assert not tuner.last["is_stopped"]
    rows = check_nothing_stays(hone)
    assert {row.uid for row in before} <= {row.uid for row in rows}
    assert {row.task for row in rows if row.in_model} == {row.task for row in rows}
    return rows


def test_in_the_search(hone: Hone) -> None:
    """The search ends with the trial under way, and there are no finals."""
    tuner = Tuner(hone, *QUICK, "30")
    tuner.wait_for_lines(5)
    tuner.interrupt()
    assert tuner.finish() == 0, tuner.errors
    assert tuner.last["is_stopped"] and tuner.last["finals"] == "none" and tuner.finals == 1  # the report alone
    rows = check_nothing_stays(hone)
    for task, count in tuner.announced.items():
        assert trials(rows)[task] >= count
    assert 5 <= sum(trials(rows).values()) < 30 * 4
    assert not any(row.in_model for row in rows)
    resume(hone, rows, *QUICK, "30")


def test_in_the_finals(hone: Hone) -> None:
    """Nothing is decided; what was fastest alone stays, and the next finals decide."""
    tuner = Tuner(hone, *QUICK, "4")
    tuner.wait_for_stage("compiling")
    tuner.interrupt()
    assert tuner.finish() == 0, tuner.errors
    assert tuner.last["is_stopped"] and tuner.last["finals"] == "none"
    rows = check_nothing_stays(hone)
    assert not any(row.in_model for row in rows)
    assert {row.task for row in rows if row.adopted} == {row.task for row in rows}
    resume(hone, rows, *QUICK, "4")


def test_says_that_it_was_stopped(hone: Hone) -> None:
    """For people: the report and the command that runs what was found."""
    process = hone.start("tune", "model.onnx", "--threads", "1", "--records", "records.db", *QUICK, "200")
    assert process.stderr
    while "tasks done" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert ", stopped\n" in output
    assert "used by: hone run model.onnx --threads 1 --records records.db --random\n" in output or (
        "no kernel has a result yet" in output  # the first trial was still under way
    )
    check_nothing_stays(hone)


SCRIPT = """
import sys
import numpy as np
import hone

def tune(trials):
    feeds = {"x": np.zeros((1, 3, 13, 13), np.float32)}
    return hone.tune("model.onnx", feeds, threads=1, trials_per_task=trials, records="records.db", search="random",
                     cost_model="none")

try:
    tune(200)
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
print(*(task.reused for task in tune(2)))
"""


def test_in_python(hone: Hone) -> None:
    """hone.tune raises KeyboardInterrupt, keeps what it measured, and can be called again in the same process."""
    import hone as package

    folders = os.pathsep.join([str(Path(package.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=hone.folder,
        env={**hone.environment(), "PYTHONPATH": folders},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    file = hone.folder / "records.db"
    deadline = time.monotonic() + 10 * SECONDS_TO_GO
    while process.poll() is None and len(read_records(file, is_in_use=True)) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    stored = read_records(file, is_in_use=True)
    check_consistent(stored)
    assert 3 <= sum(trials(stored).values()) < 200
    output, errors = process.communicate("go on\n", timeout=300)
    assert process.returncode == 0, errors
    assert set(output.split()) <= {"tuned", "default"} and "KeyboardInterrupt" not in errors
    assert {row.uid for row in stored} <= {row.uid for row in check_nothing_stays(hone)}
