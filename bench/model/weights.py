"""Seeded weights: the same seed and name give the same bits, whatever the platform and the version of NumPy."""
import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

# The sum of four uniform 16-bit numbers is a bell that integers compute exactly.
_BELL_MEAN = 4 * 65535 / 2
_BELL_STD = math.sqrt(4 * (65536**2 - 1) / 12)
_CHUNK = 1 << 18  # values at a time, so that a big parameter needs little more memory than its own


class Weights:
    """Draws the values of a model's parameters, each from a stream of its own, chosen by the parameter's name."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def bell(self, name: str, shape: Sequence[int], std: float, mean: float = 0.0) -> FloatArray:
        """Draws values of a bell curve that ends at 3.5 standard deviations."""
        integers = self._integers(name, math.prod(shape))
        values = np.empty(len(integers), np.float32)
        for start in range(0, len(integers), _CHUNK):
            part = slice(start, start + _CHUNK)
            values[part] = (integers[part] - _BELL_MEAN) * (std / _BELL_STD) + mean
        return values.reshape(shape)

    def centred(self, name: str, shape: Sequence[int], std: float) -> FloatArray:
        """Draws as `bell` does, and moves the mean of each row (index of the first axis) to zero.

        Activations behind a ReLU have a positive mean. Rows that sum to zero take it away, as trained normalisation
        does; else all inputs of a deep network give nearly the same output.
        """
        rows = self._integers(name, math.prod(shape)).reshape(shape[0], -1)
        values = np.empty(rows.shape, np.float32)
        for row, integers in zip(values, rows):
            row[:] = (integers - integers.sum(dtype=np.int64) / len(integers)) * (std / _BELL_STD)
        return values.reshape(shape)

    def _integers(self, name: str, count: int) -> NDArray[np.int32]:
        """Sums of four uniform 16-bit numbers."""
        digest = hashlib.sha256(f"{self._seed}/{name}".encode()).digest()
        stream = np.random.PCG64(int.from_bytes(digest[:16], "little"))
        values = np.empty(count, np.int32)
        for start in range(0, count, _CHUNK):
            words = stream.random_raw(min(_CHUNK, count - start))
            total = words & np.uint64(0xFFFF)
            for shift in (16, 32, 48):
                total += (words >> np.uint64(shift)) & np.uint64(0xFFFF)
            values[start:start + _CHUNK] = total
        return values
