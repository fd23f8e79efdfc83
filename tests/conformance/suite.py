"""Runs the test suite of whichever onnx package is installed against hone.backend, and says how each test ended.

    python tests/conformance/suite.py RESULTS [--sample] [--jobs N] [--timeout SECONDS] [--match TEXT]

The suite is loaded once; batches of tests then run in forked processes, so that a crash or a hang costs one test.
RESULTS becomes a JSON file: the package's version, and one record per test.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import signal
import sys
import time
import unittest
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx.backend.test
from onnx.backend.test.loader import load_model_tests

import hone
import hone.backend

BATCH = 25
SAMPLE_STEP = 4  # of the tests of nodes, every so many run in the sample

PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"


@dataclass
class Record:
    """How a test ended, and why if it did not pass."""

    name: str
    kind: str
    operator: str
    status: str = FAILED
    reason: str = ""
    seconds: float = 0.0


class Suite:
    """All tests that the package has for a CPU, with the operator each is about."""

    def __init__(self) -> None:
        backend_test = onnx.backend.test.BackendTest(hone.backend.HoneBackend, __name__)
        self._cases: dict[str, type[unittest.TestCase]] = {}
        self.records: list[Record] = []
        operators = {case.name: operator_of(case) for case in load_model_tests(kind="node")}
        for kind, case in sorted(backend_test.test_cases.items()):
            for name in sorted(dir(case)):
                if not name.startswith("test_") or not name.endswith("_cpu"):
                    continue
                kind_name = kind.removeprefix("OnnxBackend").removesuffix("ModelTest")
                base = name.removesuffix("_cpu")
                whole = base.split("_expanded")[0]
                operator = operators.get(whole) or operators.get(base) or f"({kind_name})"
                self.records.append(Record(name, kind_name, operator))
                self._cases[name] = case

    def run(self, record: Record) -> Record:
        """Runs one test here."""
        result = unittest.TestResult()
        start = time.perf_counter()
        error: list[BaseException] = []

        class Case(self._cases[record.name]):  # type: ignore[misc,name-defined]
            def _callTestMethod(self, method: Any) -> None:
                try:
                    method()
                except BaseException as raised:
                    error.append(raised)
                    raise

        Case(record.name).run(result)
        record.seconds = time.perf_counter() - start
        if error:
            record.status, record.reason = classify(error[0])
        elif result.skipped:
            record.status, record.reason = UNSUPPORTED, result.skipped[0][1]
        elif result.wasSuccessful():
            record.status = PASSED
        else:
            record.reason = "the test could not be set up"
        return record

    def sample(self) -> list[Record]:
        """A part that stands for the whole: each operator once, every so many tests of nodes, and all others."""
        chosen, seen = [], set()
        nodes = [record for record in self.records if record.kind == "Node"]
        for i, record in enumerate(nodes):
            if i % SAMPLE_STEP == 0 or record.operator not in seen:
                seen.add(record.operator)
                chosen.append(record)
        return chosen + [record for record in self.records if record.kind in ("Simple", "PyTorchOperator")]


def operator_of(case: Any) -> str:
    """The operator that a test of a node is about: the one it is named after, otherwise the first."""
    model = case.model
    if model is None and case.model_dir:
        model = onnx.load(Path(case.model_dir) / "model.onnx", load_external_data=False)
    if model is None or not model.graph.node:
        return ""
    squashed = case.name.removeprefix("test_").replace("_", "").lower()
    types = [node.op_type for node in model.graph.node]
    named = [kind for kind in types if squashed.removeprefix("aionnxml").startswith(kind.lower())]
    return max(named, key=len) if named else types[0]


def classify(error: BaseException) -> tuple[str, str]:
    """The status and the reason, in one line, of a test that raised."""
    if isinstance(error, unittest.SkipTest):
        return UNSUPPORTED, one_line(str(error))
    if isinstance(error, hone.Error):
        code = getattr(error, "code", "")
        return (UNSUPPORTED if code == "unsupported" else FAILED), f"{code}: {one_line(str(error))}"
    if isinstance(error, AssertionError):
        telling = re.compile(r"incorrect|[Mm]ismatch|Max |ACTUAL|DESIRED|!=|^ *x: |^ *y: |nan|shape")
        lines = [line.strip() for line in str(error).splitlines() if telling.search(line)]
        return FAILED, "wrong: " + one_line("; ".join(lines) or str(error))
    return FAILED, f"{type(error).__name__}: {one_line(str(error))}"


def one_line(text: str, limit: int = 300) -> str:
    text = " ".join(text.replace(f"{Path(__file__).resolve().parents[2]}/", "").split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Batch:
    """Records that a forked process works through, reporting over a pipe."""

    def __init__(self, suite: Suite, records: list[Record], timeout_s: float) -> None:
        self.waiting = list(records)
        self._timeout_s = timeout_s
        self._text = b""
        read, write = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(read)
            self._work(suite, write)
        os.close(write)
        self.pipe = read
        self.deadline = time.monotonic() + timeout_s

    def _work(self, suite: Suite, write: int) -> None:
        """The life of the forked process."""
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        for record in self.waiting:
            os.write(write, json.dumps(asdict(suite.run(record))).encode() + b"\n")
        os._exit(0)

    def read(self) -> Iterator[Record]:
        """Records that are finished; at the end of the process or of its time, also the one that it worked on."""
        chunk = os.read(self.pipe, 1 << 16)
        self._text += chunk
        *lines, self._text = self._text.split(b"\n")
        for line in lines:
            self.waiting.pop(0)
            self.deadline = time.monotonic() + self._timeout_s
            yield Record(**json.loads(line))
        if not chunk:
            status = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
            os.close(self.pipe)
            if self.waiting:
                how = f"crashed with {signal.Signals(-status).name}" if status < 0 else f"ended with exit code {status}"
                yield from self._fail(how)
            self.pipe = -1

    def stop(self) -> Iterator[Record]:
        """Ends a process that takes too long."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self.pipe)
        self.pipe = -1
        yield from self._fail(f"no answer after {self._timeout_s:g} s")

    def _fail(self, how: str) -> Iterator[Record]:
        record = self.waiting.pop(0)
        record.reason = how
        yield record


