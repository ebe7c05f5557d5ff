"""Conditions that make an instruction illegal, with the cause that hardware reports: the first that applies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.sdk import Device
from fleet.sets.vgemm.operands import (
    AluOp,
    AluOperands,
    ErrorCause,
    FinishOperands,
    LoadOperands,
    MemoryType,
    StoreOperands,
)
from fleet.sets.vgemm.pads import BEAT, element_bytes, pad
from fleet.sets.vgemm.shapes import OPERANDS, Loops, Transfer, columns, rows


def module_of(operands: Transfer | Loops | FinishOperands) -> str:
    """Return the module that executes the instruction: "load", "compute" or "store"; "" for FINISH."""
    if isinstance(operands, LoadOperands):
        return "load" if operands.memory_type in (MemoryType.WGT, MemoryType.INP) else "compute"
    if isinstance(operands, StoreOperands):
        return "store"
    return "" if isinstance(operands, FinishOperands) else "compute"


def refusal(name: str, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
    """Return (cause, reason); None for a legal call."""
    return next(_checks(name, device, fields), None)


def _checks(name: str, device: Device, fields: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    operands = OPERANDS[name].decode(fields)
    for register, mask, expected in operands.stray_bits(fields):
        yield ErrorCause.ILLEGAL_MODE, f"{register} is {fields[register]:#x}, expected {expected:#x} in bits {mask:#x}"
    if isinstance(operands, Transfer):
        yield from _transfer(device, operands)
    elif isinstance(operands, Loops):
        yield from _loops(device, operands)


def _transfer(device: Device, t: Transfer) -> Iterator[tuple[int, str]]:
    allowed = (0, 1, 2, 3) if isinstance(t, LoadOperands) else (3, 4)
    if t.memory_type not in allowed:
        yield ErrorCause.ILLEGAL_MODE, f"memory_type is {t.memory_type}, expected one of {allowed}"
        return
    kind = t.memory_type
    if wrong := _queues(t):
        yield ErrorCause.BAD_DEPENDENCY, wrong
    if t.y_size == 0 or t.x_size == 0:
        yield ErrorCause.BAD_SIZE, f"the range is {t.y_size} by {t.x_size} elements, expected at least 1 by 1"
    if t.x_stride < t.x_size:
        yield ErrorCause.BAD_SIZE, f"x_stride is {t.x_stride}, expected at least x_size, {t.x_size}"
    element, depth = element_bytes(device, kind), pad(device, kind).depth
    if t.address % min(element, BEAT):
        yield ErrorCause.UNALIGNED, f"the offset is {t.address:#x}, expected a multiple of {min(element, BEAT)}"
    end = t.sram_base + rows(t) * columns(t)
    if end > depth:
        yield ErrorCause.OUT_OF_RANGE, f"the range ends at element {end}, the scratchpad has {depth}"
    end = t.address + ((t.y_size - 1) * t.x_stride + t.x_size) * element
    if end > device.memory["ddr"]:
        yield ErrorCause.OUT_OF_RANGE, f"the range ends at {end:#x}, DDR has {device.memory['ddr']:#x} bytes"


def _queues(t: Transfer) -> str:
    module = module_of(t)
    if module == "load" and (t.pop_prev or t.push_prev):
        return "there is no module before load"
    if module == "store" and (t.pop_next or t.push_next):
        return "there is no module behind store"
    return ""


def _loops(device: Device, loops: Loops) -> Iterator[tuple[int, str]]:
    if isinstance(loops, AluOperands) and loops.op > AluOp.MUL:
        yield ErrorCause.ILLEGAL_MODE, f"op is {loops.op}, expected 0 to {int(AluOp.MUL)}"
    if 0 in (loops.iter_out, loops.iter_in):
        yield ErrorCause.BAD_SIZE, f"the loops are {loops.iter_out} by {loops.iter_in}, expected at least 1 by 1"
    begin, end = loops.uop_begin, loops.uop_end
    if begin >= end:
        yield ErrorCause.BAD_SIZE, f"micro-operations {begin} to {end}, expected at least one"
    if end > device.parameters["UopDepth"]:
        yield ErrorCause.OUT_OF_RANGE, f"uop_end is {end}, the scratchpad has {device.parameters['UopDepth']}"
