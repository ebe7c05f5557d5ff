"""Files that onnxruntime's own tools write of a float model: its quantiser, its optimiser, and its generators of decoders.

The quantiser and the optimiser are run, not imitated.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from strangers import FileOf, StrangerFile, at, stranger

F = np.float32


def _network(folder: Path) -> StrangerFile:
    """A convolutional network: a depthwise convolution, a residual, HardSwish taken apart, average pooling, a classifier."""
    f = FileOf(13, "pytorch")

    def conv(x: str, inputs: int, outputs: int, size: int, **how: Any) -> str:
        fan = inputs // how.get("group", 1)
        w = f.weight(f.floats(outputs, fan, size, size, scale=1 / math.sqrt(fan * size * size)))
        return f.node(
            "Conv", [x, w, f.weight(f.floats(outputs, scale=0.1))], kernel_shape=[size, size], pads=[size // 2] * 4, **how
        )

    x = f.node("Relu", [conv("x", 3, 16, 3, strides=[2, 2])])
    y = f.node("Relu", [conv(x, 16, 16, 3, group=16)])
    x = f.node("Add", [conv(y, 16, 16, 1), x])
    x = f.node("Relu", [conv(x, 16, 24, 3, strides=[2, 2])])
    x = f.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = f.node("Flatten", [f.node("GlobalAveragePool", [x])], axis=1)
    f.node("Gemm", [x, f.weight(f.floats(10, 24, scale=0.3)), f.weight(f.floats(10))], out="y", transB=1)
    return at(folder, "float", f.model({"x": (F, 1, 3, 24, 24)}, {"y": (F, 1, 10)}), {"x": f.floats(1, 3, 24, 24)})


def _encoder(folder: Path, layers: int = 1) -> StrangerFile:
    """An encoder with named sizes, as Sentence Transformers has it."""
    f = FileOf(14, "pytorch", seed=3)
    width, heads = 32, 2
    mask = f.node("Unsqueeze", ["attention_mask", f.integers(1, 2)])
    mask = f.node("Mul", [f.node("Sub", [f.weight(np.array(1, F)), f.node("Cast", [mask], to=1)]), f.weight(np.array(-1e4, F))])
    x = f.node("Add", [f.node("Gather", [f.weight(f.floats(60, width)), "input_ids"]), f.weight(f.floats(8, width))])

    def dense(x: str, inputs: int, outputs: int) -> str:
        w, b = f.weight(f.floats(inputs, outputs, scale=1 / math.sqrt(inputs))), f.weight(f.floats(outputs, scale=0.1))
        return f.node("Add", [f.node("MatMul", [x, w]), b])

    def norm(x: str) -> str:
        less = f.node("Sub", [x, f.node("ReduceMean", [x], axes=[-1])])
        spread = f.node("ReduceMean", [f.node("Pow", [less, f.weight(np.array(2, F))])], axes=[-1])
        y = f.node("Div", [less, f.node("Sqrt", [f.node("Add", [spread, f.weight(np.array(1e-12, F))])])])
        return f.node("Add", [f.node("Mul", [y, f.weight(np.abs(f.floats(width)) + F(0.5))]), f.weight(f.floats(width, scale=0.1))])

    x = norm(x)
    for _ in range(layers):
        parts = [f.node("Reshape", [dense(x, width, width), f.integers(0, 0, heads, width // heads)]) for _ in range(3)]
        q, v = (f.node("Transpose", [p], perm=[0, 2, 1, 3]) for p in (parts[0], parts[2]))
        k = f.node("Transpose", [parts[1]], perm=[0, 2, 3, 1])
        scores = f.node("Div", [f.node("MatMul", [q, k]), f.weight(np.array(4, F))])
        y = f.node("MatMul", [f.node("Softmax", [f.node("Add", [scores, mask])], axis=-1), v])
        y = f.node("Reshape", [f.node("Transpose", [y], perm=[0, 2, 1, 3]), f.integers(0, 0, width)])
        x = norm(f.node("Add", [dense(y, width, width), x]))
        h = dense(x, width, 64)
        erf = f.node("Erf", [f.node("Div", [h, f.weight(np.array(2**0.5, F))])])
        h = f.node("Mul", [f.node("Mul", [h, f.node("Add", [erf, f.weight(np.array(1, F))])]), f.weight(np.array(0.5, F))])
        x = norm(f.node("Add", [dense(h, 64, width), x]))
    f.node("Identity", [x], out="last_hidden_state")
    ids = {"input_ids": (np.int64, "batch", 8), "attention_mask": (np.int64, "batch", 8)}
    seen = np.ones((2, 8), np.int64)
    seen[1, 6:] = 0
    made = f.model(ids, {"last_hidden_state": (F, "batch", 8, width)})
    return at(folder, "float", made, {"input_ids": f.rng.integers(0, 60, (2, 8)), "attention_mask": seen})


class _Reader:
    """Some draws for the quantiser's calibration."""

    def __init__(self, inputs: Mapping[str, np.ndarray]) -> None:
        rng = np.random.default_rng(1)
        self.left = [{n: rng.standard_normal(a.shape).astype(a.dtype) for n, a in inputs.items()} for _ in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next draw."""
        return self.left.pop() if self.left else None

    def __iter__(self) -> _Reader:
        return self

    def __next__(self) -> dict[str, np.ndarray]:
        if not self.left:
            raise StopIteration
        return self.left.pop()


def _static(folder: Path, **how: Any) -> StrangerFile:
    from onnxruntime.quantization import quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)
    whole = _network(folder)
    ready = folder / "ready.onnx"
    quant_pre_process(whole.path, ready, skip_symbolic_shape=True)
    quantize_static(ready, folder / "static.onnx", _Reader(whole.inputs), **how)  # type: ignore[arg-type]
    return StrangerFile(folder / "static.onnx", whole.inputs)


@stranger
def quantiser_static_qdq(folder: Path) -> StrangerFile:
    """Static, QDQ, INT8 on both sides, a scale a channel."""
    from onnxruntime.quantization import QuantFormat, QuantType

    return _static(
        folder, quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, per_channel=True
    )


@stranger
def quantiser_static_operators(folder: Path) -> StrangerFile:
    """Static, QLinear operators, activations of uint8."""
    from onnxruntime.quantization import QuantFormat, QuantType

    return _static(folder, quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


@stranger
def quantiser_dynamic_network(folder: Path) -> StrangerFile:
    """Dynamic: DynamicQuantizeLinear, ConvInteger, MatMulInteger; weights of uint8."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().setLevel(logging.ERROR)
    whole = _network(folder)
    quantize_dynamic(whole.path, folder / "dynamic.onnx", weight_type=QuantType.QUInt8)
    return StrangerFile(folder / "dynamic.onnx", whole.inputs)


@stranger
def quantiser_dynamic_encoder(folder: Path) -> StrangerFile:
    """Dynamic: an encoder's products by weights in INT8, its embedding quantised too.

    `reduce_range` is what onnxruntime wants on processors without VNNI: there its sums of two products saturate at 16 bits.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().setLevel(logging.ERROR)
    whole = _encoder(folder)
    quantize_dynamic(whole.path, folder / "dynamic.onnx", weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    return StrangerFile(folder / "dynamic.onnx", whole.inputs)


@stranger
def optimiser_encoder(folder: Path) -> StrangerFile:
    """What onnxruntime writes of an encoder with its extended optimisations (com.microsoft)."""
    import onnxruntime

    whole = _encoder(folder)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(whole.path), options, providers=["CPUExecutionProvider"])
    return StrangerFile(folder / "optimised.onnx", whole.inputs)


@stranger
def generator_decoder(folder: Path) -> StrangerFile:
    """A decoder layer as onnxruntime-genai's builder has it: GroupQueryAttention with rotary tables, weights of INT4 in blocks."""
    f = FileOf(14, "onnxruntime-genai", style="/model/layers.0/{kind}_{n}/output_0")
    heads, groups, each, tokens, past = 4, 2, 16, 3, 4
    width, ms = heads * each, "com.microsoft"

    def dense(x: str, inputs: int, outputs: int) -> str:
        packed = f.weight(f.rng.integers(0, 256, (outputs, inputs // 32, 16)).astype(np.uint8))
        scales = f.weight((np.abs(f.floats(outputs * inputs // 32)) * 0.02 + 0.01).astype(F))
        return f.node("MatMulNBits", [x, packed, scales], domain=ms, K=inputs, N=outputs, bits=4, block_size=32, accuracy_level=0)

    x = f.node("Gather", [f.weight(f.floats(40, width)), "input_ids"])
    n = f.node("SimplifiedLayerNormalization", [x, f.weight(np.ones(width, F))], axis=-1, epsilon=1e-5, stash_type=1)
    total = f.node("ReduceSum", ["attention_mask", f.integers(1)], keepdims=0)
    seqlens = f.node("Cast", [f.node("Sub", [total, f.integers(1)])], to=6)
    length = f.node("Cast", [f.node("Gather", [f.node("Shape", ["attention_mask"]), f.weight(np.array(1, np.int64))])], to=6)
    angle = np.outer(np.arange(32), 1e4 ** (-np.arange(each // 2) / (each // 2)))
    tables = [f.weight(np.cos(angle).astype(F), "cos_cache"), f.weight(np.sin(angle).astype(F), "sin_cache")]
    parts = [dense(n, width, width), dense(n, width, groups * each), dense(n, width, groups * each)]
    y = f.node(
        "GroupQueryAttention", [*parts, "past_key", "past_value", seqlens, length, *tables], domain=ms,
        out=["attention", "present_key", "present_value"], num_heads=heads, kv_num_heads=groups, scale=each**-0.5, do_rotary=1,
        rotary_interleaved=0, local_window_size=-1,
    )  # fmt: skip
    skip = f.weight(np.ones(width, F))
    f.node(
        "SkipSimplifiedLayerNormalization",
        [x, dense(y, width, width), skip],
        domain=ms,
        epsilon=1e-5,
        out=["normed", "", "", "sum"],
    )
    gate, up = dense("normed", width, 64), dense("normed", width, 64)
    h = f.node("Mul", [f.node("Mul", [gate, f.node("Sigmoid", [gate])]), up])
    f.node("Add", ["sum", dense(h, 64, width)], out="hidden")
    kept = (F, "batch", groups, "past", each)
    made = f.model(
        {
            "input_ids": (np.int64, "batch", "tokens"),
            "attention_mask": (np.int64, "batch", "total"),
            "past_key": kept,
            "past_value": kept,
        },
        {"hidden": (F, "batch", "tokens", width), "present_key": kept, "present_value": kept},
    )
    state = (1, groups, past, each)
    given = {"input_ids": f.rng.integers(0, 40, (1, tokens)), "attention_mask": np.ones((1, tokens + past), np.int64),
             "past_key": f.floats(*state), "past_value": f.floats(*state)}  # fmt: skip
    return at(folder, "decoder", made, given)
