"""Builds a design inside the bench into an executable, once: the cache knows it by the hash of all that goes in."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from fleet.core.sealed import BrokenSealError, check_folder
from fleet.engines.rtl_sim.arrays import Keeper, check, keepers, list_variables, variables, visible
from fleet.engines.rtl_sim.cache import cache_folder, is_plain
from fleet.engines.rtl_sim.dut import Dut, generate
from fleet.engines.rtl_sim.logs import error_lines, keep_log
from fleet.engines.rtl_sim.modes.profile import counting, find_profile, not_taken, profiled, training
from fleet.engines.rtl_sim.modes.recipe import BuildMode, BuildRecipe, build_mode, recipe_of
from fleet.engines.rtl_sim.objects import make_sharing
from fleet.engines.rtl_sim.part import EXECUTABLE, OBJCACHE, goes_on, kept_build, mark_verilated, run_step
from fleet.engines.rtl_sim.tools import SimulatorTools, find_toolchain, python_library
from fleet.engines.rtl_sim.top_parameters import DESCRIPTION_HASH, declared_parameters, has_channels, top_parameters
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.sdk import Device, InstructionSet, rtl_models

Flavour = Literal["burst", "plain", "waves", "profile", "coverage"]
"""burst: cocotb with the clock in C++; plain: a C++ main without Python; waves: burst with waves (FST); profile: plain with line
numbers, its generated C++ kept in the folder `cpp` beside it; coverage: burst that counts lines, toggles and assertions and leaves
`coverage-<process>.dat` in its folder when it ends."""

Progress = Callable[[float, str], None]

_BENCH_SV = (
    "memory/fleet_axi_checker.sv",
    "memory/fleet_memory.sv",
    "bench/fleet_host.sv",
    "bench/fleet_bench.sv",
    "bench/fleet_tb.sv",
)
_BENCH_CPP = (
    "memory/mapped_file", "memory/dram", "memory/timed", "memory/timing", "memory/port", "memory/memory", "memory/overlay",
    "bench/job", "bench/script", "bench/arrays", "bench/bench",
)  # fmt: skip
_HEADERS = ("memory/digest.h", "memory/write_log.h", "bench/loop.h", "bench/sha256.h", "bench/snapshots.h")
_MAINS: dict[Flavour, str] = {
    "burst": "bench/burst_main.cpp",
    "plain": "bench/plain_main.cpp",
    "waves": "bench/burst_main.cpp",
    "profile": "bench/plain_main.cpp",
    "coverage": "bench/burst_main.cpp",
}

_VERILATOR = [
    "--cc", "--exe", "--prefix", "Vtop", "--top-module", "fleet_tb", "-O3", "--x-assign", "fast", "--x-initial", "unique",
    "--no-timing", "--timescale", "1ns/1ps", "-Wno-fatal", "--quiet-stats",
]  # fmt: skip
_COCOTB = ["--vpi", "--public-depth", "1"]
_COVERAGE = ["--coverage-line", "--coverage-toggle", "--coverage-user"]
_CFLAGS = "-std=c++17 -DVL_USER_STOP -I../src"
_GENERATED_FROM = re.compile(r"Description hash \(SHA-256\): ([0-9a-f]{64})")
_INCLUDED = {".sv", ".svh", ".v", ".vh"}
_PUBLIC = "src/fleet_arrays.vlt"


HOST_ARGUMENTS = "host.args"
"""File beside an executable whose design another simulator has: arguments for it, a line each."""


class BuildError(FleetError):
    """The hardware does not compile."""


@dataclass(frozen=True)
class DesignHost:
    """Another simulator that has the design, while the bench stays Verilator's.

    Attributes:
        name: "icarus", "cxxrtl".
        version: of all that it is made with; a build is known by it, too.
        module: text of `fleet_dut`, which asks the simulator.
        link: C++ that the bench needs for that.
        files: what `prepare` needs, as (name, text).
        prepare: makes the image in the build's folder, with a function that runs a command there.
        arguments: of the executable; `@` is its folder.
    """

    name: str
    version: str
    module: str
    link: Path
    files: tuple[tuple[str, str], ...]
    prepare: Callable[[Callable[[Sequence[str]], None]], None]
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """A design to be built: its files in compile order (packages first), its include folders and its `Dut`.

    cpp: C++ that the design itself needs (functions that it imports); the bench's own is always there.
    keepers: variables that the bench reads and sets. host: what simulates it; None: Verilator, with the bench.
    """

    dut: Dut
    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    cpp: tuple[Path, ...] = ()
    keepers: tuple[Keeper, ...] = ()
    host: DesignHost | None = None


def design_of(instruction_set: InstructionSet, device: Device) -> Design:
    """The design of an instruction set on a device. Raises DeviceError when the set has no hardware or a file is missing."""
    from fleet.isa.hardware import hardware_of
    from fleet.isa.registry import description_hash

    rtl = hardware_of(instruction_set)
    if rtl is None:
        raise DeviceError(
            "the instruction set has no RTL yet: engine `rtl` cannot run it",
            where=instruction_set.name,
            hint="use --engines without rtl",
        )
    _check_generated(instruction_set, rtl.files)
    stated = DESCRIPTION_HASH in declared_parameters(rtl.files, rtl.top)
    desc_hash = int(description_hash(instruction_set, device)[:8], 16) if stated else None
    dut = Dut(rtl.top, top_parameters(rtl, device), desc_hash, has_channels(rtl.files, rtl.top))
    return Design(dut, rtl.files, tuple(rtl.include_dirs), keepers=keepers(rtl, device))


def _check_generated(instruction_set: InstructionSet, sources: Iterable[Path]) -> None:
    """Refuses (DeviceError) files that `fleet.isa.export` generated from another description than the installed one."""
    from fleet.isa.reading.cache import load

    now = load(instruction_set.description).hash
    for path in sources:
        try:
            with path.open(encoding="utf-8", errors="replace") as f:
                head = f.read(1000)
        except OSError as error:
            raise DeviceError(f"cannot read the hardware's source ({error.strerror})", where=str(path)) from error
        stated = _GENERATED_FROM.search(head)
        if stated is not None and stated[1] != now:
            line = head.count("\n", 0, stated.start()) + 1
            raise DeviceError(
                f"generated from description {stated[1][:16]}, {instruction_set.description.name} is now {now[:16]}",
                where=f"{path}:{line}",
                hint="generate it again with `python -m fleet.isa.export`",
            )


def copy_name(path: Path) -> str:
    """Name of a source's copy in the build folder; make cannot stand blanks in it."""
    return "src/" + re.sub(r"[^A-Za-z0-9_.-]", "_", path.name)


