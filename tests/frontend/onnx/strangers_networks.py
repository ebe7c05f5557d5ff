"""Networks of several kinds of operators, small: what an exporter leaves of a whole model, to be read and put on devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


@stranger
def upsampling_of_opset_8(folder: Path) -> StrangerFile:
    """Upsample with scales as an attribute, BatchNormalization that is not folded, a Deconvolution that doubles, Crop by Slice."""
    f = FileOf(8, "CoreMLTools", style="{kind}_{n}", ir=3)
    x = f.node("Conv", ["image", f.weight(f.floats(8, 3, 3, 3, scale=0.3))], pads=[1] * 4, strides=[2, 2])
    norm = [f.weight(a) for a in (f.floats(8), f.floats(8), f.floats(8), np.abs(f.floats(8)) + F(0.5))]
    x = f.node("LeakyRelu", [f.node("BatchNormalization", [x, *norm], epsilon=1e-3)], alpha=0.1)
    up = f.node("Upsample", [x], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    turned = f.node("ConvTranspose", [x, f.weight(f.floats(8, 4, 4, 4, scale=0.1))], strides=[2, 2], pads=[1] * 4)
    y = f.node("Concat", [up, turned], axis=1)
    y = f.node("Slice", [y], axes=[2, 3], starts=[1, 1], ends=[-1, -1])
    f.node("Sigmoid", [f.node("Conv", [y, f.weight(f.floats(2, 12, 1, 1))])], out="mask")
    made = f.model({"image": (F, 1, 3, 16, 16)}, {"mask": (F, 1, 2, 14, 14)})
    return at(folder, "upsampling", made, {"image": f.floats(1, 3, 16, 16)})


@stranger
def interpolation_to_a_size(folder: Path) -> StrangerFile:
    """F.interpolate to the size of a skip: Shape, Slice and Concat make the sizes of a Resize; ConvTranspose of groups."""
    f = FileOf(13, "pytorch", ir=7)

    def conv(x: str, inputs: int, outputs: int, stride: int) -> str:
        w, b = f.weight(f.floats(outputs, inputs, 3, 3, scale=(inputs * 9) ** -0.5)), f.weight(f.floats(outputs))
        return f.node("Relu", [f.node("Conv", [x, w, b], pads=[1] * 4, strides=[stride] * 2, kernel_shape=[3, 3], group=1)])

    one = conv("sample", 3, 16, 1)
    two = conv(one, 16, 16, 2)
    w, b = f.weight(f.floats(16, 8, 3, 3, scale=0.2)), f.weight(f.floats(16))
    up = f.node("ConvTranspose", [conv(two, 16, 16, 2), w, b], strides=[2, 2], pads=[1] * 4, output_padding=[1, 1], group=2)

    def sized(x: str, like: str) -> str:
        sizes = f.node("Cast", [f.node("Slice", [f.node("Shape", [like]), f.integers(2), f.integers(4), f.integers(0)])], to=7)
        first = f.node("Slice", [f.node("Shape", [x]), f.integers(0), f.integers(2), f.integers(0)])
        return f.node("Resize", [x, "", "", f.node("Concat", [first, sizes], axis=0)], mode="linear", cubic_coeff_a=-0.75,
                      coordinate_transformation_mode="pytorch_half_pixel", nearest_mode="floor")  # fmt: skip

    y = conv(f.node("Concat", [sized(up, two), two], axis=1), 32, 16, 1)
    y = conv(f.node("Add", [sized(y, one), one]), 16, 16, 1)
    f.node("Conv", [y, f.weight(f.floats(2, 16, 1, 1)), f.weight(f.floats(2))], out="logits", kernel_shape=[1, 1])
    made = f.model({"sample": (F, "batch", 3, "h", "w")}, {"logits": (F, "batch", 2, "h", "w")})
    return at(folder, "segmentation", made, {"sample": f.floats(2, 3, 13, 18)})


@stranger
def vision_transformer(folder: Path) -> StrangerFile:
    """torch.export's vision transformer: patches by Conv, a class token by Expand, factors by Sqrt, a free batch."""
    f = FileOf(18, "pytorch", style="val_{n}", ir=10)
    width, heads, tokens = 64, 2, 17

    def dense(x: str, inputs: int, outputs: int) -> str:
        y = f.node("MatMul", [x, f.weight(f.floats(inputs, outputs, scale=inputs**-0.5))])
        return f.node("Add", [y, f.weight(f.floats(outputs, scale=0.1))])

    def norm(x: str) -> str:
        return f.node("LayerNormalization", [x, f.weight(1 + f.floats(width, scale=0.1)), f.weight(f.floats(width))], axis=-1)

    batch = f.node("Shape", ["pixels"], start=0, end=1)
    x = f.node("Conv", ["pixels", f.weight(f.floats(width, 3, 8, 8, scale=0.07)), f.weight(f.floats(width))], strides=[8, 8])
    x = f.node("Reshape", [x, f.node("Concat", [batch, f.integers(width, 16)], axis=0)])
    x = f.node("Transpose", [x], perm=[0, 2, 1])
    token = f.node("Expand", [f.weight(f.floats(1, 1, width)), f.node("Concat", [batch, f.integers(1, width)], axis=0)])
    x = f.node("Add", [f.node("Concat", [token, x], axis=1), f.weight(f.floats(1, tokens, width))])
    for _ in range(2):
        y = norm(x)
        parts = [f.node("Transpose", [f.node("Reshape", [dense(y, width, width), f.integers(0, tokens, heads, 32)])],
                        perm=[0, 2, 1, 3]) for _ in range(3)]  # fmt: skip
        factor = f.node("Sqrt", [f.weight(np.array(32**-0.5, F))])
        query = f.node("Mul", [parts[0], factor])
        key = f.node("Mul", [f.node("Transpose", [parts[1]], perm=[0, 1, 3, 2]), factor])
        score = f.node("Softmax", [f.node("MatMul", [query, key])], axis=-1)
        seen = f.node("Transpose", [f.node("MatMul", [score, parts[2]])], perm=[0, 2, 1, 3])
        x = f.node("Add", [x, dense(f.node("Reshape", [seen, f.integers(0, tokens, width)]), width, width)])
        y = f.node("Gelu", [dense(norm(x), width, 128)]) if f.opset >= 20 else _gelu(f, dense(norm(x), width, 128))
        x = f.node("Add", [x, dense(y, 128, width)])
    first = f.node("Gather", [norm(x), f.weight(np.array(0, np.int64))], axis=1)
    f.node("Gemm", [first, f.weight(f.floats(10, width, scale=0.1)), f.weight(f.floats(10))], out="logits", transB=1)
    made = f.model({"pixels": (F, "batch", 3, 32, 32)}, {"logits": (F, "batch", 10)})
    return at(folder, "vit", made, {"pixels": f.floats(3, 3, 32, 32)})


