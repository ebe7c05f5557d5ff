"""The static memory plan: places of code, weights, inputs, results, scratch and stack.

Results that are not kept for the trace share memory. Each lives from its operation to the last one that reads it or a view of it,
and two that live at the same time never overlap (`liveness`). A view lies in its operand's memory. An unmapped page separates
regions, and weights and inputs are read-only, so that an access outside of a buffer's region is detected instead of computed with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from fleet.errors import DeviceError
from fleet.ir.dialect import ElementOp, FleetOp, PrintOp, RegionOp, name_of, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.liveness import FOREVER, Life, Lives
from fleet.targets.memory_block import MemoryBlock
from fleet.targets.planner import round_up
from fleet.targets.riscv.views import view_of

ENTRY = "fleet_main"
"""The function that a run begins at."""
HOST_SYMBOL = "fn_host_call"
"""The function that begins with the `ebreak` of a call of the host; its two arguments are in a0 and a1."""
CODE_BASE = 0x8000_0000
"""Link address of the code: the start of RAM on common RISC-V machines (QEMU's `virt`, Spike)."""
CODE_SPACE = 0x0400_0000
STACK_BYTES = 0x4_0000
LIMIT = 0x7FF0_0000
"""Bytes from `CODE_BASE` that the medium code model reaches with one auipc pair."""
ALIGN = 64
PAGE = 0x1000

_INTEGERS = tuple(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))
DTYPES: tuple[str, ...] = ("float16", "float32", "float64", "bool", *_INTEGERS)
"""The dtypes that the RISC-V target supports; float16 in memory only (pass widen-halves)."""
HELD = np.dtype(object)
"""The dtype of a buffer without memory: the host keeps the value (`fleet.targets.riscv.host_calls`)."""


@dataclass(frozen=True)
class Buffer:
    """One array in memory, little-endian; C-contiguous and aligned to 64 bytes unless it is a view.

    symbol: its name in the image. name: the argument's name or the operation's id. address: of its first element. strides: in
    elements, by dimension; None for a C-contiguous array with its own memory.
    """

    name: str
    symbol: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.size * self.dtype.itemsize

    @property
    def steps(self) -> tuple[int, ...]:
        """Strides in elements."""
        if self.strides is not None:
            return self.strides
        return tuple(int(np.prod(self.shape[d + 1 :], dtype=np.int64)) for d in range(len(self.shape)))

    @property
    def extent(self) -> tuple[int, int]:
        """Lowest address and number of bytes of the memory that contains its elements."""
        if not self.size:
            return self.address, 0
        reach = [(n - 1) * s for n, s in zip(self.shape, self.steps, strict=True)]
        low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
        return self.address + low * self.dtype.itemsize, (high - low + 1) * self.dtype.itemsize


@dataclass(frozen=True)
class Region:
    """A range of pages with one kind of access. size: a multiple of the page size, may be 0."""

    name: str
    address: int
    size: int
    writable: bool


@dataclass(frozen=True)
class MemoryPlan:
    """The places of everything.

    Attributes:
        weights, inputs: argument name -> buffer.
        results: operation id -> buffer, in program order (`print` has none).
        tuples: ids of results that are tuples: bytes that contain other results.
        scratch: address and size in bytes of the workspace that operations share (packed matrix columns).
        stack: [lowest address, initial stack pointer).
        regions: what an emulator maps besides the image; disjoint, ascending, with unmapped pages between.
        outputs: for every output of the program, in order, its buffer.
        kept: whether every result is readable after the run; else only outputs and printed values are.
        lives: (operation id, address, bytes, first and last operation that need it) of every result with its own memory.
    """

    weights: Mapping[str, Buffer]
    inputs: Mapping[str, Buffer]
    results: Mapping[str, Buffer]
    scratch: tuple[int, int]
    stack: tuple[int, int]
    regions: tuple[Region, ...]
    outputs: tuple[tuple[str, Buffer], ...]
    kept: bool
    lives: tuple[tuple[str, int, int, int, int], ...]
    tuples: frozenset[str] = frozenset()

    @property
    def tensors(self) -> Mapping[str, Buffer]:
        """The results that are arrays or numbers."""
        return {id_: buffer for id_, buffer in self.results.items() if id_ not in self.tuples} if self.tuples else self.results

    @property
    def result_bytes(self) -> int:
        """Memory of all results; `unshared_bytes` is the size without sharing."""
        return max((address + size for _, address, size, _, _ in self.lives), default=0) - min(
            (address for _, address, _, _, _ in self.lives), default=0
        )

    @property
    def unshared_bytes(self) -> int:
        """Sum of the sizes of all results with their own memory."""
        return sum(round_up(size, ALIGN) for _, _, size, _, _ in self.lives)

    def buffers(self) -> tuple[Buffer, ...]:
        """Return all buffers."""
        return (*self.weights.values(), *self.inputs.values(), *self.results.values())


