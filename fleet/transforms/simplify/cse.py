"""Common subexpression elimination: an operation that repeats an earlier computation is replaced by its result.

Two operations are the same if name, operands, result types and attributes are; identity (`id`, `var`, `at`) does not count. For
integers, sums and products with exchanged operands are the same too. For floats they are not, because the surviving NaN depends on
the order. An operation bound to a variable stays, because the `cpython` oracle reads the variable; its users use the first one.
"""

from __future__ import annotations

from typing import Any

from fleet.ir.dialect import AddOp, FleetOp, MulOp, PrintOp, RegionOp
from fleet.ir.types import numpy_dtype
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.passes import plain

_IDENTITY = frozenset({"id", "var", "at", "covers"})


def _apply(edit: Edit) -> None:
    first: dict[Any, FleetOp] = {}
    for op in edit.operations():
        if isinstance(op, PrintOp | RegionOp):
            continue
        known = first.setdefault(_key(op), op)
        if known is op:
            continue
        if text_of(op, "var") is None:
            edit.replace(op, known.results[0])
        else:
            op.results[0].replace_uses_with_if(known.results[0], lambda use: isinstance(use.operation, FleetOp))
            edit.serves(known, op)


def _key(op: FleetOp) -> Any:
    operands = [id(v) for v in op.operands]
    if isinstance(op, AddOp | MulOp) and numpy_dtype(op.result.type).kind in "ib":
        operands.sort()
    attributes = frozenset((k, v) for k, v in op.properties.items() if k not in _IDENTITY)
    return op.name, tuple(operands), tuple(r.type for r in op.results), attributes


PASS = plain("cse", "let one operation serve for several that compute the same", "bits", _apply, adds_weights=False)
