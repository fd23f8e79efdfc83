"""DenseNet (Huang et al. 2016)."""
from builder import Builder, Value
from layers import LINEAR, average_pool, batch_norm, conv_norm, gemm, max_pool, plain_conv, pool_to_vector

_GROWTH = 32


def _dense_layer(b: Builder, features: list[Value], inputs: int) -> Value:
    x = b.op("Concat", *features, axis=1)  # an exporter writes it for a single feature as well
    x = b.op("Relu", batch_norm(b, "norm1", x, inputs))
    x = b.op("Relu", conv_norm(b, ("conv1", "norm2"), x, inputs, 4 * _GROWTH, 1))
    return plain_conv(b, "conv2", x, 4 * _GROWTH, _GROWTH, 3, 1, 1)


def densenet121(b: Builder) -> None:
    """DenseNet-121."""
    x, channels = b.input("input", ["batch", 3, 224, 224]), 64
    blocks = (6, 12, 24, 16)
    with b.scope("features"):
        x = b.op("Relu", conv_norm(b, ("conv0", "norm0"), x, 3, channels, 7, 2, 3, gain=LINEAR))
        x = max_pool(b, x, 3, 2, 1)
        for block, layers in enumerate(blocks, 1):
            features = [x]
            for i in range(layers):
                with b.scope(f"denseblock{block}.denselayer{i + 1}"):
                    features.append(_dense_layer(b, features, channels))
                channels += _GROWTH
            x = b.op("Concat", *features, axis=1)
            if block < len(blocks):
                with b.scope(f"transition{block}"):
                    x = b.op("Relu", batch_norm(b, "norm", x, channels))
                    channels //= 2
                    x = average_pool(b, plain_conv(b, "conv", x, 2 * channels, channels, 1), 2, 2)
        x = batch_norm(b, "norm5", x, channels)
    x = pool_to_vector(b, b.op("Relu", x))
    b.output("output", gemm(b, "classifier", x, channels, 1000), ["batch", 1000])
