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
def new(name: str, folder: Path, instruction: str, operation: str) -> int:
    """Write the instruction set NAME, of one instruction: it passes its own conformance at once. Change it from there."""
    from fleet.isa.scaffold.new_set import new_set

    for file in new_set(name, folder, instruction, operation):
        click.echo(f"wrote {file}")
    click.echo(f"next: pip install -e {folder / name} && fleet isa check {name}")
    return 0
