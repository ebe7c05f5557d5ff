"""What lasts from step to step, constants and caches, does not stand where storages are used again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small import Machine

from fleet.dlavm import adr, ne, transform
from fleet.errors import ModelError
from fleet.ir.accel.nodes import Node
from fleet.targets.accel.build import build

hbm = adr.hbm


def given(name: str = "x", heads: int = 1, channels: int = 64) -> Node:
    return hbm.var_ddr(name, (heads, ne.Var("token", max_data=8), channels))


def test_constants_in_a_block_that_is_used_again(tmp_path: Path) -> None:
    bias = np.arange(8 * 64, dtype=np.float16).reshape(1, 8, 64) / 64
    late = hbm.const_ddr("late", bias, (1, 8, 64))
    late.prefix = "runtime"
    fixed = hbm.var_ddr("x", (1, 8, 64))
    y: Node = fixed
    for _ in range(4):
        y = hbm.add(y, fixed)
    module = build(transform.infer_type(hbm.add(y, late), "hbm_small"))
    machine = Machine(module, tmp_path)
    ones = np.ones((1, 8, 64), np.float16)
    for _ in range(2):
        np.testing.assert_array_equal(machine.step({"x": ones})["output"], (5 + bias).astype(np.float16))


def test_weights_on_their_way_to_hbm_do_not_pass_through_a_constant() -> None:
    scale = hbm.const_ddr("norm", np.ones((2, 64), np.float16), (128,))
    scale.prefix = "runtime"
    node = hbm.mvm(hbm.rms_norm(given(), scale), hbm.const_hbm("w", np.zeros((64, 4096)), (64, 4096)))
    module = build(transform.infer_type(node, "hbm_small"), build_config={"wt2hbm": True})
    (norm,) = (p.storage for p in module.constants.places if p.name == "norm")
    assert module.storage.storages[norm].size == 256
    assert module.staging != norm


def attention(block: str) -> Node:
    x = given(heads=2)
    keys = hbm.dat_hbm(x, 1, ne.Var("last_token", max_data=32))
    keys.prefix = block
    return transform.infer_type(hbm.trp_mvm(x, keys), "hbm_small")


def test_a_cache_in_a_block_that_is_used_again() -> None:
    build(attention("hbm_cache"))
    with pytest.raises(ModelError, match=r"dat_hbm_0 .*: a cache stands in block 'hbm_rt', whose storages are used again"):
        build(attention("hbm_rt"))
    with pytest.raises(ModelError, match="a cache stands in block 'hbm_cache', whose storages are used again"):
        build(attention("hbm_cache"), build_config={"pingpong": ["hbm_cache"]})


def test_an_option_that_there_is_not() -> None:
    graph = transform.infer_type(hbm.mvm(given(), hbm.const_hbm("w", None, (64, 32))), "hbm_small")
    with pytest.raises(ModelError, match="build: no option 'grup'; options are clip, group, rounding"):
        build(graph, options={"grup": 32})
