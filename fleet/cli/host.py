"""`fleet host`: C++ host programs, as they run on a board, against the simulation or its functional model."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.progress import ProgressLine
from fleet.errors import ComparisonFailure, DeviceError, FleetError, SetupError

if TYPE_CHECKING:
    from fleet.engines.base import RunOptions
    from fleet.engines.host_port.port import DevicePort, Summary
    from fleet.engines.host_port.server import HostServer
    from fleet.isa.contract import Device, InstructionSet
    from fleet.isa.memory import MappedMemory

_OPTIMISE = "-O2"


class _Number(click.ParamType):
    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = value if isinstance(value, int) else int(str(value), 0)
        except ValueError:
            self.fail(f"{value!r} is no number", param, ctx)
        if not 0 <= number < 1 << 64:
            self.fail(f"{value} does not fit in 64 bits", param, ctx)
        return number


@click.group(name="host")
def command() -> None:
    """C++ host programs: build them, run them on the simulation."""


@command.command(name="include-dir")
def include_dir() -> None:
    """Print the folder of fleet_host.h."""
    from fleet.targets.graph.host import include_dir as folder

    click.echo(folder())


@command.command(
    name="build",
    epilog="\b\nExample:\n  fleet host build main.cpp -I generated -o program",
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-I", "folders", multiple=True, type=click.Path(path_type=Path), help="Where headers are; may be repeated.")
@click.option("-D", "macros", multiple=True, metavar="NAME[=VALUE]", help="Macro; may be repeated.")
@click.option("-o", "output", required=True, type=click.Path(path_type=Path), help="The program.")
@click.option("--debug", is_flag=True, help="For a debugger: -g -O0 instead of -O2.")
@click.option("--compiler", default="g++", show_default=True, help="A C++17 compiler.")
def build(
    sources: tuple[Path, ...], folders: tuple[Path, ...], macros: tuple[str, ...], output: Path, debug: bool, compiler: str
) -> int:
    """Compile a host program: g++ with C++17, warnings and the folder of fleet_host.h."""
    from fleet.targets.graph.host import include_dir as folder

    program = shutil.which(compiler)
    if program is None:
        raise SetupError(f"`{compiler}` is needed to build a host program and was not found", hint="install g++, or use --compiler")
    for source in sources:
        if not source.is_file():
            raise FleetError("no such file", where=str(source))
    options = ["-g", "-O0"] if debug else [_OPTIMISE]
    includes = [f"-I{f}" for f in (*folders, folder())]
    defines = [f"-D{m}" for m in macros]
    line = [program, "-std=c++17", "-Wall", "-Wextra", *options, *defines, *includes, *map(str, sources), "-o", str(output)]
    done = subprocess.run(line, check=False)
    if done.returncode:
        raise FleetError("the host program does not compile (the compiler's own words stand above)", where=str(sources[0]))
    return 0


@command.command(
    name="run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="\b\nExamples:\n  fleet host run --device hbm_small --engine iss ./program weights\n"
    "  fleet host run --device hbm_small --engine rtl --memory timed --check ./program weights",
)
@click.option("--device", required=True, help="Device (see `fleet devices`).")
@click.option("--engine", type=click.Choice(["iss", "rtl"]), default="iss", show_default=True, help="What is behind the registers.")
@click.option("--memory", default="ideal", show_default=True, help="ideal, fixed[:<n>], stall[:<seed>] or timed[:<seed>]; for rtl.")
@click.option("--seed", default=0, show_default=True, help="Of the design's state at power-on and of the memory model; for rtl.")
@click.option("--check", is_flag=True, help="Run the functional model beside rtl and compare every instruction.")
@click.option("--ddr-base", type=_Number(), default="0x200000000", show_default=True, help="Where the program sees DDR.")
@click.option("--hbm-base", type=_Number(), default="0x0", show_default=True, help="Where the program sees HBM.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=3600.0, show_default=True, help="Seconds.")
@click.option("--folder", type=click.Path(path_type=Path), help="Keep memory images and logs there.")
@click.argument("program", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    device: str,
    engine: str,
    memory: str,
    seed: int,
    check: bool,
    ddr_base: int,
    hbm_base: int,
    timeout: float,
    folder: Path | None,
    program: Path,
    arguments: tuple[str, ...],
) -> int:
    """Run PROGRAM with its ARGUMENTS against a device; options of this command stand before PROGRAM.

    Its output passes through; a summary goes to standard error. Returns the program's exit code, 2 where it asks for what the
    device does not have, 1 where the device failed or (--check) differs from its functional model.
    """
    from fleet.engines.base import RunOptions
    from fleet.engines.host_port.server import HostServer
    from fleet.isa.memory import MappedMemory

    instruction_set, chip = _device(device, engine, check)
    file = _program(program)
    with tempfile.TemporaryDirectory(prefix="fleet-host-") as temporary:
        place = Path(temporary) if folder is None else folder
        images = MappedMemory(chip, place / "memory")
        port: DevicePort | None = None
        try:
            options = RunOptions(device=device, memory=memory, seed=seed, workdir=place)
            port = _port(instruction_set, chip, images, engine, options, check)
            server = HostServer(port, images, ddr_base=ddr_base, hbm_base=hbm_base)
            code = server.run([str(file), *arguments], timeout=timeout)
            summary = port.finish()
        finally:
            if port is not None:
                port.close()
            images.close()
    _tell(summary, chip.clock_mhz, server)
    if code < 0:
        click.echo(f"fleet: {file}: the program crashed ({signal.Signals(-code).name})", err=True)
        return 128 - code
    if check and not summary.compared:
        raise ComparisonFailure("nothing was compared: the program ran no instruction", where=str(file))
    return code


def _device(name: str, engine: str, check: bool) -> tuple[InstructionSet, Device]:
    from fleet.isa.registry import find_device

    if check and engine != "rtl":
        raise DeviceError("--check compares rtl with the functional model", where=f"engine {engine}", hint="use --engine rtl")
    return find_device(name)


def _program(path: Path) -> Path:
    """The program as it can be started: with a folder, so that no other program of that name is. Raises FleetError."""
    if not path.is_file():
        raise FleetError("no such program", where=str(path), hint="make it with `fleet host build`")
    if not os.access(path, os.X_OK):
        raise FleetError("is no program that can be started", where=str(path), hint="make it with `fleet host build`")
    return path.absolute()


def _port(
    instruction_set: InstructionSet, device: Device, images: MappedMemory, engine: str, options: RunOptions, check: bool
) -> DevicePort:
    from fleet.engines.host_port.hardware import HardwarePort
    from fleet.engines.host_port.model import ModelPort

    if engine == "iss":
        return ModelPort(instruction_set, device, images)
    with ProgressLine("build") as progress:
        return HardwarePort(instruction_set, device, images, replace(options, progress=progress), check=check)


def _tell(summary: Summary, clock_mhz: float, server: HostServer) -> None:
    """A line of what was done, on standard error: standard output is the program's."""
    parts = [_count(len(summary.commits), "instruction"), _count(server.accesses, "register access", "es")]
    if summary.cycles is not None:
        busy = sum((c.end or 0) - (c.start or 0) for c in summary.commits)
        time = f"{summary.cycles / clock_mhz:,.1f} us at {clock_mhz:g} MHz"
        parts.append(f"{_count(summary.cycles, 'cycle')} ({time}), {busy:,} summed over instructions")
    if summary.compared is not None:
        parts.append(f"{_count(summary.compared, 'commit')} equal to iss")
    if not server.connected:
        parts.append("the program never used the device")
    for line in (f"{summary.engine}: {', '.join(parts)}", *summary.notes):
        click.echo(f"fleet: {line}", err=True)


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{plural}"
