"""Common subexpressions: an operation that computes what an earlier one has computed gives way to it.

Two operations are the same when name, operands, result types and attributes are; identity (`id`, `var`, `at`) does not
count. Of integers, sums and products of the same operands in the other order are the same as well; of floats they are not
taken for the same, because which of two NaNs survives depends on the order. An operation that a variable is bound to
stays, since the `cpython` oracle looks at the variable; what uses it is served by the first.
"""

from __future__ import annotations

from typing import Any

from fleet.ir.dialect import AddOp, FleetOp, MulOp, PrintOp, RegionOp
from fleet.ir.types import numpy_dtype
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.passes import plain

__all__ = ["PASS"]

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


PASS = plain("cse", "let one operation serve for several that compute the same", "bits", _apply)
