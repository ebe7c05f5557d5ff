"""Expands NumPy functions into sequences of operations (`fleet.ir.operations.functions`, `fleet.ir.expand`).

For targets without their own code for them, and `clip` for patterns that look for a maximum and a minimum. Copies go in any case:
they decide how an array lies in NumPy's memory, and so the order of the golden's sums; a target has an order of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fleet.errors import FleetError
from fleet.ir.dialect import FleetOp, NumpyOp, kind_of
from fleet.ir.expand import expand
from fleet.ir.library.call import LibraryCall
from fleet.ir.operations import functions
from fleet.ir.shapes import InferenceError
from fleet.transforms.edit import Edit
from fleet.transforms.passes import Pass

NAME = "expand-functions"
_FUNCTIONS: Mapping[str, type[FleetOp]] = {kind_of(op): op for op in (*(getattr(functions, n) for n in functions.__all__), NumpyOp)}


def _apply(edit: Edit, names: Collection[str]) -> None:
    for op in edit.operations():
        if isinstance(op, NumpyOp) and LibraryCall.parse(op.call.data).function == "copy":
            edit.replace(op, op.operands[0])
        elif kind_of(op) in names and (sequence := _expanded(op)):
            edit.expand(op, sequence)


def _expanded(op: FleetOp) -> list[FleetOp]:
    """Return the sequence; [] if there is none: then the target reports that it has no code for the operation."""
    try:
        return expand(op)
    except InferenceError:
        return []


def _make(options: Mapping[str, str]) -> Pass:
    if unknown := options.keys() - {"only"}:
        raise FleetError(f"pass {NAME} has no option {', '.join(sorted(unknown))}", hint="it takes only=NAME")
    only = options.get("only")
    if only is not None and only not in _FUNCTIONS:
        raise FleetError(f"pass {NAME} knows no function {only}", hint=f"known are {', '.join(_FUNCTIONS)}")
    names = _FUNCTIONS if only is None else {only: _FUNCTIONS[only]}
    summary = "turn NumPy's functions into the operations that they stand for"
    return Pass(NAME, summary, "rounding", lambda edit: _apply(edit, names), adds_weights=False)


PASS = _make
