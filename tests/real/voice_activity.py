"""Feeds of the Silero voice activity detectors, whose versions ship in many packages."""

from __future__ import annotations

import numpy as np

from catalogue import Feeds
from inputs import speech, utterances, zeros

RATE_16K, RATE_8K = np.array(16000, np.int64), np.array(8000, np.int64)


def silero_v5() -> list[Feeds]:
    """Two chunks of one stream, then two streams at once at the other sample rate."""
    sound = utterances(2, 2048)
    return [{"input": sound[:1, :576], "state": zeros(2, 1, 128), "sr": RATE_16K},
            {"input": sound[:1, 512:1088], "sr": RATE_16K},
            {"input": sound[:, :288], "state": zeros(2, 2, 128), "sr": RATE_8K}]


def silero_v4() -> list[Feeds]:
    sound = utterances(2, 4096)
    return [{"input": sound[:1, :1536], "h": zeros(2, 1, 64), "c": zeros(2, 1, 64), "sr": RATE_16K},
            {"input": sound[:1, 1536:2048], "sr": RATE_16K},
            {"input": sound[:, :256], "h": zeros(2, 2, 64), "c": zeros(2, 2, 64), "sr": RATE_8K}]


def silero_16k(sizes: tuple[int, ...], **inputs: np.ndarray) -> list[Feeds]:
    """Two chunks of one stream, then as many streams at once as `sizes` says."""
    sound = utterances(2, 2048)
    runs = [{"input": sound[:1, :576], "state": zeros(2, 1, 128)}, {"input": sound[:1, 512:1088]}]
    runs += [{"input": sound[:n, :576], "state": zeros(2, n, 128)} for n in sizes]
    return [run | inputs for run in runs]


def silero_sequence(context: int = 64) -> list[Feeds]:
    def chunks(count: int) -> np.ndarray:
        sound = np.pad(speech(512 * count), (context, 0))
        return np.stack([sound[512 * i:512 * i + 512 + context] for i in range(count)])

    return [{"input": chunks(n), "h": zeros(1, 1, 128), "c": zeros(1, 1, 128)} for n in (8, 31)]
