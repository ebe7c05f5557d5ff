"""`fleet isa`: make, extend, check, document, fuzz and compare instruction sets."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.isa.scaffold.operations import OPERATIONS


@click.group(name="isa")
def command() -> None:
    """Instruction sets: a working template, one more instruction, checks, manual, random programs, what a change means."""


_OP = click.option(
    "--op",
    "operation",
    type=click.Choice(list(OPERATIONS)),
    default="add",
    show_default=True,
    help="What it computes, to begin with.",
)

_IN = click.option(
    "--in", "folder", type=click.Path(path_type=Path, file_okay=False), default="sets", show_default=True, help="Where it goes."
)


@command.command(name="new", epilog="\b\nExamples:\n  fleet isa new mine\n  fleet isa new more --extends mine")
@click.argument("name")
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sets"),
    show_default=True,
    help="Where it goes.",
)
@click.option("--instruction", default="", help="Name of its first instruction; default: v and the operation.")
@_OP
@click.option("--extends", "base", metavar="SET", help="Have all of the installed SET, and room for more; then `fleet isa add`.")
def new(name: str, folder: Path, instruction: str, operation: str, base: str | None) -> int:
    """Write the instruction set NAME, of one instruction: it passes its own conformance at once. Change it from there."""
    from fleet.isa.scaffold.new_extension import new_extension
    from fleet.isa.scaffold.new_set import new_set

    for file in new_extension(name, base, folder) if base else new_set(name, folder, instruction, operation):
        click.echo(f"wrote {file}")
    click.echo(f"next: pip install -e {folder / name} && fleet isa check {name}")
    return 0


@command.command(name="add", epilog="\b\nExample:\n  fleet isa add mine vsub --op sub && fleet isa check mine")
@click.argument("set_name", metavar="SET")
@click.argument("name")
@click.option("--op", "operation", type=click.Choice(list(OPERATIONS)), help="Template's sets: what it computes at first.")
@click.option("--like", default="", help="Sets that extend another: the instruction of that set which it begins as.")
def add(set_name: str, name: str, operation: str | None, like: str) -> int:
    """Add the instruction NAME to the installed SET, the compiler's pattern included; says which files it touched.

    In a set made by `fleet isa new` (--op) the hardware knows it at once; in one that extends any other set (--like) the base's
    hardware refuses it until a file under rtl/ knows it.
    """
    from fleet.isa.scaffold.add import add_instruction

    added = add_instruction(set_name, name, operation or "", like)
    click.echo(f"touched {len(added.touched)} files:")
    for file in added.touched:
        click.echo(f"  {file}")
    if added.generated:
        click.echo(f"generated again: {len(added.generated)} files in {added.generated[0].parent}")
    click.echo(f"next: fleet isa check {set_name}")
    return 0


@command.command(name="check", epilog="\b\nExamples:\n  fleet isa check mine\n  fleet isa check mine --draws 200 --no-rtl")
@click.argument("name", metavar="SET")
@click.option("--device", help="Device to draw for; default: the set's smallest.")
@click.option("--draws", default=24, show_default=True, type=click.IntRange(1), help="Calls of every instruction.")
@click.option("--sample", default=2, show_default=True, type=click.IntRange(1), help="Conformance cases of every kind.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn.")
@click.option("--rtl/--no-rtl", default=None, help="Run the sample on the hardware too; default: where the set has hardware.")
def check(name: str, device: str | None, draws: int, sample: int, seed: int, rtl: bool | None) -> int:
    """Check the installed instruction set SET: a line with file and line for everything that is wrong.

    The description and the binding of classes are checked when the set is loaded (exit code 2); here: generated files, semantics
    (destinations, determinism, undefined state), legality, refusals, cost, codec, and a sample of its conformance.
    """
    from fleet.cli.isa_check import check_installed

    return check_installed(name, device, draws, sample, seed, rtl)


@command.command(name="doc", epilog="\b\nExample:\n  fleet isa doc mine -o MANUAL.md")
@click.argument("name", metavar="SET")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where it goes; default: standard output.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 where the file is not current.")
def doc(name: str, output: Path | None, only_check: bool) -> int:
    """Write the reference manual of SET out of its description: registers, instructions, encodings, causes."""
    from fleet.cosim.files import write_atomically
    from fleet.isa.manual import check, manual
    from fleet.isa.registry import find_instruction_set

    description = find_instruction_set(name).description
    if only_check:
        if output is None:
            raise click.UsageError("--check needs -o FILE")
        check(description, output)
        click.echo(f"{output}: current")
    elif output is None:
        click.echo(manual(description), nl=False)
    else:
        write_atomically(output, manual(description).encode())
        click.echo(f"wrote {output}")
    return 0


@command.command(
    name="fuzz",
    epilog="\b\nExamples:\n  fleet isa fuzz mine --seconds 600\n  fleet isa fuzz mine --seed 7 --seconds 1e4 --instructions 100000",
)
@click.argument("name", metavar="SET")
@click.option("--device", help="Device; default: the set's smallest.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 10**9), help="Of all programs.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="How long.")
@click.option("--count", type=click.IntRange(1), help="Programs of this run, at most.")
@click.option("--instructions", type=click.IntRange(1), help="Instructions of this run; the last program is finished.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Programs at a time; default: one a processor, at most 8.")
@click.option(
    "--report", "folder", type=click.Path(path_type=Path, file_okay=False), default="reports/fuzz", show_default=True,
    help="Where state and failing streams go; a run with the same seed goes on where the last one stood.",
)  # fmt: skip
def fuzz(
    name: str, device: str | None, seed: int, seconds: float, count: int | None, instructions: int | None, jobs: int | None,
    folder: Path,
) -> int:  # fmt: skip
    """Run random legal and illegal programs of SET on iss and rtl, compared at every commit and in every byte of memory."""
    from fleet.cli.isa_fuzz import run_fuzz

    return run_fuzz(name, device, seed, seconds, count, instructions, jobs, folder)


@command.command(
    name="diff",
    epilog="\b\nExamples:\n  fleet isa diff mine@HEAD mine\n  fleet isa diff old.rdl new.rdl --folder reports\n"
    "  fleet isa diff mine@v1.0 mine@main --model models/a.py:forward --json",
)
@click.argument("old")
@click.argument("new")
@click.option("--device", help="Whose sizes count; default: the new side's smallest.")
@click.option(
    "--cases", default=4, show_default=True, type=click.IntRange(1), help="Conformance cases of every kind that are drawn."
)
@click.option("--model", "models", multiple=True, help="path.py:function, may be repeated; default: the models of the set's cases.")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False, exists=True), default=".", show_default=True,
    help="Where stored streams, results and generated files are looked for.",
)  # fmt: skip
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def diff(
    old: str, new: str, device: str | None, cases: int, models: tuple[str, ...], folder: Path, machine: bool
) -> int:  # fmt: skip
    """What a change means. OLD and NEW: an installed set, a description (.rdl), or one of them at a git revision (SET@REV).

    Encodings that moved, streams that changed, programs that are illegal now, coverage bins that were emptied, cycles and bytes of
    every model before and after, and the files that have to be made again.
    """
    from fleet.cli.isa_diff import run_diff

    return run_diff(old, new, device, cases, models, folder, machine=machine)
