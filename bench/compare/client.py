"""The other end of worker.py: starts an engine's process, asks it, and says in one line how it failed."""
import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from types import TracebackType
from typing import Any

import locations  # first, as it makes tests/real importable
from engine import death
from job import Job
from worker import Hello, Turn


class EngineFailure(Exception):
    """An engine raised, crashed or hung; the message says which in one line."""


class Client:
    """An engine in a process of its own, which ends at the first failure: a hung one would disturb the others' runs."""

    def __init__(self, engine: str, threads: int, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile()
        self._pipe, theirs = Pipe()
        worker = locations.ROOT / "bench" / "compare" / "worker.py"
        command = [sys.executable, str(worker), str(theirs.fileno()), engine, str(threads)]
        # A session of its own, so that whatever the engine starts ends with it.
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=self._stderr, start_new_session=True)
        theirs.close()

    def hello(self) -> Hello:
        """The engine's version and the memory it takes before it loads anything."""
        return self._ask("hello")

    def load(self, job: Job) -> float:
        """Loads a model and runs it once; gives the seconds that took."""
        return self._ask("load", job)

    def outputs(self) -> dict[str, Any]:
        """The outputs of one run by their names."""
        return self._ask("outputs")

    def run(self, count: int) -> Turn:
        """Runs once untimed and `count` times timed."""
        return self._ask("run", count)

    def close(self) -> None:
        """Ends the process and all that it started; does nothing the second time."""
        if self._pipe.closed:
            return
        self._pipe.close()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._stderr.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def _ask(self, *request: Any) -> Any:
        try:
            return self._exchange(*request)
        except EngineFailure:
            self.close()
            raise

    def _exchange(self, *request: Any) -> Any:
        try:
            self._pipe.send(request)
            if not self._pipe.poll(self._timeout_s):
                raise EngineFailure(f"no answer after {self._timeout_s:g} s")
            state, answer = self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise EngineFailure(self._death()) from None
        if state == "error":
            raise EngineFailure(answer)
        return answer

    def _death(self) -> str:
        code = self._process.wait()
        self._stderr.seek(0)
        return death(code, self._stderr.read().decode("utf-8", "replace"))
