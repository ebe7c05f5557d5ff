"""Building, printing, walking and evaluating graphs; operators of a user."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from graph_models import KV, LAST, TOKEN, C, D, block, block_reference, block_weights
from xdsl.irdl import operand_def

from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.dialect import operators
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.inference import Inference
from fleet.ir.accel.nodes import Node, OperatorCall, labels, post_order, register
from fleet.ir.accel.walk import caches, constants, inputs, rewrite

RNG = np.random.default_rng(5)
ATTRS = {"last_token": LAST}


def infer(graph: Node) -> Node:
    return transform.infer_type(graph, "hbm_small", ATTRS)


def test_prefill_and_decode_are_the_full_model_position_by_position() -> None:
    w = block_weights(RNG)
    graph = infer(block(w))
    x = RNG.standard_normal((11, C))
    expected = block_reference(w, x)
    for cuts in ([11], [1] * 11, [5, 1, 3, 2]):
        state, last = {}, 0
        for n in cuts:
            step = evaluate(graph, {"x": x[None, last : last + n]}, {"token": n, "last_token": last}, state=state)
            state, last = step.state, last + n
            logits, index = step.result
            np.testing.assert_allclose(logits[0, 0], expected[last - 1], rtol=1e-12, atol=1e-12)
            assert index[0, 0] == expected[last - 1].argmax()
        assert {k: v.shape for k, v in state.items()} == {"cache0": (KV, 11, D), "cache1": (KV, 11, D)}


def test_earlier_steps_may_be_taken_back() -> None:
    w = block_weights(RNG)
    graph = infer(block(w))
    x = RNG.standard_normal((4, C))
    first = evaluate(graph, {"x": x[None]}, {"token": 4, "last_token": 0})
    again = evaluate(graph, {"x": x[None, 2:3]}, {"token": 1, "last_token": 2}, state=first.state)
    np.testing.assert_allclose(again.result[0][0, 0], block_reference(w, x[:3])[-1], rtol=1e-12)
    with pytest.raises(GraphError, match="cache0 holds 4 positions, last_token is 9"):
        evaluate(graph, {"x": x[None, :1]}, {"token": 1, "last_token": 9}, state=first.state)
    with pytest.raises(ne.ExprError, match="token is 65, expected 0 to 64"):
        evaluate(graph, {"x": np.zeros((1, 65, C))}, {"token": 65, "last_token": 0})


def test_evaluation_says_what_is_missing() -> None:
    w = block_weights(RNG)
    one = {"token": 1, "last_token": 0}
    with pytest.raises(GraphError, match="call infer_type first"):
        evaluate(block(w), {}, one)
    with pytest.raises(GraphError, match="x: no array for this input"):
        evaluate(infer(block(w)), {}, one)
    with pytest.raises(GraphError, match=r"x: value of shape \(1, 1, 7\), expected \(1, 1, 128\)"):
        evaluate(infer(block(w)), {"x": np.zeros((1, 1, 7))}, one)
    bare = infer(block(w, with_data=False))
    with pytest.raises(GraphError, match="constant norm0 has no array"):
        evaluate(bare, {"x": np.zeros((1, 1, C))}, one)
    x = RNG.standard_normal((1, 1, C))
    given = evaluate(bare, {"x": x}, one, constants=w).result[0]
    np.testing.assert_array_equal(given, evaluate(infer(block(w)), {"x": x}, one).result[0])
    assert evaluate(bare, {"x": x}, one, constants=w, dtype=np.float32).result[0].dtype == np.float32


def test_printed_graphs_name_results_by_their_place() -> None:
    text = str(infer(block(block_weights(RNG))))
    lines = text.splitlines()
    assert lines[0] == "def main(x) {"
    assert lines[1] == "  x = var() /* ret=(1, token, 128), dtype=(float16, ddr), device=hbm */"
    assert "  %4 = accel.hbm.mvm(%0, wk) /* ret=(1, token, 64), dtype=(float16, ddr), device=hbm */" in lines
    assert any("ret=(2, token + last_token, 32), dtype=(float16, hbm), device=hbm */" in s for s in lines)
    assert lines[-2:] == ["  return (%25, %26)", "}"]
    x = adr.hbm.var_ddr("x", [1, TOKEN, 64])
    parts = adr.split(x, 2, [32, 32])
    assert str(adr.hbm.add(parts[1], parts[0])) == (
        "def main(x) {\n  x = var()\n  %0 = accel.split(x)\n  %1 = accel.hbm.add(%0.1, %0.0)\n  return %1\n}"
    )


def test_deep_graphs_need_no_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    x: Node = adr.hbm.var_ddr("x", (1, TOKEN, 32))
    y = x
    for _ in range(10_000):
        y = adr.hbm.add(y, x)
    graph = infer(y)
    assert len(str(graph).splitlines()) == 10_004
    assert len(list(post_order(graph))) == 10_001
    value = evaluate(graph, {"x": np.ones((1, 1, 32))}, {"token": 1, "last_token": 0}).result
    assert isinstance(value, np.ndarray)
    assert value[0, 0, 0] == 10_001
    assert sys.getrecursionlimit() == limit == 1000 or limit > 1000


def test_shapes_may_be_tuples_or_lists() -> None:
    def graph(kind: type) -> Node:
        a = adr.hbm.var_ddr("a", kind([1, TOKEN, 64]))
        return infer(adr.reshape(adr.hbm.mvm(a, adr.hbm.const_hbm("b", None, kind([64, 64]))), kind([2, TOKEN, 32])))

    assert str(graph(tuple)) == str(graph(list))


def test_leaves_take_a_device_as_dlavms_do() -> None:
    from fleet.dlavm.device.hbm_accel import HBM0923

    a = adr.hbm.var_ddr("a", (1, TOKEN, 64), "float16", HBM0923)
    graph = transform.infer_type(adr.hbm.mvm(a, adr.hbm.const_hbm("b", None, (64, 64), device=HBM0923)), HBM0923)
    assert str(graph).count("device=hbm */") == 3
    assert isinstance(graph.checked_type, adr.Tensor)
    assert graph.checked_type.device.name == HBM0923.device.name


def test_a_block_of_the_users_own_stays_with_the_node() -> None:
    x = adr.hbm.var_ddr("x", (1, TOKEN, 32))
    y = adr.hbm.add(x, x, prefix="scratch")
    assert "prefix" not in y.attrs
    x.prefix = "io"
    graph = infer(adr.hbm.add(y, x))
    assert [n.prefix for n in post_order(graph)] == ["io", "scratch", "runtime"]
    table = adr.hbm.const_ddr("t", None, (3, 16))
    table.prefix = "global"
    assert [c.prefix for c in constants(infer(adr.hbm.activate(x, table)))] == ["global"]


def test_walks() -> None:
    graph = infer(block(block_weights(RNG)))
    assert [v.label for v in inputs(graph)] == ["x"]
    assert [c.label for c in constants(graph)][:3] == ["norm0", "wq", "rotary"]
    assert list(caches(graph)) == ["cache0", "cache1"]
    copy = rewrite(graph, lambda node, args: node.with_arguments(args))
    assert str(copy) == str(graph)
    assert not set(post_order(copy)) & set(post_order(graph))
    assert len(labels(graph)) == len(list(post_order(graph)))


def test_a_node_is_no_endless_sequence() -> None:
    with pytest.raises(TypeError, match="take them by index"):
        list(adr.hbm.var_ddr("x", (1, TOKEN, 32)))


# Operators one by one, where the block above does not reach.


def run(node: Node, *arrays: np.ndarray, last: int = 0, dtype: type = np.float64) -> np.ndarray:
    """The node's value; inputs are called a, b, ... and have the tokens of the first array."""
    named = dict(zip("abcd", arrays, strict=False))
    result = evaluate(infer(node), named, {"token": arrays[0].shape[1], "last_token": last}, dtype=dtype).result
    assert isinstance(result, np.ndarray)
    return result


