#!/usr/bin/env python3
"""Times hone beside ONNX Runtime and OpenVINO on the benchmark models: interleaved rounds, ratios, memory, load time.

`./dev bench compare` builds the release preset, makes build/compare-venv and runs this there.
"""
import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import cases
import locations
import machine
import report
import rounds
from summary import Comparison

ENGINES = ("hone", "ort", "openvino")
QUIET = 0.5  # load averages above this spoil figures


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench compare", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default="usual", metavar="A,B", help="names as in bench/model; usual (default): "
                        "twelve of them; all: nineteen")
    parser.add_argument("--threads", default="1,2" if _cores() > 1 else "1", metavar="N,M",
                        help="numbers of threads (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=15, help="how often each engine has its turn (default: 15)")
    parser.add_argument("--seconds", type=float, default=20, help="how long the rounds of a model shall take for each "
                        "number of threads (default: 20); a turn has at least two runs, however long they take")
    parser.add_argument("--engines", default=",".join(ENGINES), metavar="A,B", help="of %(default)s (default: all)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS",
                        help="an engine that does not answer for so long has failed (default: 600)")
    parser.add_argument("--from", dest="files", nargs="+", type=Path, metavar="FILE", help="measure nothing: show the "
                        "JSON lines of earlier runs; of one model measured twice the later counts")
    parser.add_argument("--write", nargs="?", type=Path, const=locations.DOCUMENT, metavar="FILE",
                        help="write the page docs/results/compare.md, or this one")
    parser.add_argument("--note", default="", help="a sentence for the page, such as what was tuned")
    options = parser.parse_args(arguments)
    try:
        options.cases = cases.select(options.models.split(","))
        options.threads = _numbers(options.threads)
        options.engines = _engines(options.engines)
    except ValueError as problem:
        parser.error(str(problem))
    if options.rounds < 1 or options.seconds <= 0 or options.timeout <= 0:
        parser.error("--rounds must be 1 or more, --seconds and --timeout more than 0")
    return options


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def _numbers(text: str) -> list[int]:
    for number in text.split(","):
        if not number.isdigit() or not 1 <= int(number) <= _cores():
            raise ValueError(f"--threads has '{number}', but must be 1 to {_cores()}, the cores there are")
    return [int(number) for number in text.split(",")]


def _engines(text: str) -> list[str]:
    for engine in text.split(","):
        if engine not in ENGINES:
            raise ValueError(f"there is no engine '{engine}', only: {', '.join(ENGINES)}")
    return [engine for engine in ENGINES if engine in text.split(",")]


def measure(options: argparse.Namespace, command: str) -> list[Comparison]:
    """Measures all models, tells about each as it is done, and keeps it in a file of JSON lines."""
    locations.RESULTS.mkdir(parents=True, exist_ok=True)
    date = machine.now()
    file = locations.RESULTS / f"{date.replace(' ', '_').replace(':', '')}.json"
    found = []
    for case in options.cases:
        for threads in options.threads:
            job = cases.make_job(case, threads)
            Path(job.model).read_bytes()  # so that no engine waits for the disk
            load_average = machine.load_average()
            context = {"commit": machine.commit(), "command": command, "date": date[:10], "machine": machine.describe(),
                       "load_average": load_average, "rounds": options.rounds, "seconds": options.seconds}
            engines = rounds.compare(job, options.engines, options.rounds, options.seconds, options.timeout)
            found.append(Comparison(case.title, threads, engines, context))
            report.append_json(file, found[-1])
            print(report.progress(found[-1]), file=sys.stderr, flush=True)
    print(f"compare: kept in {file.relative_to(locations.ROOT)}", file=sys.stderr)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code is 1 if an engine failed on a model."""
    options = _parse(arguments)
    command = shlex.join(["./dev", "bench", "compare", *(sys.argv[1:] if arguments is None else arguments)])
    if not options.files and machine.load_average() > QUIET:
        print(f"compare: the load average is {machine.load_average()}: other processes will spoil the figures",
              file=sys.stderr)
    try:
        found = report.read_json(options.files) if options.files else measure(options, command)
        if options.write:
            options.write.write_text(report.document(found, options.note))
    except OSError as problem:
        print(f"compare: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    except report.FormatError as problem:
        print(f"compare: {problem}", file=sys.stderr)
        return 2
    print(report.table(found), end="")
    failed = report.failures(found)
    for line in failed:
        print(f"failed: {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
