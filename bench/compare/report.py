"""Writes comparisons as a table, as a document, and as JSON lines."""
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from summary import Comparison, Measurement, geometric_mean, known, memory_ratio, speed_over, speed_over_best


class FormatError(Exception):
    """A file does not hold what `append_json` writes."""


Column = tuple[str, Callable[[Comparison], float | None]]

RATIOS: tuple[Column, ...] = (
    ("× ort", lambda comparison: speed_over(comparison, "ort")),
    ("× best", speed_over_best),
    ("resident / ort", lambda comparison: memory_ratio(comparison, "resident_mb")),
    ("peak / ort", lambda comparison: memory_ratio(comparison, "peak_mb")),
)

LEGEND = """\
- *ms*: median over the rounds of a round's median latency. *× ort*: how many times as fast as ONNX Runtime hone is, the
  median over the rounds of (ONNX Runtime's latency / hone's) within one round; *× best*: the same against the fastest
  other engine. Above 1, hone is faster. *min ms*: the shortest run of each engine.
- *load s*: reading the model, compiling it and the first run, with the file in the page cache. *resident MB* after the
  last round and *peak MB* are of the engine's whole process, Python and libraries included; ratios to ONNX Runtime's.
- Each engine runs in a process of its own, kept on as many cores as it has threads; all are alive at once and take
  turns, A B C A B C …, each turn beginning with an untimed run. Same file, same inputs, batch 1, float32 throughout.
- ONNX Runtime: all graph optimisations, sequential, threads spin, open dimensions fixed by name. OpenVINO: latency
  hint, precision hint f32 (read back), shapes fixed. All are called through Python, without copies of outputs.
- Before and after timing, outputs agree within 1e-3 of their scale, and in arg-max where that is the answer;
  *difference* is hone's largest from ONNX Runtime.
"""


def table(comparisons: Sequence[Comparison]) -> str:
    """One line for each model and number of threads, then means and extremes for each number of threads."""
    engines = list(dict.fromkeys(engine for comparison in comparisons for engine in comparison.engines))
    head = ["model", "threads", *(f"{engine} ms" for engine in engines), *(title for title, _ in RATIOS[:2]),
            f"min ms ({', '.join(engines)})", "load s", "resident MB", RATIOS[2][0], "peak MB", RATIOS[3][0],
            "difference"]
    rows = [head] + [_row(comparison, engines) for comparison in comparisons]
    for threads in sorted({comparison.threads for comparison in comparisons}):
        group = [comparison for comparison in comparisons if comparison.threads == threads]
        rows += _means(group, len(engines))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rows.insert(1, ["-" * (width - 1) + (":" if i else "-") for i, width in enumerate(widths)])
    lines = (" | ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)
    return "".join(f"| {line} |\n" for line in lines)


def failures(comparisons: Sequence[Comparison]) -> list[str]:
    """One line for each engine that failed on a model."""
    return [f"{comparison.model}, {_threads(comparison.threads)}: {engine}: {result.error}"
            for comparison in comparisons for engine, result in comparison.engines.items() if result.error]


def progress(comparison: Comparison) -> str:
    """One line about what was just measured."""
    times = [f"{engine} {_cell(comparison, engine, lambda m: f'{m.median_ms:.2f} ms')}"
             for engine in comparison.engines]
    return f"{comparison.model}, {_threads(comparison.threads)}: {', '.join(times)}"


def document(comparisons: Sequence[Comparison], note: str = "") -> str:
    """The page docs/results/compare.md."""
    def distinct(key: str) -> str:
        return ", ".join(dict.fromkeys(str(comparison.context.get(key, "unknown")) for comparison in comparisons))

    versions = dict.fromkeys(f"{engine} {result.version}" for comparison in comparisons
                             for engine, result in comparison.engines.items() if result.version)
    before = {engine: f"{engine} {result.before_mb:.0f}" for comparison in comparisons
              for engine, result in comparison.engines.items() if result.before_mb}
    loads = [comparison.context.get("load_average", 0.0) for comparison in comparisons]
    failed = failures(comparisons)
    parts = [
        "# hone beside ONNX Runtime and OpenVINO\n",
        "Written by `./dev bench compare --write`.\n",
        f"{note}\n" if note else "",
        f"    {distinct('command')}\n",
        f"- Machine: {distinct('machine')}; load average before models: {min(loads):.1f} to {max(loads):.1f}.\n"
        f"- Commit: {distinct('commit')}. Versions: {', '.join(versions)}. Date: {distinct('date')} UTC.\n",
        table(comparisons),
        LEGEND + f"- MB of the process before a model is loaded: {', '.join(before.values())}.\n",
        "Failed:\n\n" + "".join(f"- {line}\n" for line in failed) if failed else "",
    ]
    return "\n".join(filter(None, parts))


def append_json(path: Path, comparison: Comparison) -> None:
    """Adds a line to a file: what was measured, and the figures that follow, for readers other than `read_json`."""
    figures: dict[str, float | None] = {title: value(comparison) for title, value in RATIOS}
    for engine in comparison.engines:
        if result := comparison.measured(engine):
            figures |= {f"{engine} median ms": result.median_ms, f"{engine} min ms": result.min_ms}
    with path.open("a") as file:
        file.write(json.dumps(asdict(comparison) | {"figures": figures}) + "\n")


def read_json(paths: Sequence[Path]) -> list[Comparison]:
    """The comparisons of files of JSON lines; of those of one model and number of threads the last counts."""
    found: dict[tuple[str, int], Comparison] = {}
    for path in paths:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            try:
                comparison = Comparison.from_json(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise FormatError(f"{path}:{number} is not a comparison that was kept: {error}") from None
            found[comparison.model, comparison.threads] = comparison
    if not found:
        raise FormatError(f"no comparison in {', '.join(map(str, paths))}")
    return list(found.values())


def _row(comparison: Comparison, engines: Sequence[str]) -> list[str]:
    def of_all(show: Callable[[Measurement], str]) -> str:
        return " / ".join(_cell(comparison, engine, show, "–") for engine in engines)

    ratios = [_number(value(comparison)) for _, value in RATIOS]
    own = comparison.engines.get("hone")
    return [comparison.model, str(comparison.threads),
            *(_cell(comparison, engine, lambda m: f"{m.median_ms:.2f}") for engine in engines),
            *ratios[:2], of_all(lambda m: f"{m.min_ms:.2f}"), of_all(lambda m: f"{m.load_s:.2f}"),
            of_all(lambda m: f"{m.resident_mb:.0f}"), ratios[2], of_all(lambda m: f"{m.peak_mb:.0f}"), ratios[3],
            f"{own.difference:.0e}" if own and own.difference is not None else "–"]


def _means(group: Sequence[Comparison], engines: int) -> list[list[str]]:
    """The geometric means of the ratios, and the worst of each: slowest, or most memory."""
    means, worst = [], []
    for i, (_, value) in enumerate(RATIOS):
        values = known(map(value, group))
        missing = f" ({len(values)} of {len(group)})" if values and len(values) < len(group) else ""
        means.append(_number(geometric_mean(values) if values else None) + missing)
        worst.append(_number((min if i < 2 else max)(values, default=None)))
    threads = str(group[0].threads)
    return [[title, threads, *[""] * engines, *cells[:2], "", "", "", cells[2], "", cells[3], ""]
            for title, cells in (("**geometric mean**", means), ("**worst**", worst))]


def _cell(comparison: Comparison, engine: str, show: Callable[[Measurement], str], otherwise: str = "failed") -> str:
    result = comparison.measured(engine)
    if result:
        return show(result)
    return otherwise if engine in comparison.engines else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
