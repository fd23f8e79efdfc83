"""Lets these tests import the folder that writes the benchmark models, and leaves out the big ones unless asked."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "model"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --slow."""
    parser.addoption("--slow", action="store_true", help="also test the big models")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    config.addinivalue_line("markers", "slow: takes seconds and hundreds of megabytes; runs with --slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the tests marked slow unless --slow is given."""
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: needs --slow"))
