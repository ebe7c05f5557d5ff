"""The compiled stream as comparisons need it: groups, figures of each call, the element at a memory address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.compare.divergence import Operands, StreamEvidence
from fleet.compare.traces import CallFigures
from fleet.errors import FleetError
from fleet.ir.dialect import ConstantOp, kind_of, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.operations.composite import covered_ids
from fleet.ir.program import Program
from fleet.isa.description import parameter_values
from fleet.isa.memory import MappedMemory, as_bytes
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Device, InstructionSet, Layout

if TYPE_CHECKING:
    from fleet.targets.accel.program import AccelProgram


@dataclass(frozen=True)
class CompiledStream:
    """A compiled program (`AccelProgram`) and what comparisons derive from it."""

    compiled: AccelProgram

    @property
    def rounded(self) -> Program:
        """The program with the weights as the device stores them."""
        return self.compiled.rounded

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Calls of all instructions, in commit order."""
        return tuple(self.compiled.calls)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Operation ids of each device group."""
        return tuple(g.ops for g in self.compiled.groups)

    @cached_property
    def absorbed(self) -> dict[str, str]:
        """Operations of the model that the compiled program lacks, each with the reason."""
        compiled = self.compiled.program
        found = {op_id(op): "not in the compiled program" for op in self.compiled.model.operations()}
        found |= compiled.fates
        for op in compiled.operations():
            name = f"fused into {op_id(op)}, where the compiler found {kind_of(op)}"
            found |= dict.fromkeys(covered_ids(op), name)
        for op in compiled.operations():
            if isinstance(op, ConstantOp):
                found[op_id(op)] = "folded: the compiled program has a number in its place"
            else:
                found.pop(op_id(op), None)
        return found

    @cached_property
    def inner(self) -> dict[str, str]:
        """Operations whose value is never written to memory, each with the reason."""
        return self.absorbed | {
            op: "fused on the device: its value never leaves the unit, its error shows in the value that its group leaves"
            for g in self.compiled.groups
            for op in g.ops
            if op not in g.results
        }

    def figures(self, memory: str = "ideal") -> tuple[CallFigures, ...]:
        """Return the instruction classes' figures for each call. memory: memory model of the run, as `RunOptions` names it."""
        return tuple(_figures(self.compiled.instruction_set, self.compiled.device, call, memory) for call in self.calls)

    def evidence(self, folder: Path | None, operands: Operands | None = None) -> StreamEvidence:
        """Return the evidence for `divergence.explain`. folder: searched for the newest `ddr.bin` that the engine left, or None."""
        memory = None
        if folder is not None and folder.is_dir():
            images = sorted(folder.rglob("ddr.bin"), key=lambda p: p.stat().st_mtime)
            if images:
                memory = MappedMemory(self.compiled.device, images[-1].parent)
                memory.set_registers(parameter_values(load(self.compiled.instruction_set.description), self.compiled.parameters))
        damage = tuple(self._damage(memory)) if memory is not None else ()
        return StreamEvidence(
            self.compiled.instruction_set, self.compiled.device, self.calls, memory, self._locate, operands, damage
        )

    def _damage(self, memory: MappedMemory) -> Iterator[str]:
        """Yield a line for each constant of the plan that `memory` does not hold, with its first wrong byte."""
        for name, constant in self.compiled.plan.constants.items():
            for bank, data in enumerate(constant.data):
                packed = as_bytes(data)
                found = memory.view(constant.space, constant.offset, packed.size, bank)
                wrong = np.flatnonzero(packed != found)
                if wrong.size:
                    at, port = int(wrong[0]), f" port {bank}" if constant.space == "hbm" else ""
                    more = f" ({wrong.size} bytes differ)" if wrong.size > 1 else ""
                    place = f"{name} at {constant.space}{port} {constant.offset + at:#x}"
                    yield f"{place}: packed {int(packed[at]):#04x}, found {int(found[at]):#04x}{more}"

    def _locate(self, ops: tuple[str, ...], space: str, bank: int, address: int) -> tuple[int, ...] | None:
        """Return the coordinates of the element at a DDR address, within a tensor that the group leaves there, or None."""
        if space != "ddr":
            return None
        for op in ops:
            buffer = self.compiled.plan.buffers.get(op)
            if buffer is not None and buffer.offset <= address < buffer.offset + buffer.size:
                element = _element_at(self.compiled.instruction_set.layout, buffer.shape, buffer.dtype, address - buffer.offset)
                return None if element is None else tuple(int(i) for i in np.unravel_index(element, buffer.shape))
        return None


