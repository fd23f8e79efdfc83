"""What was measured of one model, and the figures that follow from it."""
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any


@dataclass
class Measurement:
    """One engine on one model. `turns_ms` has the latencies of each round; `error` says why there are none."""

    version: str = ""
    error: str = ""
    difference: float | None = None  #: largest error of an output relative to its scale; None: there was no reference
    load_s: float = 0.0  #: with the first run
    before_mb: float = 0.0  #: resident when nothing was loaded: the interpreter and the engine's libraries
    resident_mb: float = 0.0  #: after the last round
    peak_mb: float = 0.0
    turns_ms: list[list[float]] = field(default_factory=list)

    @property
    def medians_ms(self) -> list[float]:
        """The median latency of each round."""
        return [median(turn) for turn in self.turns_ms]

    @property
    def median_ms(self) -> float:
        """The median of the rounds' medians."""
        return median(self.medians_ms)

    @property
    def min_ms(self) -> float:
        """The shortest run of all."""
        return min(min(turn) for turn in self.turns_ms)


@dataclass
class Comparison:
    """All engines on one model with one number of threads. `context` says where and how it was measured."""

    model: str
    threads: int
    engines: dict[str, Measurement]
    context: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_json(fields: dict[str, Any]) -> "Comparison":
        """What dataclasses.asdict took apart; figures that follow from it are left aside."""
        engines = {name: Measurement(**each) for name, each in fields["engines"].items()}
        return Comparison(**{key: value for key, value in fields.items() if key != "figures"} | {"engines": engines})

    def measured(self, engine: str) -> Measurement | None:
        """What an engine reached, unless it failed or did not take part."""
        found = self.engines.get(engine)
        return found if found and not found.error and found.turns_ms else None


def speed_over(comparison: Comparison, engine: str, own: str = "hone") -> float | None:
    """How many times as fast as `engine` our own is: the median over rounds of its latency / ours in that round."""
    ours, theirs = comparison.measured(own), comparison.measured(engine)
    if not ours or not theirs:
        return None
    return median(their / our for our, their in zip(ours.medians_ms, theirs.medians_ms, strict=True))


def speed_over_best(comparison: Comparison, own: str = "hone") -> float | None:
    """The same against whichever of the other engines is fastest."""
    ratios = [speed_over(comparison, engine, own) for engine in comparison.engines if engine != own]
    return min((ratio for ratio in ratios if ratio is not None), default=None)


def memory_ratio(comparison: Comparison, figure: str, engine: str = "ort", own: str = "hone") -> float | None:
    """Our own memory as a multiple of another engine's: `figure` is resident_mb or peak_mb."""
    ours, theirs = comparison.measured(own), comparison.measured(engine)
    return getattr(ours, figure) / getattr(theirs, figure) if ours and theirs else None


def geometric_mean(values: Sequence[float]) -> float:
    """The value whose logarithm is the mean of the logarithms; values must be positive, and there must be one."""
    if not values or min(values) <= 0:
        raise ValueError(f"a geometric mean needs positive values, not {list(values)}")
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are not None."""
    return [value for value in values if value is not None]
