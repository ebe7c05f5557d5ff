"""The cost formula against cycles that the RTL took with ideal memory (plain mvm, commit to commit, measured once)."""

from __future__ import annotations

import pytest
from mvm_devices import make_device

from fleet.isa.hbm0923.operands import Operands
from fleet.isa.hbm0923.timing import mvm_cycles, mvm_macs

# device, tokens, CHin, CHout, Tblk, cycles
MEASURED = [
    ("hbm_small", 20, 64, 128, 128, 391),
    ("hbm_small", 1, 4096, 256, 128, 2147),
    ("hbm_small", 1, 4096, 256, 32, 4135),
    ("hbm_small", 16, 4096, 256, 128, 34785),
    ("hbm_small", 5, 100, 70, 128, 141),
    ("hbm_small", 1, 576, 1000, 32, 2287),
    ("hbm_small", 100, 128, 10, 128, 831),
    ("hbm0923", 20, 64, 128, 128, 151),
    ("hbm0923", 1, 4096, 256, 128, 609),
    ("hbm0923", 1, 4096, 256, 32, 1063),
    ("hbm0923", 64, 4096, 256, 128, 40929),
    ("hbm0923", 1, 576, 1000, 128, 386),
    ("hbm0923", 3, 2100, 40, 128, 396),
    ("hbm0923", 1, 32, 8, 128, 37),
]


@pytest.mark.parametrize(("name", "tokens", "chin", "chout", "tblk", "cycles"), MEASURED)
def test_within_a_tenth_of_the_rtl(name: str, tokens: int, chin: int, chout: int, tblk: int, cycles: int) -> None:
    stride = tokens * 64
    o = Operands(chin, chout, tokens, tblk, 0, 0, 1 << 20, stride, stride, stride, stride)
    assert mvm_cycles(make_device(name), o) == pytest.approx(cycles, rel=0.1)


def test_issued_work_counts_whole_words_and_blocks() -> None:
    o = Operands(100, 10, 3, 64, 0, 0, 1 << 20, 192, 192, 192, 192)
    assert mvm_macs(make_device("hbm_small"), o) == (3 * 100 * 10, 3 * 128 * 16)
    assert mvm_macs(make_device("hbm0923"), o) == (3 * 100 * 10, 3 * 128 * 32)
