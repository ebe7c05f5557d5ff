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


@command.command(name="new", epilog="\b\nExample:\n  fleet isa new mine && pip install -e sets/mine && fleet isa check mine")
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
@_OP
def add(set_name: str, name: str, operation: str) -> int:
    """Add the instruction NAME to the installed SET, compiler's pattern and hardware included; says which files it touched."""
    from fleet.isa.scaffold.add import add_instruction

    added = add_instruction(set_name, name, operation)
    click.echo(f"touched {len(added.touched)} files:")
    for file in added.touched:
        click.echo(f"  {file}")
    if added.generated:
        click.echo(f"generated again: {len(added.generated)} files in {added.generated[0].parent}")
    click.echo(f"next: fleet isa check {set_name}")
    return 0


@command.command(name="check", epilog="\b\nExamples:\n  fleet isa check mine\n  fleet isa check mine --draws 200 --no-rtl")
@click.argument("name", metavar="SET")
@click.option("--device", help="Device to draw for; default: the set's one with the fewest ports.")
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
