#!/usr/bin/env python3
"""Writes the benchmark models as ONNX files with seeded weights; needs numpy and onnx, no torch."""
import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from networks import NETWORKS, make_inputs, make_model


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder to write NAME.onnx files into")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="write these models instead of all")
    parser.add_argument("--list", action="store_true", help="list the models and write nothing")
    parser.add_argument("--seed", type=int, default=1, help="of weights and inputs (default: 1)")
    parser.add_argument("--fold-batch-norm", action="store_true", help="fold normalisations into convolutions")
    parser.add_argument("--inputs", action="store_true", help="also write NAME.INPUT.npy files, sensible inputs")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only or [] if name not in NETWORKS]
    if unknown:
        parser.error(f"there is no model '{unknown[0]}', only: {', '.join(NETWORKS)}")
    if options.seed < 0:
        parser.error(f"--seed is {options.seed}, but must be 0 or more")
    if not options.list and options.out is None:
        parser.error("--out DIR is missing (or use --list)")
    return options


def write(name: str, folder: Path, seed: int = 1, fold_batch_norm: bool = False, inputs: bool = False) -> Path:
    """Writes one model into an existing folder, and if asked its inputs, and gives back the model's path."""
    model = make_model(name, seed, fold_batch_norm)
    path = folder / f"{name}.onnx"
    unfinished = path.with_suffix(".onnx.part")
    unfinished.write_bytes(model.SerializeToString(deterministic=True))
    unfinished.replace(path)  # an interrupted run leaves no half model behind
    if inputs:
        for key, array in make_inputs(name, model, seed).items():
            np.save(folder / f"{name}.{key}.npy", array)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and gives back its exit code."""
    options = _parse(arguments)
    names = options.only or list(NETWORKS)
    if options.list:
        width = max(map(len, names))
        for name in names:
            print(f"{name:{width}}  {NETWORKS[name].description}")
        return 0
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = write(name, options.out, options.seed, options.fold_batch_norm, options.inputs)
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB", flush=True)
    except OSError as problem:
        print(f"write_models.py: cannot write {problem.filename or options.out}: {problem.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
