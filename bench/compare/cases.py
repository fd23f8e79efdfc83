"""The models that are compared: written by bench/model on first use, with inputs, and kept in build/models."""
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import locations
from job import Job

SEED = 1


@dataclass(frozen=True)
class Case:
    """A network of bench/model, and how many tokens it reads where that is open (0: it is not)."""

    name: str
    tokens: int = 0

    @property
    def title(self) -> str:
        """The name in tables and files."""
        return f"{self.name}_{self.tokens}" if self.tokens else self.name

    @property
    def extents(self) -> dict[str, int]:
        """What the symbols in the shapes of inputs stand for."""
        return {"batch": 1} | ({"sequence": self.tokens} if self.tokens else {})


_USUAL = (Case("resnet18"), Case("resnet50"), Case("vgg16"), Case("mobilenet_v2"), Case("efficientnet_b0"),
          Case("squeezenet"), Case("inception_v3"), Case("densenet121"), Case("convnext_tiny"), Case("vit_b16"),
          Case("bert_base"), Case("gpt2", tokens=64))
_FURTHER = (Case("resnext50"), Case("mobilenet_v3"), Case("shufflenet_v2"), Case("swin_tiny"), Case("bert_tiny"),
            Case("llama_135m", tokens=64), Case("llama_tiny", tokens=64))


def select(names: Iterable[str]) -> list[Case]:
    """The cases of these names; `usual` stands for twelve of them, `all` for every network of bench/model."""
    known = {case.name: case for case in _USUAL + _FURTHER}
    chosen: dict[str, Case] = {}
    for name in names:
        if name in ("usual", "all"):
            chosen |= {case.name: case for case in _USUAL + (_FURTHER if name == "all" else ())}
        elif name in known:
            chosen[name] = known[name]
        else:
            raise ValueError(f"there is no model '{name}', only: {', '.join(known)}, and usual or all of them")
    return list(chosen.values())


def make_job(case: Case, threads: int, folder: Path = locations.MODELS) -> Job:
    """What engines shall do for a case. Writes its files unless they are there, made by the generator as it is now."""
    folder.mkdir(parents=True, exist_ok=True)
    model, inputs, stamp = (folder / f"{case.title}.{ending}" for ending in ("onnx", "npz", "stamp"))
    generator = _digest(locations.MODEL_WRITER)
    if not (stamp.is_file() and model.is_file() and inputs.is_file() and stamp.read_text() == generator):
        stamp.unlink(missing_ok=True)
        _write(case, model, inputs)
        stamp.write_text(generator)
    with np.load(inputs) as arrays:
        return Job(str(model), dict(arrays), threads, case.extents)


def _write(case: Case, model: Path, inputs: Path) -> None:
    from networks import make_inputs, make_model  # of bench/model; needs onnx, which a cached model does not

    proto = make_model(case.name, SEED)
    model.write_bytes(proto.SerializeToString(deterministic=True))
    np.savez(inputs, **make_inputs(case.name, proto, SEED, **case.extents))


def _digest(folder: Path) -> str:
    """A hash of all Python sources of a folder."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.relative_to(folder).as_posix().encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()
