"""Engine `iree`: the export to upstream dialects, compiled and run by IREE. An independent compiler as an oracle.

It uses none of fleet's code generation: IREE chooses tiles, vectors and the order of sums.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, ModelError
from fleet.ir.program import Program
from fleet.ir.types import is_tensor

_FLAGS = ("--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false", "--iree-input-demote-i64-to-i32=false")
"""Code for this processor, with the program's own dtypes: by default IREE would compute float64 in float32."""


class IreeEngine:
    """Engine `iree`."""

    name = "iree"
    target = "mlir"

    def available(self) -> str | None:
        """Return None if IREE's compiler and runtime are installed, else how to get them."""
        if find_spec("iree") and find_spec("iree.compiler") and find_spec("iree.runtime"):
            return None
        return "the packages iree-base-compiler and iree-base-runtime are not installed; install fleet-cosim[iree]"

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile, run, return a complete trace.

        Raises DeviceError for an operation that the export or IREE lacks, ModelError for unfit inputs.
        """
        from fleet.targets.mlir.export import export_mlir
        from fleet.targets.mlir.run import MlirProgram

        compiled = MlirProgram(program, export_mlir(program, every_result=options.keep_tensors), "")
        module, made_by = _loaded(compiled.export.text(), program.source_name)
        block = program.function.body.block
        arrays = [compiled.argument(n, inputs) for n in range(len(program.arguments))]
        given = [array if is_tensor(v.type) else array.item() for array, v in zip(arrays, block.args, strict=True)]
        start = time.perf_counter()
        try:
            found = module[compiled.export.entry](*given)
        except (RuntimeError, ValueError) as error:  # the export checks conditions that depend on data
            raise ModelError(f"IREE ended the run: {str(error).splitlines()[0]}", where=program.source_name) from error
        elapsed = time.perf_counter() - start
        results = found if isinstance(found, tuple) else () if found is None else (found,)
        entry = compiled.export.module.body.block.last_op
        types: list[Any] = list(entry.function_type.outputs)  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
        run = compiled.named([_host(array, type_) for array, type_ in zip(results, types, strict=True)])
        trace = Trace(self.name, program.hash, dict(run.outputs), dict(run.tensors), elapsed_s=elapsed)
        trace.counters = {"operations": float(sum(1 for _ in program.operations()))}
        trace.meta = {"numpy": np.__version__, "iree": made_by, "stdout": run.stdout}
        if options.progress is not None:
            options.progress(1.0, "iree")
        trace.complete = True
        return trace


def _loaded(text: str, where: str) -> tuple[Any, str]:
    """Return IREE's module of MLIR text, and IREE's version. Raises DeviceError with its first error."""
    compiler: Any = importlib.import_module("iree.compiler")
    runtime: Any = importlib.import_module("iree.runtime")
    try:
        code: bytes = compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=list(_FLAGS))
    except compiler.CompilerToolError as error:
        said = [line for line in str(error).splitlines() if "error:" in line]
        what = said[0].partition("error:")[2].strip() if said else "an error without a word"
        raise DeviceError(f"IREE refuses the export: {what}", where=where, hint="engine mlir compiles it with LLVM") from error
    config = runtime.Config("local-sync")
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, code), config)
    return module, version("iree-base-compiler")


def _host(array: Any, type_: Any) -> np.ndarray:
    """Copy a result of IREE: bools come as bytes."""
    from fleet.ir.types import numpy_dtype

    return np.array(array.to_host(), numpy_dtype(type_))


ENGINE = IreeEngine()
