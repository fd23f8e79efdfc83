"""Writes the test cases of the installed onnx package as folders that conformance_cases reads.

    python tests/conformance/write_cases.py FOLDER

Each case becomes FOLDER/KIND/NAME with model.onnx, test_data_set_N/{input,output}_K.pb, operator.txt (what the case is
about) and, where the case has tolerances of its own, tolerance.txt with rtol and atol.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

USUAL_TOLERANCE = (1e-3, 1e-7)


def serialized(value: object, info: onnx.ValueInfoProto) -> bytes:
    """A value as the bytes of the protobuf message that its declared type asks for."""
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto, onnx.MapProto)):
        return value.SerializeToString()
    kind = info.type.WhichOneof("value")
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name).SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    import numpy

    return numpy_helper.from_array(numpy.asarray(value), info.name).SerializeToString()


def write_generated(case: object, folder: Path) -> None:
    """Writes a case that the package makes when it is imported."""
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for name, values, infos in (
            ("input", inputs, case.model.graph.input),
            ("output", outputs, case.model.graph.output),
        ):
            for j, value in enumerate(values):
                (data / f"{name}_{j}.pb").write_bytes(serialized(value, infos[j]))


def about(model: onnx.ModelProto, name: str, operators: dict[str, str]) -> str:
    """The operator a case is about: that of its only node, or of the case that it writes out in other operators."""
    plain = name.split("_expanded")[0]
    if plain != name and plain in operators:
        return operators[plain]
    if not model.graph.node:
        return "none"
    node = model.graph.node[0]
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def main(target: Path) -> int:
    count = 0
    operators: dict[str, str] = {}
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        for case in sorted(load_model_tests(kind=kind), key=lambda case: case.name):
            folder = target / kind / case.name
            if folder.exists():
                shutil.rmtree(folder)
            try:
                if case.model_dir:
                    shutil.copytree(case.model_dir, folder)
                elif case.model:
                    folder.mkdir(parents=True)
                    write_generated(case, folder)
                else:
                    continue  # to be downloaded
            except Exception as failure:
                print(f"{case.name}: {failure}", file=sys.stderr)
                shutil.rmtree(folder, ignore_errors=True)
                continue
            if (case.rtol, case.atol) != USUAL_TOLERANCE:
                (folder / "tolerance.txt").write_text(f"{case.rtol} {case.atol}\n")
            model = onnx.load(folder / "model.onnx", load_external_data=False)
            operators[case.name] = about(model, case.name, operators)
            (folder / "operator.txt").write_text(operators[case.name] + "\n")
            count += 1
    print(f"{count} cases of onnx {onnx.__version__} in {target}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
