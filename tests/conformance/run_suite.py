"""Runs the conformance suites of two versions of the onnx package against hone.backend.

    python tests/conformance/run_suite.py [--onnx VERSION …] [--list FILE]    writes docs/results/conformance.md
    python tests/conformance/run_suite.py --sample                            compares a part with that page

The sample fails if a test fails that the page does not list. `PYTHONPATH` must lead to the package hone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import report

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "results" / "conformance.md"
VERSIONS = ("1.17.0", "1.23.2")


def package_folder(version: str) -> Path | None:
    """A folder to import that version of onnx from; none if it is the installed one."""
    if importlib.metadata.version("onnx") == version:
        return None
    folder = ROOT / "build" / f"onnx-{version}"
    if not (folder / f"onnx-{version}.dist-info").is_dir():
        print(f"installing onnx {version} into {folder.relative_to(ROOT)}", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "--upgrade", "--target", str(folder), f"onnx=={version}", "ml_dtypes"], check=True)
    return folder


def run(version: str, options: list[str]) -> list[report.Record]:
    """Runs the suite of one version in a process that imports that version."""
    folder = package_folder(version)
    scratch = ROOT / "build" / "conformance"
    scratch.mkdir(parents=True, exist_ok=True)
    results = scratch / f"{version}{'-part' if '--sample' in options or '--match' in options else ''}.json"
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", PYTHONWARNINGS="ignore")
    environment["ONNX_HOME"] = str(scratch / f"home-{version}")
    if folder:
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), environment.get("PYTHONPATH", "")])
    suite = Path(__file__).with_name("suite.py")
    subprocess.run([sys.executable, str(suite), str(results), *options], env=environment, check=True)
    content = json.loads(results.read_text())
    if content["version"] != version:
        sys.exit(f"onnx {content['version']} was imported instead of {version}")
    return content["records"]


def commit() -> str:
    """The commit that is checked out."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def listed_failures(version: str) -> set[str]:
    """What the document lists as not passing."""
    return report.known_failures(DOCUMENT.read_text(), version) if DOCUMENT.is_file() else set()


def check_sample(version: str, options: list[str]) -> int:
    """Runs the sample; gives 1 if something fails that the document does not list."""
    known = listed_failures(version)
    records = run(version, ["--sample", *options])
    missing = [record for record in records if record["status"] != "passed"]
    surprises = [record for record in missing if record["name"] not in known]
    print(f"onnx {version}: {len(records) - len(missing)} of {len(records)} sampled tests pass")
    for record in surprises:
        print(f"{record['name']}: {record['status']}: {record['reason']}")
    return 1 if surprises else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--onnx", nargs="+", default=list(VERSIONS), metavar="VERSION", help="which versions of the package"
    )
    parser.add_argument("--sample", action="store_true", help="compare a part of the newest suite with the page")
    parser.add_argument("--match", default="", help="only tests whose name contains this; writes nothing but --list")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tests run at once")
    parser.add_argument("--list", type=Path, help="also write what does not pass, by operator, into this file")
    arguments = parser.parse_args()
    options = ["--jobs", str(arguments.jobs)]
    if arguments.sample:
        return check_sample(VERSIONS[-1], options)
    if arguments.match:
        options += ["--match", arguments.match]
    results = {version: run(version, options) for version in arguments.onnx}
    if arguments.list:
        arguments.list.write_text(report.failures(results, commit()))
    is_worse = False
    for version, records in results.items():
        counts = report.counts_of(records)
        print(f"onnx {version}: {len(records)} tests, " + ", ".join(f"{counts[s]} {s}" for s in report.STATUSES))
        known = listed_failures(version)
        for record in records:
            if record["status"] != "passed" and record["name"] not in known and DOCUMENT.is_file():
                is_worse = True
                print(f"new: {record['name']}: {record['status']}: {record['reason']}")
    if not arguments.match:
        DOCUMENT.write_text(report.markdown(results, commit()))
    return 1 if is_worse else 0


if __name__ == "__main__":
    sys.exit(main())
