"""The table of all benchmark networks."""
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray

from builder import Builder
from networks import (bert, convnext, densenet, efficientnet, gpt2, inception, llama, mobilenet, resnet, shufflenet,
                      squeezenet, swin, vgg, vit)

Feeds = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Network:
    """A network: what writes its graph, and how many tokens it knows (0 if it reads images)."""

    write: Callable[[Builder], None]
    tokens: int = 0

    @property
    def description(self) -> str:
        """One line about the network."""
        return (self.write.__doc__ or "").rstrip(".")


NETWORKS = {
    "resnet18": Network(resnet.resnet18),
    "resnet50": Network(resnet.resnet50),
    "resnext50": Network(resnet.resnext50),
    "vgg16": Network(vgg.vgg16),
    "mobilenet_v2": Network(mobilenet.mobilenet_v2),
    "mobilenet_v3": Network(mobilenet.mobilenet_v3),
    "efficientnet_b0": Network(efficientnet.efficientnet_b0),
    "squeezenet": Network(squeezenet.squeezenet),
    "shufflenet_v2": Network(shufflenet.shufflenet_v2),
    "inception_v3": Network(inception.inception_v3),
    "densenet121": Network(densenet.densenet121),
    "convnext_tiny": Network(convnext.convnext_tiny),
    "vit_b16": Network(vit.vit_b16),
    "swin_tiny": Network(swin.swin_tiny),
    "bert_base": Network(bert.bert_base, bert.BASE.vocabulary),
    "bert_tiny": Network(bert.bert_tiny, bert.TINY.vocabulary),
    "gpt2": Network(gpt2.gpt2, gpt2.VOCABULARY),
    "llama_135m": Network(llama.llama_135m, llama.SMOL.vocabulary),
    "llama_tiny": Network(llama.llama_tiny, llama.TINY.vocabulary),
}


def make_model(name: str, seed: int = 1, fold_batch_norm: bool = False) -> onnx.ModelProto:
    """Builds a network of the table with seeded weights."""
    if name not in NETWORKS:
        raise ValueError(f"there is no network '{name}', only: {', '.join(NETWORKS)}")
    builder = Builder(name, seed, fold_batch_norm)
    NETWORKS[name].write(builder)
    return builder.finish()


def make_inputs(name: str, model: onnx.ModelProto, seed: int = 1, batch: int = 1, sequence: int = 128) -> Feeds:
    """Seeded inputs of a model: images of patches and noise, known tokens, and a mask that hides the last eighth."""
    rng = np.random.default_rng(seed)
    feeds: Feeds = {}
    for value in model.graph.input:
        sizes = {"batch": batch, "sequence": sequence}
        shape = [sizes.get(dim.dim_param, dim.dim_value) for dim in value.type.tensor_type.shape.dim]
        if value.name == "attention_mask":
            feeds[value.name] = np.broadcast_to(np.arange(shape[1]) < shape[1] - shape[1] // 8, shape).astype(np.int64)
        elif value.name == "token_type_ids":
            feeds[value.name] = np.broadcast_to(np.arange(shape[1]) >= shape[1] // 2, shape).astype(np.int64)
        elif value.name == "input_ids":
            feeds[value.name] = rng.integers(0, NETWORKS[name].tokens, shape)
        else:
            feeds[value.name] = _image(rng, shape)
    return feeds


def _image(rng: np.random.Generator, shape: list[int]) -> NDArray[np.float32]:
    """Patches with noise on them: of pure noise, all images look alike behind the last pool."""
    rows, columns = (np.arange(size) * 8 // size for size in shape[2:])
    patches = rng.standard_normal([*shape[:2], 8, 8], np.float32)[:, :, rows][:, :, :, columns]
    return patches + np.float32(0.5) * rng.standard_normal(shape, np.float32)
