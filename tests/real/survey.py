"""Counts what models consist of: operators, types, attributes, and how much of their shapes is known only at run time.

    python tests/real/survey.py [FILE_OR_FOLDER...] > survey.md

Without arguments it looks at all cached models (see fetch.py).
"""

from __future__ import annotations

import argparse
import enum
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

import fetch


class Known(enum.IntEnum):
    """When a value is known: in the file, once the shapes of the inputs are, or only once their elements are."""

    CONSTANT = 0
    SHAPE = 1
    DATA = 2


# The inputs of operators that decide a shape, an axis or an extent.
SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "Reshape": (1,), "Expand": (1,), "Slice": (1, 2, 3, 4), "Resize": (1, 2, 3), "Upsample": (1,), "Tile": (1,),
    "Pad": (1, 3), "ConstantOfShape": (0,), "Range": (0, 1, 2), "TopK": (1,), "Unsqueeze": (1,), "Squeeze": (1,),
    "Split": (1,), "ReduceSum": (1,), "ReduceMean": (1,), "ReduceMax": (1,), "ReduceMin": (1,), "OneHot": (1,),
    "Trilu": (1,), "CumSum": (1,), "Loop": (0,), "STFT": (1, 3), "DFT": (1, 2), "HannWindow": (0,),
    "HammingWindow": (0,), "BlackmanWindow": (0,), "MelWeightMatrix": (0, 1, 2), "CenterCropPad": (1,),
    "SplitToSequence": (1,), "SequenceAt": (1,), "NonMaxSuppression": (2,), "If": (0,),
}

# Operators whose result has a shape that depends on elements.
DATA_SHAPES = {"NonZero", "Unique", "Compress", "NonMaxSuppression", "StringSplit", "Loop"}


@dataclass
class Facts:
    """What the nodes of one operator have in common."""

    count: int = 0
    models: set[str] = field(default_factory=set)
    opsets: set[int] = field(default_factory=set)
    types: Counter[str] = field(default_factory=Counter)
    attributes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    arities: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)


@dataclass
class ModelFacts:
    """What is notable about one model."""

    name: str
    bytes: int
    opsets: str
    ir_version: int
    inputs: list[str]
    outputs: list[str]
    nodes: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    notes: set[str] = field(default_factory=set)


def type_text(proto: TypeProto | None) -> str:
    """The type as text: `float32[1,N]`, `seq(float32[?])`; `?` stands for what is unknown."""
    if proto is None:
        return "?"
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = proto.tensor_type
        dims = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
        shape = ",".join(dims) if tensor.HasField("shape") else "…"
        return f"{element_name(tensor.elem_type)}[{shape}]"
    if kind == "sequence_type":
        return f"seq({type_text(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_text(proto.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({element_name(proto.map_type.key_type)},{type_text(proto.map_type.value_type)})"
    return "?"


def element_name(element: int) -> str:
    return TensorProto.DataType.Name(element).lower() if element else "?"


def attribute_text(attribute: AttributeProto) -> str:
    """The attribute's value, shortened; tensors and graphs as their kind only."""
    if attribute.type == AttributeProto.TENSOR:
        return f"tensor {element_name(attribute.t.data_type)}{list(attribute.t.dims)}"
    if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
        return "graph"
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else str(list(value) if hasattr(value, "__len__") else value)
    return text if len(text) <= 40 else text[:32] + "…"


