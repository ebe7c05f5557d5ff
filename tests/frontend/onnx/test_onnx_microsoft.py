"""Operators of com.microsoft beside onnxruntime: codes are equal, floats are close."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import node, run

from fleet.engines.onnxruntime.exact_sums import make_sums_exact
from fleet.errors import ModelError

RNG = np.random.default_rng(21)
INPUTS = dict[str, np.ndarray | None]


def floats(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


def codes(dtype: Any, *shape: int, top: int | None = None) -> np.ndarray:
    limits = np.iinfo(dtype)
    low, high = (limits.min, limits.max + 1) if top is None else (max(-top, limits.min), top)
    return RNG.integers(low, high, shape).astype(dtype)


def number(dtype: Any, value: float) -> np.ndarray:
    return np.array(value, dtype)


def made(op: str, inputs: INPUTS, outputs: int, known: tuple[str, ...], **attributes: Any) -> onnx.ModelProto:
    """One node; `known` are initializers."""
    names = [f"o{i}" for i in range(outputs)]
    given = {k: v for k, v in inputs.items() if v is not None}
    one = node(op, [k if k in given else "" for k in inputs], names, op, domain="com.microsoft", **attributes)
    declared = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for k, v in given.items()
        if k not in known
    ]
    weights = [onnx.numpy_helper.from_array(given[k], k) for k in known if k in given]
    graph = helper.make_graph([one], "g", declared, [helper.make_empty_tensor_value_info(o) for o in names], weights)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def both(
    op: str, inputs: INPUTS, outputs: int = 1, known: tuple[str, ...] = (), **attributes: Any
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What fleet's VM and onnxruntime on one thread give."""
    import onnxruntime

    model = made(op, inputs, outputs, known, **attributes)
    exact = onnx.ModelProto.FromString(model.SerializeToString())
    make_sums_exact(exact)
    fed = {k: v for k, v in inputs.items() if v is not None and k not in known}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(exact.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(zip(run(model, fed), session.run(None, fed), strict=True))


def agree(pairs: list[tuple[np.ndarray, np.ndarray]], rtol: float = 2e-5, atol: float = 2e-6) -> None:
    for got, want in pairs:
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if got.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(got, want)


# ---- floats


@pytest.mark.parametrize("op", ["Gelu", "QuickGelu", "FastGelu"])
def test_gelu(op: str) -> None:
    agree(both(op, {"x": floats(3, 8) * 3}))


@pytest.mark.parametrize("op", ["BiasGelu", "FastGelu"])
def test_gelu_with_a_bias(op: str) -> None:
    agree(both(op, {"x": floats(2, 3, 8) * 3, "b": floats(8)}))


@pytest.mark.parametrize("attributes", [
    {}, {"transA": 1, "alpha": 0.5}, {"transB": 1}, {"transBatchA": 1}, {"transBatchB": 1, "transB": 1},
    {"transBatchA": 1, "transA": 1},
])  # fmt: skip
def test_fused_matmul(attributes: dict[str, Any]) -> None:
    shapes = {"A": (2, 3, 4, 5), "B": (2, 3, 5, 6)}
    arrays: INPUTS = {}
    for side, shape in shapes.items():
        turned = (*shape[:-2], shape[-1], shape[-2]) if attributes.get(f"trans{side}") else shape
        turned = (turned[-2], *turned[:-2], turned[-1]) if attributes.get(f"transBatch{side}") else turned
        arrays[side] = floats(*turned)
    agree(both("FusedMatMul", arrays, **attributes))


@pytest.mark.parametrize(("activation", "parameters"), [
    ("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.2, 0.5]),
])  # fmt: skip
def test_fused_convolution(activation: str, parameters: list[float]) -> None:
    extra = {"activation_params": parameters} if parameters else {}
    inputs: INPUTS = {"x": floats(1, 3, 6, 5), "w": floats(4, 3, 3, 3, scale=0.3), "b": floats(4)}
    agree(both("FusedConv", inputs, pads=[1, 1, 1, 1], activation=activation, **extra), 1e-4, 1e-5)


def test_fused_gemm() -> None:
    inputs: INPUTS = {"a": floats(4, 5), "b": floats(6, 5), "c": floats(6)}
    agree(both("FusedGemm", inputs, transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.3))


@pytest.mark.parametrize(
    ("op", "attributes", "says"),
    [
        ("FusedConv", {"activation": "Clip"}, "the activation Clip with 0 parameters, expected 2"),
        ("FusedConv", {"activation": "HardSigmoid", "activation_params": [0.2]}, "HardSigmoid with 1 parameters"),
        ("FusedGemm", {"activation": "LeakyRelu", "activation_beta": 0.3}, "activation_beta without activation_alpha"),
    ],
)
def test_activations_without_their_parameters_are_refused(op: str, attributes: dict[str, Any], says: str) -> None:
    w = floats(3, 2, 1, 1) if op == "FusedConv" else floats(2, 3)
    x = floats(1, 2, 4, 4) if op == "FusedConv" else floats(4, 2)
    with pytest.raises(ModelError, match=says):
        run(made(op, {"x": x, "w": w}, 1, (), **attributes), {"x": x, "w": w})


@pytest.mark.parametrize(("skip", "beta", "bias"), [((2, 3, 8), True, True), ((1, 3, 8), True, False), ((3, 8), False, False)])
def test_skip_layer_normalization(skip: tuple[int, ...], beta: bool, bias: bool) -> None:
    inputs: INPUTS = {"x": floats(2, 3, 8), "s": floats(*skip), "g": floats(8), "b": floats(8) if beta else None}
    pairs = both("SkipLayerNormalization", {**inputs, "c": floats(8) if bias else None}, 4, epsilon=1e-5)
    agree([pairs[0], pairs[3]], 1e-4, 1e-5)


def test_skip_simplified_layer_normalization() -> None:
    inputs: INPUTS = {"x": floats(2, 3, 8), "s": floats(2, 3, 8), "g": floats(8), "c": floats(8)}
    pairs = both("SkipSimplifiedLayerNormalization", inputs, epsilon=1e-5)
    agree(pairs, 1e-4, 1e-5)


@pytest.mark.parametrize(("segments", "mask", "positions"), [(True, True, False), (False, False, True), (True, True, True)])
def test_embed_layer_normalization(segments: bool, mask: bool, positions: bool) -> None:
    ids = RNG.integers(0, 20, (2, 5)).astype(np.int32)
    inputs: INPUTS = {
        "ids": ids, "kinds": RNG.integers(0, 2, (2, 5)).astype(np.int32) if segments else None, "words": floats(20, 8),
        "places": floats(9, 8), "table": floats(2, 8) if segments else None, "g": floats(8), "b": floats(8),
        "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32) if mask else None,
        "at": RNG.integers(0, 9, (2, 5)).astype(np.int32) if positions else None,
    }  # fmt: skip
    agree(both("EmbedLayerNormalization", inputs, 3, epsilon=1e-5), 1e-4, 1e-5)


MASKS = {
    "none": None,
    "lengths": np.array([3, 5], np.int32),
    "ends and starts": np.array([4, 5, 1, 0], np.int32),
    "keys": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32),
    "pairs": RNG.integers(0, 2, (2, 5, 5)).astype(np.int32) | np.eye(5, dtype=np.int32),
    "dummy": np.ones((2, 1), np.int32),
}


@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("mask", list(MASKS))
def test_attention(mask: str, unidirectional: int) -> None:
    inputs: INPUTS = {"x": floats(2, 5, 8), "w": floats(8, 24, scale=0.4), "b": floats(24), "m": MASKS[mask]}
    agree(both("Attention", inputs, 2, num_heads=2, unidirectional=unidirectional), 1e-4, 1e-5)


def test_attention_with_a_past_a_bias_and_other_sizes() -> None:
    inputs: INPUTS = {
        "x": floats(2, 3, 8),
        "w": floats(8, 24, scale=0.4),
        "b": floats(24),
        "m": None,
        "past": floats(2, 2, 2, 4, 4),
    }
    agree(both("Attention", inputs, 2, num_heads=2, unidirectional=1), 1e-4, 1e-5)
    inputs = {
        "x": floats(2, 3, 8),
        "w": floats(8, 28, scale=0.4),
        "b": floats(28),
        "m": None,
        "past": None,
        "bias": floats(2, 2, 3, 3),
    }
    agree(both("Attention", inputs, num_heads=2, qkv_hidden_sizes=[8, 8, 12], scale=0.3), 1e-4, 1e-5)


@pytest.mark.parametrize("kind", ["apart", "cross", "past"])
def test_multi_head_attention(kind: str) -> None:
    q = floats(2, 3, 8)
    inputs: INPUTS = {"q": q, "k": floats(2, 5, 8), "v": floats(2, 5, 12), "bias": floats(28)}
    inputs["mask"] = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
    outputs, extra = 1, {}
    if kind == "cross":
        inputs = {"q": q, "k": floats(2, 2, 5, 4), "v": floats(2, 2, 5, 4)}
    elif kind == "past":
        inputs = {"q": q, "k": q, "v": q, "bias": None, "mask": None, "ab": floats(1, 2, 3, 7),
                  "pk": floats(2, 2, 4, 4), "pv": floats(2, 2, 4, 4)}  # fmt: skip
        outputs, extra = 3, {"unidirectional": 1}
    agree(both("MultiHeadAttention", inputs, outputs, num_heads=2, **extra), 1e-4, 1e-5)


@pytest.mark.parametrize("rotated", [None, 0, 1])
@pytest.mark.parametrize(("past", "packed", "extra"), [
    (5, False, {}), (0, False, {}), (4, True, {}), (6, False, {"local_window_size": 3}), (3, False, {"softcap": 5.0, "scale": 0.4}),
])  # fmt: skip
def test_group_query_attention(rotated: int | None, past: int, packed: bool, extra: dict[str, Any]) -> None:
    batch, queries, heads, groups, each = 1 if past else 2, 3, 4, 2, 16
    parts = {"q": floats(batch, queries, heads * each), "k": floats(batch, queries, groups * each)}
    parts["v"] = floats(batch, queries, groups * each)
    inputs: INPUTS = {"q": np.concatenate(list(parts.values()), 2), "k": None, "v": None} if packed else dict(parts)
    state = (batch, groups, past, each)
    inputs |= {"past_k": floats(*state) if past else None, "past_v": floats(*state) if past else None}
    inputs |= {"last": np.full(batch, past + queries - 1, np.int32), "total": number(np.int32, past + queries)}
    how: dict[str, Any] = {"num_heads": heads, "kv_num_heads": groups, **extra}
    if rotated is not None:
        angles = np.outer(np.arange(20), 0.3 ** np.arange(each // 2)).astype(np.float32)
        inputs |= {"cos": np.cos(angles), "sin": np.sin(angles)}
        how |= {"do_rotary": 1, "rotary_interleaved": rotated}
    agree(both("GroupQueryAttention", inputs, 3, ("last", "total", "cos", "sin"), **how))


def test_packed_heads() -> None:
    """onnxruntime has these on GPUs alone: what it computes of the parts is what they are held against."""
    packed = floats(2, 3, 2, 3, 4)
    q, k, v = (packed[:, :, :, i].reshape(2, 3, 8) for i in range(3))
    ((_, want),) = both("MultiHeadAttention", {"q": q, "k": k, "v": v}, num_heads=2)
    parts: list[INPUTS] = [{"q": packed}, {"q": q, "k": np.ascontiguousarray(packed[:, :, :, 1:])}]
    for inputs in parts:
        fed = {name: a for name, a in inputs.items() if a is not None}
        (got,) = run(made("MultiHeadAttention", inputs, 1, (), num_heads=2), fed)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 4])
def test_rotary_embedding(interleaved: int, turned: int) -> None:
    angles = floats(10, (turned or 8) // 2)
    inputs: INPUTS = {"x": floats(2, 3, 16), "p": np.array([[0, 1, 2], [3, 4, 5]]), "c": np.cos(angles), "s": np.sin(angles)}
    extra = {"rotary_embedding_dim": turned, "num_heads": 2} if turned else {}
    agree(both("RotaryEmbedding", inputs, interleaved=interleaved, **extra))
    inputs["p"] = np.array([2])
    agree(both("RotaryEmbedding", inputs, interleaved=interleaved, **extra))


# ---- codes


def scaled(dtype: Any, **names: float) -> INPUTS:
    """Inputs of a scale and a zero point for each name."""
    found: INPUTS = {}
    for name, scale in names.items():
        found[f"{name}.s"] = number(np.float32, scale)
        found[f"{name}.z"] = number(dtype, RNG.integers(20, 90))
    return found


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("scales", [(0.05, 0.1, 0.2), (0.013, 0.02, 0.031), (0.5, 0.25, 0.5)])
def test_sums_and_products_of_codes(op: str, dtype: Any, scales: tuple[float, float, float]) -> None:
    s = scaled(dtype, a=scales[0], b=scales[1], y=scales[2])
    inputs: INPUTS = {"a": codes(dtype, 40, 500), "a.s": s["a.s"], "a.z": s["a.z"], "b": codes(dtype, 500), "b.s": s["b.s"],
                      "b.z": s["b.z"], "y.s": s["y.s"], "y.z": s["y.z"]}  # fmt: skip
    agree(both(op, inputs))
    agree(both(op, inputs, known=("a.s", "a.z", "b.s", "b.z", "y.s", "y.z")))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("op", "extra"), [("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.1})])
def test_functions_of_codes(op: str, extra: dict[str, Any], dtype: Any) -> None:
    for scale, result in ((0.05, 0.004), (0.021, 1 / 256), (0.1, 0.03)):
        s = scaled(dtype, x=scale, y=result)
        agree(both(op, {"x": codes(dtype, 4, 300), **s}, known=("x.s", "x.z", "y.s", "y.z"), **extra))


def test_concatenations_and_choices_of_codes() -> None:
    s = scaled(np.uint8, y=0.05, a=0.05, b=0.02)
    inputs: INPUTS = {"y.s": s["y.s"], "y.z": s["y.z"], "a": codes(np.uint8, 3, 40), "a.s": s["a.s"], "a.z": s["a.z"],
                      "b": codes(np.uint8, 3, 50), "b.s": s["b.s"], "b.z": s["b.z"]}  # fmt: skip
    agree(both("QLinearConcat", inputs, axis=1))
    chosen: INPUTS = {"c": RNG.integers(0, 2, (3, 40)).astype(bool), "a": codes(np.uint8, 3, 40), "a.s": s["a.s"], "a.z": s["a.z"],
                      "b": codes(np.uint8, 3, 40), "b.s": s["b.s"], "b.z": s["b.z"], "y.s": s["y.s"], "y.z": s["y.z"]}  # fmt: skip
    agree(both("QLinearWhere", chosen))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax_of_codes(dtype: Any, axis: int) -> None:
    inputs: INPUTS = {"x": codes(dtype, 3, 20, 16), "x.s": number(np.float32, 0.03), "x.z": number(dtype, 10),
                      "y.s": number(np.float32, 1 / 256), "y.z": number(dtype, 0 if dtype is np.uint8 else -128)}  # fmt: skip
    agree(both("QLinearSoftmax", inputs, known=("x.s", "x.z", "y.s", "y.z"), axis=axis, opset=13))


@pytest.mark.parametrize("last", [0, 1])
def test_poolings_of_codes(last: int) -> None:
    shape = (2, 7, 6, 4) if last else (2, 4, 7, 6)
    s = scaled(np.uint8, x=0.05, y=0.043)
    inputs: INPUTS = {"x": codes(np.uint8, *shape), **s}
    agree(both("QLinearGlobalAveragePool", inputs, channels_last=last))
    agree(both("QLinearAveragePool", inputs, channels_last=last, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0]))
    if last:
        agree(both("NhwcMaxPool", {"x": inputs["x"]}, kernel_shape=[3, 2], strides=[2, 1]))


def test_convolution_of_codes_with_channels_last() -> None:
    s = scaled(np.uint8, x=0.05, y=0.3)
    inputs: INPUTS = {"x": codes(np.uint8, 1, 6, 5, 3), "x.s": s["x.s"], "x.z": s["x.z"],
                      "w": codes(np.int8, 4, 3, 3, 3), "w.s": floats(4) ** 2 * 0.01 + 0.01,
                      "w.z": np.zeros(4, np.int8), "y.s": s["y.s"], "y.z": s["y.z"]}  # fmt: skip
    agree(both("QLinearConv", inputs, known=("w", "w.s", "w.z"), channels_last=1, pads=[1, 1, 1, 1]))


@pytest.mark.parametrize("columns", [False, True])
def test_integer_products_to_float(columns: bool) -> None:
    scale = np.abs(floats(6)) * 0.01 + 0.01 if columns else number(np.float32, 0.02)
    zero = codes(np.int8, 6, top=20) if columns else number(np.int8, 3)
    inputs: INPUTS = {"a": codes(np.uint8, 4, 5), "b": codes(np.int8, 5, 6), "a.s": number(np.float32, 0.03), "b.s": scale,
                      "a.z": number(np.uint8, 120), "b.z": zero, "c": floats(6)}  # fmt: skip
    agree(both("MatMulIntegerToFloat", inputs, known=("b", "b.s", "b.z", "c")), 1e-5, 1e-4)
    inputs = {"a": floats(4, 5), "b": codes(np.int8, 5, 6), "b.s": scale, "b.z": zero, "c": floats(6)}
    agree(both("DynamicQuantizeMatMul", inputs, known=("b", "b.s", "b.z", "c")), 1e-5, 1e-4)


@pytest.mark.parametrize("result", [False, True])
def test_qgemm(result: bool) -> None:
    inputs: INPUTS = {"a": codes(np.uint8, 20, 30), "a.s": number(np.float32, 0.03), "a.z": number(np.uint8, 120),
                      "b": codes(np.int8, 40, 30), "b.s": np.abs(floats(40)) * 0.01 + 0.01, "b.z": np.zeros(40, np.int8),
                      "c": RNG.integers(-900, 900, 40).astype(np.int32),
                      "y.s": number(np.float32, 0.7) if result else None,
                      "y.z": number(np.uint8, 128) if result else None}  # fmt: skip
    agree(both("QGemm", inputs, known=("b", "b.s", "b.z", "c"), transB=1))


@pytest.mark.parametrize(("bits", "zeros"), [(4, "none"), (4, "codes"), (8, "none"), (4, "floats"), (2, "none")])
def test_weights_of_few_bits(bits: int, zeros: str) -> None:
    inner, outer, block = 72, 6, 16
    blocks = -(-inner // block)
    inputs: INPUTS = {"x": floats(3, inner), "w": codes(np.uint8, outer, blocks, block * bits // 8),
                      "s": np.abs(floats(outer * blocks)) + 0.01,
                      "z": {"none": None, "codes": codes(np.uint8, outer * -(-blocks * bits // 8)),
                            "floats": floats(outer * blocks, scale=4)}[zeros]}  # fmt: skip
    agree(both("MatMulNBits", inputs, known=("w", "s", "z"), K=inner, N=outer, bits=bits, block_size=block), 1e-4, 1e-3)


def test_attention_of_codes() -> None:
    inputs: INPUTS = {"x": codes(np.uint8, 2, 5, 8), "w": codes(np.int8, 8, 24), "b": floats(24),
                      "x.s": number(np.float32, 0.02), "w.s": number(np.float32, 0.01), "m": MASKS["keys"],
                      "x.z": number(np.uint8, 120), "w.z": number(np.int8, 2)}  # fmt: skip
    agree(both("QAttention", inputs, known=("w",), num_heads=2), 1e-4, 1e-5)


def test_embeddings_of_codes() -> None:
    inputs: INPUTS = {
        "ids": RNG.integers(0, 20, (2, 5)).astype(np.int32), "kinds": RNG.integers(0, 2, (2, 5)).astype(np.int32),
        "words": codes(np.uint8, 20, 8), "places": codes(np.uint8, 9, 8), "table": codes(np.uint8, 2, 8), "g": codes(np.uint8, 8),
        "b": codes(np.uint8, 8), "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
        **{f"s{i}": number(np.float32, 0.01 + 0.003 * i) for i in range(5)},
        **{f"z{i}": number(np.uint8, 100 + i) for i in range(5)},
    }  # fmt: skip
    agree(both("QEmbedLayerNormalization", inputs, 2, epsilon=1e-5), 1e-4, 1e-5)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("lengths", "atol"), [(None, 2e-6), ([4, 4, 4], 2e-6), ([5, 2, 3], 2e-2)])
def test_dynamic_quantize_lstm(direction: str, lengths: list[int] | None, atol: float) -> None:
    """Of sequences of several lengths onnxruntime takes the states of those that are over into a code's range: a code or two."""
    d, hidden = 1 + (direction == "bidirectional"), 6
    inputs: INPUTS = {
        "x": floats(5, 3, 4), "w": codes(np.int8, d, 4, 4 * hidden), "r": codes(np.int8, d, hidden, 4 * hidden, top=63),
        "b": floats(d, 8 * hidden, scale=0.2), "n": None if lengths is None else np.array(lengths, np.int32),
        "h": floats(d, 3, hidden), "c": floats(d, 3, hidden), "p": None, "w.s": np.abs(floats(d)) * 0.004 + 0.005,
        "w.z": np.zeros(d, np.int8), "r.s": np.abs(floats(d)) * 0.004 + 0.005, "r.z": np.zeros(d, np.int8),
    }  # fmt: skip
    known = ("w", "r", "w.s", "w.z", "r.s", "r.z", "n")
    agree(both("DynamicQuantizeLSTM", inputs, 3, known, direction=direction, hidden_size=hidden), 1e-5, atol)


# ---- whole models as the tools write them


def small_network() -> onnx.ModelProto:
    """A convolutional part, a pooling, a product and an activation of several operators."""
    from onnx_models import model

    weights = {
        "w1": floats(8, 3, 3, 3, scale=0.2), "b1": floats(8, scale=0.1), "w2": floats(8, 8, 1, 1, scale=0.3),
        "w3": floats(8, 5, scale=0.4), "b3": floats(5), "root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], "c1", pads=[1, 1, 1, 1]), node("LeakyRelu", ["c1"], ["r1"], "r1", alpha=0.1),
        node("Conv", ["r1", "w2"], ["c2"], "c2"), node("Add", ["c2", "r1"], ["a"], "a"), node("Sigmoid", ["a"], ["s"], "s"),
        node("GlobalAveragePool", ["s"], ["g"], "g"), node("Flatten", ["g"], ["f"], "f"), node("MatMul", ["f", "w3"], ["m"], "m"),
        node("Add", ["m", "b3"], ["mb"], "mb"), node("Div", ["mb", "root"], ["d"], "d"), node("Erf", ["d"], ["e"], "e"),
        node("Add", ["e", "one"], ["e1"], "e1"), node("Mul", ["mb", "e1"], ["me"], "me"), node("Mul", ["me", "half"], ["y"], "y"),
    ]  # fmt: skip
    return onnx.shape_inference.infer_shapes(model(nodes, {"x": (np.float32, 2, 3, 8, 8)}, ["y"], weights, 17))


class Calibration:
    """A few drawn inputs for onnxruntime's quantiser."""

    def __init__(self) -> None:
        self.left = [{"x": floats(2, 3, 8, 8)} for _ in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self.left.pop() if self.left else None


def beside(path: Any, inputs: dict[str, np.ndarray], atol: float) -> set[str]:
    """Compares a file on the VM with onnxruntime; gives the operators of com.microsoft in it."""
    import onnxruntime

    made = onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    exact = onnx.load(path)
    make_sums_exact(exact)
    session = onnxruntime.InferenceSession(exact.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for got, want in zip(run(made, inputs), session.run(None, inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=atol)
    return {n.op_type for n in made.graph.node if n.domain == "com.microsoft"}


def test_what_the_optimiser_writes(tmp_path: Any) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(small_network().SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = beside(tmp_path / "optimised.onnx", {"x": floats(2, 3, 8, 8)}, 1e-5)
    assert {"FusedConv", "Gelu"} <= found or {"FusedConv", "BiasGelu"} <= found


def test_what_the_quantiser_writes(tmp_path: Any) -> None:
    from onnxruntime import quantization

    plain, path = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    onnx.save(small_network(), plain)
    quantization.quantize_static(
        plain, path, Calibration(), quant_format=quantization.QuantFormat.QOperator, reduce_range=True,
        activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
    )  # fmt: skip
    found = beside(path, {"x": floats(2, 3, 8, 8)}, 1e-4)
    assert {"QLinearAdd", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"} <= found
    quantization.quantize_dynamic(plain, path, weight_type=quantization.QuantType.QInt8, reduce_range=True)
    beside(path, {"x": floats(2, 3, 8, 8)}, 1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances(metric: str, dtype: Any) -> None:
    a, b = floats(7, 5).astype(dtype), floats(4, 5).astype(dtype)
    ((found, want),) = both("CDist", {"a": a, "b": b}, 1, ("b",), metric=metric)
    np.testing.assert_allclose(found, want, rtol=1e-5)
    apart = ((a[:, None] - b) ** 2).sum(-1)
    np.testing.assert_allclose(found, apart if metric == "sqeuclidean" else np.sqrt(apart), rtol=1e-4)
