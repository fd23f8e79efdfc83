"""EfficientNet (Tan and Le 2019)."""
from builder import Builder, Value
from layers import LINEAR, SILU, conv, conv_norm, gemm, pool_to_vector, silu

_BRANCH_SCALE = 0.6


def _squeeze_excite(b: Builder, x: Value, channels: int, squeezed: int) -> Value:
    y = b.op("GlobalAveragePool", x)
    y = silu(b, conv(b, "fc1", y, channels, squeezed, 1))
    y = b.op("Sigmoid", conv(b, "fc2", y, squeezed, channels, 1))
    return b.op("Mul", y, x)


def _mb_conv(b: Builder, x: Value, inputs: int, outputs: int, expansion: int, kernel: int, stride: int) -> Value:
    adds = stride == 1 and inputs == outputs
    with b.scope("block"):
        y, width, index, gain = x, inputs * expansion, 0, LINEAR
        if expansion != 1:
            y = silu(b, conv_norm(b, ("0.0", "0.1"), y, inputs, width, 1, gain=LINEAR))
            index, gain = 1, SILU
        y = silu(b, conv_norm(b, (f"{index}.0", f"{index}.1"), y, width, width, kernel, stride, kernel // 2, width,
                              gain))
        with b.scope(str(index + 1)):
            y = _squeeze_excite(b, y, width, max(1, inputs // 4))
        y = conv_norm(b, (f"{index + 2}.0", f"{index + 2}.1"), y, width, outputs, 1, gain=1.5 * SILU,
                      scale=_BRANCH_SCALE if adds else 1.0)
    return b.op("Add", y, x) if adds else y


def efficientnet_b0(b: Builder) -> None:
    """EfficientNet-B0."""
    x, inputs = b.input("input", ["batch", 3, 224, 224]), 32
    stages = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
              (6, 5, 2, 192, 4), (6, 3, 1, 320, 1))
    with b.scope("features"):
        x = silu(b, conv_norm(b, ("0.0", "0.1"), x, 3, inputs, 3, 2, 1, gain=LINEAR))
        for stage, (expansion, kernel, stride, outputs, count) in enumerate(stages, 1):
            for i in range(count):
                with b.scope(f"{stage}.{i}"):
                    x = _mb_conv(b, x, inputs, outputs, expansion, kernel, stride if i == 0 else 1)
                inputs = outputs
        x = silu(b, conv_norm(b, ("8.0", "8.1"), x, inputs, 1280, 1, gain=LINEAR))
    with b.scope("classifier"):
        x = gemm(b, "1", pool_to_vector(b, x), 1280, 1000, SILU)
    b.output("output", x, ["batch", 1000])
