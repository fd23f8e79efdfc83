"""Makes inputs that trained models meet in use: rendered text, pictures, speech, music, bytes and character codes.

Everything is computed from fixed seeds, so that every run and every machine sees the same inputs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import engine
import fetch

Array = np.ndarray
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
SENTENCE = "The quick brown fox jumps over 13 lazy dogs, and nobody minds: 2,718.28 times in a row."


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- Images -----------------------------------------------------------------------------------------------------------


def text_line(height: int, width: int, text: str = SENTENCE) -> Image.Image:
    """One line of dark text on light paper that fills the height."""
    image = Image.new("RGB", (width, height), (246, 244, 238))
    font = ImageFont.load_default(size=int(height * 0.62))
    ImageDraw.Draw(image).text((height * 0.15, height * 0.12), text, fill=(24, 24, 40), font=font)
    return grain(image, 3.0)


def page(height: int, width: int) -> Image.Image:
    """A page with a title, paragraphs and a small table."""
    image = Image.new("RGB", (width, height), (250, 249, 245))
    draw = ImageDraw.Draw(image)
    size = max(10, height // 28)
    title = ImageFont.load_default(size * 1.6)
    draw.text((width * 0.08, size * 0.8), "Results of the trial", fill=(10, 10, 10), font=title)
    words = SENTENCE.split()
    font = ImageFont.load_default(size)
    for line, y in enumerate(range(4 * size, int(height * 0.62), int(size * 1.5))):
        text = " ".join(words[(line + i) % len(words)] for i in range(max(2, width // (4 * size))))
        draw.text((width * 0.08, y), text, fill=(30, 30, 30), font=font)
    grid(draw, (int(width * 0.08), int(height * 0.68), int(width * 0.92), int(height * 0.95)), 4, 3, size)
    return grain(image, 2.0)


def table(height: int, width: int) -> Image.Image:
    """A ruled table with numbers in its cells."""
    image = Image.new("RGB", (width, height), (255, 255, 255))
    grid(ImageDraw.Draw(image), (8, 8, width - 8, height - 8), 6, 4, max(9, height // 24))
    return grain(image, 2.0)


def grid(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], rows: int, columns: int, size: int) -> None:
    left, top, right, bottom = box
    font = ImageFont.load_default(size)
    for row in range(rows + 1):
        y = top + (bottom - top) * row // rows
        draw.line((left, y, right, y), fill=(0, 0, 0), width=2)
    for column in range(columns + 1):
        x = left + (right - left) * column // columns
        draw.line((x, top, x, bottom), fill=(0, 0, 0), width=2)
    for row in range(rows):
        for column in range(columns):
            at = (left + (right - left) * column // columns + 6, top + (bottom - top) * row // rows + 4)
            draw.text(at, str(17 * row + 3 * column), fill=(20, 20, 20), font=font)


def captcha(height: int, width: int, text: str = "k7Xe9") -> Image.Image:
    """Characters, tilted and in colours, with lines and specks."""
    image = Image.new("RGB", (width, height), (225, 232, 240))
    draw = ImageDraw.Draw(image)
    random = rng(5)
    for index, letter in enumerate(text):
        tile = Image.new("L", (height, height), 0)
        ImageDraw.Draw(tile).text((height * 0.2, 0), letter, fill=255, font=ImageFont.load_default(height * 0.75))
        tile = tile.rotate(float(random.uniform(-12, 12)))
        colour = tuple(int(c) for c in random.integers(0, 140, 3))
        image.paste(colour, (int(width * (index + 0.1) / len(text) - height * 0.1), 0), tile)
    for _ in range(2):
        ends = [(int(random.integers(width)), int(random.integers(height))) for _ in range(2)]
        draw.line(ends, fill=tuple(int(c) for c in random.integers(0, 200, 3)), width=1)
    return grain(image, 3.0)


def photo(height: int, width: int) -> Image.Image:
    """A scene with sky, ground and a person's head and shoulders, drawn with soft edges and noise."""
    y, x = np.mgrid[0:height, 0:width]
    v, u = (y / height)[..., None], (x / width)[..., None]
    scene = np.where(v < 0.6, [120.0, 170.0, 230.0] + 60 * v, [90.0, 140.0, 70.0] - 60 * (v - 0.6))

    def blob(cx: float, cy: float, rx: float, ry: float, colour: Sequence[float]) -> None:
        nonlocal scene
        inside = 1 / (1 + np.exp(np.minimum(12 * (((u - cx) / rx) ** 2 + ((v - cy) / ry) ** 2 - 1), 80)))
        scene = scene * (1 - inside) + np.asarray(colour) * inside

    blob(0.5, 1.0, 0.34, 0.36, (60, 60, 110))        # shoulders
    blob(0.5, 0.42, 0.17, 0.24, (70, 45, 30))        # hair
    blob(0.5, 0.46, 0.14, 0.20, (224, 178, 150))     # face
    for eye in (0.445, 0.555):
        blob(eye, 0.42, 0.026, 0.016, (250, 250, 250))
        blob(eye, 0.42, 0.011, 0.014, (40, 30, 25))
        blob(eye, 0.385, 0.032, 0.008, (70, 45, 30))
    blob(0.5, 0.49, 0.018, 0.035, (200, 150, 125))   # nose
    blob(0.5, 0.565, 0.05, 0.013, (170, 80, 80))     # mouth
    return grain(Image.fromarray(scene.clip(0, 255).astype(np.uint8)), 4.0)


