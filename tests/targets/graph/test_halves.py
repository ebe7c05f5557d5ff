"""The halves of the on-chip memory: chains that residuals close find a half for everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small import Machine

from fleet.dlavm import adr, ne, transform
from fleet.errors import DeviceError
from fleet.ir.accel.nodes import Node
from fleet.targets.accel.build import build

hbm = adr.hbm


def given(name: str = "x") -> Node:
    return hbm.var_ddr(name, (1, ne.Var("token", 8), 64))


def chip(node: Node) -> Node:
    node.prefix = "onchip"
    return node


def spaces(node: Node, **config: bool) -> list[str]:
    module = build(transform.infer_type(node, "hbm_small"), build_config=config)
    return [n.results[0].space for n in module.nodes()]


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5])
def test_a_residual_around_a_chain(tmp_path: Path, length: int) -> None:
    """x stays on chip while a chain from elsewhere is made, then both meet: a free choice of half at its beginning decides."""
    first, second = given(), given("y")
    x = chip(hbm.add(first, first))
    y = chip(hbm.mul(second, second))
    for _ in range(length):
        y = chip(hbm.add(y, y))
    met = chip(hbm.add(x, y))
    module = build(transform.infer_type(hbm.sub(met, x), "hbm_small"))
    halves = {n.name: int(n.results[0].address) // (1 << 16) for n in module.nodes() if n.results[0].space == "onchip"}
    assert halves[f"add_{length + 2}"] != halves["add_0"]
    machine, rng = Machine(module, tmp_path), np.random.default_rng(0)
    a, b = (rng.normal(size=(1, 3, 64)).astype(np.float16) for _ in range(2))
    found = machine.step({"x": a, "y": b}, token=3)["output"]
    wanted = b * b
    for _ in range(length):
        wanted = wanted + wanted
    np.testing.assert_array_equal(found, ((a + a) + wanted) - (a + a))


def test_an_odd_circle_has_no_halves() -> None:
    """b is made of a, c of a and b: a and b are in different halves, and both c's operands."""
    x = given()
    a = chip(hbm.add(x, x))
    b = chip(hbm.add(a, a))
    c = chip(hbm.add(a, b))
    out = hbm.add(c, c)
    with pytest.raises(DeviceError, match="its operands stand in all 2 parts of onchip"):
        spaces(out)
    assert spaces(out, spill=True) == ["onchip", "onchip", "ddr", "ddr"]
