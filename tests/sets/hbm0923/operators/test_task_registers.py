"""Register values of every operator, typed in from the register table of the public description, for a step worked out by hand.

The device is hbm0923. A step has 3 tokens behind 5: a pixel row (32 channels of all tokens) takes 3 * 64 = 192 bytes. Storages
follow each other from 0 in steps of 0x1000, so the addresses below are those of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.nodes import Node
from fleet.isa.codec import register_writes
from fleet.targets.accel.build import build

hbm = adr.hbm
ROW = 192
BLOCKS = {"global": 0, "weight": 0x10000, "runtime": 0x20000, "insts": 0xF0000, "hbm": 0, "hbm_cache": 0x80000, "onchip": 0}
STEP = {"token": 3, "last_token": 5}
FP16_RSQRT_128 = 0x2DA8  # 1 / sqrt(128) = 0.08838..., half precision
FP16_ONE = 0x3C00


def x(name: str, channels: int, heads: int = 1) -> Node:
    return hbm.var_ddr(name, (heads, ne.Var("token", 8), channels))


def weights(chin: int, chout: int) -> Node:
    return hbm.const_hbm("w", None, (chin, chout))


def words(channels: int) -> Node:
    return hbm.const_ddr("words", None, (2 * channels,))


def table(positions: int, head: int) -> Node:
    return hbm.const_ddr("table", None, (1, 2 * positions, head // 2))


def compiled(node: Node, **config: Any) -> list[dict[int, int]]:
    """Register number -> value of every instruction of the step."""
    graph = transform.infer_type(node, "hbm0923", attrs={"last_token": ne.Var("last_token", 40)})
    module = build(graph, BLOCKS, build_config={"align": 0x1000, **config})
    return [{a // 4: v for a, v in register_writes(module.instruction_set, call)} for call in module.calls(**STEP)]


def sfu(*values: int) -> dict[int, int]:
    """Registers 194 to 209."""
    assert len(values) == 16
    return dict(zip(range(194, 210), values, strict=True))


def test_norm() -> None:
    # FP20 of 1/96: exponent 127 - 7 - 96 = 24 of 1.0101010..b, 13 bits of mantissa rounded down from 2730.67 to 2731.
    recip = 24 << 13 | 2731
    common = (0x20000, ROW, ROW, 0x21000, ROW, ROW, 3, 1, 3, 3, recip, 2)
    assert compiled(hbm.rms_norm(x("x", 96), words(96))) == [sfu(0x10000, *common, 1 * 0, 0, 0x20)]
    assert compiled(hbm.layer_norm(x("x", 96), words(96))) == [sfu(0x10000, *common, 1, 0, 0x20)]


def test_pos_emb_starts_at_the_row_of_the_first_token() -> None:
    # Four heads of 128: a head is 4 rows of pixels; the table has 48 positions.
    (found,) = compiled(hbm.pos_emb(x("x", 128, 4), table(48, 128)))
    head = 4 * ROW
    assert found == sfu(0x10000 + 5 * 64, 0x20000, head, ROW, 0x22000, ROW, head, 4, 3, 5, 4, 0, 48 * 64, 0, 0, 0x04)


def test_attention() -> None:
    # Four query heads and two key/value heads of 128; room for 48 positions in 32 ports: two lines of keys a head.
    k, v = hbm.dat_hbm(x("k", 128, 2), 1), hbm.dat_hbm(x("v", 128, 2), 0)
    scores = hbm.softmax(hbm.trp_mvm(x("q", 128, 4), k))
    found = compiled(hbm.f2w_mvm(scores, v))
    head = 4 * ROW
    k_line, v_line = 2 * 128, 2 * 48
    k_head, v_head = 2 * k_line, 4 * v_line
    # Inputs for 8 tokens take 8192, 4096 and 4096 bytes. The largest are placed first: the queries, and where they were the result.
    # The scores (4 heads of 2 groups of positions) go where the keys were; the values still live when the weights are made.
    q_at, k_at, v_at = 0x20000, 0x22000, 0x23000
    scores_at, weights_at, result_at, cache_k, cache_v = k_at, 0x24000, q_at, 0x80000, 0x81000
    assert found[0] == sfu(0, k_at, ROW, head, cache_k, k_head, k_line, 28, 5, 3, 2, 4, 1, 0, 0, 0x40)
    grouped = ((4 // 2 - 1) << 16) + (4 << 8) + 2
    row_8 = ROW  # 8 positions are one group of 32 channels: the line of a head is one row
    assert found[1] == sfu(cache_k, q_at, ROW, head, scores_at, ROW, row_8, k_head, k_line, 128, 8, 3,
                           FP16_RSQRT_128 + (28 << 16), grouped, 0, 0x02)  # fmt: skip
    assert found[2] == sfu(1, scores_at, ROW, row_8, weights_at, ROW, row_8, 1, 4, 8, 3, 3, 5, 0, 0, 0x08)
    assert found[3] == sfu(0, v_at, ROW, head, cache_v, v_head, v_line, 28, 5, 3, 2, 4, 0, 0, 0, 0x40)
    assert found[4] == sfu(cache_v, weights_at, ROW, row_8, result_at, ROW, head, v_head, v_line, 128, 8, 3,
                           FP16_ONE + (28 << 16), grouped, 0, 0x01)  # fmt: skip


def test_a_single_token_needs_no_mask() -> None:
    graph = transform.infer_type(hbm.softmax(x("x", 8, 2), mask=1), "hbm0923")
    module = build(graph, BLOCKS)
    assert [module.calls(token=t)[0].fields["softmax_mask"] for t in (1, 2, 8)] == [0, 1, 1]
    unmasked = build(transform.infer_type(hbm.softmax(x("x", 8, 2), mask=0), "hbm0923"), BLOCKS)
    assert unmasked.calls(token=8)[0].fields["softmax_mask"] == 0


def test_act() -> None:
    (found,) = compiled(hbm.silu(x("x", 72)))
    # 72 channels are 3 groups, of which the last has 8; the exact number is in 206.
    assert found == sfu(0, 0x20000, ROW, ROW, 0x21000, ROW, ROW, 3, 1, 3, 3, 3, 72, 0, 0, 0x10)


@pytest.mark.parametrize(("operation", "mode"), [(hbm.add, 0), (hbm.sub, 1), (hbm.mul, 2)])
def test_elementwise(operation: Callable[..., Node], mode: int) -> None:
    (found,) = compiled(operation(x("a", 80), x("b", 80)))
    values = (mode, 0x20000, ROW, ROW, 0x22000, ROW, ROW, 3 | 16 << 16, 1, 3, 0x21000, 0, 1)
    assert found == dict(zip(range(130, 143), values, strict=True))


def mvm(start: int, **changed: int) -> dict[int, int]:
    """(160, 96) by 3 tokens. A channel has a beat of scales and three of 64 codes, 32 + 96 bytes."""
    wt_bits = 8 * (32 + 96)
    base = {2: 160, 3: 3, 4: 1, 5: 3, 6: 1, 7: 96, 8: 96, 9: 3, 10: 0x20000, 11: 0, 12: wt_bits, 13: 0x21000, 14: 0, 15: 28, 16: 0,
            17: 0, 18: 0, 19: 0, 20: 0, 21: 0, 22: 5769216, 23: 3670144, 24: 160, 25: 0, 26: 0, 27: 0, 28: 0,
            29: ROW, 30: ROW, 31: ROW, 32: ROW, 33: start}  # fmt: skip
    return base | {int(k[1:]): v for k, v in changed.items()}


def test_products() -> None:
    assert compiled(hbm.mvm(x("x", 160), weights(160, 96))) == [mvm(0x11F)]
    assert compiled(hbm.mvm_bn(x("x", 160), weights(160, 96), words(96))) == [mvm(0x31F, r26=0x10000)]
    relu = compiled(hbm.mvm_bn(x("x", 160), weights(160, 96), words(96), relu=1))
    assert relu == [mvm(0x31F, r26=0x10000, r16=1)]
    made = hbm.mvm_bn(x("x", 160), weights(160, 96), words(96), arg_max=1)
    assert compiled(made) == [mvm(0xB1F, r26=0x10000, r17=0x22000)]


@pytest.mark.parametrize(("attrs", "mode"), [({}, 0), ({"res_mul": 1}, 2), ({"res_mul": 1, "relu": 1}, 3)])
def test_residual_modes_are_not_dropped(attrs: dict[str, int], mode: int) -> None:
    made = hbm.mvm_bn_res(x("x", 160), weights(160, 96), words(96), x("r", 96), **attrs)
    assert compiled(made) == [mvm(0x71F, r26=0x10000, r27=0x21000, r13=0x22000, r16=mode)]


def test_on_chip_flags() -> None:
    first = hbm.rms_norm(x("x", 160), words(160))
    first.prefix = "onchip"
    second = hbm.mvm(first, weights(160, 96))
    second.prefix = "onchip"
    norm, product, total = compiled(hbm.add(second, second))
    half = 8192 * 64
    assert (norm[198], norm[208]) == (0, 2)
    assert (product[10], product[13], product[18]) == (0, half, 1 | 2)
    assert (total[131], total[140], total[141]) == (half, half, 1 | 4)


def test_keys_without_a_cache() -> None:
    keys, values = hbm.transpose(x("k", 64, 2)), hbm.feature2weight(x("v", 64, 2))
    blocks = {**BLOCKS, "hbm_rt": 0x90000}
    graph = transform.infer_type(hbm.f2w_mvm(hbm.softmax(hbm.trp_mvm(x("q", 64, 2), keys)), values), "hbm0923")
    calls = build(graph, blocks).calls(token=3)
    assert [(c.instruction, c.fields.get("dat2hbm_last"), c.fields.get("dat2hbm_trp")) for c in calls] == [
        ("dat2hbm", 0, 1), ("trp_mvm", None, None), ("softmax", None, None), ("dat2hbm", 0, 0), ("f2w_mvm", None, None),
    ]  # fmt: skip
    # Dead keys give their room to nobody before the values are written: both are alive then or one after the other.
    assert calls[0].fields["dat2hbm_out_addr"] == 0x90000
    assert calls[3].fields["dat2hbm_out_addr"] == calls[4].fields["f2w_mvm_wt_addr"]


def test_partial_rotary_is_a_table_with_ones_and_zeros() -> None:
    angles = np.linspace(0, 1, 2 * 10 * 16).reshape(1, 20, 16).astype(np.float16)
    made = hbm.rope_glm(x("x", 64, 2), hbm.const_ddr("table", angles, (1, 20, 16)))
    module = build(transform.infer_type(made, "hbm0923", attrs={"last_token": 0}), BLOCKS)
    (image,) = [data for space, _, _, data in module.images() if space == "ddr"]
    rows = image.view(np.float16).reshape(2, 10, 32).transpose(1, 0, 2).reshape(10, 64)  # [positions, channels]
    np.testing.assert_array_equal(rows[:, 0:32:2], angles[0, :10])
    np.testing.assert_array_equal(rows[:, 1:32:2], angles[0, 10:])
    assert (rows[:, 32::2] == 1).all()
    assert (rows[:, 33::2] == 0).all()
