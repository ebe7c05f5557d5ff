"""The compiler as a Python API: what `fleet compile` does, as functions.

Example:
    >>> import fleet
    >>> compiled = fleet.compile("examples/add_sample.py")
    >>> print(compiled.text("bytecode"))
    >>> compiled.run("llvm-cpu").meta["stdout"]
    '43\\n'
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fleet.errors import FleetError, SetupError
from fleet.ir.schedule import USUAL_SCHEDULE, MatmulChoice, Schedule, check_matmul

if TYPE_CHECKING:
    from fleet.core.codec import Json
    from fleet.engines.trace import Trace
    from fleet.ir.lowering_options import LoweringOptions
    from fleet.ir.program import Program
    from fleet.targets.accel.driver import HostSource
    from fleet.targets.accel.program import AccelProgram
    from fleet.targets.bytecode.module import ByteCodeModule
    from fleet.targets.onnx.export import OnnxExport
    from fleet.transforms.pipeline import PassHooks, PassRecord

STAGES: tuple[str, ...] = (
    *("token", "ast", "ast-dump", "visits", "ir", "dataflow", "placed", "mlir", "vm", "bytecode", "onnx", "loops", "llvm"),
    *("riscv-asm", "opencl", "cuda"),
    *("accel-regs", "accel-aux", "memory-map", "hpp"),
)
"""Stages that a compiler can show, in the order of compilation."""

SOURCE_STAGES: tuple[str, ...] = STAGES[:4]
"""Those of the source's text: tokens, the syntax tree, the line of `ast.dump`, the nodes in the order of a visitor."""

BACKENDS: Mapping[str, str | None] = {
    "python": "vm", "llvm-cpu": "llvm-cpu", "riscv": "riscv", "opencl": "opencl", "cuda": "cuda", "sycl": None, "llvm-gpu": None,
}  # fmt: skip
"""Target backend of the seeds -> the engine that runs it; None if fleet does not have it."""


_ANY_SIZE = frozenset({"bytecode", "ir"})
"""Targets that run programs with unknown dimensions."""


def engine_of(backend: str) -> str:
    """Return the engine of a target backend. Raises FleetError if fleet does not have it."""
    engine = BACKENDS.get(backend)
    if engine is None:
        have = ", ".join(name for name, there in BACKENDS.items() if there)
        raise FleetError(f"no code is made for {backend}", where="--target-backend", hint=f"choose among {have}")
    return engine


def source_stage(stage: str, spec: str) -> str:
    """Return one of `SOURCE_STAGES` of a model's file. Raises SourceError."""
    from fleet.frontend.source import is_mlir, is_onnx, source_text

    if is_onnx(spec) or is_mlir(spec):
        hint = f"stages of every model are {', '.join(s for s in STAGES if s not in SOURCE_STAGES)}"
        raise FleetError(f"an {'ONNX' if is_onnx(spec) else 'MLIR'} model has no {stage}", where=spec, hint=hint)

    path = spec if spec.endswith(".py") else spec.rpartition(":")[0] or spec
    return text_stage(stage, source_text(path), path)


def text_stage(stage: str, text: str, name: str) -> str:
    """Return one of `SOURCE_STAGES` of a source; `name` is its file's, for messages. Raises SourceError."""
    from fleet.frontend.dump import python_tree, tokens, tree, visits

    return {"token": tokens, "ast": tree, "ast-dump": python_tree, "visits": visits}[stage](text, name)


