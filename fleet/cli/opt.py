"""`fleet-opt`: runs passes on textual IR."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np

from fleet.cli.main import run_command
from fleet.core.version import __version__
from fleet.errors import FleetError

_EPILOG = """\b
Examples:
  fleet compile --emit ir examples/digits/model.py:forward | fleet-opt --pipeline riscv --timing
  fleet-opt model.mlir --pass canonicalise,cse,infer-shapes{x=8x64} --verify-each
  fleet-opt --list

Without passes the IR is read, verified and printed again: what `fleet compile --emit ir` wrote comes back byte for byte.
Exit codes: 0 done, 2 bad input.
"""

MAX_BYTES = 64 << 20
"""Maximum size of the input."""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="fleet-opt")
@click.argument("file", default="-")
@click.option("-p", "--pass", "passes", help="Passes to run, separated by commas; options as name{key=value}.")
@click.option("--pipeline", "pipeline_name", help="A target's pipeline (see --list).")
@click.option("--weights", type=click.Path(path_type=Path), help="Arrays by argument name (.npz): these arguments are weights.")
@click.option("--verify-each", is_flag=True, help="Verify the IR after every pass.")
@click.option("--print-after-all", is_flag=True, help="Print the IR after every pass, on standard error.")
@click.option("--dump", type=click.Path(path_type=Path), help="Write the IR before and after every pass into this folder.")
@click.option("--timing", is_flag=True, help="Print time and operation counts of every pass, on standard error.")
@click.option("--explain", "explained", is_flag=True, help="Print near misses of idioms with the reason, instead of the IR.")
@click.option("--list", "listed", is_flag=True, help="Print passes and pipelines.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
def command(
    file: str,
    passes: str | None,
    pipeline_name: str | None,
    weights: Path | None,
    verify_each: bool,
    print_after_all: bool,
    dump: Path | None,
    timing: bool,
    explained: bool,
    listed: bool,
    out: Path | None,
) -> int:
    """Run passes on the textual IR in FILE (standard input by default) and print the result."""
    from fleet.transforms.passes import Pass
    from fleet.transforms.pipeline import PassHooks, Pipeline, parse_passes, pipeline, record_table

    if listed:
        from fleet.transforms.listing import listing

        click.echo(listing(), nl=False)
        return 0
    if passes is not None and pipeline_name is not None:
        raise click.UsageError("--pass and --pipeline exclude each other")
    chosen = pipeline(pipeline_name) if pipeline_name is not None else Pipeline("asked", parse_passes(passes or ""))
    from fleet.ir.program import Program
    from fleet.ir.text import parse_ir, print_ir
    from fleet.transforms.entry import program_of

    name = "<stdin>" if file == "-" else file
    module = parse_ir(_read(file), name)
    program = program_of(module, _arrays(weights), name) if chosen.passes or explained else None
    if program is None:
        text = print_ir(module)
    elif explained:
        from fleet.transforms.raising.explain import explanation

        text = explanation(program, pipeline_name or "riscv")
    else:

        def after(one: Pass, changed: Program) -> None:
            if print_after_all:
                click.echo(f"// ----- after {one.name} -----\n{print_ir(changed.module)}", err=True, nl=False)

        hooks = PassHooks(verify_each=verify_each, dump=dump, after=after if print_after_all else None)
        result, records = chosen.run(program, hooks)
        text = print_ir(result.module)
        if timing:
            click.echo(record_table(records), err=True, nl=False)
    if out is None:
        click.echo(text, nl=False)
    else:
        from fleet.core.files import write_atomically

        write_atomically(out, text.encode())
    return 0


def _read(file: str) -> str:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as f:
                data = f.read(MAX_BYTES + 1)
    except OSError as error:
        raise FleetError(f"cannot be read ({error.strerror or error})", where=file) from None
    if len(data) > MAX_BYTES:
        raise FleetError(f"larger than {MAX_BYTES} bytes", where=file, hint="weights do not stand in the IR")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FleetError(f"is not text (byte {error.start})", where=file) from None


def _arrays(path: Path | None) -> dict[str, np.ndarray]:
    if path is None:
        return {}
    from fleet.cosim.models.data import load_arrays

    return load_arrays(path, what="weights")


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the console script `fleet-opt`; returns the exit code."""
    return run_command(command, "fleet-opt", arguments)


if __name__ == "__main__":
    sys.exit(main())
