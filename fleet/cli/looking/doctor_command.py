"""`fleet doctor`."""

from __future__ import annotations

import click

from fleet.cli.looking import doctor


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def command(as_json: bool) -> int:
    """What is installed, which versions, what is missing and how to get it. Exit code 2 when something is missing."""
    return doctor.main(as_json=as_json)
