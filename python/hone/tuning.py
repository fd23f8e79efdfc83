"""Tuning: searches for faster kernels of a model, which sessions then use."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hone import _native


@dataclass(frozen=True)
class TunedTask:
    """What tuning found for one kernel of a model."""

    name: str  #: the operators, such as 'Conv+Relu'
    calls: float  #: in one run of the model
    trials: int  #: candidates that were measured, those of earlier calls included
    failures: int  #: of them
    default_ns: float  #: the time of the default kernel; within the running model, where the finals decided
    tuned_ns: float  #: the time of the one that is used from now on, in the same way
    candidate: str  #: what that is, as JSON
    reused: str  #: what was known before: 'tuned' for this kernel, for a 'compatible' or the 'nearest' shape, or 'default'


MOST_TRIALS = 1_000_000_000  #: as the command has it
MOST_THREADS = 1024


def _whole(name: str, given: int, most: int) -> int:
    """The number, if it is one that an option allows."""
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} is {given!r}, allowed are whole numbers in 0..{most}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {given}, allowed are whole numbers in 0..{most}")
    return number


def _seconds(name: str, given: float) -> float:
    """The time, if it is one."""
    if not 0 <= given < float("inf"):
        raise ValueError(f"{name} is {given}, allowed are seconds above 0, or 0 for no limit")
    return given


def tune(
    model: str | os.PathLike[str],
    feeds: Mapping[str, Any],
    *,
    seconds: float = 300,
    trials: int = 0,
    trials_per_task: int = 0,
    threads: int = 0,
    target: str = "",
    records: str | os.PathLike[str] = "default",
    preset: str = "auto",
    space: str | None = None,
    search: str | None = None,
    cost_model: str | None = None,
    cost_model_file: str | os.PathLike[str] = "",
    save_cost_model: str | os.PathLike[str] = "",
    explore: int | None = None,
    early_stop: int | None = None,
    crossover: float = 0,
    target_latency: float = 0,
    transfer: bool = True,
    finals: bool = True,
    patience: float = 0.25,
    seed: int = 1,
) -> list[TunedTask]:
    """Searches for faster kernels of the model for inputs of the shapes of `feeds`, for so many seconds.

    0 seconds mean no limit. Every trial is kept in the file of records, so that a second call goes on where the first one ended, also after
    Ctrl-C. Sessions that are made afterwards use what was found. 0 trials mean as many as there is time for; `threads`
    and `target` are those of the sessions that shall use the result. `preset` names a space, search and cost model, as
    `hone tune --help` lists them; those that are named here replace the preset's. With `transfer`, the cost model
    begins with what the records say of other kernels on this target. `cost_model_file` is the network of 'auto', 'tlp'
    and 'mtl', or what `save_cost_model` wrote for this cost model at the end of another call; it then learns nothing
    from the records. The two may be one file, which need not be there yet. After `explore` trials of a kernel, Droplet
    Search goes on from the best of them; after `early_stop` trials without a gain a kernel is left alone; of both, 0
    means never. `crossover` is the share of the children of the evolutionary search with two parents.

    With `finals`, the best few candidates of each kernel are timed within the running model at last, and what is
    fastest there is adopted, so that a model never ends slower than it was. `patience` is the part of the time so far
    that may pass without a gain of 0.1 % before tuning ends by itself; 0 means never. It ends too when the kernels
    that are tuned, timed alone, take no longer than `target_latency` seconds in one run of the model; 0 means none.
    Where the file of records cannot be written, a RuntimeWarning says so, and the result is returned all the same.
    """
    if not 0 <= patience <= 1:
        raise ValueError(f"patience is {patience}, allowed are 0 to 1")
    file = os.fspath(records)
    if file in ("", "none"):
        raise ValueError(f"records is '{file}': tuning needs a file to keep its results in")
    options = _native.Options()
    options.threads = _whole("threads", threads, MOST_THREADS)
    options.target = target
    options.records = "none"
    options.keeps_tasks = True
    tuner = _native.TunerOptions()
    tuner.seconds = _seconds("seconds", seconds)
    tuner.trials = _whole("trials", trials, MOST_TRIALS)
    tuner.trials_per_task = _whole("trials_per_task", trials_per_task, MOST_TRIALS)
    tuner.seed, tuner.transfer = _whole("seed", seed, MOST_TRIALS), transfer
    tuner.cost_model_file, tuner.save_cost_model = os.fspath(cost_model_file), os.fspath(save_cost_model)
    tuner.target_seconds, tuner.crossover = _seconds("target_latency", target_latency), crossover
    tuner.use_preset(preset)
    replaced = {
        "space": space,
        "search": search,
        "cost_model": cost_model,
        "explore": None if explore is None else _whole("explore", explore, MOST_TRIALS),
        "early_stop": None if early_stop is None else _whole("early_stop", early_stop, MOST_TRIALS),
    }
    for name, given in replaced.items():
        if given is not None:
            setattr(tuner, name, given)
    session = _native.Session.load(os.fspath(model), options)
    return [TunedTask(**task) for task in session.tune(feeds, file, tuner, finals, patience)]
