"""`fleet_compile_cli` and `fleet_compiler_cli`: the command line of the seeds, with exactly their flags.

Without a flag the file is compiled and run. `--compile-to` stops at a stage and prints it; the older `--emit...` flags print a
stage, and only `--vm` runs the program then.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fleet.cli.main import run_command
from fleet.cli.outputs import print_outputs
from fleet.cli.running.compiling import CompileRequest, execute
from fleet.cli.running.stored import is_stored, run_stored
from fleet.compiler import BACKENDS
from fleet.errors import FleetError

_STAGES = {"token": "token", "ast": "ast", "ir": "ir", "mlir": "mlir", "vm": "vm", "bc": "bytecode"}


@click.command(name="fleet_compiler_cli", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("file")
@click.option("--target-backend", "backend", type=click.Choice(list(BACKENDS)), default="python", show_default=True)
@click.option("--compile-to", "stop", type=click.Choice(list(_STAGES)), help="Stop at this stage and print it.")
@click.option("--runner", type=click.Choice(["vm", "interpreter"]), default="vm", show_default=True)
@click.option("-o", "out", type=click.Path(path_type=Path), help="Write the stage to this file.")
@click.option("--only-compile", is_flag=True, help="Run nothing.")
@click.option("--validation", is_flag=True, help="Compare the run with CPython's.")
@click.option("--dump-intermediates-to", "dumps", type=click.Path(path_type=Path, file_okay=False), help="Folder for every stage.")
@click.option("--dump-ir-before-pass", "before", is_flag=True, help="Show the IR before every pass.")
@click.option("--dump-ir-after-pass", "after", is_flag=True, help="Show the IR after every pass.")
@click.option("--emitToken", "emit", flag_value="token", help="Print the tokens.")
@click.option("--emitAST", "emit", flag_value="ast", help="Print the syntax tree.")
@click.option("--emitMLIR", "emit", flag_value="mlir", help="Print upstream MLIR.")
@click.option("--emitByteCode", "emit", flag_value="bc", help="Print the bytecode module.")
@click.option("--opt", is_flag=True, help="Run the passes that keep every bit.")
@click.option("--vm", is_flag=True, help="Run the program on the VM after printing.")
def command(
    file: str,
    backend: str,
    stop: str | None,
    runner: str,
    out: Path | None,
    only_compile: bool,
    validation: bool,
    dumps: Path | None,
    before: bool,
    after: bool,
    emit: str | None,
    opt: bool,
    vm: bool,
) -> int:
    """Compile FILE (a script, or path.py:function) and run it; a .fbc or .elf file that was written before only runs."""
    if stop and emit and stop != emit:
        raise FleetError(f"--compile-to {stop} beside another --emit flag", where="fleet_compiler_cli", hint="name one stage")
    stage = stop or emit
    if is_stored(file):
        if stage or out or validation or dumps or before or after or runner != "vm" or backend != "python":
            raise FleetError("is compiled already, and only runs", where=file, hint="name the source for a stage or another run")
        if not only_compile:
            done = run_stored(file, None, None)
            click.echo(done.printed, nl=False)
            print_outputs(done.outputs)
        return 0
    if out is not None and stage is None:
        stage = "bc"
    return execute(
        CompileRequest(
            model=file, stage=_STAGES[stage] if stage else None, module_only=True, pipeline="vm" if opt else None, backend=backend,
            runner=runner, run=not only_compile and (vm or (stage is None or (stop is None and out is None and not emit))),
            validation=validation and not only_compile, out=out, dumps=dumps, before=before, after=after,
        )
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the console scripts, with the exit codes and one-line errors of `fleet`."""
    name = Path(sys.argv[0]).name
    return run_command(command, name if name.startswith("fleet") else "fleet_compiler_cli", arguments)
