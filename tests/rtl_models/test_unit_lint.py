"""The SFU and the elementwise unit on their own are clean for two readers, at every step interval."""

from __future__ import annotations

import pytest
from hardware_files import hand_written_is_clean, hardware_files, verilator_says

LISTED = [str(p) for p in hardware_files("hbm0923")]
TOPS = ["hbm0923_sfu", "hbm0923_elementwise"]


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("interval", [1, 2])
def test_verilator_finds_nothing(top: str, interval: int) -> None:
    # Packages hold what other units use.
    assert verilator_says(LISTED, "-Wno-UNUSEDPARAM", "--top-module", top, f"-GSfuInterval={interval}") == ""


@pytest.mark.parametrize("top", TOPS)
def test_slang_finds_nothing(top: str) -> None:
    assert hand_written_is_clean(top, LISTED)
