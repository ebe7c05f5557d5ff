"""`fleet host`: runs C++ host programs, as on a board, against the simulation or its functional model."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.progress import ProgressLine

if TYPE_CHECKING:
    from fleet.engines.host_port.run import HostRun


class _Number(click.ParamType):
    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = value if isinstance(value, int) else int(str(value), 0)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 <= number < 1 << 64:
            self.fail(f"{value} does not fit in 64 bits", param, ctx)
        return number


@click.group(
    name="host",
    epilog="\b\nExamples:\n  fleet host build main.cpp -I generated -o program\n"
    "  fleet host run --device hbm_small --engines rtl --check ./program weights",
)
def command() -> None:
    """C++ host programs: build them, run them on the simulation."""


@command.command(name="include-dir", epilog='\b\nExample:\n  g++ -std=c++17 -I "$(fleet host include-dir)" main.cpp -o program')
def include_dir() -> None:
    """Print the folder of fleet_host.h."""
    from fleet.targets.driver import include_dir as folder

    click.echo(folder())


@command.command(
    name="build",
    epilog="\b\nExample:\n  fleet host build main.cpp -I generated -o program",
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-I", "folders", multiple=True, type=click.Path(path_type=Path), help="A folder of headers; may be repeated.")
@click.option("-D", "macros", multiple=True, metavar="NAME[=VALUE]", help="Macro; may be repeated.")
@click.option("-o", "--output", "output", required=True, type=click.Path(path_type=Path), help="The program.")
@click.option("--debug", is_flag=True, help="Build for a debugger: -g -O0 instead of -O2.")
@click.option("--compiler", default="g++", show_default=True, help="A C++17 compiler.")
def build(
    sources: tuple[Path, ...], folders: tuple[Path, ...], macros: tuple[str, ...], output: Path, debug: bool, compiler: str
) -> None:
    """Compile a host program: g++ with C++17, warnings and the folder of fleet_host.h."""
    from fleet.targets.driver.build import build_program

    build_program(sources, output, folders=folders, macros=macros, debug=debug, compiler=compiler)


@command.command(
    name="run",
    context_settings={"allow_interspersed_args": False},  # arguments after PROGRAM belong to the program
    epilog="\b\nExamples:\n  fleet host run --device hbm_small --engines iss ./program weights\n"
    "  fleet host run --device hbm_small --engines rtl --memory timed --check ./program weights",
)
@click.option("--device", required=True, help="Device (see `fleet devices`).")
@click.option(
    "--engines",
    "engine",
    type=click.Choice(["iss", "rtl"]),
    default="iss",
    show_default=True,
    help="The engine behind the registers.",
)
@click.option("--memory", default="ideal", show_default=True, help="ideal, fixed[:<n>], stall[:<seed>] or timed[:<seed>]; for rtl.")
@click.option(
    "--seed",
    default=0,
    type=click.IntRange(min=0),
    show_default=True,
    help="Seed of the design's state at power-on and of the memory model; for rtl.",
)
@click.option("--check", is_flag=True, help="Run the functional model beside rtl and compare every instruction.")
@click.option("--ddr-base", type=_Number(), default="0x200000000", show_default=True, help="Address at which the program sees DDR.")
@click.option("--hbm-base", type=_Number(), default="0x0", show_default=True, help="Address at which the program sees HBM.")
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
    from fleet.engines.host_port.run import run_program

    with ProgressLine("build") as progress:
        options = RunOptions(device=device, memory=memory, seed=seed, workdir=folder, progress=progress)
        done = run_program(
            program, arguments, options, engine=engine, check=check, ddr_base=ddr_base, hbm_base=hbm_base, timeout=timeout
        )  # fmt: skip
    _tell(done)
    if done.exit_code < 0:
        click.echo(f"fleet: {program}: the program crashed ({signal.Signals(-done.exit_code).name})", err=True)
        return 128 - done.exit_code
    return done.exit_code


def _tell(done: HostRun) -> None:
    """Print a summary line on standard error, because standard output belongs to the program."""
    from fleet.cosim.device_figures import figures_of

    summary, device = done.summary, figures_of(done.device)
    parts = [_count(len(summary.commits), "instruction"), _count(done.accesses, "register access", "es")]
    if summary.cycles is not None:
        busy = sum((c.end or 0) - (c.start or 0) for c in summary.commits)
        time = f"{summary.cycles / device.clock_mhz:,.1f} us at {device.clock}"
        parts.append(f"{_count(summary.cycles, 'cycle')} ({time}), {busy:,} summed over instructions")
    if summary.compared is not None:
        parts.append(f"{_count(summary.compared, 'commit')} equal to iss")
    if not done.used:
        parts.append("the program never used the device")
    for line in (f"{summary.engine}: {', '.join(parts)}", *summary.notes):
        click.echo(f"fleet: {line}", err=True)


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{plural}"
