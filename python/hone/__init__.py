"""hone: runs ONNX models, compiled for the machine at hand.

    import hone

    session = hone.InferenceSession("model.onnx")
    outputs = session.run(None, {"input": array})

The classes follow onnxruntime's: for the common calls, changing the import is enough.
"""

from __future__ import annotations

from hone._native import Error, NodeArg
from hone.options import ExecutionMode, GraphOptimizationLevel, RunOptions, SessionOptions
from hone.session import InferenceSession, ModelMetadata, get_available_providers, get_device
from hone.templates import Config, Schedule, template
from hone.tuning import TunedTask, tune

__version__ = "0.1.0"

__all__ = [
    "Config",
    "Error",
    "ExecutionMode",
    "GraphOptimizationLevel",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "RunOptions",
    "Schedule",
    "SessionOptions",
    "TunedTask",
    "get_available_providers",
    "get_device",
    "template",
    "tune",
]
