"""IR -> LLVM IR: one function per operation or kernel of several (`in_kernels`), called in program order by `fleet_main`.

Each operation becomes the function `op_<n>_<id>()` with external linkage. It is never inlined, so that retired instructions can be
counted by operation. It loads the addresses of its arrays and continues in `fn_<n>_<name>(out, operands..., scratch)`, which all
operations share that do the same on other arrays. Views of other results have no function.

Fused multiply-add is used exactly where the code says so (matrix products, polynomials, the norms). LLVM contracts and reassociates
nothing, so the same program gives the same bits on every run and machine. Functions carry "no-builtins": loops do not become calls
of memcpy or memset, and the image needs no library. `print` generates no code: the host formats the text after the run, in program
order, and the printed values are kept until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from fleet.errors import DeviceError
from fleet.ir import dialect
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.program import Program
from fleet.ir.shapes import contiguous
from fleet.targets.planner import round_up
from fleet.targets.riscv.faults import FAULT_SYMBOL
from fleet.targets.riscv.host_calls import HostCall, HostCalls, prints_on_host
from fleet.targets.riscv.isa import DEFAULT_ISA, Isa
from fleet.targets.riscv.kernels.fused import fusable
from fleet.targets.riscv.kernels.kernel import I64, POINTER, ArrayOperand, Builder, LoopPart, Value, index, new_builder
from fleet.targets.riscv.kernels.movement import emit_copy
from fleet.targets.riscv.kernels.operations import describe, emit, needs_host, thread_workspace, work, workspace
from fleet.targets.riscv.plan import ALIGN, ENTRY, Buffer, MemoryPlan, Workspace, identity, make_plan, symbol_part
from fleet.targets.riscv.threads import emit_threads
from fleet.transforms.fuse_loops import fuse_loops
from fleet.transforms.schedule_loops import ONE_THREAD, WITH_THREADS, ScheduleChoices, axes_of, divided_axis, schedule_loops
from fleet.transforms.simplify.infer_shapes import check_known

TRIPLE = "riscv64-unknown-elf"
DATA_LAYOUT = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"
"""LLVM's own layout for this target. Without it in the text, LLVM assumes that 64-bit loads are aligned to 4 bytes only."""
SHARED = "fn_"
"""Prefix of functions that several operations share."""
_SCRATCH = "fleet_scratch"


@dataclass(frozen=True)
class OperationCode:
    """One operation's function.

    Attributes:
        id: the operation's id.
        symbol: its function in the image.
        at: place in the source, None if unknown.
        work: upper estimate of its retired instructions (for progress and the limit of a run).
        body: the function that does the work; other operations may share it.
        macs: multiply-adds of the operation, 0 if it is not a product.
    """

    id: str
    symbol: str
    at: str | None
    work: int
    body: str
    macs: int


@dataclass(frozen=True)
class RiscvModule:
    """The result of `generate`: LLVM IR text, the memory plan, the operations, and the symbols left to the linker.

    views: ids of the operations that have no code. host_calls: what the host computes, by number of the call.
    """

    llvm_ir: str
    plan: MemoryPlan
    operations: tuple[OperationCode, ...]
    absolute: dict[str, tuple[int, int]]
    views: tuple[str, ...]
    host_calls: tuple[HostCall, ...]


def in_kernels(program: Program, *, keep: bool, choices: ScheduleChoices) -> Program:
    """Return the program with what can be in kernels (`fleet.fused`), as code is made of it, and their schedules.

    keep: as in `generate`; choices: what of `Program.schedule` the target has. Raises FleetError for a schedule that does not fit.
    """
    return schedule_loops(fuse_loops(program, keep=keep, fusable=fusable), choices)


