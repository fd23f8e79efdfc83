"""Templates: schedules written in Python, and what tuning makes of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hone
from conftest import dense_reference
from hone import _native

X = np.linspace(-1, 1, 21, dtype=np.float32).reshape(7, 3)


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Each test starts and ends without templates."""
    yield
    _native.clear_templates()


@pytest.fixture
def model(dense: bytes, tmp_path: Path) -> Path:
    """The model of conftest as a file."""
    path = tmp_path / "dense.onnx"
    path.write_bytes(dense)
    return path


def tune(model: Path, **options: object) -> list[hone.TunedTask]:
    """A few trials of the template space."""
    settings = {"space": "template", "search": "random", "trials": 6, "threads": 1}
    return hone.tune(model, {"x": X}, records=str(model.with_name("records.db")), **{**settings, **options})


def tile(config: hone.Config, schedule: hone.Schedule) -> None:
    """Splits the rows of a product."""
    i, *_ = schedule.loops(schedule.main_reduction)
    factors = config.split("rows", schedule.extent(i), policy="verbose", keep=lambda f: f[1] > 1)
    outer, inner = schedule.split(i, factors)
    if config.choose("unroll", [0, 1], fallback=1) == 1:
        schedule.unroll(inner)


def test_every_candidate_of_a_template_is_tried_and_used(model: Path) -> None:
    hone.template(tile)
    (task,) = tune(model, trials=20)
    assert task.failures == 0
    assert task.trials >= 7  # 2, 4 and 7 rows, written out or not, and the default
    options = hone.SessionOptions()
    options.intra_op_num_threads = 1
    options.records = str(model.with_name("records.db"))
    for source in (True, False):  # with the template, and without
        (y,) = hone.InferenceSession(model, options).run(None, {"x": X})
        np.testing.assert_allclose(y, dense_reference(X), rtol=1e-5)
        if source:
            _native.clear_templates()


def test_what_a_template_sees(model: Path) -> None:
    seen: dict[str, object] = {}

    @hone.template(name="looking")
    def look(config: hone.Config, schedule: hone.Schedule) -> None:
        block = schedule.main_reduction
        loops = schedule.loops(block)
        seen.update(
            blocks=schedule.blocks,
            extents=[schedule.extent(loop) for loop in loops],
            reads=schedule.reads(block),
            readers=schedule.readers(block),
            constants=schedule.constants,
            text=str(schedule),
            numbers=(schedule.lanes, schedule.registers, schedule.threads),
            order=config.reorder("order", loops, fallback=1),
            place=config.locate("place", loops),
            marks=config.annotate("marks", loops[:1], "try_unroll"),
        )
        schedule.reorder(seen["order"])
        schedule.mark(loops[:1], seen["marks"])
        schedule.inline_blocks()

    tune(model, trials=1)
    assert seen["extents"] == [7, 2, 3]
    assert seen["reads"][0] == "x" and len(seen["reads"]) == 2
    assert len(seen["readers"]) == 1 and seen["readers"][0] in seen["blocks"]
    assert seen["reads"][1] in seen["constants"]
    assert "block" in seen["text"]
    assert all(number >= 1 for number in seen["numbers"]) and seen["numbers"][2] == 1
    assert len(seen["order"]) == 3 and len(seen["place"]) == 1


def test_a_filter_leaves_candidates_out(model: Path) -> None:
    built = []

    @hone.template
    def filtered(config: hone.Config, schedule: hone.Schedule) -> None:
        built.append(config.choose("number", [0, 1, 2, 3]))
        config.choose("other", [5])
        config.keep_if(lambda decided: decided["number"][0] < 2 and decided["other"] == [5])
        schedule.unroll(schedule.loops(schedule.main_reduction)[0]) if built[-1] else None

    tune(model, trials=20)
    assert set(built) == {0, 1}


def test_a_template_that_refuses_is_left_out(model: Path) -> None:
    @hone.template
    def refusing(config: hone.Config, schedule: hone.Schedule) -> None:
        config.refuse("not today")

    @hone.template
    def illegal(config: hone.Config, schedule: hone.Schedule) -> None:
        schedule.split("no such loop", [0, 2])

    (task,) = tune(model, trials=3)
    assert task.trials >= 1


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda config, schedule: config.split("rows", 0), "knob 'rows': split: the extent 0 is below 1"),
        (lambda config, schedule: config.split("rows", 8, policy="prime"), "no policy 'prime', only: factors, power2"),
        (lambda config, schedule: config.choose("rows", []), "no number is listed"),
        (lambda config, schedule: schedule.undefined, "has no attribute 'undefined'"),
    ],
)
def test_a_mistake_in_a_template_ends_tuning(model: Path, mistake: object, message: str) -> None:
    hone.template(name="mistaken")(mistake)
    with pytest.raises(hone.Error, match="template 'mistaken'") as caught:
        tune(model)
    assert message in str(caught.value)


def test_what_a_template_got_is_of_no_use_afterwards(model: Path) -> None:
    kept = []

    @hone.template
    def keeping(config: hone.Config, schedule: hone.Schedule) -> None:
        kept.append((config, schedule))

    tune(model, trials=1)
    config, schedule = kept[0]
    with pytest.raises(hone.Error, match="only while the template runs"):
        config.choose("a", [1])
    with pytest.raises(hone.Error, match="only while the template runs"):
        print(schedule)


def test_presets_are_known_by_name(model: Path) -> None:
    (task,) = tune(model, preset="autotvm", space=None, search=None, trials=2)
    assert task.trials == 2
    with pytest.raises(hone.Error, match="no preset 'tvm', only: auto, hidet, autotvm"):
        tune(model, preset="tvm")


def test_templates_that_are_left_at_the_end_do_no_harm(model: Path) -> None:
    code = f"import hone\n@hone.template\ndef left(config, schedule):\n    config.choose('a', [1, 2])\nprint('done')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n" and done.stderr == ""
