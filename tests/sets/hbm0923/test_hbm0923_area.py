"""Parts that `fleet sweep` counts cells by add up to the tables of docs/synthesis.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleet.isa.registry import find_device
from fleet.sdk.hardware.state import evaluated
from fleet.sdk.hardware.sweepable import read_sweepable

ROOT = Path(__file__).parents[3]
COLUMN = {"hbm_small": 1, "hbm0923": 9}
"""Of the row `all`: where a device's LUT are; FF and DSP follow."""


@pytest.mark.parametrize("device", COLUMN)
def test_the_parts_of_a_device_are_its_table(device: str) -> None:
    text = (ROOT / "docs" / "synthesis.md").read_text()
    units = re.search(r"\n## Units\n.*?\n(\| all \|.*?)\n", text, re.DOTALL)
    assert units is not None
    row = [cell.strip().replace(",", "") for cell in units[1].strip("|").split("|")]
    at = COLUMN[device]
    table = {kind: float(cell) for kind, cell in zip(("LUT", "FF", "DSP"), row[at : at + 3], strict=True)}
    chip = find_device(device)[1]
    parts = read_sweepable(ROOT / "fleet" / "sets" / "hbm0923" / "sweep.toml").area
    found = dict.fromkeys(table, 0.0)
    for part in parts:
        count = evaluated(part.count, chip.parameters)
        for kind, number in part.cells.items():
            found[kind] += count * number
    assert found == pytest.approx(table, rel=1e-3)
