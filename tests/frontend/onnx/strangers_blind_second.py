"""Files written before anybody looked at the front end: transformers, contrib operators of onnxruntime, tables, odd types."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32
MS = "com.microsoft"


@stranger
def blind_bert_optimised(folder: Path) -> StrangerFile:
    """BERT as onnxruntime's optimiser writes it: EmbedLayerNormalization, Attention, SkipLayerNormalization, BiasGelu."""
    f = FileOf(14, "onnxruntime.transformers", seed=20)
    d, h = 16, 4
    ones, zeros = f.weight(np.ones(d, F)), f.weight(np.zeros(d, F))
    tables = [f.weight(f.floats(n, d)) for n in (50, 12, 2)]
    x = f.node(
        "EmbedLayerNormalization",
        ["ids", "segments", *tables, ones, zeros, "mask"],
        out=["embedded", "mask_index"],
        domain=MS,
        epsilon=1e-12,
    )
    for _ in range(2):
        a = f.node(
            "Attention",
            [x, f.weight(f.floats(d, 3 * d, scale=0.3)), f.weight(f.floats(3 * d, scale=0.1)), "mask_index"],
            domain=MS,
            num_heads=h,
        )
        a = f.node("MatMul", [a, f.weight(f.floats(d, d, scale=0.3))])
        x = f.node("SkipLayerNormalization", [x, a, ones, zeros, f.weight(f.floats(d, scale=0.1))], domain=MS, epsilon=1e-12)
        y = f.node("MatMul", [x, f.weight(f.floats(d, 32, scale=0.3))])
        y = f.node("BiasGelu", [y, f.weight(f.floats(32, scale=0.1))], domain=MS)
        y = f.node("MatMul", [y, f.weight(f.floats(32, d, scale=0.3))])
        x = f.node("SkipLayerNormalization", [y, x, ones, zeros], domain=MS, epsilon=1e-12)
    f.node("Tanh", [f.node("Gather", [x, f.weight(np.array(0))], axis=1)], out="pooled")
    f.node("Identity", [x], out="hidden")
    inputs = dict.fromkeys(("ids", "segments", "mask"), (np.int32, "batch", 6))
    mask = np.ones((2, 6), np.int32)
    mask[1, 4:] = 0
    arrays = {"ids": f.rng.integers(0, 50, (2, 6)).astype(np.int32), "segments": np.zeros((2, 6), np.int32), "mask": mask}
    return at(folder, "bert", f.model(inputs, {"hidden": (F, "batch", 6, d), "pooled": (F, "batch", d)}), arrays)


