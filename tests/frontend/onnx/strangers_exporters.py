"""Files with operators in the combinations that exporters leave: grids of places, regions, fused decoders, loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import helper
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


@stranger
def spatial_transformer_21(folder: Path) -> StrangerFile:
    """torch's affine_grid and grid_sample of one image behind GroupNormalization and GELU, opset 21."""
    f = FileOf(21, "pytorch", ir=10)
    x = f.node("GroupNormalization", ["x", f.weight(1 + f.floats(4)), f.weight(f.floats(4))], num_groups=2)
    x = f.node("Gelu", [x], approximate="tanh")
    grid = f.node("AffineGrid", ["theta", f.integers(1, 4, 5, 5)], align_corners=0)
    x = f.node("GridSample", [x, grid], mode="linear", padding_mode="border")
    f.node("ReduceLogSumExp", [x, f.integers(2, 3)], out="y", keepdims=0)
    made = f.model({"x": (F, 1, 4, 6, 6), "theta": (F, 1, 2, 3)}, {"y": (F, 1, 4)})
    return at(folder, "transformer", made, {"x": f.floats(1, 4, 6, 6), "theta": f.floats(1, 2, 3)})


@stranger
def region_head(folder: Path) -> StrangerFile:
    """The head of a detector: RoiAlign of constant regions, a dense layer, the two best classes."""
    f = FileOf(16, "pytorch")
    rois = f.weight(np.array([[0, 0, 10, 12], [3, 2, 18, 18], [5, 5, 6, 6]], F))
    how = {"output_height": 3, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5}
    p = f.node("RoiAlign", ["x", rois, f.integers(0, 0, 0)], **how)
    h = f.node("Gemm", [f.node("Flatten", [p]), f.weight(f.floats(36, 6, scale=0.2)), f.weight(f.floats(6))])
    f.node("TopK", [f.node("Softmax", [h], axis=-1), f.integers(2)], out=["v", "i"], axis=-1)
    return at(
        folder, "regions", f.model({"x": (F, 1, 4, 10, 10)}, {"v": (F, 3, 2), "i": (np.int64, 3, 2)}), {"x": f.floats(1, 4, 10, 10)}
    )


@stranger
def fused_decoder_block(folder: Path) -> StrangerFile:
    """A block of a decoder as onnxruntime's optimiser fuses it: norms, rotary positions, causal attention, FusedMatMul."""
    f = FileOf(17, "onnxruntime.transformers")
    wide, ms = 32, {"domain": "com.microsoft"}
    g = f.weight(1 + f.floats(wide, scale=0.1))
    angles = np.outer(np.arange(8), 10000.0 ** -(np.arange(4) / 4))
    cos, sin = (f.weight(t(angles).astype(F)) for t in (np.cos, np.sin))
    n = f.node("SimplifiedLayerNormalization", ["x", g], epsilon=1e-6, axis=-1, stash_type=1)
    q, k, v = (f.node("MatMul", [n, f.weight(f.floats(wide, wide, scale=0.2))]) for _ in range(3))
    q, k = (f.node("RotaryEmbedding", [t, "positions", cos, sin], num_heads=4, **ms) for t in (q, k))
    a = f.node("MultiHeadAttention", [q, k, v], num_heads=4, unidirectional=1, **ms)
    s = f.node("SkipSimplifiedLayerNormalization", [a, "x", g], out=["normed", "", "", "sum"], epsilon=1e-6, **ms)
    h = f.node("FusedMatMul", [s, f.weight(f.floats(48, wide, scale=0.2))], transB=1, alpha=0.5, **ms)
    h = f.node("MatMul", [f.node("QuickGelu", [h], alpha=1.702, **ms), f.weight(f.floats(48, wide, scale=0.2))])
    f.node("Add", [h, "sum"], out="y")
    made = f.model({"x": (F, 2, 5, wide), "positions": (np.int64, 2, 5)}, {"y": (F, 2, 5, wide)})
    return at(folder, "decoder", made, {"x": f.floats(2, 5, wide), "positions": np.tile(np.arange(5), (2, 1))})


@stranger
def loop_and_scan(folder: Path) -> StrangerFile:
    """Recurrences as tf2onnx and script modules write them: Loop that stacks its states, Scan over them."""
    f = FileOf(16, "tf2onnx")
    port = FileOf._port  # pyright: ignore[reportPrivateUsage]
    step = [
        helper.make_node("Identity", ["go"], ["still"]), helper.make_node("Mul", ["state", "half"], ["less"]),
        helper.make_node("Add", ["less", "x"], ["next"]), helper.make_node("Identity", ["next"], ["kept"]),
    ]  # fmt: skip
    given = [port("n", np.int64), port("go", np.bool_), port("state", F, 4)]
    body = helper.make_graph(step, "body", given, [port("still", np.bool_), port("next", F, 4), port("kept", F, 4)])
    adding = [helper.make_node("Add", ["sum", "row"], ["more"]), helper.make_node("Tanh", ["more"], ["seen"])]
    scan = helper.make_graph(adding, "scan", [port("sum", F, 4), port("row", F, 4)], [port("more", F, 4), port("seen", F, 4)])
    f.weight(np.array(0.5, F), "half")
    f.node("Loop", [f.weight(np.array(5)), "", "x"], out=["last", "all"], body=body)
    f.node("Scan", ["x", "all"], out=["end", "rows"], body=scan, num_scan_inputs=1)
    made = f.model({"x": (F, 4)}, {"last": (F, 4), "end": (F, 4), "rows": (F, 5, 4)})
    return at(folder, "loops", made, {"x": f.floats(4)})
