"""Files in the manner of tf2onnx, Keras, old zoos, converters to float16 and detectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


@stranger
def keras_mobile_block(folder: Path) -> StrangerFile:
    """tf2onnx: channels last outside, Transposes around, SAME_UPPER, a depthwise kernel, BatchNormalization, ReLU6."""
    f = FileOf(15, "tf2onnx 1.16.1", style="StatefulPartitionedCall/model/{kind}_{n}:0")
    x = f.node("Transpose", ["input_1"], perm=[0, 3, 1, 2])
    x = f.node(
        "Conv", [x, f.weight(f.floats(8, 3, 3, 3, scale=0.2))], auto_pad="SAME_UPPER", strides=[2, 2], dilations=[1, 1], group=1
    )

    def norm(x: str) -> str:
        parts = [
            f.weight(np.abs(f.floats(8)) + F(0.5)),
            f.weight(f.floats(8)),
            f.weight(f.floats(8)),
            f.weight(np.abs(f.floats(8)) + 1),
        ]
        y = f.node("BatchNormalization", [x, *parts], epsilon=1e-3)
        return f.node("Clip", [y, f.weight(np.array(0, F)), f.weight(np.array(6, F))])

    x = norm(x)
    w = f.weight(f.floats(8, 1, 3, 3, scale=0.3))
    x = norm(f.node("Conv", [x, w], auto_pad="SAME_UPPER", group=8, strides=[1, 1], dilations=[1, 1]))
    x = norm(f.node("Conv", [x, f.weight(f.floats(8, 8, 1, 1, scale=0.3))], kernel_shape=[1, 1], strides=[1, 1], group=1))
    x = f.node("Transpose", [x], perm=[0, 2, 3, 1])
    x = f.node("ReduceMean", [x], axes=[1, 2], keepdims=0)
    size = f.node("Cast", [f.node("Shape", [x])], to=6)
    first = f.node("Slice", [size, f.integers(0), f.integers(1), f.integers(0)])
    shape = f.node("Concat", [f.node("Cast", [first], to=7), f.integers(8)], axis=0)
    y = f.node("Add", [f.node("MatMul", [f.node("Reshape", [x, shape]), f.weight(f.floats(8, 5))]), f.weight(f.floats(5))])
    f.node("Softmax", [y], out="dense", axis=-1)
    made = f.model({"input_1": (F, "unk__15", 18, 18, 3)}, {"dense": (F, "unk__16", 5)})
    return at(folder, "mobile", made, {"input_1": f.floats(2, 18, 18, 3)})


@stranger
def keras_recurrent(folder: Path) -> StrangerFile:
    """tf2onnx's Keras GRU, both directions in one node, time first by Transpose, Squeeze with axes as an input."""
    f = FileOf(15, "tf2onnx 1.16.1", style="model/bidirectional/{kind}_{n}:0")
    x = f.node("Transpose", ["input"], perm=[1, 0, 2])
    weights = [f.weight(f.floats(2, 12, n, scale=0.4)) for n in (3, 4)] + [f.weight(f.floats(2, 24))]
    f.node("GRU", [x, *weights], out=["gru_y", "gru_h"], direction="bidirectional", hidden_size=4, linear_before_reset=1)
    ahead = f.node("Slice", ["gru_h", f.integers(0), f.integers(1), f.integers(0)])
    back = f.node("Slice", ["gru_h", f.integers(1), f.integers(2), f.integers(0)])
    both = [f.node("Squeeze", [v, f.integers(0)]) for v in (ahead, back)]
    y = f.node("MatMul", [f.node("Concat", both, axis=-1), f.weight(f.floats(8, 2))])
    f.node("Sigmoid", [y], out="dense")
    made = f.model({"input": (F, "batch", 9, 3)}, {"dense": (F, "batch", 2)})
    return at(folder, "recurrent", made, {"input": f.floats(3, 9, 3)})