def _gelu(f: FileOf, x: str) -> str:
    half = f.node("Erf", [f.node("Div", [x, f.weight(np.array(2**0.5, F))])])
    return f.node("Mul", [f.node("Mul", [x, f.node("Add", [half, f.weight(np.array(1, F))])]), f.weight(np.array(0.5, F))])


@stranger
def recurrent_tagger(folder: Path) -> StrangerFile:
    """A GRU of two layers as PyTorch has it, then an LSTM with batch first; states that are Expand of sizes of the run."""
    f = FileOf(17, "pytorch")
    hidden = 16
    x = f.node("Transpose", [f.node("Gather", [f.weight(f.floats(40, 12), "embed.weight"), "tokens"])], perm=[1, 0, 2])
    batch = f.node("Gather", [f.node("Shape", [x]), f.constant(np.array([1], np.int64))], axis=0)

    def layer(kind: str, x: str, inputs: int, gates: int, **how: Any) -> str:
        size = f.node("Concat", [f.integers(1), batch, f.integers(hidden)], axis=0)
        state = f.node("Expand", [f.weight(np.zeros((1, 1, 1), F)), size])
        weights = [f.weight(f.floats(1, gates * hidden, n, scale=0.3)) for n in (inputs, hidden)]
        bias = f.weight(f.floats(1, 2 * gates * hidden, scale=0.3))
        states = [state] * (1 + (kind == "LSTM"))
        return f.node("Squeeze", [f.node(kind, [x, *weights, bias, "", *states], hidden_size=hidden, **how), f.integers(1)])

    x = layer("GRU", layer("GRU", x, 12, 3, linear_before_reset=1), hidden, 3, linear_before_reset=1)
    x = f.node("Transpose", [layer("LSTM", x, hidden, 4)], perm=[1, 0, 2])
    y = f.node("Add", [f.node("MatMul", [x, f.weight(f.floats(hidden, 5))]), f.weight(f.floats(5))])
    f.node("ArgMax", [y], out="tags", axis=-1, keepdims=0)
    f.node("LogSoftmax", [y], out="scores", axis=-1)
    outputs = {"tags": (np.int64, "batch", "time"), "scores": (F, "batch", "time", 5)}
    made = f.model({"tokens": (np.int64, "batch", "time")}, outputs)
    return at(folder, "tagger", made, {"tokens": f.rng.integers(0, 40, (3, 7))})


