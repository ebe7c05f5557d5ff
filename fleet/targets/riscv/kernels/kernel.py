"""Building blocks of generated code: element types, values of one or several lanes, loads and stores with conversion.

llvmlite's IR builder makes plain LLVM IR with static trip counts; values of the surrounding loops are element offsets (i64).
Buffers never overlap, so every pointer is `noalias`. If the instruction set has vectors, the same functions emit code for several
lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from llvmlite import ir

from fleet.ir.shapes import contiguous
from fleet.targets.riscv.faults import FAULT_SYMBOL
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels import halves

Value = Any
"""An llvmlite IR value (the library carries no types)."""
Builder = Any

I1, I8, I16, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
F32, F64 = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
_TYPES: dict[str, Any] = {
    **{"float16": I16, "float32": F32, "float64": F64, "bool": I1},
    **{"int8": I8, "int16": I16, "int32": I32, "int64": I64},
    **{"uint8": I8, "uint16": I16, "uint32": I32, "uint64": I64},
}


Carried = list[Value]
"""Values that pass from one round of a loop to the next."""


@dataclass(frozen=True)
class LoopPart:
    """The part of a kernel that one thread computes: `count` indices of an axis from `first` (i64) on."""

    axis: int
    first: Value
    count: int


class CodeFlow(Protocol):
    """Control flow of the code that a builder makes: of LLVM's blocks, or of a language's statements.

    unrolls: whether loops are unrolled here rather than by the compiler that reads the code.
    """

    unrolls: bool

    def counted(self, count: int, step: int, init: Carried, body: Callable[[Value, Carried], Carried]) -> Carried:
        """Emit `body(i, carried) -> carried` for i = 0, step, ... below `count`, at least once; return the last carried values."""
        ...

    def spread_out(self, sizes: Sequence[int], body: Callable[[Sequence[Value]], None]) -> bool:
        """Emit `body(indices)` for all indices at the same time, if the machine runs code so; else return False."""
        ...

    def chosen(self, condition: Value, then: Callable[[], Value], otherwise: Value) -> Value:
        """Emit `then` where the condition holds; return its value there, else `otherwise`."""
        ...

    def repeated(self, init: Value, holds: Callable[[Value], Value], step: Callable[[Value], Value]) -> Value:
        """Emit `value = step(value)` from `init` on as long as `holds(value)`; return the last value."""
        ...

    def stop_if(self, condition: Value, fault: int, value: Value, bound: Value) -> None:
        """Emit the end of the run with a `RuntimeFault` where the condition holds; value, bound: i64, for its message."""
        ...


class LlvmFlow:
    """Control flow as blocks, branches and phis of LLVM IR."""

    unrolls = True

    def __init__(self, builder: Builder) -> None:
        self._b = builder

    def counted(self, count: int, step: int, init: Carried, body: Callable[[Value, Carried], Carried]) -> Carried:
        """Emit a loop whose number and carried values are phis."""
        b = self._b
        before, head = b.block, b.append_basic_block("loop")
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(I64)
        i.add_incoming(index(0), before)
        phis: Carried = []
        for value in init:
            phi = b.phi(value.type)
            phi.add_incoming(value, before)
            phis.append(phi)
        after = body(i, phis)
        following = b.add(i, index(step), flags=("nuw", "nsw"))
        i.add_incoming(following, b.block)
        for phi, value in zip(phis, after, strict=True):
            phi.add_incoming(value, b.block)
        leave = b.append_basic_block("done")
        b.cbranch(b.icmp_unsigned("<", following, index(count)), head, leave)
        b.position_at_end(leave)
        return after

    def spread_out(self, sizes: Sequence[int], body: Callable[[Sequence[Value]], None]) -> bool:
        """Return False: there is one thread."""
        return False

    def chosen(self, condition: Value, then: Callable[[], Value], otherwise: Value) -> Value:
        """Emit a branch around `then`; a phi joins both values."""
        b = self._b
        before = b.block
        with b.if_then(condition):
            value, after = then(), b.block
        joined = b.phi(otherwise.type)
        joined.add_incoming(otherwise, before)
        joined.add_incoming(value, after)
        return joined

    def repeated(self, init: Value, holds: Callable[[Value], Value], step: Callable[[Value], Value]) -> Value:
        """Emit a loop whose value is a phi and is tested before each step."""
        b = self._b
        before, head = b.block, b.append_basic_block("divide")
        body, done = b.append_basic_block("subtract"), b.append_basic_block("divided")
        b.branch(head)
        b.position_at_end(head)
        value = b.phi(init.type)
        value.add_incoming(init, before)
        b.cbranch(holds(value), body, done)
        b.position_at_end(body)
        value.add_incoming(step(value), b.block)
        b.branch(head)
        b.position_at_end(done)
        return value

    def stop_if(self, condition: Value, fault: int, value: Value, bound: Value) -> None:
        """Store the three words at the symbol of `faults` and execute an illegal instruction."""
        b = self._b
        bad, good = b.append_basic_block("fault"), b.append_basic_block("checked")
        b.cbranch(condition, bad, good)
        b.position_at_end(bad)
        place = b.module.get_global(FAULT_SYMBOL)
        for i, item in enumerate((index(fault), value, bound)):
            b.store(item, b.gep(place, [index(0), index(i)], inbounds=True))
        b.call(b.module.declare_intrinsic("llvm.trap", fnty=ir.FunctionType(ir.VoidType(), [])), [])
        b.unreachable()
        b.position_at_end(good)


def new_builder(block: Value, isa: Isa, host: Any = None, part: LoopPart | None = None) -> Builder:
    """Return a builder that knows the instruction set (`isa_of`), its `flow_of` and `part_of`, the `HostCalls` of its module."""
    builder: Any = ir.IRBuilder(block)
    builder.fleet_isa = isa
    builder.fleet_host = host
    builder.fleet_part = part
    builder.fleet_flow = LlvmFlow(builder)
    return builder


def isa_of(b: Builder) -> Isa:
    """Return the instruction set of the builder's code."""
    return b.fleet_isa


