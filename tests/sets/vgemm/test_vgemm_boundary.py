"""The set comes in through its entry point alone."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.errors import DeviceError
from fleet.isa.manual import main
from fleet.isa.registry import find_device
from fleet.sets.vgemm.pads import check_device

ROOT = Path(__file__).parents[3]


def test_no_file_outside_its_folders_names_it() -> None:
    listed = subprocess.run(["git", "ls-files", "fleet", "rtl_models"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / line for line in listed.splitlines() if line.endswith((".py", ".sv", ".svh", ".cpp", ".h", ".j2"))]
    assert files
    own = ("fleet/sets/vgemm/", "rtl_models/vgemm/")
    outside = [p for p in files if p.is_file() and not str(p.relative_to(ROOT)).startswith(own)]
    assert [str(p) for p in outside if "vgemm" in p.read_text().lower()] == []


def test_sizes_that_do_not_fit_together_are_refused() -> None:
    device = find_device("vgemm_small")[1]
    with pytest.raises(DeviceError, match=r"parameters.Block is 5, expected 4, 8 or 16"):
        check_device([replace(device, parameters={**device.parameters, "Block": 5})])
    inp = replace(device.arrays["inp"], depth=100)
    with pytest.raises(DeviceError, match=r"memories.inp is 100, expected a power of two of 64 to 2048"):
        check_device([replace(device, arrays={**device.arrays, "inp": inp})])


def test_the_committed_manual_is_current() -> None:
    assert (
        main([str(ROOT / "fleet" / "sets" / "vgemm" / "vgemm.rdl"), "-o", str(ROOT / "docs" / "vgemm-manual.md"), "--check"]) == 0
    )
