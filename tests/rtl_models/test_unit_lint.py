"""The SFU and the elementwise unit on their own are clean for two readers, at every step interval."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hardware_files import hardware_files

from fleet.engines.rtl_sim.tools import find_toolchain

LISTED = [str(p) for p in hardware_files("hbm0923")]
TOPS = ["hbm0923_sfu", "hbm0923_elementwise"]


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("interval", [1, 2])
def test_verilator_finds_nothing(top: str, interval: int) -> None:
    # Packages hold what other units use.
    command = [str(find_toolchain().verilator), "--lint-only", "-Wall", "-Wno-UNUSEDPARAM", "--top-module", top]
    run = subprocess.run([*command, f"-GSfuInterval={interval}", *LISTED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]


@pytest.mark.parametrize("top", TOPS)
def test_slang_finds_nothing(top: str) -> None:
    pyslang = pytest.importorskip("pyslang")
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = shlex.join(f for f in LISTED if f.endswith(".sv"))
    options = "-Wextra -Wconversion -Wno-unused -Wno-useless-cast --suppress-warnings generated"
    assert driver.parseCommandLine(f"slang {options} -Werror --top {top} {files}")
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    driver.runAnalysis(compilation)
    assert driver.reportDiagnostics(True)