@stranger
def blind_llama_of_genai(folder: Path) -> StrangerFile:
    """A layer of onnxruntime-genai: SimplifiedLayerNormalization, MatMulNBits, RotaryEmbedding inside GroupQueryAttention."""
    f = FileOf(21, "onnxruntime-genai", seed=21, ir=10)
    d, heads, kv, size = 64, 4, 2, 16

    def bits(x: str, k: int, n: int) -> str:
        blocks = k // 32
        packed = f.weight(f.rng.integers(0, 256, (n, blocks, 16)).astype(np.uint8))
        scales = f.weight(np.abs(f.floats(n * blocks, scale=0.02)) + F(0.005))
        return f.node("MatMulNBits", [x, packed, scales], domain=MS, K=k, N=n, bits=4, block_size=32, accuracy_level=0)

    x = f.node("Gather", [f.weight(f.floats(30, d)), "input_ids"])
    n = f.node("SimplifiedLayerNormalization", [x, f.weight(np.ones(d, F))], axis=-1, epsilon=1e-5, stash_type=1)
    q, k, v = bits(n, d, d), bits(n, d, kv * size), bits(n, d, kv * size)
    ang = np.outer(np.arange(16), 1e4 ** (-np.arange(0, size, 2) / size))
    cos, sin = f.weight(np.cos(ang).astype(F)), f.weight(np.sin(ang).astype(F))
    total = f.node("Cast", [f.node("ReduceSum", ["attention_mask", f.integers(1)], keepdims=0)], to=TensorProto.INT32)
    lens = f.node("Sub", [total, f.weight(np.array(1, np.int32))])
    length = f.node("Gather", [f.node("Shape", ["attention_mask"]), f.weight(np.array(1))])
    length = f.node("Cast", [length], to=TensorProto.INT32)
    a = f.node(
        "GroupQueryAttention",
        [q, k, v, "past_key", "past_value", lens, length, cos, sin],
        out=["attn", "present_key", "present_value"],
        domain=MS,
        num_heads=heads,
        kv_num_heads=kv,
        do_rotary=1,
        scale=1 / math.sqrt(size),
    )
    skip = ["", "", "", "sum"]
    y = f.node(
        "SkipSimplifiedLayerNormalization",
        [x, bits(a, d, d), f.weight(np.ones(d, F))],
        out=["normed", *skip[:2], "sum"],
        domain=MS,
        epsilon=1e-5,
    )
    gate = bits(y, d, 96)
    m = f.node("Mul", [f.node("Mul", [gate, f.node("Sigmoid", [gate])]), bits(y, d, 96)])
    x = f.node("Add", ["sum", bits(m, 96, d)])
    bits(x, d, 30)
    f.nodes[-1].output[0] = "logits"
    inputs = {
        "input_ids": (np.int64, 1, "seq"),
        "attention_mask": (np.int64, 1, "total"),
        "past_key": (F, 1, kv, "past", size),
        "past_value": (F, 1, kv, "past", size),
    }
    outputs = {"logits": (F, 1, "seq", 30), "present_key": (F, 1, kv, "total", size), "present_value": (F, 1, kv, "total", size)}
    arrays = {
        "input_ids": f.rng.integers(0, 30, (1, 1)),
        "attention_mask": np.ones((1, 5), np.int64),
        "past_key": f.floats(1, kv, 4, size),
        "past_value": f.floats(1, kv, 4, size),
    }
    return at(folder, "llama", f.model(inputs, outputs), arrays)


@stranger
def blind_multi_head_attention(folder: Path) -> StrangerFile:
    """MultiHeadAttention of com.microsoft across, with a bias and a key padding mask, between FastGelu and LayerNorm."""
    f = FileOf(17, "onnxruntime.transformers", seed=22)
    d = 24
    q = f.node("MatMul", ["x", f.weight(f.floats(d, d, scale=0.2))])
    k, v = (f.node("MatMul", ["memory", f.weight(f.floats(d, d, scale=0.2))]) for _ in range(2))
    a = f.node("MultiHeadAttention", [q, k, v, f.weight(f.floats(3 * d, scale=0.1)), "keys"], domain=MS, num_heads=3)
    y = f.node("LayerNormalization", [f.node("Add", [a, "x"]), f.weight(np.ones(d, F))], axis=2)
    y = f.node("FastGelu", [y, f.weight(f.floats(d, scale=0.1))], domain=MS)
    y = f.node("QuickGelu", [y], domain=MS, alpha=1.702)
    f.node("FusedMatMul", [y, y], out="gram", domain=MS, transB=1, alpha=0.5)
    inputs = {"x": (F, 2, 4, d), "memory": (F, 2, 7, d), "keys": (np.int32, 2, 7)}
    keys = np.ones((2, 7), np.int32)
    keys[0, 5:] = 0
    arrays = {"x": f.floats(2, 4, d), "memory": f.floats(2, 7, d), "keys": keys}
    return at(folder, "mha", f.model(inputs, {"gram": (F, 2, 4, 4)}), arrays)


@stranger
def blind_group_norm_21(folder: Path) -> StrangerFile:
    """GroupNormalization, Gelu, Mish, HardSwish, Celu, ThresholdedRelu, Shrink, Hardmax, BitShift, Trilu, CumSum of opset 21."""
    f = FileOf(21, "pytorch", seed=23, ir=10)
    x = f.node("GroupNormalization", ["x", f.weight(f.floats(8)), f.weight(f.floats(8))], num_groups=4, epsilon=1e-4)
    x = f.node("Gelu", [x], approximate="tanh")
    x = f.node("Mish", [x])
    x = f.node("Add", [f.node("HardSwish", [x]), f.node("Celu", [x], alpha=0.7)])
    x = f.node("Add", [f.node("ThresholdedRelu", [x], alpha=0.2), f.node("Shrink", [x], lambd=0.3, bias=0.1)])
    x = f.node("CumSum", [x, f.weight(np.array(-1))], exclusive=1, reverse=1)
    x = f.node("Trilu", [x, f.weight(np.array(1))], upper=0)
    f.node("Hardmax", [x], out="hard", axis=1)
    f.node("ReduceLogSumExp", [x, f.integers(2, 3)], out="lse", keepdims=0)
    f.node("ReduceL2", [x, f.integers(1)], out="l2")
    f.node("MeanVarianceNormalization", [x], out="mvn", axes=[0, 2, 3])
    outputs = {"hard": (F, 2, 8, 5, 5), "lse": (F, 2, 8), "l2": (F, 2, 1, 5, 5), "mvn": (F, 2, 8, 5, 5)}
    return at(folder, "norms", f.model({"x": (F, 2, 8, 5, 5)}, outputs), {"x": f.floats(2, 8, 5, 5)})


