"""The state map of a description: on-chip memories and state registers."""

from __future__ import annotations

import numpy as np
from systemrdl.node import AddrmapNode, MemNode, RegNode

from fleet.errors import DeviceError
from fleet.isa.description import MemoryWord, Register
from fleet.isa.reading.nodes import check_name, error_at, fields_of, integer_of, text_of, where_of
from fleet.sdk.hardware.state import OnChipMemory, evaluated

RESETS: tuple[str, ...] = ("undefined", "zeros")
"""Values of `fleet_reset`: content of a memory after reset."""


def state_of(top: AddrmapNode) -> tuple[tuple[MemoryWord, ...], tuple[Register, ...]]:
    """Memories and registers, both in the order of the file. Raises DescriptionError."""
    memories: list[MemoryWord] = []
    registers: list[Register] = []
    for node in top.children(unroll=True):
        if isinstance(node, MemNode):
            memories.append(_memory(node))
        elif isinstance(node, RegNode):
            registers.append(_register(node, len(registers)))
        else:
            raise error_at(node, "only memories and registers may stand in the state map")
    return tuple(memories), tuple(registers)


def _memory(node: MemNode) -> MemoryWord:
    check_name(node, node.inst_name)
    if node.is_array:
        raise error_at(node, "arrays of memories are not supported", "write fleet_banks, or each memory out")
    dtype: str | None = node.get_property("fleet_dtype")
    try:
        kind = np.dtype(dtype or "").newbyteorder("<")
    except TypeError:
        kind = None
    if not dtype or kind is None or kind.kind not in "iuf":
        raise error_at(node, f"fleet_dtype is {dtype!r}, expected a NumPy type of integers or floats (int8, uint32, float16)")
    if node.get_property("memwidth") != 8 * kind.itemsize:
        raise error_at(node, f"memwidth is {node.get_property('memwidth')}, {dtype} has {8 * kind.itemsize} bits")
    columns = text_of(node, "fleet_columns") or "1"
    try:
        evaluated(columns, _AnyName())
    except DeviceError as error:
        raise error_at(node, f"fleet_columns is '{columns}': {error.what}") from error
    banks = integer_of(node, "fleet_banks")
    if banks is not None and banks < 1:
        raise error_at(node, f"fleet_banks is {banks}, expected 1 or more")
    reset: str | None = node.get_property("fleet_reset")
    if reset not in RESETS:
        raise error_at(node, f"fleet_reset is {reset!r}, expected one of {', '.join(RESETS)}")
    memory = OnChipMemory(node.inst_name, kind.str, columns, banks or 1, reset == "undefined")
    return MemoryWord(memory, text_of(node, "name") or node.inst_name, text_of(node, "desc"), where_of(node))


class _AnyName(dict[str, int]):
    """Stands for the parameters of a device that is not known yet."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> int:
        return 1


def _register(node: RegNode, number: int) -> Register:
    return Register(
        name=node.inst_name,
        address=4 * number,
        role="state",
        unit=None,
        order=number,
        fields=fields_of(node),
        title=text_of(node, "name") or node.inst_name,
        desc=text_of(node, "desc"),
        where=where_of(node),
    )
