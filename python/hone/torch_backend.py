"""Makes `torch.compile(model, backend="hone")` known to torch, for inference on the CPU.

Where hone was installed by pip, torch finds the name by itself; otherwise `import hone.torch_backend` first.
"""

from __future__ import annotations

import contextlib

from torch._dynamo import register_backend

from hone.torch_graph import compile_graph

__all__ = ["compile_graph"]

with contextlib.suppress(AssertionError):  # torch has found it already
    register_backend(compile_graph, name="hone")
