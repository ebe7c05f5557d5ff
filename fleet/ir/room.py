"""Compares the memory that a program's results need with the available memory, before any of them is computed."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from fleet.core.room import bytes_of, check_room
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

_VIEWS = d.TransposeOp | d.ReshapeOp | d.SliceOp | d.BroadcastToOp
"""Operations whose result shares its operand's memory."""
_SMALL = 1 << 20


def check_results(program: Program) -> Program:
    """Return the program. Raises ModelError, naming the operation, if a result, or all live results at one time, exceed the memory.

    An unknown dimension counts as 1.
    """
    operations = list(program.operations())
    owners: dict[SSAValue, SSAValue] = {}
    ends: dict[SSAValue, int] = {}
    for number, op in enumerate(operations):
        ends |= {owners.get(v, v): number for v in op.operands}
        if isinstance(op, _VIEWS):
            owners[op.results[0]] = owners.get(op.operands[0], op.operands[0])
    ends |= {owners.get(v, v): len(operations) for v in program.returned()}
    freed: dict[int, list[SSAValue]] = {}
    for value, end in ends.items():
        freed.setdefault(end, []).append(value)
    held = 0
    for number, op in enumerate(operations):
        made = [v for v in op.results if v not in owners]
        held += _bytes(made)
        if held > _SMALL:
            _check(op, _bytes(made), held, program)
        held -= _bytes(v for v in freed.get(number, ()) if isinstance(v.owner, FleetOp))
    return program


def _bytes(values: Iterable[SSAValue]) -> int:
    known = (v.type for v in values if is_tensor(v.type))
    return sum(bytes_of([abs(n) for n in shape_of(t)], numpy_dtype(t)) for t in known)


def _check(op: FleetOp, result: int, held: int, program: Program) -> None:
    name = op_id(op) if op.at is None else f"{op_id(op)} ({op.at.data})"
    type_ = op.results[0].type if op.results else None
    if type_ is not None and is_tensor(type_):
        check_room(result, f"{name}, {numpy_dtype(type_)}{list(shape_of(type_))},", where=program.source_name)
    check_room(held, f"{name} with the results that are needed beside it", where=program.source_name)
