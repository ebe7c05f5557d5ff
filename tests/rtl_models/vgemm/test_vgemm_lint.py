"""The hand-written SystemVerilog of vgemm is clean for two independent readers, at the sizes of both devices."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.isa.registry import find_device

RTL = Path(__file__).parents[3] / "rtl_models"
LISTED = [line for line in (RTL / "vgemm" / "files.f").read_text().splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("device", ["vgemm16", "vgemm_small"])
def test_verilator_finds_nothing(device: str) -> None:
    parameters = [f"-G{name}={value}" for name, value in find_device(device)[1].parameters.items()]
    command = [str(find_toolchain().verilator), "--lint-only", "-Wall", "--top-module", "vgemm_top", *parameters, *LISTED]
    run = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]


def test_slang_finds_nothing() -> None:
    pyslang = pytest.importorskip("pyslang")
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = [f for f in LISTED if f.endswith(".sv")]
    options = "-Wextra -Wconversion -Wno-unused -Wno-useless-cast --suppress-warnings generated"
    assert driver.parseCommandLine(f"slang {options} -Werror --top vgemm_top " + shlex.join(str(RTL / f) for f in files))
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    driver.runAnalysis(compilation)
    assert driver.reportDiagnostics(True)


def test_every_file_is_listed() -> None:
    assert {f"vgemm/{p.name}" for p in (RTL / "vgemm").glob("*.sv")} == {f for f in LISTED if f.startswith("vgemm/")}
