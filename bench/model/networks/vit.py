"""Vision transformer (Dosovitskiy et al. 2020)."""
import math

import numpy as np
from onnx import TensorProto

from builder import Builder, Value
from layers import (GELU, LINEAR, conv, expand, gelu, gemm, layer_norm, linear, matmul_weight, reshape, size_of,
                    transpose)

_WIDTH, _HEADS, _DEPTH, _TOKENS = 768, 12, 12, 197
_EPSILON = 1e-6


def _root_of_scale(b: Builder, query: Value) -> Value:
    """√(1 / √d), with d read from the shape: a factor for query and key each."""
    last = b.op("Slice", b.op("Shape", query), b.ints(-1), b.ints(2**63 - 1))
    size = b.op("Cast", last, to=TensorProto.FLOAT)
    scale = b.op("Div", b.constant(np.ones(1, np.float32)), b.op("Sqrt", size))
    return b.op("Sqrt", b.op("Cast", scale, to=TensorProto.FLOAT))


def _attention(b: Builder, x: Value) -> Value:
    batch, head = size_of(b, x, 0), _WIDTH // _HEADS
    x = transpose(b, x, 1, 0, 2)
    bias = b.parameter(b.path("in_proj_bias"), b.weights.bell(b.path("in_proj_bias"), [3 * _WIDTH], 0.05))
    packed = b.op("Add", b.op("MatMul", x, matmul_weight(b, _WIDTH, 3 * _WIDTH, LINEAR, "in_proj_weight")), bias)
    packed = reshape(b, packed, _TOKENS, batch, 3, _WIDTH)
    packed = b.op("Unsqueeze", packed, b.ints(0))
    packed = b.op("Squeeze", transpose(b, packed, 3, 1, 2, 0, 4), b.ints(3))
    rows = b.op("Mul", batch, b.index(_HEADS))
    parts = []
    for i in range(3):
        part = b.op("Gather", packed, b.index(i), axis=0)
        part = transpose(b, reshape(b, part, _TOKENS, rows, head), 1, 0, 2)
        parts.append(reshape(b, part, batch, _HEADS, _TOKENS, head))
    query, key, value = parts
    factor = _root_of_scale(b, query)
    scores = b.op("MatMul", b.op("Mul", query, factor), b.op("Mul", transpose(b, key, 0, 1, 3, 2), factor))
    y = transpose(b, b.op("MatMul", b.op("Softmax", scores, axis=-1), value), 2, 0, 1, 3)
    y = reshape(b, y, b.op("Mul", batch, b.index(_TOKENS)), _WIDTH)
    y = reshape(b, gemm(b, "out_proj", y, _WIDTH, _WIDTH, LINEAR), _TOKENS, batch, _WIDTH)
    return transpose(b, y, 1, 0, 2)


def _layer(b: Builder, x: Value) -> Value:
    y = layer_norm(b, "ln_1", x, _WIDTH, _EPSILON)
    with b.scope("self_attention"):
        y = _attention(b, y)
    x = b.op("Add", y, x)
    y = layer_norm(b, "ln_2", x, _WIDTH, _EPSILON)
    y = gelu(b, linear(b, "mlp.0", y, _WIDTH, 4 * _WIDTH))
    y = linear(b, "mlp.3", y, 4 * _WIDTH, _WIDTH, GELU / math.sqrt(2 * _DEPTH))
    return b.op("Add", x, y)


def vit_b16(b: Builder) -> None:
    """ViT-B/16."""
    x = b.input("input", ["batch", 3, 224, 224])
    batch = size_of(b, x, 0)
    x = reshape(b, conv(b, "conv_proj", x, 3, _WIDTH, 16, 16, gain=LINEAR), batch, _WIDTH, _TOKENS - 1)
    x = transpose(b, x, 0, 2, 1)
    token = b.parameter("class_token", b.weights.bell("class_token", [1, 1, _WIDTH], 0.5))
    x = b.op("Concat", expand(b, token, batch, -1, -1), x, axis=1)
    with b.scope("encoder"):
        name = b.path("pos_embedding")
        x = b.op("Add", x, b.parameter(name, b.weights.bell(name, [1, _TOKENS, _WIDTH], 0.5)))
        for i in range(_DEPTH):
            with b.scope(f"layers.encoder_layer_{i}"):
                x = _layer(b, x)
        x = layer_norm(b, "ln", x, _WIDTH, _EPSILON)
    x = b.op("Gather", x, b.index(0), axis=1)
    b.output("output", gemm(b, "heads.head", x, _WIDTH, 1000, LINEAR), ["batch", 1000])
