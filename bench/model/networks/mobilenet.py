"""MobileNet v2 (Sandler et al. 2018) and v3 (Howard et al. 2019)."""
from typing import NamedTuple

from builder import Builder, Value
from layers import HARD_SWISH, LINEAR, RELU, conv, conv_norm, gemm, pool_to_vector

_BRANCH_SCALE = 0.5


def round_channels(channels: float) -> int:
    """The multiple of eight next to `channels`, but not below nine tenths of it."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded if rounded >= 0.9 * channels else rounded + 8


def _relu6(b: Builder, x: Value) -> Value:
    return b.op("Clip", x, b.scalar(0.0), b.scalar(6.0))


def _inverted_residual(b: Builder, x: Value, inputs: int, outputs: int, expansion: int, stride: int) -> Value:
    with b.scope("conv"):
        y, width, index, gain = x, inputs * expansion, 0, LINEAR
        if expansion != 1:
            y, index = _relu6(b, conv_norm(b, ("0.0", "0.1"), y, inputs, width, 1, gain=LINEAR)), 1
            gain = RELU
        y = _relu6(b, conv_norm(b, (f"{index}.0", f"{index}.1"), y, width, width, 3, stride, 1, width, gain))
        adds = stride == 1 and inputs == outputs
        y = conv_norm(b, (f"{index + 1}", f"{index + 2}"), y, width, outputs, 1, scale=_BRANCH_SCALE if adds else 1.0)
    return b.op("Add", x, y) if adds else y


def mobilenet_v2(b: Builder) -> None:
    """MobileNet-v2, width 1.0."""
    x, inputs, index = b.input("input", ["batch", 3, 224, 224]), 32, 1
    with b.scope("features"):
        x = _relu6(b, conv_norm(b, ("0.0", "0.1"), x, 3, inputs, 3, 2, 1, gain=LINEAR))
        for expansion, outputs, count, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(count):
                with b.scope(str(index)):
                    x = _inverted_residual(b, x, inputs, outputs, expansion, first_stride if i == 0 else 1)
                inputs, index = outputs, index + 1
        x = _relu6(b, conv_norm(b, ("18.0", "18.1"), x, inputs, 1280, 1, gain=LINEAR))
    with b.scope("classifier"):
        x = gemm(b, "1", pool_to_vector(b, x), 1280, 1000)
    b.output("output", x, ["batch", 1000])


class _Block(NamedTuple):
    """A row of table 1 of the paper on v3."""

    kernel: int
    expanded: int
    outputs: int
    squeezes: bool
    hard_swish: bool
    stride: int


_LARGE = (_Block(3, 16, 16, False, False, 1), _Block(3, 64, 24, False, False, 2), _Block(3, 72, 24, False, False, 1),
          _Block(5, 72, 40, True, False, 2), _Block(5, 120, 40, True, False, 1), _Block(5, 120, 40, True, False, 1),
          _Block(3, 240, 80, False, True, 2), _Block(3, 200, 80, False, True, 1), _Block(3, 184, 80, False, True, 1),
          _Block(3, 184, 80, False, True, 1), _Block(3, 480, 112, True, True, 1), _Block(3, 672, 112, True, True, 1),
          _Block(5, 672, 160, True, True, 2), _Block(5, 960, 160, True, True, 1), _Block(5, 960, 160, True, True, 1))
_EPSILON = 1e-3


def _squeeze_excite(b: Builder, x: Value, channels: int) -> Value:
    squeezed = round_channels(channels // 4)
    y = b.op("GlobalAveragePool", x)
    y = b.op("Relu", conv(b, "fc1", y, channels, squeezed, 1))
    y = b.op("HardSigmoid", conv(b, "fc2", y, squeezed, channels, 1), alpha=1 / 6)
    return b.op("Mul", y, x)


def _bneck(b: Builder, x: Value, inputs: int, block: _Block) -> Value:
    kind, gain = ("HardSwish", HARD_SWISH) if block.hard_swish else ("Relu", RELU)
    adds = block.stride == 1 and inputs == block.outputs
    with b.scope("block"):
        y, index, dw_gain = x, 0, LINEAR
        if block.expanded != inputs:
            y = b.op(kind, conv_norm(b, ("0.0", "0.1"), y, inputs, block.expanded, 1, gain=LINEAR, epsilon=_EPSILON))
            index, dw_gain = 1, gain
        y = b.op(kind, conv_norm(b, (f"{index}.0", f"{index}.1"), y, block.expanded, block.expanded, block.kernel,
                                 block.stride, block.kernel // 2, block.expanded, dw_gain, _EPSILON))
        index += 1
        if block.squeezes:
            with b.scope(str(index)):
                y = _squeeze_excite(b, y, block.expanded)
            index, gain = index + 1, 1.5 * gain  # the gates lie around one half
        y = conv_norm(b, (f"{index}.0", f"{index}.1"), y, block.expanded, block.outputs, 1, gain=gain,
                      epsilon=_EPSILON, scale=_BRANCH_SCALE if adds else 1.0)
    return b.op("Add", y, x) if adds else y


def mobilenet_v3(b: Builder) -> None:
    """MobileNet-v3 large, width 1.0."""
    x, inputs = b.input("input", ["batch", 3, 224, 224]), 16
    with b.scope("features"):
        x = b.op("HardSwish", conv_norm(b, ("0.0", "0.1"), x, 3, inputs, 3, 2, 1, gain=LINEAR, epsilon=_EPSILON))
        for index, block in enumerate(_LARGE, 1):
            with b.scope(str(index)):
                x = _bneck(b, x, inputs, block)
            inputs = block.outputs
        x = b.op("HardSwish", conv_norm(b, ("16.0", "16.1"), x, inputs, 960, 1, gain=LINEAR, epsilon=_EPSILON))
    x = pool_to_vector(b, x)
    with b.scope("classifier"):
        x = b.op("HardSwish", gemm(b, "0", x, 960, 1280, HARD_SWISH))
        x = gemm(b, "3", x, 1280, 1000, HARD_SWISH)
    b.output("output", x, ["batch", 1000])
