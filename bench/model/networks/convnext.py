"""ConvNeXt (Liu et al. 2022)."""
from builder import Builder, Value
from layers import GELU, LINEAR, conv, gelu, gemm, layer_norm, linear, transpose

_EPSILON = 1e-6


def _channel_norm(b: Builder, name: str, x: Value, channels: int) -> Value:
    x = layer_norm(b, name, transpose(b, x, 0, 2, 3, 1), channels, _EPSILON)
    return transpose(b, x, 0, 3, 1, 2)


def _block(b: Builder, x: Value, channels: int) -> Value:
    with b.scope("block"):
        y = conv(b, "0", x, channels, channels, 7, 1, 3, channels, LINEAR)
        y = layer_norm(b, "2", transpose(b, y, 0, 2, 3, 1), channels, _EPSILON)
        y = gelu(b, linear(b, "3", y, channels, 4 * channels))
        y = transpose(b, linear(b, "5", y, 4 * channels, channels, GELU), 0, 3, 1, 2)
    name = b.path("layer_scale")
    scale = b.parameter(name, b.weights.bell(name, [channels, 1, 1], 0.05, 0.4))
    return b.op("Add", b.op("Mul", y, scale), x)


def convnext_tiny(b: Builder) -> None:
    """ConvNeXt-T."""
    x, inputs = b.input("input", ["batch", 3, 224, 224]), 3
    with b.scope("features"):
        for stage, (depth, channels) in enumerate(((3, 96), (3, 192), (9, 384), (3, 768))):
            if stage == 0:
                x = conv(b, "0.0", x, inputs, channels, 4, 4, gain=LINEAR)
                x = _channel_norm(b, "0.1", x, channels)
            else:
                x = _channel_norm(b, f"{2 * stage}.0", x, inputs)
                x = conv(b, f"{2 * stage}.1", x, inputs, channels, 2, 2, gain=LINEAR)
            for i in range(depth):
                with b.scope(f"{2 * stage + 1}.{i}"):
                    x = _block(b, x, channels)
            inputs = channels
    with b.scope("classifier"):
        x = _channel_norm(b, "0", b.op("GlobalAveragePool", x), inputs)
        x = gemm(b, "2", b.op("Flatten", x, axis=1), inputs, 1000, LINEAR)
    b.output("output", x, ["batch", 1000])
