"""Several threads run one session, and Python goes on while a model runs."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from onnx import TensorProto, helper

import hone
from conftest import Build, dense_reference


def endless(build: Build, condition: str) -> bytes:
    """A Loop whose body says each time that it goes on, with a condition that is fed, or known when it is loaded."""
    infos = [helper.make_tensor_value_info(*info) for info in (("i", 7, []), ("c", 9, []), ("s", 1, []))]
    body_nodes = [helper.make_node("Identity", ["c"], ["again"]), helper.make_node("Neg", ["s"], ["t"])]
    outs = [helper.make_tensor_value_info(*info) for info in (("again", 9, []), ("t", 1, []))]
    body = helper.make_graph(body_nodes, "body", infos, outs)
    loop = helper.make_node("Loop", ["", condition, "start"], ["y"], body=body)
    weights = {"start": np.array(1, np.float32), "known": np.array(True)}
    return build([loop], [("fed", TensorProto.BOOL, [])], [("y", TensorProto.FLOAT, [])], weights)


@pytest.mark.parametrize("condition", ["fed", "known"])
def test_a_loop_that_never_ends_can_be_interrupted(build: Build, condition: str) -> None:
    def stop(*_: object) -> None:
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(TimeoutError, match="enough"):
            hone.InferenceSession(endless(build, condition)).run(None, {"fed": np.array(True)})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_that_share_a_session_get_their_own_answers(dense: bytes) -> None:
    session = hone.InferenceSession(dense)

    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            x = rng.standard_normal((int(rng.integers(1, 6)), 3)).astype(np.float32)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], dense_reference(x), rtol=1e-5, atol=1e-6)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(check, range(16)))


def test_other_python_threads_go_on_while_a_model_runs(build: Build) -> None:
    n = 1500
    model = build(
        [helper.make_node("MatMul", ["x", "x"], ["y"])],
        [("x", TensorProto.FLOAT, [n, n])],
        [("y", TensorProto.FLOAT, [n, n])],
    )
    session = hone.InferenceSession(model)
    x = np.ones((n, n), np.float32)
    session.run(None, {"x": x})
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    inside = 0
    for _ in range(20):
        start = time.perf_counter()
        session.run(None, {"x": x})
        end = time.perf_counter()
        inside += sum(start < moment < end for moment in ticks)
        ticks.clear()
    done.set()
    thread.join()
    assert inside > 0
