"""Swin transformer (Liu et al. 2021): attention in windows, shifted in every other block."""
import numpy as np
from numpy.typing import NDArray

from builder import Builder, Value
from layers import (GELU, LINEAR, conv, gelu, gemm, linear, pool_to_vector, reshape, scattered_layer_norm, size_of,
                    slice_axis, transpose)

_WINDOW = 7
_AREA = _WINDOW * _WINDOW
_EPSILON = 1e-5
_END = 2**63 - 1


def relative_position_index() -> NDArray[np.int64]:
    """For each pair of places in a window, the row of the bias table."""
    places = np.stack(np.meshgrid(np.arange(_WINDOW), np.arange(_WINDOW), indexing="ij")).reshape(2, _AREA)
    distance = places[:, :, None] - places[:, None, :] + _WINDOW - 1
    return np.asarray(distance[0] * (2 * _WINDOW - 1) + distance[1], np.int64).reshape(-1)


def shift_mask(size: int, shift: int) -> NDArray[np.float32]:
    """For each window of a shifted image, -100 where two places were not neighbours before the shift."""
    regions = np.zeros([size, size], np.float32)
    bounds = (0, size - _WINDOW, size - shift, size)
    for row in range(3):
        for column in range(3):
            regions[bounds[row]:bounds[row + 1], bounds[column]:bounds[column + 1]] = 3 * row + column
    count = size // _WINDOW
    windows = regions.reshape(count, _WINDOW, count, _WINDOW).transpose(0, 2, 1, 3).reshape(count * count, _AREA)
    return np.where(windows[:, None, :] == windows[:, :, None], np.float32(0), np.float32(-100))


def _roll(b: Builder, x: Value, shift: int) -> Value:
    """Moves rows and columns around by `shift`, each by two slices and a Concat."""
    for axis in (1, 2):
        x = b.op("Concat", slice_axis(b, x, axis, -shift, _END), slice_axis(b, x, axis, 0, -shift), axis=axis)
    return x


def _position_bias(b: Builder, heads: int) -> Value:
    name = b.path("relative_position_bias_table")
    table = b.parameter(name, b.weights.bell(name, [(2 * _WINDOW - 1)**2, heads], 0.5))
    index = b.parameter(b.path("relative_position_index"), relative_position_index())
    bias = reshape(b, b.op("Gather", table, index, axis=0), _AREA, _AREA, -1)
    return b.op("Unsqueeze", transpose(b, bias, 2, 0, 1), b.ints(0))


def _window_attention(b: Builder, x: Value, channels: int, heads: int, mask: NDArray[np.float32] | None) -> Value:
    windows, head = size_of(b, x, 0), channels // heads
    packed = reshape(b, linear(b, "qkv", x, channels, 3 * channels), windows, _AREA, 3, heads, head)
    packed = transpose(b, packed, 2, 0, 3, 1, 4)
    query, key, value = (b.op("Gather", packed, b.index(i), axis=0) for i in range(3))
    query = b.op("Mul", query, b.scalar(head**-0.5))
    scores = b.op("MatMul", query, transpose(b, key, 0, 1, 3, 2))
    scores = b.op("Add", scores, _position_bias(b, heads))
    if mask is not None:
        batch = b.op("Div", windows, b.index(len(mask)))
        scores = reshape(b, scores, batch, len(mask), heads, _AREA, _AREA)
        stored = b.op("Unsqueeze", b.parameter(b.path("attn_mask"), mask), b.ints(1))
        scores = b.op("Add", scores, b.op("Unsqueeze", stored, b.ints(0)))
        scores = reshape(b, scores, -1, heads, _AREA, _AREA)
    y = transpose(b, b.op("MatMul", b.op("Softmax", scores, axis=-1), value), 0, 2, 1, 3)
    return linear(b, "proj", reshape(b, y, windows, _AREA, channels), channels, channels)


def _shifted_attention(b: Builder, x: Value, size: int, channels: int, heads: int, shift: int) -> Value:
    batch, count = size_of(b, x, 0), size // _WINDOW
    x = b.op("Pad", x, b.ints(*[0] * 8), b.scalar(0.0), mode="constant")  # the sizes are multiples of the window
    if shift:
        x = _roll(b, x, -shift)
    x = reshape(b, x, batch, count, _WINDOW, count, _WINDOW, channels)
    x = transpose(b, x, 0, 1, 3, 2, 4, 5)
    x = reshape(b, x, b.op("Mul", batch, b.index(count * count)), _AREA, channels)
    x = _window_attention(b, x, channels, heads, shift_mask(size, shift) if shift else None)
    x = reshape(b, x, batch, count, count, _WINDOW, _WINDOW, channels)
    x = transpose(b, x, 0, 1, 3, 2, 4, 5)
    x = reshape(b, x, batch, size, size, channels)
    if shift:
        x = _roll(b, x, shift)
    return slice_axis(b, slice_axis(b, x, 1, 0, size), 2, 0, size)


def _block(b: Builder, x: Value, size: int, channels: int, heads: int, shift: int) -> Value:
    y = scattered_layer_norm(b, "norm1", x, channels, _EPSILON)
    with b.scope("attn"):
        y = _shifted_attention(b, y, size, channels, heads, shift)
    x = b.op("Add", x, y)
    y = scattered_layer_norm(b, "norm2", x, channels, _EPSILON)
    y = gelu(b, linear(b, "mlp.0", y, channels, 4 * channels))
    return b.op("Add", x, linear(b, "mlp.3", y, 4 * channels, channels, 0.5 * GELU))


def _merge(b: Builder, x: Value, channels: int) -> Value:
    """Puts each 2×2 places into one with four times the channels, then halves those."""
    corners = []
    for column in (0, 1):
        for row in (0, 1):
            rows = slice_axis(b, x, 1, row, _END, 2)
            corners.append(slice_axis(b, rows, 2, column, _END, 2))
    x = scattered_layer_norm(b, "norm", b.op("Concat", *corners, axis=-1), 4 * channels, _EPSILON)
    return linear(b, "reduction", x, 4 * channels, 2 * channels, bias=False)


def swin_tiny(b: Builder) -> None:
    """Swin-T."""
    x, size, channels = b.input("input", ["batch", 3, 224, 224]), 56, 96
    with b.scope("features"):
        x = transpose(b, conv(b, "0.0", x, 3, channels, 4, 4, gain=LINEAR), 0, 2, 3, 1)
        x = scattered_layer_norm(b, "0.2", x, channels, _EPSILON)
        for stage, (depth, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
            if stage:
                with b.scope(str(2 * stage)):
                    x = _merge(b, x, channels)
                size, channels = size // 2, 2 * channels
            for i in range(depth):
                with b.scope(f"{2 * stage + 1}.{i}"):
                    x = _block(b, x, size, channels, heads, _WINDOW // 2 if i % 2 and size > _WINDOW else 0)
    x = scattered_layer_norm(b, "norm", x, channels, _EPSILON)
    x = pool_to_vector(b, transpose(b, x, 0, 3, 1, 2))
    b.output("output", gemm(b, "head", x, channels, 1000, LINEAR), ["batch", 1000])
