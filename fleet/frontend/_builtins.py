"""Python's builtin functions that the front end knows, and what `for` iterates over."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fleet.frontend import _objects, _sets, _text
from fleet.frontend._meeting import choose
from fleet.frontend._numpy import array
from fleet.frontend._reflection import REFLECTION
from fleet.frontend._regions import builder_of, check, condition, kind_of_number, negated, number_of
from fleet.frontend._series import Series, along, series_of
from fleet.frontend._values import (
    Bound,
    Class,
    Dict,
    Function,
    Initialiser,
    Instance,
    Lazy,
    Library,
    List,
    Method,
    Number,
    Range,
    Set,
    Tensor,
    Text,
    Value,
    dimension,
    words,
)

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

_Builtin: TypeAlias = Callable[["Evaluator", ast.Call, list[Value], dict[str, Value]], Value]


def iterate(ev: Evaluator, node: ast.expr, value: Value) -> Iterator[Value]:
    """What `for` goes over, lazily; every element counts as a step. SourceError for what cannot be iterated."""
    elements = _elements(ev, node, value)

    def counted() -> Iterator[Value]:
        for element in elements:
            ev.step(node)
            yield element

    return counted()


def collect(ev: Evaluator, node: ast.expr, value: Value, what: str = "a sequence") -> list[Value]:
    """All elements of what can be iterated over. SourceError F607 for too many."""
    found: list[Value] = []
    elements = iterate(ev, node, value)
    if isinstance(value, Instance):
        _objects.special(ev, node, value, "__len__")  # Python asks for it to make room
    for v in elements:
        found.append(v)
        ev.bounded(node, len(found), what)
    return found


def _elements(ev: Evaluator, node: ast.expr, value: Value) -> Iterator[Value]:
    match value:
        case tuple():
            return iter(value)
        case List():
            return _live(value)
        case Dict():
            from fleet.frontend._containers import from_key

            return iter([from_key(ev, node, k) for k in value.items])
        case Set():
            _sets.check_order(ev, node, value)
            return iter(_sets.elements(ev, node, value))
        case Range():
            return (Number(i) for i in value.values)
        case Lazy():
            return value.values
        case str():
            return iter(value)
        case Instance() if (found := _objects.special(ev, node, value, "__iter__")) is not None:
            if not isinstance(found[0], Lazy):
                ev.fail("F408", node, f"`__iter__` returns {words(found[0])}", "return iter(...) of a list")
            return found[0].values
        case Tensor():
            if not value.shape:
                ev.fail("F306", node, f"{words(value)} has no dimension to iterate over")
            return ev.domain.elements(node, value)
        case _:
            return ev.fail("F408", node, f"{words(value)} cannot be iterated over")


def _live(value: List) -> Iterator[Value]:
    """A list may grow while it is iterated over, as in Python."""
    at = 0
    while at < len(value.items):
        yield value.items[at]
        at += 1


def _print(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    options: dict[str, str] = {}
    for name, usual in (("sep", " "), ("end", "\n")):
        given = keywords.pop(name, None)
        if not isinstance(given, str | None):
            ev.fail("F408", node, f"print's {name} must be a string, found {words(given)}")
        options[name] = usual if given is None else given
    keywords.pop("flush", None)
    if keywords:
        ev.fail("F506", node, f"print with `{next(iter(keywords))}=` is not supported", "its arguments are sep and end")
    for a in args:
        _text.check_printed(ev, node, a)
    ev.domain.print(node, args, options["sep"], options["end"])
    return None


def _len(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    match args[0]:
        case tuple() | str():
            return Number(len(args[0]))
        case List() | Dict() | Set():
            return Number(len(args[0].items))
        case Range():
            return Number(len(args[0].values))
        case Tensor() if args[0].shape:
            return dimension(args[0], 0)
        case Instance() if (found := _objects.special(ev, node, args[0], "__len__")) is not None:
            return found[0]
        case _:
            return ev.fail("F408", node, f"{words(args[0])} has no len()")


def _range(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if any(isinstance(a, Number) and a.symbolic and a.whole and not a.sized for a in args):
        return _late_range(ev, node, args)
    numbers = [ev.integer(node, a, "an argument of range") for a in args]
    if len(numbers) == 3 and numbers[2] == 0:
        ev.fail("F703", node, "range with a step of zero")
    values = range(*numbers)
    if max((abs(n) for n in numbers), default=0) >> 62:
        ev.fail("F605", node, "a range beyond 64 bits")
    return Range(values)


def _late_range(ev: Evaluator, node: ast.Call, args: list[Value]) -> Value:
    """A range whose ends only the run knows; its step is known."""
    numbers = [ev.operand(node, a) for a in args]
    given = [v for v in numbers if isinstance(v, Number)]
    if len(given) != len(args) or not 1 <= len(args) <= 3:
        ev.fail("F404", node, f"range of {', '.join(words(a) for a in args)}", "give one to three integers")
    first, end = (Number(0), given[0]) if len(given) == 1 else given[:2]
    by = ev.integer(node, given[2], "the step of range") if len(given) == 3 else 1
    if by == 0:
        ev.fail("F703", node, "range with a step of zero")
    distance = ev.domain.arithmetic(node, "sub", [end, first] if by > 0 else [first, end], None)
    # As many rounds as steps fit into the distance, rounded up: a negative number of them is none.
    if abs(by) > 1:
        distance = ev.domain.arithmetic(node, "add", [distance, Number(abs(by) - 1)], None)
        distance = ev.domain.arithmetic(node, "floor_div", [distance, Number(abs(by))], None)

    def refused() -> Iterator[Value]:
        ev.unknown(node, "how many elements this range has only the run knows")
        yield None

    return Lazy(refused(), "range", Series(distance, lambda k: along(ev, node, first, Number(by), k)))


def _abs(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    value = ev.operand(node, args[0])
    if isinstance(value, Tensor):
        return ev.domain.unary(node, "abs", value)
    return ev.domain.arithmetic(node, "abs", [value], None if value.symbolic else abs(value.value))


def _number(kind: Callable[[Any], Any]) -> _Builtin:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        if not args:
            return Number(kind(0))
        value = args[0]
        if isinstance(value, Number) and value.symbolic and (kind is float or (kind is int and value.whole)):
            return value if kind is int else ev.domain.arithmetic(node, "mul", [value, Number(1.0)], None)
        if kind is bool:
            held = condition(ev, node, value)
            return Number(held) if isinstance(held, bool) else Number(None, held)
        known = value if isinstance(value, str) and len(value) < 400 else ev.static(value)
        if (
            known is None
            and isinstance(value, Tensor | Number)
            and (made := _late_number(ev, node, value, kind.__name__)) is not None
        ):
            return made
        if known is None:
            hint = "keep it an array: .astype(...), or arithmetic on the array itself"
            ev.fail("F407", node, f"a Python number out of {words(value)} is not supported", hint)
        try:
            return Number(kind(known))
        except (ArithmeticError, ValueError) as error:
            return ev.fail("F703", node, f"{known!r}: {error}")

    return builtin


def _late_number(ev: Evaluator, node: ast.AST, value: Tensor | Number, kind: str) -> Number | None:
    """The Python number of one element, or of another number, that only the run knows; None of an array of several."""
    if isinstance(value, Tensor) and (any(d < 0 for d in value.shape) or math.prod(value.shape) != 1):
        return None
    ssa = value.ssa
    return None if ssa is None else Number(None, builder_of(ev).emit(node, "item", [ssa], number=kind))


def _sequence(make: Callable[[list[Value]], Value]) -> _Builtin:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        return make(collect(ev, node, args[0]) if args else [])

    return builtin


def _set(*, frozen: bool) -> _Builtin:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        return _sets.made(ev, node, collect(ev, node, args[0]) if args else [], frozen=frozen)

    return builtin


def _dict(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    from fleet.frontend._containers import key

    items: dict[Any, Value] = {}
    if args and isinstance(args[0], Dict):
        items.update(args[0].items)
    elif args:
        for pair in collect(ev, node, args[0]):
            parts = ev.sequence(pair)
            if parts is None or len(parts) != 2:
                ev.fail("F310", node, f"dict of {words(pair)}", "it takes pairs of key and value")
            items[key(ev, node, parts[0])] = parts[1]
    return Dict(items | keywords)


def _sum(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    from fleet.frontend._expressions import binary

    total: Value = keywords.get("start", args[1] if len(args) > 1 else Number(0))
    for value in iterate(ev, node, args[0]):
        total = binary(ev, node, ast.Add(), total, value)
    return total


def _extreme(op: str) -> _Builtin:
    better = operator.gt if op == "max" else operator.lt

    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
        values = collect(ev, node, args[0]) if len(args) == 1 else args
        if not values:
            if "default" in keywords:
                return keywords["default"]
            ev.fail("F703", node, f"{op} of nothing")
        keys = _keys(ev, node, values, keywords)
        if any(_of_the_run(ev, k) for k in keys):
            return late(ev, node, values, keys)
        best, best_key = values[0], _plain(ev, node, keys[0], op)
        for value, key in zip(values[1:], keys[1:], strict=True):
            found = _plain(ev, node, key, op)
            if better(found, best_key):
                best, best_key = value, found
        return best

    def late(ev: Evaluator, node: ast.Call, values: Sequence[Value], keys: Sequence[Value]) -> Value:
        """The run decides, as Python does: the first of those that none is beyond."""
        name = "greater" if op == "max" else "less"
        best, best_key = values[0], ev.operand(node, keys[0])
        for value, key in zip(values[1:], keys[1:], strict=True):
            found = ev.operand(node, key)
            if isinstance(found, Number) and isinstance(best_key, Number):
                beyond: Value = ev.domain.arithmetic(node, name, [found, best_key], None)
            else:
                beyond = ev.domain.binary(node, name, found, best_key)
            held = condition(ev, node, beyond)
            ways = (value, found), (best, best_key)
            if isinstance(held, bool):
                best, best_key = ways[not held]
                continue
            met = choose(ev, node, held, [lambda w=ways[0]: w, lambda w=ways[1]: w])
            assert isinstance(met, tuple)
            best, best_key = met[0], ev.operand(node, met[1])
        return best

    return builtin


def _keys(ev: Evaluator, node: ast.Call, values: Sequence[Value], keywords: Mapping[str, Value]) -> Sequence[Value]:
    """What is compared for each value: what `key` gives, or the value itself."""
    measure = keywords.get("key")
    return values if measure is None else [ev.call(node, measure, [v], {}) for v in values]


def _of_the_run(ev: Evaluator, value: Value) -> bool:
    """Whether it is one number that only the run knows."""
    if isinstance(value, Tensor):
        return math.prod(value.shape) == 1 and ev.static(value) is None
    return isinstance(value, Number) and value.symbolic and not value.sized


def _plain(ev: Evaluator, node: ast.Call, found: Value, op: str) -> Any:
    known = found if isinstance(found, str) else ev.static(found)
    if isinstance(found, Number) and found.symbolic:
        ev.unknown(node, f"{op} of a size that only the run knows")
    if known is None:
        hint = "use np.max, np.min, np.maximum, np.minimum or np.sort's likes on arrays"
        ev.fail("F501", node, f"{op} of {words(found)}: its value must be known from the source", hint)
    return known


def _sorted(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    whole = args[0]
    known_order = isinstance(whole, Set) and "key" not in keywords  # of equal keys the set's order decides
    values = collect(ev, node, tuple(_sets.elements(ev, node, whole)) if isinstance(whole, Set) and known_order else whole)
    backwards = ev.flag(node, keywords["reverse"], "reverse") if "reverse" in keywords else False
    found = _keys(ev, node, values, keywords)
    if any(_of_the_run(ev, k) for k in found):
        return _sorted_in_the_run(ev, node, values, found, backwards=backwards)
    keys = [k if isinstance(k, tuple) else (k,) for k in found]
    if len({len(k) for k in keys}) > 1:
        ev.fail("F408", node, "tuples of different lengths are put into order")
    measured = [(tuple(_plain(ev, node, part, "sorted") for part in k), v) for k, v in zip(keys, values, strict=True)]
    if len({tuple(isinstance(part, str) for part in m) for m, _ in measured}) > 1:
        ev.fail("F408", node, "strings and numbers have no order")
    return List([v for _, v in sorted(measured, key=operator.itemgetter(0), reverse=backwards)])


def _sorted_in_the_run(ev: Evaluator, node: ast.Call, values: Sequence[Value], keys: Sequence[Value], *, backwards: bool) -> Value:
    """Numbers in an order that the run decides: equal ones stay as they are, also backwards; NaN ends the run."""
    kinds = {
        kind_of_number(v) if isinstance(v, Number) else v.dtype if isinstance(v, Tensor) and not v.shape else None for v in values
    }
    if None in kinds or len(kinds) > 1:
        ev.fail("F501", node, "sorted of values that are not numbers of one kind, in an order that only the run knows")
    numbers, measure = (array(ev, node, tuple(reversed(v) if backwards else v)) for v in (values, keys))
    if measure.dtype.kind == "f":
        nan = ev.domain.call(node, "numpy.any", [ev.domain.call(node, "numpy.isnan", [measure], {})], {})
        flag = condition(ev, node, nan)
        if not isinstance(flag, bool):
            check(ev, node, negated(ev, node, flag), "NaN is sorted, which has no order")
    order = ev.domain.call(node, "numpy.argsort", [measure], {"kind": "stable"})
    placed = ev.domain.call(node, "numpy.take", [numbers, order], {})
    assert isinstance(placed, Tensor)
    found = list(ev.domain.elements(node, placed))
    if all(isinstance(v, Number) for v in values):
        found = [number_of(ev, node, v) for v in found]
    return List(found[::-1] if backwards else found)


def _zip(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    strict = ev.flag(node, keywords["strict"], "strict") if "strict" in keywords else False
    iterators = [iterate(ev, node, a) for a in args]

    def pairs() -> Iterator[Value]:
        while iterators:
            found: list[Value] = []
            for i, iterator in enumerate(iterators):
                for value in iterator:
                    found.append(value)
                    break
                else:
                    if strict and (i > 0 or any(True for it in iterators[1:] for _ in it)):
                        ev.fail("F310", node, "zip of sequences of different lengths")
                    return
            yield tuple(found)

    rows = [series_of(ev, node, a) for a in args]
    known = [s for s in rows if s is not None and not s.count.symbolic]
    if not rows or len(known) < len(rows):
        return Lazy(pairs(), "zip")
    shortest = min((s.count for s in known), key=lambda n: n.value)
    return Lazy(pairs(), "zip", Series(shortest, lambda k: tuple(s.at(k) for s in known)))


def _enumerate(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    first = keywords.get("start", args[1] if len(args) > 1 else Number(0))
    start = ev.integer(node, first, "the start of enumerate")
    inner = series_of(ev, node, args[0])
    series = None if inner is None else Series(inner.count, lambda k: (along(ev, node, Number(start), Number(1), k), inner.at(k)))
    return Lazy(((Number(start + i), v) for i, v in enumerate(iterate(ev, node, args[0]))), "enumerate", series)


def _reversed(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if isinstance(args[0], Lazy):
        ev.fail("F408", node, f"{words(args[0])} cannot be reversed")
    if isinstance(args[0], Range):
        backwards = args[0].values[::-1]
        return Lazy((Number(i) for i in backwards), "reversed", series_of(ev, node, Range(backwards)))
    return Lazy(iter(list(reversed(collect(ev, node, args[0])))), "reversed")


def _map(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    rows = _zip(ev, node, args[1:], {})
    assert isinstance(rows, Lazy)
    return Lazy((ev.call(node, args[0], list(row), {}) for row in rows.values if isinstance(row, tuple)), "map")


def _filter(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    def kept(v: Value) -> bool:
        return ev.truth(node, v if args[0] is None else ev.call(node, args[0], [v], {}))

    return Lazy((v for v in iterate(ev, node, args[1]) if kept(v)), "filter")


def _next(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not isinstance(args[0], Lazy):
        ev.fail("F408", node, f"{words(args[0])} is no iterator", "call iter(...) on it")
    for value in args[0].values:
        return value
    return args[1] if len(args) > 1 else ev.fail("F704", node, "the iterator is at its end")


def _any(stop_at: bool) -> _Builtin:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        for v in iterate(ev, node, args[0]):
            if ev.truth(node, v) is stop_at:
                return Number(stop_at)
        return Number(not stop_at)

    return builtin


def _rounded(ev: Evaluator, node: ast.Call, value: Number, digits: Value) -> Value:
    """A number of the run: an integer as it is, a float to the nearest integer, half-way to the even one."""
    if value.whole and digits is None:
        return value
    if digits is not None:
        what = "round of a number of the run to digits: Python rounds its decimal text"
        ev.fail("F407", node, what, "use np.round, which rounds a multiple")
    array = ev.domain.call(node, "numpy.asarray", [value], {})
    return call(ev, node, "int", [ev.domain.call(node, "numpy.rint", [array], {})], {})


def _ord(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not isinstance(args[0], str) or len(args[0]) != 1:
        ev.fail("F408", node, f"ord of {words(args[0])}", "it takes one character")
    return Number(ord(args[0]))


def _chr(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    at = ev.integer(node, args[0], "a character's number")
    if not 0 <= at < 0x110000:
        ev.fail("F703", node, f"chr of {at}: there is no such character")
    return chr(at)


def _round(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    value, digits = args[0], args[1] if len(args) > 1 else keywords.get("ndigits")
    if isinstance(value, Tensor) and value.scalar and value.dtype.kind == "f":
        if digits is not None:
            return ev.domain.call(node, "numpy.round", [value, digits], {})
        whole = ev.domain.call(node, "numpy.rint", [value], {})
        return call(ev, node, "int", [whole], {})
    if isinstance(value, Number) and value.symbolic and not value.sized:
        return _rounded(ev, node, value, digits)
    known = ev.static(value)
    if known is None or isinstance(value, Tensor):
        ev.fail("F407", node, f"round of {words(value)}", "use np.rint")
    try:
        return Number(round(known) if digits is None else round(known, ev.integer(node, digits, "the digits of round")))
    except (ArithmeticError, ValueError) as error:
        return ev.fail("F703", node, f"{known!r}: {error}")


def _divmod(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    from fleet.frontend._expressions import binary

    return binary(ev, node, ast.FloorDiv(), *args), binary(ev, node, ast.Mod(), *args)


def _pow(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    from fleet.frontend._expressions import binary

    return binary(ev, node, ast.Pow(), *args)


def _str(quoted: bool) -> _Builtin:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        pieces = _text.parts(ev, args[0], quoted=quoted, node=node) if args else []
        if all(isinstance(p, str) for p in pieces):
            return "".join(p for p in pieces if isinstance(p, str))
        return Text(pieces)

    return builtin


def _isinstance(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    kinds = args[1] if isinstance(args[1], tuple) else (args[1],)
    found = False
    for k in kinds:
        if isinstance(k, Class):
            found = found or _objects.inherits(_objects.kind_of(args[0]), k)
            continue
        name = k.path if isinstance(k, Library) else ""
        if name not in _KINDS:
            ev.fail("F506", node, f"isinstance with {words(k)} is not supported", f"known are {', '.join(sorted(_KINDS))}")
        found = found or _KINDS[name](args[0])
    return Number(found)


def _is_number(kind: type) -> Callable[[Value], bool]:
    return lambda v: (
        isinstance(v, Number)
        and ((kind is int and v.whole) or (kind is float and not v.whole) if v.symbolic else isinstance(v.value, kind))
    )


_KINDS: Mapping[str, Callable[[Value], bool]] = {
    "builtins.int": _is_number(int), "builtins.bool": _is_number(bool),
    "builtins.float": lambda v: _is_number(float)(v) or (isinstance(v, Tensor) and v.scalar and v.dtype == np.float64),
    "builtins.list": lambda v: isinstance(v, List), "builtins.tuple": lambda v: isinstance(v, tuple),
    "builtins.dict": lambda v: isinstance(v, Dict), "builtins.str": lambda v: isinstance(v, str | Text),
    "numpy.ndarray": lambda v: isinstance(v, Tensor) and not v.scalar,
}  # fmt: skip


def _iter(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return args[0] if isinstance(args[0], Lazy) else Lazy(iterate(ev, node, args[0]), "iterator")


def _callable(_ev: Evaluator, _node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return Number(
        isinstance(args[0], Function | Method | np.dtype | Library | Class | Bound | Initialiser)
        or (isinstance(args[0], Instance) and args[0].kind.find("__call__") is not None)
    )


_MANY = 1 << 20
BUILTINS: Mapping[str, tuple[_Builtin, int, int, tuple[str, ...]]] = {
    "print": (_print, 0, _MANY, ("sep", "end", "flush", "file")), "len": (_len, 1, 1, ()), "range": (_range, 1, 3, ()),
    "abs": (_abs, 1, 1, ()), "float": (_number(float), 0, 1, ()), "int": (_number(int), 0, 1, ()),
    "bool": (_number(bool), 0, 1, ()), "list": (_sequence(List), 0, 1, ()), "tuple": (_sequence(tuple), 0, 1, ()),
    "set": (_set(frozen=False), 0, 1, ()), "frozenset": (_set(frozen=True), 0, 1, ()),
    "dict": (_dict, 0, 1, ("*",)), "sum": (_sum, 1, 2, ("start",)), "max": (_extreme("max"), 1, _MANY, ("key", "default")),
    "min": (_extreme("min"), 1, _MANY, ("key", "default")), "sorted": (_sorted, 1, 1, ("key", "reverse")),
    "zip": (_zip, 0, _MANY, ("strict",)), "enumerate": (_enumerate, 1, 2, ("start",)), "reversed": (_reversed, 1, 1, ()),
    "map": (_map, 2, _MANY, ()), "filter": (_filter, 2, 2, ()), "next": (_next, 1, 2, ()), "iter": (_iter, 1, 1, ()),
    "any": (_any(True), 1, 1, ()), "all": (_any(False), 1, 1, ()), "round": (_round, 1, 2, ("ndigits",)),
    "ord": (_ord, 1, 1, ()), "chr": (_chr, 1, 1, ()), "divmod": (_divmod, 2, 2, ()),
    "pow": (_pow, 2, 2, ()), "str": (_str(False), 0, 1, ()), "repr": (_str(True), 1, 1, ()),
    "isinstance": (_isinstance, 2, 2, ()), "callable": (_callable, 1, 1, ()), **REFLECTION,
}  # fmt: skip
"""Name -> (what it does, fewest positional arguments, most, keywords; "*" takes any)."""


def call(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """A builtin's call."""
    function, fewest, most, allowed = BUILTINS[name]
    if not fewest <= len(args) <= most:
        ev.fail("F208", node, f"{name} takes {fewest if fewest == most else f'at least {fewest}'} arguments, {len(args)} are given")
    for k in keywords:
        if k not in allowed and "*" not in allowed:
            ev.fail("F506", node, f"{name} with `{k}=` is not supported")
    return function(ev, node, args, dict(keywords))


