from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

class Error(RuntimeError):
    """What hone refuses, and why."""

    code: str
    """What kind of thing went wrong, such as 'invalid argument' or 'unsupported'."""

class NodeArg:
    """An input or output of a model."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def shape(self) -> list[int | str | None]: ...

class Options:
    """How a session runs."""

    threads: int
    target: str
    max_specializations: int
    first_choice: str
    records: str
    keeps_tasks: bool
    def __init__(self) -> None: ...

class TunerOptions:
    """How a model is tuned."""

    space: str
    search: str
    cost_model: str
    cost_model_file: str
    save_cost_model: str
    explore: int
    transfer: bool
    early_stop: int
    target_seconds: float
    crossover: float
    seconds: float
    trials: int
    trials_per_task: int
    seed: int
    def __init__(self) -> None: ...
    def use_preset(self, name: str) -> None: ...

class Config:
    """What a template declares, and what a candidate decides."""

    def split(
        self,
        knob: str,
        extent: int,
        outputs: int,
        policy: str,
        max_factor: int | None,
        tails: bool | None,
        candidates: Sequence[Sequence[int]] | None,
        keep: Callable[[list[int]], bool] | None,
        fallback: Sequence[int] | None,
    ) -> list[int]: ...
    def reorder(
        self,
        knob: str,
        loops: Sequence[str],
        policy: str,
        interval: tuple[int, int],
        candidates: Sequence[Sequence[int]],
        spatial: Sequence[Sequence[int]],
        reduced: Sequence[Sequence[int]],
        fallback: int,
    ) -> list[str]: ...
    def annotate(self, knob: str, loops: int, policy: str) -> list[int]: ...
    def locate(self, knob: str, loops: int, anchors: int) -> list[int]: ...
    def choose(self, knob: str, numbers: Sequence[int], fallback: int) -> int: ...
    def keep_if(self, predicate: Callable[[dict[str, list[int]]], bool]) -> None: ...

class Schedule:
    """A program under schedule."""

    def apply(self, step: str) -> None: ...
    def mark(self, loops: Sequence[str], marks: Sequence[int]) -> None: ...
    def blocks(self) -> list[str]: ...
    def loops(self, block: str) -> list[str]: ...
    def extent(self, loop: str) -> int: ...
    def reads(self, block: str) -> list[str]: ...
    def readers(self, block: str) -> list[str]: ...
    def constants(self) -> list[str]: ...
    def text(self) -> str: ...
    def main_reduction(self) -> str: ...
    def inline_blocks(self) -> None: ...
    def schedule_other_blocks(self, done: str) -> None: ...
    def store_in_reading_order(self, block: str, buffer: str) -> None: ...
    @property
    def lanes(self) -> int: ...
    @property
    def registers(self) -> int: ...
    @property
    def threads(self) -> int: ...

class Session:
    """A loaded model."""

    @staticmethod
    def load(file: str | PathLike[str], options: Options) -> Session: ...
    @staticmethod
    def parse(model: bytes, options: Options, folder: str | PathLike[str]) -> Session: ...
    @property
    def inputs(self) -> list[NodeArg]: ...
    @property
    def outputs(self) -> list[NodeArg]: ...
    @property
    def overridable(self) -> list[NodeArg]: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def threads(self) -> int: ...
    def tune(
        self, feeds: Mapping[str, Any], records: str, options: TunerOptions, finals: bool, patience: float
    ) -> list[dict[str, Any]]: ...
    def run(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]: ...

def numpy_dtype(name: str) -> np.dtype[Any]: ...
def add_template(name: str, function: Callable[[Config, Schedule], None]) -> None: ...
def clear_templates() -> None: ...