@stranger
def blind_topk_and_scatter(folder: Path) -> StrangerFile:
    """TopK with K from an input, ScatterND and ScatterElements that reduce, GatherElements, OneHot, NonZero, Compress, Unique."""
    f = FileOf(18, "pytorch", seed=24)
    values = f.node("TopK", ["x", f.integers(3)], out=["top", "where"], axis=1, largest=1, sorted=1)
    f.node("GatherElements", ["x", "where"], out="again", axis=1)
    f.node("ScatterElements", ["x", "where", values], out="doubled", axis=1, reduction="add")
    rows = f.weight(np.array([[0], [2], [0]], np.int64))
    f.node("ScatterND", ["x", rows, f.weight(f.floats(3, 8))], out="most", reduction="max")
    hot = f.node("OneHot", ["where", f.weight(np.array(8)), f.weight(np.array([0, 1], F))], axis=-1)
    f.node("ReduceSum", [hot, f.integers(1)], out="hot", keepdims=0)
    nz = f.node("NonZero", [f.node("Greater", ["x", f.weight(np.array(0.5, F))])])
    f.node("GatherND", ["x", f.node("Transpose", [nz], perm=[1, 0])], out="big")
    f.node("Compress", ["x", f.weight(np.array([True, False, True]))], out="rows", axis=0)
    f.node("TopK", ["x", f.integers(2)], out=["least", "least_at"], axis=0, largest=0)
    f.node("ArgMax", ["x"], out="last", axis=1, keepdims=0, select_last_index=1)
    outputs = {
        "again": (F, 3, 3),
        "doubled": (F, 3, 8),
        "most": (F, 3, 8),
        "hot": (F, 3, 8),
        "big": (F, None),
        "rows": (F, 2, 8),
        "least": (F, 2, 8),
        "last": (np.int64, 3),
    }
    return at(folder, "topk", f.model({"x": (F, 3, 8)}, outputs), {"x": f.floats(3, 8)})


@stranger
def blind_einsum_attention(folder: Path) -> StrangerFile:
    """Einsum of several operands, with an ellipsis, a repeated letter and a transposition, as JAX's exporters write."""
    f = FileOf(13, "jax2onnx", seed=25)
    q = f.node("Einsum", ["x", f.weight(f.floats(8, 2, 4, scale=0.4))], equation="btd,dhk->bthk")
    k = f.node("Einsum", ["x", f.weight(f.floats(8, 2, 4, scale=0.4))], equation="b t d, d h k -> b t h k")
    s = f.node("Einsum", [q, k], equation="bqhc,bkhc->bhqk")
    p = f.node("Softmax", [s], axis=-1)
    v = f.weight(f.floats(8, 2, 4, scale=0.4))
    f.node("Einsum", [p, "x", v], out="y", equation="bhqt,btd,dhk->bqhk")
    f.node("Einsum", [s], out="trace", equation="...ii->...i")
    f.node("Einsum", ["x"], out="sum", equation="ijk->")
    f.node("Einsum", ["x", "x"], out="gram", equation="bij,bkj")
    outputs = {"y": (F, 2, 5, 2, 4), "trace": (F, 2, 2, 5), "sum": (F,), "gram": (F, 5, 5)}
    return at(folder, "einsum", f.model({"x": (F, 2, 5, 8)}, outputs), {"x": f.floats(2, 5, 8)})


