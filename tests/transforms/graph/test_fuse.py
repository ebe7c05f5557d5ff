"""Fusion into products: the same values, and what was made and missed."""

from __future__ import annotations

import numpy as np
import pytest
from graph_models import C, block, block_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.func import FuncOp

from fleet.dlavm import adr, ne
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, labels, post_order, print_graph
from fleet.ir.accel.walk import constants
from fleet.transforms.products.fuse_epilogues import Fused, fuse
from fleet.transforms.simplify.infer_types import infer_type

T, LAST = ne.Var("token", max_data=64), ne.Var("last_token", max_data=64)
hbm = adr.hbm
RNG = np.random.default_rng(3)


def infer(graph: Node) -> Node:
    return infer_type(graph, "hbm_small", {"last_token": LAST})


def ops(graph: Node) -> list[str]:
    return [n.op.removeprefix("accel.hbm.") for n in post_order(graph) if isinstance(n, OperatorCall)]


def every_node_is_accounted_for(before: Node, fused: Fused) -> None:
    """What was there has its name in the new graph, or a fate that names a node of the graph before."""
    named, kept = set(labels(before).values()), list(fused.names.values())
    assert len(set(kept)) == len(kept)
    assert set(kept) | fused.fates.keys() == named
    assert not set(kept) & fused.fates.keys()
    assert {fate.removeprefix("fused into ") for fate in fused.fates.values()} <= named
    assert set(fused.names) <= set(post_order(fused.graph))
    assert all(isinstance(n, ConstantNode | OperatorCall) for n in set(post_order(fused.graph)) - fused.names.keys())