@dataclass(frozen=True)
class Compiled:
    """A compiled model.

    Attributes:
        spec: "path.py:function" or "path.py", as given.
        program: its IR with weights, after the requested passes.
        inputs: arrays of one run, by name (drawn if none were given).
        banner: what a reader must know first (drawn data), or None.
        records: the effect of each pass.
    """

    spec: str
    program: Program
    inputs: Mapping[str, np.ndarray]
    banner: str | None = None
    records: Sequence[PassRecord] = field(default=())

    def bytecode(self) -> ByteCodeModule:
        """Return the bytecode module; `VM(module).run(inputs)` runs it."""
        from fleet.targets.bytecode.convert import ByteCodeConverter

        return ByteCodeConverter(self.program).convert()

    def text(self, stage: str, *, device: str | None = None, lowering: LoweringOptions | Mapping[str, Json] | None = None) -> str:
        """Return a stage as text.

        Args:
            stage: one of `STAGES`.
            device, lowering: for accel-regs, accel-aux and memory-map, as in `RunOptions`.

        Raises:
            DeviceError: the target cannot hold the model.
            FleetError: an unknown stage, or one that needs a device.
        """
        if stage not in STAGES:
            raise FleetError(f"no stage is called {stage}", hint=f"stages are {', '.join(STAGES)}")
        if stage in SOURCE_STAGES:
            return source_stage(stage, self.spec)
        if stage == "hpp":
            return self._host_source("model", device, lowering).header
        if stage in ("accel-regs", "accel-aux", "memory-map"):
            from fleet.targets.accel.emit import stream_text

            return stream_text(stage, self._accel(stage, device, lowering).stream)
        return _TEXTS[stage](self)

    def write(
        self,
        stage: str,
        path: Path,
        *,
        device: str | None = None,
        lowering: LoweringOptions | Mapping[str, Json] | None = None,
        external_data: bool = False,
    ) -> Mapping[str, str]:
        """Write a stage to a file: in its own format if its suffix has one (.fbc, .onnx, .elf, .stream, .bin, .svg), else as text.

        A header (hpp) comes with the files of its parameters and an object with the host's computations; see `HostSource.files`.

        A .mlir file comes with all weights in a .npz beside it if the source makes some of them itself.

        external_data: of an ONNX model, whether its weights go into "NAME.data" beside it; always so from 1 GiB on.

        Returns:
            Function -> reason, for the functions that a header declares without a definition; empty for other files.

        Raises as `text` does, and FleetError if the file cannot be written.
        """
        from fleet.core.files import write_atomically

        if stage == "bytecode" and path.suffix == ".fbc":
            self.bytecode().save(path)
        elif stage == "onnx" and path.suffix == ".onnx":
            from fleet.targets.onnx.write import save_onnx

            save_onnx(self.onnx(), path, external=external_data)
        elif stage == "riscv-asm" and path.suffix == ".elf":
            from fleet.targets.riscv.compile import compile_riscv
            from fleet.targets.riscv.executable import save_executable
            from fleet.targets.riscv.prepare import prepared

            save_executable(compile_riscv(prepared(self.program), keep_tensors=False), path)
        elif stage in ("accel-regs", "accel-aux"):
            from fleet.targets.accel.emit import write_stream

            write_stream(stage, path, self._accel(stage, device, lowering).stream)
        elif stage == "memory-map" and path.suffix == ".svg":
            from fleet.report.pictures.address_map import picture_file

            write_atomically(path, picture_file(self._accel(stage, device, lowering).address_map, "ddr").encode())
        elif stage == "hpp":
            source = self._host_source(path.stem, device, lowering)
            for file, data in source.files(path).items():
                file.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(file, data)
            return source.kernels[1]
        elif stage in ("mlir", "ir") and path.suffix == ".mlir":
            write_atomically(path, self.text(stage).encode())
            if self._made():
                buffer = BytesIO()
                np.savez(buffer, **self.program.weights)  # pyright: ignore[reportArgumentType]
                write_atomically(path.with_suffix(".npz"), buffer.getvalue())
        else:
            write_atomically(path, self.text(stage, device=device, lowering=lowering).encode(errors="replace"))
        return {}

    def _made(self) -> bool:
        """Return whether the source makes weights of the program itself, which nobody else has."""
        from fleet.frontend.source import signature

        try:
            known = {a.name for a in signature(self.spec)}
        except FleetError:  # a function of a running program, or a stored model
            known = set[str]()
        return any(a.kind == "weight" and a.name not in known for a in self.program.arguments)

    def run(self, engine: str = "vm", inputs: Mapping[str, np.ndarray] | None = None, **options: Any) -> Trace:
        """Run on an engine. options: the fields of `RunOptions`. Raises what the engine raises, including SetupError.

        If the engine needs all sizes, unknown dimensions get those of the inputs.
        """
        from fleet.engines.base import RunOptions
        from fleet.engines.registry import find_engine
        from fleet.ir.lowering_options import LoweringOptions
        from fleet.transforms.simplify.infer_shapes import bound

        chosen = find_engine(engine).engine
        missing = chosen.available()
        if missing:
            raise SetupError(missing, where=f"engine {engine}")
        given = self.inputs if inputs is None else inputs
        program = self.program if chosen.target in _ANY_SIZE else bound(self.program, given)
        if "lowering" in options:
            options["lowering"] = LoweringOptions.of(options["lowering"])
        return chosen.run(program, given, RunOptions(**options))

    def onnx(self) -> OnnxExport:
        """Return the program as ONNX model. Raises SetupError without the package onnx, DeviceError if ONNX cannot express it."""
        from fleet.targets.onnx.write import needs

        needs("onnx")
        from fleet.targets.onnx.export import export_onnx

        return export_onnx(self.program)

    def _host_source(
        self, name: str, device: str | None, lowering: LoweringOptions | Mapping[str, Json] | None = None
    ) -> HostSource:
        """Return the C++ host program of the model, with `name` as its header's namespace; raises as `_accel` does."""
        from fleet.targets.accel.driver import host_source

        return host_source(self._accel("hpp", device, lowering), name)

    def _accel(self, stage: str, device: str | None, lowering: LoweringOptions | Mapping[str, Json] | None) -> AccelProgram:
        """Return the stream for an accelerator stage. Raises FleetError without a device, DeviceError as the compiler does."""
        from fleet.ir.lowering_options import LoweringOptions
        from fleet.isa.registry import find_device
        from fleet.targets.accel.compile import compile_accel

        if device is None:
            raise FleetError(f"--emit {stage} needs a device", hint="name one with --device, for instance hbm_small")
        instruction_set, chosen = find_device(device)
        options = LoweringOptions.of(lowering)
        return compile_accel(
            self.program, instruction_set, chosen, replace(options, issue="aux") if stage == "accel-aux" else options
        )