def grain(image: Image.Image, strength: float) -> Image.Image:
    """Adds the noise of a camera or scanner."""
    pixels = np.asarray(image, np.float32)
    noise = rng(pixels.size).normal(0, strength, pixels.shape)
    return Image.fromarray((pixels + noise).clip(0, 255).astype(np.uint8))


def stack(images: Sequence[Image.Image], mode: str) -> Array:
    """Stacks images, elements 0…255, the n-th rolled by 5 n pixels so that no two of a batch are equal."""
    return np.stack([np.roll(np.asarray(image.convert(mode), np.float32), 5 * n, 1) for n, image in enumerate(images)])


def nhwc(images: Sequence[Image.Image], scale: float = 1.0, bgr: bool = False) -> Array:
    """Stacks images to [N, H, W, 3], elements 0…255 times `scale`."""
    pixels = stack(images, "RGB") * np.float32(scale)
    return np.ascontiguousarray(pixels[..., ::-1] if bgr else pixels)


def nchw(images: Sequence[Image.Image], norm: tuple[Sequence[float], Sequence[float]] = ((0,) * 3, (1,) * 3),
         scale: float = 1 / 255, bgr: bool = False) -> Array:
    """Stacks images to [N, 3, H, W], scaled, then freed of a mean and divided by a deviation per channel."""
    mean, deviation = (np.asarray(v, np.float32) for v in norm)
    return np.ascontiguousarray(((nhwc(images, scale, bgr) - mean) / deviation).transpose(0, 3, 1, 2))


def gray(images: Sequence[Image.Image], mean: float = 0.0, deviation: float = 1.0) -> Array:
    """Stacks images to [N, 1, H, W] of grey levels 0…1, freed of a mean and divided by a deviation."""
    pixels = stack(images, "L")[:, None] / np.float32(255)
    return (pixels - np.float32(mean)) / np.float32(deviation)


# --- Sound ------------------------------------------------------------------------------------------------------------