@stranger
def zoo_squeezenet(folder: Path) -> StrangerFile:
    """The old zoo: opset 7, IR 3, weights that are inputs too, Dropout, LRN, broadcasts, names of numbers."""
    f = FileOf(7, "onnx-caffe2", style="{n}", ir=3)

    def conv(x: str, inputs: int, outputs: int, size: int) -> str:
        w, b = f.weight(f.floats(outputs, inputs, size, size, scale=0.3)), f.weight(f.floats(outputs))
        return f.node("Relu", [f.node("Conv", [x, w, b], kernel_shape=[size, size], pads=[size // 2] * 4, strides=[1, 1])])

    x = conv("data_0", 3, 8, 3)
    x = f.node("LRN", [x], alpha=1e-4, beta=0.75, bias=1.0, size=5)
    x = f.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])
    squeezed = conv(x, 8, 4, 1)
    x = f.node("Concat", [conv(squeezed, 4, 8, 1), conv(squeezed, 4, 8, 3)], axis=1)
    x = f.node("Dropout", [x], out=["drop", "mask"], ratio=0.5)
    x = f.node("AveragePool", [conv(x, 16, 10, 1)], kernel_shape=[8, 8])
    x = f.node("Reshape", [x, f.integers(0, -1)])
    f.node("Softmax", [x], out="softmaxout_1", axis=1)
    made = f.model({"data_0": (F, 1, 3, 17, 17)}, {"softmaxout_1": (F, 1, 10)}, weights_are_inputs=True)
    return at(folder, "squeezenet", made, {"data_0": f.floats(1, 3, 17, 17)})


@stranger
def darknet_detector(folder: Path) -> StrangerFile:
    """keras2onnx's YOLO: opset 10, LeakyRelu, a Resize of scales, boxes decoded, NonMaxSuppression."""
    f = FileOf(10, "keras2onnx", style="yolo/{kind}_{n}", ir=5)
    w, b = f.weight(f.floats(8, 3, 3, 3, scale=0.3)), f.weight(f.floats(8))
    x = f.node("LeakyRelu", [f.node("Conv", ["input_1", w, b], auto_pad="SAME_UPPER", strides=[2, 2])], alpha=0.1)
    small = f.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = f.node("Add", [x, f.node("Resize", [small, f.weight(np.array([1, 1, 2, 2], F))], mode="nearest")])
    x = f.node("Conv", [x, f.weight(f.floats(6, 8, 1, 1, scale=0.4)), f.weight(f.floats(6))], kernel_shape=[1, 1])
    x = f.node("Reshape", [f.node("Transpose", [x], perm=[0, 2, 3, 1]), f.integers(1, -1, 6)])
    centre = f.node("Sigmoid", [f.node("Slice", [x, f.integers(0), f.integers(2), f.integers(2)])])
    size = f.node("Exp", [f.node("Slice", [x, f.integers(2), f.integers(4), f.integers(2)])])
    half = f.node("Mul", [size, f.weight(np.array(0.1, F))])
    cells = np.stack(np.meshgrid(np.arange(4), np.arange(4)), -1).reshape(1, 16, 2).astype(F)
    centre = f.node("Div", [f.node("Add", [centre, f.weight(cells)]), f.weight(np.array(4, F))])
    f.node("Concat", [f.node("Sub", [centre, half]), f.node("Add", [centre, half])], out="boxes", axis=2)
    scores = f.node("Sigmoid", [f.node("Slice", [x, f.integers(4), f.integers(6), f.integers(2)])])
    f.node("Transpose", [scores], out="scores", perm=[0, 2, 1])
    limits = [f.integers(5), f.weight(np.array([0.4], F)), f.weight(np.array([0.5], F))]
    f.node("NonMaxSuppression", ["boxes", "scores", *limits], out="indices")
    made = f.model({"input_1": (F, 1, 3, 8, 8)}, {"boxes": (F, 1, 16, 4), "scores": (F, 1, 2, 16), "indices": (np.int64, "n", 3)})
    return at(folder, "yolo", made, {"input_1": f.floats(1, 3, 8, 8)})


@stranger
def torchvision_ssd(folder: Path) -> StrangerFile:
    """torchvision's detector: TopK of candidates, batched NonMaxSuppression with offsets by class, Gather, ScatterElements."""
    f = FileOf(12, "pytorch", style="{n}")
    scores = f.node("Softmax", ["logits"], axis=-1)
    best = f.node("ReduceMax", [scores], axes=[1], keepdims=0)
    label = f.node("ArgMax", [scores], axis=1, keepdims=0)
    f.node("TopK", [best, f.integers(8)], out=["top", "order"], axis=0)
    boxes = f.node("Gather", ["boxes", "order"], axis=0)
    chosen = f.node("Gather", [label, "order"], axis=0)
    far = f.node(
        "Add", [f.node("ReduceMax", [boxes], keepdims=0), f.node("Constant", [], value=numpy_helper.from_array(np.array(1, F)))]
    )
    offset = f.node("Unsqueeze", [f.node("Mul", [f.node("Cast", [chosen], to=1), far])], axes=[1])
    moved = f.node("Unsqueeze", [f.node("Add", [boxes, offset])], axes=[0])
    kept = f.node(
        "NonMaxSuppression", [moved, f.node("Unsqueeze", ["top"], axes=[0, 1]), f.integers(1 << 31), f.weight(np.array([0.45], F))]
    )
    kept = f.node("Squeeze", [f.node("Slice", [kept, f.integers(2), f.integers(3), f.integers(1)])], axes=[1])
    for out, value in (("out_boxes", boxes), ("out_scores", "top"), ("out_labels", chosen)):
        f.node("Gather", [value, kept], out=out, axis=0)
    made = f.model({"boxes": (F, 20, 4), "logits": (F, 20, 3)},
                   {"out_boxes": (F, "k", 4), "out_scores": (F, "k"), "out_labels": (np.int64, "k")})  # fmt: skip
    low = f.rng.uniform(0, 6, (20, 2))
    given = np.concatenate([low, low + f.rng.uniform(1, 4, (20, 2))], 1).astype(F)
    return at(folder, "ssd", made, {"boxes": given, "logits": f.floats(20, 3, scale=2)})


@stranger
def half_precision_classifier(folder: Path) -> StrangerFile:
    """onnxconverter-common's float16 with keep_io_types: Casts at both ends, one node kept in float32 between Casts."""
    f = FileOf(13, "onnxconverter-common", style="{kind}_{n}")
    h = np.float16
    x = f.node("Cast", ["x"], to=10, out="graph_input_cast_0")
    w, b = f.weight(f.floats(8, 3, 3, 3, scale=0.2).astype(h)), f.weight(f.floats(8).astype(h))
    x = f.node("Relu", [f.node("Conv", [x, w, b], pads=[1] * 4)])
    x = f.node("Cast", [f.node("ReduceMean", [f.node("Cast", [x], to=1)], axes=[2, 3], keepdims=0)], to=10)
    y = f.node("Gemm", [x, f.weight(f.floats(4, 8).astype(h)), f.weight(f.floats(4).astype(h))], transB=1)
    f.node("Cast", [f.node("Softmax", [y], axis=1)], out="y", to=1)
    return at(folder, "half", f.model({"x": (F, 2, 3, 8, 8)}, {"y": (F, 2, 4)}), {"x": f.floats(2, 3, 8, 8)})


@stranger
def audio_front(folder: Path) -> StrangerFile:
    """A spectrogram by STFT with a window, power, mel filters, log, two convolutions of one dimension (Whisper's beginning)."""
    f = FileOf(18, "pytorch")
    window = f.weight(np.hanning(33)[:32].astype(F))
    s = f.node("STFT", ["audio", f.weight(np.array(16, np.int64)), window, f.weight(np.array(32, np.int64))], onesided=1)
    power = f.node("ReduceSum", [f.node("Mul", [s, s]), f.integers(-1)], keepdims=0)
    mel = f.node("MatMul", [power, f.weight(np.abs(f.floats(17, 6)))])
    x = f.node("Log", [f.node("Clip", [mel, f.weight(np.array(1e-10, F))])])
    x = f.node("Max", [x, f.node("Sub", [f.node("ReduceMax", [x], keepdims=0), f.weight(np.array(8, F))])])
    x = f.node("Transpose", [x], perm=[0, 2, 1])
    for inputs, outputs, step in ((6, 8, 1), (8, 8, 2)):
        w, b = f.weight(f.floats(outputs, inputs, 3, scale=0.3)), f.weight(f.floats(outputs))
        x = f.node("Conv", [x, w, b], pads=[1, 1], strides=[step], kernel_shape=[3])
        erf = f.node("Erf", [f.node("Div", [x, f.weight(np.array(2**0.5, F))])])
        x = f.node("Mul", [f.node("Mul", [x, f.node("Add", [erf, f.weight(np.array(1, F))])]), f.weight(np.array(0.5, F))])
    f.node("Transpose", [x], out="states", perm=[0, 2, 1])
    return at(folder, "audio", f.model({"audio": (F, 1, 160)}, {"states": (F, 1, "t", 8)}), {"audio": f.floats(1, 160)})


@stranger
def einsum_patches(folder: Path) -> StrangerFile:
    """A vision transformer of JAX's manner: patches by SpaceToDepth, a class token by Expand, attention by Einsum."""
    f = FileOf(17, "jax2tf", style="jit_{kind}_{n}")
    x = f.node("SpaceToDepth", ["images"], blocksize=4)
    x = f.node("Reshape", [f.node("Transpose", [x], perm=[0, 2, 3, 1]), f.integers(0, -1, 48)])
    x = f.node("MatMul", [x, f.weight(f.floats(48, 16, scale=0.1))])
    count = f.node("Slice", [f.node("Shape", [x]), f.integers(0), f.integers(1)])
    token = f.node("Expand", [f.weight(f.floats(1, 1, 16)), f.node("Concat", [count, f.integers(1, 16)], axis=0)])
    x = f.node("Concat", [token, x], axis=1)
    q, k, v = (f.node("Einsum", [x, f.weight(f.floats(16, 2, 8, scale=0.3))], equation="btd,dhc->bthc") for _ in range(3))
    weights = f.node("Softmax", [f.node("Einsum", [q, k], equation="bthc,bshc->bhts")], axis=-1)
    y = f.node(
        "Einsum",
        [f.node("Einsum", [weights, v], equation="bhts,bshc->bthc"), f.weight(f.floats(2, 8, 16))],
        equation="bthc,hcd->btd",
    )
    f.node("Gather", [y, f.weight(np.array(0, np.int64))], out="class", axis=1)
    return at(folder, "patches", f.model({"images": (F, "b", 3, 8, 8)}, {"class": (F, "b", 16)}), {"images": f.floats(2, 3, 8, 8)})


@stranger
def tied_weights_outside(folder: Path) -> StrangerFile:
    """A language model's end whose embedding is its output's weight too, and lies in a file beside the model."""
    f = FileOf(17, "pytorch", style="/lm/{kind}_{n}_output_0")
    table = f.weight(f.floats(200, 32, scale=0.3), "model.embed_tokens.weight")
    x = f.node("Gather", [table, "input_ids"])
    square = f.node("ReduceMean", [f.node("Pow", [x, f.weight(np.array(2, F))])], axes=[-1], keepdims=1)
    norm = f.node("Sqrt", [f.node("Add", [square, f.weight(np.array(1e-6, F))])])
    x = f.node("Mul", [f.weight(np.abs(f.floats(32)), "norm.weight"), f.node("Div", [x, norm])])
    f.node("MatMul", [x, f.node("Transpose", [table], perm=[1, 0])], out="logits")
    made = f.model({"input_ids": (np.int64, "batch", "length")}, {"logits": (F, "batch", "length", 200)})
    path = folder / "tied.onnx"
    onnx.save_model(made, path, save_as_external_data=True, location="tied.onnx_data", size_threshold=256)
    return StrangerFile(path, {"input_ids": f.rng.integers(0, 200, (1, 6))})


@stranger
def unique_counts(folder: Path) -> StrangerFile:
    """Unique of data with its inverse: how many values there are depends on data, the result's shape does not."""
    f = FileOf(13, "custom", style="{kind}_{n}")
    f.node("Unique", ["ids"], out=["values", "first", "inverse", "counts"], sorted=1)
    many = f.node("Gather", ["counts", "inverse"], axis=0)
    f.node("Div", ["x", f.node("Cast", [many], to=1)], out="y")
    made = f.model({"ids": (np.int64, 12), "x": (F, 12)}, {"y": (F, 12)})
    return at(folder, "unique", made, {"ids": f.rng.integers(0, 5, 12), "x": f.floats(12)})