def generate(
    program: Program, isa: Isa = DEFAULT_ISA, *, keep: bool = True, host: bool = False, threads: bool = False
) -> RiscvModule:
    """Plan memory and emit code.

    keep: whether all results stay readable. host: whether the host computes what the target lacks. threads: whether the code may
    start threads, as `Program.schedule` asks.

    Raises:
        DeviceError: the target lacks an operation, dtype or shape (with `host`: everything that the program computes); names its id
            and place.
    """
    check_known(program, "riscv")
    program = in_kernels(program, keep=keep, choices=WITH_THREADS if threads else ONE_THREAD)
    printed = host and prints_on_host(program)
    plan, buffers = make_plan(program, _workspaces(isa, host=host), keep=keep, host=host, printed=printed)
    module = ir.Module(name="fleet")
    module.triple = TRIPLE
    module.data_layout = DATA_LAYOUT
    fault: Value = ir.GlobalVariable(module, ir.ArrayType(I64, 3), FAULT_SYMBOL)
    fault.initializer = ir.Constant(fault.value_type, [0, 0, 0])
    main = _function(module, ENTRY, 0)
    b = new_builder(main.append_basic_block("entry"), isa)
    code, views = _code(program, buffers, printed=printed)
    calls = HostCalls(module) if host else None
    kernels = RiscvKernels(module, isa, calls)
    absolute = {buffer.symbol: (buffer.extent[0], buffer.extent[1]) for buffer in plan.buffers()} | {_SCRATCH: plan.scratch}
    first = {buffer.symbol: buffer.address - buffer.extent[0] for buffer in plan.buffers()}
    places = {symbol: _external(module, symbol) for symbol in absolute}
    operations: list[OperationCode] = []
    for n, op, used in code:
        id_ = identity(op)
        symbol = f"op_{n}_{symbol_part(id_)}"
        given = [*(_address(places[buffer.symbol], first[buffer.symbol]) for buffer in used), places[_SCRATCH]]
        kernel = kernels.of(n, op, used)
        stub = _function(module, symbol, 0)
        inside = new_builder(stub.append_basic_block("entry"), isa)
        inside.call(kernel, given, tail=True)
        inside.ret_void()
        b.call(stub, [])
        at = op.properties.get("at")
        estimate, macs = work(op, arrays_of(op, used))
        operations.append(OperationCode(id_, symbol, getattr(at, "data", None), estimate, kernel.name, macs))
    b.ret_void()
    if calls is not None:
        kernels.check_work()
    return RiscvModule(str(module), plan, tuple(operations), absolute, views, tuple(calls.made) if calls else ())


def generate_callable(program: Program, name: str, isa: Isa = DEFAULT_ISA) -> str:
    """Return LLVM IR of one function `void name(arguments..., results...)` for a program; pointers to C-contiguous arrays.

    Intermediate results are in the module's own memory, so only one thread at a time may call it. Raises DeviceError as `generate`
    does.
    """
    check_known(program, "riscv")
    program = in_kernels(program, keep=False, choices=ONE_THREAD)
    plan, buffers = make_plan(program, _workspaces(isa), keep=False)
    module = ir.Module(name=name)
    fault: Value = ir.GlobalVariable(module, ir.ArrayType(I64, 3), FAULT_SYMBOL)
    fault.initializer = ir.Constant(fault.value_type, [0, 0, 0])
    arguments = [(plan.weights if a.kind == "weight" else plan.inputs)[a.name] for a in program.arguments]
    main = _function(module, name, len(arguments) + len(plan.outputs))
    b = new_builder(main.append_basic_block("entry"), isa)
    lowest = min([*(address for _, address, _, _, _ in plan.lives), plan.scratch[0]])
    size = max([*(address + size for _, address, size, _, _ in plan.lives), sum(plan.scratch)]) - lowest
    memory: Value = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), size), f"{name}_memory")
    memory.linkage, memory.align = "internal", ALIGN
    memory.initializer = ir.Constant(memory.value_type, None)

    def place(address: int) -> Value:
        for buffer, pointer in zip(arguments, main.args, strict=False):
            if buffer.address <= address < buffer.address + max(buffer.nbytes, 1):
                return b.gep(pointer, [ir.Constant(I64, address - buffer.address)], source_etype=ir.IntType(8))
        return memory.gep([ir.Constant(I64, 0), ir.Constant(I64, address - lowest)])

    kernels = RiscvKernels(module, isa)
    for n, op, used in _code(program, buffers, printed=False)[0]:
        b.call(kernels.of(n, op, used), [*(place(buffer.address) for buffer in used), place(plan.scratch[0])])
    for (_, buffer), pointer in zip(plan.outputs, main.args[len(arguments) :], strict=True):
        source = ArrayOperand(place(buffer.address), buffer.dtype, buffer.shape, buffer.steps)
        target = ArrayOperand(pointer, buffer.dtype, buffer.shape, contiguous(buffer.shape))
        if buffer.size:
            emit_copy(b, buffer.shape, target, target.strides, index(0), source, source.strides, index(0))
    b.ret_void()
    return str(module)


