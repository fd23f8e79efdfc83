"""The layers that the networks share, as the nodes an exporter writes for them."""
import math
from collections.abc import Sequence

import numpy as np
from onnx import numpy_helper

from builder import Builder, Value
from weights import FloatArray

# Factors on the weights of a layer that keep the variance of what it computes, by what its input went through.
LINEAR = 1.0
RELU = math.sqrt(2.0)
GELU = 1.53
SILU = 1.68
HARD_SWISH = 1.70


def _pair(value: int | tuple[int, int]) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else value


class Conv:
    """The weights and attributes of a convolution without dilation."""

    def __init__(self, b: Builder, name: str, inputs: int, outputs: int, kernel: int | tuple[int, int], stride: int = 1,
                 padding: int | tuple[int, int] = 0, groups: int = 1, gain: float = RELU) -> None:
        kernel, padding = _pair(kernel), _pair(padding)
        shape = [outputs, inputs // groups, *kernel]
        fan_in = math.prod(shape[1:])
        with b.scope(name):
            self.name = b.path("weight")
            draw = b.weights.bell if groups == inputs else b.weights.centred
            self.weight: FloatArray = draw(self.name, shape, gain / math.sqrt(fan_in))
        self.attributes: dict[str, object] = {
            "dilations": [1, 1], "group": groups, "kernel_shape": list(kernel), "pads": [*padding, *padding],
            "strides": [stride, stride]}


def _write_conv(b: Builder, name: str, x: Value, layer: Conv, bias: FloatArray | None) -> Value:
    with b.scope(name):
        inputs = [x, b.parameter(layer.name, layer.weight)]
        if bias is not None:
            inputs.append(b.parameter(b.path("bias"), bias))
        return b.op("Conv", *inputs, **layer.attributes)


def conv(b: Builder, name: str, x: Value, inputs: int, outputs: int, kernel: int | tuple[int, int], stride: int = 1,
         padding: int | tuple[int, int] = 0, groups: int = 1, gain: float = RELU) -> Value:
    """A convolution with bias."""
    layer = Conv(b, name, inputs, outputs, kernel, stride, padding, groups, gain)
    return _write_conv(b, name, x, layer, b.weights.bell(f"{b.path(name)}.bias", [outputs], 0.1))


def plain_conv(b: Builder, name: str, x: Value, inputs: int, outputs: int, kernel: int, stride: int = 1,
               padding: int = 0) -> Value:
    """A convolution without bias whose input went through a ReLU."""
    return _write_conv(b, name, x, Conv(b, name, inputs, outputs, kernel, stride, padding), None)


def _norm_parameters(b: Builder, channels: int, scale: float) -> dict[str, FloatArray]:
    draw = b.weights.bell
    return {"weight": draw(b.path("weight"), [channels], 0.1 * scale, scale),
            "bias": draw(b.path("bias"), [channels], 0.1 * scale),
            "running_mean": draw(b.path("running_mean"), [channels], 0.1),
            "running_var": draw(b.path("running_var"), [channels], 0.1, 1.0)}


def batch_norm(b: Builder, name: str, x: Value, channels: int, epsilon: float = 1e-5, scale: float = 1.0) -> Value:
    """A batch normalisation with stored statistics; `scale` is the mean of its factors."""
    with b.scope(name):
        parameters = _norm_parameters(b, channels, scale)
        names = [b.parameter(b.path(part), array) for part, array in parameters.items()]
        return b.op("BatchNormalization", x, *names, epsilon=epsilon, momentum=0.9, training_mode=0)


def conv_norm(b: Builder, names: tuple[str, str], x: Value, inputs: int, outputs: int, kernel: int | tuple[int, int],
              stride: int = 1, padding: int | tuple[int, int] = 0, groups: int = 1, gain: float = RELU,
              epsilon: float = 1e-5, scale: float = 1.0) -> Value:
    """A convolution and its batch normalisation, in one node if the builder folds them."""
    layer = Conv(b, names[0], inputs, outputs, kernel, stride, padding, groups, gain)
    if not b.fold_batch_norm:
        return batch_norm(b, names[1], _write_conv(b, names[0], x, layer, None), outputs, epsilon, scale)
    with b.scope(names[1]):
        norm = _norm_parameters(b, outputs, scale)
    factor = norm["weight"] / np.sqrt(norm["running_var"] + np.float32(epsilon))
    layer.weight = layer.weight * factor[:, None, None, None]
    return _write_conv(b, names[0], x, layer, norm["bias"] - norm["running_mean"] * factor)


def max_pool(b: Builder, x: Value, kernel: int, stride: int, padding: int = 0, ceil_mode: int = 0) -> Value:
    """A maximum over square windows."""
    return b.op("MaxPool", x, ceil_mode=ceil_mode, dilations=[1, 1], kernel_shape=[kernel, kernel],
                pads=[padding] * 4, strides=[stride, stride])


def average_pool(b: Builder, x: Value, kernel: int, stride: int, padding: int = 0) -> Value:
    """A mean over square windows, the padding included."""
    return b.op("AveragePool", x, ceil_mode=0, count_include_pad=1, kernel_shape=[kernel, kernel], pads=[padding] * 4,
                strides=[stride, stride])


def pool_to_vector(b: Builder, x: Value) -> Value:
    """The mean of each channel, without the axes of height and width."""
    return b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)


