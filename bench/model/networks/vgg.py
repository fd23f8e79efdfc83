"""VGG (Simonyan and Zisserman 2014)."""
from builder import Builder
from layers import LINEAR, RELU, conv, gemm, max_pool


def vgg16(b: Builder) -> None:
    """VGG-16 without batch normalisation."""
    x, inputs, index = b.input("input", ["batch", 3, 224, 224]), 3, 0
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            gain = RELU if index else LINEAR
            with b.scope("features"):
                x = b.op("Relu", conv(b, str(index), x, inputs, width, 3, 1, 1, gain=gain))
            inputs = width
            index += 2
        x = max_pool(b, x, 2, 2)
        index += 1
    # An adaptive pool from 7×7 to 7×7 leaves this behind.
    x = b.op("AveragePool", x, kernel_shape=[1, 1], strides=[1, 1])
    x = b.op("Flatten", x, axis=1)
    with b.scope("classifier"):
        x = b.op("Relu", gemm(b, "0", x, 512 * 7 * 7, 4096))
        x = b.op("Relu", gemm(b, "3", x, 4096, 4096))
        x = gemm(b, "6", x, 4096, 1000)
    b.output("output", x, ["batch", 1000])
