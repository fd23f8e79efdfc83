"""Writes the results of the conformance suites as a document and as a list to work from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
Results = Mapping[str, Sequence[Record]]  # by version of the onnx package

STATUSES = ("passed", "failed", "unsupported")

# Why tests do not pass, where what they raise does not tell: by version (all if empty) and how their names begin.
EXPLANATIONS = {
    ("", "test_bernoulli"): "draws random numbers, and the suite expects those of numpy's generator",
    ("", "test_dft_inverse"): "the expected zeros are 1.9e-7 by rounding, more than the suite's own tolerance of 1e-7",
    ("", "test_loop16_seq_none"): "the suite asks for the length of a scalar in its own expected sequence",
    ("1.17.0", "test_adam_multiple"): "the model lacks the epsilon that the expected values were computed with",
    ("1.17.0", "test_qlinearmatmul"): "the expected int8 values wrap around where the operator saturates",
}


def counts_of(records: Sequence[Record]) -> Counter[str]:
    """How many records have each status."""
    return Counter(record["status"] for record in records)


def markdown(results: Results, commit: str) -> str:
    """The document: totals, a table per operator, and what does not pass with its reason."""
    lines = [
        "# Conformance",
        "",
        "The backend test suite of the `onnx` package, run unchanged against `hone.backend`. `./dev test conformance`",
        "runs it and writes this page. Every test of the suite for the CPU is counted; tolerances are the suite's own.",
        "*Unsupported* is what hone refuses when it loads the model, because of an operator or attribute; it does not",
        "count as passed.",
        "",
        f"Measured at commit {commit}.",
        "",
        "| suite | tests | passed | failed | unsupported |",
        "|---|---|---|---|---|",
    ]
    for version, records in results.items():
        counts = counts_of(records)
        lines.append(f"| onnx {version} | {len(records)} | " + " | ".join(str(counts[s]) for s in STATUSES) + " |")
    lines += ["", "## What does not pass", ""]
    for version, records in results.items():
        lines += [f"### onnx {version}", ""]
        missing = [record for record in records if record["status"] != "passed"]
        for record in missing:
            lines.append(f"- `{record['name']}` ({record['status']}): {reason_of(record, version)}")
        lines += ["" if missing else "Everything passes.", ""]
    lines += [
        "## By operator",
        "",
        "Passed of all tests about an operator; the kinds in brackets are about no single one.",
        "",
    ]
    lines += operator_table(results)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def operator_table(results: Results) -> list[str]:
    """One row per operator, one column per version."""
    cells: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for version, records in results.items():
        for record in records:
            cells[record["operator"]][version].append(record)
    lines = [
        "| operator | " + " | ".join(f"onnx {version}" for version in results) + " |",
        "|---" * (len(results) + 1) + "|",
    ]
    for operator in sorted(cells):
        row = [operator]
        for version in results:
            records = cells[operator][version]
            row.append(f"{counts_of(records)['passed']} of {len(records)}" if records else "–")
        lines.append("| " + " | ".join(row) + " |")
    return lines


def reason_of(record: Record, version: str) -> str:
    """Why a test does not pass: as a sentence where that is known, otherwise what was raised."""
    for (when, beginning), explanation in EXPLANATIONS.items():
        is_meant = record["name"].startswith(beginning) and when in ("", version)
        if is_meant and record["reason"].startswith(("wrong:", "TypeError: Unable to compare")):
            return explanation
    return plain(record["reason"])


def plain(reason: str) -> str:
    """A reason as Markdown prints it unchanged."""
    return (
        reason.replace("](", "] (")
        .replace("`", "'")
        .replace("<", "‹")
        .replace(">", "›")
        .replace("*", "×")
        .replace("|", "/")
        or "no reason given"
    )


def failures(results: Results, commit: str) -> str:
    """What does not pass, grouped by operator: a list to work from."""
    lines = [f"commit {commit}"]
    for version, records in results.items():
        counts = counts_of(records)
        lines.append(f"onnx {version}: {len(records)} tests, " + ", ".join(f"{counts[s]} {s}" for s in STATUSES))
    for version, records in results.items():
        groups: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            if record["status"] != "passed":
                groups[record["operator"]].append(record)
        lines += ["", f"== onnx {version}"]
        for operator, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            lines.append(f"{operator} ({len(group)})")
            lines += [f"  {record['name']}: {record['status']}: {record['reason']}" for record in group]
    return "\n".join(lines) + "\n"


def known_failures(document: str, version: str) -> set[str]:
    """The names that the document lists as not passing for a version."""
    _, _, section = document.partition(f"### onnx {version}\n")
    return set(re.findall(r"^- `(test_\w+)`", section.partition("\n#")[0], flags=re.MULTILINE))
