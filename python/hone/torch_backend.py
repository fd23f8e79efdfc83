"""`torch.compile(model, backend="hone")`, where torch is installed.

Each graph that torch captures is exported to ONNX and runs in a session, for inference on the CPU. torch finds the
backend by its name once hone is installed, or after `import hone.torch_backend`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo import register_backend

from hone.session import InferenceSession

OPSET = 18


def export(module: torch.nn.Module, example_inputs: Sequence[Any]) -> bytes:
    """A captured graph as an ONNX model whose inputs and outputs are in the order of the graph's."""
    content = io.BytesIO()
    names = [f"input_{i}" for i in range(len(example_inputs))]
    torch.onnx.export(module, tuple(example_inputs), content, input_names=names, opset_version=OPSET, dynamo=False)
    return content.getvalue()


def compile_graph(module: torch.nn.Module, example_inputs: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
    """The backend: a function that runs the captured graph in hone."""
    session: InferenceSession | None = None
    used: list[str] = []

    def run(*inputs: Any) -> tuple[Any, ...]:
        nonlocal session, used
        with torch.no_grad():
            tensors = [torch.as_tensor(value).detach() for value in inputs]
            if session is None:
                session = InferenceSession(export(module.eval(), tensors))
                used = [node.name for node in session.get_inputs()]
            feeds = {name: tensors[int(name.rpartition("_")[2])] for name in used}
            return tuple(torch.from_numpy(output) for output in session.run(None, feeds))

    return run


@register_backend(name="hone")
def hone(module: torch.nn.Module, example_inputs: Sequence[Any], **options: Any) -> Callable[..., tuple[Any, ...]]:
    """Runs graphs that torch captured in hone; parameters are inputs of the graph and stay torch's."""
    return compile_graph(module, example_inputs)
