"""Rotary embedding of halves becomes one of neighbours: the same values, and instructions that the device has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.errors import DeviceError
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, labels, post_order
from fleet.targets.accel.build import build
from fleet.transforms.products.turn_neighbours import turn_neighbours
from fleet.transforms.simplify.infer_types import infer_type

T, LAST = ne.Var("token", max_data=8), ne.Var("last_token", max_data=8)
hbm = adr.hbm
C, HEADS, KV, D, POSITIONS = 128, 4, 2, 64, 16
Rope = Callable[[Node, Node], Node]


class Weights:
    """Seeded constants; order: of every head's channels in the columns of queries and keys."""

    def __init__(self, order: Any = None) -> None:
        self.rng, self.order = np.random.default_rng(4), order

    def columns(self, array: np.ndarray, heads: int) -> np.ndarray:
        if self.order is None:
            return array
        return array.reshape(array.shape[0], heads, D)[:, :, self.order].reshape(array.shape)

    def matrix(self, name: str, chin: int, heads: int) -> ConstantNode:
        array = self.rng.standard_normal((chin, heads * D)).astype(np.float32) / 8
        return hbm.const_hbm(name, self.columns(array, heads), array.shape)

    def bn(self, name: str, heads: int) -> ConstantNode:
        array = np.stack([self.rng.uniform(0.5, 1.5, heads * D), self.rng.standard_normal(heads * D) / 8]).astype(np.float16)
        return hbm.const_ddr(name, self.columns(array, heads).reshape(-1), (2 * heads * D,))


def table() -> ConstantNode:
    angles = np.arange(POSITIONS)[:, None] * 10000.0 ** (-2 * np.arange(D // 2) / D)
    return hbm.const_ddr("table", np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float16), (1, 2 * POSITIONS, D // 2))


def attention(rope: Rope, w: Weights, *, cached: bool = True, seen: bool = False) -> Node:
    """Grouped heads; seen: the turned queries are a result, too."""
    x, angles = hbm.var_ddr("x", (1, T, C)), table()
    q = rope(adr.reshape(hbm.mvm_bn(x, w.matrix("wq", C, HEADS), w.bn("bq", HEADS)), (HEADS, -1, D)), angles)
    k = rope(adr.reshape(hbm.mvm(x, w.matrix("wk", C, KV)), (KV, -1, D)), angles)
    scores = hbm.softmax(hbm.trp_mvm(q, hbm.dat_hbm(k, 1) if cached else hbm.transpose(k)))
    return infer_type(adr.tuple([scores, q]) if seen else scores, "hbm_small", {"last_token": LAST})


def embeddings(graph: Node) -> list[str]:
    return [n.op for n in post_order(graph) if isinstance(n, OperatorCall) and n.op in ("accel.hbm.rope", "accel.hbm.pos_emb")]


@pytest.mark.parametrize("cached", [True, False])
def test_scores_stay_what_they_were(cached: bool) -> None:
    before = attention(hbm.rope_qwen, Weights(), cached=cached)
    text = str(before)
    after = turn_neighbours(before)
    assert embeddings(after.graph) == ["accel.hbm.pos_emb"] * 2
    assert len(after.made) == 2
    assert str(before) == text
    assert str(infer_type(after.graph, "hbm_small", {"last_token": LAST})) == str(after.graph)
    x = np.random.default_rng(1).standard_normal((1, 5, C))
    state = {"cache0": np.zeros((KV, 0, D))} if cached else {}
    one, two = (evaluate(g, {"x": x}, {"token": 5, "last_token": 0}, state=state) for g in (before, after.graph))
    np.testing.assert_allclose(one.result, two.result, rtol=1e-9, atol=1e-12)
    # Products, views and constants of before went into what stands in the embeddings' place.
    gone = {name for name in labels(before).values() if name not in labels(after.graph).values()}
    assert after.fates.keys() >= gone & {"wq", "wk", "bq"}
    assert set(after.fates.values()) <= {f"fused into {name}" for name in after.made}


def test_the_device_runs_what_weights_in_another_order_give() -> None:
    """Instructions and images are those of a graph whose weights were permuted by hand."""
    order = np.arange(D).reshape(2, -1).T.reshape(-1)
    halves, neighbours = build(attention(hbm.rope_qwen, Weights())), build(attention(hbm.pos_emb, Weights(order)))
    step = {"token": 3, "last_token": 2}
    assert [(c.instruction, dict(c.fields)) for c in halves.calls(**step)] == [
        (c.instruction, dict(c.fields)) for c in neighbours.calls(**step)
    ]
    assert list(halves.images()) == list(neighbours.images())


def test_what_else_sees_the_order_stays() -> None:
    before = attention(hbm.rope_qwen, Weights(), seen=True)
    assert embeddings(turn_neighbours(before).graph) == ["accel.hbm.rope"] * 2
    with pytest.raises(DeviceError, match="pairs channels half a head apart"):
        build(before)


def test_a_graph_without_such_embeddings_is_returned() -> None:
    before = attention(hbm.pos_emb, Weights())
    assert turn_neighbours(before).graph is before
