"""Puts the seeded weights into the networks of torchvision and transformers, which must give the same answers.

Skipped where these packages are not installed; nothing else here needs them.
"""
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from onnx import numpy_helper

from networks import bert, llama, make_inputs, make_model
from published import NAMES

torch = pytest.importorskip("torch")
vision = pytest.importorskip("torchvision.models")
transformers = pytest.importorskip("transformers")


def bert_of(sizes: bert.Bert) -> Any:
    """The BERT of transformers with these sizes."""
    return transformers.BertModel(transformers.BertConfig(
        hidden_size=sizes.width, num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads,
        intermediate_size=4 * sizes.width, vocab_size=sizes.vocabulary))


def llama_of(sizes: llama.Llama) -> Any:
    """The Llama of transformers with these sizes."""
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=sizes.width, intermediate_size=sizes.hidden, num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads, num_key_value_heads=sizes.groups, vocab_size=sizes.vocabulary,
        rms_norm_eps=1e-5, tie_word_embeddings=True))


ORIGINALS: dict[str, Callable[[], Any]] = {
    "resnext50": lambda: vision.resnext50_32x4d(),
    "mobilenet_v3": lambda: vision.mobilenet_v3_large(),
    "squeezenet": lambda: vision.squeezenet1_1(),
    "shufflenet_v2": lambda: vision.shufflenet_v2_x1_0(),
    "inception_v3": lambda: vision.inception_v3(aux_logits=False, init_weights=False),
    "vit_b16": lambda: vision.vit_b_16(),
    "swin_tiny": lambda: vision.swin_t(),
    "bert_base": lambda: bert_of(bert.BASE),
    "bert_tiny": lambda: bert_of(bert.TINY),
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
    "llama_135m": lambda: llama_of(llama.SMOL),
    "llama_tiny": lambda: llama_of(llama.TINY),
}
# What one side stores and the other computes or shares.
OURS_ALONE = ("attn_mask", "causal_mask", "inv_freq")
THEIRS_ALONE = ("num_batches_tracked", "lm_head.weight", "position_ids")


@pytest.mark.parametrize("name", NAMES)
def test_torch_computes_the_same(name: str) -> None:
    model = make_model(name)
    original = ORIGINALS.get(name, lambda: getattr(vision, name)())().eval()
    state = {}
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        stored = array.T if tensor.name.endswith(".T") else array
        if not tensor.name.endswith(OURS_ALONE):
            state[tensor.name.removesuffix(".T")] = torch.from_numpy(stored.copy())
    report = original.load_state_dict(state, strict=False)
    assert not report.unexpected_keys
    assert not [key for key in report.missing_keys if not key.endswith(THEIRS_ALONE)]

    feeds = make_inputs(name, model, batch=2, sequence=50)
    arguments = {key: torch.from_numpy(array) for key, array in feeds.items()}
    with torch.no_grad():
        answer = original(arguments["input"]) if "input" in arguments else original(**arguments).to_tuple()
    expected = [answer] if torch.is_tensor(answer) else answer[:len(model.graph.output)]
    found = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=2e-5 * abs(ours).max())
