"""Changes inputs and weights in their last digits, to see how much an engine's own rounding errors may matter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from catalogue import Feeds

# Relative changes: as small as float32 allows, and one that makes models that round inside show other roundings.
LAST_DIGIT = 1e-7
ANY_ROUNDING = 1e-6

# Operators whose float constants are weights, not sizes or bounds.
WEIGHTED = {"Add", "Conv", "ConvTranspose", "DequantizeLinear", "DynamicQuantizeLSTM", "FusedConv", "Gather", "Gemm",
            "GRU", "LayerNormalization", "LSTM", "MatMul", "Mul", "QuantizeLinear"}


def values(array: np.ndarray, random: np.random.Generator, strength: float) -> np.ndarray:
    """The array with floats changed by about `strength` of them, or as little as their type allows."""
    if not np.issubdtype(array.dtype, np.floating):
        return array
    strength = max(strength, 0.8 * float(np.finfo(array.dtype).eps))
    changed = array * (1 + strength * random.standard_normal(array.shape))
    return np.asarray(changed, array.dtype)  # of a scalar numpy makes no array


def feeds(original: Feeds, seed: int, strength: float) -> Feeds:
    """The same feeds, changed."""
    random = np.random.default_rng(seed)
    return {name: values(value, random, strength) for name, value in original.items()}


def weights(path: Path, seed: int, strength: float) -> bytes:
    """The model with changed weights, serialised."""
    random = np.random.default_rng(seed)
    model = onnx.load(path)
    used = {name for node in model.graph.node if node.op_type in WEIGHTED for name in node.input}
    for tensor in model.graph.initializer:
        if tensor.name in used and tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16):
            changed = values(numpy_helper.to_array(tensor), random, strength)
            tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
    return model.SerializeToString()
