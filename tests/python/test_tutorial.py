"""The code of the tutorials in Python runs, and prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"
PAGES = [page for page in sorted(TUTORIALS.glob("*.md")) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_page_shows_what_its_code_prints(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for language, block in re.findall(
        r"^```(python|text)\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL
    ):
        if language == "python":
            assert printed == "", f"{page.name} does not show this: {printed}"
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, str(page), "exec"), names)
            printed = output.getvalue()
        else:
            assert printed == block
            printed = ""
    assert printed == "" and names