class Surveyor:
    """Adds up the facts of models."""

    def __init__(self) -> None:
        self.operators: dict[str, Facts] = defaultdict(Facts)
        self.models: list[ModelFacts] = []

    def add(self, path: Path, name: str) -> None:
        """Reads one model and counts its nodes."""
        try:
            model = onnx.load(path, load_external_data=False)
        except DecodeError as error:
            print(f"survey: {path} is no ONNX model: {error}", file=sys.stderr)
            return
        initializers = {i.name for i in model.graph.initializer}
        facts = ModelFacts(
            name=name, bytes=path.stat().st_size, ir_version=model.ir_version,
            opsets=" ".join(f"{o.domain or 'ai.onnx'}:{o.version}" for o in model.opset_import),
            inputs=[f"{i.name}: {type_text(i.type)}" for i in model.graph.input if i.name not in initializers],
            outputs=[f"{o.name}: {type_text(o.type)}" for o in model.graph.output])
        self.models.append(facts)
        if model.functions:
            facts.notes.add(f"{len(model.functions)} model-local functions")
        if any(t.data_location == TensorProto.EXTERNAL for t in model.graph.initializer):
            facts.notes.add("external data")
        if any(i.name in initializers for i in model.graph.input):
            facts.notes.add("initializers listed as inputs")
        if model.graph.sparse_initializer:
            facts.notes.add("sparse initializers")
        for tensor in model.graph.initializer:
            facts.notes.add(f"initializers of {element_name(tensor.data_type)}")
        opsets = {o.domain or "ai.onnx": o.version for o in model.opset_import}
        self._walk(inferred(model).graph, facts, opsets, {}, {})
        for function in model.functions:
            own = {o.domain or "ai.onnx": o.version for o in function.opset_import}
            for node in function.node:
                self._count(node, facts, own, {}, {name: Known.DATA for n in function.node for name in n.input})

    def _walk(self, graph: GraphProto, facts: ModelFacts, opsets: dict[str, int], types: dict[str, str],
              outer: dict[str, Known]) -> Known:
        """Counts the nodes of a graph; returns when its outputs are known."""
        known = dict(outer)
        types = dict(types)
        for tensor in graph.initializer:
            known[tensor.name] = Known.CONSTANT
            types[tensor.name] = element_name(tensor.data_type)
        for value in [*graph.input, *graph.value_info, *graph.output]:
            types.setdefault(value.name, type_text(value.type).split("[")[0])
        for value in graph.input:
            known.setdefault(value.name, Known.DATA)
        for node in graph.node:
            self._count(node, facts, opsets, types, known)
        return max((known.get(o.name, Known.DATA) for o in graph.output), default=Known.CONSTANT)

    def _count(self, node: NodeProto, facts: ModelFacts, opsets: dict[str, int], types: dict[str, str],
               known: dict[str, Known]) -> None:
        domain = node.domain or "ai.onnx"
        operator = node.op_type if domain == "ai.onnx" else f"{domain}::{node.op_type}"
        row = self.operators[operator]
        row.count += 1
        row.models.add(facts.name)
        row.opsets.add(opsets.get(domain, 0))
        row.types[", ".join(types.get(i, "?") if i else "-" for i in node.input[:3])] += 1
        row.arities[f"{''.join('x' if i else '-' for i in node.input)}→{len(node.output)}"] += 1
        facts.nodes += 1
        facts.operators[operator] += 1

        state = max((known.get(i, Known.DATA) for i in node.input if i), default=Known.CONSTANT)
        for attribute in node.attribute:
            row.attributes[attribute.name][attribute_text(attribute)] += 1
            if attribute.type == AttributeProto.GRAPH:
                state = max(state, self._walk(attribute.g, facts, opsets, types, known))
        for index in SHAPE_INPUTS.get(node.op_type, ()):
            if index < len(node.input) and node.input[index]:
                when = known.get(node.input[index], Known.DATA)
                if when != Known.CONSTANT:
                    row.late[f"input {index}: {when.name.lower()}"] += 1
                    facts.notes.add(f"{'shapes from data' if when == Known.DATA else 'shapes at run time'}")
        if node.op_type in ("Shape", "Size") and state == Known.DATA:
            state = Known.SHAPE
        if node.op_type in DATA_SHAPES:
            facts.notes.add(f"data-dependent: {node.op_type}")
        if node.op_type in ("If", "Loop", "Scan"):
            facts.notes.add(f"control flow: {node.op_type}")
        for output in node.output:
            known[output] = state


def inferred(model: ModelProto) -> ModelProto:
    """The model with the types that ONNX infers, or as it is if inference fails."""
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # noqa: BLE001 - models of other makers fail in many ways; types then stay unknown
        return model


def top(counter: Counter[str], limit: int) -> str:
    items = [f"`{key}`×{count}" for key, count in counter.most_common(limit)]
    return ", ".join(items) + (f" … {len(counter)} in all" if len(counter) > limit else "")


def report(surveyor: Surveyor) -> Iterable[str]:
    """The survey as lines of Markdown."""
    yield f"# Survey of {len(surveyor.models)} models, {len(surveyor.operators)} operators\n"
    yield "| operator | nodes | models | opsets | element types of inputs 0–2 |"
    yield "|---|---|---|---|---|"
    ordered = sorted(surveyor.operators.items(), key=lambda item: (-len(item[1].models), -item[1].count, item[0]))
    for name, row in ordered:
        opsets = ",".join(map(str, sorted(row.opsets)))
        yield f"| {name} | {row.count} | {len(row.models)} | {opsets} | {top(row.types, 5)} |"
    yield "\n## Shape-like inputs that are not constants\n"
    yield "`shape`: follows from the shapes of the model's inputs; `data`: depends on elements.\n"
    for name, row in sorted(surveyor.operators.items()):
        if row.late:
            yield f"- {name}: {top(row.late, 8)}"
    yield "\n## Attributes and arities (x = given, - = omitted input)\n"
    for name, row in sorted(surveyor.operators.items()):
        yield f"- **{name}** ({top(row.arities, 6)})"
        for attribute, values in sorted(row.attributes.items()):
            yield f"  - {attribute}: {top(values, 6)}"
    yield "\n## Models\n"
    for model in surveyor.models:
        size = f"{model.bytes / 1e6:.1f} MB, ir {model.ir_version}, {model.opsets}, {model.nodes} nodes"
        yield f"### {model.name} ({size})"
        yield f"- inputs: {'; '.join(model.inputs)}"
        yield f"- outputs: {'; '.join(model.outputs)}"
        yield f"- notes: {', '.join(sorted(model.notes))}"
        yield f"- operators: {', '.join(f'{k} {v}' for k, v in model.operators.most_common())}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=None, metavar="FILE_OR_FOLDER")
    arguments = parser.parse_args()
    surveyor = Surveyor()
    for root in arguments.paths or [fetch.cache_folder()]:
        for path in sorted(root.rglob("*.onnx")) if root.is_dir() else [root]:
            surveyor.add(path, str(path.relative_to(root) if root.is_dir() else path.name))
    print("\n".join(report(surveyor)))


if __name__ == "__main__":
    main()
