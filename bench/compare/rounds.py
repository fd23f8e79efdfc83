"""Compares engines on one model: loads it in each, checks that all agree, then times them in turns."""
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Protocol

import locations  # noqa: F401 - makes tests/real importable
from client import Client, EngineFailure
from job import Job
from judge import Slack, compare_runs
from summary import Measurement
from worker import Turn

TOLERANCE = 1e-3  # of the output's scale
CLASSES = ("output", "logits")  # outputs whose arg-max is the answer
MOST_RUNS = 1000  # in one turn
PAUSE_S = 0.01  # between turns: idle threads of the engine before spin for some milliseconds


class Runner(Protocol):
    """What can run a loaded model some times."""

    def run(self, count: int) -> Turn:
        """Runs once untimed and `count` times timed."""


def compare(job: Job, engines: list[str], rounds: int, seconds: float, timeout_s: float) -> dict[str, Measurement]:
    """Measures each engine in a process of its own; one that fails has an error, and the others go on without it."""
    found = {engine: Measurement() for engine in engines}
    with ExitStack() as stack:
        clients: dict[str, Client] = {}
        for engine in engines:
            client = stack.enter_context(Client(engine, job.threads, timeout_s))
            if _attempt(found[engine], lambda: _load(client, job, found[engine])):
                clients[engine] = client
        _check(clients, found)
        time_turns(clients, found, rounds, seconds)
        _check(clients, found)  # what many runs and threads may have spoilt
    return found


def time_turns(runners: Mapping[str, Runner], found: dict[str, Measurement], rounds: int, seconds: float) -> None:
    """Lets those that have no error take turns, A B C A B C ..., each turn of about the same length, `seconds` in all.

    However long a run takes, each round has one of every engine. An engine that fails loses its turns.
    """
    counts: dict[str, int] = {}
    share_ms = 1e3 * seconds / max(1, rounds * len(runners))
    for engine, runner in runners.items():
        def estimate() -> None:
            run_ms = min(runner.run(2).latencies_ms)
            counts[engine] = max(1, min(MOST_RUNS, int(share_ms / run_ms) - 1))  # one run of the turn is not timed
        if not found[engine].error:
            _attempt(found[engine], estimate)
    for _ in range(rounds):
        for engine, runner in runners.items():
            if not found[engine].error:
                _attempt(found[engine], lambda: _take_turn(runner, counts[engine], found[engine]))


def _take_turn(runner: Runner, count: int, result: Measurement) -> None:
    time.sleep(PAUSE_S)
    turn = runner.run(count)
    result.turns_ms.append(turn.latencies_ms)
    result.resident_mb, result.peak_mb = turn.resident_mb, turn.peak_mb


def _load(client: Client, job: Job, result: Measurement) -> None:
    hello = client.hello()
    result.version, result.before_mb = hello.version, hello.resident_mb
    result.load_s = client.load(job)


def _check(clients: Mapping[str, Client], found: dict[str, Measurement]) -> None:
    """Compares the outputs of each engine with those of the reference: ONNX Runtime, or else the last that runs."""
    outputs: dict[str, dict[str, Any]] = {}
    for engine, client in clients.items():
        def ask() -> None:
            outputs[engine] = client.outputs()
        if not found[engine].error:
            _attempt(found[engine], ask)
    if len(outputs) < 2:
        return
    reference = "ort" if "ort" in outputs else list(outputs)[-1]
    expected = outputs.pop(reference)
    for engine, actual in outputs.items():
        # engines may list outputs in another order
        actual = {name: actual[name] for name in expected if name in actual}
        verdict = compare_runs([expected], [actual], CLASSES, {name: Slack(TOLERANCE) for name in expected})
        found[engine].difference = max(verdict.error, found[engine].difference or 0.0)
        if verdict.problem:
            found[engine].error = f"disagrees with {reference}: {verdict.problem}"
            found[engine].turns_ms.clear()


def _attempt(result: Measurement, step: Callable[[], None]) -> bool:
    """Does a step; if the engine fails, notes the error, drops its times, and gives false."""
    try:
        step()
        return True
    except EngineFailure as failure:
        result.error = str(failure)
        result.turns_ms.clear()
        return False
