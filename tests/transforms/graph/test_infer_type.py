"""`infer_type`: what it finds, and what it says of graphs that do not fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.errors import DeviceError
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, post_order
from fleet.ir.accel.walk import constants
from fleet.transforms.simplify.infer_types import infer_type

T = ne.Var("token", max_data=64)
LAST = ne.Var("last_token", max_data=64)
hbm = adr.hbm


def infer(graph: Node) -> Node:
    return infer_type(graph, "hbm_small", {"last_token": LAST})


def x(channels: ne.Number = 64, heads: ne.Number = 1, name: str = "x") -> Node:
    return hbm.var_ddr(name, (heads, T, channels))


def w(*shape: int, name: str = "w", dtype: str = "int4") -> ConstantNode:
    return hbm.const_hbm(name, None, shape, dtype)


def d(*shape: int, name: str = "d", dtype: str = "float16") -> ConstantNode:
    return hbm.const_ddr(name, None, shape, dtype)


def kv(trp: int = 1, heads: int = 2, channels: int = 32) -> Node:
    return hbm.dat_hbm(x(channels, heads, "k"), trp)


BAD: dict[str, tuple[Callable[[], Node], str]] = {
    "CHin": (
        lambda: hbm.mvm(x(64), w(128, 32)),
        r"%0 = accel.hbm.mvm\(x, w\): CHin of argument 0 \(data\) \(1, token, 64\) and of argument 1 \(weight\) \(128, 32\): "
        "64 and 128 differ",
    ),
    "an FP16 second operand": (
        lambda: hbm.mvm(x(), d(64, 32)),
        r"%0 = accel.hbm.mvm\(x, d\): argument 1 \(weight\) is \(float16, ddr\), expected \(int4, hbm\)",
    ),
    "FP16 weights in HBM": (lambda: hbm.mvm(x(), w(64, 32, dtype="float16")), r"is \(float16, hbm\), expected \(int4, hbm\)"),
    "weights as data": (lambda: hbm.mvm(w(64, 64), w(64, 64)), r"argument 0 \(data\) is \(int4, hbm\), expected \(float16, ddr\)"),
    "weights of three dimensions": (lambda: hbm.mvm(x(), w(64, 32, 1)), r"argument 1 \(weight\) has shape \(64, 32, 1\)"),
    "a feature of two dimensions": (
        lambda: hbm.add(hbm.var_ddr("x", (T, 64)), x(name="y")),
        r"argument 0 \(data\) has shape \(token, 64\)",
    ),
    "no bound": (
        lambda: hbm.mvm(hbm.var_ddr("x", (1, ne.Var("seq"), 64)), w(64, 32)),
        r'x: variable seq has no bound; write ne.Var\("seq", max_data=...\)',
    ),
    "no bound of an attribute": (lambda: hbm.pos_emb(x(), d(1, 128, 32), last_token=ne.Var("past")), "variable past has no bound"),
    "two bounds": (
        lambda: hbm.add(x(), hbm.var_ddr("y", (1, ne.Var("token", 32), 64))),
        "y: variable token has two bounds: 0 to 64 and 0 to 32",
    ),
    "no bound inside a sum": (lambda: hbm.var_ddr("x", (1, T + ne.Var("seq"), 64)), "x: variable seq has no bound"),
    "bn": (
        lambda: hbm.mvm_bn(x(), w(64, 32), d(32)),
        r"argument 2 \(bn\) has shape \(32\), expected \(64,\): a weight and a bias for each",
    ),
    "bn in HBM": (
        lambda: hbm.mvm_bn(x(), w(64, 32), w(64, 1, name="b")),
        r"argument 2 \(bn\) is \(int4, hbm\), expected \(float16, ddr\)",
    ),
    "residual": (
        lambda: hbm.mvm_bn_res(x(), w(64, 32), d(64), x(name="r")),
        r"argument 3 \(residual\) has shape \(1, token, 64\), expected that of the product",
    ),
    "argmax of mvm": (lambda: hbm.mvm(x(), w(64, 32), arg_max=1), r"mvm has no argmax; use mvm_bn\(..., arg_max=1\)"),
    "heads of an argmax": (lambda: hbm.mvm_bn(x(heads=2), w(64, 32), d(64), arg_max=1), "argmax of 2 lines, expected 1"),
    "add": (
        lambda: hbm.add(x(), x(32, name="y")),
        r"argument 0 \(data\) has shape \(1, token, 64\), argument 1 \(data\) \(1, token, 32\): expected the same",
    ),
    "norm": (lambda: hbm.rms_norm(x(), d(32)), r"argument 1 \(norm\) has shape \(32\), expected \(128,\)"),
    "rotary": (lambda: hbm.pos_emb(x(), d(1, 128, 64)), "twice the pairs of argument 1 .table.: 64 and 128 differ"),
    "partial rotary": (
        lambda: hbm.rope_glm(x(), d(1, 128, 64)),
        r"argument 1 \(table\) turns 128 channels, argument 0 \(data\) has 64",
    ),
    "table of an activation": (
        lambda: hbm.activate(x(), d(3, 15)),
        r"argument 1 \(act\) has shape \(3, 15\), expected at least 48 elements",
    ),
    "function": (lambda: hbm.activate(x(), d(3, 16), function="sine"), "function 'sine' is not known; known are silu, gelu"),
    "heads": (lambda: hbm.trp_mvm(x(32, 3, "q"), kv()), "3 heads cannot share 2 key/value heads"),
    "channels of keys": (
        lambda: hbm.trp_mvm(x(64, 2, "q"), kv()),
        "channels of argument 0 .data. and argument 1 .cache.: 64 and 32 differ",
    ),
    "values as keys": (lambda: hbm.trp_mvm(x(32, 2, "q"), kv(0)), "is a cache with trp = 0, keys need trp = 1"),
    "keys as values": (
        lambda: hbm.f2w_mvm(hbm.softmax(hbm.trp_mvm(x(32, 2, "q"), kv())), hbm.transpose(x(32, 2, "v"))),
        "is a transpose with trp = 1, values need trp = 0",
    ),
    "positions": (lambda: hbm.f2w_mvm(x(32, 2, "p"), kv(0)), r"positions of .*: 32 and token \+ last_token differ"),
    "no cache": (
        lambda: hbm.trp_mvm(x(32, 2, "q"), x(32, 2, "k")),
        r"argument 1 \(cache\) is \(float16, ddr\), expected \(float16, hbm\)",
    ),
    "reshape": (
        lambda: adr.reshape(x(), (2, T, 64)),
        r"\(1, token, 64\) to \(2, token, 64\): 64 channels of all heads do not become 128",
    ),
    "reshape of tokens": (lambda: adr.reshape(x(), (1, 64, T)), "a view keeps the tokens, token and 64 differ"),
    "reshape of half a group": (lambda: adr.reshape(x(), (4, T, 16)), "channels of a head must be a multiple of 32"),
    "two unknown sizes": (lambda: adr.reshape(x(), (-1, T, -1)), "only one size may be -1"),
    "split": (lambda: adr.split(x(), 2, [32, 16])[0], r"parts \(32, 16\) of \(1, token, 64\): their sum must be 64"),
    "split inside a group": (lambda: adr.split(x(), 2, [16, 48])[0], "all but the last must be multiples of 32 channels"),
    "axis": (lambda: adr.split(x(), 5, [64])[0], "axis is 5, expected 0"),
    "concat": (lambda: adr.concat([x(), x(32, name="y")]), r"argument 1 has shape \(1, token, 32\), the first \(1, token, 64\)"),
    "several results as one": (
        lambda: hbm.add(adr.split(x(), 2, [32, 32]), x(32, name="y")),
        r"a node with 2 results is used as one; take one of them",
    ),
    "a result that is not there": (lambda: adr.split(x(), 2, [32, 32])[2], r"%0.2: result 2 of 2"),
    "one of one": (lambda: hbm.add(x(), x(name="y"))[0], r"%0.0: \[0\] of a node with one result"),
    "two inputs of one name": (lambda: hbm.add(x(), x()), "x: two different nodes are called x"),
    "two constants of one name": (lambda: hbm.mvm(hbm.mvm(x(), w(64, 64)), w(64, 32)), "w: two different nodes are called w"),
    "no shape": (lambda: hbm.mvm(x(), hbm.const_hbm("w", "w.bin")), "w: a constant without a shape"),
    "other data": (
        lambda: hbm.mvm(x(), hbm.const_hbm("w", np.zeros((64, 16)), (64, 32))),
        r"w: data of shape \(64, 16\), declared \(64, 32\)",
    ),
    "words": (lambda: hbm.mvm(x(), hbm.const_hbm("w", np.array([["a"]]))), "w: data of dtype <U1, expected numbers"),
    "size 0": (lambda: x(0), "x: a size is 0, expected at least 1"),
    "no room for a kernel": (
        lambda: hbm.conv2d(hbm.var_ddr("x", (2, 2, 32)), w(3, 3, 32, 8)),
        r"%0 = accel.hbm.conv2d\(x, w\): a size is 0, expected at least 1",
    ),
    "negative part": (lambda: adr.split(x(), 2, [96, -32])[0], "a size is -32, expected at least 1"),
    "dtype": (lambda: hbm.var_ddr("x", (1, T, 64), "float64"), r"x: type \(float64, ddr\), expected one of float16"),
    "accelerator": (
        lambda: hbm.var_ddr("x", (1, T, 64), device=adr.Accelerator("tape")),
        "built for an accelerator with tape, device hbm_small has none",
    ),
    "named call": (lambda: hbm.mvm(x(64), w(128, 32), name="wq"), r'%0 = accel.hbm.mvm\(x, w\) "wq": CHin'),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_said_of_its_node(name: str) -> None:
    build, message = BAD[name]
    graph = build()
    with pytest.raises(GraphError, match=message) as caught:
        infer(graph)
    assert "\n" not in str(caught.value)
    assert caught.value.where


def test_builders_refuse_what_is_no_node() -> None:
    with pytest.raises(GraphError, match=r"argument 1 of accel.hbm.add is 3, expected a node"):
        hbm.add(x(), 3)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"strides of conv2d is \(0, 1\), expected .* at least 1"):
        hbm.conv2d(x(), w(1, 1, 64, 8), (0, 1))
    with pytest.raises(GraphError, match=r"skip = 2 and 1 arguments too many"):
        hbm.mvm(x(), w(64, 32), w(64, 32), skip=2)
    with pytest.raises(GraphError, match="x: 'C' is neither an integer nor an expression"):
        infer(hbm.var_ddr("x", (1, T, "C")))  # type: ignore[arg-type]


def test_an_unknown_device() -> None:
    with pytest.raises(DeviceError, match="no device 'hbm_huge'"):
        infer_type(x(), "hbm_huge")


def test_attributes_of_a_call_win_over_the_global_ones_unless_none() -> None:
    own = ne.Var("past", max_data=9)
    for given, expected in ((own, own), (None, LAST), (3, 3)):
        call = infer(hbm.dat_hbm(x(32, 2), 1, last_token=given))
        assert isinstance(call, OperatorCall)
        assert call.attrs["last_token"] is expected
    assert str(infer_type(hbm.dat_hbm(x(32, 2), 1), "hbm_small")).count("ret=(2, token, 32)") == 2


def test_the_device_stands_in_every_type() -> None:
    graph = infer(hbm.mvm_bn(x(), w(64, 32), d(64), arg_max=1)[1])
    for node in post_order(graph):
        types = node.checked_type if isinstance(node.checked_type, tuple) else (node.checked_type,)
        assert {t.device.name for t in types if t} == {"hbm_small"}
    assert str(graph.checked_type) == "/* ret=(1, token), dtype=(int32, ddr), device=hbm */"


def test_constants_of_one_name_and_content_become_one() -> None:
    data = np.zeros((64, 64))
    graph = infer(hbm.mvm(hbm.mvm(x(), hbm.const_hbm("w", data)), hbm.const_hbm("w", data)))
    assert len(constants(graph)) == 1
    graph = infer(hbm.silu(hbm.silu(x())))
    assert [c.label for c in constants(graph)] == ["silu_weight"]


def test_a_constant_takes_its_shape_from_its_array() -> None:
    graph = infer(hbm.mvm(x(), hbm.const_hbm("w", np.zeros((64, 48)))))
    assert "w = constant() /* ret=(64, 48), dtype=(int4, hbm), device=hbm */" in str(graph)


def test_shapes_are_simplified() -> None:
    graph = infer(adr.concat([x(64), adr.reshape(adr.reshape(x(64, name="y"), (2, T, 32)), (1, T, -1))], dim=2))
    assert str(graph.checked_type).startswith("/* ret=(1, token, 128)")
