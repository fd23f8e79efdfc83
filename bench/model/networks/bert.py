"""BERT (Devlin et al. 2018): the encoder and its pooler."""
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from builder import Builder, Dim, Value
from layers import GELU, LINEAR, gelu, gemm, linear, reshape, scattered_layer_norm, size_of, transpose

_EPSILON = 1e-12
_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Bert:
    """The sizes of a BERT."""

    width: int
    layers: int
    heads: int
    vocabulary: int = 30522
    positions: int = 512
    sequence: int = 128


BASE = Bert(width=768, layers=12, heads=12)
TINY = Bert(width=128, layers=2, heads=2)


def _embedding(b: Builder, name: str, indices: Value, rows: int, width: int) -> Value:
    name = b.path(f"{name}.weight")
    return b.op("Gather", b.parameter(name, b.weights.bell(name, [rows, width], 0.5)), indices, axis=0)


def _embed(b: Builder, net: Bert, tokens: Value, types: Value) -> Value:
    with b.scope("embeddings"):
        x = b.op("Add", _embedding(b, "word_embeddings", tokens, net.vocabulary, net.width),
                 _embedding(b, "token_type_embeddings", types, 2, net.width))
        places = b.constant(np.arange(net.sequence, dtype=np.int64)[None, :])
        x = b.op("Add", x, _embedding(b, "position_embeddings", places, net.positions, net.width))
        return scattered_layer_norm(b, "LayerNorm", x, net.width, _EPSILON)


def _split_heads(b: Builder, net: Bert, x: Value, *order: int) -> Value:
    batch, sequence = size_of(b, x, 0), size_of(b, x, 1)
    return transpose(b, reshape(b, x, batch, sequence, net.heads, net.width // net.heads), *order)


def _self_attention(b: Builder, net: Bert, x: Value, mask: Value) -> Value:
    query = linear(b, "query", x, net.width, net.width)
    key = _split_heads(b, net, linear(b, "key", x, net.width, net.width), 0, 2, 3, 1)
    value = _split_heads(b, net, linear(b, "value", x, net.width, net.width), 0, 2, 1, 3)
    scores = b.op("MatMul", _split_heads(b, net, query, 0, 2, 1, 3), key)
    scores = b.op("Div", scores, b.scalar((net.width // net.heads)**0.5))
    weights = b.op("Softmax", b.op("Add", scores, mask), axis=-1)
    y = transpose(b, b.op("MatMul", weights, value), 0, 2, 1, 3)
    return reshape(b, y, size_of(b, y, 0), size_of(b, y, 1), net.width)


def _layer(b: Builder, net: Bert, x: Value, mask: Value) -> Value:
    with b.scope("attention"):
        with b.scope("self"):
            y = _self_attention(b, net, x, mask)
        y = linear(b, "output.dense", y, net.width, net.width)
        x = scattered_layer_norm(b, "output.LayerNorm", b.op("Add", y, x), net.width, _EPSILON)
    y = gelu(b, linear(b, "intermediate.dense", x, net.width, 4 * net.width))
    y = linear(b, "output.dense", y, 4 * net.width, net.width, GELU)
    return scattered_layer_norm(b, "output.LayerNorm", b.op("Add", y, x), net.width, _EPSILON)


def _bert(b: Builder, net: Bert) -> None:
    shape: list[Dim] = ["batch", net.sequence]
    tokens, mask, types = (b.input(name, shape, TensorProto.INT64)
                           for name in ("input_ids", "attention_mask", "token_type_ids"))
    mask = b.op("Unsqueeze", b.op("Unsqueeze", mask, b.ints(1)), b.ints(2))
    mask = b.op("Sub", b.scalar(1.0), b.op("Cast", mask, to=TensorProto.FLOAT))
    mask = b.op("Mul", mask, b.scalar(_LOWEST))
    x = _embed(b, net, tokens, types)
    for i in range(net.layers):
        with b.scope(f"encoder.layer.{i}"):
            x = _layer(b, net, x, mask)
    with b.scope("pooler"):
        pooled = gemm(b, "dense", b.op("Gather", x, b.index(0), axis=1), net.width, net.width, LINEAR)
        pooled = b.op("Tanh", pooled)
    b.output("last_hidden_state", x, ["batch", net.sequence, net.width])
    b.output("pooler_output", pooled, ["batch", net.width])


def bert_base(b: Builder) -> None:
    """BERT-base, 128 tokens."""
    _bert(b, BASE)


def bert_tiny(b: Builder) -> None:
    """BERT-tiny (2 layers of width 128), 128 tokens."""
    _bert(b, TINY)