def part_of(b: Builder) -> LoopPart | None:
    """Return the part of a kernel that the code computes; None: all of it."""
    return b.fleet_part


def flow_of(b: Builder) -> CodeFlow:
    """Return the control flow of the builder's code."""
    return b.fleet_flow


def element(dtype: np.dtype, lanes: int = 1) -> Any:
    """Return the LLVM type of a NumPy dtype in registers: a vector of `lanes` elements, or the element itself for 1.

    float16 is its bits: the instruction set has no arithmetic in it.
    """
    return vector(_TYPES[dtype.name], lanes)


def vector(type_: Any, lanes: int) -> Any:
    """Return a vector type of that many elements; the element type itself for 1."""
    return type_ if lanes == 1 else ir.VectorType(type_, lanes)


def lanes_of(value: Value) -> int:
    """Return the elements of a value: 1 for a scalar."""
    return value.type.count if isinstance(value.type, ir.VectorType) else 1


def splat(type_: Any, value: float) -> Value:
    """Return a constant of a scalar or vector type, the same in every element."""
    if isinstance(type_, ir.VectorType):
        return ir.Constant(type_, [value] * type_.count)
    return ir.Constant(type_, value)


def spread(b: Builder, value: Value, lanes: int) -> Value:
    """Broadcast a scalar to every element of a vector; a vector, or `lanes` 1, stays unchanged."""
    if lanes == 1 or isinstance(value.type, ir.VectorType):
        return value
    if isinstance(value, ir.Constant):
        return splat(vector(value.type, lanes), value.constant)
    empty = ir.Constant(vector(value.type, lanes), ir.Undefined)
    one = b.insert_element(empty, value, ir.Constant(I32, 0))
    return b.shuffle_vector(one, empty, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))


def is_float(dtype: np.dtype) -> bool:
    """Return whether it is a floating-point dtype."""
    return dtype.kind == "f"


def is_unsigned(dtype: np.dtype) -> bool:
    """Return whether it is bool or an unsigned integer, which LLVM's types do not distinguish from signed ones."""
    return dtype.kind in "bu"


