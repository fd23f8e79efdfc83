"""Runs a model in hone."""
import hone

from job import Job, Loaded

VERSION = hone.__version__


def load(job: Job) -> Loaded:
    """Opens a session with the threads asked for."""
    options = hone.SessionOptions()
    options.intra_op_num_threads = job.threads
    session = hone.InferenceSession(job.model, options)
    return Loaded([output.name for output in session.get_outputs()], lambda: session.run(None, job.feeds))