# ---- math


def math_call(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """`math.sqrt(x)` of numbers known from the source."""
    if keywords:
        ev.fail("F506", node, f"math.{name} takes no keyword arguments")
    sequences = [ev.sequence(a) for a in args]
    values: list[Any] = []
    for a, parts in zip(args, sequences, strict=True):
        known: Any = ev.static(a) if parts is None else [ev.static(p) for p in parts]
        if known is None or (isinstance(known, list) and None in known):
            ev.fail("F407", node, f"math.{name} of {words(a)}", f"use np.{name}, which takes arrays" if hasattr(np, name) else None)
        values.append(known)
    try:
        if name in ("factorial", "comb", "perm") and any(isinstance(v, int) and v > 100 for v in values):
            ev.fail("F605", node, f"math.{name} of numbers above 100")
        return Number(getattr(math, name)(*values))
    except (ArithmeticError, ValueError, TypeError) as error:
        return ev.fail("F703", node, f"math.{name}: {error}")


MATH = frozenset(
    {
        *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh"),
        *("cosh", "tanh", "floor", "ceil", "trunc", "fabs", "fmod", "pow", "hypot", "gcd", "lcm", "isqrt", "prod", "fsum"),
        *("copysign", "isnan", "isinf", "isfinite", "isclose", "erf", "erfc", "gamma", "lgamma", "factorial", "comb", "perm"),
        *("radians", "degrees"),
    }
)
"""Functions of `math`, computed while the source is read."""