def compile_model(
    spec: str,
    *,
    weights: Path | str | Mapping[str, np.ndarray] | None = None,
    inputs: Path | str | Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    batch: int | None = None,
    dynamic: Collection[str] | bool = (),
    pipeline: str | None = None,
    hooks: PassHooks | None = None,
    schedule: Schedule = USUAL_SCHEDULE,
    matmul: MatmulChoice = "exact",
) -> Compiled:
    """Compile a model.

    Args:
        spec: "path.py:function", "path.py" for a script, or "path.onnx".
        weights, inputs: .npz files or arrays by argument name. With files, or with neither, missing arrays are drawn with `seed`;
            arrays must be complete.
        seed: for drawn arrays.
        batch: rows of drawn inputs, or only the first rows of given ones.
        dynamic: names of declared dimensions that stay unknown until a run (True: all), see `fleet.frontend.source.load`.
        pipeline: passes to run ("vm" keeps every bit; see `fleet.transforms.pipeline.PIPELINES`); None for none.
        hooks: what to do around every pass (dumps, verification).
        schedule: how the loops of kernels run, on every engine that has such loops; these refuse one that does not fit.
        matmul: what computes matrix products on engine cuda (`fleet.ir.schedule.MatmulChoice`); opencl has "exact" alone.

    Raises:
        SourceError, ModelError: as `fleet.frontend.source.load`.
    """
    compiled = _loaded(spec, weights, inputs, seed, batch, dynamic)
    check_matmul(matmul, "cuda", spec)
    compiled = replace(compiled, program=replace(compiled.program, schedule=schedule, matmul=matmul))
    return compiled if pipeline is None else optimised(compiled, pipeline, hooks)