@stranger
def blind_bfloat_linear(folder: Path) -> StrangerFile:
    """Weights in bfloat16 that are cast before they are used, an activation rounded to it, and casts to float16 and back."""
    f = FileOf(16, "pytorch", seed=26)
    raw = f.floats(12, 10)
    f.weights.append(helper.make_tensor("w", TensorProto.BFLOAT16, [12, 10], raw.ravel().tolist()))
    w = f.node("Cast", ["w"], to=TensorProto.FLOAT)
    y = f.node("MatMul", ["x", w])
    y = f.node("Cast", [f.node("Cast", [y], to=TensorProto.BFLOAT16)], to=TensorProto.FLOAT)
    h = f.node("Cast", [y], to=TensorProto.FLOAT16)
    h = f.node("Add", [h, f.weight(f.floats(10).astype(np.float16))])
    h = f.node("Relu", [h])
    f.node("Cast", [h], out="y", to=TensorProto.FLOAT)
    return at(folder, "bfloat", f.model({"x": (F, 4, 12)}, {"y": (F, 4, 10)}), {"x": f.floats(4, 12)})


@stranger
def blind_external_data(folder: Path) -> StrangerFile:
    """Weights outside in one file behind offsets, in float16, with shared initializers and a subgraph's Constant inside."""
    f = FileOf(17, "pytorch", seed=27)
    w = f.weight(f.floats(32, 32, scale=0.2).astype(np.float16), "layer.weight")
    x = f.node("Cast", ["x"], to=TensorProto.FLOAT16)
    for _ in range(2):
        x = f.node("Relu", [f.node("MatMul", [x, w])])
    x = f.node("Cast", [x], to=TensorProto.FLOAT)
    x = f.node("Sub", [x, f.node("ReduceMax", [x], axes=[1])])
    f.node("Add", [x, f.constant(np.arange(32, dtype=F))], out="y")
    made = f.model({"x": (F, "n", 32)}, {"y": (F, "n", 32)})
    path = folder / "outside.onnx"
    onnx.save(made, path, save_as_external_data=True, all_tensors_to_one_file=True, location="outside.onnx.data", size_threshold=64)
    return StrangerFile(path, {"x": f.floats(3, 32)})


@stranger
def blind_shapes_at_run_time(folder: Path) -> StrangerFile:
    """Sizes from Shape, Expand, Tile, ConstantOfShape, Pad and Slice by computed values, EyeLike, Range, Size, dynamic batch."""
    f = FileOf(18, "pytorch", seed=28)
    shape = f.node("Shape", ["x"])
    n = f.node("Shape", ["x"], start=0, end=1)
    last = f.node("Shape", ["x"], start=-1)
    zeros = f.node(
        "ConstantOfShape", [f.node("Concat", [n, f.integers(1), last], axis=0)], value=helper.make_tensor("v", 1, [1], [0.5])
    )
    y = f.node("Concat", ["x", zeros], axis=1)
    y = f.node("Pad", [y, f.integers(0, 1, 0, 2), f.weight(np.array(-1, F)), f.integers(1, 2)], mode="constant")
    y = f.node("Pad", [y, f.integers(0, 1, 1, 0, 2, 0)], mode="reflect")
    half = f.node("Div", [last, f.integers(2)])
    y = f.node("Slice", [y, half, f.integers(-1), f.integers(2), f.integers(1)])
    y = f.node("Slice", [y, f.integers(-1), f.integers(-(2**63)), f.integers(1), f.integers(-2)])
    f.node("Tile", [y, f.integers(1, 2, 1)], out="y")
    f.node("Expand", [f.weight(f.floats(1, 1, 4)), shape], out="e")
    flat = f.node("Reshape", ["x", f.node("Concat", [n, f.integers(-1)], axis=0)])
    f.node("MatMul", [flat, f.node("EyeLike", [f.weight(f.floats(12, 12))], k=1)], out="m")
    f.node("Size", ["x"], out="size")
    outputs = {"y": (F, "n", None, None), "e": (F, "n", 3, 4), "m": (F, "n", 12), "size": (np.int64,)}
    return at(folder, "shapes", f.model({"x": (F, "n", 3, 4)}, outputs), {"x": f.floats(2, 3, 4)})


