"""Where things of the repository stand; importing this makes bench/model and tests/real importable."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL_WRITER = ROOT / "bench" / "model"
MODELS = ROOT / "build" / "models"
RESULTS = ROOT / "build" / "compare"
DOCUMENT = ROOT / "docs" / "results" / "compare.md"

sys.path += [str(MODEL_WRITER), str(ROOT / "tests" / "real")]
