"""Files written before anybody looked at the front end: vision, recurrent layers, control flow, sequences, opsets 7 to 21."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


def _value(name: str, kind: int, *dims: int | str | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(dims))


@stranger
def blind_opset_7_network(folder: Path) -> StrangerFile:
    """ONNX of 2018: BatchNormalization with `spatial` left out, Dropout at inference, Reshape by a weight, Upsample's forebears."""
    f = FileOf(7, "CNTK", ir=3)
    x = f.node("Conv", ["x", f.weight(f.floats(8, 3, 3, 3, scale=0.2))], auto_pad="SAME_LOWER", strides=[2, 2])
    norm = [f.weight(np.abs(f.floats(8)) + F(0.5)) if i in (0, 3) else f.weight(f.floats(8)) for i in range(4)]
    x = f.node("BatchNormalization", [x, *norm], epsilon=1e-3, momentum=0.99)
    x = f.node("LeakyRelu", [x], alpha=0.1)
    x = f.node("AveragePool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    x = f.node("LRN", [x], size=3, alpha=1e-3, beta=0.75, bias=2.0)
    x = f.node("Dropout", [x], ratio=0.3)
    x = f.node("Reshape", [x, f.integers(0, -1)])
    x = f.node("Gemm", [x, f.weight(f.floats(128, 6, scale=0.1)), f.weight(f.floats(1, 6))], alpha=0.5, beta=2.0)
    f.node("Softmax", [x], out="p")
    f.node("LogSoftmax", [x], out="logp", axis=1)
    made = f.model({"x": (F, 2, 3, 15, 16)}, {"p": (F, 2, 6), "logp": (F, 2, 6)}, weights_are_inputs=True)
    return at(folder, "net", made, {"x": f.floats(2, 3, 15, 16)})


@stranger
def blind_yolo_with_nms(folder: Path) -> StrangerFile:
    """A detector's head with NonMaxSuppression inside and the gathered boxes behind it, as `--end2end` exports."""
    f = FileOf(12, "pytorch", seed=5)
    x = f.node("Conv", ["images", f.weight(f.floats(14, 3, 1, 1))], kernel_shape=[1, 1])
    x = f.node("Transpose", [f.node("Reshape", [x, f.integers(1, 2, 7, 4, 4)])], perm=[0, 1, 3, 4, 2])
    x = f.node("Sigmoid", [x])
    xy, wh, conf = f.node("Split", [x], out=["xy", "wh", "conf"], axis=4, split=[2, 2, 3]), "wh", "conf"
    yv, xv = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    grid = np.stack([xv, yv], -1).astype(F)[None, None]
    two = f.weight(np.array(2.0, F))
    xy = f.node("Mul", [f.node("Add", [f.node("Mul", [xy, two]), f.weight(grid - F(0.5))]), f.weight(np.array(8, F))])
    anchors = np.array([[10, 13], [16, 30]], F).reshape(1, 2, 1, 1, 2)
    wh = f.node("Mul", [f.node("Pow", [f.node("Mul", [wh, two]), two]), f.weight(anchors)])
    z = f.node("Reshape", [f.node("Concat", [xy, wh, conf], axis=-1), f.integers(1, -1, 7)])
    one = {"axes": f.integers(2)}

    def columns(a: int, b: int) -> str:
        return f.node("Slice", [z, f.integers(a), f.integers(b), one["axes"], f.integers(1)])

    centre, size, obj, cls = columns(0, 2), columns(2, 4), columns(4, 5), columns(5, 2**63 - 1)
    half = f.node("Div", [size, two])
    boxes = f.node("Concat", [f.node("Sub", [centre, half]), f.node("Add", [centre, half])], axis=2)
    scores = f.node("Transpose", [f.node("Mul", [obj, cls])], perm=[0, 2, 1])
    limits = [f.weight(np.array([5], np.int64)), f.weight(np.array([0.45], F)), f.weight(np.array([0.2], F))]
    chosen = f.node("NonMaxSuppression", [boxes, scores, *limits], out="selected")
    index = f.node("Squeeze", [f.node("Slice", [chosen, f.integers(2), f.integers(3), f.integers(1)])], axes=[1])
    f.node("Gather", [f.node("Squeeze", [boxes], axes=[0]), index], out="det_boxes", axis=0)
    f.node("GatherND", [scores, f.node("Gather", [chosen, f.integers(0, 1, 2)], axis=1)], out="det_scores")
    outputs = {"selected": (np.int64, "n", 3), "det_boxes": (F, "n", 4), "det_scores": (F, "n")}
    return at(folder, "yolo", f.model({"images": (F, 1, 3, 4, 4)}, outputs), {"images": f.floats(1, 3, 4, 4)})


@stranger
def blind_bidirectional_lstm_stack(folder: Path) -> StrangerFile:
    """Two LSTMs, the first both ways with peepholes and lengths, the second clipped with initial states given."""
    f = FileOf(14, "tf2onnx", seed=2)
    h = 5
    lengths = f.weight(np.array([6, 4], np.int32))
    y = f.node(
        "LSTM",
        [
            "x",
            *(f.weight(f.floats(2, 4 * h, n, scale=0.4)) for n in (3, h)),
            f.weight(f.floats(2, 8 * h, scale=0.1)),
            lengths,
            "",
            "",
            f.weight(f.floats(2, 3 * h, scale=0.2)),
        ],
        out=["y1", "yh", "yc"],
        hidden_size=h,
        direction="bidirectional",
    )
    y = f.node("Reshape", [f.node("Transpose", [y], perm=[0, 2, 1, 3]), f.integers(0, 0, -1)])
    weights = [f.weight(f.floats(1, 16, n, scale=0.4)) for n in (2 * h, 4)]
    f.node(
        "LSTM",
        [y, *weights, "", "", "h0", "c0"],
        out=["y2", "h2", "c2"],
        hidden_size=4,
        clip=0.8,
        input_forget=0,
        activations=["HardSigmoid", "Tanh", "Softsign"],
        activation_alpha=[0.25],
        activation_beta=[0.5],
    )
    inputs = {"x": (F, 6, 2, 3), "h0": (F, 1, 2, 4), "c0": (F, 1, 2, 4)}
    outputs = {"yh": (F, 2, 2, h), "yc": (F, 2, 2, h), "y2": (F, 6, 1, 2, 4), "h2": (F, 1, 2, 4), "c2": (F, 1, 2, 4)}
    arrays = {n: f.floats(*how[1:]) for n, how in inputs.items()}
    return at(folder, "lstm", f.model(inputs, outputs), arrays)


@stranger
def blind_gru_reset_before(folder: Path) -> StrangerFile:
    """A GRU in the manner of Keras (`linear_before_reset`) beside one without, and an RNN backwards, batch first by layout."""
    f = FileOf(14, "keras2onnx", seed=4)
    ys = []
    for after in (1, 0):
        w = [f.weight(f.floats(1, 18, n, scale=0.5)) for n in (4, 6)]
        out = [f"y{after}", f"h{after}"]
        ys.append(f.node("GRU", ["x", *w, f.weight(f.floats(1, 36, scale=0.2))], out=out, hidden_size=6, linear_before_reset=after))
    w = [f.weight(f.floats(1, 6, n, scale=0.5)) for n in (4, 6)]
    f.node(
        "RNN",
        ["x", *w],
        out=["yr", "hr"],
        hidden_size=6,
        direction="reverse",
        activations=["Affine"],
        activation_alpha=[0.7],
        activation_beta=[0.1],
    )
    f.node("Sub", [f.node("Add", ys[:1] + ys[1:]), "yr"], out="y")
    outputs = {"y": (F, "t", 1, 3, 6), "h0": (F, 1, 3, 6), "hr": (F, 1, 3, 6)}
    return at(folder, "gru", f.model({"x": (F, "t", 3, 4)}, outputs), {"x": f.floats(5, 3, 4)})


@stranger
def blind_qlinear_chain(folder: Path) -> StrangerFile:
    """Operators on codes throughout: QLinearConv per channel, QLinearMatMul, ConvInteger, MatMulInteger, DynamicQuantizeLinear."""
    f = FileOf(13, "onnx.quantize", seed=6)

    def scale(v: float | list[float]) -> str:
        return f.weight(np.array(v, F))

    def zero(v: int, kind: type = np.uint8) -> str:
        return f.weight(np.array(v, kind))

    q = f.node("QuantizeLinear", ["x", scale(0.03), zero(128)])
    w = f.weight(f.rng.integers(-127, 128, (6, 3, 3, 3)).astype(np.int8))
    ws, wz = f.weight(np.abs(f.floats(6, scale=0.01)) + F(0.002)), f.weight(np.zeros(6, np.int8))
    bias = f.weight(f.rng.integers(-500, 500, 6).astype(np.int32))
    q = f.node(
        "QLinearConv", [q, scale(0.03), zero(128), w, ws, wz, scale(0.05), zero(100), bias], pads=[1, 1, 1, 1], strides=[2, 2]
    )
    q = f.node("MaxPool", [q], kernel_shape=[2, 2], strides=[2, 2])
    q = f.node("Reshape", [q, f.integers(1, 24)])
    w2 = f.weight(f.rng.integers(0, 256, (24, 5)).astype(np.uint8))
    q = f.node("QLinearMatMul", [q, scale(0.05), zero(100), w2, scale(0.01), zero(120), scale(0.1), zero(3)])
    f.node("DequantizeLinear", [q, scale(0.1), zero(3)], out="y")
    f.node("DynamicQuantizeLinear", ["x"], out=["d", "ds", "dz"])
    acc = f.node("ConvInteger", ["d", f.weight(f.rng.integers(-8, 8, (2, 3, 2, 2)).astype(np.int8)), "dz"])
    f.node("Mul", [f.node("Cast", [acc], to=TensorProto.FLOAT), f.node("Mul", ["ds", scale(0.02)])], out="z")
    flat = f.node("Reshape", ["d", f.integers(3, -1)])
    w3 = f.weight(f.rng.integers(0, 256, (64, 4)).astype(np.uint8))
    f.node("MatMulInteger", [flat, w3, "dz", f.weight(np.array([7, 8, 9, 10], np.uint8))], out="i")
    outputs = {"y": (F, 1, 5), "z": (F, 1, 2, 7, 7), "i": (np.int32, 3, 4)}
    return at(folder, "qlinear", f.model({"x": (F, 1, 3, 8, 8)}, outputs), {"x": f.floats(1, 3, 8, 8)})


@stranger
def blind_qdq_blocks_21(folder: Path) -> StrangerFile:
    """QDQ of opset 21: int4 weights in blocks, uint16 activations, per-axis int8 on the last axis."""
    f = FileOf(21, "quark", seed=7, ir=10)
    codes = f.rng.integers(-8, 8, (16, 8)).astype(np.int8)
    w4 = helper.make_tensor("w4", TensorProto.INT4, [16, 8], codes.ravel().tolist())
    f.weights.append(w4)
    scales = f.weight(np.abs(f.floats(4, 8, scale=0.05)) + F(0.01))
    w = f.node("DequantizeLinear", ["w4", scales], axis=0, block_size=4)
    act = [f.weight(np.array(2e-4, F)), f.weight(np.array(30000, np.uint16))]
    x = f.node("DequantizeLinear", [f.node("QuantizeLinear", ["x", *act]), *act])
    y = f.node("MatMul", [x, w])
    how = [f.weight(np.abs(f.floats(8, scale=0.05)) + F(0.01)), f.weight(np.zeros(8, np.int8))]
    q = f.node("QuantizeLinear", [y, *how], axis=-1)
    f.node("DequantizeLinear", [q, *how], out="y", axis=-1)
    return at(folder, "qdq21", f.model({"x": (F, "n", 16)}, {"y": (F, "n", 8)}), {"x": f.floats(3, 16)})


@stranger
def blind_decoder_step_with_cache(folder: Path) -> StrangerFile:
    """A decoder with past keys of named length, the mask built of shapes at run time, as Optimum exports."""
    f = FileOf(17, "pytorch", seed=8)
    d, h = 16, 2
    x = f.node("Gather", [f.weight(f.floats(40, d)), "input_ids"])
    norm = f.node("LayerNormalization", [x, f.weight(np.ones(d, F)), f.weight(np.zeros(d, F))], axis=-1, epsilon=1e-5)
    qkv = f.node("Add", [f.node("MatMul", [norm, f.weight(f.floats(d, 3 * d, scale=0.3))]), f.weight(f.floats(3 * d, scale=0.1))])
    parts = f.node("Split", [qkv, f.integers(d, d, d)], out=["q_", "k_", "v_"], axis=2)
    shape = f.node("Shape", [parts])
    batch, tokens = (f.node("Gather", [shape, f.weight(np.array(i))]) for i in (0, 1))
    to = f.node("Concat", [*(f.node("Unsqueeze", [n, f.integers(0)]) for n in (batch, tokens)), f.integers(h, d // h)], axis=0)
    q, k, v = (f.node("Transpose", [f.node("Reshape", [p, to])], perm=[0, 2, 1, 3]) for p in ("q_", "k_", "v_"))
    k = f.node("Concat", ["past_key", k], out="present_key", axis=2)
    v = f.node("Concat", ["past_value", v], out="present_value", axis=2)
    total = f.node("Gather", [f.node("Shape", [k]), f.weight(np.array(2))])
    past = f.node("Sub", [total, tokens])
    rows = f.node("Range", [past, total, f.weight(np.array(1))])
    cols = f.node("Range", [f.weight(np.array(0)), total, f.weight(np.array(1))])
    seen = f.node("LessOrEqual", [f.node("Unsqueeze", [cols, f.integers(0)]), f.node("Unsqueeze", [rows, f.integers(1)])])
    padding = f.node("Unsqueeze", [f.node("Cast", ["attention_mask"], to=TensorProto.BOOL), f.integers(1, 2)])
    seen = f.node("And", [seen, padding])
    s = f.node("MatMul", [q, f.node("Transpose", [k], perm=[0, 1, 3, 2])])
    s = f.node("Div", [s, f.node("Sqrt", [f.weight(np.array(d / h, F))])])
    s = f.node("Where", [seen, s, f.weight(np.array(np.finfo(F).min, F))])
    o = f.node("Transpose", [f.node("MatMul", [f.node("Softmax", [s], axis=-1), v])], perm=[0, 2, 1, 3])
    o = f.node(
        "Reshape",
        [o, f.node("Concat", [f.node("Unsqueeze", [n, f.integers(0)]) for n in (batch, tokens)] + [f.integers(d)], axis=0)],
    )
    x = f.node("Add", [x, f.node("MatMul", [o, f.weight(f.floats(d, d, scale=0.3))])])
    f.node("MatMul", [x, f.weight(f.floats(d, 40))], out="logits")
    inputs = {
        "input_ids": (np.int64, "batch", "seq"),
        "attention_mask": (np.int64, "batch", "total"),
        "past_key": (F, "batch", h, "past", d // h),
        "past_value": (F, "batch", h, "past", d // h),
    }
    outputs = {
        "logits": (F, "batch", "seq", 40),
        "present_key": (F, "batch", h, "total", d // h),
        "present_value": (F, "batch", h, "total", d // h),
    }
    mask = np.ones((2, 5), np.int64)
    mask[1, :2] = 0
    arrays = {
        "input_ids": f.rng.integers(0, 40, (2, 2)),
        "attention_mask": mask,
        "past_key": f.floats(2, h, 3, d // h),
        "past_value": f.floats(2, h, 3, d // h),
    }
    return at(folder, "decoder", f.model(inputs, outputs), arrays)


@stranger
def blind_if_of_a_value(folder: Path) -> StrangerFile:
    """An If that a value decides, whose branches use outer names, one with an If of its own; and a Loop that stops early."""
    f = FileOf(16, "torch.jit", seed=9)
    total = f.node("ReduceMean", ["x"], keepdims=0)
    zero = f.weight(np.array(0, F))
    cond = f.node("Greater", [total, zero])
    two = numpy_helper.from_array(np.array(2, F), "two")
    yes = helper.make_graph([helper.make_node("Mul", ["x", "two"], ["yes"])], "then", [], [_value("yes", 1, 2, 3)], [two])
    inner = [
        helper.make_graph([helper.make_node(kind, ["x"], [kind])], kind, [], [_value(kind, 1, 2, 3)]) for kind in ("Neg", "Abs")
    ]
    no = helper.make_graph(
        [
            helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
            helper.make_node("Less", ["most", zero], ["low"]),
            helper.make_node("If", ["low"], ["no"], then_branch=inner[0], else_branch=inner[1]),
        ],
        "else",
        [],
        [_value("no", 1, 2, 3)],
    )
    y = f.node("If", [cond], out="chosen", then_branch=yes, else_branch=no)
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["state", "half"], ["next"]),
            helper.make_node("ReduceSum", ["next"], ["size"], keepdims=0),
            helper.make_node("Abs", ["size"], ["abs"]),
            helper.make_node("Greater", ["abs", "limit"], ["go"]),
            helper.make_node("Identity", ["size"], ["scan"]),
        ],
        "body",
        [_value("i", TensorProto.INT64), _value("c", TensorProto.BOOL), _value("state", 1, 2, 3)],
        [_value("go", TensorProto.BOOL), _value("next", 1, 2, 3), _value("scan", 1)],
        [numpy_helper.from_array(np.array(0.5, F), "half"), numpy_helper.from_array(np.array(0.3, F), "limit")],
    )
    start = [f.weight(np.array(12)), f.weight(np.array(True)), y]
    f.node("Loop", start, out=["last", "sums"], body=body)
    f.node("Identity", [y], out="y")
    outputs = {"y": (F, 2, 3), "last": (F, 2, 3), "sums": (F, "steps")}
    return at(folder, "if", f.model({"x": (F, 2, 3)}, outputs), {"x": f.floats(2, 3)})


@stranger
def blind_scan_of_two(folder: Path) -> StrangerFile:
    """Scan with two states and two scanned inputs, one backwards and along axis 1, one output prepended."""
    f = FileOf(11, "tf2onnx", seed=10)
    nodes = [
        helper.make_node("Mul", ["h", "decay"], ["d"]),
        helper.make_node("Add", ["d", "a"], ["h1"]),
        helper.make_node("Max", ["m", "b"], ["m1"]),
        helper.make_node("Sub", ["h1", "m1"], ["o1"]),
        helper.make_node("Tanh", ["o1"], ["o2"]),
    ]
    four = [_value(n, 1, 4) for n in ("h", "m", "a", "b")]
    out = [_value(n, 1, 4) for n in ("h1", "m1", "o1", "o2")]
    body = helper.make_graph(nodes, "step", four, out, [numpy_helper.from_array(np.array([0.9], F), "decay")])
    axes = {
        "scan_input_axes": [0, 1],
        "scan_input_directions": [0, 1],
        "scan_output_axes": [0, 1],
        "scan_output_directions": [1, 0],
    }
    f.node("Scan", ["h0", "m0", "a", "b"], out=["h", "m", "o1s", "o2s"], body=body, num_scan_inputs=2, **axes)
    inputs = {"h0": (F, 4), "m0": (F, 4), "a": (F, 6, 4), "b": (F, 4, 6)}
    outputs = {"h": (F, 4), "m": (F, 4), "o1s": (F, 6, 4), "o2s": (F, 4, 6)}
    return at(folder, "scan", f.model(inputs, outputs), {n: f.floats(*how[1:]) for n, how in inputs.items()})


@stranger
def blind_resize_of_every_kind(folder: Path) -> StrangerFile:
    """Resize of opset 19: cubic without the outside, antialiased linear, keep-aspect-ratio, crops by tf_crop_and_resize."""
    f = FileOf(19, "pytorch", seed=11, ir=9)
    sizes = {
        "y1": (1, 2, 9, 11),
        "y2": (1, 2, 3, 4),
        "y3": (1, 2, 12, 12),
        "y4": (1, 2, 5, 5),
        "y5": (1, 2, 14, 14),
        "y6": (1, 2, 4, 4),
    }

    def resize(out: str, *given: str, **how: object) -> None:
        f.node("Resize", ["x", *given], out=out, **how)

    resize("y1", "", "", f.integers(1, 2, 9, 11), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1)
    resize("y2", "", "", f.integers(3, 4), mode="linear", antialias=1, axes=[2, 3])
    resize(
        "y3", "", "", f.integers(12, 16), mode="nearest", axes=[2, 3], keep_aspect_ratio_policy="not_larger", nearest_mode="floor"
    )
    roi = f.weight(np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.2], F))
    crop = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    resize("y4", roi, "", f.integers(1, 2, 5, 5), **crop)
    resize("y5", "", f.weight(np.array([1, 1, 2, 2], F)), mode="linear", coordinate_transformation_mode="align_corners")
    resize(
        "y6", "", f.weight(np.array([0.6, 0.6], F)), mode="cubic", coordinate_transformation_mode="pytorch_half_pixel", axes=[2, 3]
    )
    made = f.model({"x": (F, 1, 2, 7, 7)}, {n: (F, *s) for n, s in sizes.items()})
    return at(folder, "resize", made, {"x": f.floats(1, 2, 7, 7)})


@stranger
def blind_generator_of_images(folder: Path) -> StrangerFile:
    """A generator: ConvTranspose with output_padding, groups, dilations and output_shape, PixelShuffle, InstanceNorm, PRelu."""
    f = FileOf(15, "pytorch", seed=12)
    x = f.node("Reshape", [f.node("Gemm", ["z", f.weight(f.floats(8, 64, scale=0.3))]), f.integers(-1, 16, 2, 2)])
    w = f.weight(f.floats(16, 4, 3, 3, scale=0.2))
    x = f.node("ConvTranspose", [x, w, f.weight(f.floats(8))], strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1], group=2)
    x = f.node("InstanceNormalization", [x, f.weight(np.ones(8, F)), f.weight(np.zeros(8, F))])
    x = f.node("PRelu", [x, f.weight(np.abs(f.floats(8, 1, 1)))])
    w = f.weight(f.floats(8, 12, 2, 2, scale=0.2))
    x = f.node("ConvTranspose", [x, w], dilations=[2, 2], output_shape=[8, 8], strides=[2, 2], auto_pad="SAME_UPPER")
    x = f.node("DepthToSpace", [x], blocksize=2, mode="CRD")
    f.node("Tanh", [x], out="image")
    return at(folder, "gan", f.model({"z": (F, "n", 8)}, {"image": (F, "n", 3, 16, 16)}), {"z": f.floats(2, 8)})


@stranger
def blind_sequences_and_splits(folder: Path) -> StrangerFile:
    """SplitToSequence, a Loop that grows a sequence, SequenceAt, ConcatFromSequence, SequenceMap, Optional left out."""
    f = FileOf(17, "pytorch", seed=13)
    s = f.node("SplitToSequence", ["x", f.integers(1, 3, 2)], axis=1)
    first = f.node("SequenceAt", [s, f.weight(np.array(-1))])
    s = f.node("SequenceErase", [s, f.weight(np.array(0))])
    s = f.node("SequenceInsert", [s, f.node("Neg", [first]), f.weight(np.array(1))])
    f.node("ConcatFromSequence", [s], out="joined", axis=1)
    body = helper.make_graph(
        [helper.make_node("ReduceSum", ["e", "axes"], ["t"], keepdims=1)], "map", [_value("e", 1, 3, None)], [_value("t", 1, 3, 1)]
    )
    f.weights.append(numpy_helper.from_array(np.array([1], np.int64), "axes"))
    m = f.node("SequenceMap", [s], body=body)
    f.node("ConcatFromSequence", [m], out="sums", axis=0, new_axis=1)
    f.node("SequenceLength", [s], out="n")
    outputs = {"joined": (F, 3, 7), "sums": (F, 3, 3, 1), "n": (np.int64,)}
    return at(folder, "sequence", f.model({"x": (F, 3, 6)}, outputs), {"x": f.floats(3, 6)})
