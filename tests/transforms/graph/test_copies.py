"""Joins of what stands elsewhere: views, inputs, results that two joins want."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import Node, OperatorCall, post_order
from fleet.isa.registry import find_device
from fleet.llm.sessions.run_module import ModuleRunner
from fleet.sdk.tasks import GraphTasks
from fleet.targets.accel.build import build
from fleet.transforms.copy_parts import copy_parts
from fleet.transforms.simplify.infer_types import infer_type

C = 128
T, LAST = ne.Var("token", max_data=64), ne.Var("last_token", max_data=64)
hbm = adr.hbm


def tasks() -> GraphTasks:
    found = find_device("hbm_small")[0].tasks
    assert found is not None
    return found


def weight(name: str, chout: int = C) -> Node:
    codes = np.random.default_rng(len(name) + ord(name[-1])).integers(-7, 8, (C, chout))
    return hbm.const_hbm(name, (codes / 32).astype(np.float32), (C, chout))


def heads(x: Node) -> Node:
    return adr.reshape(x, (2, -1, 64))


def parts(x: Node, name: str, axis: int = 2) -> tuple[Node, Node]:
    found = adr.split(hbm.mvm(x, weight(name, 2 * C)), axis, (C, C))
    return found[0], found[1]


def with_argmax(x: Node) -> Node:
    made = hbm.mvm_bn(x, weight("logits"), hbm.const_ddr("bn", np.ones(2 * C, np.float16), (2 * C,)), arg_max=1)
    return adr.tuple([adr.concat([made[0], x], 2), made[1]])


def other_way(x: Node) -> Node:
    first, second = parts(x, "w")
    return adr.tuple([adr.concat([second, first], 2), adr.concat([first, second], 2)])


def once_twice(x: Node) -> Node:
    made = hbm.silu(x)
    return adr.concat([made, made, x], 1)


def twice_joined(x: Node) -> Node:
    a, b = hbm.mvm(x, weight("a")), hbm.mvm(x, weight("b"))
    return adr.tuple([adr.concat([a, b], 2), adr.concat([b, a], 1)])


def a_part_of_itself(x: Node) -> Node:
    made = hbm.mvm(x, weight("w", 2 * C))
    return adr.concat([made, adr.split(adr.concat([made, made], 2), 2, (2 * C, 2 * C))[1]], 1)


GRAPHS: Mapping[str, tuple[Callable[[Node], Node], int]] = {
    # what is joined, and how many copies it takes
    "parts of a product, the other way round": (other_way, 2),
    "a part and a product": (lambda x: adr.concat([parts(x, "w")[1], hbm.mvm(x, weight("b"))], 2), 1),
    "parts of two products": (lambda x: adr.concat([parts(x, "a")[1], parts(x, "b")[0]], 1), 2),
    "heads": (lambda x: adr.concat([heads(hbm.mvm(x, weight("a"))), heads(hbm.mvm(x, weight("b")))], 0), 2),
    "heads along tokens": (lambda x: adr.concat([heads(hbm.mvm(x, weight("a"))), heads(x)], 1), 2),
    "logits beside an argmax": (with_argmax, 2),
    "an input": (lambda x: adr.concat([x, hbm.silu(x)], 2), 1),
    "one twice": (once_twice, 3),
    "a product and a part of it": (a_part_of_itself, 3),
    "in two joins": (twice_joined, 2),
    "a join of a join": (lambda x: adr.concat([adr.concat([hbm.silu(x), x], 2), hbm.silu(x)], 2), 2),
    "nothing to copy": (lambda x: adr.concat([hbm.mvm(x, weight("a")), hbm.mvm(x, weight("b"))], -1), 0),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_device_gives_what_the_graph_means(name: str) -> None:
    made, copies = GRAPHS[name]
    graph = infer_type(made(hbm.var_ddr("x", (1, T, C))), "hbm_small", {"last_token": LAST})
    text = str(graph)
    copied = copy_parts(graph, tasks())
    assert str(graph) == text
    before, after = ([n for n in post_order(g) if isinstance(n, OperatorCall)] for g in (graph, copied.graph))
    assert len(after) - len(before) == copies
    assert bool(copied.made) == bool(copies)
    x, step = np.random.default_rng(3).standard_normal((1, 5, C)).astype(np.float16), {"token": 5, "last_token": 0}
    expected, same = (evaluate(g, {"x": x}, step).result for g in (graph, copied.graph))
    runner = ModuleRunner(build(graph))
    try:
        found = list(runner.run({"x": x}, **step).values())
    finally:
        runner.close()
    wanted, again = (list(r) if isinstance(r, tuple) else [r] for r in (expected, same))
    assert len(found) == len(wanted)
    for a, b, c in zip(wanted, again, found, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.abs(c.reshape(a.shape) - a).max() < 0.01 * np.abs(a).max()


def test_copies_have_the_bits_of_what_they_copy() -> None:
    given = hbm.var_ddr("x", (1, T, 64))
    graph = infer_type(adr.concat([given, given], 2), "hbm_small")
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = every[np.isfinite(every)].reshape(-1, 64)
    runner = ModuleRunner(build(graph))
    try:
        for rows in np.array_split(x, len(x) // 62 + 1):
            (found,) = runner.run({"x": rows[None]}, token=len(rows), last_token=0).values()
            expected = np.concatenate([rows, rows], 1).astype(np.float32)
            assert np.asarray(found, np.float32).tobytes() == expected.tobytes()
    finally:
        runner.close()