@functools.cache
def speech(samples: int, rate: int = 16000, seed: int = 1) -> Array:
    """Speech-like sound of amplitude 0.5: vowels with three formants, hisses, pauses, four syllables a second."""
    random = rng(seed)
    t = np.arange(samples) / rate
    pitch = 118 + 22 * np.sin(2 * np.pi * 0.7 * t) + 6 * np.sin(2 * np.pi * 2.3 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    vowels = np.array([(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410)])
    syllable = (t * 4).astype(int)
    formants = vowels[random.integers(len(vowels), size=syllable.max(initial=0) + 1)][syllable]
    voice = np.zeros(samples)
    for harmonic in range(1, int(min(rate / 2, 4000) / 150) + 1):
        frequency = harmonic * pitch
        gain = sum(np.exp(-(((frequency - formants[:, k]) / (90 + 60 * k)) ** 2)) / (k + 1) for k in range(3))
        voice += (gain + 0.02) / harmonic ** 0.5 * np.sin(harmonic * phase)
    envelope = np.clip(np.sin(np.pi * (t * 4 % 1)), 0, 1) ** 0.7 * (syllable % 7 != 6)
    hiss = np.diff(random.normal(0, 0.3, samples + 1)) * ((t * 4 % 1) < 0.15)
    sound = envelope * voice + hiss + random.normal(0, 0.004, samples)
    return (0.5 * sound / max(np.abs(sound).max(initial=0), 1e-9)).astype(np.float32)


def utterances(batch: int, samples: int, rate: int = 16000) -> Array:
    """Different utterances, [batch, samples]."""
    return np.stack([speech(samples, rate, seed) for seed in range(1, batch + 1)])


def music(samples: int, rate: int) -> Array:
    """A few plucked notes and chords in a room that is not silent."""
    t = np.arange(samples) / rate
    sound = np.zeros(samples)
    for start, midi in ((0.0, 60), (0.3, 64), (0.6, 67), (0.9, 72), (0.9, 76), (1.3, 55)):
        note = np.where(t >= start, np.exp(-3 * np.maximum(t - start, 0)), 0)
        frequency = 440 * 2 ** ((midi - 69) / 12)
        sound += note * sum(np.sin(2 * np.pi * k * frequency * t) / k ** 1.5 for k in range(1, 6))
    room = rng(4).normal(0, 0.01, samples)  # else whole bands hold nothing but rounding errors, whose logarithm shows
    return (0.4 * sound / np.abs(sound).max() + room).astype(np.float32)


def spectra(signal: Array, window: int, hop: int, size: int | None = None) -> Array:
    """The power spectra of a signal, [frames, size // 2 + 1]."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, window)[::hop]
    return np.abs(np.fft.rfft(frames * np.hanning(window), size or window)) ** 2


def mel_power(power: Array, rate: int, bands: int) -> Array:
    """Sums power spectra over mel bands, triangles of area 1."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1)
    frequencies = np.linspace(0, rate / 2, power.shape[1])
    rise = (frequencies[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    fall = (edges[2:] - frequencies[:, None]) / np.diff(edges)[1:]
    return power @ (np.clip(np.minimum(rise, fall), 0, None) * 2 / (edges[2:] - edges[:-2]))


def log_mel(signal: Array, rate: int, window: int, hop: int, bands: int) -> Array:
    """Logarithmic energies of mel bands, [frames, bands], freed of their mean and divided by their deviation."""
    energies = np.log(mel_power(spectra(signal, window, hop), rate, bands) + 1e-6)
    return ((energies - energies.mean()) / energies.std()).astype(np.float32)


def whisper_mel(signal: Array, bands: int = 80) -> Array:
    """The features that Whisper computes from sound at 16 kHz, [bands, samples / 160]."""
    loud = np.pad((signal - signal.mean()) / signal.std(), 200, mode="reflect")
    energies = np.log10(np.maximum(mel_power(spectra(loud, 400, 160)[:-1], 16000, bands), 1e-10))
    return ((np.maximum(energies, energies.max() - 8) + 4) / 4).T.astype(np.float32)


# --- Text and others --------------------------------------------------------------------------------------------------


def codes(batch: int, length: int, low: int, high: int, seed: int = 7) -> Array:
    """Codes of characters in [low, high), int64[batch, length]: few are frequent, as in a text."""
    ranks = rng(seed).zipf(1.3, (batch, length)) - 1
    return (low + ranks % (high - low)).astype(np.int64)


def one_hot(indices: Array, depth: int) -> Array:
    return np.eye(depth, dtype=np.float32)[indices]


def file_bytes(content: bytes, begin: int = 1024, end: int = 1024, padding: int = 256) -> Array:
    """The first and the last bytes of a file, as file type detectors see them, int32[begin + end]."""
    text = content.strip()
    result = np.full(begin + end, padding, np.int32)
    head, tail = text[:begin], text[-end:]
    result[:len(head)] = list(head)
    result[begin + end - len(tail):] = list(tail)
    return result


def normal(*shape: int, seed: int = 3, scale: float = 1.0) -> Array:
    """Normally distributed features."""
    return (rng(seed).normal(0, scale, shape)).astype(np.float32)


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def after(package: str, version: str, file: str, feeds: dict[str, Array]) -> list[Array]:
    """The outputs of another model of a package, which are the inputs of the model after it."""
    session = engine.open_session(engine.REFERENCE, str(fetch.model_path(package, version, file)))
    return session.run(None, feeds)
