"""Heads filled with zeros: the same values, on a device that has no instruction for the narrow ones."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import Node, labels
from fleet.isa.registry import find_device
from fleet.llm.sessions.run_module import ModuleRunner
from fleet.targets.accel.build import build
from fleet.transforms.products.fill_heads import fill_heads
from fleet.transforms.simplify.infer_types import infer_type

T, LAST = ne.Var("token", max_data=6), ne.Var("last_token", max_data=12)
hbm = adr.hbm
SET, SMALL = find_device("hbm_small")
C, POSITIONS = 64, 18


def block(d: int, heads: int, kv: int, rope: str, *, cached: bool = True, bn: bool = True, seed: int = 0) -> Node:
    """An attention with what is before and behind it, and a residual."""
    rng = np.random.default_rng(seed)

    def matrix(name: str, chin: int, chout: int) -> Node:
        codes = rng.integers(-7, 8, (chin, chout))  # INT4 holds these weights as they are
        codes[0] = 7
        return hbm.const_hbm(name, (codes / 32).astype(np.float32), (chin, chout))

    def pair(name: str, channels: int) -> Node:
        values = np.stack([rng.uniform(0.5, 1.5, channels), rng.standard_normal(channels) / 8]).astype(np.float16)
        return hbm.const_ddr(name, values.reshape(-1), (2 * channels,))

    angles = np.arange(POSITIONS)[:, None] * 100.0 ** (-2 * np.arange(d // 2) / d)
    table = np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float16)
    turns = hbm.const_ddr("table", table, (1, 2 * POSITIONS, d // 2))

    def head(x: Node, name: str, count: int) -> Node:
        w = matrix(f"w{name}", C, count * d)
        product = hbm.mvm_bn(x, w, pair(f"b{name}", count * d)) if bn else hbm.mvm(x, w)
        return adr.reshape(product, (count, -1, d))

    def turned(x: Node) -> Node:
        return {"none": x, "pairs": hbm.pos_emb(x, turns), "halves": hbm.rope_qwen(x, turns)}[rope]

    x = hbm.var_ddr("x", (1, T, C))
    q, k, v = turned(head(x, "q", heads)), turned(head(x, "k", kv)), head(x, "v", kv)
    held = (hbm.dat_hbm(k, 1), hbm.dat_hbm(v, 0)) if cached else (hbm.transpose(k), hbm.feature2weight(v))
    mixed = adr.reshape(hbm.f2w_mvm(hbm.softmax(hbm.trp_mvm(q, held[0])), held[1]), (1, -1, heads * d))
    out = hbm.mvm_bn_res(mixed, matrix("wo", heads * d, C), pair("bo", C), x)
    return infer_type(out, "hbm_small", {"last_token": LAST})


@pytest.mark.parametrize(("d", "heads", "kv"), [(32, 2, 1), (32, 4, 4), (96, 2, 1), (96, 4, 2)])
@pytest.mark.parametrize(("rope", "cached", "bn"), [("pairs", True, True), ("none", True, False), ("none", False, True)])
def test_values_stay_what_they_were(d: int, heads: int, kv: int, rope: str, cached: bool, bn: bool) -> None:
    before = block(d, heads, kv, rope, cached=cached, bn=bn)
    text = str(before)
    after = fill_heads(before, SMALL, SET.head_channels)
    assert len(after.made) == 1
    assert str(before) == text
    x = np.random.default_rng(1).standard_normal((1, 5, C))
    width = 64 if d < 64 else 128
    one, two = (
        evaluate(g, {"x": x}, {"token": 5, "last_token": 0}, state=None if not cached else {
            f"cache{n}": np.zeros((kv, 0, size)) for n in range(2)})
        for g, size in ((before, d), (after.graph, width))
    )  # fmt: skip
    np.testing.assert_allclose(one.result, two.result, rtol=1e-9, atol=1e-12)
    for name, value in one.state.items():
        np.testing.assert_allclose(two.state[name][..., :d], value, rtol=1e-9, atol=1e-12)
        assert not two.state[name][..., d:].any()
    assert after.fates.keys() >= {"wq", "wk", "wv", "wo"} & set(labels(before).values())


@pytest.mark.parametrize("rope", ["none", "pairs", "halves"])
def test_the_device_runs_narrow_heads_over_several_steps(rope: str) -> None:
    """Against the graph's meaning, but for the roundings of FP16."""
    graph = block(32, 2, 1, rope)
    module = build(graph)
    rng, last, state = np.random.default_rng(2), 0, {f"cache{n}": np.zeros((1, 0, 32)) for n in range(2)}
    runner = ModuleRunner(module)
    try:
        for tokens in (4, 1, 6):
            x = rng.standard_normal((1, tokens, C)).astype(np.float16)
            step = {"token": tokens, "last_token": last}
            expected = evaluate(graph, {"x": x.astype(np.float64)}, step, state=state)
            (found,) = runner.run({"x": x}, **step).values()
            error = np.abs(found - expected.result).max() / np.abs(expected.result).max()
            assert error < 0.01, (tokens, error)
            state, last = dict(expected.state), last + tokens
    finally:
        runner.close()
    assert last == 11


def test_heads_of_a_size_that_the_device_has_stay() -> None:
    graph = block(64, 2, 1, "pairs")
    assert fill_heads(graph, SMALL, SET.head_channels).graph is graph
