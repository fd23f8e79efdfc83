"""Runs a model in ONNX Runtime, with all its graph optimisations and open dimensions fixed ahead of time."""
import onnxruntime  # type: ignore[import-untyped]

from job import Job, Loaded

VERSION = onnxruntime.__version__


def load(job: Job) -> Loaded:
    """Opens a session that runs operators one after the other, each on the threads asked for; idle threads spin."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    for symbol, extent in job.extents.items():
        options.add_free_dimension_override_by_name(symbol, extent)
    session = onnxruntime.InferenceSession(job.model, options, providers=["CPUExecutionProvider"])
    return Loaded([output.name for output in session.get_outputs()], lambda: session.run(None, job.feeds))