def optimised(compiled: Compiled, pipeline: str, hooks: PassHooks | None = None) -> Compiled:
    """Return the model after a pipeline's passes. Raises FleetError for an unknown pipeline."""
    from fleet.transforms.pipeline import pipeline as find_pipeline

    program, records = find_pipeline(pipeline).run(compiled.program, hooks)
    return replace(compiled, program=program, records=records)


def _loaded(spec: str, weights: Any, inputs: Any, seed: int, batch: int | None, dynamic: Collection[str] | bool) -> Compiled:
    if isinstance(weights, Mapping) or isinstance(inputs, Mapping):
        from fleet.cosim.models.data import load_arrays
        from fleet.frontend.source import load

        def arrays(given: Any, what: str) -> dict[str, np.ndarray]:
            if given is None:
                return {}
            return dict(given) if isinstance(given, Mapping) else load_arrays(Path(given), what=what)

        bound, fed = arrays(weights, "weights"), arrays(inputs, "input")
        program = load(spec, bound, fed, seed=seed, dynamic=dynamic)
        return Compiled(spec, program, {a.name: np.asarray(fed[a.name], order="C") for a in program.inputs if a.name in fed})
    from fleet.cosim.models.loaded import load_model

    model = load_model(spec, Path(weights) if weights else None, Path(inputs) if inputs else None, seed, batch, dynamic)
    return Compiled(spec, model.program, model.inputs, model.banner)


def _ir(compiled: Compiled) -> str:
    from fleet.ir.text import print_ir

    return print_ir(compiled.program.module)


def _dataflow(compiled: Compiled) -> str:
    from fleet.compiler.dataflow import dataflow_text

    return dataflow_text(compiled.program)


def _placed(compiled: Compiled) -> str:
    from fleet.transforms.sections import sections_of

    return sections_of(compiled.program).text()


def _mlir(compiled: Compiled) -> str:
    from fleet.targets.mlir.export import export_mlir

    return export_mlir(compiled.program).text()


def _bytecode(compiled: Compiled) -> str:
    from fleet.targets.bytecode.listing import disassemble

    module = compiled.bytecode()
    return f"{module}\n\n{disassemble(module)}"


def _vm(compiled: Compiled) -> str:
    from fleet.targets.bytecode.text import print_vm

    return print_vm(compiled.bytecode())


def _onnx(compiled: Compiled) -> str:
    export = compiled.onnx()
    from fleet.targets.onnx.write import model_text

    return model_text(export)


def _loops(compiled: Compiled) -> str:
    from fleet.ir.text import print_ir
    from fleet.targets.riscv.codegen import in_kernels
    from fleet.targets.riscv.prepare import prepared
    from fleet.transforms.schedule_loops import ANY_CHOICE

    return print_ir(in_kernels(prepared(compiled.program), keep=False, choices=ANY_CHOICE).module)


def _llvm(compiled: Compiled) -> str:
    from fleet.targets.riscv.codegen import generate
    from fleet.targets.riscv.prepare import prepared

    return generate(prepared(compiled.program), keep=False).llvm_ir


def _riscv(compiled: Compiled) -> str:
    from fleet.targets.riscv.compile import compile_riscv
    from fleet.targets.riscv.prepare import prepared

    return compile_riscv(prepared(compiled.program)).asm()


def _kernels(compiled: Compiled, surface: str) -> str:
    from fleet.targets.gpu.module import generate_gpu
    from fleet.targets.gpu.surface import SURFACES
    from fleet.targets.riscv.prepare import prepared_for_cuda

    check_matmul(compiled.program.matmul, surface, compiled.program.source_name)
    return generate_gpu(prepared_for_cuda(compiled.program), SURFACES[surface], keep=False).text


_TEXTS: Mapping[str, Callable[[Compiled], str]] = {
    "ir": _ir, "dataflow": _dataflow, "placed": _placed, "mlir": _mlir, "vm": _vm, "bytecode": _bytecode, "onnx": _onnx,
    "loops": _loops, "llvm": _llvm, "riscv-asm": _riscv,
    "opencl": lambda compiled: _kernels(compiled, "opencl"), "cuda": lambda compiled: _kernels(compiled, "cuda"),
}  # fmt: skip
