"""Tuners and workers are killed at random moments: at most the trial under way is lost."""
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from record_file import Row, check_consistent, read_records, trials
from tuner import TUNE, Hone, Tuner

# What is tuned between two fresh files. The moments of death are to fall into everything that a tuner does.
SPACES = [
    ["--preset", "auto", "--trials-per-task", "40"],
    ["--space", "sketch", "--search", "random", "--cost-model", "none", "--trials-per-task", "25"],
    ["--space", "sketch", "--search", "droplet", "--cost-model", "none", "--trials-per-task", "20"],
    ["--preset", "hidet", "--trials-per-task", "40"],
]


@dataclass
class Campaign:
    """Tunes again and again from where the last one was killed, and looks at the records after each kill."""

    hone: Hone
    rng: random.Random
    rows: list[Row] = field(default_factory=list)  # as they were last time
    worker_kills: int = 0  # of this file

    @property
    def records(self) -> Path:
        """The file of records."""
        return self.hone.folder / "records.db"

    def wait(self, tuner: Tuner) -> None:
        """Waits for a random moment: while it starts, soon after a trial, or anywhere."""
        how = self.rng.random()
        if how < 0.2:
            time.sleep(self.rng.uniform(0, 0.5))
        elif how < 0.8:
            tuner.wait_for_lines(self.rng.randint(1, 12))
            time.sleep(self.rng.expovariate(1 / 0.02))
        else:
            time.sleep(self.rng.uniform(0.5, 2.5))

    def look(self, tuner: Tuner) -> None:
        """Checks the records against what they were, and what was announced."""
        announced = dict(tuner.announced)  # before looking: it may go on
        rows = read_records(self.records, is_in_use=tuner.is_running())
        assert {row.uid for row in self.rows} <= {row.uid for row in rows}, "records vanished"
        check_consistent(rows)
        stored = trials(rows)
        for task, count in announced.items():
            assert stored[task] >= count, f"{count} trials of {task} were announced, {stored[task]} are stored"
        crashes = [row for row in rows if row.status == "crash"]
        assert len(crashes) <= self.worker_kills
        assert all(row.message == "the worker was killed by signal 9 (Killed)" for row in crashes)
        assert {row.status for row in rows} <= {"ok", "crash", "timeout"}  # the last: a machine that is very busy
        self.rows = rows

    def check_resumed(self, tuner: Tuner, before: list[Row]) -> None:
        """A tuner counts on from what was there."""
        stored = trials(before)
        for task, count in tuner.first.items():
            assert stored[task] <= count <= stored[task] + 1, f"{task} began with {count} after {stored[task]} trials"

    def check_nothing_stays(self) -> None:
        """No process and no temporary file of a killed tuner is left."""
        assert self.hone.wait_until_alone() == []
        assert list(self.hone.temporary.iterdir()) == []
        left = {path.name for path in self.hone.folder.iterdir()} - {"model.onnx", "temporary"}
        assert left <= {"records.db", "records.db-wal", "records.db-shm", "records.db-journal"}

    def kill_one(self, tuner: Tuner) -> str:
        """Kills the tuner or a worker; says which."""
        workers = tuner.workers()
        if workers and self.rng.random() < 0.4:
            try:
                os.kill(self.rng.choice(workers), signal.SIGKILL)
            except ProcessLookupError:  # it was just replaced
                return "nobody"
            self.worker_kills += 1
            return "worker"
        tuner.kill()
        self.check_nothing_stays()
        return "tuner"

    def run(self, arguments: list[str], kills: int) -> int:
        """Kills until that was done so often, or tuning is complete; gives how often it was."""
        for path in self.hone.folder.glob("records.db*"):
            path.unlink()
        self.rows, self.worker_kills = [], 0
        done = 0
        while True:
            before = self.rows
            tuner = Tuner(self.hone, *arguments)
            while done < kills:
                self.wait(tuner)
                if not tuner.is_running():
                    break
                victim = self.kill_one(tuner)
                done += victim != "nobody"
                self.look(tuner)
                print(f"  {victim} killed after {tuner.lines} lines: {len(self.rows)} records")
                if victim == "tuner":
                    break
            if tuner.process.returncode == -signal.SIGKILL:
                self.check_resumed(tuner, before)
                continue
            assert tuner.finish() == 0, tuner.errors
            self.look(tuner)
            self.check_resumed(tuner, before)
            self.check_nothing_stays()
            assert not Path(f"{self.records}-wal").exists()
            return done


def outputs(hone: Hone, records: str) -> np.ndarray:
    """What the model gives with these records."""
    ran = hone.run("run", "model.onnx", "--random", "--threads", "1", "--records", records, "--output-dir", "temporary")
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    result = hone.temporary / "y.npy"
    values = np.load(result)
    result.unlink()
    return values


def test_finals_decide_about_all_tasks_or_none(hone: Hone, kill_seed: int) -> None:
    """A tuner that is killed in the finals leaves what was adopted before; the next one brings them to their end."""
    print(f"--kill-seed {kill_seed}")
    rng = random.Random(kill_seed)
    arguments = ["--search", "random", "--cost-model", "none", "--trials-per-task", "4"]
    finished = 0
    for attempt in range(8):
        tuner = Tuner(hone, *arguments)
        wanted = rng.randint(1, 20)
        while tuner.finals < wanted and tuner.is_running():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        tuner.kill()
        rows = read_records(hone.folder / "records.db")
        check_consistent(rows)
        decided = Counter(row.task for row in rows if row.in_model)
        print(f"  {attempt} killed after {tuner.finals} lines about the finals: {decided.total()} decisions")
        assert set(decided.values()) <= {max(decided.values(), default=0)}, "some tasks were decided about, others not"
        finished = max(decided.values(), default=0)
    tuner = Tuner(hone, *arguments)
    assert tuner.finish() == 0, tuner.errors
    decided = Counter(row.task for row in read_records(hone.folder / "records.db") if row.in_model)
    assert set(decided.values()) == {finished + 1}
    np.testing.assert_allclose(outputs(hone, "records.db"), outputs(hone, "none"), rtol=1e-4, atol=1e-6)


def test_kills_lose_at_most_the_trial_under_way(hone: Hone, kills: int, kill_seed: int) -> None:
    """After each kill the records are whole; tuning goes on there, ends, and its result is right."""
    print(f"--kills {kills} --kill-seed {kill_seed}")
    campaign = Campaign(hone, random.Random(kill_seed))
    done, files = 0, 0
    share = max(3, -(-kills // (2 * len(SPACES))))
    while done < kills:
        arguments = SPACES[files % len(SPACES)]
        print(" ".join(["hone tune", *TUNE, *arguments]))
        done += campaign.run(arguments, min(share, kills - done))
        files += 1
        adopted = {row.task for row in campaign.rows if row.adopted}
        assert adopted == {row.task for row in campaign.rows if row.status == "ok"}
        np.testing.assert_allclose(outputs(hone, "records.db"), outputs(hone, "none"), rtol=1e-4, atol=1e-6)
    print(f"{done} kills in {files} files")
