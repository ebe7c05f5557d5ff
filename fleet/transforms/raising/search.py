"""Common parts of the searches for idioms: where to look, inserting a composite, and notes on near misses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.build import make
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.raising.normal import TRANSPARENT
from fleet.transforms.simplify.numbers import known_number


class Miss(NamedTuple):
    """A near miss: the idiom, the operation and its place in the source, and why it does not match."""

    idiom: str
    op: str
    at: str
    why: str


def tolerance_of(dtype: np.dtype) -> float:
    """Return the allowed relative difference of a constant from the formula's: four roundings of the dtype of the computation."""
    return 4 * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0


def backward_cone(start: SSAValue, depth: int) -> list[SSAValue]:
    """Return `start` and the values from which operations that normal forms expand compute it, nearest first."""
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
    """An edit for searching idioms and inserting composites; `misses` collects near misses."""

    def __init__(self, edit: Edit, misses: list[Miss] | None = None) -> None:
        self.edit = edit
        self.misses: list[Miss] = [] if misses is None else misses

    def operations(self, *kinds: type[FleetOp]) -> list[FleetOp]:
        """Return the operations of these kinds, in program order."""
        return [op for op in self.edit.operations() if isinstance(op, kinds)]

    def alive(self, op: FleetOp) -> bool:
        """Return whether an operation of an earlier snapshot is still in the program."""
        return op.parent is not None

    def order(self) -> Mapping[FleetOp, float]:
        """Return numbers that ascend in program order."""
        return self.edit.order()

    def miss(self, idiom: str, op: FleetOp, why: str) -> None:
        """Record a near miss."""
        self.misses.append(Miss(idiom, op_id(op), text_of(op, "at") or "", why))

    def new(self, place: FleetOp, wanted: str, name: str, *operands: SSAValue, **attributes: object) -> SSAValue:
        """Insert a new operation before `place`, with its own id, and return its result."""
        return self.edit.insert_before(place, make(name, list(operands), **attributes), wanted)

    def insert(self, place: FleetOp, wanted: str, op: FleetOp) -> SSAValue:
        """Insert an operation before `place`, give it an id, and return its result."""
        return self.edit.insert_before(place, op, wanted)

    def compose(
        self, root: FleetOp, name: str, operands: Callable[[np.dtype | None], list[SSAValue]], **attributes: object
    ) -> str | None:
        """Replace `root` by composite `name`. Returns None if it succeeds, else why it does not fit.

        operands: makes the operands. It is called with None first. If the composite would compute in a narrower dtype than the root
        (a strong float64 scalar widens what follows), it is called again with the root's dtype and returns the first operand cast
        to it.
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
        """Return the value, cast to `dtype` if one is given and it has another."""
        if dtype is None or numpy_dtype(value.type) == dtype:
            return value
        return self.new(place, f"{op_id(place)}.wide", "cast", value, dtype=dtype)
