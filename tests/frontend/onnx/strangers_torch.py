"""Files in the manner of PyTorch's two exporters: TorchScript's (opset 9 to 17) and torch.export's (18 and later)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


def _folded(f: FileOf, x: str, inputs: int, outputs: int, size: int, name: str, **how: Any) -> str:
    """A convolution whose batch normalisation the exporter has folded."""
    groups: int = how.get("group", 1)
    fan = inputs // groups * size * size
    w = f.weight(f.floats(outputs, inputs // groups, size, size, scale=1 / math.sqrt(fan)), f"onnx::Conv_{name}.w")
    b = f.weight(f.floats(outputs, scale=0.1), f"onnx::Conv_{name}.b")
    pad = (size - 1) // 2
    return f.node("Conv", [x, w, b], kernel_shape=[size, size], pads=[pad] * 4, dilations=[1, 1], **how)


@stranger
def torchscript_resnet(folder: Path) -> StrangerFile:
    """Residual blocks, a batch that is free, x.view(x.size(0), -1) before the classifier."""
    f = FileOf(13, "pytorch")
    x = f.node("Relu", [_folded(f, "input", 3, 16, 3, "stem", strides=[2, 2], group=1)])
    x = f.node("MaxPool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], ceil_mode=0)
    width = 16
    for i, outputs in enumerate((16, 32)):
        step = 1 if outputs == width else 2
        y = f.node("Relu", [_folded(f, x, width, outputs, 3, f"{i}.1", strides=[step, step], group=1)])
        y = _folded(f, y, outputs, outputs, 3, f"{i}.2", strides=[1, 1], group=1)
        if step == 2:
            x = _folded(f, x, width, outputs, 1, f"{i}.d", strides=[2, 2], group=1)
        x, width = f.node("Relu", [f.node("Add", [y, x])]), outputs
    x = f.node("GlobalAveragePool", [x])
    count = f.node("Gather", [f.node("Shape", [x]), f.constant(np.array(0, np.int64))], axis=0)
    parts = [f.node("Unsqueeze", [count, f.constant(np.array([0], np.int64))]), f.constant(np.array([-1], np.int64))]
    x = f.node("Reshape", [x, f.node("Concat", parts, axis=0)])
    f.node("Gemm", [x, f.weight(f.floats(10, width, scale=0.2), "fc.weight"), f.weight(f.floats(10), "fc.bias")], out="output",
           alpha=1.0, beta=1.0, transB=1)  # fmt: skip
    made = f.model({"input": (F, "batch", 3, 32, 32)}, {"output": (F, "batch", 10)})
    return at(folder, "resnet", made, {"input": f.floats(2, 3, 32, 32)})


@stranger
def dynamo_attention(folder: Path) -> StrangerFile:
    """scaled_dot_product_attention of torch.export's exporter: two sequences, both factors scaled, rows of NaN guarded."""
    return exported_attention(folder, 2, 12, 4, 16)


