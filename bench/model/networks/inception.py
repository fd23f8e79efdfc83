"""Inception v3 (Szegedy et al. 2015), without the auxiliary classifier, which only training uses."""
from builder import Builder, Value
from layers import LINEAR, RELU, average_pool, conv_norm, gemm, max_pool, pool_to_vector


def _conv(b: Builder, name: str, x: Value, inputs: int, outputs: int, kernel: int | tuple[int, int], stride: int = 1,
          padding: int | tuple[int, int] = 0, gain: float = RELU) -> Value:
    with b.scope(name):
        return b.op("Relu", conv_norm(b, ("conv", "bn"), x, inputs, outputs, kernel, stride, padding, gain=gain,
                                      epsilon=1e-3))


def _row(b: Builder, name: str, x: Value, inputs: int, outputs: int, length: int) -> Value:
    return _conv(b, name, x, inputs, outputs, (1, length), 1, (0, length // 2))


def _column(b: Builder, name: str, x: Value, inputs: int, outputs: int, length: int) -> Value:
    return _conv(b, name, x, inputs, outputs, (length, 1), 1, (length // 2, 0))


def _pooled(b: Builder, x: Value, inputs: int, outputs: int) -> Value:
    return _conv(b, "branch_pool", average_pool(b, x, 3, 1, 1), inputs, outputs, 1)


def _mixed_a(b: Builder, x: Value, inputs: int, pooled: int) -> Value:
    direct = _conv(b, "branch1x1", x, inputs, 64, 1)
    five = _conv(b, "branch5x5_1", x, inputs, 48, 1)
    five = _conv(b, "branch5x5_2", five, 48, 64, 5, 1, 2)
    double = _conv(b, "branch3x3dbl_1", x, inputs, 64, 1)
    double = _conv(b, "branch3x3dbl_2", double, 64, 96, 3, 1, 1)
    double = _conv(b, "branch3x3dbl_3", double, 96, 96, 3, 1, 1)
    return b.op("Concat", direct, five, double, _pooled(b, x, inputs, pooled), axis=1)


def _mixed_b(b: Builder, x: Value, inputs: int) -> Value:
    three = _conv(b, "branch3x3", x, inputs, 384, 3, 2)
    double = _conv(b, "branch3x3dbl_1", x, inputs, 64, 1)
    double = _conv(b, "branch3x3dbl_2", double, 64, 96, 3, 1, 1)
    double = _conv(b, "branch3x3dbl_3", double, 96, 96, 3, 2)
    return b.op("Concat", three, double, max_pool(b, x, 3, 2), axis=1)


def _mixed_c(b: Builder, x: Value, inputs: int, width: int) -> Value:
    direct = _conv(b, "branch1x1", x, inputs, 192, 1)
    seven = _conv(b, "branch7x7_1", x, inputs, width, 1)
    seven = _row(b, "branch7x7_2", seven, width, width, 7)
    seven = _column(b, "branch7x7_3", seven, width, 192, 7)
    double = _conv(b, "branch7x7dbl_1", x, inputs, width, 1)
    double = _column(b, "branch7x7dbl_2", double, width, width, 7)
    double = _row(b, "branch7x7dbl_3", double, width, width, 7)
    double = _column(b, "branch7x7dbl_4", double, width, width, 7)
    double = _row(b, "branch7x7dbl_5", double, width, 192, 7)
    return b.op("Concat", direct, seven, double, _pooled(b, x, inputs, 192), axis=1)


def _mixed_d(b: Builder, x: Value, inputs: int) -> Value:
    three = _conv(b, "branch3x3_1", x, inputs, 192, 1)
    three = _conv(b, "branch3x3_2", three, 192, 320, 3, 2)
    seven = _conv(b, "branch7x7x3_1", x, inputs, 192, 1)
    seven = _row(b, "branch7x7x3_2", seven, 192, 192, 7)
    seven = _column(b, "branch7x7x3_3", seven, 192, 192, 7)
    seven = _conv(b, "branch7x7x3_4", seven, 192, 192, 3, 2)
    return b.op("Concat", three, seven, max_pool(b, x, 3, 2), axis=1)


def _fork(b: Builder, name: str, x: Value) -> Value:
    return b.op("Concat", _row(b, f"{name}a", x, 384, 384, 3), _column(b, f"{name}b", x, 384, 384, 3), axis=1)


def _mixed_e(b: Builder, x: Value, inputs: int) -> Value:
    direct = _conv(b, "branch1x1", x, inputs, 320, 1)
    three = _fork(b, "branch3x3_2", _conv(b, "branch3x3_1", x, inputs, 384, 1))
    double = _conv(b, "branch3x3dbl_1", x, inputs, 448, 1)
    double = _fork(b, "branch3x3dbl_3", _conv(b, "branch3x3dbl_2", double, 448, 384, 3, 1, 1))
    return b.op("Concat", direct, three, double, _pooled(b, x, inputs, 192), axis=1)


def inception_v3(b: Builder) -> None:
    """Inception-v3."""
    x = b.input("input", ["batch", 3, 299, 299])
    x = _conv(b, "Conv2d_1a_3x3", x, 3, 32, 3, 2, gain=LINEAR)
    x = _conv(b, "Conv2d_2a_3x3", x, 32, 32, 3)
    x = _conv(b, "Conv2d_2b_3x3", x, 32, 64, 3, 1, 1)
    x = max_pool(b, x, 3, 2)
    x = _conv(b, "Conv2d_3b_1x1", x, 64, 80, 1)
    x = _conv(b, "Conv2d_4a_3x3", x, 80, 192, 3)
    x = max_pool(b, x, 3, 2)
    for name, inputs, pooled in (("Mixed_5b", 192, 32), ("Mixed_5c", 256, 64), ("Mixed_5d", 288, 64)):
        with b.scope(name):
            x = _mixed_a(b, x, inputs, pooled)
    with b.scope("Mixed_6a"):
        x = _mixed_b(b, x, 288)
    for name, width in (("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)):
        with b.scope(name):
            x = _mixed_c(b, x, 768, width)
    with b.scope("Mixed_7a"):
        x = _mixed_d(b, x, 768)
    for name, inputs in (("Mixed_7b", 1280), ("Mixed_7c", 2048)):
        with b.scope(name):
            x = _mixed_e(b, x, inputs)
    b.output("output", gemm(b, "fc", pool_to_vector(b, x), 2048, 1000), ["batch", 1000])