@stranger
def blind_integers_and_bits(folder: Path) -> StrangerFile:
    """Integer arithmetic: Mod both ways, BitShift, Bitwise operators, Div of negatives, Clip of int64, Min/Max, casts that wrap."""
    f = FileOf(18, "custom", seed=29)
    f.node("Mod", ["a", "b"], out="mod")
    f.node("Mod", [f.node("Cast", ["a"], to=1), f.weight(np.array(2.5, F))], out="fmod", fmod=1)
    f.node("Div", ["a", "b"], out="div")
    u = f.node("Cast", ["a"], to=TensorProto.UINT8)
    f.node("BitShift", [u, f.weight(np.array([1, 2, 3, 4, 5, 6], np.uint8))], out="shift", direction="LEFT")
    f.node("BitwiseXor", [u, f.node("BitwiseNot", [f.node("Cast", ["b"], to=TensorProto.UINT8)])], out="xor")
    f.node("Clip", ["a", f.weight(np.array(-3)), f.weight(np.array(4))], out="clip")
    f.node("Max", ["a", "b", f.weight(np.array([0]))], out="max")
    f.node("Where", [f.node("Equal", ["a", "b"]), "a", f.node("Neg", ["b"])], out="where")
    f.node(
        "Cast",
        [f.node("Cast", [f.node("Mul", ["a", f.weight(np.array([100]))])], to=TensorProto.INT8)],
        out="wrap",
        to=TensorProto.INT32,
    )
    f.node("Pow", ["a", f.weight(np.array(2, np.int32))], out="pow")
    f.node("Sign", ["b"], out="sign")
    kinds = {"mod": np.int64, "fmod": F, "div": np.int64, "shift": np.uint8, "xor": np.uint8, "clip": np.int64, "max": np.int64}
    kinds |= {"where": np.int64, "wrap": np.int32, "pow": np.int64, "sign": np.int64}
    a, b = np.array([7, -7, 8, -9, 5, -1]), np.array([3, 3, -3, -3, 5, 2])
    made = f.model({"a": (np.int64, 6), "b": (np.int64, 6)}, {n: (k, 6) for n, k in kinds.items()})
    return at(folder, "integers", made, {"a": a, "b": b})


@stranger
def blind_contrib_vision(folder: Path) -> StrangerFile:
    """onnxruntime's contrib operators for vision and codes: FusedConv, QLinearAdd, QLinearSigmoid, QGemm and others."""
    f = FileOf(13, "onnx.quantize", seed=30)
    x = f.node(
        "FusedConv",
        ["x", f.weight(f.floats(4, 3, 3, 3, scale=0.3)), f.weight(f.floats(4))],
        domain=MS,
        activation="Relu",
        pads=[1] * 4,
    )

    def how(scale: float, zero: int) -> list[str]:
        return [f.weight(np.array(scale, F)), f.weight(np.array(zero, np.uint8))]

    a, b, c, d, e = how(0.05, 10), how(0.04, 128), how(0.08, 60), how(1 / 256, 0), how(0.02, 5)
    q = f.node("QuantizeLinear", [x, *a])
    r = f.node("QuantizeLinear", [f.node("Neg", [x]), *b])
    q = f.node("QLinearAdd", [q, *a, r, *b, *c], domain=MS)
    q = f.node("QLinearMul", [q, *c, f.node("QLinearSigmoid", [q, *c, *d], domain=MS), *d, *c], domain=MS)
    q = f.node("QLinearLeakyRelu", [q, *c, *c], domain=MS, alpha=0.1)
    q = f.node("QLinearGlobalAveragePool", [q, *c, *e], domain=MS, channels_last=0)
    q = f.node("Flatten", [q])
    w = f.weight(f.rng.integers(-100, 100, (4, 6)).astype(np.int8))
    wz = [f.weight(np.array(0.01, F)), f.weight(np.array(0, np.int8))]
    g = f.node("QGemm", [q, *e, w, *wz, f.weight(f.rng.integers(-99, 99, 6).astype(np.int32)), *how(0.03, 128)], domain=MS)
    f.node("DequantizeLinear", [g, *how(0.03, 128)], out="y")
    return at(folder, "contrib", f.model({"x": (F, 1, 3, 6, 6)}, {"y": (F, 1, 6)}), {"x": f.floats(1, 3, 6, 6)})