def exported_attention(folder: Path, batch: int, tokens: int, heads: int, each: int, *, mask_given: bool = False) -> StrangerFile:
    """The same of any size; the mask a causal weight, or an input."""
    f = FileOf(20, "pytorch", style="val_{n}", ir=10)
    width = heads * each
    parts: list[str] = []
    for name in ("q", "k", "v"):
        w = f.weight(f.floats(width, width, scale=width**-0.5), f"attn.{name}_proj.weight")
        y = f.node("Add", [f.node("MatMul", ["x", f.node("Transpose", [w], perm=[1, 0])]), f.weight(f.floats(width, scale=0.1))])
        y = f.node("Reshape", [y, f.integers(batch, tokens, heads, each)], allowzero=1)
        parts.append(f.node("Transpose", [y], perm=[0, 2, 1, 3]))
    scale = f.weight(np.array(each**-0.25, F))
    flat = f.node("Reshape", [parts[1], f.integers(-1, tokens, each)], allowzero=1)
    turned = f.node("Transpose", [flat], perm=[0, 2, 1])
    keys = f.node("Reshape", [turned, f.integers(batch, heads, each, tokens)], allowzero=1)
    scores = f.node("MatMul", [f.node("Mul", [parts[0], scale]), f.node("Mul", [keys, scale])])
    lower = np.tril(np.ones((tokens, tokens), bool))
    hidden = np.where(lower, F(0), F(-np.inf))
    mask = "mask" if mask_given else f.weight(hidden, "mask")
    weights = f.node("Softmax", [f.node("Add", [scores, mask])], axis=-1)
    weights = f.node("Where", [f.node("IsNaN", [weights]), f.weight(np.array(0, F)), weights])
    y = f.node("Transpose", [f.node("MatMul", [weights, parts[2]])], perm=[0, 2, 1, 3])
    y = f.node("Reshape", [y, f.integers(batch, tokens, width)], allowzero=1)
    w = f.node("Transpose", [f.weight(f.floats(width, width, scale=width**-0.5), "attn.out_proj.weight")], perm=[1, 0])
    y = f.node("Add", ["x", f.node("Add", [f.node("MatMul", [y, w]), f.weight(f.floats(width, scale=0.1))])])
    scale, bias = f.weight(np.ones(width, F), "norm.weight"), f.weight(np.zeros(width, F), "norm.bias")
    f.node("LayerNormalization", [y, scale, bias], out="layer_norm", axis=-1, epsilon=1e-5)
    shape = (batch, tokens, width)
    masks = {"mask": (F, tokens, tokens)} if mask_given else {}
    made = f.model({"x": (F, *shape), **masks}, {"layer_norm": (F, *shape)})
    return at(folder, "sdpa", made, {"x": f.floats(*shape), **dict.fromkeys(masks, hidden)})


