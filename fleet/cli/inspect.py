"""`fleet inspect`: what a file is, what it holds, what each device would run of it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fleet.cli.model import data_options, onnx_options
from fleet.errors import ExitCode, FleetError

_EPILOG = """\b
Examples:
  fleet inspect model.onnx
  fleet inspect model.py:forward --weights w.npz --json
  fleet inspect smollm2.gguf
  fleet inspect reports/digits
  fleet inspect hbm_small

Python with NumPy, ONNX, GGUF, folders with safetensors, bytecode, instruction streams, results, cases, arrays, instruction sets.
The bytes of a file count, not its name. Nothing runs. Cycles are those of the cost model, with ideal memory. Exit code 2 for a
file that fleet does not read, with what to do.
"""


@click.command(name="inspect", epilog=_EPILOG)
@click.argument("model", metavar="FILE")
@onnx_options
@data_options
@click.option("--device", help="Only this device.")
@click.option("--json", "as_json", is_flag=True, help="Everything, with every reason, as JSON.")
def command(
    model: str, weights: Path | None, input_path: Path | None, seed: int, batch: int | None, device: str | None, as_json: bool
) -> int:
    """Say what FILE is: inputs, operators, work, what each device runs and keeps, what is unsupported, what to type next."""
    from fleet.cli.inspected import Asked, inspected, told

    asked = Asked(model, weights, input_path, seed, batch, device)
    try:
        page = inspected(asked)
    except FleetError as error:
        if as_json:
            click.echo(json.dumps(told(error, asked), indent=1))
        raise
    if as_json:
        click.echo(json.dumps(page.to_json(), indent=1))
    else:
        click.echo(page.text())
        for i, line in enumerate(page.commands):
            click.echo(f"  {'next' if i == 0 else '':<12} {line}")
    if page.problem is not None:
        raise page.problem
    return ExitCode.AGREED
