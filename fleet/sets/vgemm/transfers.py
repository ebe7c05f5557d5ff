"""LOAD and STORE: between DDR and the scratchpads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Instruction, Memory, Range, Write
from fleet.sets.vgemm.legality import refusal
from fleet.sets.vgemm.operands import LoadOperands, MemoryType, StoreOperands
from fleet.sets.vgemm.pads import element_bytes, pad
from fleet.sets.vgemm.shapes import Transfer, columns, rows
from fleet.sets.vgemm.timing import load_cycles, store_cycles
from fleet.sets.vgemm.timing_timed import timed_load_cycles, timed_store_cycles

_NUMBERS = {MemoryType.UOP: "<u4", MemoryType.WGT: "|i1", MemoryType.INP: "|i1", MemoryType.ACC: "<i4", MemoryType.OUT: "|i1"}
"""dtype of an element's numbers, in the scratchpad of a LOAD and in DDR."""


def _ddr_rows(device: Device, t: Transfer) -> list[Range]:
    """Return the rows in DDR; adjacent rows form one range."""
    size = element_bytes(device, t.memory_type)
    if t.x_stride == t.x_size:
        return [Range("ddr", t.address, t.y_size * t.x_size * size)]
    return [Range("ddr", t.address + y * t.x_stride * size, t.x_size * size) for y in range(t.y_size)]


def _pad_range(device: Device, t: Transfer) -> Range:
    p = pad(device, t.memory_type)
    return Range(p.name, t.sram_base * p.row_bytes, rows(t) * columns(t) * p.row_bytes)


class Load(Instruction):
    """Elements [y_size, x_size] of DDR, with zeros around them, to consecutive elements of a scratchpad."""

    name = "load"
    operands = LoadOperands
    executes_in = "load"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Copy one block from DDR into its pad, with zeros around it."""
        t = LoadOperands.decode(fields)
        size = element_bytes(device, t.memory_type)
        block = np.zeros((rows(t), columns(t), size), np.uint8)
        for y in range(t.y_size):
            row = memory.view("ddr", t.address + y * t.x_stride * size, t.x_size * size)
            block[t.y_pad_before + y, t.x_pad_before : t.x_pad_before + t.x_size] = row.reshape(t.x_size, size)
        target = _pad_range(device, t)
        return [Write(target.space, target.offset, block.reshape(-1), dtype=_NUMBERS[t.memory_type])]

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Return the first reason for a refusal (`fleet.sets.vgemm.legality`), if any."""
        found = refusal("load", device, fields)
        return [found[1]] if found else []

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause of a refusal with its reason, or None."""
        return refusal("load", device, fields)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the rows in DDR."""
        return _ddr_rows(device, LoadOperands.decode(fields))

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the range of the scratchpad's elements, including padding zeros."""
        return [_pad_range(device, LoadOperands.decode(fields))]

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Ideal memory."""
        return load_cycles(device, LoadOperands.decode(fields))

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Return the cycles with ideal or timed memory, else None."""
        if memory == "timed":
            return timed_load_cycles(device, LoadOperands.decode(fields))
        return cls.cost(device, fields) if memory == "ideal" else None


class Store(Instruction):
    """Consecutive accumulators, or their lowest bytes, to elements [y_size, x_size] of DDR."""

    name = "store"
    operands = StoreOperands
    executes_in = "store"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """A block a range of DDR."""
        t = StoreOperands.decode(fields)
        source = _pad_range(device, t)
        data = memory.view(source.space, source.offset, source.size)
        if t.memory_type == MemoryType.OUT:
            data = data[::4]  # little-endian: the lowest byte of each
        data = np.ascontiguousarray(data)
        found: list[Write] = []
        at = 0
        for r in _ddr_rows(device, t):
            found.append(Write("ddr", r.offset, data[at : at + r.size], dtype=_NUMBERS[t.memory_type]))
            at += r.size
        return found

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Return the first reason for a refusal (`fleet.sets.vgemm.legality`), if any."""
        found = refusal("store", device, fields)
        return [found[1]] if found else []

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause of a refusal with its reason, or None."""
        return refusal("store", device, fields)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the range of the accumulators."""
        return [_pad_range(device, StoreOperands.decode(fields))]

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the rows in DDR."""
        return _ddr_rows(device, StoreOperands.decode(fields))

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Ideal memory."""
        return store_cycles(device, StoreOperands.decode(fields))

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Return the cycles with ideal or timed memory, else None."""
        if memory == "timed":
            return timed_store_cycles(device, StoreOperands.decode(fields))
        return cls.cost(device, fields) if memory == "ideal" else None
