"""The bench around a design is clean for two independent readers: Verilator and slang."""

from __future__ import annotations

from pathlib import Path

import pytest
from hardware_files import slang_is_silent, verilator_says

from fleet.engines.rtl_sim.dut import Dut, generate
from fleet.engines.rtl_sim.modes.recipe import FAST
from fleet.sdk import rtl_models

LOOPBACK = Path(__file__).parents[2] / "fixtures" / "loopback_top.sv"
BENCH = (
    "axi/fleet_axi_pkg.sv",
    "memory/fleet_axi_checker.sv",
    "memory/fleet_memory.sv",
    "bench/fleet_host.sv",
    "bench/fleet_bench.sv",
    "bench/fleet_tb.sv",
)


def _files(folder: Path, ports: int) -> list[str]:
    for name, text in generate(Dut("loopback_top", {"HbmPorts": ports}, 1)).items():
        (folder / name).write_text(text)
    bench = [str(rtl_models() / name) for name in BENCH]
    return [str(folder / "fleet_dut_pkg.sv"), *bench, str(LOOPBACK), str(folder / "fleet_dut.sv")]


@pytest.mark.parametrize("mode", [("--assert",), ("--no-assert", FAST)], ids=["checked", "fast"])
@pytest.mark.parametrize("ports", [1, 2, 32])
def test_verilator_finds_nothing(tmp_path: Path, ports: int, mode: tuple[str, ...]) -> None:
    assert verilator_says(_files(tmp_path, ports), *mode, "--timescale", "1ns/1ps", "--top-module", "fleet_tb") == ""


@pytest.mark.parametrize("mode", [(), (FAST,)], ids=["checked", "fast"])
@pytest.mark.parametrize("ports", [1, 2, 32])
def test_slang_finds_nothing(tmp_path: Path, ports: int, mode: tuple[str, ...]) -> None:
    assert slang_is_silent(_files(tmp_path, ports), *mode, "--top", "fleet_tb", "--timescale", "1ns/1ps")
