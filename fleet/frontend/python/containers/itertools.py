"""`itertools`: Python's own, over values of the source."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fleet.frontend.python.operators import binary
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import key
from fleet.frontend.reading.values import Lazy, NumberValue, Value

_Handler = Callable[["Evaluator", ast.Call, Sequence[Value], Mapping[str, Value]], Iterator[Value]]


def _product(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    times = ev.integer(node, keywords.get("repeat", NumberValue(1)), "repeat")
    return itertools.product(*(ev.collect(node, a) for a in args), repeat=times)


def _chosen(function: Callable[..., Iterator[Value]]) -> _Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
        length = args[1] if len(args) > 1 else keywords.get("r")
        of = ev.collect(node, args[0])
        return function(of, len(of) if length is None else ev.integer(node, length, "the length"))

    return handler


def _chain(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return (v for a in args for v in ev.iterate(node, a))


def _chain_of(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return (v for a in ev.iterate(node, args[0]) for v in ev.iterate(node, a))


def _accumulate(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    function = args[1] if len(args) > 1 else keywords.get("func")

    def both(a: Value, b: Value) -> Value:
        if function is None:
            return binary(ev, node, ast.Add(), a, b)
        return ev.call(node, function, [a, b], {})

    start = {"initial": keywords["initial"]} if keywords.get("initial") is not None else {}
    return itertools.accumulate(ev.iterate(node, args[0]), both, **start)


def _islice(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    bounds = [None if a is None else ev.integer(node, a, "a bound of islice") for a in args[1:]]
    if any(b is not None and b < 0 for b in bounds):
        ev.fail("F703", node, "islice with a negative bound")
    return itertools.islice(ev.iterate(node, args[0]), *bounds)


def _zip_longest(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    return itertools.zip_longest(*(ev.iterate(node, a) for a in args), fillvalue=keywords.get("fillvalue"))


def _repeat(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    times = args[1] if len(args) > 1 else keywords.get("times")
    return itertools.repeat(args[0]) if times is None else itertools.repeat(args[0], ev.integer(node, times, "times"))


def _count(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    start, step = (
        ev.static(args[i] if len(args) > i else keywords.get(n, NumberValue(i))) for i, n in enumerate(("start", "step"))
    )
    if start is None or step is None:
        ev.fail("F404", node, "count from or by a number that only the run knows", "use range")
    return (NumberValue(v) for v in itertools.count(start, step))


def _cycle(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return itertools.cycle(ev.collect(node, args[0]))


def _pairwise(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return itertools.pairwise(ev.iterate(node, args[0]))


def _groupby(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    by = args[1] if len(args) > 1 else keywords.get("key")
    group: list[Value] = []
    last: Value = None
    plain: Any = None
    for value in ev.iterate(node, args[0]):
        name = value if by is None else ev.call(node, by, [value], {})
        if group and key(ev, node, name) != plain:
            yield last, Lazy(iter(group), "group")
            group = []
        if not group:
            last, plain = name, key(ev, node, name)
        group.append(value)
    if group:
        yield last, Lazy(iter(group), "group")


def _held(ev: Evaluator, node: ast.Call, function: Value, value: Value) -> bool:
    return ev.truth(node, value if function is None else ev.call(node, function, [value], {}))


def _takewhile(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return itertools.takewhile(lambda v: _held(ev, node, args[0], v), ev.iterate(node, args[1]))


def _dropwhile(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return itertools.dropwhile(lambda v: _held(ev, node, args[0], v), ev.iterate(node, args[1]))


def _filterfalse(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return (v for v in ev.iterate(node, args[1]) if not _held(ev, node, args[0], v))


def _compress(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    pairs = zip(ev.iterate(node, args[0]), ev.iterate(node, args[1]), strict=False)
    return (v for v, chosen in pairs if _held(ev, node, None, chosen))


def _tee(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    count = ev.integer(node, args[1], "the number of iterators") if len(args) > 1 else 2
    return iter([Lazy(each, "itertools.tee") for each in itertools.tee(ev.iterate(node, args[0]), count)])


def _starmap(ev: Evaluator, node: ast.Call, args: Sequence[Value], _: Mapping[str, Value]) -> Iterator[Value]:
    return (ev.call(node, args[0], ev.collect(node, row), {}) for row in ev.iterate(node, args[1]))


ITERTOOLS: Mapping[str, tuple[_Handler, int, int, tuple[str, ...]]] = {
    "itertools.product": (_product, 0, 1 << 10, ("repeat",)),
    "itertools.permutations": (_chosen(itertools.permutations), 1, 2, ("r",)),
    "itertools.combinations": (_chosen(itertools.combinations), 1, 2, ("r",)),
    "itertools.combinations_with_replacement": (_chosen(itertools.combinations_with_replacement), 1, 2, ("r",)),
    "itertools.chain": (_chain, 0, 1 << 10, ()),
    "itertools.chain.from_iterable": (_chain_of, 1, 1, ()),
    "itertools.accumulate": (_accumulate, 1, 2, ("func", "initial")),
    "itertools.islice": (_islice, 2, 4, ()),
    "itertools.zip_longest": (_zip_longest, 0, 1 << 10, ("fillvalue",)),
    "itertools.repeat": (_repeat, 1, 2, ("times",)),
    "itertools.count": (_count, 0, 2, ("start", "step")),
    "itertools.cycle": (_cycle, 1, 1, ()),
    "itertools.pairwise": (_pairwise, 1, 1, ()),
    "itertools.starmap": (_starmap, 2, 2, ()),
    "itertools.groupby": (_groupby, 1, 2, ("key",)),
    "itertools.takewhile": (_takewhile, 2, 2, ()),
    "itertools.dropwhile": (_dropwhile, 2, 2, ()),
    "itertools.filterfalse": (_filterfalse, 2, 2, ()),
    "itertools.compress": (_compress, 2, 2, ()),
    "itertools.tee": (_tee, 1, 2, ()),
}
"""Function -> (reader, least arguments, most arguments, keywords)."""


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Read a call; returns an iterator."""
    function, fewest, most, names = ITERTOOLS[path]
    unknown = [k for k in keywords if k not in names]
    if unknown or not fewest <= len(args) <= most:
        ev.fail("F208", node, f"`{path}` with these arguments", f"its keywords are {', '.join(names) or 'none'}")
    return Lazy(function(ev, node, args, keywords), path)
