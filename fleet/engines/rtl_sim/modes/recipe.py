"""How a simulation's C++ is built: its build mode, and the compiler, the flags and the processor that it implies.

checked  the default: the RTL as it is, its assertions in it.
fast     for long runs: assertions compiled out, clocks of idle parts stand still where the RTL has gates for them
         (`FLEET_FAST`), code for this processor, by a profile where one was made (`fleet.engines.rtl_sim.modes.profile`).
edit     for a change a minute: assertions in it, hardly optimised, compiles sooner and runs slower.

Every bit and every cycle is the same in all of them. `FLEET_RTL_BUILD` chooses.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from fleet.engines.rtl_sim.tools import SimulatorTools, first_line
from fleet.errors import DeviceError, SetupError

BuildMode = Literal["checked", "fast", "edit"]
MODES: tuple[BuildMode, ...] = ("checked", "fast", "edit")
MODE_VARIABLE = "FLEET_RTL_BUILD"
COMPILER_VARIABLE = "FLEET_CXX"
UNCHECKED = "the RTL's assertions were compiled out (fast build)"
"""What an account says of a run on a fast build."""

FAST = "+define+FLEET_FAST"
_NATIVE = "-march=native -ffp-contract=off"  # a product and a sum stay two roundings, as without it


def build_mode(wanted: str | None = None) -> BuildMode:
    """Return `wanted`, else what `FLEET_RTL_BUILD` says, else "checked". Raises DeviceError for another word."""
    name = wanted or os.environ.get(MODE_VARIABLE) or "checked"
    for mode in MODES:
        if mode == name:
            return mode
    raise DeviceError(f"no build mode '{name}'", where=MODE_VARIABLE, hint=f"use {', '.join(MODES)}")


@dataclass(frozen=True)
class BuildRecipe:
    """What a build mode means with the tools that are here; all of it is in the key of a build.

    Attributes:
        mode: its name.
        verilator: options of Verilator.
        make: variables of make.
        compiler: its name and version. processor: hash of what native code is for; empty where it is for any.
        counts: the folder of the profile that it is compiled by, whose name is the profile's hash; None: by none.
    """

    mode: BuildMode
    verilator: tuple[str, ...]
    make: tuple[str, ...]
    compiler: str
    processor: str = ""
    counts: Path | None = None

    @property
    def makes(self) -> str:
        """What decides, beside its flags, what the compiler makes of a source."""
        return f"{self.compiler} {self.processor}" if self.processor else self.compiler

    @property
    def profile(self) -> str:
        """Hash of the profile; empty without a profile."""
        return self.counts.name if self.counts else ""

    @property
    def state(self) -> list[str]:
        """Everything of it, as one list of words; the profile by its hash."""
        return [self.mode, *self.verilator, *self.make, self.compiler, self.processor, self.profile]


def recipe_of(mode: BuildMode, tools: SimulatorTools) -> BuildRecipe:
    """Return how `mode` builds here. Raises SetupError if the compiler that `FLEET_CXX` names does not run."""
    cxx, version, variables = _compiler(os.environ.get(COMPILER_VARIABLE, ""), tools)
    if mode == "checked":
        return BuildRecipe(mode, ("--assert",), (*variables, "OPT_FAST=-O3", "OPT_GLOBAL=-O2", "OPT_SLOW=-O1"), version)
    if mode == "edit":
        return BuildRecipe(mode, ("--assert",), (*variables, "OPT_FAST=-O1", "OPT_GLOBAL=-O1", "OPT_SLOW=-O0"), version)
    fast, rest = f"OPT_FAST=-O3 {_NATIVE}", f"OPT_GLOBAL=-O2 {_NATIVE}"
    return BuildRecipe(mode, ("--no-assert", FAST), (*variables, fast, rest, "OPT_SLOW=-O1"), version, _processor(cxx))


def _compiler(named: str, tools: SimulatorTools) -> tuple[str, str, tuple[str, ...]]:
    """Return path and version of the compiler, and the variables that tell make; none for the g++ that make takes anyway."""
    if not named:
        return str(tools.compiler), tools.compiler_version, ()
    found = shutil.which(named)
    version = first_line([found, "--version"]) if found else None
    if found is None or version is None:
        raise SetupError(f"the compiler '{named}' does not run", where=COMPILER_VARIABLE, hint="name a C++17 compiler on PATH")
    return found, version, (f"CXX={found}", f"LINK={found}")


@lru_cache(maxsize=4)
def _processor(cxx: str) -> str:
    """Hash of what the compiler takes -march=native for: the options that it hands on, features and sizes of caches."""
    run = subprocess.run([cxx, "-march=native", "-###", "-E", "-x", "c++", os.devnull], capture_output=True, text=True, check=False)
    lines = [line for line in run.stderr.splitlines() if os.devnull in line]
    if run.returncode or not lines:
        raise SetupError(f"{Path(cxx).name} does not know this processor", hint=f"unset {MODE_VARIABLE}")
    words = [word for word in lines[0].split() if "/" not in word]  # not its own folders and the one that it was called in
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]


def unchecked(executable: Path) -> str:
    """Return what an account has to say of a run on this executable: UNCHECKED of a fast build, else nothing."""
    info = json.loads((executable.parent / "info.json").read_text(encoding="utf-8"))
    return UNCHECKED if info.get("mode") == "fast" else ""
