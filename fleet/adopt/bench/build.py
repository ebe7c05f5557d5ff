"""Builds the bench of an adopted design with Verilator, once: the cache knows it by the hash of all that goes in."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fleet.adopt.bench.library import CPP, HEADERS, part_files
from fleet.adopt.bench.link import link_of
from fleet.adopt.bench.observe import Observation
from fleet.adopt.bench.plan import BenchPlan
from fleet.adopt.bench.simulators import HostSimulator
from fleet.adopt.bench.text import TOP, bench_text, clock_table
from fleet.adopt.closure import closure_hash
from fleet.adopt.data_files import place_data
from fleet.adopt.workspace import AdoptWorkspace
from fleet.engines.linked.link import LINK
from fleet.engines.rtl_sim.build import BuildError, wave_options
from fleet.engines.rtl_sim.logs import error_lines, keep_log
from fleet.engines.rtl_sim.modes.recipe import build_mode, recipe_of
from fleet.engines.rtl_sim.objects import make_sharing
from fleet.engines.rtl_sim.part import EXECUTABLE, OBJCACHE, goes_on, kept_build, mark_verilated, run_step
from fleet.engines.rtl_sim.tools import SimulatorTools, find_toolchain
from fleet.errors import DeviceError

# Style and lint of foreign sources are their owner's business; errors still end the build, and build.log has the warnings.
_VERILATOR = (
    "--cc", "--exe", "--prefix", "Vtop", "--top-module", TOP, "-O3", "--x-assign", "unique",
    "--x-initial", "unique", "--assert", "--timescale", "1ns/1ps", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--quiet-stats",
    "--relative-includes", "-Mdir", "obj",
)  # fmt: skip
_MAKE = ("OPT_FAST=-O1", "OPT_GLOBAL=-O1", "OPT_SLOW=-O0")
_MAKE_LARGE = ("OPT_FAST=-O0", "OPT_GLOBAL=-O0", "OPT_SLOW=-O0")
"""A smoke test runs thousands of cycles, not millions: the compiler is what takes time."""
_TIMING = "--timing"
"""Gives a build Verilator's scheduler of events, which costs a third of the time; the bench itself needs none."""
_DELAYS = "delays.txt"
_WAITS = re.compile(r"%Error-NEEDTIMINGOPT: (\S+?:\d+):\d+:")
"""What Verilator says of a source that waits (#delay, wait, @), if it has not been told how."""
LARGE = 50_000
"""Lines from which on a bench is built for few cycles: without waves where nobody asks for them, and the compiler does not optimise
unless the build mode is "fast"."""


def build_bench(
    work: AdoptWorkspace, plan: BenchPlan, observed: Observation | None = None, host: HostSimulator | None = None, *,
    waves: bool = True,
) -> Path:  # fmt: skip
    """The executable, built now or taken from the cache.

    observed: what it records beside its ports; host: simulates the design, whose image lies beside the executable then; waves:
    whether it can write waves.

    Raises DeviceError where modules have no source, BuildError where something does not compile, SetupError for tools and disk.
    """
    if work.top.missing:
        m = work.top.missing[0]
        more = f" and {len(work.top.missing) - 1} more" if len(work.top.missing) > 1 else ""
        raise DeviceError(
            f"{m.name}{more} has no source ({m.path})", where=m.where,
            hint="add a file with a model of it to `substitutes` in adopt.toml",
        )  # fmt: skip
    tools = find_toolchain()
    link = link_of(work.top, observed) if host is not None else None
    text = bench_text(work, plan, observed, link=link)
    options = [*_VERILATOR, *(wave_options(tools) if waves else ())]
    options += [f"+{work.top.keywords}ext+v"] if work.top.keywords else []
    large = host is None and design_lines(work) > LARGE
    optimise = recipe_of("checked", tools).make if build_mode() == "fast" else _MAKE_LARGE if large else _MAKE
    clocks = clock_table(work)
    files = [(path.name, path.read_bytes()) for path in (*CPP, *HEADERS)]
    files += [("clocks.h", clocks.encode()), ("bench.sv", text.encode())]
    linked: list[str] = []
    if host is not None and link is not None:
        around = [(LINK.name, LINK.read_bytes()), *((name, text.encode()) for name, text in host.files(work, plan, link))]
        linked = [host.version, *host.options, *(content.decode() for _, content in around)]
        files += around
    key = _key(work, text + clocks, (*options, *optimise), tools, linked)

    def make(part: Path) -> Mapping[str, object]:
        begun = time.monotonic()
        if host is not None:
            fails = f"{host.name} does not read it"
            place_data(work.top, part, copy=True)
            host.compile(work, lambda words: _step(fails, work, words, part, dict(os.environ)))
        spent = _compile(work, part, options, optimise, tools, linked=host is not None)
        shutil.move(part / "obj" / EXECUTABLE, part / EXECUTABLE)
        return {
            "seconds": time.monotonic() - begun, "processor_seconds": spent, "top": work.top.name,
            "parameters": dict(work.parameters),
            "flavour": "adopted", "options": options, "verilator": tools.verilator_version, "compiler": tools.compiler_version,
            "simulator": host.version if host is not None else tools.verilator_version,
        }  # fmt: skip

    return kept_build(key, files, make, _silent)


