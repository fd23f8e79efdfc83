"""Decides whether the outputs of two engines agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Float outputs agree if they differ by no more than this share of the reference's largest magnitude.
TOLERANCE = 1e-4
# The scale of outputs that are smaller throughout, such as the probability of what is absent: onnxruntime's sigmoid
# itself is exact only up to some 1e-7.
SMALLEST_SCALE = 1e-2
# Classes agree if the reference rates both choices the same up to this share of its largest magnitude.
TIE = 1e-6
# However much the reference differs from itself, no output may differ by more than this share of its scale.
LARGEST_SLACK = 0.1


@dataclass(frozen=True)
class Verdict:
    """The largest error relative to the scale of its output, and the first disagreement, empty if there is none."""

    error: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class Slack:
    """What one output may differ by: an error relative to its scale (a share of integers), and a number of arg-max."""

    error: float
    flips: int = 0


def worse(a: Verdict, b: Verdict) -> Verdict:
    """Both verdicts in one: the larger error and the first problem."""
    return Verdict(max(a.error, b.error), a.problem or b.problem)


def compare_runs(expected: Sequence[Mapping[str, Any]], actual: Sequence[Mapping[str, Any]], classes: Sequence[str],
                 slack: Mapping[str, Slack] | None = None) -> Verdict:
    """Compares all outputs of all runs. `slack` says for single outputs what error they may have."""
    verdict = Verdict()
    if len(expected) != len(actual):
        return Verdict(problem=f"{len(actual)} runs instead of {len(expected)}")
    for run, (reference, outputs) in enumerate(zip(expected, actual)):
        if list(reference) != list(outputs):
            return worse(verdict, Verdict(problem=f"outputs {list(outputs)} instead of {list(reference)}"))
        for name, value in reference.items():
            place = f"run {run} output '{name}'"
            verdict = worse(verdict, compare(value, outputs[name], place, name in classes, (slack or {}).get(name)))
    return verdict


def compare(expected: Any, actual: Any, place: str, is_classes: bool = False, slack: Slack | None = None) -> Verdict:
    """Compares two values: arrays, sequences of values, or maps to values.

    Unless a slack is given, float elements may differ by TOLERANCE of the scale and others not at all.
    """
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping) or set(expected) != set(actual):
            return Verdict(problem=f"{place}: other keys")
        pairs = [(expected[key], actual[key], f"{place}[{key!r}]") for key in expected]
    elif isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(expected) != len(actual):
            return Verdict(problem=f"{place}: not a sequence of {len(expected)}")
        pairs = [(e, a, f"{place}[{i}]") for i, (e, a) in enumerate(zip(expected, actual))]
    else:
        return compare_arrays(np.asarray(expected), np.asarray(actual), place, is_classes, slack)
    verdict = Verdict()
    for e, a, where in pairs:
        verdict = worse(verdict, compare(e, a, where, is_classes, slack))
    return verdict


def compare_arrays(expected: np.ndarray, actual: np.ndarray, place: str, is_classes: bool,
                   slack: Slack | None) -> Verdict:
    """Compares two arrays; their types and shapes must be equal."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return Verdict(problem=f"{place}: {actual.dtype}{list(actual.shape)} instead of "
                               f"{expected.dtype}{list(expected.shape)}")
    error = relative_error(expected, actual)
    if not np.issubdtype(expected.dtype, np.floating):
        if error <= (slack.error if slack else 0.0):
            return Verdict(error)
        wrong = np.flatnonzero(expected.ravel() != actual.ravel())
        return Verdict(error, f"{place}: {wrong.size} of {expected.size} differ, first {actual.ravel()[wrong[0]]} "
                              f"instead of {expected.ravel()[wrong[0]]} at {wrong[0]}")
    allowed = slack.error if slack else TOLERANCE
    if not error <= allowed:
        return Verdict(error, f"{place}: error {error:.1e} of the scale, allowed {allowed:.1e}")
    if is_classes and (count := misclassified(expected, actual)) > (slack.flips if slack else 0):
        return Verdict(error, f"{place}: {count} of {expected.size // expected.shape[-1]} arg-max differ")
    return Verdict(error)


def relative_error(expected: np.ndarray, actual: np.ndarray) -> float:
    """The largest difference relative to the scale, which is the largest finite magnitude expected.

    It is infinite if NaN or infinities differ. Of integers, booleans and strings: the share of elements that differ.
    """
    if expected.size == 0:
        return 0.0
    if not np.issubdtype(expected.dtype, np.floating):
        return float(np.count_nonzero(expected != actual) / expected.size)
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(e)
    if not np.array_equal(e[~finite], a[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    difference = np.abs(e[finite] - a[finite]).max()
    return float(difference / max(np.abs(e[finite]).max(), SMALLEST_SCALE))


def misclassified(expected: np.ndarray, actual: np.ndarray) -> int:
    """How often the largest element along the last axis is another one, exact ties aside."""
    if expected.size == 0 or expected.ndim == 0:
        return 0
    chosen = np.take_along_axis(expected, actual.argmax(-1)[..., None], -1)[..., 0].astype(np.float64)
    best = expected.max(-1).astype(np.float64)
    return int(np.count_nonzero(chosen < best - TIE * np.abs(best).max()))


def spread(expected: Sequence[Mapping[str, Any]], others: Sequence[Sequence[Mapping[str, Any]]],
           classes: Sequence[str]) -> dict[str, Slack]:
    """Twice the largest error, up to LARGEST_SLACK, and the most arg-max by which each output differs in other runs."""
    result: dict[str, Slack] = {}
    for runs in others:
        for reference, outputs in zip(expected, runs):
            for name, value in reference.items():
                e, a = np.asarray(value), np.asarray(outputs[name])
                least = TOLERANCE if np.issubdtype(e.dtype, np.floating) else 0.0
                known = result.setdefault(name, Slack(least))
                if e.shape == a.shape:  # a shape that depends on rounding says nothing about elements
                    error = max(known.error, min(2 * relative_error(e, a), LARGEST_SLACK))
                    flips = misclassified(e, a) if name in classes else 0
                    result[name] = Slack(error, max(known.flips, flips))
    return result
