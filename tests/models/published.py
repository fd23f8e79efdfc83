"""What is published of the benchmark networks: their parameters and multiply-adds."""
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Published:
    """The figures of one network for one image, or for 128 tokens."""

    parameters: int
    giga_multiply_adds: float
    is_big: bool = False  # too big for a quick test


def transformer(layers: int, width: int, layer_weights: int, outputs: int = 0, tokens: int = 128) -> float:
    """Giga multiply-adds of a transformer: its weights once a token, scores and their use, and the language head."""
    return (layers * (layer_weights * tokens + 2 * tokens * tokens * width) + tokens * width * outputs) / 1e9


# Images: the weights' entries in torchvision (`num_params`, `_ops`), and Inception without its auxiliary classifier.
# Text: the parameters are those of the published checkpoints, tables shared with the language head counted once.
PUBLISHED = {
    "resnet18": Published(11_689_512, 1.814),
    "resnet50": Published(25_557_032, 4.089, is_big=True),
    "resnext50": Published(25_028_904, 4.230, is_big=True),
    "vgg16": Published(138_357_544, 15.470, is_big=True),
    "mobilenet_v2": Published(3_504_872, 0.301),
    "mobilenet_v3": Published(5_483_032, 0.217),
    "efficientnet_b0": Published(5_288_548, 0.386),
    "squeezenet": Published(1_235_496, 0.349),
    "shufflenet_v2": Published(2_278_604, 0.145),
    "inception_v3": Published(23_834_568, 5.713, is_big=True),
    "densenet121": Published(7_978_856, 2.834),
    "convnext_tiny": Published(28_589_128, 4.456, is_big=True),
    "vit_b16": Published(86_567_656, 17.564, is_big=True),
    "swin_tiny": Published(28_288_354, 4.491),
    "bert_base": Published(109_482_240, 22.5 / 2, is_big=True),
    "bert_tiny": Published(4_385_920, transformer(2, 128, 12 * 128**2)),
    "gpt2": Published(124_439_808, transformer(12, 768, 12 * 768**2, 50257), is_big=True),
    "llama_135m": Published(134_515_008, transformer(30, 576, 576 * (2 * 576 + 2 * 192 + 3 * 1536), 49152),
                            is_big=True),
    "llama_tiny": Published(260_032, transformer(5, 64, 64 * (2 * 64 + 2 * 32 + 3 * 172), 512)),
}

SMALL = [name for name, figures in PUBLISHED.items() if not figures.is_big]
NAMES = [pytest.param(name, marks=pytest.mark.slow) if figures.is_big else name for name, figures in PUBLISHED.items()]
