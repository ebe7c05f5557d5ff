"""The static memory plan: where code, weights, inputs, results, scratch and stack lie.

Every operation's result has a buffer of its own for the whole run, since every tensor is read back for the trace.
Regions are separated by an unmapped page, and weights and inputs are read-only, so that an access out of its buffer's
region is caught and not computed with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute, SSAValue

from fleet.errors import DeviceError
from fleet.ir.dialect import FleetOp, PrintOp
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of

CODE_BASE = 0x8000_0000
"""Where code is linked to: the start of RAM of common RISC-V machines (QEMU's `virt`, Spike)."""
CODE_SPACE = 0x0400_0000
STACK_BYTES = 0x4_0000
LIMIT = 0x7FF0_0000
"""Bytes from `CODE_BASE` that the medium code model reaches with one auipc pair."""
ALIGN = 64
PAGE = 0x1000

DTYPES: tuple[str, ...] = ("float32", "float64", "int32", "int64")
"""What the RISC-V target computes with."""


@dataclass(frozen=True)
class Buffer:
    """One array in memory, C-contiguous, little-endian, aligned to 64 bytes.

    symbol is its name in the image; name is the argument's name or the operation's id.
    """

    name: str
    symbol: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True)
class Region:
    """A range of pages with one kind of access; `size` is a multiple of the page size and may be 0."""

    name: str
    address: int
    size: int
    writable: bool


@dataclass(frozen=True)
class MemoryPlan:
    """Where everything lies.

    Attributes:
        weights, inputs: argument name -> buffer.
        results: operation id -> buffer, in program order (`print` has none).
        scratch: address and size in bytes of the workspace that operations share (packed matrix columns).
        stack: [lowest address, initial stack pointer).
        regions: what an emulator maps besides the image; disjoint, ascending, unmapped pages between.
        outputs: for every output of the program, in order, the buffer that holds it.
    """

    weights: Mapping[str, Buffer]
    inputs: Mapping[str, Buffer]
    results: Mapping[str, Buffer]
    scratch: tuple[int, int]
    stack: tuple[int, int]
    regions: tuple[Region, ...]
    outputs: tuple[tuple[str, Buffer], ...]

    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers."""
        return (*self.weights.values(), *self.inputs.values(), *self.results.values())


def refuse(op: FleetOp, what: str, hint: str | None = None) -> DeviceError:
    """The error for an operation that this target cannot do: names its id and its place in the source."""
    name, at = op.properties.get("id"), op.properties.get("at")
    id_ = str(getattr(name, "data", "without an id"))
    return DeviceError(f"operation {id_} ({op.name}) on riscv: {what}", where=getattr(at, "data", None), hint=hint)


def identity(op: FleetOp) -> str:
    """The operation's id. Raises DeviceError where it has none."""
    attr = op.properties.get("id")
    if attr is None:
        raise refuse(op, "every operation needs an id", "compile through the front end")
    return str(getattr(attr, "data", attr))


def symbol_part(text: str) -> str:
    """`text` with everything that an assembler would need quotes for replaced by `_`."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", text)


def dtype_of(type_: Attribute) -> np.dtype | None:
    """The NumPy dtype of an IR type if this target computes with it, else None."""
    try:
        dtype = numpy_dtype(type_)
    except KeyError:
        return None
    return dtype if dtype.name in DTYPES else None


class _Cursor:
    """Hands out addresses in ascending order."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.start = address
        self.regions: list[Region] = []

    def take(self, size: int) -> int:
        address = -(-self.address // ALIGN) * ALIGN
        self.address = address + size
        return address

    def close(self, name: str, *, writable: bool) -> None:
        end = -(-self.address // PAGE) * PAGE
        self.regions.append(Region(name, self.start, end - self.start, writable))
        self.address = self.start = end + PAGE


def make_plan(program: Program, scratch_bytes: int) -> tuple[MemoryPlan, dict[SSAValue, Buffer]]:
    """Lays out memory for a program.

    Args:
        program: shapes must be static.
        scratch_bytes: largest workspace of any operation.

    Returns:
        The plan, and the buffer of every value of the function.

    Raises:
        DeviceError: a dtype or shape that the target lacks, two operations with one id, or more than 2 GiB.
    """
    of: dict[SSAValue, Buffer] = {}
    cursor = _Cursor(CODE_BASE + CODE_SPACE)
    groups: dict[str, dict[str, Buffer]] = {"weight": {}, "input": {}}
    block = program.function.body.block
    for kind, region in (("weight", "weights"), ("input", "inputs")):
        for n, (argument, value) in enumerate(zip(program.arguments, block.args, strict=True)):
            if argument.kind != kind:
                continue
            buffer = _buffer(cursor, argument.name, f"{kind}_{n}_{symbol_part(argument.name)}", value.type)
            if buffer is None:
                raise DeviceError(
                    f"argument {argument.name!r} has dtype {argument.dtype} and shape {argument.shape} on riscv; "
                    f"expected a static shape and one of {', '.join(DTYPES)}",
                    where=program.source_name,
                    hint="cast it in the model",
                )
            of[value] = groups[kind][argument.name] = buffer
        cursor.close(region, writable=False)
    results: dict[str, Buffer] = {}
    for n, op in enumerate(program.operations()):
        id_ = identity(op)
        if isinstance(op, PrintOp):
            continue
        buffer = _buffer(cursor, id_, f"result_{n}_{symbol_part(id_)}", op.results[0].type)
        if buffer is None:
            raise refuse(op, f"result type {op.results[0].type}; supported are static shapes of {', '.join(DTYPES)}")
        if id_ in results:
            raise refuse(op, "two operations have this id")
        of[op.results[0]] = results[id_] = buffer
    cursor.close("results", writable=True)
    scratch = (cursor.take(scratch_bytes), scratch_bytes)
    cursor.close("scratch", writable=True)
    low = cursor.take(STACK_BYTES)
    stack = (low, low + STACK_BYTES)
    cursor.close("stack", writable=True)
    if cursor.address - CODE_BASE > LIMIT:
        have = (cursor.address - CODE_BASE) >> 20
        raise DeviceError(
            f"the model needs {have} MiB; the RISC-V program reaches {LIMIT >> 20} MiB",
            where=program.source_name,
            hint="use a smaller batch",
        )
    outputs = tuple((name, of[value]) for name, value in zip(program.outputs, program.returned(), strict=True))
    regions = tuple(region for region in cursor.regions if region.size)
    return MemoryPlan(groups["weight"], groups["input"], results, scratch, stack, regions, outputs), of


def _buffer(cursor: _Cursor, name: str, symbol: str, type_: Attribute) -> Buffer | None:
    dtype, shape = dtype_of(type_), shape_of(type_)
    if dtype is None or any(d < 0 for d in shape):
        return None
    buffer = Buffer(name, symbol, 0, shape, dtype)
    return Buffer(name, symbol, cursor.take(buffer.nbytes), shape, dtype)
