"""Sets options, and reads what a model says about itself."""

import numpy as np
import onnxruntime
from onnxruntime.datasets import get_example

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
options.intra_op_num_threads = 1
options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
session = onnxruntime.InferenceSession(
    get_example("mul_1.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
)

meta = session.get_modelmeta()
print("custom_metadata_map =", meta.custom_metadata_map)
print("graph_name =", meta.graph_name)
print("providers =", session.get_providers())

feeds = {session.get_inputs()[0].name: np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)}
print(session.run(None, feeds))
print(session.run(None, feeds, onnxruntime.RunOptions())[0].tolist())
