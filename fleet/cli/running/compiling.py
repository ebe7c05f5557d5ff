"""The work of the compile commands after parsing: show a stage, dump, run, check."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from fleet.cli.model import say_widened
from fleet.cli.request import own_request
from fleet.compiler import Compiled, compile_model, engine_of, optimised, source_stage
from fleet.errors import FleetError
from fleet.ir.lowering_options import USUAL, LoweringOptions
from fleet.ir.schedule import MatmulChoice

if TYPE_CHECKING:
    import numpy as np

    from fleet.ir.program import Program
    from fleet.transforms.passes import Pass
    from fleet.transforms.pipeline import PassHooks

_Files: TypeAlias = Sequence[tuple[str, str]]
"""Pairs of a stage and a file's name."""
_DUMPED: _Files = (("token", "token.txt"), ("ast", "ast.txt"), ("ir", "ir.mlir"))
_DUMPED_LATER: _Files = (("mlir", "mlir.mlir"), ("vm", "vm.txt"), ("bytecode", "bytecode.txt"), ("bytecode", "bytecode.fbc"))
_DUMPED_OF: Mapping[str, _Files] = {
    "llvm-cpu": (("loops", "loops.mlir"), ("llvm", "llvm.ll")),
    "riscv": (("loops", "loops.mlir"), ("llvm", "llvm.ll"), ("riscv-asm", "riscv.s"), ("riscv-asm", "riscv.elf")),
    "opencl": (("loops", "loops.mlir"), ("opencl", "opencl.cl")),
    "cuda": (("loops", "loops.mlir"), ("cuda", "cuda.cu")),
}
"""Engine of a back end -> the stages on its own way."""


@dataclass(frozen=True)
class CompileRequest:
    """A request of the command line.

    Attributes:
        model: "path.py:function", "path.py", or a file.
        stage: printed, or written to `out`; None for nothing.
        module_only: print only the bytecode module, without the listing, as the seeds' command line does.
        weights, input_path, seed, batch, dynamic: as `load_model`.
        device, lowering: for the accelerator's stages.
        pipeline: passes that run first; None for none.
        verify_each: verify the IR after every pass.
        backend: target backend.
        runner: "vm" (the backend's engine) or "interpreter" (of the source's syntax tree).
        run: whether to run the program.
        validation: whether to compare the run with CPython's.
        out: file for the stage; None: standard output.
        dumps: folder for every stage of the compilation.
        before, after: write the IR before and after every pass, to `dumps` or standard error.
        external_data: of an ONNX model, store the weights in their own file.
        matmul: what computes matrix products in the stage cuda.
    """

    model: str
    stage: str | None = None
    module_only: bool = False
    weights: Path | None = None
    input_path: Path | None = None
    seed: int = 0
    batch: int | None = None
    dynamic: Collection[str] | bool = ()
    device: str | None = None
    lowering: LoweringOptions = USUAL
    pipeline: str | None = None
    verify_each: bool = False
    backend: str = "python"
    runner: str = "vm"
    run: bool = False
    validation: bool = False
    out: Path | None = None
    dumps: Path | None = None
    before: bool = False
    after: bool = False
    external_data: bool = False
    matmul: MatmulChoice = "exact"


def execute(request: CompileRequest) -> int:
    """Carry out the request. Returns the exit code: 1 if a validation failed, else 0. Raises FleetError."""
    engine = _engine(request)
    if request.stage in ("token", "ast") and request.dumps is None and not request.run and not request.validation:
        show(source_stage(request.stage, request.model), request.out)
        return 0
    if request.runner == "interpreter" and request.run and request.stage is None and request.model.endswith(".py"):
        return _interpret(request.model, {}, ())  # the compiler might refuse what the interpreter accepts
    compiled = compile_model(
        request.model,
        weights=request.weights,
        inputs=request.input_path,
        seed=request.seed,
        batch=request.batch,
        dynamic=request.dynamic,
        matmul=request.matmul,
    )
    say_widened(compiled.program)
    if compiled.banner and (request.run or request.stage not in ("token", "ast")):
        click.echo(f"fleet: {compiled.banner}", err=True)
    if request.dumps is not None:
        _dump(compiled, _DUMPED, request.dumps)
    pipeline = request.pipeline or ("vm" if request.before or request.after else None)
    if pipeline is not None:
        compiled = optimised(compiled, pipeline, _hooks(request, compiled.program))
        if request.dumps is not None:
            _dump(compiled, (("ir", f"ir-{pipeline}.mlir"),), request.dumps)
    if request.dumps is not None:
        _dump(compiled, (*_DUMPED_LATER, *_DUMPED_OF.get(engine, ())), request.dumps)
    if request.stage is not None:
        _stage(request, request.stage, compiled)
    elif not request.run and not request.validation:
        _compile_only(engine, compiled)
    if request.validation:
        return _validate(request, engine, compiled)
    if request.run and request.runner == "interpreter":
        given = {**compiled.program.weights, **compiled.inputs}
        return _interpret(request.model, given, compiled.program.outputs)
    if request.run:
        from fleet.cli.outputs import print_outputs

        trace = compiled.run(engine, seed=request.seed, keep_tensors=False)
        click.echo(str(trace.meta.get("stdout", "")), nl=False)
        print_outputs(trace.outputs)
    return 0


