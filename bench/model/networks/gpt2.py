"""GPT-2 (Radford et al. 2019): the decoder with its language head, without a cache."""
import math

import numpy as np
from onnx import TensorProto

from builder import Builder, Value
from layers import GELU, LINEAR, reshape, scattered_layer_norm, shape_of, size_of, transpose

_WIDTH, _HEADS, _DEPTH, VOCABULARY, _POSITIONS = 768, 12, 12, 50257, 1024
_EPSILON = 1e-5
_LOWEST = float(np.finfo(np.float32).min)


def _gelu_by_tanh(b: Builder, x: Value) -> Value:
    cube = b.op("Mul", b.op("Pow", x, b.scalar(3.0)), b.scalar(0.044715))
    inner = b.op("Mul", b.op("Add", x, cube), b.scalar(math.sqrt(2.0 / math.pi)))
    return b.op("Mul", b.op("Mul", x, b.scalar(0.5)), b.op("Add", b.op("Tanh", inner), b.scalar(1.0)))


def _conv1d(b: Builder, name: str, x: Value, inputs: int, outputs: int, gain: float) -> Value:
    """A linear layer as GPT-2 stores it, [inputs, outputs]: a Gemm between two changes of shape."""
    batch, sequence = size_of(b, x, 0), size_of(b, x, 1)
    with b.scope(name):
        weight = b.weights.centred(b.path("weight"), [outputs, inputs], gain / math.sqrt(inputs))
        parameters = [b.parameter(b.path("weight"), np.ascontiguousarray(weight.T)),
                      b.parameter(b.path("bias"), b.weights.bell(b.path("bias"), [outputs], 0.05))]
        product = b.op("Gemm", reshape(b, x, -1, inputs), *parameters, alpha=1.0, beta=1.0)
        return reshape(b, product, batch, sequence, outputs)


def _causal(b: Builder, scores: Value, query: Value, key: Value) -> Value:
    """Hides later tokens by a stored triangle, cut to the length at hand."""
    rows, columns = size_of(b, query, 2), size_of(b, key, 2)
    triangle = b.parameter("causal_mask", np.tri(_POSITIONS, dtype=np.bool_)[None, None])
    one = b.ints(1)
    begin = shape_of(b, [b.op("Sub", columns, rows)])
    end = shape_of(b, [columns])
    cut = b.op("Slice", triangle, begin, end, b.ints(2), one)
    cut = b.op("Slice", cut, b.ints(0), end, b.ints(3), one)
    return b.op("Where", cut, scores, b.scalar(_LOWEST))


def _attention(b: Builder, x: Value) -> Value:
    packed = _conv1d(b, "c_attn", x, _WIDTH, 3 * _WIDTH, LINEAR)
    parts = b.ops("Split", 3, packed, b.ints(_WIDTH, _WIDTH, _WIDTH), axis=2)
    heads = []
    for part, order in zip(parts, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))):
        batch, sequence = size_of(b, part, 0), size_of(b, part, 1)
        heads.append(transpose(b, reshape(b, part, batch, sequence, _HEADS, _WIDTH // _HEADS), *order))
    query, key, value = heads
    scores = b.op("Div", b.op("MatMul", query, key), b.scalar(math.sqrt(_WIDTH // _HEADS)))
    weights = b.op("Softmax", _causal(b, scores, query, value), axis=-1)
    y = transpose(b, b.op("MatMul", weights, value), 0, 2, 1, 3)
    y = reshape(b, y, size_of(b, y, 0), size_of(b, y, 1), _WIDTH)
    return _conv1d(b, "c_proj", y, _WIDTH, _WIDTH, LINEAR)


def _block(b: Builder, x: Value) -> Value:
    y = scattered_layer_norm(b, "ln_1", x, _WIDTH, _EPSILON)
    with b.scope("attn"):
        y = _attention(b, y)
    x = b.op("Add", y, x)
    y = scattered_layer_norm(b, "ln_2", x, _WIDTH, _EPSILON)
    with b.scope("mlp"):
        y = _gelu_by_tanh(b, _conv1d(b, "c_fc", y, _WIDTH, 4 * _WIDTH, LINEAR))
        y = _conv1d(b, "c_proj", y, 4 * _WIDTH, _WIDTH, GELU / math.sqrt(2 * _DEPTH))
    return b.op("Add", x, y)


def _table(b: Builder, name: str, rows: int, std: float) -> Value:
    name = b.path(f"{name}.weight")
    return b.parameter(name, b.weights.bell(name, [rows, _WIDTH], std))


def gpt2(b: Builder) -> None:
    """GPT-2 small, any number of tokens up to 1024."""
    tokens = b.input("input_ids", ["batch", "sequence"], TensorProto.INT64)
    with b.scope("transformer"):
        batch, sequence = size_of(b, tokens, 0), size_of(b, tokens, 1)
        tokens = reshape(b, tokens, -1, sequence)
        places = b.op("Unsqueeze", b.op("Range", b.index(0), sequence, b.index(1)), b.ints(0))
        words, positions = _table(b, "wte", VOCABULARY, 0.1), _table(b, "wpe", _POSITIONS, 0.05)
        x = b.op("Add", b.op("Gather", words, tokens, axis=0), b.op("Gather", positions, places, axis=0))
        for i in range(_DEPTH):
            with b.scope(f"h.{i}"):
                x = _block(b, x)
        x = scattered_layer_norm(b, "ln_f", x, _WIDTH, _EPSILON)
        x = reshape(b, x, batch, sequence, _WIDTH)
    with b.scope("lm_head"):
        logits = b.op("MatMul", x, transpose(b, words, 1, 0))
    b.output("logits", logits, ["batch", "sequence", VOCABULARY])
