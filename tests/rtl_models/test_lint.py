"""Hand-written SystemVerilog of every installed set is clean for two independent readers; only generated files have waivers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hardware_files import hand_written_is_clean, verilator_says

from fleet.engines.rtl_sim.modes.recipe import FAST
from fleet.engines.rtl_sim.top_parameters import top_parameters
from fleet.isa.hardware import hardware_of
from fleet.isa.registry import find_device, instruction_sets
from fleet.sdk import InstructionSet, RtlFiles

RTL = Path(__file__).parents[2] / "rtl_models"
SETS = {name: s for name, s in instruction_sets().items() if s.rtl is not None and s.rtl.written[0].is_relative_to(RTL)}
DEVICES = [d for s in SETS.values() for d in s.devices]
MODES = {"checked": (), "fast": (FAST,), "stages": ("+define+FLEET_STAGES",)}


def hardware(found: InstructionSet) -> RtlFiles:
    rtl = hardware_of(found)
    assert rtl is not None
    return rtl


def listed(found: InstructionSet) -> list[str]:
    return [str(p.relative_to(RTL) if p.is_relative_to(RTL) else p) for p in hardware(found).files]


def test_there_are_sets_to_look_at() -> None:
    assert len(SETS) >= 2


@pytest.mark.parametrize(("device", "mode"), [*((d, m) for d in DEVICES for m in ("checked", "fast")), ("hbm_small", "stages")])
def test_verilator_finds_nothing(device: str, mode: str) -> None:
    found, chip = find_device(device)
    rtl = hardware(found)
    parameters = [f"-G{name}={value}" for name, value in top_parameters(rtl, chip).items()]
    assert verilator_says(listed(found), *MODES[mode], "--top-module", rtl.top, *parameters, folder=RTL) == ""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SETS)
def test_slang_finds_nothing(name: str, mode: str) -> None:
    assert hand_written_is_clean(hardware(SETS[name]).top, [RTL / f for f in listed(SETS[name])], *MODES[mode])


def test_every_file_is_listed() -> None:
    """In the list of some set; a folder that no set lists is the bench's or the memories'."""
    all_listed = {f for s in SETS.values() for f in listed(s) if not Path(f).is_absolute()}
    folders = {f.split("/")[0] for f in all_listed}
    there = {f"{folder}/{p.name}" for folder in folders for p in (RTL / folder).glob("*.sv")}
    assert there == all_listed
