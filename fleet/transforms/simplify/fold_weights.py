"""Folds weights: values computed from weights and numbers alone become weights.

The new weight is a recipe: it is computed only when it is needed. Only values that the rest of the program uses become weights, and
only if that does not make them much larger than their operands. Products and reductions are not folded: they are the model's own
computation, and a script whose arrays are all known would become one weight.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.ir.walk import operands_first
from fleet.ir.weights import Derived, Entry, Weights
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.simplify.numbers import COMPUTED, call_of

MOVES = (d.TransposeOp, d.ReshapeOp, d.SliceOp)
"""Operations that only rearrange elements."""

_FREE = 1 << 16
"""Elements that a folded weight may always have."""


def fold_pure(edit: Edit, kinds: tuple[type[FleetOp], ...] = (FleetOp,)) -> None:
    """Turn the results of operations of these kinds on weights and numbers alone into weights."""
    pure = _pure(edit, kinds)
    for op in edit.operations():
        if op.results and op.results[0] in pure and is_tensor(op.results[0].type) and _used_outside(op, pure):
            _fold(edit, op, pure)
    edit.sweep([op for op in edit.operations() if op.results and op.results[0] in pure], "folded into a weight")


def _pure(edit: Edit, kinds: tuple[type[FleetOp], ...]) -> set[SSAValue]:
    """Return the results that depend on weights, and only on weights and numbers."""
    weights = {v for a, v in zip(edit.arguments, edit.block.args, strict=True) if a.kind == "weight"}
    pure: set[SSAValue] = set()
    for op in edit.operations():
        known = all(v in pure or v in weights or isinstance(v.owner, ConstantOp) for v in op.operands)
        depends = any(v in pure or v in weights for v in op.operands)
        if (
            known
            and depends
            and op.results
            and isinstance(op, kinds)
            and type(op) in COMPUTED
            and not isinstance(op, d.MatmulOp | d.ReduceOp)
            and not _looks_up(op)
            and -1 not in shape_of(op.results[0].type)
        ):
            pure.add(op.results[0])
    return pure


def _looks_up(op: FleetOp) -> bool:
    """Return whether the operation gathers a few rows of a table. The rows are the model's input; the table is not folded."""
    return isinstance(op, d.GatherOp) and math.prod(shape_of(op.result.type)) < math.prod(shape_of(op.lhs.type))


def _used_outside(op: FleetOp, pure: set[SSAValue]) -> bool:
    users = [use.operation for use in op.results[0].uses]
    return any(isinstance(u, FleetOp) and not (u.results and u.results[0] in pure) for u in users)


def _fold(edit: Edit, op: FleetOp, pure: set[SSAValue]) -> None:
    value = op.results[0]
    steps, leaves, expression, moves = _expression(value)
    if moves and any(_needed(leaf, pure) for leaf in leaves):
        return  # a second copy of a weight that stays would cost more than moving it
    source = edit.weights
    entries: list[Entry | float] = []
    size = 0
    for leaf in leaves:
        if isinstance(leaf, BlockArgument):
            name = edit.arguments[leaf.index].name
            entries.append(source.entries[name] if isinstance(source, Weights) else np.asarray(source[name]))
            size += math.prod(shape_of(leaf.type))
        else:
            assert isinstance(leaf.owner, ConstantOp)
            entries.append(_number(leaf.owner))
    shape, dtype = shape_of(value.type), numpy_dtype(value.type)
    if math.prod(shape) > max(_FREE, 2 * size):
        return
    recipe = Derived(expression, tuple(entries), shape, dtype, _function(steps, len(leaves)))
    name = op_id(op) if all(a.name != op_id(op) for a in edit.arguments) else edit.fresh_id(op_id(op))
    edit.replace(op, edit.add_weight(name, recipe, value.type), f"folded into weight {name}")


def _needed(leaf: SSAValue, pure: set[SSAValue]) -> bool:
    """Return whether the rest of the program uses a weight directly."""
    return any(not (u.operation.results and u.operation.results[0] in pure) for u in leaf.uses)


def _number(op: ConstantOp) -> Any:
    number = constant_value(op)
    type_ = op.result.type
    return np.full(shape_of(type_), number, numpy_dtype(type_)) if is_tensor(type_) else number


def _operands(value: SSAValue) -> Sequence[SSAValue]:
    return () if not isinstance(value.owner, FleetOp) or isinstance(value.owner, ConstantOp) else value.owner.operands


_Step = tuple[Callable[..., Any], tuple[int, ...]]
"""A function, and the indices of its operands: leaves first, then the results of the steps."""


def _expression(value: SSAValue) -> tuple[list[_Step], list[SSAValue], str, bool]:
    """Return the steps that compute a value, its leaves, a text that identifies both, and whether all steps only move elements."""
    order: list[FleetOp] = []
    leaves: dict[SSAValue, None] = {}
    for v in operands_first(value, _operands):
        if isinstance(v.owner, FleetOp) and not isinstance(v.owner, ConstantOp):
            order.append(v.owner)
        else:
            leaves[v] = None
    place = {v: i for i, v in enumerate([*leaves, *(op.results[0] for op in order)])}
    steps: list[_Step] = []
    words: list[str] = []
    for op in order:
        where = tuple(place[v] for v in op.operands)
        steps.append((call_of(op), where))
        words.append(f"{op.name}{where}{sorted(attributes_of(op).items(), key=lambda a: a[0])}:{op.results[0].type}")
    text = "; ".join(words)
    moves = all(isinstance(op, MOVES) for op in order)
    return steps, list(leaves), text if len(text) < 400 else hashlib.sha256(text.encode()).hexdigest(), moves


def _function(steps: Sequence[_Step], leaves: int) -> Callable[..., np.ndarray]:
    last_use = {where: i for i, (_, places) in enumerate(steps) for where in places}

    def run(*values: object) -> np.ndarray:
        found: list[Any] = list(values)
        for i, (call, places) in enumerate(steps):
            found.append(call(*(found[p] for p in places)))
            for p in places:
                if p >= leaves and last_use[p] == i:
                    found[p] = None
        return np.asarray(found[-1])

    return run


# In a body nothing is a weight, so nothing becomes one.
PASS = plain("fold-weights", "make weights of what is computed of weights alone", "bits", fold_pure, adds_weights=False)
