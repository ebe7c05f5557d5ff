"""The register port of every installed instruction set with hardware, one device each, driven by cocotbext-axi."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.process import run_cocotb_tests
from fleet.isa.registry import find_device, instruction_sets
from fleet.sdk import Device


def _smallest_devices() -> list[str]:
    def size(device: Device) -> int:
        return device.parameters.get("HbmPorts", 1)

    sets = [s for s in instruction_sets().values() if s.rtl is not None and s.devices]
    return [min(s.devices.values(), key=size).name for s in sets]


@pytest.mark.parametrize(("module", "tests"), [("registers", 6), ("races", 2), ("back_pressure", 1)])
@pytest.mark.parametrize("device", _smallest_devices())
def test_register_port(device: str, module: str, tests: int, tmp_path: Path) -> None:
    executable = build(design_of(*find_device(device)))
    results = run_cocotb_tests(executable, module, tmp_path, paths=[Path(__file__).parent], environment={"FLEET_DEVICE": device})
    assert len(results) == tests, "every cocotb test was collected"
    failed = {name: message for name, message in results.items() if message is not None}
    assert not failed, failed