def gemm(b: Builder, name: str, x: Value, inputs: int, outputs: int, gain: float = RELU) -> Value:
    """A linear layer of a matrix, its weight stored as [outputs, inputs]."""
    with b.scope(name):
        weight = b.weights.centred(b.path("weight"), [outputs, inputs], gain / math.sqrt(inputs))
        bias = b.weights.bell(b.path("bias"), [outputs], 0.1)
        return b.op("Gemm", x, b.parameter(b.path("weight"), weight), b.parameter(b.path("bias"), bias), alpha=1.0,
                    beta=1.0, transB=1)


def matmul_weight(b: Builder, inputs: int, outputs: int, gain: float, name: str = "weight") -> Value:
    """A linear layer's weight, stored transposed, as exporters do for inputs of more than two axes."""
    weight = b.weights.centred(b.path(name), [outputs, inputs], gain / math.sqrt(inputs))
    return b.parameter(b.path(f"{name}.T"), np.ascontiguousarray(weight.T))


def linear(b: Builder, name: str, x: Value, inputs: int, outputs: int, gain: float = LINEAR,
           bias: bool = True) -> Value:
    """A linear layer of a tensor with three or more axes: a MatMul, and an Add for the bias."""
    with b.scope(name):
        product = b.op("MatMul", x, matmul_weight(b, inputs, outputs, gain))
        if not bias:
            return product
        return b.op("Add", b.parameter(b.path("bias"), b.weights.bell(b.path("bias"), [outputs], 0.05)), product)


def _affine_parameters(b: Builder, size: int) -> list[Value]:
    return [b.parameter(b.path("weight"), b.weights.bell(b.path("weight"), [size], 0.1, 1.0)),
            b.parameter(b.path("bias"), b.weights.bell(b.path("bias"), [size], 0.1))]


def layer_norm(b: Builder, name: str, x: Value, size: int, epsilon: float) -> Value:
    """A layer normalisation of the last axis, as the operator of opset 17."""
    with b.scope(name):
        return b.op("LayerNormalization", x, *_affine_parameters(b, size), axis=-1, epsilon=epsilon)


def scattered_layer_norm(b: Builder, name: str, x: Value, size: int, epsilon: float) -> Value:
    """A layer normalisation of the last axis, as the nine nodes written before opset 17."""
    with b.scope(name):
        weight, bias = _affine_parameters(b, size)
        centred = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1]))
        variance = b.op("ReduceMean", b.op("Pow", centred, b.scalar(2.0)), axes=[-1])
        normal = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.scalar(epsilon))))
        return b.op("Add", b.op("Mul", normal, weight), bias)


def gelu(b: Builder, x: Value) -> Value:
    """The exact Gelu, as five nodes around an Erf."""
    erf = b.op("Erf", b.op("Div", x, b.scalar(math.sqrt(2.0))))
    return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.scalar(1.0))), b.scalar(0.5))


def silu(b: Builder, x: Value) -> Value:
    """x · sigmoid(x)."""
    return b.op("Mul", x, b.op("Sigmoid", x))


def size_of(b: Builder, x: Value, axis: int) -> Value:
    """One size of a tensor, read when the model runs."""
    return b.op("Gather", b.op("Shape", x), b.index(axis), axis=0)


def shape_of(b: Builder, dims: Sequence[int | Value]) -> Value:
    """A shape made of numbers and of sizes without axes: a Concat of lists of one, unless all are numbers."""
    if all(isinstance(dim, int) for dim in dims):
        return b.ints(*[int(dim) for dim in dims])
    parts = [b.ints(dim) if isinstance(dim, int) else b.op("Unsqueeze", dim, b.ints(0)) for dim in dims]
    return b.op("Concat", *parts, axis=0)


def reshape(b: Builder, x: Value, *dims: int | Value) -> Value:
    """Gives a tensor another shape, made as `shape_of` does."""
    return b.op("Reshape", x, shape_of(b, dims), allowzero=0)


def expand(b: Builder, x: Value, *dims: int | Value) -> Value:
    """Repeats along axes of size one; -1 keeps a size, for which exporters write Equal and Where."""
    shape = shape_of(b, dims)
    ones = b.op("ConstantOfShape", b.ints(len(dims)), value=numpy_helper.from_array(np.array([1], np.int64)))
    kept = b.op("Equal", shape, b.op("Mul", ones, b.ints(-1)))
    return b.op("Expand", x, b.op("Where", kept, ones, shape))


def slice_axis(b: Builder, x: Value, axis: int, start: int, end: int, step: int = 1) -> Value:
    """A range of one axis."""
    return b.op("Slice", x, b.ints(start), b.ints(end), b.ints(axis), b.ints(step))


def transpose(b: Builder, x: Value, *order: int) -> Value:
    """Reorders the axes."""
    return b.op("Transpose", x, perm=list(order))
