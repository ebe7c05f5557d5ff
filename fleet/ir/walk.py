"""Walks from a value back over its operands, without recursion: a chain may be as long as a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def operands_first(root: T, operands: Callable[[T], Iterable[T]]) -> list[T]:
    """Return everything that `root` is computed from, each item once and after its operands; `root` is the last.

    operands: returns the operands of one item; empty where the walk ends.
    """
    order: list[T] = []
    seen = {root}
    open_: list[tuple[T, Iterator[T]]] = [(root, iter(operands(root)))]
    while open_:
        thing, left = open_[-1]
        following = next((o for o in left if o not in seen), None)
        if following is None:
            order.append(thing)
            open_.pop()
        else:
            seen.add(following)
            open_.append((following, iter(operands(following))))
    return order