def feature(name: str, heads: int, channels: int) -> Node:
    return adr.hbm.var_ddr(name, (heads, TOKEN, channels))


def test_rotary_embeddings_of_the_newer_family() -> None:
    x = RNG.standard_normal((2, 5, 64))
    pairs = 16
    angles = np.arange(16)[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    table = adr.hbm.const_ddr("t", np.concatenate([np.cos(angles), np.sin(angles)])[None], (1, 32, pairs))
    y = run(adr.hbm.rope_glm(feature("a", 2, 64), table), x, last=3)
    z = (x[..., 0:32:2] + 1j * x[..., 1:32:2]) * np.exp(1j * angles[3:8])
    np.testing.assert_allclose(y[..., :32:2] + 1j * y[..., 1:32:2], z, rtol=1e-12)
    np.testing.assert_array_equal(y[..., 32:], x[..., 32:])
    y = run(adr.hbm.rope_qwen(feature("a", 2, 32), table), x[..., :32], last=3)
    z = (x[..., :16] + 1j * x[..., 16:32]) * np.exp(1j * angles[3:8])
    np.testing.assert_allclose(y[..., :16] + 1j * y[..., 16:], z, rtol=1e-12)


def test_norms_and_activations() -> None:
    x = RNG.standard_normal((1, 3, 64))
    gamma, beta = RNG.standard_normal((2, 64))
    both = adr.hbm.const_ddr("w", np.concatenate([gamma, beta]), [128])
    centred = x - x.mean(axis=2, keepdims=True)
    expected = centred / np.sqrt(x.var(axis=2, keepdims=True) + 1e-3) * gamma + beta
    np.testing.assert_allclose(run(adr.hbm.layer_norm(feature("a", 1, 64), both, eps=1e-3), x), expected, rtol=1e-12)
    last = run(adr.hbm.layer_norm(feature("a", 1, 64), both, eps=1e-3, kvcache_token=True), x)
    np.testing.assert_allclose(last, expected[:, -1:], rtol=1e-12)
    table = np.stack([np.arange(16) - 8.0, np.arange(16) / 4, np.arange(16) * 1.0])
    points = np.array([-20.0, -8, -7.5, 0, 0.25, 7, 100]).repeat(64).reshape(1, 7, 64)
    y = run(adr.hbm.activate(feature("a", 1, 64), adr.hbm.const_ddr("t", table, (3, 16))), points)[0, :, 0]
    np.testing.assert_allclose(y, [0 * -20 + 0, 0, 0, 8 / 4 * 0 + 8, 8 / 4 * 0.25 + 8, 15 / 4 * 7 + 15, 15 / 4 * 100 + 15])
    np.testing.assert_allclose(run(adr.hbm.gelu(feature("a", 1, 64)), np.ones((1, 1, 64)))[0, 0, 0], 0.8413447460685429)
    np.testing.assert_allclose(run(adr.hbm.gelu(feature("a", 1, 64), approximate=True), np.ones((1, 1, 64)))[0, 0, 0], 0.841192)


def test_views() -> None:
    x = RNG.standard_normal((1, 3, 96))
    a = feature("a", 1, 96)
    heads = run(adr.reshape(a, (3, TOKEN, 32)), x)
    np.testing.assert_array_equal(heads[2], x[0, :, 64:])
    np.testing.assert_array_equal(run(adr.reshape(adr.reshape(a, (3, TOKEN, 32)), (1, TOKEN, -1)), x), x)
    np.testing.assert_array_equal(run(adr.split(a, -1, [32, 64])[1], x), x[..., 32:])
    parts = adr.split(adr.reshape(a, (3, TOKEN, 32)), 0, [1, 2])
    np.testing.assert_array_equal(run(adr.concat([parts[1], parts[0]]), x), heads[[1, 2, 0]])
    np.testing.assert_array_equal(run(adr.gather(a), x), x[:, 2:])
    np.testing.assert_array_equal(run(adr.gather(a, 1), x), x[:, 1:2])
    np.testing.assert_array_equal(run(adr.realloc(a, (1, 64, 960)), x), x)


def test_older_names_are_attention_on_the_cache() -> None:
    q, k, v = (feature(n, h, 32) for n, h in (("a", 4), ("b", 2), ("c", 2)))
    arrays = [RNG.standard_normal((h, 4, 32)) for h in (4, 2, 2)]
    keys = adr.hbm.cache(adr.hbm.add(k, k))
    old = adr.hbm.mvm_afterF2W(adr.hbm.softmax(adr.hbm.mvm_afterTRP(q, keys)), v)
    assert keys.prefix == "cache"
    assert [n.prefix for n in caches(old).values()] == ["hbm_cache", "hbm_cache"]
    new = adr.hbm.attention(q, adr.hbm.add(k, k), v)
    np.testing.assert_array_equal(run(old, *arrays), run(new, *arrays))
    alone = adr.hbm.f2w_mvm(adr.hbm.softmax(adr.hbm.trp_mvm(q, adr.hbm.transpose(keys))), adr.hbm.feature2weight(v))
    np.testing.assert_array_equal(run(alone, *arrays), run(new, *arrays))
    newer = adr.hbm.f2w_mvm(adr.hbm.softmax(adr.hbm.trp_mvm(q, adr.hbm.kcache2hbm(keys))), adr.hbm.vcache2hbm(v))
    np.testing.assert_array_equal(run(newer, *arrays), run(new, *arrays))


def test_convolution_and_unmasked_softmax() -> None:
    x = RNG.standard_normal((6, 5, 32))
    w = RNG.standard_normal((3, 2, 32, 8))
    node = adr.hbm.conv2d(adr.hbm.var_ddr("a", (6, 5, 32)), adr.hbm.const_hbm("w", w, w.shape), (2, 1), (1, 0))
    y = evaluate(infer(node), {"a": x}, {"last_token": 0}).result
    padded = np.pad(x, ((1, 1), (0, 0), (0, 0)))
    assert isinstance(y, np.ndarray)
    assert y.shape == (3, 4, 8)
    np.testing.assert_allclose(y[1, 2], np.einsum("yxc,yxco->o", padded[2:5, 2:4], w), rtol=1e-12)
    s = RNG.standard_normal((1, 3, 7))
    free = evaluate(
        infer(adr.hbm.softmax(adr.hbm.var_ddr("a", (1, TOKEN, 7)), mask=0)), {"a": s}, {"token": 3, "last_token": 0}
    ).result
    np.testing.assert_allclose(free, np.exp(s) / np.exp(s).sum(axis=2, keepdims=True), rtol=1e-12)


# Operators of a user.


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OperatorCall, "OPERATORS", operators())


