"""What an engine is asked to do. An engine is a module NAME_engine with VERSION and load(job)."""
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Job:
    """A model file, the inputs of every run, how many threads to use, and the extents behind symbols of its shapes."""

    model: str
    feeds: dict[str, np.ndarray]
    threads: int
    extents: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Loaded:
    """A model in an engine: the names of its outputs, and a function that runs it once."""

    names: list[str]
    run: Callable[[], list[np.ndarray]]
