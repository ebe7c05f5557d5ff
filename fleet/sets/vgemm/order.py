"""Finds instructions of a program that touch the same bytes without an order: their results are undefined (docs/vgemm.md).

Each module runs its instructions in order. A token orders what precedes its push in one module before what follows its pop in
another. A STORE begins when everything before it has committed. A FINISH is a barrier.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device, Instruction, Range
from fleet.sets.vgemm.legality import module_of
from fleet.sets.vgemm.loops import Alu, Finish, Gemm
from fleet.sets.vgemm.lower.schedule import MAX_TOKENS, QUEUES
from fleet.sets.vgemm.shapes import OPERANDS
from fleet.sets.vgemm.transfers import Load, Store

_CLASSES: dict[str, type[Instruction]] = {cls.name: cls for cls in (Load, Store, Gemm, Alu, Finish)}


def unordered(device: Device, calls: Sequence[Call]) -> list[tuple[int, int]]:
    """Return pairs (earlier, later) of unordered calls that overlap in memory, one of them writing; without refused calls."""
    before = _before(device, calls)
    touched = [_touched(device, c) for c in calls]
    return [
        (a, b)
        for b in range(len(calls))
        for a in range(b)
        if not before[b] >> a & 1 and (_meet(touched[a][1], touched[b][0] + touched[b][1]) or _meet(touched[a][0], touched[b][1]))
    ]


def _before(device: Device, calls: Sequence[Call]) -> list[int]:
    """Return for each call the set of calls that have finished when it begins, as bits."""
    known: list[int] = []
    last: dict[str, int] = {}
    tokens: dict[tuple[str, str], list[int]] = {q: [] for q in QUEUES}
    barrier = 0  # everything up to the last FINISH
    for i, call in enumerate(calls):
        if _CLASSES[call.instruction].refusal(device, call.fields):
            known.append(barrier)
            continue
        operands = OPERANDS[call.instruction].decode(call.fields)
        module = module_of(operands)
        if not module:
            barrier = (1 << i + 1) - 1
            known.append(barrier)
            tokens = {q: [] for q in QUEUES}
            continue
        through = (1 << i) - 1 if module == "store" else barrier
        if module in last:
            through |= known[last[module]] | 1 << last[module]
        for (giver, taker), (push, pop) in QUEUES.items():
            if taker == module and getattr(operands, pop) and tokens[giver, taker]:
                from_ = tokens[giver, taker].pop(0)
                through |= known[from_] | 1 << from_
            if giver == module and getattr(operands, push) and len(tokens[giver, taker]) < MAX_TOKENS:
                tokens[giver, taker].append(i)
        known.append(through)
        last[module] = i
    return known


def _touched(device: Device, call: Call) -> tuple[list[Range], list[Range]]:
    """Return the ranges that a call reads and writes."""
    unit = _CLASSES[call.instruction]
    if unit.refusal(device, call.fields):
        return [], []
    return list(unit.reads(device, call.fields)), list(unit.writes(device, call.fields))


def _meet(one: Sequence[Range], other: Sequence[Range]) -> bool:
    return any(a.space == b.space and a.offset < b.offset + b.size and b.offset < a.offset + a.size for a in one for b in other)
