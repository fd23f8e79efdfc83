"""Loads a model that comes with onnxruntime, asks for its inputs and outputs, and runs it."""
import numpy
import onnxruntime as rt
from onnxruntime.datasets import get_example

sess = rt.InferenceSession(get_example("sigmoid.onnx"), providers=rt.get_available_providers())

input_name = sess.get_inputs()[0].name
input_shape = sess.get_inputs()[0].shape
input_type = sess.get_inputs()[0].type
print("input", input_name, input_shape, input_type)

output_name = sess.get_outputs()[0].name
output_shape = sess.get_outputs()[0].shape
output_type = sess.get_outputs()[0].type
print("output", output_name, output_shape, output_type)

x = numpy.linspace(-2, 2, numpy.prod(input_shape)).reshape(input_shape).astype(numpy.float32)
res = sess.run([output_name], {input_name: x})
print(type(res), len(res), res[0].dtype, res[0].shape)
print(numpy.round(res[0], 4))