def _interpret(model: str, arrays: Mapping[str, np.ndarray], names: Sequence[str]) -> int:
    """Run the source in the AST interpreter; outputs get the compiler's names."""
    import numpy as np

    from fleet.cli.outputs import print_outputs
    from fleet.frontend.interpreter import run
    from fleet.frontend.source import signature

    declared = [] if model.endswith(".py") else [a.name for a in signature(model)]
    done = run(model, {name: arrays[name] for name in declared if name in arrays})
    click.echo(done.printed, nl=False)
    returned = done.returned if isinstance(done.returned, tuple) else (done.returned,)
    print_outputs({name: np.asarray(value) for name, value in zip(names, returned, strict=False)})
    return 0


def _engine(request: CompileRequest) -> str:
    engine = engine_of(request.backend)
    if request.runner == "vm":
        return engine
    if engine != "vm":
        raise FleetError(f"an interpreter for {request.backend}", where="--runner", hint="leave --target-backend or --runner out")
    return "interp"


def _stage(request: CompileRequest, stage: str, compiled: Compiled) -> None:
    if request.out is not None and not request.module_only:
        missing = compiled.write(
            stage, request.out, device=request.device, lowering=request.lowering, external_data=request.external_data
        )  # fmt: skip
        for function, why in missing.items():
            click.echo(f"fleet: {function} of {request.out} is yours to define: {why}", err=True)
        return
    if request.module_only and stage == "bytecode":
        if request.out is not None and request.out.suffix == ".fbc":
            compiled.write(stage, request.out)
            return
        text = f"{compiled.bytecode()}\n"
    else:
        text = compiled.text(stage, device=request.device, lowering=request.lowering)
    show(text, request.out)


def show(text: str, out: Path | None) -> None:
    """Print text, or write it to a file."""
    if out is None:
        click.echo(text, nl=False)
        return
    from fleet.core.files import write_atomically

    write_atomically(out, text.encode(errors="replace"))


def _compile_only(engine: str, compiled: Compiled) -> None:
    """Generate the code of a backend, to report everything that is wrong with the model for it."""
    if engine == "llvm-cpu":
        from fleet.targets.host.compile import compile_host

        compile_host(compiled.program)
    elif engine == "riscv":
        from fleet.targets.riscv.compile import compile_riscv

        compile_riscv(compiled.program)
    elif engine in ("opencl", "cuda"):
        compiled.text(engine)
    else:
        compiled.bytecode()


def _dump(compiled: Compiled, files: _Files, folder: Path) -> None:
    for stage, name in files:
        try:
            compiled.write(stage, folder / name)
        except FleetError as error:
            if not (folder / name).parent.is_dir():
                raise
            click.echo(f"fleet: {name} is not written: {error}", err=True)


def _hooks(request: CompileRequest, program: Program) -> PassHooks:
    from fleet.ir.text import print_ir
    from fleet.transforms.pipeline import PassHooks

    if request.dumps is not None and (request.before or request.after):
        folder = request.dumps / "passes"
        return PassHooks(request.verify_each, folder, request.before, request.after)
    last = [program]

    def show(one: Pass, now: Program) -> None:
        for wanted, when, what in ((request.before, "before", last[0]), (request.after, "after", now)):
            if wanted:
                click.echo(f"// IR {when} {one.name}\n{print_ir(what.module)}", err=True, nl=False)
        last[0] = now

    return PassHooks(request.verify_each, after=show if request.before or request.after else None)


def _validate(request: CompileRequest, engine: str, compiled: Compiled) -> int:
    """Compare the run with CPython's on the same file, every operation within its derived bound."""
    from fleet.cli.running.cosim import TablePrinter
    from fleet.cli.table import print_head, print_verdict
    from fleet.cosim.campaign import cosim
    from fleet.cosim.models.loaded import RANDOM_BANNER
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.what_ran import DataProvenance

    names = list(dict.fromkeys(["vm", "cpython", engine]))
    watch = TablePrinter(quiet=False)
    data = DataProvenance("random" if RANDOM_BANNER in (compiled.banner or "") else "real", 1, None, None, compiled.banner)
    options = CosimOptions(request.model, data, seed=request.seed, request=own_request(), on_engine=watch.engine)
    print_head()
    result = cosim(compiled.program, compiled.inputs, None, names, options)
    watch.done()
    print_verdict(result)
    return result.exit_code
