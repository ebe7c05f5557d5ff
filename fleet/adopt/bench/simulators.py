"""The simulators of a design. Verilator has bench and design in one program; any other one has the design alone, behind a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.bench.plan import BenchPlan
from fleet.adopt.bench.text import host_text, shell_text, table_text
from fleet.adopt.workspace import AdoptWorkspace
from fleet.engines.linked.link import CXXRTL_HOST, HOST, SHELL, BenchLink
from fleet.engines.rtl_sim.tools import find_icarus, find_toolchain, find_yosys
from fleet.errors import DeviceError

VERILATOR = "verilator"
Step = Callable[[Sequence[str]], None]
"""Runs a command of a build."""


@dataclass(frozen=True)
class HostSimulator:
    """A program that simulates a design behind a link.

    Attributes:
        name: as the command line has it.
        version: its own words.
        program: what runs an image, with the image as its first argument; None: the image runs by itself.
        files: what is written around the design, as (name, text).
        compile: makes `image` of these files and the design's, with a function that runs a command in the build's folder.
        image: name of the file.
        options: of the commands that make it; a build is known by them, too.
        four_states: whether a bit may have no value.
        wave_option: makes it write `inside.vcd`, "" if it cannot.
    """

    name: str
    version: str
    program: Path | None
    files: Callable[[AdoptWorkspace, BenchPlan, BenchLink], Sequence[tuple[str, str]]]
    compile: Callable[[AdoptWorkspace, Step], None]
    image: str
    options: tuple[str, ...]
    four_states: bool
    wave_option: str = ""


def _icarus() -> HostSimulator:
    tools = find_icarus()

    def compile_(work: AdoptWorkspace, step: Step) -> None:
        for port in work.top.ports:
            if port.interface:
                raise DeviceError(
                    f"{work.top.name} has an interface as a port ({port.name}), which {tools.version} does not read",
                    where=port.where, hint="run it under Verilator",
                )  # fmt: skip
        sources = work.sources
        words = [str(tools.compiler), *_ICARUS]
        words += [f"-I{p}" for p in sources.include_dirs] + [f"-D{n}={v}" if v else f"-D{n}" for n, v in sources.defines]
        words += [f"-y{p}" for p in sources.library_dirs]
        step([*words, "host.v", *map(str, (*work.top.files, *sources.library_files))])

    return HostSimulator(
        "icarus", tools.version, tools.runtime, lambda *of: [("host.v", host_text(*of))], compile_, "host.vvp", _ICARUS,
        four_states=True, wave_option="+inside",
    )  # fmt: skip


def _cxxrtl() -> HostSimulator:
    tools = find_yosys()
    compiler = find_toolchain().compiler

    def files(work: AdoptWorkspace, plan: BenchPlan, link: BenchLink) -> Sequence[tuple[str, str]]:
        tables = table_text(work, plan, link)
        return ("shell.v", shell_text(work, plan, link)), ("names.h", tables), ("host.cpp", CXXRTL_HOST.read_text(encoding="utf-8"))

    def compile_(work: AdoptWorkspace, step: Step) -> None:
        sources = work.sources
        read = [f"-I{p}" for p in sources.include_dirs] + [f"-D{n}={v}" if v else f"-D{n}" for n, v in sources.defines]
        read += [f'"{p}"' for p in (*work.top.files, *sources.library_files, "shell.v")]
        found = " ".join(f'-libdir "{p}"' for p in sources.library_dirs)
        passes = f"read_verilog -sv {' '.join(read)}; hierarchy -check {found} -top {SHELL}; {_PASSES}"
        step([str(tools.program), "-q", "-p", passes])
        include = [f"-I{tools.include}", f"-I{tools.include / 'backends' / 'cxxrtl' / 'runtime'}"]
        step([str(compiler), *_COMPILER, *include, "host.cpp", "-o", "host"])

    return HostSimulator("cxxrtl", tools.version, None, files, compile_, "host", (_PASSES, *_COMPILER), four_states=False)


_ICARUS = ("-g2012", "-grelative-include", "-s", HOST, "-o", "host.vvp")
_PASSES = "proc; write_cxxrtl design.cpp"
_COMPILER = ("-std=c++17", "-O1", "-w")
SIMULATORS: Mapping[str, Callable[[], HostSimulator]] = {"icarus": _icarus, "cxxrtl": _cxxrtl}
"""Name -> what finds it, or raises SetupError."""


def simulator_names() -> tuple[str, ...]:
    """All names, Verilator first."""
    return (VERILATOR, *SIMULATORS)


def host_simulator(name: str) -> HostSimulator | None:
    """The simulator of a name, None for Verilator. Raises SetupError if it is not installed, DeviceError for an unknown name."""
    if name == VERILATOR:
        return None
    if name not in SIMULATORS:
        raise DeviceError(f"there is no simulator {name}", hint=f"choose among {', '.join(simulator_names())}")
    return SIMULATORS[name]()
