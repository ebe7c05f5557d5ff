"""`fleet compile`: one stage of a model's way, printed or written to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.cli.model import accel_options, data_options, lowering
from fleet.cosim.files import write_atomically
from fleet.cosim.model import load_model
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.ir.program import Program
    from fleet.targets.accel.program import AccelProgram

STAGES = ("ir", "vm", "bytecode", "accel-regs", "accel-aux", "riscv-asm")

_EPILOG = """\b
Examples:
  fleet compile --emit bytecode examples/add_sample.py
  fleet compile --emit ir examples/digits/model.py:forward
  fleet compile --emit accel-regs examples/digits/model.py:forward --weights examples/digits/weights.npz --device hbm_small
  fleet compile --emit bytecode examples/add_sample.py -o add.fbc && fleet run add.fbc
  fleet compile --emit riscv-asm examples/digits/model.py:forward -o digits.elf

A name that ends in .fbc (bytecode) or .elf (riscv-asm) gets the file that `fleet run` or an emulator takes, one that ends in
.stream (accel-regs, accel-aux) the stream with its memory images, in .bin (accel-aux) the binary alone; any other gets text.
"""


def _text(stage: str, program: Program, device: str | None, options: Mapping[str, Any]) -> str:
    if stage == "ir":
        from fleet.ir.text import print_ir

        return print_ir(program.module)
    if stage == "vm":
        from fleet.targets.bytecode.convert import ByteCodeConverter
        from fleet.targets.bytecode.text import print_vm

        return print_vm(ByteCodeConverter(program).convert())
    if stage == "bytecode":
        from fleet.targets.bytecode.convert import ByteCodeConverter
        from fleet.targets.bytecode.listing import disassemble

        module = ByteCodeConverter(program).convert()
        return f"{module}\n\n{disassemble(module)}"
    if stage == "riscv-asm":
        from fleet.targets.riscv.compile import compile_riscv

        return compile_riscv(program).asm()
    from fleet.targets.accel.listing import aux_listing, regs_listing

    return (aux_listing if stage == "accel-aux" else regs_listing)(_accel(stage, program, device, options))


def _accel(stage: str, program: Program, device: str | None, options: Mapping[str, Any]) -> AccelProgram:
    from fleet.isa.registry import find_device
    from fleet.targets.accel.compile import compile_accel

    if device is None:
        raise FleetError(f"--emit {stage} needs a device", hint="name one with --device, for instance hbm_small")
    instruction_set, chosen = find_device(device)
    return compile_accel(program, instruction_set, chosen, {**options, "issue": "aux"} if stage == "accel-aux" else options)


def _binary(stage: str, program: Program, device: str | None, options: Mapping[str, Any], path: Path) -> bool:
    """Writes the stage's own file format where the name asks for it; False where it does not."""
    if stage == "bytecode" and path.suffix == ".fbc":
        from fleet.targets.bytecode.convert import ByteCodeConverter

        ByteCodeConverter(program).convert().save(path)
        return True
    if stage in ("accel-regs", "accel-aux") and path.suffix == ".stream":
        from fleet.targets.accel.container import save, stream_file

        save(stream_file(_accel(stage, program, device, options)), path)
        return True
    if stage == "accel-aux" and path.suffix == ".bin":
        from fleet.targets.accel.container import stream_file

        write_atomically(path, stream_file(_accel(stage, program, device, options)).binary)
        return True
    if stage == "riscv-asm" and path.suffix == ".elf":
        from fleet.targets.riscv.compile import compile_riscv

        compile_riscv(program).save(path)
        return True
    return False


@click.command(name="compile", epilog=_EPILOG)
@click.argument("model")
@click.option("--emit", "stage", type=click.Choice(STAGES), default="ir", show_default=True, help="What to print.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@data_options
@click.option("--device", help="Device for accel-regs and accel-aux.")
@click.option("--group", type=click.Choice(["32", "64", "128"]), help="Inputs that share one weight scale (device's default).")
@accel_options
def command(
    model: str,
    stage: str,
    out: Path | None,
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
    device: str | None,
    group: str | None,
    issue: str,
    load: str,
) -> int:
    """Compile MODEL (path.py:function, or path.py for a script) and print a stage."""
    loaded = load_model(model, weights, input_path, seed, batch)
    if loaded.banner:
        click.echo(f"fleet: {loaded.banner}", err=True)
    options = lowering(group, issue, load)
    if out is not None and _binary(stage, loaded.program, device, options, out):
        return 0
    text = _text(stage, loaded.program, device, options)
    if out is None:
        click.echo(text, nl=False)
        return 0
    write_atomically(out, text.encode(errors="replace"))
    return 0