def open_stream(program: Program, device: str, lowering: LoweringOptions) -> CompiledStream:
    """Compile the program for a device (cached by content). Raises FleetError if it does not compile."""
    from fleet.isa.registry import find_device
    from fleet.targets.accel.compile import compile_accel

    instruction_set, chip = find_device(device)
    return CompiledStream(compile_accel(program, instruction_set, chip, lowering))


def _figures(instruction_set: InstructionSet, device: Device, call: Call, memory: str) -> CallFigures:
    cls = instruction_set.instructions[call.instruction]
    useful, issued = cls.macs(device, call.fields)
    least: dict[str, int] = {}
    for kind, ranges in (("read", cls.reads(device, call.fields)), ("write", cls.writes(device, call.fields))):
        for r in ranges:
            least[f"{r.space}_{kind}"] = least.get(f"{r.space}_{kind}", 0) + r.size
    macs: tuple[int | None, int | None] = (useful, issued) if issued else (None, None)
    unit = cls.executes_in or load(instruction_set.description).instructions[call.instruction].unit
    expected = cls.expected_cycles(device, call.fields, memory.partition(":")[0])
    return CallFigures(*macs, expected, least, unit)


def _element_at(layout: Layout, shape: tuple[int, ...], dtype: np.dtype, byte: int) -> int | None:
    """Return the number in C order of the element that a byte of a tensor belongs to; None for fill, or an unknown arrangement."""
    try:
        a = layout.arrangement(shape, dtype)
    except FleetError:
        elements = _elements_by_halfword(layout.pack, shape, dtype)
        return None if elements is None or byte // 2 >= elements.size or elements[byte // 2] < 0 else int(elements[byte // 2])
    numbers = a.of(np.arange(a.count)).reshape(a.rows, a.blocks * a.lanes)[:, : a.channels]
    found = np.flatnonzero(numbers == byte // a.number.itemsize)
    return int(found[0]) if found.size else None


def _elements_by_halfword(pack: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
    """Return the flat element index for each 16-bit word of a packed tensor, -1 for padding; None if the layout cannot be derived.

    The layout is derived by packing the indices: three digits of base 1000, each plus one, are exact in float16.
    """
    index = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    if dtype.kind != "f":
        return _elements_of_words(pack, index, dtype)
    try:
        digits: list[np.ndarray] = []
        for digit in (index % 1000, index // 1000 % 1000, index // 1000000):
            packed = np.ascontiguousarray(pack((digit + 1).astype(dtype)))
            digits.append(packed.view("<f2").astype(np.int64))
    except (FleetError, ValueError):
        return None
    low, middle, high = digits
    return np.where(low > 0, (high - 1) * 1000000 + (middle - 1) * 1000 + low - 1, -1)


def _elements_of_words(pack: Callable[[np.ndarray], np.ndarray], index: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """Return the flat element index for each 16-bit word of a packed integer tensor; None unless it is packed as 32-bit words."""
    try:
        packed = np.ascontiguousarray(pack((index + 1).astype(dtype))).view("<u4").astype(np.int64)
    except (FleetError, ValueError):
        return None
    if not np.array_equal(np.sort(packed[packed > 0]), np.arange(1, index.size + 1)):
        return None
    return np.repeat(packed - 1, 2)
