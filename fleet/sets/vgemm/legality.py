"""What makes an instruction illegal, and the cause for which hardware refuses it: the first that holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.sdk import Device
from fleet.sets.vgemm.pads import BEAT, element_bytes, pad
from fleet.sets.vgemm.words import AluOp, Flags, Loops, MemoryType, Opcode, Transfer, raw_words

__all__ = ["module_of", "refusal"]

ILLEGAL_MODE, BAD_SIZE, UNALIGNED, OUT_OF_RANGE, BAD_DEPENDENCY = 1, 2, 3, 4, 8
"""Causes, as the description numbers them."""

_OPCODES = {"load": Opcode.LOAD, "store": Opcode.STORE, "gemm": Opcode.GEMM, "alu": Opcode.ALU, "finish": Opcode.FINISH}

_RESERVED = {
    "load": (0xFC00, 0, 0, 0),
    "store": (0xFC00, 0, 0, 0xFFFF_0000),
    "gemm": (0, 0xF000_0000, 0, 0),
    "alu": (0x80, 0, 0, 0xFC00),
    "finish": (0xFFFF_FFF8, 0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF),
}


def module_of(name: str, fields: Mapping[str, int]) -> str:
    """ "load", "compute" or "store": who executes the call; "" for FINISH."""
    if name == "load":
        return "load" if fields["load_w0"] >> 7 & 7 in (MemoryType.WGT, MemoryType.INP) else "compute"
    return {"store": "store", "gemm": "compute", "alu": "compute"}.get(name, "")


def refusal(name: str, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
    """(cause, why); None for a legal call."""
    return next(_checks(name, device, fields), None)


def _checks(name: str, device: Device, fields: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    opcode, words = _OPCODES[name], raw_words(name, fields)
    if fields["cmd_start"] != opcode:
        yield ILLEGAL_MODE, f"cmd_start is {fields['cmd_start']}, expected {int(opcode)}"
    if words[0] & 7 != opcode:
        yield ILLEGAL_MODE, f"the opcode of {name}_w0 is {words[0] & 7}, expected {int(opcode)}"
    for i, (word, mask) in enumerate(zip(words, _RESERVED[name], strict=True)):
        if word & mask:
            yield ILLEGAL_MODE, f"{name}_w{i} is {word:#x}, expected bits {mask:#x} to be 0"
    if name in {"load", "store"}:
        yield from _transfer(name, device, Transfer.of(name, fields), module_of(name, fields))
    elif name in {"gemm", "alu"}:
        yield from _loops(name, device, Loops.of(name, fields))


def _transfer(name: str, device: Device, t: Transfer, module: str) -> Iterator[tuple[int, str]]:
    allowed = (0, 1, 2, 3) if name == "load" else (3, 4)
    if t.memory_type not in allowed:
        yield ILLEGAL_MODE, f"memory_type is {t.memory_type}, expected one of {allowed}"
        return
    kind = MemoryType(t.memory_type)
    if wrong := _queues(module, t.flags):
        yield BAD_DEPENDENCY, wrong
    if t.y_size == 0 or t.x_size == 0:
        yield BAD_SIZE, f"the range is {t.y_size} by {t.x_size} elements, expected at least 1 by 1"
    if t.x_stride < t.x_size:
        yield BAD_SIZE, f"x_stride is {t.x_stride}, expected at least x_size, {t.x_size}"
    element, depth = element_bytes(device, kind), pad(device, kind).depth
    if t.address % min(element, BEAT):
        yield UNALIGNED, f"the offset is {t.address:#x}, expected a multiple of {min(element, BEAT)}"
    end = t.sram_base + t.rows * t.columns
    if end > depth:
        yield OUT_OF_RANGE, f"the range ends at element {end}, the scratchpad has {depth}"
    end = t.address + ((t.y_size - 1) * t.x_stride + t.x_size) * element
    if end > device.memory["ddr"]:
        yield OUT_OF_RANGE, f"the range ends at {end:#x}, DDR has {device.memory['ddr']:#x} bytes"


def _queues(module: str, flags: Flags) -> str:
    if module == "load" and (flags.pop_prev or flags.push_prev):
        return "there is no module before load"
    if module == "store" and (flags.pop_next or flags.push_next):
        return "there is no module behind store"
    return ""


def _loops(name: str, device: Device, loops: Loops) -> Iterator[tuple[int, str]]:
    if name == "alu" and loops.op > AluOp.MUL:
        yield ILLEGAL_MODE, f"op is {loops.op}, expected 0 to {int(AluOp.MUL)}"
    if 0 in loops.extents:
        yield BAD_SIZE, f"the loops are {loops.extents[0]} by {loops.extents[1]}, expected at least 1 by 1"
    begin, end = loops.uops
    if begin >= end:
        yield BAD_SIZE, f"micro-operations {begin} to {end}, expected at least one"
    if end > device.parameters["UopDepth"]:
        yield OUT_OF_RANGE, f"uop_end is {end}, the scratchpad has {device.parameters['UopDepth']}"