def run_all(suite: Suite, records: list[Record], jobs: int, timeout_s: float) -> list[Record]:
    """Runs tests in forked processes, `jobs` at a time, and gives their records in the order of the names."""
    done: list[Record] = []
    todo = [records[i : i + BATCH] for i in range(0, len(records), BATCH)]
    running: list[Batch] = []
    while todo or running:
        while todo and len(running) < jobs:
            running.append(Batch(suite, todo.pop(0), timeout_s))
        ready, _, _ = select.select([batch.pipe for batch in running], [], [], 1.0)
        for batch in list(running):
            if batch.pipe in ready:
                done.extend(batch.read())
            elif time.monotonic() > batch.deadline:
                done.extend(batch.stop())
            if batch.pipe == -1:
                running.remove(batch)
                if batch.waiting:
                    todo.insert(0, batch.waiting)
        if sys.stderr.isatty():
            print(f"\r{len(done)} of {len(records)}", end="", file=sys.stderr)
    return sorted(done, key=lambda record: (record.kind, record.name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--sample", action="store_true", help="only a part that stands for the whole")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one test")
    parser.add_argument("--match", default="", help="only tests whose name contains this")
    arguments = parser.parse_args()
    suite = Suite()
    records = suite.sample() if arguments.sample else suite.records
    records = [record for record in records if arguments.match in record.name]
    done = run_all(suite, records, arguments.jobs, arguments.timeout)
    content = {"version": onnx.__version__, "records": [asdict(record) for record in done]}
    arguments.results.write_text(json.dumps(content, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
