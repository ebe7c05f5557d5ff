"""Operations that a RISC-V program leaves to the host: NumPy's own functions, sizes and dtypes that only the run knows, prints.

The code puts the addresses of the result and the operands in memory and executes `ebreak` with the number of the call in a0 and
that place in a1. The host computes the operation on what it finds there and writes the result (`fleet.engines.riscv_host`). A value
whose dtype the target lacks, or whose shape the run decides, has no memory in the program: the host keeps it (`plan.HELD`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from fleet.ir.dialect import FleetOp, PrintOp, name_of
from fleet.ir.operations.regions import all_operations
from fleet.ir.program import Program
from fleet.targets.riscv.kernels.kernel import I64, POINTER, ArrayOperand, Builder, Value, index
from fleet.targets.riscv.plan import HOST_SYMBOL, type_supported

_SIGNATURE = ir.FunctionType(ir.VoidType(), [I64, POINTER])


@dataclass(frozen=True)
class HostCall:
    """One operation that the host computes.

    op: the operation. out, operands: dtype, shape and strides of its arrays, without addresses; dtype `HELD` where the host keeps
    the value. out is None for a print.
    """

    op: FleetOp
    out: ArrayOperand | None
    operands: tuple[ArrayOperand, ...]

    def reason(self, target: str) -> str:
        """Return why the host computes it, in words."""
        types = dict.fromkeys(str(v.type) for v in (*self.op.results, *self.op.operands) if not type_supported(v.type))
        if types:
            return f"{target} has no place for {', '.join(types)}"
        return f"{target} has no code for {name_of(self.op)} of these arrays"


class HostCalls:
    """The calls of one module; the number of a call is its position in `made`."""

    def __init__(self, module: Value) -> None:
        self.made: list[HostCall] = []
        self._module = module

    def emit(self, b: Builder, op: FleetOp, arrays: Sequence[ArrayOperand]) -> None:
        """Emit a call of the host for an operation on the arrays of its results and operands."""
        with b.goto_entry_block():  # in a loop the stack would grow with every round
            places = b.bitcast(b.alloca(I64, size=max(1, len(arrays))), POINTER)
        for i, array in enumerate(arrays):
            b.store(b.ptrtoint(array.pointer, I64), b.gep(places, [index(i)], inbounds=True, source_etype=I64))
        b.call(self._function(), [index(len(self.made)), places])
        known = [replace(a, pointer=None, constant=None) for a in arrays]
        results = len(op.results)
        self.made.append(HostCall(op, known[0] if results else None, tuple(known[results:])))

    def _function(self) -> Value:
        found = self._module.globals.get(HOST_SYMBOL)
        if found is None:
            found = ir.Function(self._module, _SIGNATURE, HOST_SYMBOL)
            found.linkage = "weak"  # LLVM then infers nothing of what it does with its arguments and memory
            found.attributes.add("nounwind")
            b: Builder = ir.IRBuilder(found.append_basic_block("entry"))
            b.call(self._module.declare_intrinsic("llvm.debugtrap", fnty=ir.FunctionType(ir.VoidType(), [])), [])
            b.ret_void()
        return found


def prints_on_host(program: Program) -> bool:
    """True if prints must happen during the run: one is inside a body, or a value is printed that the host keeps."""
    top = set(program.operations())
    prints = [op for op in all_operations(program.function.body.block) if isinstance(op, PrintOp)]
    return any(op not in top or not all(type_supported(v.type) for v in op.operands) for op in prints)
