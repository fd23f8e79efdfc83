from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    records: str
    keeps_tasks: bool
    def __init__(self) -> None: ...

class TunerOptions:
    """How a model is tuned."""

    space: str
    search: str
    cost_model: str
    explore: int
    early_stop: int
    seconds: float
    trials: int
    trials_per_task: int
    seed: int
    def __init__(self) -> None: ...

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
    def tune(self, feeds: Mapping[str, Any], records: str, options: TunerOptions) -> list[dict[str, Any]]: ...
    def run(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]: ...

def numpy_dtype(name: str) -> np.dtype[Any]: ...
