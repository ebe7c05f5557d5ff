"""`fleet inspect`: the kind of a file, its content, and what each device would run of it."""

from __future__ import annotations

import click

from fleet.cli.looking.inspecting.command import CommandOutput, on_a_file
from fleet.cli.looking.inspecting.kinds import inspect
from fleet.cli.looking.inspecting.page import InspectRequest
from fleet.errors import ExitCode

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
@on_a_file(device="Only this device.")
def command(asked: InspectRequest, answer: CommandOutput) -> int:
    """Say what FILE is: inputs, operators, work, what each device runs and keeps, what is unsupported, what to type next."""
    page = answer.page = inspect(asked)
    answer.say(page.text())
    for i, line in enumerate(page.commands):
        answer.say(f"  {'next' if i == 0 else '':<12} {line}")
    if page.problem is not None:
        raise page.problem
    return ExitCode.AGREED