def same_values(before: Node, after: Node, x: np.ndarray, last: int = 0) -> None:
    """Both graphs give the same results and caches, and the second one's function is whole, with nothing that is not needed."""
    function = after.parent_op()
    assert isinstance(function, FuncOp)
    function.verify()
    assert set(list(function.body.block.ops)[:-1]) == set(post_order(after))
    bound = {"token": x.shape[1], "last_token": last}
    one, two = (evaluate(g, {"x": x}, bound) for g in (before, after))
    pairs = zip(*(r if isinstance(r, tuple) else (r,) for r in (one.result, two.result)), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert one.state.keys() == two.state.keys()
    for name in one.state:
        np.testing.assert_allclose(one.state[name], two.state[name], rtol=1e-9, atol=1e-12)


def x() -> Node:
    return hbm.var_ddr("x", (1, T, 64))


def w(name: str = "w", chin: int = 64, chout: int = 64) -> Node:
    return hbm.const_hbm(name, RNG.standard_normal((chin, chout)))


def row(name: str = "c") -> Node:
    return hbm.const_ddr(name, RNG.standard_normal((1, 1, 64)))


def relu(node: Node) -> Node:
    return hbm.activate(node, hbm.const_ddr("relu_weight", None, (3, 16)), function="relu")


def check(graph: Node, expected: list[str], made: list[str], missed: list[str] = []) -> None:  # noqa: B006
    before = infer(graph)
    text = str(before)
    fused = fuse(before)
    assert ops(fused.graph) == expected, str(fused)
    assert [f.what for f in fused.made] == made
    assert len(fused.missed) == len(missed)
    for found, reason in zip(fused.missed, missed, strict=True):
        assert reason in found.reason
    every_node_is_accounted_for(before, fused)
    same_values(before, fused.graph, RNG.standard_normal((1, 3, 64)))
    assert str(before) == text
    assert str(infer(fused.graph)) == str(fused.graph)  # its types are those that infer_type finds


def test_a_whole_epilogue() -> None:
    v = x()
    y = hbm.add(hbm.mul(hbm.mvm(v, w()), row("scale")), row("bias"))
    check(relu(hbm.add(v, y)), ["mvm_bn_res"], ["factor", "bias", "residual", "ReLU"])


@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
@pytest.mark.parametrize("first", [True, False])
def test_a_residual_on_either_side(kind: str, first: bool) -> None:
    v = x()
    product = hbm.mvm(v, w())
    node = getattr(hbm, kind)(*((product, v) if first else (v, product)))
    if kind == "sub" and first:
        check(node, ["mvm", "sub"], [], ["does not subtract"])
    else:
        check(node, ["mvm_bn_res"], ["factor from another node" if kind == "mul" else "residual"])


def test_a_bias_behind_a_residual_and_what_cannot_follow_one() -> None:
    v = x()
    product = hbm.add(hbm.mvm(v, w()), v)
    check(hbm.sub(product, row()), ["mvm_bn_res"], ["residual", "bias"])
    v = x()
    check(hbm.mul(hbm.add(hbm.mvm(v, w()), v), row()), ["mvm_bn_res", "mul"], ["residual"], ["behind the residual"])
    v = x()
    check(hbm.add(hbm.mul(hbm.mvm(v, w()), v), row()), ["mvm_bn_res", "add"], ["factor from another node"], ["behind the residual"])
    v = x()
    check(hbm.add(hbm.add(hbm.mvm(v, w()), v), v), ["mvm_bn_res", "add"], ["residual"], ["has a residual already"])
    v = x()
    check(hbm.add(relu(hbm.mvm(v, w())), v), ["mvm", "add"], ["ReLU"], ["ReLU comes last"])


def test_two_products_added_are_one_product_and_its_residual() -> None:
    v = x()
    check(hbm.add(hbm.mvm(v, w("w0")), hbm.mvm(v, w("w1"))), ["mvm", "mvm_bn_res"], ["residual"])


def test_what_is_used_twice_or_placed_stays() -> None:
    v = x()
    product = hbm.mvm(v, w())
    check(hbm.add(hbm.add(product, v), product), ["mvm", "add", "add"], [], ["used 2 times", "used 2 times"])
    product = hbm.mvm(v, w())
    product.prefix = "onchip"
    check(hbm.add(product, v), ["mvm_bn_res"], ["residual"])
    product = hbm.mvm(v, w())
    product.prefix = "io"
    check(hbm.add(product, v), ["mvm", "add"], [], ["placed in io"])
    check(hbm.silu(hbm.mvm(v, w())), ["mvm", "activate"], [], ["no activation but ReLU"])


def test_argmax() -> None:
    v = x()
    check(hbm.argmax(hbm.mvm(v, w())), ["mvm_bn"], ["argmax"])
    logits = hbm.mvm_bn(v, w(), hbm.const_ddr("b", RNG.standard_normal((2, 64))))
    check(adr.tuple([logits, hbm.argmax(logits), hbm.argmax(logits)]), ["mvm_bn"], ["argmax", "argmax"])
    check(hbm.argmax(hbm.add(hbm.mvm(v, w()), v)), ["mvm_bn_res"], ["residual", "argmax"])
    check(hbm.argmax(hbm.add(v, v)), ["add", "argmax"], [], ["no product"])
    unknown = fuse(infer(hbm.argmax(hbm.mvm(v, hbm.const_hbm("w", None, (64, T))))))
    assert [m.reason for m in unknown.missed] == ["the number of output channels is not known"]


def test_files_of_packed_bytes_take_no_bias_and_shapes_alone_do() -> None:
    v = x()
    packed = hbm.const_ddr("b", "bn.bin", (128,))
    fused = fuse(infer(hbm.add(hbm.mvm_bn(v, w(), packed), row())))
    assert ops(fused.graph) == ["mvm_bn", "add"]
    assert "b is a file of packed bytes" in fused.missed[0].reason
    bare = fuse(infer(hbm.add(hbm.mvm(v, hbm.const_hbm("w", None, (64, 64))), hbm.const_ddr("c", None, (1, 1, 64)))))
    assert ops(bare.graph) == ["mvm_bn"]
    assert [c.data for c in constants(bare.graph)] == [None, None]


def test_a_block_keeps_its_values_and_caches() -> None:
    before = infer(block(block_weights(RNG)))
    fused = fuse(before)
    assert len(ops(before)) - len(ops(fused.graph)) == 4
    assert [f.what for f in fused.made] == ["residual", "factor from another node", "residual", "argmax"]
    assert ["no activation but ReLU" in m.reason for m in fused.missed] == [True]
    every_node_is_accounted_for(before, fused)
    assert fused.fates["%15"] == "fused into %16"
    same_values(before, fused.graph, RNG.standard_normal((1, 5, C)))
    assert "fused residual: %16 = accel.hbm.add(%15, x) into %15" in str(fused)
    assert "not fused: %19 = accel.hbm.activate(%18, silu_weight) behind %18" in str(fused)


def test_caches_keep_their_names_when_the_order_of_calls_changes() -> None:
    w0, w1 = w("w0"), w("w1")
    v = adr.reshape(x(), (2, T, 32))
    first, second = hbm.attention(v, v, v), hbm.attention(hbm.add(v, v), hbm.add(v, v), v)
    join = [adr.reshape(a, (1, T, 64)) for a in (first, second)]
    before = infer(hbm.add(join[0], hbm.mvm(join[1], w1)))  # fused, the product's argument comes first
    fused = fuse(before)
    every_node_is_accounted_for(before, fused)
    after = fused.graph
    assert print_graph(after).index("dat_hbm") < print_graph(after).index("mvm_bn_res")
    data = RNG.standard_normal((1, 4, 64))
    same_values(before, after, data)
    del w0


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 40))
def test_random_graphs_keep_their_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes: list[Node] = [x()]
    for n in range(int(rng.integers(2, 14))):
        a = nodes[int(rng.integers(max(0, len(nodes) - 3), len(nodes)))]
        b = nodes[int(rng.integers(len(nodes)))]
        weight = hbm.const_hbm(f"w{n}", rng.standard_normal((64, 64)) / 8)
        bn = hbm.const_ddr(f"b{n}", rng.standard_normal((2, 64)))
        channel = hbm.const_ddr(f"c{n}", rng.standard_normal((1, 1, 64)))
        kind = rng.choice(["mvm", "mvm", "mvm_bn", "res", "add", "sub", "mul", "channel", "relu", "silu", "argmax"])
        match kind:
            case "mvm":
                new = hbm.mvm(a, weight)
            case "mvm_bn":
                new = hbm.mvm_bn(a, weight, bn, relu=int(rng.integers(2)))
            case "res":
                new = hbm.mvm_bn_res(a, weight, bn, b, res_mul=int(rng.integers(2)), relu=int(rng.integers(2)))
            case "add" | "sub" | "mul":
                new = getattr(hbm, kind)(a, b)
            case "channel":
                new = getattr(hbm, str(rng.choice(["add", "sub", "mul"])))(a, channel)
            case "relu":
                new = relu(a)
            case "silu":
                new = hbm.silu(a)
            case _:
                continue
        nodes.append(new)
    results = [nodes[-1], hbm.argmax(nodes[-1]), nodes[int(rng.integers(len(nodes)))]]
    before = infer(adr.tuple(results[: int(rng.integers(1, 4))]))
    fused = fuse(before)
    assert len(ops(fused.graph)) == len(ops(before)) - len(fused.made)
    every_node_is_accounted_for(before, fused)
    same_values(before, fused.graph, rng.standard_normal((1, 2, 64)))


def test_a_graph_without_types_is_refused() -> None:
    with pytest.raises(GraphError, match="call infer_type first"):
        fuse(x())
