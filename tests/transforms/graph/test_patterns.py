"""Every rewriting of a random graph by a pattern keeps what the graph gives; one that does not is named, with the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from fleet.dlavm import adr, ne
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall
from fleet.ir.accel.pointwise import ActivateCall
from fleet.isa.registry import find_device
from fleet.transforms.graph_edit import GraphCopy, watching
from fleet.transforms.products import fill_heads
from fleet.transforms.products.fill_heads import fill_heads as filled
from fleet.transforms.products.fuse_epilogues import fuse
from fleet.transforms.products.turn_neighbours import turn_neighbours
from fleet.transforms.simplify.infer_types import infer_type

T, LAST = ne.Var("token", max_data=64), ne.Var("last_token", max_data=64)
SET, SMALL = find_device("hbm_small")
hbm = adr.hbm
C, POSITIONS = 128, 16

PASSES: Mapping[str, Callable[[Node], Node]] = {
    "fuse": lambda graph: fuse(graph).graph,
    "fill_heads": lambda graph: filled(graph, SMALL, SET.head_channels).graph,
    "turn_neighbours": lambda graph: turn_neighbours(graph).graph,
}
PATTERNS = {"fuse": {"_Follower", "_Argmax"}, "fill_heads": {"_Attention"}, "turn_neighbours": {"_Scores"}}


def drawn(seed: int) -> Node:
    """A block of attention between products, with operators behind them that may go into them."""
    rng = np.random.default_rng(seed)
    width, kv = int(rng.choice([32, 64])), int(rng.choice([1, 2]))
    heads, count = 2 * kv, 0

    def matrix(chin: int, chout: int) -> Node:
        nonlocal count
        count += 1
        return hbm.const_hbm(f"w{count}", rng.standard_normal((chin, chout)).astype(np.float32) / 8)

    def pairs(channels: int) -> Node:
        nonlocal count
        count += 1
        return hbm.const_ddr(f"b{count}", rng.standard_normal(2 * channels).astype(np.float32) / 4, (2 * channels,))

    def product(x: Node, chin: int, chout: int) -> Node:
        weight = matrix(chin, chout)
        return hbm.mvm_bn(x, weight, pairs(chout)) if rng.integers(2) else hbm.mvm(x, weight)

    def followed(x: Node, other: Node) -> Node:
        kind = str(rng.choice(["relu", "add", "sub", "mul", "silu", "channel", "none"]))
        if kind == "relu":
            return hbm.activate(x, hbm.const_ddr("relu_weight", None, (3, 16)), function="relu")
        if kind == "channel":
            return hbm.add(x, hbm.const_ddr(f"c{count}", rng.standard_normal((1, 1, C)).astype(np.float32)))
        return x if kind == "none" else hbm.silu(x) if kind == "silu" else getattr(hbm, kind)(x, other)

    angles = np.arange(POSITIONS)[:, None] * 100.0 ** (-2 * np.arange(width // 2) / width)
    turns = hbm.const_ddr(
        "table", np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float16), (1, 2 * POSITIONS, width // 2)
    )
    turn = {0: lambda x: x, 1: lambda x: hbm.pos_emb(x, turns), 2: lambda x: hbm.rope_qwen(x, turns)}[int(rng.integers(3))]
    x = hbm.var_ddr("x", (1, T, C))
    h = followed(product(x, C, C), x)
    q, k, v = (adr.reshape(product(h, C, n * width), (n, -1, width)) for n in (heads, kv, kv))
    cached = bool(rng.integers(2))
    keys, values = (hbm.dat_hbm(turn(k), 1), hbm.dat_hbm(v, 0)) if cached else (hbm.transpose(turn(k)), hbm.feature2weight(v))
    mixed = adr.reshape(hbm.f2w_mvm(hbm.softmax(hbm.trp_mvm(turn(q), keys)), values), (1, -1, heads * width))
    out = followed(product(mixed, heads * width, C), h)
    return infer_type(adr.tuple([out, hbm.argmax(product(out, C, C))]), "hbm_small", {"last_token": LAST})


def check(graph: Node, change: Callable[[Node], Node], seed: int = 0) -> Counter[str]:
    """Compares the results after every rewriting; returns how often each pattern did something."""
    x, seen = np.random.default_rng(seed).standard_normal((1, 5, C)), Counter[str]()

    def results(now: Node) -> list[np.ndarray]:
        found = evaluate(now, {"x": x}, {"token": 5, "last_token": 0}).result
        return list(found) if isinstance(found, tuple) else [found]

    before = results(graph)

    def compare(pattern: str, node: str, now: Node) -> None:
        seen[pattern] += 1
        for expected, found in zip(before, results(now), strict=True):
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-11), f"pattern {pattern} at {node} changes what the graph gives"

    with watching(compare):
        after = change(graph)
    compare("after the pass", "", after)
    return seen


@pytest.mark.parametrize("name", PASSES)
def test_each_rewriting_keeps_the_values(name: str) -> None:
    total = Counter[str]()
    for seed in range(24):
        graph = drawn(seed)
        text = str(graph)
        total += check(graph, PASSES[name], seed)
        assert str(graph) == text
    assert total.keys() == {*PATTERNS[name], "after the pass"}


def test_the_passes_of_a_build_in_their_order() -> None:
    for seed in range(12):
        check(drawn(seed), lambda graph: PASSES["fill_heads"](PASSES["turn_neighbours"](PASSES["fuse"](graph))), seed)


class _Wrong(RewritePattern):
    """SiLU as GELU."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ActivateCall, rewriter: PatternRewriter) -> None:
        new = OperatorCall(op.name, op.args, {**op.attrs, "function": "gelu"}, op.prefix, op.checked_type)
        rewriter.replace(op, new)


def wrong(graph: Node) -> Node:
    return GraphCopy(graph).rewrite(_Wrong())


def first(name: str, pattern: str) -> Node:
    """A graph in which that pattern finds something."""
    return next(graph for graph in map(drawn, range(24)) if check(graph, PASSES[name])[pattern])


def test_a_planted_wrong_pattern_is_named() -> None:
    graph = infer_type(hbm.silu(hbm.var_ddr("x", (1, T, C))), "hbm_small", {"last_token": LAST})
    with pytest.raises(AssertionError, match=r"pattern _Wrong at %0 changes"):
        check(graph, wrong)


def test_faults_in_what_the_patterns_make_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = first("fill_heads", "_Attention")
    zeros = fill_heads.padded_heads
    monkeypatch.setattr(fill_heads, "padded_heads", lambda *given: zeros(*given) + 0.01)
    with pytest.raises(AssertionError, match=r"pattern _Attention at \S+ changes"):
        check(graph, PASSES["fill_heads"])
    graph = first("turn_neighbours", "_Scores")

    changed = GraphCopy.changed

    def unchanged(self: GraphCopy, node: Node, kind: str, _change: object, shape: Sequence[int] | None = None) -> ConstantNode:
        return changed(self, node, kind, lambda array: array, shape)

    monkeypatch.setattr(GraphCopy, "changed", unchanged)
    with pytest.raises(AssertionError, match=r"pattern _Scores at \S+ changes"):
        check(graph, PASSES["turn_neighbours"])
