"""Runs graphs that torch captured: the work behind `torch.compile(model, backend="hone")`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from hone.session import InferenceSession

OPSET = 18


class Bound(torch.nn.Module):
    """A captured graph whose inputs that are no tensors are fixed."""

    def __init__(self, graph: Callable[..., Any], inputs: Sequence[Any]) -> None:
        super().__init__()
        self._graph = graph
        self._inputs = list(inputs)

    def forward(self, *tensors: torch.Tensor) -> Any:
        """The graph's outputs."""
        rest = iter(tensors)
        return self._graph(*[next(rest) if torch.is_tensor(value) else value for value in self._inputs])


def export(graph: Callable[..., Any], inputs: Sequence[Any]) -> bytes:
    """A captured graph as an ONNX model for inputs like these."""
    tensors = [value for value in inputs if torch.is_tensor(value)]
    names = [f"input_{i}" for i in range(len(tensors))]
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces another exporter, which needs packages of its own
        torch.onnx.export(
            Bound(graph, inputs), tuple(tensors), content, input_names=names, opset_version=OPSET, dynamo=False
        )
    return content.getvalue()


def kind_of(value: Any) -> Any:
    """What must be equal for two inputs to share a session."""
    return (tuple(value.shape), value.dtype) if torch.is_tensor(value) else value


def compile_graph(
    graph: torch.nn.Module, example_inputs: Sequence[Any], **options: Any
) -> Callable[..., tuple[Any, ...]]:
    """A function that runs the captured graph in hone, with a session for each combination of shapes."""
    sessions: dict[tuple[Any, ...], InferenceSession] = {}

    def run(*inputs: Any) -> tuple[Any, ...]:
        with torch.no_grad():
            given = [value.detach() if torch.is_tensor(value) else int(value) for value in inputs]
            key = tuple(kind_of(value) for value in given)
            session = sessions.get(key)
            if session is None:
                session = sessions[key] = InferenceSession(export(graph, given))
            tensors = [value for value in given if torch.is_tensor(value)]
            feeds = {node.name: tensors[int(node.name.rpartition("_")[2])] for node in session.get_inputs()}
            return tuple(torch.from_numpy(output) for output in session.run(None, feeds))

    return run
