"""Lets these tests import bench/compare, and its processes import engines that behave in known ways."""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "compare"))

# What the run of an engine does before it answers 2x; `calls` counts its runs, the one of loading included.
ENGINES = {
    "steady": "pass",
    "slow": "time.sleep(0.004)",
    "wrong": "x = x + 0.01",
    "spoilt": "x = x + 0.01 * (calls > 10)",
    "raising": "raise RuntimeError('operator Foo is\\n  not supported')",
    "crashing": "os.kill(os.getpid(), signal.SIGSEGV)",
    "leaving": "print('out of luck', file=sys.stderr); os._exit(3)",
    "late": "calls < 9 or os._exit(4)",
    "hanging": "subprocess.Popen(['sleep', '60']); time.sleep(60)",
    "noisy": "print('hello'); print('hello', file=sys.stderr)",
}

SOURCE = """
import os, signal, subprocess, sys, time
from job import Loaded

VERSION = "1.2"
calls = 0

def load(job):
    def run():
        global calls
        calls += 1
        x = job.feeds["x"]
        {behaviour}
        return [2 * x]
    return Loaded(["output"], run)
"""


@pytest.fixture(autouse=True)
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules *_engine for each of the table; one that stands for ONNX Runtime is right."""
    folder = tmp_path / "engines"
    folder.mkdir()
    for name, behaviour in ENGINES.items():
        (folder / f"{name}_engine.py").write_text(SOURCE.format(behaviour=behaviour))
    (folder / "broken_engine.py").write_text("import a_package_that_is_not_installed")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