@stranger
def quantised_mobile_block(folder: Path) -> StrangerFile:
    """QDQ by a training framework: uint8 activations, int8 weights and biases of a scale a channel, ReLU6 as Clip, a residual."""
    f = FileOf(13, "pytorch", ir=7)
    dequantise = "DequantizeLinear"

    def coded(x: str, scale: float, zero: int) -> str:
        how = [f.weight(np.array(scale, F)), f.weight(np.array(zero, np.uint8))]
        return f.node(dequantise, [f.node("QuantizeLinear", [x, *how]), *how])

    def conv(x: str, entry: float, shape: tuple[int, ...], group: int = 1) -> str:
        scale = (np.abs(f.floats(shape[0])) * F(0.01) + F(0.004)).astype(F)
        codes = f.rng.integers(-127, 128, shape).astype(np.int8)
        w = f.node(dequantise, [f.weight(codes), f.weight(scale), f.weight(np.zeros(shape[0], np.int8))], axis=0)
        bias = f.rng.integers(-900, 900, shape[0]).astype(np.int32)
        b = f.node(
            dequantise, [f.weight(bias), f.weight((scale * F(entry)).astype(F)), f.weight(np.zeros(shape[0], np.int32))], axis=0
        )
        pad = shape[2] // 2
        return f.node("Conv", [x, w, b], group=group, kernel_shape=list(shape[2:]), pads=[pad] * 4, strides=[1, 1])

    def six(x: str) -> str:
        return f.node("Clip", [x, f.weight(np.array(0, F)), f.weight(np.array(6, F))])

    x = coded("image", 0.02, 128)
    y = coded(six(conv(x, 0.02, (32, 16, 1, 1))), 6 / 255, 0)
    y = coded(six(conv(y, 6 / 255, (32, 1, 3, 3), 32)), 6 / 255, 0)
    y = coded(conv(y, 6 / 255, (16, 32, 1, 1)), 0.05, 120)
    y = coded(f.node("Add", [x, y]), 0.05, 120)
    y = coded(f.node("GlobalAveragePool", [y]), 0.02, 110)
    y = f.node("Flatten", [y], axis=1)
    codes, scale = f.rng.integers(-127, 128, (10, 16)).astype(np.int8), f.weight(np.full(10, 0.01, F))
    w = f.node(dequantise, [f.weight(codes), scale, f.weight(np.zeros(10, np.int8))], axis=0)
    f.node("Gemm", [y, w, f.weight(f.floats(10))], out="logits", transB=1)
    made = f.model({"image": (F, "batch", 16, 10, 10)}, {"logits": (F, "batch", 10)})
    return at(folder, "mobile_qdq", made, {"image": f.floats(1, 16, 10, 10)})


@stranger
def detector_head(folder: Path) -> StrangerFile:
    """A detector of YOLO's kind: three parts by Split, a grid that Range makes, the best boxes by TopK, overlaps suppressed."""
    f = FileOf(16, "pytorch")
    w, b = f.weight(f.floats(8, 16, 1, 1, scale=0.3)), f.weight(f.floats(8))
    x = f.node("Conv", ["features", w, b], kernel_shape=[1, 1])
    x = f.node("Transpose", [f.node("Reshape", [x, f.integers(1, 8, -1)])], perm=[0, 2, 1])
    parts = [f"part_{i}" for i in range(3)]
    f.node("Split", [f.node("Sigmoid", [x]), f.integers(2, 2, 4)], out=parts, axis=2)
    size = f.node("Gather", [f.node("Shape", ["features"]), f.constant(np.array(3, np.int64))], axis=0)
    zero, one = f.constant(np.array(0, np.int64)), f.constant(np.array(1, np.int64))
    line = f.node("Cast", [f.node("Range", [zero, size, one])], to=1)
    across = f.node("Expand", [line, f.node("Concat", [f.node("Unsqueeze", [size, f.integers(0)])] * 2, axis=0)])
    grid = [f.node("Reshape", [a, f.integers(1, -1, 1)]) for a in (across, f.node("Transpose", [across], perm=[1, 0]))]
    offset = f.node("Sub", [f.node("Mul", [parts[0], f.constant(np.array(2, F))]), f.constant(np.array(0.5, F))])
    centre = f.node("Mul", [f.node("Add", [offset, f.node("Concat", grid, axis=2)]), f.constant(np.array(8, F))])
    half = f.node("Mul", [f.node("Pow", [parts[1], f.constant(np.array(2, F))]), f.constant(np.array(16, F))])
    boxes = f.node("Concat", [f.node("Sub", [centre, half]), f.node("Add", [centre, half])], axis=2)
    best = f.node("ReduceMax", [parts[2]], axes=[2], keepdims=0)
    f.node("TopK", [best, f.integers(20)], out=["top_scores", "top_places"], axis=1, largest=1, sorted=1)
    places = f.node("Reshape", ["top_places", f.integers(-1)])
    kept_boxes, kept_scores = (f.node("Gather", [v, places], axis=1) for v in (boxes, parts[2]))
    chosen = f.node("NonMaxSuppression", [kept_boxes, f.node("Transpose", [kept_scores], perm=[0, 2, 1]), f.integers(10),
                                          f.constant(np.array([0.5], F)), f.constant(np.array([0.3], F))])  # fmt: skip
    column = f.node("Gather", [chosen, f.constant(np.array(2, np.int64))], axis=1)
    f.node("Gather", [kept_boxes, column], out="boxes", axis=1)
    f.node("Gather", [chosen, f.constant(np.array(1, np.int64))], out="classes", axis=1)
    made = f.model({"features": (F, 1, 16, "h", "w")}, {"boxes": (F, 1, "found", 4), "classes": (np.int64, "found")})
    return at(folder, "detector", made, {"features": f.floats(1, 16, 8, 8)})


