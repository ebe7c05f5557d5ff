"""Operations that differ in an attribute, in a dtype or in the order of operands are never one: every operation of the dialect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.types import tensor_type
from fleet.transforms.simplify import cse

IDENTITY = {"id", "var", "at", "covers"}
TYPE = tensor_type((4,), np.dtype(np.float32))
OPERATIONS = [op for op in d.FLEET.operations if issubclass(op, FleetOp) and not issubclass(op, d.PrintOp | d.RegionOp)]
BLOCK = Block(arg_types=[TYPE, TYPE])


class Recorded:
    """An edit that only notes what is replaced."""

    def __init__(self, *ops: FleetOp) -> None:
        self._ops, self.merged = ops, 0

    def operations(self) -> tuple[FleetOp, ...]:
        return self._ops

    def replace(self, *_: Any) -> None:
        self.merged += 1


def attributes(kind: type[FleetOp]) -> list[str]:
    return sorted(set(kind.get_irdl_definition().properties) - IDENTITY)


def made(kind: type[FleetOp], changed: str = "", *, dtype: type = np.float32, turned: bool = False) -> FleetOp:
    properties = {name: StringAttr("other" if name == changed else "same") for name in attributes(kind)}
    operands = [BLOCK.args[1], BLOCK.args[0]] if turned else [*BLOCK.args]
    return kind.create(operands=operands, result_types=[tensor_type((4,), np.dtype(dtype))], properties=properties)


def merged(*ops: FleetOp) -> int:
    edit = Recorded(*ops)
    cse._apply(edit)  # type: ignore[arg-type]
    return edit.merged


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.name)
def test_what_differs_is_not_one(kind: type[FleetOp]) -> None:
    assert merged(made(kind), made(kind)) == 1
    for name in attributes(kind):
        assert merged(made(kind), made(kind, name)) == 0, name
    assert merged(made(kind), made(kind, dtype=np.float64)) == 0
    assert merged(made(kind), made(kind, turned=True)) == 0


def test_the_dialect_has_attributes() -> None:
    assert sum(len(attributes(kind)) for kind in OPERATIONS) > 30
