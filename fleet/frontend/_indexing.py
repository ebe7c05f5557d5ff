"""Subscripts: basic slices with static bounds, integers, None, `...`, and gather by an integer array."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fleet.frontend._values import Library, Number, Slice, Tensor, Value, words

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

_SUPPORTED = "supported are start:stop with static bounds, integers, None, ... and one integer array in first place"


def subscript(ev: Evaluator, node: ast.Subscript) -> Value:
    """`value[index]`."""
    value = ev.expression(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    items = [_item(ev, p) for p in parts]
    if isinstance(value, tuple):
        return _of_tuple(ev, node, value, items)
    if not isinstance(value, Tensor):
        ev.source.fail(node.value, f"{words(value)} cannot be indexed")
    items = _expanded(ev, node, value, items)
    if any(isinstance(i, Tensor) for i in items):
        return _gather(ev, node, value, items)
    return _basic(ev, node, value, items)


def _item(ev: Evaluator, node: ast.expr) -> Value:
    if not isinstance(node, ast.Slice):
        return ev.expression(node)
    if node.step is not None and ev.integer(node.step, ev.expression(node.step), "a slice's step") != 1:
        ev.source.fail(node.step, "a slice with a step is not supported", _SUPPORTED)
    bounds = [None if b is None else _bound(ev, b) for b in (node.lower, node.upper)]
    return Slice(bounds[0], bounds[1])


def _bound(ev: Evaluator, node: ast.expr) -> int | None:
    value = ev.expression(node)
    return None if value is None else ev.integer(node, value, "a slice's bound")


def _of_tuple(ev: Evaluator, node: ast.Subscript, value: tuple[Value, ...], items: list[Value]) -> Value:
    if len(items) == 1 and isinstance(items[0], Slice):
        return value[items[0].start : items[0].stop]
    index = ev.integer(node.slice, items[0] if len(items) == 1 else None, "a tuple's index")
    if not -len(value) <= index < len(value):
        ev.source.fail(node.slice, f"index {index} is out of range for a tuple of {len(value)}")
    return value[index]


def _expanded(ev: Evaluator, node: ast.Subscript, value: Tensor, items: list[Value]) -> list[Value]:
    """Replaces `...` and appends what is missing, so that every dimension has its item."""
    dots = [i for i, item in enumerate(items) if item == Library("builtins.Ellipsis")]
    used = sum(1 for item in items if item is not None) - len(dots)
    missing = len(value.shape) - used
    if missing < 0:
        ev.source.fail(node.slice, f"{used} indices for an array of rank {len(value.shape)} (shape {value.shape})")
    if len(dots) > 1:
        ev.source.fail(node.slice, "an index can have one `...` only")
    place = dots[0] if dots else len(items)
    return [*items[:place], *([Slice(None, None)] * missing), *items[place + len(dots) :]]


def _gather(ev: Evaluator, node: ast.Subscript, value: Tensor, items: list[Value]) -> Value:
    indices = items[0]
    if not isinstance(indices, Tensor) or any(i != Slice(None, None) for i in items[1:]):
        ev.source.fail(node.slice, "this mix of an array and other indices is not supported", _SUPPORTED)
    if indices.dtype.kind != "i":
        ev.source.fail(node.slice, f"an index array of dtype {indices.dtype} is not supported", _SUPPORTED)
    return ev.builder.tensor(node, "gather", [value.ssa, indices.ssa])


def _basic(ev: Evaluator, node: ast.Subscript, value: Tensor, items: list[Value]) -> Value:
    start: list[int] = []
    size: list[int] = []
    shape: list[int] = []
    for item in items:
        if item is None:
            shape.append(1)
            continue
        dim = value.shape[len(start)]
        if isinstance(item, Slice):
            first, last, _ = slice(item.start, item.stop).indices(dim)
            start.append(first if last > first else 0)
            size.append(max(0, last - first))
            shape.append(size[-1])
        elif isinstance(item, Number) and not isinstance(item.value, bool | float):
            if not -dim <= item.value < dim:
                ev.source.fail(node.slice, f"index {item.value} is out of bounds for dimension {len(start)} of size {dim}")
            start.append(item.value % dim)
            size.append(1)
        else:
            ev.source.fail(node.slice, f"{words(item)} is not supported as an index", _SUPPORTED)
    result = value
    if tuple(size) != value.shape:
        result = ev.builder.tensor(node, "slice", [result.ssa], start=start, size=size)
    if tuple(shape) != result.shape:
        result = ev.builder.tensor(node, "reshape", [result.ssa], shape=shape)
    return result
