"""Compiles lowered MLIR for this machine and runs it in process: `run_mlir` goes from a program to its outputs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from fleet.errors import FleetError, ModelError
from fleet.ir.dialect import PrintOp
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.mlir.export import MlirExport, export_mlir
from fleet.targets.mlir.lower import lower
from fleet.targets.printed import printed

_BUG = "this is a bug of fleet's export"
_SCALARS: Mapping[str, Any] = {
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
}


@dataclass(frozen=True)
class MlirRun:
    """One run: outputs by name, operations' results by id (those that the export returns), and the printed text."""

    outputs: Mapping[str, np.ndarray]
    tensors: Mapping[str, np.ndarray]
    stdout: str


@dataclass(frozen=True)
class MlirProgram:
    """A program compiled through MLIR for this machine.

    Attributes:
        program: the source.
        export: the exported module.
        llvm_ir: the output of mlir-translate.
    """

    program: Program
    export: MlirExport
    llvm_ir: str
    _keep: list[Any] = field(default_factory=list[Any], repr=False, compare=False)

    @cached_property
    def address(self) -> int:
        """Address of the function's C interface in this process; compiles on first use."""
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for library in ("libm.so.6", "libgcc_s.so.1"):  # the latter: float16 conversions that the processor lacks
            llvm.load_library_permanently(library)
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
        )
        module = llvm.parse_assembly(self.llvm_ir)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=2)
        tuning.loop_vectorization = tuning.slp_vectorization = True
        passes = llvm.create_pass_builder(machine, tuning)
        passes.getModulePassManager().run(module, passes)
        for function in module.functions:
            if function.is_declaration and not function.name.startswith("llvm.") and not llvm.address_of_symbol(function.name):
                raise FleetError(f"the lowered code calls {function.name}, which nothing here has", where="MLIR", hint=_BUG)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        self._keep.append(engine)  # keeps the code alive as long as this object
        return int(engine.get_function_address(f"_mlir_ciface_{self.export.entry}"))

    def run(self, inputs: Mapping[str, np.ndarray]) -> MlirRun:
        """Run the code. Raises ModelError if an input is missing or does not fit."""
        arrays = [self.argument(n, inputs) for n in range(len(self.program.arguments))]
        entry = self.export.module.body.block.last_op
        assert isinstance(entry, FuncOp)
        types = list(entry.function_type.outputs)
        block = self.program.function.body.block
        record = type("Results", (ctypes.Structure,), {"_fields_": [(f"r{n}", _descriptor(t)) for n, t in enumerate(types)]})()
        arguments: list[Any] = [ctypes.byref(record)] if types else []
        kept: list[Any] = []
        for array, value in zip(arrays, block.args, strict=True):
            if is_tensor(value.type):
                kept.append(_describe(array, value.type))
                arguments.append(ctypes.byref(kept[-1]))
            else:
                arguments.append(_SCALARS[array.dtype.name](array.item()))
        call = ctypes.CFUNCTYPE(None, *(type(a) if isinstance(a, ctypes._SimpleCData) else ctypes.c_void_p for a in arguments))  # pyright: ignore[reportPrivateUsage]
        call(self.address)(*arguments)
        results = [_take(getattr(record, f"r{n}"), t) for n, t in enumerate(types)]
        return self.named(results)

    def argument(self, n: int, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the array of the program's argument `n`. Raises ModelError if it is missing or does not fit."""
        argument = self.program.arguments[n]
        given = self.program.weights if argument.kind == "weight" else inputs
        if argument.name not in given:
            raise ModelError(f'no {argument.kind} "{argument.name}"', hint=f"given are {', '.join(given) or 'none'}")
        array = np.asarray(given[argument.name])
        fits = len(array.shape) == len(argument.shape) and all(
            w in (-1, h) for w, h in zip(argument.shape, array.shape, strict=True)
        )
        if not fits or array.dtype != argument.dtype:
            want = f"{argument.dtype}{['?' if d < 0 else d for d in argument.shape]}"
            raise ModelError(f'{argument.kind} "{argument.name}" must be {want}, found {array.dtype}{list(array.shape)}')
        return np.asarray(array, order="C")

    def named(self, results: Sequence[np.ndarray]) -> MlirRun:
        """Name the results of the exported function."""
        operands = [v for op in self.program.operations() if isinstance(op, PrintOp) for v in op.operands]
        shown = {v: results[n] for v, n in zip(operands, chain.from_iterable(self.export.printed), strict=True)}
        outputs = {name: results[n] for name, n in self.export.outputs.items()}
        return MlirRun(
            outputs, {id_: results[n] for id_, n in self.export.tensors.items()}, printed(self.program, shown.__getitem__)
        )


def compile_mlir(program: Program, *, every_result: bool = False) -> MlirProgram:
    """Export and lower a program. Raises SetupError without the tools, DeviceError if the export lacks an operation."""
    export = export_mlir(program, every_result=every_result)
    return MlirProgram(program, export, lower(export.text()))


def run_mlir(program: Program, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a program's outputs, computed by code that mlir-opt lowered.

    Args:
        program: after any pass.
        inputs: input name -> array of the declared shape and dtype.

    Returns: output name -> array. Raises as `compile_mlir` and `MlirProgram.run` do.
    """
    return dict(compile_mlir(program).run(inputs).outputs)


def _descriptor(type_: Any) -> type[ctypes.Structure]:
    """Return MLIR's memref descriptor: allocated and aligned pointer, offset, sizes, strides."""
    rank = len(shape_of(type_))
    fields: list[tuple[str, Any]] = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type("Descriptor", (ctypes.Structure,), {"_fields_": fields})


def _describe(array: np.ndarray, type_: Attribute) -> ctypes.Structure:
    record: Any = _descriptor(type_)()
    record.allocated = record.aligned = array.ctypes.data
    for n, (size, stride) in enumerate(zip(array.shape, _strides(array.shape), strict=True)):
        record.sizes[n], record.strides[n] = size, stride
    return record


def _strides(shape: Sequence[int]) -> Iterator[int]:
    """Yield the strides, in elements, of a C-contiguous array."""
    return (int(np.prod(shape[n + 1 :], dtype=np.int64)) for n in range(len(shape)))


_FREE = ctypes.CDLL(None).free
_FREE.argtypes, _FREE.restype = [ctypes.c_void_p], None


def _take(record: Any, type_: Any) -> np.ndarray:
    """Copy a returned buffer and free it: the function's results belong to its caller."""
    dtype, shape = numpy_dtype(type_), tuple(record.sizes) if len(shape_of(type_)) else ()
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if any(s < 0 for s in shape):
        raise FleetError(f"a result of shape {shape}", where="MLIR", hint="the inputs' unknown sizes do not fit together")
    strides = list(_strides(shape))
    if (
        nbytes
        and shape
        and [s for s, n in zip(record.strides, shape, strict=True) if n > 1]
        != [s for s, n in zip(strides, shape, strict=True) if n > 1]
    ):
        raise FleetError(f"a result with strides {list(record.strides)}", where="MLIR", hint=_BUG)
    found = np.empty(shape, dtype)
    if nbytes:
        ctypes.memmove(found.ctypes.data, record.aligned + record.offset * dtype.itemsize, nbytes)
    _FREE(record.allocated)
    return found
