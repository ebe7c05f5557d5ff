"""The sources of an instruction set's hardware as files, generated ones included, and what two readers say of them."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.isa.hardware import hardware_of
from fleet.isa.registry import find_instruction_set

RTL = Path(__file__).parents[1] / "rtl_models"


def hardware_files(name: str) -> list[Path]:
    """Of an installed set, in compile order."""
    found = hardware_of(find_instruction_set(name))
    assert found is not None
    return list(found.files)


def listed(name: str, file: str) -> Path:
    """One file as the set's file list names it ("arith/fp_pkg.sv", "generated/..."), which must list it."""
    (path,) = (p for p in hardware_files(name) if p == RTL / file or file == f"generated/{p.name}")
    return path


def verilator_says(files: Iterable[str | Path], *options: str, folder: Path | None = None) -> str:
    """What `verilator --lint-only -Wall` says of the files, and an exit code other than 0; "" if it finds nothing.

    folder: what the files are relative to.
    """
    command = [str(find_toolchain().verilator), "--lint-only", "--quiet", "-Wall", *options, *map(str, files)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr + (f"exit code {run.returncode}" if run.returncode else "")


def slang_is_silent(files: Iterable[str | Path], *options: str) -> bool:
    """True if slang elaborates and analyses the files without a warning; only those with suffix .sv are read.

    Skips the test if pyslang is not installed.
    """
    pyslang = pytest.importorskip("pyslang")
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    sources = [str(f) for f in files if str(f).endswith(".sv")]
    assert driver.parseCommandLine(shlex.join(["slang", "-Wextra", "-Wconversion", "-Wno-unused", "-Werror", *options, *sources]))
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    driver.runAnalysis(compilation)
    return bool(driver.reportDiagnostics(True))


def hand_written_is_clean(top: str, files: Iterable[str | Path], *options: str) -> bool:
    """True if slang has nothing to say of the design below the module `top`, files in folders `generated` left aside."""
    return slang_is_silent(files, "-Wno-useless-cast", "--suppress-warnings", "generated", "--top", top, *options)
