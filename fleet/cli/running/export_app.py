"""`fleet export-app`: writes a model as a standalone program, in C and compiled kernels."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.cli.model import data_options, onnx_options

_EPILOG = """\b
Examples:
  fleet export-app examples/digits/model.py:forward --weights examples/digits/weights.npz -o digits-app
  make -C digits-app && digits-app/model x=images.npy -o results
  fleet export-app examples/add_sample.py --machine riscv64 -o add-app
  make -C add-app CC=riscv64-linux-gnu-gcc LDFLAGS=-static && qemu-riscv64 add-app/model

The folder holds bytecode, kernels as an object file, the C sources of fleet-vm and a Makefile; nothing of fleet or Python is needed
to build or run the program. Inputs are .npy files; results are printed, or written as .npy files with -o.
"""


@click.command(name="export-app", epilog=_EPILOG)
@click.argument("model")
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="The folder, which is made.")
@click.option(
    "--machine", type=click.Choice(["x86-64", "aarch64", "riscv64", "native"]),
    help="Machine of the kernels (x86-64 with AVX2; native: just this processor). Default: this machine's kind.",
)  # fmt: skip
@onnx_options
@data_options
def command(
    model: str, out: Path, machine: str | None, weights: Path | None, input_path: Path | None, seed: int, batch: int | None
) -> int:
    """Write MODEL with its weights as sources of a standalone program, for a fixed size of its inputs."""
    from fleet.cosim.models.loaded import load_model
    from fleet.targets.cvm.app import export_app, machine_named
    from fleet.targets.riscv.prepare import prepared

    loaded = load_model(model, weights, input_path, seed, batch)
    if loaded.banner:
        click.secho(f"NOTE: {loaded.banner}", fg="yellow", bold=True, err=True)
    files = export_app(prepared(loaded.program, "riscv"), out, machine_named(machine))
    click.echo(f"{len(files)} files in {out}; `make -C {out}` builds {out / 'model'}")
    for argument in loaded.program.arguments:
        if argument.kind == "input":
            click.echo(f"  {argument.name}=FILE.npy: {argument.dtype}{list(argument.shape)}")
    return 0
