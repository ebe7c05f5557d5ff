"""What all searches for idioms share: where to look, how to put a composite in place, and the notes on what nearly matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.build import make
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.raising.normal import TRANSPARENT
from fleet.transforms.simplify.numbers import known_number

__all__ = ["Miss", "RaisingSite", "backward_cone", "tolerance_of"]


class Miss(NamedTuple):
    """Something that nearly was an idiom: which, at which operation and place in the source, and why it is none."""

    idiom: str
    op: str
    at: str
    why: str


def tolerance_of(dtype: np.dtype) -> float:
    """How far a constant may be from the formula's own: four roundings of the dtype that it is computed in."""
    return 4 * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0


def backward_cone(start: SSAValue, depth: int) -> list[SSAValue]:
    """`start` and the values that it is computed from by operations that the normal form looks into, nearest first."""
    found: dict[SSAValue, None] = {start: None}
    front = [start]
    for _ in range(depth):
        following: list[SSAValue] = []
        for value in front:
            if not isinstance(value.owner, FleetOp) or type(value.owner) not in TRANSPARENT:
                continue
            for operand in value.owner.operands:
                if operand not in found and known_number(operand) is None:
                    found[operand] = None
                    following.append(operand)
        front = following
    return list(found)


class RaisingSite:
    """An edit in which idioms are searched and composites put in place; `misses` gathers what nearly matched."""

    def __init__(self, edit: Edit, misses: list[Miss] | None = None) -> None:
        self.edit = edit
        self.misses: list[Miss] = [] if misses is None else misses

    def operations(self, *kinds: type[FleetOp]) -> list[FleetOp]:
        """The operations of these kinds, in program order."""
        return [op for op in self.edit.operations() if isinstance(op, kinds)]

    def alive(self, op: FleetOp) -> bool:
        """Whether an operation of an earlier snapshot is still in the program."""
        return op.parent is not None

    def order(self) -> Mapping[FleetOp, float]:
        """Numbers that ascend in program order."""
        return self.edit.order()

    def miss(self, idiom: str, op: FleetOp, why: str) -> None:
        """Notes a near match."""
        self.misses.append(Miss(idiom, op_id(op), text_of(op, "at") or "", why))

    def new(self, place: FleetOp, wanted: str, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """A new operation before `place`, with an id of its own."""
        return self.edit.insert_before(place, make(name, list(operands), **attributes), wanted)

    def insert(self, place: FleetOp, wanted: str, op: FleetOp) -> SSAValue:
        """Puts an operation before `place` and gives it an id."""
        return self.edit.insert_before(place, op, wanted)

    def compose(
        self, root: FleetOp, name: str, operands: Callable[[np.dtype | None], list[SSAValue]], **attributes: Any
    ) -> str | None:
        """Puts composite `name` in the place of `root`; None when it stands there, else why it does not fit.

        operands: makes the operands; called with None first, and with the root's dtype where the composite would compute in a
        narrower one (a strong float64 scalar widens what follows): then it gives the first operand cast to that.
        """
        type_, dtype = root.results[0].type, numpy_dtype(root.results[0].type)
        try:
            composite = make(name, operands(None), **attributes)
            if composite.results[0].type != type_ and shape_of(composite.results[0].type) == shape_of(type_):
                narrow = numpy_dtype(composite.results[0].type)
                if dtype.kind == narrow.kind == "f" and dtype.itemsize > narrow.itemsize:
                    composite.erase()
                    composite = make(name, operands(dtype), **attributes)
        except InferenceError as error:
            return str(error)
        if composite.results[0].type != type_:
            found = composite.results[0].type
            composite.erase()
            return f"the result is {type_}, {name} would give {found}"
        self.edit.compose(root, composite)
        return None

    def widened(self, place: FleetOp, value: SSAValue, dtype: np.dtype | None) -> SSAValue:
        """The value, cast to `dtype` where one is given that it does not have."""
        if dtype is None or numpy_dtype(value.type) == dtype:
            return value
        return self.new(place, f"{op_id(place)}.wide", "cast", value, dtype=dtype)
