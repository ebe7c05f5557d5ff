"""`fleet init`: a workspace of one's own."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="init", epilog="\b\nExample:\n  fleet init my_accelerator")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--device", help="Device of the example; default: the installed one with the fewest ports.")
def command(folder: Path, device: str | None) -> int:
    """Make a workspace in FOLDER (default: here): models/, sim/, golden/, reports/ and a README that says what to do next."""
    from fleet.isa.registry import find_device
    from fleet.isa.scaffold.workspace import example_device, new_workspace

    device = find_device(device)[1].name if device else example_device()
    for file in new_workspace(folder, device):
        click.echo(f"wrote {file}")
    click.echo(f"next: cd {folder} && pytest sim/")
    return 0
