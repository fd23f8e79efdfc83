"""Runs one model in one engine; as a program, in a process of its own that may crash or hang without harm to others.

    python tests/real/engine.py JOB RESULT     (two pickle files, used by `run_isolated`)

An engine is a Python module with onnxruntime's `InferenceSession`: `hone`, or any other that can be imported.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Feeds = dict[str, np.ndarray]

REFERENCE = "onnxruntime-optimised"
STAND_IN = "onnxruntime"  # with optimisations disabled: it differs from the reference as another engine would


@dataclass(frozen=True)
class Job:
    """What an engine shall do: load the model, run all feeds, then run each again for the time it takes."""

    engine: str
    model: str
    runs: Sequence[Feeds]
    repeat: int
    memory_mb: int
    threads: int


@dataclass
class Result:
    """What came out; `error` says in one line why nothing did."""

    error: str = ""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    load_s: float = 0.0
    first_ms: float = 0.0
    run_ms: float = 0.0
    peak_mb: float = 0.0


def import_engine(engine: str) -> Any:
    """The module of an engine."""
    return importlib.import_module("onnxruntime" if engine in (REFERENCE, STAND_IN) else engine)


def open_session(engine: str, model: str | bytes, threads: int = 0) -> Any:
    """A session of the engine for a model file or its content."""
    module = import_engine(engine)
    if engine not in (REFERENCE, STAND_IN):
        return module.InferenceSession(model)
    options = module.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    if engine == STAND_IN:
        options.graph_optimization_level = module.GraphOptimizationLevel.ORT_DISABLE_ALL
    return module.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(job: Job) -> Result:
    """Does the job in this process; what the engine raises passes through."""
    import_engine(job.engine)
    before_kb = memory_kb("VmRSS")
    start = time.perf_counter()
    session = open_session(job.engine, job.model, job.threads)
    result = Result(load_s=time.perf_counter() - start)
    expected = {node.name for node in session.get_inputs()}
    names = [node.name for node in session.get_outputs()]
    for feeds in job.runs:
        if set(feeds) != expected:
            raise ValueError(f"get_inputs() names {sorted(expected)}, the model has {sorted(feeds)}")
        start = time.perf_counter()
        values = session.run(None, feeds)
        result.first_ms += 1e3 * (time.perf_counter() - start)
        result.outputs.append(dict(zip(names, values, strict=True)))
    for feeds in job.runs:
        best = float("inf")
        for _ in range(job.repeat):
            start = time.perf_counter()
            session.run(None, feeds)
            best = min(best, 1e3 * (time.perf_counter() - start))
        result.run_ms += best if job.repeat else 0.0
    result.peak_mb = (memory_kb("VmHWM") - before_kb) / 1024
    return result


def memory_kb(field: str) -> int:
    """A figure of this process: VmRSS, the memory it has now, or VmHWM, the most it ever had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def run_isolated(job: Job, timeout_s: float) -> Result:
    """Does the job in another process; a crash, a hang or an exception there is the result's error."""
    with tempfile.TemporaryDirectory(prefix="hone-real-") as scratch:
        job_file, result_file = Path(scratch) / "job", Path(scratch) / "result"
        job_file.write_bytes(pickle.dumps(job))
        command = [sys.executable, __file__, str(job_file), str(result_file)]
        # A session of its own, so that whatever the engine starts ends with it.
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            _, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Result(error=f"no result after {timeout_s:g} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if result_file.is_file():
            return pickle.loads(result_file.read_bytes())
        return Result(error=death(process.returncode, stderr.decode("utf-8", "replace")))


def death(code: int, stderr: str) -> str:
    """Says in one line how a process ended that left no result."""
    how = f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    lines = stderr.strip().splitlines()
    return f"{how}: {lines[-1]}" if lines else how


def one_line(text: str) -> str:
    return " ".join(text.split())


def main(job_file: Path, result_file: Path) -> None:
    job: Job = pickle.loads(job_file.read_bytes())
    if job.memory_mb:
        resource.setrlimit(resource.RLIMIT_AS, (job.memory_mb << 20, job.memory_mb << 20))
    try:
        result = run(job)
    except Exception as error:  # noqa: BLE001 - an engine may raise anything; the parent reports it
        result = Result(error=f"{type(error).__name__}: {one_line(str(error))}")
    partial = result_file.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(result))
    partial.rename(result_file)  # a result is there as a whole or not at all
    sys.stdout.flush()
    os._exit(0)  # what an engine does while it is torn down is not judged here


if __name__ == "__main__":
    # Pickles name the classes of the module `engine`, not of `__main__`.
    importlib.import_module("engine").main(Path(sys.argv[1]), Path(sys.argv[2]))