class RiscvKernels:
    """The functions that do the work, one for all operations that do the same on other arrays.

    calls: collects what the host computes where the target has no code; None: such operations are refused.
    """

    def __init__(self, module: Value, isa: Isa, calls: HostCalls | None = None) -> None:
        self._module, self._isa, self._calls = module, isa, calls
        self._made: dict[str, Value] = {}
        self._refusals: list[DeviceError] = []
        self._computed = False

    def of(self, n: int, op: FleetOp, used: Sequence[Buffer]) -> Value:
        """Return the function of an operation, made on first use. Its arguments: result, operands, scratch."""
        arrays = arrays_of(op, used)
        # The host knows its values by operation: such functions are not shared.
        key = f"{n}" if needs_host(op, arrays) else describe(op, arrays)
        if key not in self._made:
            self._made[key] = self._make(f"{SHARED}{n}_{symbol_part(kind_of(op))}", op, used)
        return self._made[key]

    def check_work(self) -> None:
        """Raise the first refusal as DeviceError if the host computes everything that the program does."""
        if self._refusals and not self._computed:
            raise self._refusals[0]

    def _make(self, name: str, op: FleetOp, used: Sequence[Buffer]) -> Value:
        """Make a function of code, else of code that calls the host inside, else one that calls the host."""
        calls, arrays = self._calls, arrays_of(op, used)
        try:
            function = self._function(name, op, used, None)
            self._computed = self._computed or not isinstance(op, dialect.ConstantOp)
            return function
        except DeviceError as error:
            if calls is None:
                raise
            if not isinstance(op, dialect.PrintOp):
                self._refusals.append(error)
        if isinstance(op, dialect.RegionOp) and not needs_host(op, arrays):
            try:
                function = self._function(f"{name}_with_host", op, used, calls)
                self._computed = True
                return function
            except DeviceError:
                pass  # an operation inside has a kernel that refuses these arrays
        return self._function(f"{name}_on_host", op, used, calls, whole=True)

    def _function(self, name: str, op: FleetOp, used: Sequence[Buffer], calls: HostCalls | None, *, whole: bool = False) -> Value:
        function = _function(self._module, name, len(used) + 1)
        b = new_builder(function.append_basic_block("entry"), self._isa, calls)
        arrays, divided = arrays_of(op, used, function.args), divided_axis(op)
        try:
            if whole and calls is not None:
                calls.emit(b, op, arrays)
            elif divided is not None:
                self._divided(b, function, op, used, *divided)
            else:
                emit(b, op, arrays, function.args[-1])
        except DeviceError:
            del self._module.globals[name]
            raise
        b.ret_void()
        return function

    def _divided(self, b: Builder, function: Value, op: FleetOp, used: Sequence[Buffer], axis: int, threads: int) -> None:
        """Emit a kernel whose parts along an axis threads compute at the same time."""
        axes = axes_of(op)
        assert axes is not None
        part = round_up(thread_workspace(op, arrays_of(op, used), self._isa), ALIGN)

        def emit_part(inside: Value, count: int) -> None:
            inner = new_builder(inside.append_basic_block("entry"), self._isa, None, LoopPart(axis, inside.args[-1], count))
            emit(inner, op, arrays_of(op, used, inside.args[:-1]), inside.args[-2])
            inner.ret_void()

        emit_threads(b, function, axes.shape[axis], threads, part, emit_part)


def _workspaces(isa: Isa, *, host: bool = False) -> Workspace:
    """Return `workspace` of buffers; kernels that do the same are planned once. host: what has no code needs no scratch."""
    known: dict[str, int] = {}

    def needed(op: FleetOp, used: Sequence[Buffer]) -> int:
        arrays = arrays_of(op, used)
        if not isinstance(op, dialect.FusedOp):
            try:
                return workspace(op, arrays, isa)
            except DeviceError:
                if host:
                    return 0
                raise
        shape = describe(op, arrays)
        if shape not in known:
            known[shape] = workspace(op, arrays, isa)
        return known[shape]

    return needed


def _code(
    program: Program, buffers: dict[Value, Buffer], *, printed: bool
) -> tuple[list[tuple[int, FleetOp, list[Buffer]]], tuple[str, ...]]:
    """Return the operations that need code, with position and buffers; and the ids of those that need none."""
    code: list[tuple[int, FleetOp, list[Buffer]]] = []
    views: list[str] = []
    for n, op in enumerate(program.operations()):
        if isinstance(op, dialect.PrintOp) and not printed:
            continue
        used = [buffers[value] for value in (*op.results, *op.operands)]
        if op.results and used[0].strides is not None:
            views.append(used[0].name)
        else:
            code.append((n, op, used))
    return code, tuple(views)


def arrays_of(op: FleetOp, used: Sequence[Buffer], pointers: Sequence[Value] | None = None) -> list[ArrayOperand]:
    """Return the arrays of the results and the operands; operands that are one number of the source are known."""
    given = pointers or [None] * len(used)
    arrays: list[ArrayOperand] = []
    for buffer, pointer, value in zip(used, given, (*op.results, *op.operands), strict=False):
        known = value.owner if value in op.operands and buffer.size == 1 else None
        number = constant_value(known) if isinstance(known, dialect.ConstantOp) else None
        arrays.append(ArrayOperand(pointer, buffer.dtype, buffer.shape, buffer.steps, number))
    return arrays


def _external(module: Value, name: str) -> Value:
    place = ir.GlobalVariable(module, ir.IntType(8), name)
    place.linkage = "external"
    return place


def _address(place: Value, bytes_: int) -> Value:
    return place.gep([ir.Constant(I64, bytes_)]) if bytes_ else place


def _function(module: Value, name: str, pointers: int) -> Value:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * pointers), name)
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    set.add(function.attributes, '"no-builtins"')  # llvmlite's own `add` does not support string attributes
    for argument in function.args:
        argument.add_attribute("noalias")
    return function