def _gather(design: Design, flavour: Flavour) -> tuple[list[tuple[str, bytes]], list[str], list[str]]:
    """All input files as (name in the build folder, content), then the Verilog and the C++ names in compile order."""
    models = rtl_models()
    files: dict[str, bytes] = {}

    def add(name: str, path: Path) -> str:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DeviceError(f"cannot read the hardware's source ({error.strerror})", where=str(path)) from error
        if files.setdefault(name, content) != content:
            raise DeviceError(f"two different files are named {Path(name).name}", where=str(path), hint="rename one")
        return name

    if not design.sources:
        raise DeviceError("the design has no source files", where=design.dut.top)
    generated = {f"src/{name}": text.encode() for name, text in generate(design.dut).items()}
    if design.host is not None:
        generated["src/fleet_dut.sv"] = design.host.module.encode()
        generated |= {name: text.encode() for name, text in design.host.files}
    files |= generated
    axi = add("src/fleet_axi_pkg.sv", models / "axi/fleet_axi_pkg.sv")
    verilog = ["src/fleet_dut_pkg.sv", axi]
    if public := visible(design.keepers):
        files[_PUBLIC] = public.encode()
        verilog.append(_PUBLIC)
    for path in design.sources:
        name = add(copy_name(path), path)
        if name == axi:  # a design whose ports are these structures lists the package, for other tools
            continue
        if name in verilog:
            raise DeviceError(f"the source {path.name} is listed twice", where=str(path))
        verilog.append(name)
    verilog.append("src/fleet_dut.sv")
    verilog += [add(f"src/{Path(name).name}", models / name) for name in _BENCH_SV]
    for i, folder in enumerate(design.include_dirs):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in _INCLUDED):
            add(f"inc{i}/{path.relative_to(folder)}", path)
    cpp = [add(f"src/{Path(name).name}.cpp", models / f"{name}.cpp") for name in _BENCH_CPP]
    cpp += [add(f"src/{Path(name).name}", models / name) for name in ("bench/stop.cpp", _MAINS[flavour])]
    cpp += [add(copy_name(path), path) for path in (*design.cpp, *([design.host.link] if design.host else []))]
    for name in (*(f"{n}.h" for n in _BENCH_CPP), *_HEADERS):
        add(f"src/{Path(name).name}", models / name)
    return list(files.items()), verilog, cpp