@stranger
def blind_grid_and_regions(folder: Path) -> StrangerFile:
    """GridSample of each mode, RoiAlign, AffineGrid, LpPool, MaxUnpool, MaxPool with indices, 1-D Conv."""
    f = FileOf(20, "pytorch", seed=31, ir=9)
    grid = f.node("AffineGrid", ["theta", f.integers(1, 2, 5, 5)], align_corners=0)
    f.node("GridSample", ["x", grid], out="g1", mode="linear", padding_mode="reflection", align_corners=1)
    f.node("GridSample", ["x", grid], out="g2", mode="cubic", padding_mode="border")
    f.node("GridSample", ["x", grid], out="g3", mode="nearest")
    boxes = f.weight(np.array([[0, 0, 4, 4], [1, 2, 6.5, 5.5]], F))
    how = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.8}
    f.node("RoiAlign", ["x", boxes, f.integers(0, 0)], out="roi", mode="max", coordinate_transformation_mode="half_pixel", **how)
    f.node(
        "RoiAlign",
        ["x", boxes, f.integers(0, 0)],
        out="roi2",
        mode="avg",
        coordinate_transformation_mode="output_half_pixel",
        **how,
    )
    f.node("MaxPool", ["x"], out=["p", "at"], kernel_shape=[2, 2], strides=[2, 2])
    f.node("MaxUnpool", ["p", "at"], out="u", kernel_shape=[2, 2], strides=[2, 2])
    f.node("MaxPool", ["x"], out="ceil", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, dilations=[1, 2])
    f.node("LpPool", ["x"], out="lp", kernel_shape=[3, 2], p=3, strides=[1, 2])
    line = f.node("Reshape", ["x", f.integers(1, 4, 32)])
    f.node("Conv", [line, f.weight(f.floats(6, 2, 5, scale=0.3))], out="line", group=2, dilations=[2], pads=[4, 4], strides=[3])
    sizes = {"g1": (1, 2, 5, 5), "g2": (1, 2, 5, 5), "g3": (1, 2, 5, 5), "roi": (2, 2, 2, 3), "roi2": (2, 2, 2, 3)}
    sizes |= {"u": (1, 2, 8, 8), "ceil": (1, 2, 4, 3), "lp": (1, 2, 6, 4), "line": (1, 6, 11)}
    theta = np.array([[[0.9, 0.3, 0.1], [-0.2, 1.1, -0.3]]], F)
    made = f.model({"x": (F, 1, 2, 8, 8), "theta": (F, 1, 2, 3)}, {n: (F, *s) for n, s in sizes.items()})
    return at(folder, "grid", made, {"x": f.floats(1, 2, 8, 8), "theta": theta})


@stranger
def blind_functions_of_the_model(folder: Path) -> StrangerFile:
    """Local functions with attributes and overloads of another domain, one that calls the other, as torch.onnx's dynamo writes."""
    f = FileOf(18, "pytorch", seed=32)
    ops = [helper.make_opsetid("", 18), helper.make_opsetid("pkg.custom", 1)]
    scaled = helper.make_function(
        "pkg.custom",
        "Scaled",
        ["x"],
        ["y"],
        [
            helper.make_node("Constant", [], ["c"]),
            helper.make_node("CastLike", ["c", "x"], ["s"]),
            helper.make_node("Mul", ["x", "s"], ["y"]),
        ],
        ops,
        ["by"],
    )
    attribute = onnx.AttributeProto(name="value_float", ref_attr_name="by", type=onnx.AttributeProto.FLOAT)
    scaled.node[0].attribute.append(attribute)
    block = helper.make_function(
        "pkg.custom",
        "Block",
        ["x", "w"],
        ["y"],
        [
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("Scaled", ["m"], ["s"], domain="pkg.custom", by=0.25),
            helper.make_node("Softplus", ["s"], ["y"]),
        ],
        ops,
    )
    x = f.node("Block", ["x", f.weight(f.floats(6, 6))], domain="pkg.custom")
    x = f.node("Scaled", [x], domain="pkg.custom", by=3.0)
    f.node("Block", [x, f.weight(f.floats(6, 4))], out="y", domain="pkg.custom")
    made = f.model({"x": (F, 2, 6)}, {"y": (F, 2, 4)})
    made.functions.extend([block, scaled])
    return at(folder, "functions", made, {"x": f.floats(2, 6)})
