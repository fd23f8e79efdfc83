"""Looks into a file of records the way another program would."""
import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """What the file says about one trial."""

    uid: str
    task: str
    target: str
    candidate: str
    status: str
    message: str
    checked: bool
    adopted: bool
    in_model: bool  # by the finals
    is_default: bool  # adopted, but what was compiled before

    @property
    def subject(self) -> tuple[str, str, str]:
        """What was tried."""
        return (self.task, self.target, self.candidate)


def read_records(file: Path, is_in_use: bool = False) -> list[Row]:
    """All rows of the file, which must be whole. One that nobody uses is read from a copy: to open it would repair it."""
    if not file.exists():
        return []
    if is_in_use:
        return read_open(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=60))
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal", "-journal"):
            if Path(f"{file}{suffix}").exists():
                shutil.copy(f"{file}{suffix}", folder)
        return read_open(sqlite3.connect(Path(folder) / file.name))


def read_open(database: sqlite3.Connection) -> list[Row]:
    """All rows of a database, which is closed."""
    with closing(database):
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            return []  # killed before anything was written
        rows = database.execute(
            "SELECT r.uid, t.key, g.text, r.candidate, r.status, r.message, r.checked, r.tags, r.samples_ns, r.trace"
            " FROM records r LEFT JOIN tasks t ON t.id = r.task LEFT JOIN targets g ON g.id = r.target ORDER BY r.id"
        ).fetchall()
    for row in rows:
        assert None not in row, f"a record of no task or no target: {row}"
        assert (row[4] == "ok") == bool(json.loads(row[8])), f"a trial without times, or times without a trial: {row}"
        json.loads(row[3]), json.loads(row[9])
    tags = [json.loads(row[7]) for row in rows]
    return [
        Row(
            *row[:6],
            row[6] == 1,
            tag.get("adopted") is True,
            tag.get("in_model") is True,
            tag.get("first") == json.loads(row[3]),
        )
        for row, tag in zip(rows, tags, strict=True)
    ]


def trials(rows: list[Row]) -> Counter[str]:
    """How many trials of each task there are: what was adopted is told apart from them."""
    return Counter(row.task for row in rows if not row.adopted)


def check_consistent(rows: list[Row]) -> None:
    """Each candidate was tried once, and what was adopted was checked, and tried: the default alone may not have been."""
    tried = Counter(row.subject for row in rows if not row.adopted)
    assert [subject for subject, times in tried.items() if times > 1] == []
    for row in rows:
        if row.adopted:
            assert row.status == "ok" and row.checked, row
            assert row.in_model or row.is_default or row.subject in tried, f"adopted but never tried: {row}"
        if row.status == "ok":
            assert row.checked, row