def wave_options(tools: SimulatorTools) -> list[str]:
    """FST where the headers of liblz4 are, which Verilator's writer needs; else VCD, thirty times as large."""
    probe = subprocess.run(
        [str(tools.compiler), "-E", "-x", "c++", "-"],
        input="#include <lz4.h>\n#include <zlib.h>\n",
        text=True,
        capture_output=True,
        check=False,
    )
    return ["--trace-fst" if probe.returncode == 0 else "--trace-vcd", "--trace-structs"]


def _options(flavour: Flavour, recipe: BuildRecipe, tools: SimulatorTools) -> list[str]:
    options = [*_VERILATOR, *recipe.verilator, "-CFLAGS", _CFLAGS]
    if flavour in {"burst", "waves", "coverage"}:
        options += _COCOTB
    if flavour == "profile":
        options += ["-CFLAGS", "-g1"]
    if flavour == "waves":
        options += wave_options(tools)
    if flavour == "coverage":
        options += _COVERAGE
    return options


def _key(
    design: Design, flavour: Flavour, recipe: BuildRecipe, tools: SimulatorTools, files: Iterable[tuple[str, bytes]],
    options: list[str],
) -> str:  # fmt: skip
    """SHA-256 of everything that the executable depends on."""
    digest = hashlib.sha256()
    versions = [tools.verilator_version, platform.machine(), version("cocotb"), flavour]
    versions += [design.host.version, *design.host.arguments] if design.host else []
    digest.update(json.dumps([versions, options, recipe.state, [str(d) for d in range(len(design.include_dirs))]]).encode())
    for name, content in files:
        digest.update(f"\0{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Built:
    """A simulation as its manifest states it.

    Attributes:
        executable: the file.
        key: hash of all that it was built from: sources, parameters, flags, tools.
        sha256: of the executable (hex).
    """

    executable: Path
    key: str
    sha256: str


def built(executable: Path) -> Built:
    """Read the manifest beside an executable from `build`; every file is held to its SHA-256.

    Raises SetupError if something is not what was built.
    """
    try:
        manifest = check_folder(executable.parent)
        return Built(executable, manifest.key, manifest.sha256(executable.name))
    except BrokenSealError as error:
        raise SetupError(
            f"the simulation is not what was built: {error}", where=str(executable.parent), hint="run again"
        ) from error


def build(design: Design, flavour: Flavour = "burst", progress: Progress | None = None, *, mode: BuildMode | None = None) -> Path:
    """Returns the executable, built now or taken from the cache.

    What is in the cache is held to the manifest of its build; what differs is built again, and a notice says so. An interrupted
    build goes on where it was. Safe against other processes that build the same. mode: None for what `FLEET_RTL_BUILD` says.

    Raises SetupError (tools, disk), DeviceError (what is asked for, a variable of `keepers` that the design does not have),
    BuildError (the hardware does not compile: the first errors with their places, and where the whole log is).
    """
    plan = _with_profile(_planned(design, flavour, build_mode(mode)), design, flavour)
    executable = _build(plan, design, flavour, progress)
    if design.keepers:
        check(design.keepers, variables(executable), design.dut.top)
    return executable


def stored(design: Design, flavour: Flavour = "burst", *, mode: BuildMode | None = None) -> bool:
    """Return whether `build` would find the executable in the cache. Raises SetupError or DeviceError as it does."""
    plan = _with_profile(_planned(design, flavour, build_mode(mode)), design, flavour)
    return (cache_folder() / plan.key).is_dir()


@contextlib.contextmanager
def train(design: Design, flavour: Flavour = "burst", progress: Progress | None = None) -> Generator[Path]:
    """Build an executable that counts; what runs on it in the block becomes the profile of this design's fast builds.

    Every process of it must end by itself. Raises as `build`, and SetupError if nothing was counted or the compiler is not g++.
    """
    with training(_planned(design, flavour, "fast").key) as counts:
        yield _build(_planned(design, flavour, "fast", counts=counts), design, flavour, progress)


@dataclass(frozen=True)
class _Planned:
    """A build before it is made: its tools, its input files, names of the sources, options of Verilator, recipe and key."""

    tools: SimulatorTools
    files: list[tuple[str, bytes]]
    verilog: list[str]
    cpp: list[str]
    options: list[str]
    recipe: BuildRecipe
    key: str


def _planned(design: Design, flavour: Flavour, mode: BuildMode, *, counts: Path | None = None) -> _Planned:
    tools = find_toolchain()
    files, verilog, cpp = _gather(design, flavour)
    recipe = recipe_of("checked" if flavour == "coverage" and mode == "fast" else mode, tools)  # it counts assertions
    options = _options(flavour, recipe, tools)
    if counts is not None:
        recipe = counting(recipe, counts)
    return _Planned(tools, files, verilog, cpp, options, recipe, _key(design, flavour, recipe, tools, files, options))


def _with_profile(plan: _Planned, design: Design, flavour: Flavour) -> _Planned:
    """The same by the profile of its key, if there is one."""
    counts = find_profile(plan.key) if plan.recipe.mode == "fast" else None
    if counts is None:
        return plan
    recipe = profiled(plan.recipe, counts)
    return replace(plan, recipe=recipe, key=_key(design, flavour, recipe, plan.tools, plan.files, plan.options))


def _build(plan: _Planned, design: Design, flavour: Flavour, progress: Progress | None) -> Path:
    tools, options, recipe = plan.tools, plan.options, plan.recipe
    tell = progress or _silent
    if "--vpi" in options and not (cache_folder() / plan.key).is_dir():
        python_library()  # said before minutes are spent on a simulation that could not start

    def make(part: Path) -> Mapping[str, object]:
        begun = time.monotonic()
        if design.host is not None:
            tell(0.0, f"preparing {design.dut.top} for {design.host.name}")
            design.host.prepare(lambda words: _step([*words], part, dict(os.environ), design, lambda _: None))
            (part / HOST_ARGUMENTS).write_text("\n".join(design.host.arguments), encoding="utf-8")
        told = _with_history(tell, part.parent, design, flavour, recipe.mode)
        whole = _compile(design, part, plan, told)
        seconds = time.monotonic() - begun if whole else None
        shutil.move(part / "obj" / EXECUTABLE, part / EXECUTABLE)
        if design.keepers:
            list_variables(part / EXECUTABLE)
        if flavour == "profile":
            (part / "cpp").mkdir(exist_ok=True)
            for path in (part / "obj").glob("*.cpp"):
                shutil.move(path, part / "cpp" / path.name)
        return {
            "seconds": seconds, "top": design.dut.top, "parameters": dict(design.dut.parameters), "flavour": flavour,
            "mode": recipe.mode, "options": options, "make": recipe.make, "verilator": tools.verilator_version,
            "compiler": recipe.compiler, "processor": recipe.processor, "profile": recipe.profile,
        }  # fmt: skip

    return kept_build(plan.key, plan.files, make, lambda: tell(0.0, "waiting for another run that builds the same simulation"))


def _with_history(tell: Progress, folder: Path, design: Design, flavour: Flavour, mode: BuildMode) -> Progress:
    """Add the seconds that the newest whole build of the same top and parameters took in this cache, if there is one."""
    found: list[tuple[float, float]] = []
    for path in folder.glob("*/info.json"):
        with contextlib.suppress(OSError, ValueError):
            info = json.loads(path.read_text(encoding="utf-8"))
            wanted = (design.dut.top, dict(design.dut.parameters), flavour, mode)
            if (info["top"], info["parameters"], info["flavour"], info.get("mode", "checked")) == wanted and info.get("seconds"):
                found.append((path.stat().st_mtime, info["seconds"]))
    if not found:
        return tell
    last = f", {max(found)[1]:.0f} s last time"
    return lambda fraction, words: tell(fraction, words + last)


def wave_suffix(executable: Path) -> str:
    """ ".fst" or ".vcd": what an executable of flavour "waves" writes."""
    options: list[str] = json.loads((executable.parent / "info.json").read_text(encoding="utf-8"))["options"]
    return ".fst" if "--trace-fst" in options else ".vcd"


def _silent(fraction: float, words: str) -> None:
    """Nobody wants to know."""


def _link(path: Path, name: str, folder: Path) -> Path:
    """`path`, or where make cannot stand it a link to it in `folder`."""
    if is_plain(path):
        return path
    link = folder / name
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    return link


def _compile(design: Design, folder: Path, plan: _Planned, tell: Progress) -> bool:
    """False for a build that continued an interrupted one."""
    import cocotb_tools.config

    tools, options, recipe = plan.tools, plan.options, plan.recipe
    environment = dict(os.environ)
    for name in ("VERILATOR_ROOT", "VERILATOR_BIN", "MAKEFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    verilator = tools.verilator
    program = tools.verilator.resolve()
    if not is_plain(program):
        # The generated makefile names the tool's own folder.
        root = _link(program.parent.parent, "verilator", folder)
        verilator = root / "bin" / program.name
        environment["VERILATOR_ROOT"] = str(root / "share" / "verilator" if (root / "share" / "verilator").is_dir() else root)
        environment["VERILATOR_BIN"] = str(root / "bin" / "verilator_bin")
    environment["OBJCACHE"] = OBJCACHE
    command = [str(verilator), *options, "-Mdir", "obj", *(f"-Iinc{i}" for i in range(len(design.include_dirs)))]
    if "--vpi" in options:
        libs = _link(Path(cocotb_tools.config.libs_dir), "cocotb_libs", folder)
        # Found at run time through LD_LIBRARY_PATH: the executable outlives the environment that built it.
        command += ["-LDFLAGS", f"-L{libs} -lcocotbvpi_verilator -lgpi"]
    top = design.dut.top
    command += [*plan.verilog, *plan.cpp]
    continued = goes_on(folder, command)
    if continued:
        tell(0.1, f"going on with the build of {top}")
    else:
        tell(0.0, f"verilating {top}")
        _step(command, folder, environment, design, lambda _: tell(0.05, f"verilating {top}"))
        mark_verilated(folder, command)
    make = [str(tools.make), "-C", "obj", "-f", "Vtop.mk", "-j2", *recipe.make]
    tell(0.1, f"compiling {top}")

    def run(command: Sequence[str], count: int) -> None:
        told = f"compiling {top}"
        _step([*command], folder, environment, design, lambda done: tell(0.1 + 0.9 * min(1.0, done / count), told))

    make_sharing(folder.parent / "objects", make, folder / "obj", environment, recipe.makes, run)
    log = folder / "build.log"
    if recipe.counts and (missed := not_taken(log.read_text(encoding="utf-8", errors="replace"), recipe.counts)):
        raise BuildError(
            f"the compiler did not take the profile of {len(missed)} files, {Path(missed[0]).name} first",
            where=top,
            hint="make it again: fleet build --pgo",
        )
    tell(1.0, f"built {top}")
    return not continued


def _step(command: list[str], folder: Path, environment: dict[str, str], design: Design, tell: Callable[[int], None]) -> None:
    """Runs one command of a build; `tell` gets the number of compilations so far, twice a second."""
    output = run_step(command, folder, environment, lambda log: tell(log.count(" -c -o ")))
    if output is not None:
        raise _failure(output, folder, design)


def _failure(output: str, folder: Path, design: Design) -> FleetError:
    """The first errors of a build's output, with the places that the user knows instead of the copies'."""
    lines = error_lines(output)
    if any("No space left on device" in line for line in lines):
        return SetupError(
            "the disk is full: the simulation cannot be built", where=str(folder.parent), hint="free room or set FLEET_CACHE"
        )
    places = {copy_name(path): str(path) for path in design.sources}

    def readable(line: str) -> str:
        return re.sub(r"(?:\.\./)?(src/[\w.-]+)", lambda m: places.get(m[1], m[1]), line)

    first = [readable(line) for line in lines]
    log = keep_log((folder / "key").read_text(encoding="utf-8"), (folder / "build.log").read_bytes())
    return BuildError(
        f"the simulation does not compile: {first[0] if first else 'no message'}",
        where=design.dut.top,
        hint=f"the whole log is in {log}",
        detail="\n".join(first[1:]) or None,
    )