class Halve(OperatorCall):
    """Every second."""

    name = "my.halve"
    data = operand_def()

    @classmethod
    def infer(cls, c: Inference) -> adr.Tensor:
        heads, tokens, channels = c.feature(0).shape
        if channels % 2:
            c.fail("an odd number of channels")
        return c.result((heads, tokens, channels // 2))

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> np.ndarray:
        return args[0][..., ::2] * attrs["by"]


@pytest.mark.usefixtures("registered")
def test_a_user_adds_an_operator() -> None:
    register(Halve)
    graph = infer(OperatorCall("my.halve", [adr.hbm.var_ddr("a", (1, TOKEN, 64))], {"by": TOKEN}))
    assert "%0 = my.halve(a) /* ret=(1, token, 32)" in str(graph)
    np.testing.assert_array_equal(
        run(OperatorCall("my.halve", [feature("a", 1, 64)], {"by": TOKEN}), np.ones((1, 3, 64)))[0, 0], np.full(32, 3)
    )
    with pytest.raises(GraphError, match=r"%0 = my.halve\(a\): an odd number of channels"):
        infer(OperatorCall("my.halve", [adr.hbm.var_ddr("a", (1, TOKEN, 63))]))
    with pytest.raises(GraphError, match="registered already"):
        register(Halve)
    with pytest.raises(GraphError, match=r"no operator my.halv; did you mean my.halve"):
        OperatorCall("my.halv", [adr.hbm.var_ddr("a", (1, TOKEN, 64))])
    with pytest.raises(GraphError, match=r"my.halve takes 1 \(data\), 2 given"):
        OperatorCall("my.halve", [feature("a", 1, 64), feature("b", 1, 64)])


@pytest.mark.usefixtures("registered")
def test_an_operator_without_a_rule_for_its_type_is_refused() -> None:
    class Untyped(OperatorCall):
        """Nobody knows its type."""

        name = "my.untyped"
        data = operand_def()

    register(Untyped)
    with pytest.raises(GraphError, match=r"my.untyped\(a\): operator my.untyped has no rule for its type"):
        infer(OperatorCall("my.untyped", [adr.hbm.var_ddr("a", (1, TOKEN, 64))]))


@pytest.mark.usefixtures("registered")
def test_dlavms_form_of_registration() -> None:
    def relation(args: list[adr.Tensor], attrs: dict[str, object]) -> tuple[bool, object]:
        if len(args) != 2:
            return False, "two arguments"
        return True, adr.Tensor(args[0].shape, args[0].dtype, args[0].device)

    adr.Op.Register("my.op", relation)
    assert adr.Op.Get("my.op") == "my.op"
    x = adr.hbm.var_ddr("x", (1, TOKEN, 32))
    assert "my.op(x, x) /* ret=(1, token, 32)" in str(infer(OperatorCall(adr.Op.Get("my.op"), [x, x])))
    with pytest.raises(GraphError, match=r"my.op\(x\): two arguments"):
        infer(OperatorCall("my.op", [x]))


def test_every_operator_says_what_it_is() -> None:
    for name, operator in operators().items():
        assert name == operator.name
        assert operator.doc(), name
        assert operator.infer.__func__ is not OperatorCall.infer.__func__, name
        assert operator.compute.__func__ is not OperatorCall.compute.__func__, name
