"""`fleet compile`: prints one stage of a model's compilation or writes it to a file; on request, runs the result."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.cli.model import SPARSE, accel_options, data_options, lowering, onnx_options
from fleet.cli.running.compiling import CompileRequest, execute
from fleet.compiler import BACKENDS, STAGES
from fleet.errors import FleetError
from fleet.ir.schedule import MATMULS, MatmulChoice, check_matmul

_EPILOG = """\b
Examples:
  fleet compile --emit bytecode examples/add_sample.py
  fleet compile --emit mlir --opt examples/digits/model.py:forward
  fleet compile --emit bytecode --opt --vm examples/add_sample.py
  fleet compile --target-backend llvm-cpu examples/digits/model.py:forward --weights examples/digits/weights.npz
  fleet compile --validation examples/add_sample.py
  fleet compile --emit accel-regs examples/digits/model.py:forward --weights examples/digits/weights.npz --device hbm_small
  fleet compile --emit memory-map examples/digits/model.py:forward --weights examples/digits/weights.npz --device hbm_small
  fleet compile --emit hpp tiny --device hbm_small -o tiny.h
  fleet compile --emit bytecode examples/add_sample.py -o add.fbc && fleet run add.fbc
  fleet compile --emit bytecode --dynamic N examples/digits/model.py:forward --weights examples/digits/weights.npz -o digits.fbc
  fleet compile --emit onnx examples/digits/model.py:forward --weights examples/digits/weights.npz -o digits.onnx
  fleet compile --emit riscv-asm examples/digits/model.py:forward -o digits.elf
  fleet compile --emit cuda examples/digits/model.py:forward -o digits.cu
  fleet compile --emit cuda --matmul bfloat16 examples/digits/model.py:forward

A name that ends in .fbc (bytecode), .onnx (onnx) or .elf (riscv-asm) gets the file that `fleet run`, onnxruntime or an emulator
takes, one that ends in .stream (accel-regs, accel-aux) the stream with its memory images, in .bin (accel-aux) the binary alone, in
.svg (memory-map) a picture of DDR; any other gets text. `--emit hpp -o NAME.h` also writes NAME.params/ and NAME_host.o, from
which `fleet host build` makes a program.
"""

_PIPELINES = ("vm", "raise", "riscv", "accel")


@click.command(name="compile", epilog=_EPILOG)
@click.argument("model")
@click.option("--emit", "stage", type=click.Choice(STAGES), help="The form to print; ir unless the model runs.")
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@onnx_options
@data_options
@click.option("--dynamic", multiple=True, help="A declared dimension that stays unknown until the run; `all`: every one.")
@click.option("--opt", is_flag=True, help="Run the passes that keep every bit (the pipeline `vm`).")
@click.option("--pipeline", type=click.Choice(_PIPELINES), help="Run this pipeline's passes; `fleet help passes` describes them.")
@click.option("--verify-each", is_flag=True, help="Verify the IR after every pass.")
@click.option("--vm", is_flag=True, help="Run it, on the NumPy VM unless a backend is named.")
@click.option("--target-backend", "backend", type=click.Choice(list(BACKENDS)), help="Compile for this and run it there.")
@click.option("--runner", type=click.Choice(["vm", "interpreter"]), help="Run what was compiled, or walk the syntax tree.")
@click.option("--only-compile", is_flag=True, help="Compile for the backend, run nothing.")
@click.option("--validation", is_flag=True, help="Run it and compare every operation with CPython on the same file.")
@click.option(
    "--dump-intermediates-to", "dumps", type=click.Path(path_type=Path, file_okay=False), help="Write every stage on the way here."
)
@click.option("--dump-ir-before-pass", "before", is_flag=True, help="Show the IR before every pass (implies --opt).")
@click.option("--dump-ir-after-pass", "after", is_flag=True, help="Show the IR after every pass (implies --opt).")
@click.option("--external-data", is_flag=True, help="Weights of an ONNX model in a file beside it (always so from 1 GiB on).")
@click.option("--matmul", type=click.Choice(MATMULS), default="exact", help="What computes products in the stage cuda.")
@click.option("--device", help="Device for accel-regs, accel-aux, memory-map and hpp.")
@click.option("--group", type=click.Choice(["32", "64", "128"]), help="Inputs that share one weight scale (device's default).")
@SPARSE
@accel_options
def command(
    model: str,
    stage: str | None,
    out: Path | None,
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
    dynamic: tuple[str, ...],
    opt: bool,
    pipeline: str | None,
    verify_each: bool,
    vm: bool,
    backend: str | None,
    runner: str | None,
    only_compile: bool,
    validation: bool,
    dumps: Path | None,
    before: bool,
    after: bool,
    external_data: bool,
    matmul: MatmulChoice,
    device: str | None,
    group: str | None,
    sparse: str | None,
    issue: str,
    load: str,
) -> int:
    """Compile MODEL (path.py:function, path.py for a script, an ONNX file); print a stage, run it, check it.

    Of a language model (as for `fleet generate`) the accelerator's stages are shown, for a step of --batch tokens.
    """
    if only_compile and (vm or validation):
        raise FleetError("nothing runs", where="--only-compile", hint="leave out --vm and --validation, or --only-compile")
    run = not only_compile and (vm or backend is not None or runner is not None)
    if stage is None and not (run or validation or only_compile or dumps):
        stage = "ir"
    if external_data and (stage != "onnx" or out is None or out.suffix != ".onnx"):
        raise FleetError("only an ONNX file has external data", where="--external-data", hint="write one: --emit onnx -o NAME.onnx")
    if out is not None and stage is None:
        raise FleetError("no stage is named to be written", where="-o", hint="name one with --emit")
    check_matmul(matmul, "cuda" if backend == "cuda" else stage or "ir", "--matmul")
    request = CompileRequest(
        model=model, stage=stage, weights=weights, input_path=input_path, seed=seed, batch=batch, device=device,
        dynamic="all" in dynamic or dynamic,
        lowering=lowering(group, issue, load, sparse=sparse), pipeline=pipeline or ("vm" if opt else None), verify_each=verify_each,
        backend=backend or "python", runner=runner or "vm", run=run, validation=validation, out=out, dumps=dumps,
        before=before, after=after, external_data=external_data, matmul=matmul,
    )  # fmt: skip
    from fleet.llm.load import is_language_model

    if is_language_model(model):
        from fleet.cli.running.compile_language_model import execute_language_model

        return execute_language_model(request)
    return execute(request)
