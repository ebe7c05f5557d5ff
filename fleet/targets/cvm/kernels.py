"""Program -> LLVM IR of its kernels, with the table in which `fleet-vm` finds them.

An operation's code is the RISC-V target's (`fleet.targets.riscv.codegen`): all engines share one source of kernels and so give the
same bits. A kernel belongs to a dispatch hint and to one layout of the operands: the table states the strides and known numbers
that it was made for. Movements without copies have no kernel: the VM makes views itself, with NumPy's strides
(`fleet.targets.riscv.views`). An operand whose strides are known only at run time (a value carried by a loop) is contiguous for its
kernel; otherwise the VM copies it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from llvmlite import ir
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import DeviceError
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.bytecode.hints import hint_of
from fleet.targets.riscv.codegen import RiscvKernels, arrays_of
from fleet.targets.riscv.faults import FAULT_SYMBOL
from fleet.targets.riscv.isa import DEFAULT_ISA, Isa
from fleet.targets.riscv.kernels.kernel import I64, POINTER, Value, contiguous, new_builder
from fleet.targets.riscv.kernels.operations import workspace
from fleet.targets.riscv.plan import Buffer, dtype_of, refuse
from fleet.targets.riscv.views import VIEWS, view_of
from fleet.transforms.schedule_loops import WITH_THREADS, schedule_loops
from fleet.transforms.simplify.infer_shapes import check_known

VERSION = 1
"""Version of the table; `KERNELS_VERSION` in vm.h."""

_NO_CODE = (d.PrintOp, d.ConstantOp, d.ElementOp)
_TRAP = re.compile(r'call void @"llvm\.trap"\(\)\s*unreachable')

Strides: TypeAlias = tuple[int, ...] | None
"""Strides in elements; None if known only at run time."""


@dataclass(frozen=True)
class KernelModule:
    """LLVM IR text, and the number of kernels in it."""

    llvm_ir: str
    count: int


@dataclass(frozen=True)
class _Operand:
    """strides: None for a C-contiguous operand; bits: of the number that it must equal, or None."""

    strides: Strides
    bits: int | None


@dataclass
class _Entry:
    hint: str
    function: Value
    scratch: int
    operands: tuple[_Operand, ...]

    @property
    def rank(self) -> tuple[str, int, int]:
        """Sort key: by hint as C compares strings, the most specific first."""
        known = sum(o.bits is not None for o in self.operands)
        walked = sum(o.strides is not None for o in self.operands)
        return self.hint, -known, -walked


def generate_kernels(program: Program, isa: Isa = DEFAULT_ISA) -> KernelModule:
    """Return kernels for every operation of a program, including those in bodies of decisions and loops.

    Raises:
        DeviceError: there is no code for an operation, dtype or shape; names its id and place.
    """
    try:
        check_known(program, "cvm")
        return _Generator(isa).run(schedule_loops(program, WITH_THREADS))
    except DeviceError as error:
        raise DeviceError(error.what.replace("on riscv", "on cvm"), where=error.where, hint=error.hint) from error


@dataclass
class _Generator:
    isa: Isa
    strides: dict[SSAValue, Strides] = field(default_factory=dict[SSAValue, Strides])
    entries: dict[tuple[str, tuple[_Operand, ...]], _Entry] = field(default_factory=dict[tuple[str, tuple[_Operand, ...]], _Entry])

    def run(self, program: Program) -> KernelModule:
        self.module: Value = ir.Module(name="fleet_kernels")
        fault: Value = ir.GlobalVariable(self.module, ir.ArrayType(I64, 3), FAULT_SYMBOL)
        fault.initializer = ir.Constant(fault.value_type, [0, 0, 0])
        self.fault = fault
        self.kernels = RiscvKernels(self.module, self.isa)
        block = program.function.body.block
        for argument in block.args:
            self.strides[argument] = contiguous(shape_of(argument.type))
        self._block(block)
        entries = sorted(self.entries.values(), key=lambda e: (e.hint.encode(), *e.rank[1:]))
        _table(self.module, entries)
        return KernelModule(_TRAP.sub("ret void", str(self.module)), len(entries))

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, d.RegionOp):
                self._bodies(op)
            elif isinstance(op, FleetOp) and not isinstance(op, d.PrintOp):
                self._operation(op)

    def _bodies(self, op: d.RegionOp) -> None:
        """Record strides inside bodies: outer values keep theirs, those of values carried by a loop are known only at run time."""
        carried = len(op.carried) if isinstance(op, d.WhileOp) else 0
        given = op.operands[1:] if isinstance(op, d.IfOp) else op.operands
        for body in op.bodies:
            for n, (argument, value) in enumerate(zip(body.args, given, strict=True)):
                self.strides[argument] = None if n < carried else self.strides[value]
            self._block(body)

    def _operation(self, op: FleetOp) -> None:
        result = op.results[0]
        shape = shape_of(result.type)
        if _unsupported(result.type):
            raise refuse(op, f"result type {result.type}")
        own: Strides = contiguous(shape)
        if isinstance(op, d.ElementOp):
            own = None
        elif isinstance(op, VIEWS):
            own = _viewed(op, self.strides[op.operands[0]])
        elif not isinstance(op, _NO_CODE):
            self._kernel(op)
        self.strides[result] = own

    def _kernel(self, op: FleetOp) -> None:
        used = [self._buffer(op, v) for v in (op.results[0], *op.operands)]
        used[0] = replace(used[0], strides=None)
        operands = tuple(_requirement(v, b, self.strides[v]) for v, b in zip(op.operands, used[1:], strict=True))
        key = (hint_of(op), operands)
        if key not in self.entries:
            arrays = arrays_of(op, used)
            function = self.kernels.of(len(self.entries), op, used)
            self.entries[key] = _Entry(key[0], self._entry(len(self.entries), function), workspace(op, arrays, self.isa), operands)

    def _buffer(self, op: FleetOp, value: SSAValue) -> Buffer:
        if _unsupported(value.type):
            raise refuse(op, f"operand type {value.type}")
        return Buffer(op_id(op), "", 0, shape_of(value.type), numpy_dtype(value.type), self.strides.get(value))

    def _entry(self, n: int, kernel: Value) -> Value:
        """Emit `int64_t kernel_N(void *const *arrays)`: unpacks the pointers and returns the kernel's fault."""
        function: Value = ir.Function(self.module, ir.FunctionType(I64, [POINTER]), f"kernel_{n}")
        function.linkage = "internal"
        function.attributes.add("nounwind")
        b = new_builder(function.append_basic_block("entry"), self.isa)
        places = (b.gep(function.args[0], [ir.Constant(I64, i)], source_etype=POINTER) for i in range(len(kernel.args)))
        b.call(kernel, [b.load(place, typ=POINTER) for place in places])
        b.ret(b.load(self.fault, typ=I64))
        return function


