"""Programs written for onnxruntime print the same when only their import is changed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.py"))


def with_hone(program: str) -> str:
    """The program with the import changed; the models that come with onnxruntime stay where they are."""
    changed, count = re.subn(r"^import onnxruntime( as \w+)?$",
                             lambda match: f"import hone{match[1] or ' as onnxruntime'}", program, flags=re.MULTILINE)
    assert count == 1
    return changed


def printed(program: str) -> str:
    """What the program prints."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_only_the_import_changes(path: Path) -> None:
    program = path.read_text()
    assert printed(with_hone(program)) == printed(program)