@stranger
def refinement_with_data_outside(folder: Path) -> StrangerFile:
    """Weights beside the model; a Loop of fixed rounds whose body multiplies by them, and an If of a flag that is a weight."""
    f = FileOf(15, "pytorch")
    w, b = f.weight(f.floats(64, 64, scale=0.12), "refine.weight"), f.weight(f.floats(64), "refine.bias")
    ports = [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, []),
             helper.make_tensor_value_info("state", 1, None)]  # fmt: skip
    step = [helper.make_node("Gemm", ["state", w, b], ["g"], "refine", transB=1), helper.make_node("Relu", ["g"], ["r"]),
            helper.make_node("Add", ["r", "x"], ["state_out"]), helper.make_node("Identity", ["go"], ["go_out"])]  # fmt: skip
    ends = [helper.make_tensor_value_info("go_out", 9, []), helper.make_tensor_value_info("state_out", 1, None)]
    last = f.node("Loop", [f.constant(np.array(3, np.int64)), f.constant(np.array(True)), "x"],
                  body=helper.make_graph(step, "body", ports, ends))  # fmt: skip

    def branch(kind: str) -> onnx.GraphProto:
        made = helper.make_node(kind, [last], [f"{kind}_out"], kind)
        return helper.make_graph([made], kind, [], [helper.make_tensor_value_info(f"{kind}_out", 1, None)])

    y = f.node("If", [f.weight(np.array(False), "train")], then_branch=branch("Tanh"), else_branch=branch("Softplus"))
    f.node("MatMul", [y, f.weight(f.floats(64, 32, scale=0.1), "head.weight")], out="y")
    found = at(folder, "refine", f.model({"x": (F, "batch", 64)}, {"y": (F, "batch", 32)}), {"x": f.floats(4, 64)})
    onnx.save_model(onnx.load(found.path), found.path, save_as_external_data=True, location="refine.onnx.data", size_threshold=256)
    return found


@stranger
def weights_with_a_norm(folder: Path) -> StrangerFile:
    """weight_norm left in the graph, dilated convolutions that see the past, gates by Split, a window of Swin's."""
    f = FileOf(17, "pytorch")

    def conv(x: str, inputs: int, outputs: int, dilation: int) -> str:
        v, g = f.weight(f.floats(outputs, inputs, 3)), f.weight(np.abs(f.floats(outputs, 1, 1)))
        norm = f.node("ReduceL2", [v], axes=[1, 2], keepdims=1)
        w = f.node("Mul", [v, f.node("Div", [g, norm])])
        past = f.node("Pad", [x, f.integers(0, 0, 2 * dilation, 0, 0, 0), f.constant(np.array(0, F))], mode="constant")
        return f.node("Conv", [past, w, f.weight(f.floats(outputs))], dilations=[dilation], kernel_shape=[3], group=1)

    x = "signal"
    for dilation in (1, 2):
        gate = ["a_" + str(dilation), "b_" + str(dilation)]
        f.node("Split", [conv(x, 16, 32, dilation)], out=gate, axis=1)
        x = f.node("Add", [x, f.node("Mul", [f.node("Tanh", [gate[0]]), f.node("Sigmoid", [gate[1]])])])
    rolled = [f.node("Slice", [x, f.integers(a), f.integers(b), f.integers(2)]) for a, b in ((4, 1 << 62), (0, 4))]
    x = f.node("Reshape", [f.node("Concat", rolled, axis=2), f.integers(1, 16, 4, 8)])
    x = f.node("Reshape", [f.node("Transpose", [x], perm=[0, 2, 3, 1]), f.integers(4, 8, 16)])
    score = f.node("Add", [f.node("MatMul", [x, f.node("Transpose", [x], perm=[0, 2, 1])]), f.weight(f.floats(1, 8, 8))])
    y = f.node("MatMul", [f.node("Softmax", [score], axis=-1), x])
    f.node("MatMul", [y, f.weight(f.floats(16, 16, scale=0.25))], out="out")
    made = f.model({"signal": (F, 1, 16, 32)}, {"out": (F, 4, 8, 16)})
    return at(folder, "gated", made, {"signal": f.floats(1, 16, 32)})
