"""Runs a classifier: labels, and a probability for each class of each row."""
import numpy
import onnxruntime as rt
from onnxruntime.datasets import get_example

sess = rt.InferenceSession(get_example("logreg_iris.onnx"), providers=["CPUExecutionProvider"])
for node in sess.get_inputs() + sess.get_outputs():
    print(node.name, node.type, node.shape)

rows = numpy.array([[5.1, 3.5], [6.4, 2.8], [7.7, 3.8]], dtype=numpy.float32)
label_name, probability_name = (output.name for output in sess.get_outputs())
labels, probabilities = sess.run([label_name, probability_name], {sess.get_inputs()[0].name: rows})
print(labels.dtype, labels)
for row in probabilities:
    print({label: round(value, 3) for label, value in row.items()})
