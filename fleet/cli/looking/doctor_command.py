"""`fleet doctor`."""

from __future__ import annotations

import click

from fleet.cli.looking import doctor


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def command(as_json: bool) -> int:
    """List tools and packages with their versions; say what is missing and how to get it. Exit code 2 if something is missing."""
    return doctor.main(as_json=as_json)
