"""`heapq`: heaps of known order in Python's lists."""

from __future__ import annotations

import ast
import heapq
from collections.abc import Mapping

from fleet.frontend.python.builtins.ordering import ordered
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, Value
from fleet.frontend.reading.wording import words

_CHANGING = frozenset({"heappush", "heappop", "heapify", "heappushpop", "heapreplace"})
HEAPS = frozenset(f"heapq.{n}" for n in (*_CHANGING, "nsmallest", "nlargest"))
"""Functions of `heapq` that the front end follows."""


class _Item:
    """An element of a heap, in the order that Python gives its value."""

    def __init__(self, ev: Evaluator, node: ast.expr, value: Value) -> None:
        self.ev, self.node, self.value, self.key = ev, node, value, ordered(ev, node, value, "heapq")

    def __lt__(self, other: _Item) -> bool:
        try:
            return bool(self.key < other.key)
        except TypeError as error:
            return self.ev.fail("F408", self.node, f"{words(self.value)} and {words(other.value)} in a heap: {error}")


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
        exceptions.throw(ev, "F704", node, f"{path} of an empty heap", exceptions.made(ev, "IndexError", str(error)))
    heap.items[:] = [i.value for i in items]
    return found.value if isinstance(found, _Item) else None
