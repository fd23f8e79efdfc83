"""Files of records that are full, read-only, damaged or shared: tuning goes on, and says what is wrong."""
import os
import resource
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from record_file import check_consistent, read_records, trials
from tuner import TUNE, Hone, Tuner

Outcome = subprocess.CompletedProcess[str]

QUICK = ["--search", "random", "--cost-model", "none", "--trials-per-task", "6"]


def limit_files(size: int) -> Callable[[], None]:
    """Makes a process find the disk full: none of its files may be larger than this."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def tune(hone: Hone, *arguments: str, records: str = "records.db", **options: object) -> Outcome:
    """Runs a short `hone tune`."""
    return hone.run("tune", *TUNE, "--records", records, *QUICK, *arguments, **options)


def check_result_without_records(ran: Outcome, *parts: str) -> None:
    """The result is printed, and the last line says in one sentence why it was not stored."""
    assert ran.returncode == 2, ran.stderr
    assert "Conv+Relu: {" in ran.stdout and "kernels in all" in ran.stdout
    assert "stored in" not in ran.stdout
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("hone: not everything that was found is stored: records: "), last
    for part in parts:
        assert part in last


@pytest.mark.parametrize("size", [1_000, 30_000, 150_000])
def test_a_full_disk(hone: Hone, size: int) -> None:
    """What was stored before the disk was full stays, and tuning goes on from there when there is room again."""
    ran = tune(hone, preexec_fn=limit_files(size))
    check_result_without_records(ran, "records.db", "full")
    rows = read_records(hone.folder / "records.db")
    check_consistent(rows)
    assert bool(rows) == (size > 100_000)
    again = tune(hone)
    assert again.returncode == 0, again.stderr
    assert {row.uid for row in rows} <= {row.uid for row in read_records(hone.folder / "records.db")}
    check_consistent(read_records(hone.folder / "records.db"))


def in_namespace(hone: Hone, prepare: str) -> Outcome:
    """Runs a short `hone tune` where a shell command has mounted something; skips where that is not allowed."""
    try:
        allowed = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("mounting is not allowed here")
    line = " ".join([prepare, "&& exec", str(hone.command), "tune", *TUNE, "--records records.db", *QUICK])
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", line],
        cwd=hone.folder,
        env=hone.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_file_system_without_room(hone: Hone) -> None:
    """The same with a real file system that has no room left."""
    (hone.folder / "small").mkdir()
    (hone.folder / "records.db").symlink_to("small/records.db")
    ran = in_namespace(hone, "mount -t tmpfs -o size=256k tmpfs small")
    check_result_without_records(ran, "no space is left for 'records.db'")


def test_a_read_only_file(hone: Hone) -> None:
    """What is known is used, what is new is shown only."""
    first = tune(hone, "--trials", "8")
    assert first.returncode == 0, first.stderr
    content = (hone.folder / "records.db").read_bytes()
    ran = in_namespace(hone, "mount --bind . . && mount -o remount,bind,ro .")
    check_result_without_records(ran, "records.db", "cannot be")
    assert (hone.folder / "records.db").read_bytes() == content


@pytest.mark.parametrize("place", ["/proc/records.db", "model.onnx/records.db", "temporary"])
def test_a_place_where_no_file_can_be(hone: Hone, place: str) -> None:
    """A file that cannot be made is named."""
    check_result_without_records(tune(hone, records=place), place)


def garbage(file: Path) -> None:
    """No database at all."""
    file.write_bytes(os.urandom(10_000))


def other_database(file: Path) -> None:
    """A database of another program."""
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE photos (name TEXT)")
    database.close()


def newer_schema(file: Path) -> None:
    """A database of a hone to come."""
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def cut_off(file: Path) -> None:
    """A database whose second half is missing."""
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (garbage, "is damaged or no record file"),
        (other_database, "not one of hone's"),
        (newer_schema, "has schema 99"),
        (cut_off, "is damaged"),
    ],
)
def test_a_spoilt_file(hone: Hone, spoil: Callable[[Path], None], complaint: str) -> None:
    """It is named, left as it is, and models run as if they were not tuned."""
    file = hone.folder / "records.db"
    if spoil is not other_database:
        assert tune(hone, "--trials", "6").returncode == 0
    spoil(file)
    content = file.read_bytes()
    check_result_without_records(tune(hone), "records.db", complaint)
    assert file.read_bytes() == content
    ran = hone.run("run", "model.onnx", "--random", "--threads", "1", "--records", "records.db")
    assert ran.returncode == 0, ran.stderr
    assert complaint in ran.stderr
    assert ran.stdout == hone.run("run", "model.onnx", "--random", "--threads", "1", "--records", "none").stdout


def test_python_returns_what_it_could_not_store(hone: Hone) -> None:
    """hone.tune gives the result, and warns."""
    import hone as package

    (hone.folder / "records.db").write_text("no database " * 100)
    feeds = {"x": np.zeros((1, 3, 13, 13), np.float32)}
    with pytest.warns(RuntimeWarning, match="not everything that was found is stored: records: .*damaged"):
        tasks = package.tune(
            hone.folder / "model.onnx", feeds, threads=1, trials_per_task=3, records=str(hone.folder / "records.db")
        )
    assert {task.name for task in tasks} >= {"Conv+Relu"}
    assert all(task.candidate and task.tuned_ns <= task.default_ns for task in tasks)


def test_two_tuners_share_a_file(hone: Hone) -> None:
    """Each finds its own trials in the file, and nothing of the other's is lost."""
    tuners = [Tuner(hone, *QUICK, "--tuning-seed", seed) for seed in ("1", "2")]
    for tuner in tuners:
        assert tuner.finish() == 0, tuner.errors
    rows = read_records(hone.folder / "records.db")
    assert sum(trials(rows).values()) == sum(tuner.trials for tuner in tuners)
    assert all(row.checked for row in rows if row.status == "ok")
    for task, count in tuners[0].announced.items():
        assert trials(rows)[task] >= count
    assert {row.task for row in rows if row.adopted} == set(tuners[0].announced)
