"""Runs one engine in a process of its own, so that thread pools, allocators and peak memory do not mix.

    worker.py FD ENGINE THREADS     (used by client.py)

Requests come over the pipe FD, each answered by ("ok", answer) or ("error", message); the end of the pipe ends it.
"""
import importlib
import os
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import locations  # noqa: F401 - makes tests/real importable
from engine import memory_kb, one_line
from job import Job, Loaded


@dataclass(frozen=True)
class Hello:
    """What an engine says when it was imported and nothing else was done."""

    version: str
    resident_mb: float


@dataclass(frozen=True)
class Turn:
    """The latencies of runs one after the other, the memory after them, and the most there ever was."""

    latencies_ms: list[float]
    resident_mb: float
    peak_mb: float


def use_cores(count: int) -> None:
    """Keeps this process on its last `count` cores (the first one also serves interrupts), or on all if it has less."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


class Server:
    """Answers requests for one engine, one model at a time."""

    def __init__(self, engine: str) -> None:
        self._engine = importlib.import_module(f"{engine}_engine")
        self._loaded: Loaded | None = None

    def hello(self) -> Hello:
        """Answers before anything is loaded."""
        return Hello(self._engine.VERSION, memory_kb("VmRSS") / 1024)

    def load(self, job: Job) -> float:
        """Loads the model and runs it once; gives the seconds that took."""
        start = time.perf_counter()
        self._loaded = self._engine.load(job)
        self._loaded.run()
        return time.perf_counter() - start

    def outputs(self) -> dict[str, Any]:
        """Runs once, and gives the outputs by name."""
        assert self._loaded
        return dict(zip(self._loaded.names, self._loaded.run(), strict=True))

    def run(self, count: int) -> Turn:
        """Runs once untimed, to have caches and threads back from whoever ran before, then `count` times timed."""
        assert self._loaded
        run = self._loaded.run
        run()
        latencies_ms = []
        for _ in range(count):
            start = time.perf_counter()
            run()
            latencies_ms.append(1e3 * (time.perf_counter() - start))
        return Turn(latencies_ms, memory_kb("VmRSS") / 1024, memory_kb("VmHWM") / 1024)


def main(pipe: Connection, engine: str, threads: int) -> None:
    """Answers requests, each the name of a method and its arguments, until there are no more."""
    use_cores(threads)
    server: Server | None = None
    while True:
        try:
            method, *arguments = pipe.recv()
        except EOFError:
            return
        try:
            server = server or Server(engine)
            reply = ("ok", getattr(server, method)(*arguments))
        except Exception as error:  # noqa: BLE001 - an engine may raise anything; the parent reports it
            reply = ("error", f"{type(error).__name__}: {one_line(str(error))}")
        pipe.send(reply)


if __name__ == "__main__":
    # Pickles name the classes of the module `worker`, not of `__main__`.
    importlib.import_module("worker").main(Connection(int(sys.argv[1])), sys.argv[2], int(sys.argv[3]))
    os._exit(0)  # what an engine does while it is torn down is not measured here
