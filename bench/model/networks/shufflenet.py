"""ShuffleNet v2 (Ma et al. 2018)."""
from builder import Builder, Value
from layers import LINEAR, RELU, conv_norm, gemm, max_pool, reshape, size_of, transpose


def _shuffle(b: Builder, x: Value, channels: int) -> Value:
    batch, height, width = (size_of(b, x, axis) for axis in (0, 2, 3))
    x = reshape(b, x, batch, 2, channels // 2, height, width)
    x = transpose(b, x, 0, 2, 1, 3, 4)
    return reshape(b, x, batch, channels, height, width)


def _block(b: Builder, x: Value, inputs: int, outputs: int, stride: int) -> Value:
    half = outputs // 2
    if stride == 1:
        left, x = b.ops("Split", 2, x, b.ints(half, half), axis=1)
        inputs = half
    else:
        with b.scope("branch1"):
            left = conv_norm(b, ("0", "1"), x, inputs, inputs, 3, stride, 1, inputs, RELU)
            left = b.op("Relu", conv_norm(b, ("2", "3"), left, inputs, half, 1, gain=LINEAR))
    with b.scope("branch2"):
        x = b.op("Relu", conv_norm(b, ("0", "1"), x, inputs, half, 1))
        x = conv_norm(b, ("3", "4"), x, half, half, 3, stride, 1, half, RELU)
        x = b.op("Relu", conv_norm(b, ("5", "6"), x, half, half, 1, gain=LINEAR))
    return _shuffle(b, b.op("Concat", left, x, axis=1), outputs)


def shufflenet_v2(b: Builder) -> None:
    """ShuffleNet-v2, width 1.0."""
    x, inputs = b.input("input", ["batch", 3, 224, 224]), 24
    x = b.op("Relu", conv_norm(b, ("conv1.0", "conv1.1"), x, 3, inputs, 3, 2, 1, gain=LINEAR))
    x = max_pool(b, x, 3, 2, 1)
    for stage, (count, outputs) in enumerate(((4, 116), (8, 232), (4, 464)), 2):
        for i in range(count):
            with b.scope(f"stage{stage}.{i}"):
                x = _block(b, x, inputs, outputs, 1 if i else 2)
            inputs = outputs
    x = b.op("Relu", conv_norm(b, ("conv5.0", "conv5.1"), x, inputs, 1024, 1))
    x = b.op("ReduceMean", x, axes=[2, 3], keepdims=0)
    b.output("output", gemm(b, "fc", x, 1024, 1000), ["batch", 1000])
