"""What goes wrong most often: each is an exception with a message."""
import numpy
import onnxruntime as rt
from onnxruntime.datasets import get_example

sess = rt.InferenceSession(get_example("logreg_iris.onnx"), providers=["CPUExecutionProvider"])
input_name = sess.get_inputs()[0].name
output_name = sess.get_outputs()[0].name
good = numpy.array([[1.0, 2.0]], dtype=numpy.float32)

attempts = {
    "a type that does not fit": ([output_name], {input_name: good.astype(numpy.float64)}),
    "an output that is not there": (["misspelled"], {input_name: good}),
    "an input that is not there": ([output_name], {"misspelled": good}),
    "a rank that does not fit": ([output_name], {input_name: good.reshape(1, 2, 1)}),
    "everything right": ([output_name], {input_name: good}),
}
for what, (names, feeds) in attempts.items():
    try:
        print(what, sess.run(names, feeds))
    except Exception as error:
        print(what, "is refused:", len(str(error)) > 0)
try:
    rt.InferenceSession("no_such_file.onnx", providers=["CPUExecutionProvider"])
except Exception as error:
    print("a missing file is refused:", "no_such_file.onnx" in str(error))
