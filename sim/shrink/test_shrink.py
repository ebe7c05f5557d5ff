"""Planted faults in the hardware: a failing program of 200 instructions becomes at most five in under two minutes."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted_programs import FAULTS, LENGTH, SECONDS, Planted, shrink_planted

MOST = 5


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS, ids=[f"{f.device}-{f.name.replace(' ', '-')}" for f in FAULTS])
def test_two_hundred_instructions_become_five(fault: Planted, tmp_path: Path) -> None:
    row = shrink_planted(fault, tmp_path / "project")
    assert row.before[0] >= LENGTH
    assert row.after[0] <= MOST, row
    assert row.seconds < SECONDS, row


def test_every_edit_fits_the_sources() -> None:
    from planting import PROJECT, Project

    for fault in FAULTS:
        Project(PROJECT).edited(fault.edit)
