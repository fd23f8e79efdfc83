"""Runs `hone` in a folder of its own, and kills it or its workers."""
import json
import os
import secrets
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TUNE = ["model.onnx", "--threads", "1"]
SECONDS_TO_GO = 20  # that processes have to end once they are told to: the machine may be busy with others


@dataclass
class Hone:
    """The command in a folder: what it writes, temporary files too, stays there."""

    command: Path
    folder: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        self.temporary.mkdir()

    @property
    def temporary(self) -> Path:
        """Where temporary files go."""
        return self.folder / "temporary"

    def environment(self) -> dict[str, str]:
        """Ours, with all folders of the user inside the test's, and a mark that tells who the processes belong to."""
        here = str(self.folder / "home")
        own = {"HOME": here, "XDG_DATA_HOME": here, "TMPDIR": str(self.temporary), "HONE_FAULT_MARK": self.mark}
        return {**os.environ, **own}

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """Starts `hone` with these arguments."""
        return subprocess.Popen(
            [self.command, *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs `hone` with these arguments to its end."""
        process = self.start(*arguments, **options)
        output, errors = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def processes(self) -> list[int]:
        """All processes that this object started, and those that they started."""
        mark = f"HONE_FAULT_MARK={self.mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:  # it is gone, or is somebody else's
                pass
        return found

    def wait_until_alone(self) -> list[int]:
        """Waits for all its processes to end; those that do not."""
        deadline = time.monotonic() + SECONDS_TO_GO
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return left


class Tuner:
    """A `hone tune` under way, and what it has announced."""

    def __init__(self, hone: Hone, *arguments: str) -> None:
        self.hone = hone
        self.announced: dict[str, int] = {}  # trials of each task
        self.first: dict[str, int] = {}  # what was announced first
        self.lines = 0
        self.trials = 0  # of this run
        self.finals = 0  # lines about the finals
        self.stage = ""  # of the finals
        self.last: dict[str, Any] = {}  # the report, at the end
        self.errors = ""
        self.process = hone.start("tune", *TUNE, "--records", "records.db", "--json", *arguments)
        self.readers = [threading.Thread(target=self._listen), threading.Thread(target=self._complain)]
        for reader in self.readers:
            reader.start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if not line.endswith("\n"):  # cut off by a kill: not announced
                break
            told = json.loads(line)
            if "finals" in told:
                self.finals += 1
                self.stage = told["finals"]
                self.last = told
                continue
            self.first.setdefault(told["key"], told["task_trials"])
            self.announced[told["key"]] = told["task_trials"]
            self.trials = told["trials"]
            self.lines += 1

    def _complain(self) -> None:
        assert self.process.stderr
        self.errors = self.process.stderr.read()

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait_for_lines(self, count: int) -> None:
        """Waits until so many more lines were announced, or the end."""
        wanted = self.lines + count
        while self.lines < wanted and self.is_running():
            time.sleep(0.001)

    def wait_for_stage(self, stage: str) -> None:
        """Waits until the finals are that far, or the end."""
        while self.stage != stage and self.is_running():
            time.sleep(0.001)

    def workers(self) -> list[int]:
        """Its worker processes."""
        return [pid for pid in self.hone.processes() if pid != self.process.pid]

    def interrupt(self) -> None:
        """Presses Ctrl-C, which reaches all processes of a terminal's group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Ends it the hard way; what it had announced before is still heard."""
        self.process.send_signal(signal.SIGKILL)
        self.finish()

    def finish(self) -> int:
        """Waits for its end; its exit code."""
        code = self.process.wait(timeout=300)
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code
