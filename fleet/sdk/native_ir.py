"""Small helpers over llvmlite's IR builder for functions that run on this machine (`fleet.sdk.native` compiles them).

Everything is opaque pointers and byte offsets: a function gets addresses and 64-bit integers. Floating-point operations are
plain, without fast-math flags, so LLVM neither fuses nor reorders them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import llvmlite.ir

ir: Any = llvmlite.ir  # llvmlite has no type information

Value = Any
"""An llvmlite IR value or type (the library has no type information)."""

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()


def vector(element: Value, lanes: int) -> Value:
    """The type <lanes x element>."""
    return ir.VectorType(element, lanes)


def splat(typ: Value, value: float) -> Value:
    """A constant of a scalar type, or of a vector type with all lanes equal."""
    if isinstance(typ, ir.VectorType):
        return ir.Constant(typ, [ir.Constant(typ.element, value)] * typ.count)
    return ir.Constant(typ, value)


class NativeEmitter:
    """Builds one function: `builder` is llvmlite's, the rest is what it lacks. Arguments by name: `emitter["tokens"]`."""

    def __init__(self, module: Value, name: str, result: Value, arguments: Sequence[tuple[str, Value]], *, private: bool = False):
        self.module = module
        self.function = ir.Function(module, ir.FunctionType(result, [t for _, t in arguments]), name)
        if private:
            self.function.linkage = "internal"
        self._arguments = {n: a for (n, _), a in zip(arguments, self.function.args, strict=True)}
        self._entry = self.function.append_basic_block("entry")
        body = self.function.append_basic_block("body")
        ir.IRBuilder(self._entry).branch(body)
        self.builder: Value = ir.IRBuilder(body)

    def __getitem__(self, name: str) -> Value:
        return self._arguments[name]

    def room(self, typ: Value, count: int = 1) -> Value:
        """Memory on the stack for `count` of `typ`, aligned to 64 bytes, made once at the function's start."""
        b: Value = ir.IRBuilder(self._entry)
        b.position_before(self._entry.terminator)
        slot = b.alloca(typ if count == 1 else ir.ArrayType(typ, count))
        slot.align = 64
        slot.type = POINTER  # llvmlite would give it a typed one, which LLVM no longer has
        return slot

    def number(self, value: int) -> Value:
        """An i64 constant."""
        return ir.Constant(I64, value)

    def at(self, pointer: Value, offset: Value | int) -> Value:
        """The address `offset` bytes behind `pointer`."""
        return self.builder.gep(pointer, [self.number(offset) if isinstance(offset, int) else offset], source_etype=I8)

    def load(self, typ: Value, pointer: Value, offset: Value | int = 0, align: int = 1) -> Value:
        """The `typ` at `offset` bytes behind `pointer`."""
        return self.builder.load(self.at(pointer, offset), typ=typ, align=align)

    def store(self, value: Value, pointer: Value, offset: Value | int = 0, align: int = 1) -> None:
        """Stores at `offset` bytes behind `pointer`."""
        self.builder.store(value, self.at(pointer, offset), align=align)

    def scaled(self, value: Value, factor: int) -> Value:
        """value * factor in 64 bits."""
        return self.builder.mul(value, self.number(factor))

    def broadcast(self, value: Value, lanes: int) -> Value:
        """A vector with `value` in every lane."""
        typ = vector(value.type, lanes)
        first = self.builder.insert_element(ir.Constant(typ, ir.Undefined), value, ir.Constant(I32, 0))
        return self.shuffle(first, first, [0] * lanes)

    def shuffle(self, left: Value, right: Value, lanes: Sequence[int]) -> Value:
        """The chosen lanes of `left` followed by `right`."""
        return self.builder.shuffle_vector(left, right, ir.Constant(vector(I32, len(lanes)), list(lanes)))

    def concatenate(self, parts: Sequence[Value]) -> Value:
        """One vector of all (a power of two of them, all of one type)."""
        parts = list(parts)
        while len(parts) > 1:
            lanes = range(2 * parts[0].type.count)
            parts = [self.shuffle(a, b, lanes) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def call(self, name: str, result: Value, *arguments: Value) -> Value:
        """Calls an intrinsic of LLVM, declared when first used."""
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, [a.type for a in arguments]), name)
        return self.builder.call(known, arguments)

    @contextmanager
    def loop(self, start: Value | int, stop: Value | int, step: int = 1) -> Generator[Value]:
        """A counted loop, tested before the body; yields the i64 counter."""
        b = self.builder
        start, stop = (self.number(v) if isinstance(v, int) else v for v in (start, stop))
        before, head = b.block, b.append_basic_block("loop")
        body, leave = b.append_basic_block("body"), b.append_basic_block("done")
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(I64)
        i.add_incoming(start, before)
        b.cbranch(b.icmp_signed("<", i, stop), body, leave)
        b.position_at_end(body)
        yield i
        following = b.add(i, self.number(step), flags=("nuw", "nsw"))
        i.add_incoming(following, b.block)
        b.branch(head)
        b.position_at_end(leave)


Emitter = NativeEmitter
"""Name of `NativeEmitter` until 2.5."""
