"""SqueezeNet (Iandola et al. 2016)."""
from builder import Builder, Value
from layers import LINEAR, conv, max_pool, pool_to_vector


def _fire(b: Builder, x: Value, inputs: int, squeeze: int, expand: int) -> Value:
    x = b.op("Relu", conv(b, "squeeze", x, inputs, squeeze, 1))
    narrow = b.op("Relu", conv(b, "expand1x1", x, squeeze, expand, 1))
    wide = b.op("Relu", conv(b, "expand3x3", x, squeeze, expand, 3, 1, 1))
    return b.op("Concat", narrow, wide, axis=1)


def squeezenet(b: Builder) -> None:
    """SqueezeNet 1.1."""
    x = b.input("input", ["batch", 3, 224, 224])
    with b.scope("features"):
        x = b.op("Relu", conv(b, "0", x, 3, 64, 3, 2, gain=LINEAR))
        x, inputs = max_pool(b, x, 3, 2, ceil_mode=1), 64
        fires = {3: (16, 64), 4: (16, 64), 6: (32, 128), 7: (32, 128), 9: (48, 192), 10: (48, 192), 11: (64, 256),
                 12: (64, 256)}
        for index, (squeeze, expand) in fires.items():
            if index in (6, 9):
                x = max_pool(b, x, 3, 2, ceil_mode=1)
            with b.scope(str(index)):
                x = _fire(b, x, inputs, squeeze, expand)
            inputs = 2 * expand
    with b.scope("classifier"):
        x = b.op("Relu", conv(b, "1", x, inputs, 1000, 1))
    b.output("output", pool_to_vector(b, x), ["batch", 1000])
