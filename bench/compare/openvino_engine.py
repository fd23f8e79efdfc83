"""Runs a model in OpenVINO's CPU plugin for latency, in single precision, with shapes fixed ahead of time."""
import numpy as np
import openvino

from job import Job, Loaded

VERSION = openvino.__version__.split("-")[0]  # what follows names the build


def load(job: Job) -> Loaded:
    """Compiles the model for the shapes of the inputs. Refuses if the plugin would compute in less than f32."""
    core = openvino.Core()
    model = core.read_model(job.model)
    model.reshape({name: list(array.shape) for name, array in job.feeds.items()})
    compiled = core.compile_model(model, "CPU", {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": job.threads,
        "INFERENCE_PRECISION_HINT": "f32",  # the default is bf16 on CPUs that have AMX
    })
    precision = compiled.get_property("INFERENCE_PRECISION_HINT")
    if precision != openvino.Type.f32:
        raise RuntimeError(f"OpenVINO computes in {precision} although f32 was asked for")
    request = compiled.create_infer_request()

    def run() -> list[np.ndarray]:
        results = request.infer(job.feeds, share_inputs=True, share_outputs=True)
        return [results[index] for index in range(len(compiled.outputs))]

    return Loaded([output.get_any_name() for output in compiled.outputs], run)
