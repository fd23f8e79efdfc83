"""A small model to tune, the command that tunes it, and how often it is killed."""
import os
import secrets
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tuner import Hone

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --kills and --kill-seed."""
    parser.addoption("--kills", type=int, default=6, help="how often tuners and workers are killed")
    parser.addoption("--kill-seed", type=int, default=None, help="of the moments and victims; random if not given")


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How many kills are wanted."""
    return request.config.getoption("--kills")


@pytest.fixture
def kill_seed(request: pytest.FixtureRequest) -> int:
    """The seed of the kills."""
    given = request.config.getoption("--kill-seed")
    return secrets.randbelow(1_000_000) if given is None else given


def write_model(file: Path, channels: int = 16) -> None:
    """Writes a network with a convolution, a mean, a product and a softmax."""
    rng = np.random.default_rng(1)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w", "b"], ["d"]),
        helper.make_node("Softmax", ["d"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 13, 13])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [weights("k", channels, 3, 3, 3), weights("w", channels, 10), weights("b", 10)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


@pytest.fixture
def hone(tmp_path: Path) -> Hone:
    """The command, in a folder with a model and nothing else."""
    write_model(tmp_path / "model.onnx")
    return Hone(Path(os.environ.get("HONE_COMMAND", ROOT / "build/dev/bin/hone")), tmp_path)