def integer_compare(b: Builder, sign: str, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit a comparison of integers or bools of that dtype."""
    return b.icmp_unsigned(sign, x, y) if is_unsigned(dtype) else b.icmp_signed(sign, x, y)


def number(dtype: np.dtype, value: float, lanes: int = 1) -> Value:
    """Return a constant of that dtype."""
    if dtype == np.float16:
        return splat(element(dtype, lanes), int(np.float16(value).view(np.uint16)))
    return splat(element(dtype, lanes), float(dtype.type(value)) if is_float(dtype) else int(value))


def index(value: int) -> Value:
    """Return an i64 constant."""
    return ir.Constant(I64, value)


@dataclass(frozen=True)
class ArrayOperand:
    """An array operand: pointer to its first element, dtype, shape, `given` strides in elements (else C-contiguous).

    constant: its value if it is one number known at compile time; then nothing is loaded.
    """

    pointer: Value
    dtype: np.dtype
    shape: tuple[int, ...]
    given: tuple[int, ...] | None = None
    constant: float | None = None

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between successive indices, for every dimension."""
        return contiguous(self.shape) if self.given is None else self.given

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


def broadcast_strides(array: ArrayOperand, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return strides that read `array` as if it had `shape` (NumPy's rule); None if it does not broadcast."""
    lead = len(shape) - len(array.shape)
    if lead < 0:
        return None
    strides = [0] * lead
    for size, stride, want in zip(array.shape, array.strides, shape[lead:], strict=True):
        if size not in (1, want):
            return None
        strides.append(0 if size == 1 else stride)
    return tuple(strides)


def convert(b: Builder, value: Value, source: np.dtype, target: np.dtype) -> Value:
    """Emit `astype`: float to integer truncates; NaN and values that do not fit become what NumPy gives on x86-64 without AVX-512.

    That is the smallest integer for int32 and int64. Smaller integers are converted through int32, uint32 through int64.
    """
    if source == target:
        return value
    lanes = lanes_of(value)
    to = element(target, lanes)
    if source == np.float16:
        return convert(b, halves.widened(b, value), np.dtype(np.float32), target)
    if target == np.float16:
        return halves.narrowed(b, value if is_float(source) else convert(b, value, source, np.dtype(np.float32)))
    if target.kind == "b":
        zero = number(source, 0, lanes)
        return b.fcmp_unordered("!=", value, zero) if is_float(source) else b.icmp_signed("!=", value, zero)
    if not is_float(source) and not is_float(target):
        if target.itemsize <= source.itemsize and source.kind != "b":
            return b.trunc(value, to)
        return b.zext(value, to) if is_unsigned(source) else b.sext(value, to)
    if is_float(source) and is_float(target):
        return b.fpext(value, to) if target.itemsize > source.itemsize else b.fptrunc(value, to)
    if is_float(target):
        return b.uitofp(value, to) if is_unsigned(source) else b.sitofp(value, to)
    if target.itemsize < 4:
        return b.trunc(convert(b, value, source, np.dtype(np.int32)), to)
    if is_unsigned(target):
        return _to_unsigned(b, value, source, target)
    double = vector(F64, lanes)
    wide = b.fpext(value, double) if source.itemsize == 4 else value
    bits = 8 * target.itemsize
    low, high = (-(2.0**63), 2.0**63) if bits == 64 else (-(2.0**31) - 1, 2.0**31)
    above = b.fcmp_ordered(">=" if bits == 64 else ">", wide, splat(double, low))
    fits = b.and_(above, b.fcmp_ordered("<", wide, splat(double, high)))
    safe = b.select(fits, wide, splat(double, 0.0))
    whole = truncated(b, safe)
    return b.select(fits, whole if bits == 64 else b.trunc(whole, to), splat(to, -(1 << (bits - 1))))


def _to_unsigned(b: Builder, value: Value, source: np.dtype, target: np.dtype) -> Value:
    """Emit a conversion to unsigned. uint32: the low half of int64. uint64: values from 2**63 on minus 2**63 through int64, top bit
    restored.
    """
    signed = np.dtype(np.int64)
    low = convert(b, value, source, signed)
    if target.itemsize == 4:
        return b.trunc(low, element(target, lanes_of(value)))
    half = number(source, 2.0**63, lanes_of(value))
    high = convert(b, b.fsub(value, half), source, signed)
    top = number(signed, -(1 << 63), lanes_of(value))
    return b.select(b.fcmp_ordered(">=", value, half), b.xor(high, top), low)


def truncated(b: Builder, x: Value) -> Value:
    """Convert a float64 within the range of i64 to i64, towards zero.

    Vectors avoid `vfcvt.rtz`: QEMU 7.2 stops at one that is the first rounding instruction of its block.
    """
    lanes = lanes_of(x)
    if lanes == 1:
        return b.fptosi(x, I64)
    size, limit = intrinsic(b, "llvm.fabs", x), splat(x.type, 2.0**52)
    near = b.fsub(b.fadd(size, limit), limit)
    down = b.select(b.fcmp_ordered(">", near, size), b.fsub(near, splat(x.type, 1.0)), near)
    whole = intrinsic(b, "llvm.copysign", b.select(b.fcmp_ordered("<", size, limit), down, size), x)
    name = f"llvm.lrint.v{lanes}i64.v{lanes}f64"
    type_ = ir.FunctionType(vector(I64, lanes), [x.type])
    return b.call(b.module.globals.get(name) or ir.Function(b.module, type_, name), [whole])


def at(b: Builder, array: ArrayOperand, offset: Value) -> Value:
    """Return the address of the element at `offset` (elements from the first)."""
    stored = I8 if array.dtype.kind == "b" else element(array.dtype)
    return b.gep(array.pointer, [offset], inbounds=True, source_etype=stored)


def moved_bytes(b: Builder, pointer: Value, offset: int) -> Value:
    """Return an address moved by bytes."""
    return b.gep(pointer, [index(offset)], source_etype=I8) if offset else pointer


def load(b: Builder, array: ArrayOperand, offset: Value, dtype: np.dtype | None = None, lanes: int = 1) -> Value:
    """Load the element at `offset`, or `lanes` adjacent elements, converted to `dtype`."""
    if array.constant is not None:
        target = dtype or array.dtype
        return number(target, np.array(array.constant, array.dtype).astype(target).item(), lanes)
    stored = I8 if array.dtype.kind == "b" else element(array.dtype)
    value = b.load(at(b, array, offset), typ=vector(stored, lanes), align=array.dtype.itemsize)
    if array.dtype.kind == "b":
        value = b.icmp_unsigned("!=", value, splat(vector(I8, lanes), 0))
    return value if dtype is None else convert(b, value, array.dtype, dtype)


def load_spread(b: Builder, array: ArrayOperand, offset: Value, dtype: np.dtype, lanes: int, stride: int) -> Value:
    """Load adjacent elements (stride 1) or one element into all lanes (stride 0)."""
    if lanes > 1 and stride == 0 and array.constant is None:
        return spread(b, load(b, array, offset, dtype), lanes)
    return load(b, array, offset, dtype, lanes)


def store(b: Builder, array: ArrayOperand, offset: Value, value: Value) -> None:
    """Store an element, or adjacent elements; `value` has the array's dtype."""
    if array.dtype.kind == "b":
        value = b.zext(value, vector(I8, lanes_of(value)))
    b.store(value, at(b, array, offset), align=array.dtype.itemsize)


def intrinsic(b: Builder, name: str, *values: Value) -> Value:
    """Emit a call of an LLVM intrinsic that is overloaded on one type, such as `llvm.fabs`."""
    type_ = values[0].type
    short = f"v{type_.count}{_short(type_.element)}" if isinstance(type_, ir.VectorType) else _short(type_)
    function = ir.FunctionType(type_, [type_] * len(values))
    full = f"{name}.{short}"
    found = b.module.globals.get(full)
    return b.call(found or ir.Function(b.module, function, full), values)


def _short(type_: Any) -> str:
    return {"float": "f32", "double": "f64"}.get(str(type_), str(type_))


def fused(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Emit x * y + z, rounded once."""
    return intrinsic(b, "llvm.fma", x, y, z)


def fence(b: Builder) -> None:
    """Prevent loads and stores from moving across this point; emits no instruction.

    Without it, LLVM's scheduler gathers the loads of several unrolled steps, more than there are registers.
    """
    b.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], side_effect=True)
