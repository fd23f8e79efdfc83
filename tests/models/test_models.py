"""Holds the benchmark models to the published networks: sizes, values, forms of their graphs, and equal bytes."""
import functools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest

import write_models
from conftest import ROOT
from figures import count_multiply_adds, count_parameters
from networks import NETWORKS, Feeds, make_inputs, make_model
from published import NAMES, PUBLISHED, SMALL
from weights import Weights


@functools.cache
def _small_model(name: str) -> onnx.ModelProto:
    return make_model(name)


def model_of(name: str) -> onnx.ModelProto:
    """The model with seed 1; tests share the small ones and do not change them."""
    return make_model(name) if PUBLISHED[name].is_big else _small_model(name)


def run(model: onnx.ModelProto, feeds: Feeds) -> list[np.ndarray]:
    """The outputs that ONNX Runtime computes."""
    return list(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds))


def kinds(model: onnx.ModelProto) -> Counter[str]:
    """How many nodes there are of each operator."""
    return Counter(node.op_type for node in model.graph.node)


def test_every_network_has_published_figures() -> None:
    assert list(PUBLISHED) == list(NETWORKS)


@pytest.mark.parametrize("name", NAMES)
def test_model_is_valid_and_gives_sane_answers(name: str) -> None:
    model = model_of(name)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    one, other = (session.run(None, make_inputs(name, model, seed)) for seed in (1, 2))
    pair = session.run(None, make_inputs(name, model, batch=2, sequence=31))
    for output, first, second, both in zip(model.graph.output, one, other, pair):
        assert np.isfinite(first).all()
        assert 0.05 < first.std() < 50
        assert (first - second).std() > 0.02 * first.std(), "the input hardly matters"
        assert both.shape[0] == 2 and first.ndim == len(output.type.tensor_type.shape.dim)


@pytest.mark.parametrize("name", NAMES)
def test_model_has_the_published_size_and_work(name: str) -> None:
    model = model_of(name)
    assert count_parameters(model) == pytest.approx(PUBLISHED[name].parameters, rel=0.005)
    giga = count_multiply_adds(model, make_inputs(name, model)) / 1e9
    assert giga == pytest.approx(PUBLISHED[name].giga_multiply_adds, rel=0.01, abs=0.0005)


@pytest.mark.parametrize("name", NAMES)
def test_writing_twice_gives_equal_bytes(name: str, tmp_path: Path) -> None:
    first = write_models.write(name, tmp_path).read_bytes()
    assert first == write_models.write(name, tmp_path).read_bytes()


def test_another_process_writes_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    script = ROOT / "bench" / "model" / "write_models.py"
    contents: list[list[bytes]] = []
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        subprocess.run([sys.executable, script, "--out", tmp_path / folder, "--only", "llama_tiny", "squeezenet",
                        "--seed", seed], check=True, capture_output=True, env={"PYTHONHASHSEED": str(len(contents))})
        contents.append([(tmp_path / folder / f"{name}.onnx").read_bytes() for name in ("llama_tiny", "squeezenet")])
    assert contents[0] == contents[1]
    assert all(one != other for one, other in zip(contents[0], contents[2]))


def test_weights_do_not_depend_on_the_machine() -> None:
    """SHA-256 and the raw stream of PCG64 are fixed, and the rest is exact up to rounding in one order."""
    expected = [-0.5240606069564819, 0.2297208458185196, 0.5737735629081726]
    assert Weights(1).bell("a.weight", [3], 1.0).tolist() == expected
    assert abs(Weights(1).bell("b", [100_000], 2.0, 1.0).std() - 2.0) < 0.02
    assert abs(Weights(1).centred("b", [10, 1000], 0.5).sum(axis=1)).max() < 1e-3


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3", "densenet121", "shufflenet_v2"])
def test_folded_normalisations_change_no_answer(name: str) -> None:
    plain, folded = model_of(name), make_model(name, fold_batch_norm=True)
    feeds = make_inputs(name, plain)
    expected, found = run(plain, feeds)[0], run(folded, feeds)[0]
    np.testing.assert_allclose(found, expected, atol=2e-5 * abs(expected).max())
    assert kinds(plain)["BatchNormalization"] > kinds(folded)["BatchNormalization"]
    consumers = {value: node.op_type for node in folded.graph.node for value in node.input}
    assert all(consumers.get(node.output[0]) != "BatchNormalization" for node in folded.graph.node
               if node.op_type == "Conv")


