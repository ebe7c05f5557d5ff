"""`heapq`: heaps of known order in Python's lists."""

from __future__ import annotations

import ast
import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fleet.frontend import _exceptions, _objects
from fleet.frontend._values import Instance, List, Number, Tensor, Value, words

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

__all__ = ["HEAPS", "call"]

_CHANGING = frozenset({"heappush", "heappop", "heapify", "heappushpop", "heapreplace"})
HEAPS = frozenset(f"heapq.{n}" for n in (*_CHANGING, "nsmallest", "nlargest"))
"""What is followed of `heapq`."""


class _Item:
    """An element of a heap, in the order that Python gives its value."""

    def __init__(self, ev: Evaluator, node: ast.expr, value: Value) -> None:
        self.ev, self.node, self.value = ev, node, value

    def __lt__(self, other: _Item) -> bool:
        if isinstance(self.value, Instance) or isinstance(other.value, Instance):
            found = _objects.compared(self.ev, self.node, "less", self.value, other.value)
            return found is not None and self.ev.truth(self.node, found[0])
        try:
            return bool(_plain(self.ev, self.node, self.value) < _plain(self.ev, self.node, other.value))
        except TypeError as error:
            return self.ev.fail("F408", self.node, f"{words(self.value)} and {words(other.value)} in a heap: {error}")


def _plain(ev: Evaluator, node: ast.expr, value: Value) -> Any:
    """What decides the order of a value; what has none is equal to itself alone."""
    match value:
        case tuple():
            return tuple(_plain(ev, node, v) for v in value)
        case List():
            return [_plain(ev, node, v) for v in value.items]
        case str():
            return value
        case Number() | Tensor():
            known = ev.static(value)
            if known is None:
                ev.fail("F501", node, f"{words(value)} decides the order of a heap, but only the run knows it")
            return known
        case _:
            return value


def call(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """`heapq.NAME(...)`."""
    name = path.removeprefix("heapq.")
    if keywords or len(args) != (1 if name in ("heappop", "heapify") else 2):
        ev.fail("F208", node, f"{path} with these arguments is not supported")
    if name not in _CHANGING:
        count, items = ev.integer(node, args[0], f"the number of {name}"), ev.collect(node, args[1])
        found = getattr(heapq, name)(count, [_Item(ev, node, v) for v in items])
        return List([i.value for i in found])
    heap = args[0]
    if not isinstance(heap, List):
        ev.fail("F408", node, f"{path} of {words(heap)}", "a heap is a list")
    items = [_Item(ev, node, v) for v in heap.items]
    try:
        found = getattr(heapq, name)(items, *(_Item(ev, node, a) for a in args[1:]))
    except IndexError as error:
        _exceptions.throw(ev, "F704", node, f"{path} of an empty heap", _exceptions.made(ev, "IndexError", str(error)))
    heap.items[:] = [i.value for i in items]
    return found.value if isinstance(found, _Item) else None