def _silent() -> None:
    """Nobody is told that another run builds the same bench."""


def wave_name(executable: Path) -> str:
    """wave.fst or wave.vcd: what an executable writes."""
    options: list[str] = json.loads((executable.parent / "info.json").read_text(encoding="utf-8"))["options"]
    return "wave.fst" if "--trace-fst" in options else "wave.vcd"


def delays_of(folder: Path) -> str:
    """Return the place of the design's first #delay or wait, for which the build there has a scheduler of events; else ""."""
    path = folder / _DELAYS
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def design_lines(work: AdoptWorkspace) -> int:
    """Lines of the design's sources."""
    return sum(path.read_bytes().count(b"\n") for path in (*work.top.files, *work.top.included))


def _key(work: AdoptWorkspace, text: str, options: Sequence[str], tools: SimulatorTools, more: Sequence[str]) -> str:
    """SHA-256 of everything that the executable depends on. more: of another simulator."""
    digest = hashlib.sha256()
    versions = [tools.verilator_version, tools.compiler_version, platform.machine(), closure_hash(work.top, work.sources)]
    digest.update(json.dumps([versions, list(options), text, *more]).encode())
    for path in (*part_files(work.protocols.values()), *CPP, *HEADERS, *work.sources.waivers, *work.sources.cpp):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def _compile(
    work: AdoptWorkspace, folder: Path, options: Sequence[str], optimise: Sequence[str], tools: SimulatorTools, *, linked: bool
) -> Mapping[str, float]:  # fmt: skip
    """Compile the bench. optimise: variables of make; linked: without the design. Returns processor seconds of each step."""
    environment = {k: v for k, v in os.environ.items() if k not in ("VERILATOR_ROOT", "VERILATOR_BIN", "MAKEFLAGS", "MAKELEVEL")}
    environment["OBJCACHE"] = OBJCACHE
    sources = work.sources
    command = [str(tools.verilator), *options, *(path.name for path in CPP)]
    if linked:
        command += [*map(str, part_files(work.protocols.values())), LINK.name, "bench.sv"]
    else:
        command += [f"-I{p}" for p in sources.include_dirs] + [f"-D{n}={v}" if v else f"-D{n}" for n, v in sources.defines]
        for path in sources.library_dirs:
            command += ["-y", str(path)]
        command += [w for path in sources.library_files for w in ("-v", str(path))]
        files = (*sources.waivers, *part_files(work.protocols.values()), *work.top.files, *sources.cpp)
        command += [*map(str, files), "bench.sv"]

    def step(words: Sequence[str], _count: int = 1) -> None:
        _step("the bench does not compile", work, words, folder, environment)

    begun = _processor_seconds()
    _verilate(work, command, folder, environment)
    verilated = _processor_seconds()
    make = [str(tools.make), "-C", "obj", "-f", "Vtop.mk", "-j2", *optimise]
    run: Callable[[Sequence[str], int], None] = step
    make_sharing(folder.parent / "objects", make, folder / "obj", environment, tools.compiler_version, run)
    return {"verilator": verilated - begun, "compiler": _processor_seconds() - verilated}


def _verilate(work: AdoptWorkspace, command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    """Run Verilator, with its scheduler of events only if a source waits by itself."""
    fails = "the bench does not compile"
    timed = [*command, _TIMING]
    if goes_on(folder, timed if delays_of(folder) else command):
        return
    if not delays_of(folder):
        output = run_step(command, folder, environment, lambda _: None)
        if output is None:
            mark_verilated(folder, command)
            return
        waits = _WAITS.search(output)
        if waits is None:
            raise _failure(fails, work, folder, output)
        place = Path(waits[1]).name  # other checkouts of the same design take this build, too
        (folder / _DELAYS).write_text(f"{place}\n", encoding="utf-8")
    _step(fails, work, timed, folder, environment)
    mark_verilated(folder, timed)


def _processor_seconds() -> float:
    """Seconds of all children so far that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _step(fails: str, work: AdoptWorkspace, command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    """Runs one command of a build. fails: what it means if it fails."""
    output = run_step(command, folder, environment, lambda _: None)
    if output is not None:
        raise _failure(fails, work, folder, output)


def _failure(fails: str, work: AdoptWorkspace, folder: Path, output: str) -> BuildError:
    first = error_lines(output)
    kept = keep_log((folder / "key").read_text(encoding="utf-8"), (folder / "build.log").read_bytes())
    return BuildError(
        f"{fails}: {first[0] if first else 'no message'}", where=work.top.name,
        hint=f"the whole log is in {kept}", detail="\n".join(first[1:]) or None,
    )  # fmt: skip
