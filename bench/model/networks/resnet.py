"""ResNet (He et al. 2015) and ResNeXt (Xie et al. 2016), with the stride in the 3×3 convolution."""
from builder import Builder, Value
from layers import LINEAR, RELU, conv_norm, gemm, max_pool, pool_to_vector

# A residual branch adds to a stream that nothing normalises: its last factors are small, so that the sum stays so.
_BRANCH_SCALE = 0.4


def _basic_block(b: Builder, x: Value, inputs: int, width: int, stride: int) -> Value:
    y = b.op("Relu", conv_norm(b, ("conv1", "bn1"), x, inputs, width, 3, stride, 1))
    y = conv_norm(b, ("conv2", "bn2"), y, width, width, 3, 1, 1, scale=_BRANCH_SCALE)
    if stride != 1 or inputs != width:
        x = conv_norm(b, ("downsample.0", "downsample.1"), x, inputs, width, 1, stride)
    return b.op("Relu", b.op("Add", y, x))


def _bottleneck(b: Builder, x: Value, inputs: int, width: int, outputs: int, stride: int, groups: int) -> Value:
    y = b.op("Relu", conv_norm(b, ("conv1", "bn1"), x, inputs, width, 1))
    y = b.op("Relu", conv_norm(b, ("conv2", "bn2"), y, width, width, 3, stride, 1, groups))
    y = conv_norm(b, ("conv3", "bn3"), y, width, outputs, 1, scale=_BRANCH_SCALE)
    if stride != 1 or inputs != outputs:
        x = conv_norm(b, ("downsample.0", "downsample.1"), x, inputs, outputs, 1, stride)
    return b.op("Relu", b.op("Add", y, x))


def _stem(b: Builder) -> Value:
    x = b.input("input", ["batch", 3, 224, 224])
    x = b.op("Relu", conv_norm(b, ("conv1", "bn1"), x, 3, 64, 7, 2, 3, gain=LINEAR))
    return max_pool(b, x, 3, 2, 1)


def _head(b: Builder, x: Value, inputs: int) -> None:
    b.output("output", gemm(b, "fc", pool_to_vector(b, x), inputs, 1000, RELU), ["batch", 1000])


def resnet18(b: Builder) -> None:
    """ResNet-18."""
    x, inputs = _stem(b), 64
    for stage, width in enumerate((64, 128, 256, 512)):
        for i in range(2):
            with b.scope(f"layer{stage + 1}.{i}"):
                x = _basic_block(b, x, inputs, width, 2 if stage and i == 0 else 1)
            inputs = width
    _head(b, x, inputs)


def _deep(b: Builder, groups: int, group_width: int) -> None:
    x, inputs = _stem(b), 64
    for stage, (blocks, planes) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        width = planes * group_width // 64 * groups
        for i in range(blocks):
            with b.scope(f"layer{stage + 1}.{i}"):
                x = _bottleneck(b, x, inputs, width, 4 * planes, 2 if stage and i == 0 else 1, groups)
            inputs = 4 * planes
    _head(b, x, inputs)


def resnet50(b: Builder) -> None:
    """ResNet-50."""
    _deep(b, groups=1, group_width=64)


def resnext50(b: Builder) -> None:
    """ResNeXt-50, 32 groups of 4 channels."""
    _deep(b, groups=32, group_width=4)