@pytest.mark.parametrize("name", ["llama_tiny", pytest.param("gpt2", marks=pytest.mark.slow)])
def test_decoders_do_not_look_ahead(name: str) -> None:
    model = model_of(name)
    feeds = make_inputs(name, model, sequence=17)
    changed = {"input_ids": feeds["input_ids"].copy()}
    changed["input_ids"][:, 11] = (changed["input_ids"][:, 11] + 1) % NETWORKS[name].tokens
    first, second = run(model, feeds)[0], run(model, changed)[0]
    np.testing.assert_allclose(first[:, :11], second[:, :11], atol=1e-5 * abs(first).max())
    assert (abs(first[:, 11:] - second[:, 11:]).max(axis=-1) > 1e-3).all()


def test_a_masked_token_of_bert_changes_no_other() -> None:
    model = model_of("bert_tiny")
    feeds = make_inputs("bert_tiny", model)
    changed = {**feeds, "input_ids": feeds["input_ids"].copy()}
    changed["input_ids"][:, -1] = 7
    np.testing.assert_allclose(run(model, feeds)[0][:, :100], run(model, changed)[0][:, :100], atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_a_batch_is_computed_image_by_image(name: str) -> None:
    model = model_of(name)
    feeds = make_inputs(name, model, batch=3)
    whole = run(model, feeds)[0]
    single = run(model, {key: array[1:2] for key, array in feeds.items()})[0]
    np.testing.assert_allclose(whole[1:2], single, atol=1e-4 * abs(whole).max())


def test_graphs_have_the_forms_that_exporters_write() -> None:
    swin, bert, llama = (kinds(model_of(name)) for name in ("swin_tiny", "bert_tiny", "llama_tiny"))
    for scattered in (swin, bert):
        assert scattered["LayerNormalization"] == 0 and scattered["Erf"] > 0 and scattered["Pow"] > 0
    assert swin["Slice"] > 20 and swin["Pad"] == 12
    assert bert["Shape"] and bert["Concat"] and bert["Softmax"] == 2
    assert llama["Trilu"] and llama["Cos"] and llama["Expand"] and llama["Where"]
    assert kinds(model_of("shufflenet_v2"))["Split"] == 13
    assert kinds(model_of("mobilenet_v3"))["HardSwish"] > 0
    for name in SMALL:
        model = model_of(name)
        first = model.graph.input[0].type.tensor_type.shape.dim[0]
        assert first.dim_param == "batch", name
        assert model.opset_import[0].version == 17 and model.ir_version == 8


@pytest.mark.slow
def test_vision_transformers_of_opset_17_keep_the_layer_normalisation() -> None:
    for name in ("vit_b16", "convnext_tiny"):
        assert kinds(model_of(name))["LayerNormalization"] > 20


def test_the_readme_has_the_published_figures() -> None:
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in (ROOT / "bench/model/README.md").read_text().splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == list(PUBLISHED)
    for name, parameters, gflops in ((row[0].strip("`"), row[2], row[3]) for row in rows):
        assert float(parameters) == pytest.approx(PUBLISHED[name].parameters / 1e6, abs=0.005), name
        assert float(gflops) == pytest.approx(2 * PUBLISHED[name].giga_multiply_adds, rel=0.01, abs=0.001), name


def test_command_lists_and_writes_models_and_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_models.main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(NETWORKS)
    assert write_models.main(["--out", str(tmp_path / "new"), "--only", "bert_tiny", "--inputs"]) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "bert_tiny.attention_mask.npy", "bert_tiny.input_ids.npy", "bert_tiny.onnx", "bert_tiny.token_type_ids.npy"]


@pytest.mark.parametrize("arguments, message", [
    (["--out", "x", "--only", "alexnet"], "there is no model 'alexnet', only: resnet18, "),
    (["--only", "resnet18"], "--out DIR is missing"),
    (["--out", "x", "--seed", "-1"], "--seed is -1, but must be 0 or more"),
])
def test_bad_arguments_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        write_models.main(arguments)
    assert caught.value.code == 2 and message in capsys.readouterr().err


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("")
    assert write_models.main(["--out", str(tmp_path / "taken"), "--only", "llama_tiny"]) == 2
    assert "taken" in capsys.readouterr().err


def test_an_unknown_network_is_named() -> None:
    with pytest.raises(ValueError, match="there is no network 'alexnet', only: resnet18, "):
        make_model("alexnet")