def refuse(op: FleetOp, what: str, hint: str | None = None) -> DeviceError:
    """Return the error for an operation that this target does not support; names its id and its place in the source."""
    name, at = op.properties.get("id"), op.properties.get("at")
    id_ = str(getattr(name, "data", "without an id"))
    return DeviceError(f"operation {id_} ({name_of(op)}) on riscv: {what}", where=getattr(at, "data", None), hint=hint)


def identity(op: FleetOp) -> str:
    """Return the operation's id. Raises DeviceError if it has none."""
    attr = op.properties.get("id")
    if attr is None:
        raise refuse(op, "every operation needs an id", "compile through the front end")
    return str(getattr(attr, "data", attr))


def symbol_part(text: str) -> str:
    """Replace every character that would need quotes in an assembler by `_`."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", text)


def dtype_of(type_: Attribute) -> np.dtype | None:
    """Return the NumPy dtype of an IR type if this target supports it, else None."""
    try:
        dtype = numpy_dtype(type_)
    except KeyError:
        return None
    return dtype if dtype.name in DTYPES else None


def type_supported(type_: Attribute) -> bool:
    """True if values of an IR type have a place in memory: static shapes and dtypes of `DTYPES`, and tuples of these."""
    if isinstance(type_, TupleType):
        return all(map(type_supported, type_.types.data))
    return dtype_of(type_) is not None and min(shape_of(type_), default=0) >= 0


class _Regions:
    """Regions in ascending order, with an unmapped page between. block: of the one that is being filled, from `start`."""

    def __init__(self, address: int) -> None:
        self.start, self.block = address, MemoryBlock("ram", ALIGN)
        self.closed: list[Region] = []

    def take(self, key: str, size: int) -> int:
        return self.start + self.block.take(key, size)

    def close(self, name: str, *, writable: bool) -> None:
        end = round_up(self.start + self.block.end, PAGE)
        self.closed.append(Region(name, self.start, end - self.start, writable))
        self.start, self.block = end + PAGE, MemoryBlock("ram", ALIGN)


Workspace = Callable[[FleetOp, Sequence[Buffer]], int]
"""Returns the bytes of scratch that an operation needs, given its result's and operands' buffers (addresses do not matter)."""


def make_plan(
    program: Program, workspace: Workspace, *, keep: bool = True, host: bool = False, printed: bool = False
) -> tuple[MemoryPlan, dict[SSAValue, Buffer]]:
    """Plan memory for a program.

    Args:
        program: shapes must be static.
        workspace: see `Workspace`; all operations share the largest one.
        keep: whether every operation's result stays readable to the end.
        host: whether values of other dtypes and shapes are allowed, as `HELD` buffers.
        printed: whether prints have code.

    Returns:
        The plan, and the buffer of every value of the function.

    Raises:
        DeviceError: the target lacks a dtype or shape, two operations have one id, or the program needs more than 2 GiB.
    """
    of: dict[SSAValue, Buffer] = {}
    memory = _Regions(CODE_BASE + CODE_SPACE)
    groups: dict[str, dict[str, Buffer]] = {"weight": {}, "input": {}}
    block = program.function.body.block
    for kind, region in (("weight", "weights"), ("input", "inputs")):
        for n, (argument, value) in enumerate(zip(program.arguments, block.args, strict=True)):
            if argument.kind != kind:
                continue
            buffer = _buffer(argument.name, f"{kind}_{n}_{symbol_part(argument.name)}", value.type)
            if buffer.dtype == HELD and not host:
                raise DeviceError(
                    f"argument {argument.name!r} has dtype {argument.dtype} and shape {argument.shape} on riscv; "
                    f"expected a static shape and one of {', '.join(DTYPES)}",
                    where=program.source_name,
                    hint="cast it in the model",
                )
            buffer = replace(buffer, address=memory.take(argument.name, buffer.nbytes))
            of[value] = groups[kind][argument.name] = buffer
        memory.close(region, writable=False)
    arena = _Arena(program, of, memory, keep=keep, host=host, printed=printed)
    results = arena.place()
    memory.close("results", writable=True)
    scratch_bytes = max((workspace(op, arena.used(op)) for op in arena.code), default=0)
    scratch = (memory.take("scratch", scratch_bytes), scratch_bytes)
    memory.close("scratch", writable=True)
    low = memory.take("stack", STACK_BYTES)
    stack = (low, low + STACK_BYTES)
    memory.close("stack", writable=True)
    if memory.start - CODE_BASE > LIMIT:
        have = (memory.start - CODE_BASE) >> 20
        raise DeviceError(
            f"the model needs {have} MiB; the RISC-V program reaches {LIMIT >> 20} MiB",
            where=program.source_name,
            hint="use a smaller batch",
        )
    outputs = tuple((name, of[value]) for name, value in zip(program.outputs, program.returned(), strict=True))
    regions = tuple(region for region in memory.closed if region.size)
    plan = MemoryPlan(
        groups["weight"], groups["input"], results, scratch, stack, regions, outputs, kept=keep, lives=arena.lives,
        tuples=frozenset(op_id(op) for op in arena.code if isinstance(op, RegionOp)),
    )  # fmt: skip
    return plan, of


class _Arena:
    """The results of a program: which are views, how long each lives, and its place."""

    def __init__(
        self, program: Program, of: dict[SSAValue, Buffer], memory: _Regions, *, keep: bool, host: bool, printed: bool
    ) -> None:
        self.program, self.of, self._memory = program, of, memory
        self.code: list[FleetOp] = []
        self.lives: tuple[tuple[str, int, int, int, int], ...] = ()
        self._views: dict[SSAValue, tuple[SSAValue, int]] = {}
        """A value in another value's memory -> that value, and the byte offset from its first element; in program order."""
        self._lives = Lives[SSAValue]()
        self._forever = set(program.returned())
        self._keep, self._host, self._printed = keep, host, printed

    def used(self, op: FleetOp) -> list[Buffer]:
        """Return the buffers of an operation's result and operands."""
        return [self.of[value] for value in (*op.results, *op.operands)]

    def place(self) -> dict[str, Buffer]:
        """Fill `of` for all results and return them by operation id."""
        results: dict[str, SSAValue] = {}
        for n, op in enumerate(self.program.operations()):
            id_ = identity(op)
            for value in op.operands:
                self._lives.use(value, FOREVER if isinstance(op, PrintOp) else n)
            if isinstance(op, PrintOp):
                if self._printed:
                    self.code.append(op)
                continue
            buffer = _buffer(id_, f"result_{n}_{symbol_part(id_)}", op.results[0].type)
            if buffer.dtype == HELD and not self._host:
                raise refuse(op, f"type {op.results[0].type}; supported are static shapes of {', '.join(DTYPES)}")
            if id_ in results:
                raise refuse(op, "two operations have this id")
            results[id_] = result = op.results[0]
            self._define(op, buffer, n)
            if self._keep or result in self._forever:
                self._lives.use(result, FOREVER)
        lives, block = self._lives.of, self._memory.block
        block.expect({self.of[v].name: Life(self.of[v].nbytes, *ends) for v, ends in lives.items()})
        block.settle()
        for value in lives:
            self.of[value] = replace(self.of[value], address=self._memory.start + block.offset(self.of[value].name))
        self.lives = tuple((self.of[v].name, self.of[v].address, self.of[v].nbytes, *ends) for v, ends in lives.items())
        for value, (source, offset) in self._views.items():
            self.of[value] = replace(self.of[value], address=self.of[source].address + offset)
        return {id_: self.of[value] for id_, value in results.items()}

    def _define(self, op: FleetOp, buffer: Buffer, n: int) -> None:
        result = op.results[0]
        source = op.operands[0] if op.operands else None
        view = None
        if isinstance(op, ElementOp) and HELD not in (buffer.dtype, self.of[op.operand].dtype):
            self._lies_in(
                op.operand, part_offsets(op.operand.type)[0][op.index.value.data], replace(buffer, strides=buffer.steps), result
            )
            return
        if source is not None and buffer.dtype == self.of[source].dtype != HELD:
            given = self.of[source]
            try:
                view = view_of(op, given.shape, given.steps, buffer.shape)
            except ValueError as error:
                raise refuse(op, str(error)) from error
        if view is None or source is None:
            self.of[result] = buffer
            self._lives.begin(result, n)
            self.code.append(op)
        else:
            self._lies_in(source, view.offset * buffer.dtype.itemsize, replace(buffer, strides=view.strides), result)

    def _lies_in(self, source: SSAValue, offset: int, buffer: Buffer, result: SSAValue) -> None:
        self.of[result] = buffer
        self._views[result] = source, offset
        self._lives.view(result, [source])


def part_offsets(type_: Attribute) -> tuple[list[int], int]:
    """Return the byte offsets of a tuple's parts in its memory, and its size in bytes."""
    assert isinstance(type_, TupleType)
    offsets, at = list[int](), 0
    for part in type_.types.data:
        offsets.append(at)
        size = int(np.prod(shape_of(part), dtype=np.int64)) * numpy_dtype(part).itemsize
        at += round_up(size, ALIGN)
    return offsets, at


def array_of(type_: Attribute) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and dtype of an IR type's values in memory: bytes for a tuple, nothing of `HELD` for what has no place there."""
    if not type_supported(type_):
        return (0,), HELD
    if isinstance(type_, TupleType):
        return (part_offsets(type_)[1],), np.dtype(np.uint8)
    return shape_of(type_), numpy_dtype(type_)


def _buffer(name: str, symbol: str, type_: Attribute) -> Buffer:
    return Buffer(name, symbol, 0, *array_of(type_))
