"""Decoders in the manner of Llama: rotary embedding, grouped-query attention, RMSNorm and SwiGLU, without a cache."""
import math
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, numpy_helper

from builder import Builder, Value
from layers import LINEAR, SILU, expand, linear, reshape, shape_of, silu, size_of, slice_axis, transpose

_EPSILON = 1e-5
_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Llama:
    """The sizes of a decoder; the language head shares the embedding's table."""

    width: int
    hidden: int
    layers: int
    heads: int
    groups: int
    vocabulary: int

    @property
    def head(self) -> int:
        """The width of one head."""
        return self.width // self.heads


SMOL = Llama(width=576, hidden=1536, layers=30, heads=9, groups=3, vocabulary=49152)
TINY = Llama(width=64, hidden=172, layers=5, heads=8, groups=4, vocabulary=512)


def _rms_norm(b: Builder, name: str, x: Value, size: int) -> Value:
    with b.scope(name):
        square = b.op("ReduceMean", b.op("Pow", x, b.scalar(2.0)), axes=[-1])
        root = b.op("Sqrt", b.op("Add", square, b.scalar(_EPSILON)))
        normal = b.op("Mul", x, b.op("Div", b.scalar(1.0), root))
        weight = b.weights.bell(b.path("weight"), [size], 0.1, 1.0)
        return b.op("Mul", b.parameter(b.path("weight"), weight), normal)


def _angles(b: Builder, net: Llama, places: Value) -> tuple[Value, Value]:
    """Cosine and sine of place × frequency, each as [1, 1, sequence, head]."""
    exponents = np.arange(0, net.head, 2, dtype=np.float64) / net.head
    stored = b.parameter("rotary_emb.inv_freq", (10000.0**-exponents).astype(np.float32)[None, :, None])
    row = b.op("Cast", b.op("Unsqueeze", places, b.ints(1)), to=TensorProto.FLOAT)
    angles = transpose(b, b.op("MatMul", stored, row), 0, 2, 1)
    angles = b.op("Concat", angles, angles, axis=-1)
    return (b.op("Unsqueeze", b.op("Cos", angles), b.ints(1)), b.op("Unsqueeze", b.op("Sin", angles), b.ints(1)))


def _rotate(b: Builder, net: Llama, x: Value, cos: Value, sin: Value) -> Value:
    half = net.head // 2
    turned = b.op("Concat", b.op("Neg", slice_axis(b, x, 3, half, 2**63 - 1)), slice_axis(b, x, 3, 0, half), axis=-1)
    return b.op("Add", b.op("Mul", x, cos), b.op("Mul", turned, sin))


def _repeat_groups(b: Builder, net: Llama, x: Value) -> Value:
    batch, sequence, times = size_of(b, x, 0), size_of(b, x, 2), net.heads // net.groups
    x = expand(b, b.op("Unsqueeze", x, b.ints(2)), batch, net.groups, times, sequence, net.head)
    return reshape(b, x, batch, net.heads, sequence, net.head)


def _attention(b: Builder, net: Llama, x: Value, angles: tuple[Value, Value], mask: Value) -> Value:
    batch, sequence = size_of(b, x, 0), size_of(b, x, 1)
    parts = []
    for name, heads in (("q_proj", net.heads), ("k_proj", net.groups), ("v_proj", net.groups)):
        part = linear(b, name, x, net.width, heads * net.head, bias=False)
        parts.append(transpose(b, reshape(b, part, batch, sequence, heads, net.head), 0, 2, 1, 3))
    query, key, value = parts
    query, key = _rotate(b, net, query, *angles), _rotate(b, net, key, *angles)
    key, value = _repeat_groups(b, net, key), _repeat_groups(b, net, value)
    scores = b.op("Mul", b.op("MatMul", query, transpose(b, key, 0, 1, 3, 2)), b.scalar(net.head**-0.5))
    weights = b.op("Softmax", b.op("Add", scores, mask), axis=-1)
    y = transpose(b, b.op("MatMul", weights, value), 0, 2, 1, 3)
    y = reshape(b, y, batch, sequence, net.width)
    return linear(b, "o_proj", y, net.width, net.width, bias=False)


def _layer(b: Builder, net: Llama, x: Value, angles: tuple[Value, Value], mask: Value) -> Value:
    y = _rms_norm(b, "input_layernorm", x, net.width)
    with b.scope("self_attn"):
        y = _attention(b, net, y, angles, mask)
    x = b.op("Add", x, y)
    y = _rms_norm(b, "post_attention_layernorm", x, net.width)
    with b.scope("mlp"):
        gate = silu(b, linear(b, "gate_proj", y, net.width, net.hidden, bias=False))
        y = b.op("Mul", gate, linear(b, "up_proj", y, net.width, net.hidden, bias=False))
        y = linear(b, "down_proj", y, net.hidden, net.width, SILU / math.sqrt(2 * net.layers), bias=False)
    return b.op("Add", x, y)


def _causal_mask(b: Builder, sequence: Value) -> Value:
    """Zero on and below the diagonal, the lowest number above it, as [1, 1, sequence, sequence]."""
    lowest = numpy_helper.from_array(np.array([_LOWEST], np.float32))
    square = b.op("ConstantOfShape", shape_of(b, [sequence, sequence]), value=lowest)
    return b.op("Unsqueeze", b.op("Trilu", square, b.index(1), upper=1), b.ints(0, 1))


def _llama(b: Builder, net: Llama) -> None:
    tokens = b.input("input_ids", ["batch", "sequence"], TensorProto.INT64)
    with b.scope("model"):
        name = b.path("embed_tokens.weight")
        table = b.parameter(name, b.weights.bell(name, [net.vocabulary, net.width], LINEAR / math.sqrt(net.width)))
        sequence = size_of(b, tokens, 1)
        places = b.op("Unsqueeze", b.op("Range", b.index(0), sequence, b.index(1)), b.ints(0))
        angles, mask = _angles(b, net, places), _causal_mask(b, sequence)
        x = b.op("Gather", table, tokens, axis=0)
        for i in range(net.layers):
            with b.scope(f"layers.{i}"):
                x = _layer(b, net, x, angles, mask)
        x = _rms_norm(b, "norm", x, net.width)
    with b.scope("lm_head"):
        logits = b.op("MatMul", x, transpose(b, table, 1, 0))
    b.output("logits", logits, ["batch", "sequence", net.vocabulary])


def llama_135m(b: Builder) -> None:
    """A decoder with the sizes of SmolLM-135M, any number of tokens."""
    _llama(b, SMOL)


def llama_tiny(b: Builder) -> None:
    """A decoder with the sizes of stories260K, any number of tokens."""
    _llama(b, TINY)