@stranger
def torchscript_masked_attention(folder: Path) -> StrangerFile:
    """BERT's attention by TorchScript: a mask of the run made additive, sizes by Shape and Gather, the head's split by Concat."""
    f = FileOf(14, "pytorch")
    heads, each = 2, 8
    width = heads * each
    mask = f.node("Unsqueeze", ["attention_mask", f.constant(np.array([1, 2], np.int64))])
    mask = f.node("Sub", [f.constant(np.array(1, F)), f.node("Cast", [mask], to=onnx.TensorProto.FLOAT)])
    mask = f.node("Mul", [mask, f.constant(np.array(np.finfo(F).min, F))])
    table = f.weight(f.floats(50, width), "embeddings.weight")
    x = f.node("Gather", [table, "input_ids"])

    def split(name: str) -> str:
        w, b = f.weight(f.floats(width, width, scale=0.2)), f.weight(f.floats(width), f"{name}.bias")
        y = f.node("Add", [b, f.node("MatMul", [x, w])])
        sizes = [f.node("Gather", [f.node("Shape", [y]), f.constant(np.array(i, np.int64))], axis=0) for i in (0, 1)]
        sizes = [f.node("Unsqueeze", [s, f.constant(np.array([0], np.int64))]) for s in sizes]
        shape = f.node("Concat", [*sizes, f.constant(np.array([heads], np.int64)), f.constant(np.array([each], np.int64))], axis=0)
        return f.node("Reshape", [y, shape])

    q = f.node("Transpose", [split("query")], perm=[0, 2, 1, 3])
    k = f.node("Transpose", [split("key")], perm=[0, 2, 3, 1])
    v = f.node("Transpose", [split("value")], perm=[0, 2, 1, 3])
    scores = f.node("Div", [f.node("MatMul", [q, k]), f.constant(np.array(math.sqrt(each), F))])
    weights = f.node("Softmax", [f.node("Add", [scores, mask])], axis=-1)
    y = f.node("Transpose", [f.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
    f.node("Reshape", [y, f.constant(np.array([0, 0, width], np.int64))], out="last_hidden_state")
    ids = {"input_ids": (np.int64, "batch", "sequence"), "attention_mask": (np.int64, "batch", "sequence")}
    made = f.model(ids, {"last_hidden_state": (F, "batch", "sequence", width)})
    seen = np.ones((2, 7), np.int64)
    seen[1, 5:] = 0
    return at(folder, "bert", made, {"input_ids": f.rng.integers(0, 50, (2, 7)), "attention_mask": seen})


@stranger
def torchscript_group_norm_unet(folder: Path) -> StrangerFile:
    """Down and up: GroupNorm as Reshape, InstanceNormalization, Reshape; SiLU; ConvTranspose; bilinear Resize; skips."""
    f = FileOf(16, "pytorch")

    def block(x: str, inputs: int, outputs: int, name: str) -> str:
        y = _folded(f, x, inputs, outputs, 3, name, strides=[1, 1], group=1)
        groups = f.node("Reshape", [y, f.constant(np.array([0, 4, -1], np.int64))])
        ones, zeros = f.constant(np.ones(4, F)), f.constant(np.zeros(4, F))
        y = f.node("Reshape", [f.node("InstanceNormalization", [groups, ones, zeros], epsilon=1e-5), f.node("Shape", [y])])
        y = f.node("Mul", [y, f.weight(f.floats(outputs, 1, 1))])
        y = f.node("Add", [y, f.weight(f.floats(outputs, 1, 1))])
        return f.node("Mul", [y, f.node("Sigmoid", [y])])

    one = block("sample", 3, 8, "down1")
    two = block(f.node("AveragePool", [one], kernel_shape=[2, 2], strides=[2, 2]), 8, 16, "down2")
    w, b = f.weight(f.floats(16, 8, 2, 2, scale=0.2)), f.weight(f.floats(8))
    up = f.node("ConvTranspose", [two, w, b], kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4, group=1, dilations=[1, 1])
    y = block(f.node("Concat", [up, one], axis=1), 16, 8, "up1")
    y = f.node("Resize", [y, "", f.constant(np.array([1, 1, 2, 2], F))], mode="linear", cubic_coeff_a=-0.75,
               coordinate_transformation_mode="pytorch_half_pixel", nearest_mode="floor")  # fmt: skip
    f.node("Tanh", [_folded(f, y, 8, 1, 1, "head", strides=[1, 1], group=1)], out="out")
    made = f.model({"sample": (F, 1, 3, "h", "w")}, {"out": (F, 1, 1, "h2", "w2")})
    return at(folder, "unet", made, {"sample": f.floats(1, 3, 16, 16)})


@stranger
def torchscript_tagger(folder: Path) -> StrangerFile:
    """A bidirectional LSTM over an embedding; its initial states are ConstantOfShape of sizes of the run."""
    f = FileOf(11, "pytorch", style="{n}", ir=6)
    hidden = 6
    x = f.node("Gather", [f.weight(f.floats(30, 5), "embed.weight"), "tokens"], axis=0)
    x = f.node("Transpose", [x], perm=[1, 0, 2])
    batch = f.node("Gather", [f.node("Shape", [x]), f.constant(np.array(1, np.int64))], axis=0)
    shape = [f.constant(np.array([2], np.int64)), f.node("Unsqueeze", [batch], axes=[0]), f.constant(np.array([hidden], np.int64))]
    state = f.node("ConstantOfShape", [f.node("Concat", shape, axis=0)], value=helper.make_tensor("value", 1, [1], [0.0]))
    weights = [f.weight(f.floats(2, 4 * hidden, n, scale=0.4)) for n in (5, hidden)] + [f.weight(f.floats(2, 8 * hidden))]
    y = f.node("LSTM", [x, *weights, "", state, state], out=["lstm_y", "lstm_h", "lstm_c"], direction="bidirectional",
               hidden_size=hidden)  # fmt: skip
    y = f.node("Transpose", [y], perm=[0, 2, 1, 3])
    y = f.node("Reshape", [y, f.constant(np.array([0, 0, -1], np.int64))])
    y = f.node("MatMul", [f.node("Transpose", [y], perm=[1, 0, 2]), f.weight(f.floats(2 * hidden, 4))])
    f.node("LogSoftmax", [y], out="tags", axis=2)
    made = f.model({"tokens": (np.int64, "batch", "time")}, {"tags": (F, "batch", "time", 4)})
    return at(folder, "tagger", made, {"tokens": f.rng.integers(0, 30, (2, 6))})


@stranger
def torchscript_squeeze_if(folder: Path) -> StrangerFile:
    """x.squeeze(1) as TorchScript writes it: an If on Shape; beside it a Loop of fixed rounds and a Scan."""
    f = FileOf(12, "pytorch", style="{n}", ir=7)
    size = f.node("Gather", [f.node("Shape", ["x"]), f.constant(np.array(1, np.int64))], axis=0)
    one = f.node("Equal", [size, f.constant(np.array(1, np.int64))])
    scalar = helper.make_empty_tensor_value_info
    then = helper.make_graph([helper.make_node("Squeeze", ["x"], ["s"], "then", axes=[1])], "then", [], [scalar("s")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["i"], "else")], "else", [], [scalar("i")])
    y = f.node("If", [one], then_branch=then, else_branch=other)
    w = f.weight(f.floats(8, 8, scale=0.3))
    ports = [helper.make_tensor_value_info("r", 7, []), helper.make_tensor_value_info("c", 9, []),
             helper.make_tensor_value_info("h", 1, ["n", 8])]  # fmt: skip
    step = [helper.make_node("MatMul", ["h", w], ["hw"]), helper.make_node("Tanh", ["hw"], ["hn"]),
            helper.make_node("Identity", ["c"], ["cn"]), helper.make_node("Identity", ["hn"], ["seen"])]  # fmt: skip
    outs = [helper.make_tensor_value_info("cn", 9, []), *(helper.make_tensor_value_info(n, 1, ["n", 8]) for n in ("hn", "seen"))]
    f.node("Loop", [f.constant(np.array(3, np.int64)), f.constant(np.array(True)), y], out=["last", "states"],
           body=helper.make_graph(step, "body", ports, outs))  # fmt: skip
    row = helper.make_tensor_value_info("row", 1, [8])
    total = helper.make_tensor_value_info("total", 1, [8])
    body = [helper.make_node("Add", ["total", "row"], ["total2"]), helper.make_node("Identity", ["total2"], ["kept"])]
    results = [helper.make_tensor_value_info(n, 1, [8]) for n in ("total2", "kept")]
    f.node("Scan", [f.constant(np.zeros(8, F)), "last"], out=["sum", "running"], num_scan_inputs=1,
           body=helper.make_graph(body, "scan", [total, row], results))  # fmt: skip
    outputs = {"states": (F, 3, "n", 8), "sum": (F, 8), "running": (F, "n", 8)}
    return at(folder, "control", f.model({"x": (F, "n", "one", 8)}, outputs), {"x": f.floats(5, 1, 8)})


@stranger
def torch_spatial_transformer(folder: Path) -> StrangerFile:
    """A localisation network, affine_grid as MatMul of a constant grid, grid_sample."""
    f = FileOf(16, "pytorch")
    y = f.node("MaxPool", [_folded(f, "image", 1, 4, 5, "loc", strides=[1, 1], group=1)], kernel_shape=[2, 2], strides=[2, 2])
    y = f.node("Flatten", [f.node("Relu", [y])], axis=1)
    y = f.node("Gemm", [y, f.weight(f.floats(6, 4 * 36, scale=0.02)), f.weight(np.array([1, 0, 0, 0, 1, 0], F))], transB=1)
    theta = f.node("Transpose", [f.node("Reshape", [y, f.constant(np.array([-1, 2, 3], np.int64))])], perm=[0, 2, 1])
    line = (np.arange(12) * 2 + 1) / 12 - 1
    places = np.stack([*np.meshgrid(line, line), np.ones((12, 12))], -1).reshape(144, 3).astype(F)
    grid = f.node("Reshape", [f.node("MatMul", [f.constant(places), theta]), f.constant(np.array([-1, 12, 12, 2], np.int64))])
    f.node("GridSample", ["image", grid], out="turned", mode="bilinear", padding_mode="zeros", align_corners=0)
    made = f.model({"image": (F, "n", 1, 12, 12)}, {"turned": (F, "n", 1, 12, 12)})
    return at(folder, "spatial", made, {"image": f.floats(2, 1, 12, 12)})


@stranger
def torch_boolean_index(folder: Path) -> StrangerFile:
    """x[x > 0] (NonZero, Transpose, GatherND), and rows of a mask of the run: the number of results depends on data."""
    f = FileOf(13, "pytorch")
    found = f.node("NonZero", [f.node("Greater", ["scores", f.constant(np.array(0.5, F))])])
    rows = f.node("Squeeze", [f.node("Transpose", [found], perm=[1, 0]), f.constant(np.array([1], np.int64))])
    kept = f.node("Gather", ["boxes", rows], axis=0)
    low = f.node("Slice", [kept, f.integers(0), f.integers(2), f.integers(1)])
    high = f.node("Slice", [kept, f.integers(2), f.integers(4), f.integers(1)])
    size = f.node("Sub", [high, low])
    f.node("Concat", [f.node("Div", [f.node("Add", [low, high]), f.constant(np.array(2, F))]), size], out="centred", axis=1)
    made = f.model({"boxes": (F, "n", 4), "scores": (F, "n")}, {"centred": (F, "kept", 4)})
    scores = f.rng.uniform(0, 1, 16).astype(F)
    return at(folder, "filter", made, {"boxes": f.floats(16, 4), "scores": scores})


@stranger
def torch_kv_cache_step(folder: Path) -> StrangerFile:
    """A decoder's step: a past of keys is joined, positions by Range, a causal mask by Trilu and Where, ScatterND into a cache."""
    f = FileOf(17, "pytorch")
    each = 8
    ones = [f.weight(f.floats(each, each, scale=0.4)) for _ in range(3)]
    q, k, v = (f.node("MatMul", ["x", w]) for w in ones)
    k = f.node("Concat", ["past_key", k], axis=1, out="present_key")
    v = f.node("Concat", ["past_value", v], axis=1, out="present_value")
    total = f.node("Gather", [f.node("Shape", [k]), f.constant(np.array(1, np.int64))], axis=0)
    here = f.node("Gather", [f.node("Shape", [q]), f.constant(np.array(1, np.int64))], axis=0)
    positions = f.node("Range", [f.constant(np.array(0, np.int64)), total, f.constant(np.array(1, np.int64))])
    first = f.node("Sub", [total, here])
    own = f.node("Add", [f.node("Range", [f.constant(np.array(0, np.int64)), here, f.constant(np.array(1, np.int64))]), first])
    seen = f.node("LessOrEqual", [f.node("Unsqueeze", [positions, f.constant(np.array([0], np.int64))]),
                                  f.node("Unsqueeze", [own, f.constant(np.array([1], np.int64))])])  # fmt: skip
    scores = f.node("MatMul", [q, f.node("Transpose", [k], perm=[0, 2, 1])])
    scores = f.node("Where", [seen, scores, f.constant(np.array(np.finfo(F).min, F))])
    y = f.node("MatMul", [f.node("Softmax", [scores], axis=-1), v])
    count = f.node("Unsqueeze", [own, f.constant(np.array([1], np.int64))])
    f.node("ScatterND", ["cache", count, f.node("Squeeze", [y, f.constant(np.array([0], np.int64))])], out="new_cache")
    ports = {
        "x": (F, 1, "tokens", each),
        "past_key": (F, 1, "past", each),
        "past_value": (F, 1, "past", each),
        "cache": (F, 32, each),
    }
    outs = {"new_cache": (F, 32, each), "present_key": (F, 1, "total", each), "present_value": (F, 1, "total", each)}
    given = {"x": f.floats(1, 3, each), "past_key": f.floats(1, 5, each), "past_value": f.floats(1, 5, each),
             "cache": f.floats(32, each)}  # fmt: skip
    return at(folder, "step", f.model(ports, outs), given)
