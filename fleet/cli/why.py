"""`fleet why`: what went wrong in the last failed comparison, from what is stored of it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    name="why",
    epilog="\b\nExamples:\n  fleet why\n  fleet why digits\n  fleet why reports/streams/hbm_small-mvm-random-3-ideal-regs",
)
@click.argument("failure", required=False)
@click.option(
    "--reports", type=click.Path(path_type=Path), default=Path("reports"), show_default=True, help="Where stored results are."
)
def command(failure: str | None, reports: Path) -> int:
    """Explain the last failed comparison, or FAILURE (a path, a case's name or a stream's name), on one page.

    Operation, instruction, address, register writes, value expected and found, operands. Nothing runs. Exit code 1 when it
    explains a failure, 2 when there is none.
    """
    from fleet.report.why import find_failure, page

    click.echo(page(find_failure(failure, reports)), nl=False)
    return 1