def _unsupported(type_: Attribute) -> bool:
    """Return whether the C code has no values of this type: it prints and converts no float16."""
    dtype = dtype_of(type_)
    return dtype is None or dtype == np.float16


def _viewed(op: FleetOp, given: Strides) -> Strides:
    """Return the strides of a movement's result: of a view if possible, else contiguous; None if known only at run time."""
    if given is None:
        return None
    shape = shape_of(op.results[0].type)
    try:
        view = view_of(op, shape_of(op.operands[0].type), given, shape)
    except ValueError as error:
        raise refuse(op, str(error)) from error
    return contiguous(shape) if view is None else view.strides


def _requirement(value: SSAValue, buffer: Buffer, strides: Strides) -> _Operand:
    bits: int | None = None
    if isinstance(value.owner, d.ConstantOp) and buffer.size == 1:
        number = np.array(constant_value(value.owner), numpy_dtype(value.type))
        bits = int.from_bytes(number.tobytes(), "little")
    own = None if strides is None else _walked(buffer.shape, strides)
    return _Operand(None if own == _walked(buffer.shape, contiguous(buffer.shape)) else own, bits)


def _walked(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return the strides with 0 for dimensions without steps, as in the VM."""
    empty = 0 in shape
    return tuple(0 if empty or n < 2 else s for n, s in zip(shape, strides, strict=True))


def _table(module: Value, entries: Sequence[_Entry]) -> None:
    """Emit the constants that vm.h declares: `fleet_kernels`, `fleet_kernel_count`, `fleet_kernels_version`."""
    operand = ir.LiteralStructType([POINTER, I64, I64])
    row = ir.LiteralStructType([POINTER, POINTER, I64, I64, POINTER])
    null = ir.Constant(POINTER, None)
    texts: dict[str, Value] = {}
    rows: list[Value] = []
    for n, entry in enumerate(entries):
        if entry.hint not in texts:
            data = bytearray(entry.hint.encode() + b"\0")
            texts[entry.hint] = _constant(module, f"hint_{n}", ir.Constant(ir.ArrayType(ir.IntType(8), len(data)), data))
        fields: list[Value] = []
        for i, o in enumerate(entry.operands):
            place = null
            if o.strides:
                numbers = ir.Constant(ir.ArrayType(I64, len(o.strides)), list(o.strides))
                place = _constant(module, f"strides_{n}_{i}", numbers)
            known = 0 if o.bits is None else 1
            fields.append(ir.Constant(operand, [place, ir.Constant(I64, known), ir.Constant(I64, o.bits or 0)]))
        operands = _constant(module, f"operands_{n}", ir.Constant(ir.ArrayType(operand, len(fields)), fields)) if fields else null
        counts = (ir.Constant(I64, entry.scratch), ir.Constant(I64, len(fields)))
        rows.append(ir.Constant(row, [texts[entry.hint], entry.function, *counts, operands]))
    _constant(module, "fleet_kernels", ir.Constant(ir.ArrayType(row, len(rows)), rows), visible=True)
    for name, number in (("fleet_kernel_count", len(rows)), ("fleet_kernels_version", VERSION)):
        _constant(module, name, ir.Constant(I64, number), visible=True)


def _constant(module: Value, name: str, value: Value, *, visible: bool = False) -> Value:
    place: Value = ir.GlobalVariable(module, value.type, name)
    place.initializer, place.global_constant = value, True
    place.linkage = "" if visible else "internal"
    return place
