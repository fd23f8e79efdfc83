"""The terms in which packages.py and packages_extra.py describe packages and their models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class Model:
    """A model in a package and what to run it on.

    `runs` makes the feeds of several runs, at two sizes where the model has dynamic dimensions. An input that a run
    leaves out is taken from the outputs of the run before, as `carry` (output → input) says. `classes` names outputs
    whose arg-max along the last axis must be equal. `rounds` marks models that round inside, such as those with int8
    weights, of which a larger error is expected. `twin` is a file that computes the same by other operators.
    """

    name: str
    file: str
    runs: Callable[[], Sequence[Feeds]]
    classes: tuple[str, ...] = ()
    carry: dict[str, str] = field(default_factory=dict)
    rounds: bool = False
    twin: str = ""


@dataclass(frozen=True)
class Package:
    """A package on PyPI, at the version whose files `models` describe."""

    name: str
    version: str
    models: tuple[Model, ...]
