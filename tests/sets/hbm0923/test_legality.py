"""Every constraint refuses what violates it, and the message names the register."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mvm_devices import make_device

from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.mvm_operands import FIELDS, MvmFields

SMALL = make_device("hbm_small")
GOOD = MvmFields(
    100, 40, 3, 64, 0x0, 0x40, 0x4000, 192, 192, 192, 192, bn=0x8000, residual=0x9000, argmax=0xA000, relu=True, mul=True
)


def wrong(**changed: int) -> list[str]:
    fields = GOOD.encode(SMALL) | changed
    return list(INSTRUCTIONS["mvm_bn_res"].legal(SMALL, fields))


def test_the_starting_point_is_legal_and_decodes() -> None:
    assert wrong() == []
    fields = GOOD.encode(SMALL)
    assert tuple(fields) == FIELDS
    assert MvmFields.decode(SMALL, fields) == GOOD


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mvm_start", 0x11F),
        ("mvm_start", 0x91F),
        ("mvm_hin", 2),
        ("mvm_hout", 0),
        ("mvm_onchip", 8),
        ("mvm_sparse", 4),
        ("mvm_zero28", 5),
        ("mvm_bank_step", 27),
        ("mvm_tgroup", 2048),
        ("mvm_res_mode", 4),
        ("mvm_win", 0),
        ("mvm_win", 513),
        ("mvm_wout", 4),
        ("mvm_win_dup", 2),
        ("mvm_tblk", (6 << 19) + 32),
        ("mvm_tblk", (4 << 19) + 16),
        ("mvm_chin", 96),
        ("mvm_chin", 0),
        ("mvm_chin", 129),
        ("mvm_chin_last", 0),
        ("mvm_chin_last", 2049),
        ("mvm_wt_bits", 512),
        ("mvm_chout_last", 41),
        ("mvm_chout_last", 0),
        ("mvm_in_addr", 32),
        ("mvm_out_addr", 0x4001),
        ("mvm_out_addr", (64 << 20) - 64),
        ("mvm_in_addr", 0xFFFFFFC0),
        ("mvm_wt_addr", 16),
        ("mvm_wt_addr", 4 << 20),
        ("mvm_bn_addr", 0x8020),
        ("mvm_res_addr", 0x9002),
        ("mvm_argmax_addr", 0xA004),
        ("mvm_in_surface", 128),
        ("mvm_in_surface", 200),
        ("mvm_out_surface", 64),
        ("mvm_out_line", 1),
        ("mvm_in_line", 0x123),
        ("mvm_out_addr", 0x0),
        ("mvm_out_addr", 0x9000),
        ("mvm_out_addr", 0x8000),
        ("mvm_argmax_addr", 0x4000),
    ],
)
def test_a_wrong_register_is_named(name: str, value: int) -> None:
    lines = wrong(**{name: value})
    assert lines
    assert any(line.startswith((name, "mvm_chin:", "mvm_wout:")) or f"of {name}" in line for line in lines), lines
    assert all("expected" in line for line in lines)


def test_missing_and_wide_registers() -> None:
    fields = GOOD.encode(SMALL)
    del fields["mvm_win"]
    assert INSTRUCTIONS["mvm_bn_res"].legal(SMALL, fields) == ["mvm_win: no value given"]
    assert wrong(mvm_win=1 << 32) == ["mvm_win: 4294967296 does not fit in 32 bits"]
    assert wrong(mvm_win=-1)


def test_buffers() -> None:
    mvm = INSTRUCTIONS["mvm"]
    base = MvmFields(64, 8, 512, 64, 0, 0, 0x100000, 512 * 64, 64, 512 * 64, 64)
    assert mvm.legal(SMALL, base.encode(SMALL)) == []
    too_many = replace(base, chin=64 * 3, in_surface=512 * 64)
    assert "DatDepth" in mvm.legal(SMALL, too_many.encode(SMALL))[0]
    too_wide = replace(base, chin=64 * 257, tokens=1)
    assert "WtDepth" in mvm.legal(SMALL, too_wide.encode(SMALL))[0]


def test_slices_of_output_channels() -> None:
    mvm = INSTRUCTIONS["mvm"]
    fields = MvmFields(64, 40, 1, 64, 0, 0, 0x1000, 64, 64, 64, 64).encode(SMALL)
    fields |= {"mvm_chout_slice": 16, "mvm_chout_last": 8, "mvm_splits_m1": 2, "mvm_argmax_addr": 2}
    assert mvm.legal(SMALL, fields) == []
    assert MvmFields.decode(SMALL, fields).chout == 40
    assert any("mvm_argmax_addr" in line for line in mvm.legal(SMALL, fields | {"mvm_argmax_addr": 0}))
    assert any("mvm_chout_slice" in line for line in mvm.legal(SMALL, fields | {"mvm_chout_slice": 12}))


def test_multiplying_needs_a_residual() -> None:
    fields = MvmFields(64, 8, 1, 64, 0, 0, 0x1000, 64, 64, 64, 64, mul=True).encode(SMALL)
    assert any("mvm_res_mode" in line for line in INSTRUCTIONS["mvm"].legal(SMALL, fields))


def test_the_worked_example() -> None:
    """Seed 004: one token, 4096 x 256 on hbm0923, weight group 5769216, block 3670144, mode 287."""
    device = make_device("hbm0923")
    fields = MvmFields(4096, 256, 1, 128, 0, 0, 0x1000000, 64, 64, 64, 64).encode(device)
    expected = {"mvm_wt_bits": 16896, "mvm_tgroup": 5769216, "mvm_tblk": 3670144, "mvm_chin_last": 2048, "mvm_start": 287}
    assert {k: fields[k] for k in expected} == expected
    assert INSTRUCTIONS["mvm"].legal(device, fields) == []
    assert INSTRUCTIONS["mvm"].macs(device, fields) == (1 << 20, 1 << 20)
    # 8 blocks of 66 beats a port are the bound; activations are 128 beats of DDR, fetched while weights already come.
    assert 528 <= INSTRUCTIONS["mvm"].cost(device, fields) < 800
