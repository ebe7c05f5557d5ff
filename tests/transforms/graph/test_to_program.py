"""Graphs as programs: against a forward pass that shares nothing with graph or IR, and operator by operator against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.irdl import irdl_op_definition, operand_def

from fleet.errors import ModelError
from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.dialect import operators
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import Node, OperatorCall, TupleNode
from fleet.symbols import expr as ne
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM
from fleet.transforms.conversion.lowerings import LOWERINGS
from fleet.transforms.conversion.to_program import mask_of, to_program
from fleet.transforms.conversion.weights import GraphWeights
from fleet.transforms.simplify.infer_types import infer_type

RNG = np.random.default_rng(5)
TOKEN = ne.Var("token", max_data=16)


def var(channels: int, heads: int = 1, name: str = "x") -> Node:
    return products.var_ddr(name, (heads, TOKEN, channels))


def array(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def run(graph: Node, inputs: dict[str, np.ndarray], tokens: int, past: int | None = 0, **options: Any) -> dict[str, np.ndarray]:
    step = to_program(graph, tokens, past, **options)
    step.program.module.verify()
    return VM(ByteCodeConverter(step.program).convert()).run(inputs)


def test_products_with_their_epilogues() -> None:
    x, w, bn, r = array(3, 32), array(32, 64), array(2, 64), array(3, 64)
    weight, words = products.const_hbm("w", w, (32, 64)), products.const_ddr("bn", bn, (128,))
    words.data = bn.reshape(-1)
    residual = var(64, name="r")
    plain = x @ w
    full = plain * bn[0] + bn[1]
    cases: list[tuple[OperatorCall, np.ndarray]] = [
        (products.mvm(var(32), weight), plain),
        (products.mvm_bn(var(32), weight, words), full),
        (products.mvm_bn(var(32), weight, words, relu=1), np.maximum(full, 0)),
        (products.mvm_bn_res(var(32), weight, words, residual), full + r),
        (products.mvm_bn_res(var(32), weight, words, residual, res_mul=1), full * r),
        (products.mvm_bn_res(var(32), weight, words, residual, relu=1), np.maximum(full + r, 0)),
    ]
    for call, expected in cases:
        found = run(call, {"x": x, "r": r}, 3)["output"]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_batch_norm_words_of_weight_one_make_one_operation() -> None:
    bn = np.stack([np.ones(8), np.arange(8)])
    graph = products.mvm_bn_res(
        var(32), products.const_hbm("w", array(32, 8), (32, 8)), products.const_ddr("bn", bn, (16,)), var(8, name="r"), name="wo"
    )
    graph.args[2].data = bn.reshape(-1)  # pyright: ignore[reportAttributeAccessIssue]
    step = to_program(graph, 2, 0)
    assert [op.name for op in step.program.operations()] == ["fleet.transpose", "fleet.linear"]
    assert [op.properties["id"].data for op in step.program.operations()] == ["wo/1", "wo"]  # pyright: ignore
    assert step.nodes == ("wo",)


def test_argmax_is_the_second_result() -> None:
    x, w = array(2, 32), array(32, 9)
    call = products.mvm_bn(
        var(32), products.const_hbm("w", w, (32, 9)), products.const_ddr("bn", np.repeat([1.0, 0.0], 9), (18,)), arg_max=1
    )
    found = run(TupleNode([call[0], call[1]]), {"x": x}, 2)
    np.testing.assert_array_equal(found["output1"], (x @ w).argmax(axis=1))
    np.testing.assert_array_equal(found["output0"].argmax(axis=1), found["output1"])


@pytest.mark.parametrize(("heads", "kv_heads"), [(2, 2), (6, 2), (3, 1)])
@pytest.mark.parametrize("past", [0, 1, 5])
@pytest.mark.parametrize("slots", [None, 8], ids=["exact", "more slots"])
def test_attention_with_a_cache(heads: int, kv_heads: int, past: int, slots: int | None) -> None:
    d, n = 8, 3
    q, k, v = array(heads, n, d), array(kv_heads, n, d), array(kv_heads, n, d)
    old_k, old_v = array(kv_heads, past, d), array(kv_heads, past, d)
    graph = attention.f2w_mvm(
        attention.softmax(attention.trp_mvm(var(d, heads, "q"), attention.dat_hbm(var(d, kv_heads, "k"), 1, name="keys"))),
        attention.dat_hbm(var(d, kv_heads, "v"), 0, name="values"),
    )
    size = past if slots is None else slots
    garbage = np.full((kv_heads, size - past, d), 1e3, np.float32)
    inputs = {
        "q": q, "k": k[0] if kv_heads == 1 else k, "v": v[0] if kv_heads == 1 else v, "mask": mask_of(n, past, size),
        "keys.past": np.concatenate([old_k, garbage], axis=1), "values.past": np.concatenate([old_v, garbage], axis=1),
    }  # fmt: skip
    found = run(graph, inputs, n, slots)
    keys, values = np.concatenate([old_k, k], axis=1), np.concatenate([old_v, v], axis=1)
    expected = np.zeros((heads, n, d))
    for h in range(heads):
        for t in range(n):
            g = h // (heads // kv_heads)
            seen = past + t + 1
            score = keys[g, :seen] @ q[h, t] / np.sqrt(d)
            weight = np.exp(score - score.max())
            expected[h, t] = weight / weight.sum() @ values[g, :seen]
    if heads == 1:
        expected = expected[0]
    np.testing.assert_allclose(found["output"].reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found["keys"], k)
    np.testing.assert_array_equal(found["values"], v)


def test_rotation_takes_the_rows_of_the_steps_positions() -> None:
    n, pairs, first = 2, 4, 3
    angle = RNG.uniform(0, 6, (6, pairs))
    table = np.stack([np.cos(angle), np.sin(angle)])
    x = array(2, n, 2 * pairs)
    graph = attention.pos_emb(var(2 * pairs, 2), products.const_ddr("rotary", table, (2, 6, pairs)))
    step = to_program(graph, n, None)
    (rows,) = step.tables
    inputs = {"x": x, rows.cos: rows.cosines[first : first + n], rows.sin: rows.sines[first : first + n]}
    found = VM(ByteCodeConverter(step.program).convert()).run(inputs)["output"]
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle[first : first + n])
    np.testing.assert_allclose(found[..., 0::2], turned.real, atol=1e-5)
    np.testing.assert_allclose(found[..., 1::2], turned.imag, atol=1e-5)


def test_norms_and_views() -> None:
    x, words = array(4, 64), array(2, 64)
    constant = products.const_ddr("n", words.reshape(-1), (128,))
    mean = x.mean(axis=1, keepdims=True)
    layer = (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-3) * words[0] + words[1]
    rms = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-3) * words[0] + words[1]
    found = run(pointwise.layer_norm(var(64), constant, eps=1e-3), {"x": x}, 4)["output"]
    np.testing.assert_allclose(found, layer, rtol=1e-4, atol=1e-5)
    found = run(pointwise.rms_norm(var(64), constant, eps=1e-3), {"x": x}, 4)["output"]
    np.testing.assert_allclose(found, rms, rtol=1e-4, atol=1e-5)
    heads = views.split(views.reshape(var(64), (2, TOKEN, 32)), 0, (1, 1))
    joined = views.reshape(views.concat([heads[1], heads[0]], 0), (1, TOKEN, 64))
    found = run(views.gather(joined), {"x": x}, 4)["output"]
    np.testing.assert_array_equal(found, np.concatenate([x[3:, 32:], x[3:, :32]], axis=1))


def test_an_activation_without_a_function_follows_its_table() -> None:
    table = np.stack([np.linspace(-4, 4, 16), RNG.normal(size=16), RNG.normal(size=16)]).astype(np.float32)
    x = np.linspace(-6, 6, 64, dtype=np.float32).reshape(2, 32)
    found = run(pointwise.activate(var(32), products.const_ddr("t", table.reshape(-1), (48,))), {"x": x}, 2)["output"]
    segment = [max(max((i for i in range(16) if table[0, i] <= value), default=0), 0) for value in x.reshape(-1)]
    expected = [table[1, s] * v + table[2, s] for s, v in zip(segment, x.reshape(-1), strict=True)]
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-6, atol=1e-6)


def test_a_named_function_is_computed_itself() -> None:
    x = array(2, 32)
    np.testing.assert_allclose(run(pointwise.silu(var(32)), {"x": x}, 2)["output"], x / (1 + np.exp(-x)), rtol=1e-5, atol=1e-6)


def test_weights_are_made_once_and_shared() -> None:
    reads: list[str] = []

    def data() -> np.ndarray:
        reads.append("w")
        return np.eye(32, dtype=np.float32)

    graph = products.mvm(var(32), products.const_hbm("w", data, (32, 32)))
    weights = GraphWeights(label="model")
    steps = [to_program(graph, n, 0, weights=weights) for n in (1, 2)]
    assert not reads
    assert steps[0].program.hash != steps[1].program.hash
    arrays = [step.program.weights["w"] for step in steps]
    assert reads == ["w"]
    assert arrays[0] is arrays[1]


def test_weights_as_something_else_stores_them() -> None:
    graph = products.mvm(var(32), products.const_hbm("w", np.ones((32, 8), np.float32), (32, 8)))
    weights = GraphWeights(lambda _constant, array: array * 2)
    x = np.ones((1, 32), np.float32)
    np.testing.assert_array_equal(run(graph, {"x": x}, 1, weights=weights)["output"], np.full((1, 8), 64, np.float32))


@irdl_op_definition
class OddCall(OperatorCall):
    """An operator that only a device of somebody's own has."""

    name = "accel.odd"
    data = operand_def()


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (
            OddCall(OddCall.name, [var(32)], {"name": "odd"}),
            "node odd: operator accel.odd has no meaning",
        ),
        (products.mvm(var(32), products.const_hbm("w", None, (32, 8)), name="wq"), "constant w: it has no data"),
        (products.mvm(var(32), products.const_hbm("w", "w.bin", (32, 8))), "a file of packed bytes"),
        (products.mvm(var(32), products.const_hbm("w", np.ones((16, 8)), (16, 8)), name="wq"), "node wq: matmul of shapes"),
    ],
)
def test_what_cannot_be_lowered_is_named(graph: Node, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        run(graph, {"x": array(1, 32)}, 1)


def test_every_operator_has_a_meaning() -> None:
    assert [name for name, operator in operators().items() if operator not in LOWERINGS] == []


@pytest.mark.parametrize(
    ("size", "kernel", "strides", "padding"),
    [
        ((4, 6), (3, 3), (1, 1), (1, 1)), ((5, 5), (3, 2), (2, 1), (1, 0)), ((1, 5), (1, 3), (1, 2), (0, 2)),
        ((3, 3), (1, 1), (1, 1), (0, 0)), ((3, 4), (3, 3), (1, 1), (0, 0)),
    ],
)  # fmt: skip
def test_convolutions(size: tuple[int, int], kernel: tuple[int, int], strides: tuple[int, int], padding: tuple[int, int]) -> None:
    weight = array(*kernel, 32, 8)
    given = products.var_ddr("x", (*size, 32))
    graph = infer_type(products.conv2d(given, products.const_hbm("w", weight, weight.shape), strides, padding), "hbm_small")
    x = array(*size, 32)
    expected = evaluate(graph, {"x": x}, {}).result
    assert isinstance(expected, np.ndarray)
    found = run(graph, {"x": x.reshape([n for n in x.shape if n > 1])}, 1)["output"]
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-4)
