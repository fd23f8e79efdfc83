"""Tests of how engines take turns: order, length, memory, and that one which fails fails alone, with its reason."""
import os
import time
from pathlib import Path

import numpy as np
import pytest

from client import Client, EngineFailure
from job import Job
from rounds import compare, time_turns
from summary import Measurement
from worker import Turn


@pytest.fixture
def job() -> Job:
    """Inputs for engines that answer 2x, of any model."""
    return Job("no file", {"x": np.array([[1, 3, 2]], np.float32)}, threads=1)


class Recorder:
    """A runner that takes a known time and notes its turns in a list shared with others."""

    def __init__(self, name: str, run_ms: float, log: list[tuple[str, int]], fails_at: int = 0) -> None:
        self._name, self._run_ms, self._log, self._fails_at = name, run_ms, log, fails_at
        self._turns = 0

    def run(self, count: int) -> Turn:
        """Pretends to run."""
        self._turns += 1
        if self._turns == self._fails_at:
            raise EngineFailure("out of luck")
        self._log.append((self._name, count))
        return Turn([self._run_ms] * count, 10.0 + self._turns, 20.0)


def test_engines_take_turns_of_equal_length() -> None:
    log: list[tuple[str, int]] = []
    runners = {"a": Recorder("a", 10, log), "b": Recorder("b", 20, log), "c": Recorder("c", 5000, log)}
    found = {name: Measurement() for name in runners}
    time_turns(runners, found, rounds=3, seconds=0.9)  # 100 ms a turn, of which one run is not timed
    assert log[:3] == [("a", 2), ("b", 2), ("c", 2)]  # to see how long a run takes
    assert log[3:] == [("a", 9), ("b", 4), ("c", 1)] * 3
    assert [len(result.turns_ms) for result in found.values()] == [3, 3, 3]
    assert found["a"].resident_mb == 14  # after its last turn
    assert found["a"].peak_mb == 20


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_an_engine_that_fails_in_a_turn_loses_its_times_and_the_others_go_on(fails_at: int) -> None:
    log: list[tuple[str, int]] = []
    runners = {"a": Recorder("a", 10, log, fails_at), "b": Recorder("b", 10, log)}
    found = {name: Measurement() for name in runners}
    time_turns(runners, found, rounds=4, seconds=0.1)
    assert found["a"].error == "out of luck"
    assert found["a"].turns_ms == []
    assert len(found["b"].turns_ms) == 4


def test_engines_run_in_processes_and_agree(job: Job) -> None:
    found = compare(job, ["steady", "slow"], rounds=3, seconds=0.2, timeout_s=30)
    for result in found.values():
        assert (result.error, result.version) == ("", "1.2")
        assert len(result.turns_ms) == 3
        assert 0 < result.before_mb <= result.peak_mb
        assert 0 < result.resident_mb <= result.peak_mb
    assert found["slow"].min_ms >= 4
    assert found["slow"].load_s >= 0.004
    assert found["steady"].difference == 0  # the reference, for want of ONNX Runtime, is the last


@pytest.mark.parametrize(("engine", "error"), [
    ("wrong", "disagrees with steady: run 0 output 'output': error 3.3e-03 of the scale, allowed 1.0e-03"),
    ("spoilt", "disagrees with steady: run 0 output 'output': error 3.3e-03 of the scale, allowed 1.0e-03"),
    ("raising", "RuntimeError: operator Foo is not supported"),
    ("crashing", "crashed with SIGSEGV"),
    ("leaving", "ended with exit code 3: out of luck"),
    ("late", "ended with exit code 4"),
    ("broken", "ModuleNotFoundError: No module named 'a_package_that_is_not_installed'"),
])
def test_an_engine_that_fails_is_reported_and_the_others_are_timed(job: Job, engine: str, error: str) -> None:
    found = compare(job, [engine, "steady"], rounds=10, seconds=0.05, timeout_s=30)
    assert found[engine].error == error
    assert found[engine].turns_ms == []
    assert found["steady"].error == ""
    assert len(found["steady"].turns_ms) == 10


def test_an_engine_that_hangs_is_ended_with_all_it_started(job: Job) -> None:
    start = time.monotonic()
    with Client("hanging", 1, timeout_s=10) as client:
        group = client._process.pid
        client.hello()
        client._timeout_s = 0.5
        with pytest.raises(EngineFailure, match="^no answer after 0.5 s$"):
            client.load(job)
        killed = time.monotonic()  # at once, so that it does not disturb the others: only the kernel takes a moment
        while _alive_in_group(group) and time.monotonic() - killed < 5:
            time.sleep(0.01)
        assert not _alive_in_group(group)
    assert time.monotonic() - start < 20


def test_what_an_engine_prints_does_not_disturb(job: Job) -> None:
    with Client("noisy", 1, timeout_s=30) as client:
        client.load(job)
        assert len(client.run(5).latencies_ms) == 5


def test_a_worker_stays_on_as_many_cores_as_it_has_threads() -> None:
    with Client("steady", 1, timeout_s=30) as client:
        client.hello()
        assert os.sched_getaffinity(client._process.pid) == {max(os.sched_getaffinity(0))}


def _alive_in_group(group: int) -> list[str]:
    """The processes of a group that have not ended."""
    stats = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats.append(file.read_text().rpartition(")")[2].split())
        except OSError:
            pass  # ended while we looked
    return [state for state, _, member, *_ in stats if int(member) == group and state != "Z"]
