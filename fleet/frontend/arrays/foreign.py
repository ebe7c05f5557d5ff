"""Arrays of text, of records and of Python's objects, and masked arrays: NumPy computes with them while the source is read.

Targets have no such dtypes. So all that meets in them is known, and they change only where the run decides nothing.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from fleet.frontend.arrays import dates
from fleet.frontend.arrays.functions import print_options
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import check_size, known
from fleet.frontend.reading.values import (
    ELLIPSIS,
    Dict,
    ForeignArray,
    Library,
    List,
    Method,
    NumberValue,
    Slice,
    TracedArray,
    Value,
    plain_dtype,
)
from fleet.frontend.reading.wording import words
from fleet.ir.types import DTYPES

_MOST = 1 << 16
"""Bytes of one element of a dtype that the source names."""
_MOST_ELEMENTS = 1_000_000
_MOST_TEXT = 1 << 22
"""Characters of all texts of an array together."""
_NUMBER_AS_TEXT = 64
"""Characters of a number that becomes text."""
_MOST_NUMBER = 1 << 13
"""Bytes of a whole number of Python in an array."""
_BOTH = "append isin intersect1d union1d setdiff1d setxor1d array_equal searchsorted"
_ONE = """array asarray asanyarray unique sort argsort concatenate stack vstack hstack column_stack dstack atleast_1d atleast_2d
    repeat tile reshape ravel transpose flip fliplr flipud roll rot90 count_nonzero take squeeze expand_dims split array_split copy
    delete nonzero flatnonzero argwhere lexsort ndim shape size"""
_CHARACTERS = """add capitalize center count endswith equal find greater index isalnum isalpha isdigit islower isspace isupper join
    less ljust lower lstrip multiply not_equal partition replace rfind rjust rstrip split startswith str_len strip swapcase
    title upper zfill"""
_MASKED = """
    array masked_array masked_where masked_values masked_equal masked_not_equal masked_less masked_less_equal masked_greater
    masked_greater_equal masked_invalid masked_inside masked_outside masked_all_like filled fix_invalid getmask getmaskarray
    getdata count count_masked compressed mean sum median average std var min max argmin argmax is_masked allequal
    concatenate where"""
_NUMERIC = """mean sum std var min max median average sqrt exp log log10 abs absolute sin cos clip cumsum argmin argmax round around
    where any all isnan square maximum minimum diff ptp prod"""
"""Functions of NumPy that know masked arrays."""
FUNCTIONS: Mapping[str, tuple[int, ...]] = {
    **dates.FUNCTIONS,
    **{f"numpy.{n}": () for n in _NUMERIC.split()},
    **{f"numpy.ma.{n}": () for n in _MASKED.split()},
    **{f"numpy.{n}": (0, 1) for n in _BOTH.split()},
    **{f"numpy.{n}": (0,) for n in _ONE.split()},
    **{f"numpy.char.{n}": (0, 1) for n in _CHARACTERS.split()},
    **{f"numpy.strings.{n}": (0, 1) for n in _CHARACTERS.split() if hasattr(np.strings, n)},
    "numpy.full": (1,), "numpy.where": (1, 2), "numpy.select": (1, 2), "numpy.insert": (0, 2), "numpy.choose": (1,),
    "numpy.zeros": (), "numpy.empty": (), "numpy.ones": (), "numpy.rec.array": (0,), "numpy.rec.fromrecords": (0,),
    "numpy.rec.fromarrays": (0,),
}  # fmt: skip
"""Function -> its arguments that may hold text."""
_DTYPE_SECOND = frozenset({"numpy.array", "numpy.asarray", "numpy.zeros", "numpy.empty", "numpy.ones"})
_SIZED: Mapping[str, str] = {
    **dict.fromkeys(("full", "zeros", "ones", "empty"), "shape fill_value"),
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), "a width"),
    "tile": "A reps", "repeat": "a repeats", "split": "ary indices_or_sections", "array_split": "ary indices_or_sections",
    "diff": "a n",
}  # fmt: skip
"""Function -> its first arguments, of which one says how much it makes."""
_MET = frozenset({"where", "select", "choose", "clip", "maximum", "minimum"})
"""Functions of arrays that meet element by element."""
_GROWS = frozenset({"add", "sub", "mul", "pow", "mod"})
_REDUCED = frozenset({"sum", "prod", "cumsum", "mean", "std", "var", "average", "square"})
_KINDS = "text, dates, records, objects or a masked array"
_PYTHON: Mapping[str, type] = {
    **dates.CLASSES, "numpy.void": np.void, "numpy.recarray": np.recarray, "numpy.ndarray": np.ndarray, "numpy.str_": np.str_,
    "builtins.str": str, "builtins.object": object, "builtins.float": float, "builtins.int": int, "builtins.bool": bool,
}  # fmt: skip
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floor_div": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "bit_and": operator.and_, "bit_or": operator.or_,
}  # fmt: skip
_METHODS = frozenset({
    "all", "any", "argsort", "astype", "copy", "flatten", "item", "nonzero", "ravel", "repeat", "reshape", "searchsorted",
    "squeeze", "sum", "swapaxes", "take", "tolist", "transpose", "sort", "fill",
})  # fmt: skip
_OF_MASKED = frozenset({"anom", "argmax", "argmin", "clip", "compressed", "count", "cumsum", "filled", "max", "mean", "min",
                        "prod", "ptp", "round", "std", "var"})  # fmt: skip
_ATTRIBUTES = frozenset({"T", "dtype", "flat", "itemsize", "nbytes", "ndim", "shape", "size"})


def holds(value: Value) -> bool:
    """Return whether a value is text or an array that holds any, or a container with such."""
    parts = value.items if isinstance(value, List) else value if isinstance(value, tuple) else ()
    return isinstance(value, str | bytes | ForeignArray) or any(p is None or holds(p) for p in parts)


def _foreign(value: Value) -> bool:
    parts = value.items if isinstance(value, List) else value if isinstance(value, tuple) else ()
    return isinstance(value, ForeignArray) or any(_foreign(p) for p in parts)


def dtype(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype | None:
    """The dtype of text, records or objects that a value names; None if it names none of them."""
    match value:
        case np.dtype():
            found = value
        case Library(path="builtins.str" | "builtins.object" | "numpy.str_" | "numpy.datetime64" | "numpy.timedelta64"):
            found = np.dtype(_PYTHON[value.path])
        case List() | str() | tuple():
            try:
                found = np.dtype(_plain(ev, node, value))
            except (TypeError, ValueError):
                return None
        case _:
            return None
    return found if (found.kind in "SUOVMm" or not found.isnative) and found.itemsize <= _MOST else None


def takes(ev: Evaluator, node: ast.AST, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Return whether a call of NumPy makes, or is of, arrays that no target has."""
    if path not in FUNCTIONS:
        return False
    if path.startswith(("numpy.ma.", "numpy.rec.")) or path in dates.ONLY:
        return True
    if any(_foreign(a) for a in (*args, *keywords.values())) or any(holds(args[i]) for i in FUNCTIONS[path] if i < len(args)):
        return True
    second = args[1] if len(args) > 1 and path in _DTYPE_SECOND else None
    named = keywords.get("dtype", second)
    return holds(keywords.get("fill_value")) or dtype(ev, node, named) is not None


def converts(ev: Evaluator, node: ast.AST, name: str, args: Sequence[Value]) -> bool:
    """Return whether a method of an array of numbers gives one of text, records or objects: `x.astype(str)`."""
    return name in ("astype", "view") and len(args) == 1 and dtype(ev, node, args[0]) is not None


def _plain(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    """A value as NumPy takes it. SourceError F404 if only the run knows it."""
    check_size(ev, node, value)
    return _taken(ev, node, value)


def _taken(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    match value:
        case ForeignArray():
            return value.array
        case TracedArray():
            found = ev.domain.elements_of(value)
            if found is None:
                ev.fail("F404", node, f"{words(value)} beside {_KINDS}, whose elements only the run knows")
            return found[()] if value.scalar else found
        case List():
            return [_taken(ev, node, v) for v in value.items]
        case tuple():
            return tuple(_taken(ev, node, v) for v in value)
        case Dict():
            return {k: _taken(ev, node, v) for k, v in value.items.items()}
        case Slice():
            return value.plain
        case np.dtype():
            return plain_dtype(value)
        case Library() if value.path in _PYTHON:
            return _PYTHON[value.path]
        case _:
            return ... if value is ELLIPSIS else known(ev, node, value, "what meets text or objects in an array")


def value(ev: Evaluator, node: ast.AST, found: object, *, shared: bool = False) -> Value:
    """Return a result of NumPy as a value of the source. shared: it is part of an array that stays."""
    match found:
        case np.ma.MaskedArray():
            ev.bounded(node, found.size, "a masked array")
            return ForeignArray(found)
        case np.ndarray() if found.dtype.name in DTYPES and found.dtype.isnative:
            made = ev.domain.literal(ev, node, np.array(found, order="C"))
            if shared:  # a change of one is seen in the other
                made.storage.outside = True
                ev.shadows[made] = found
            return made
        case np.ndarray() | np.void():
            ev.bounded(node, found.size * max(found.itemsize // 64, 1), "an array of text or objects")
            return ForeignArray(found)
        case np.datetime64() | np.timedelta64():
            return ForeignArray(found)
        case str() | bytes() | Library() | None:
            return found
        case np.generic() if found.dtype.name in DTYPES:
            return ev.domain.literal(ev, node, found)
        case bool() | int() | float():
            return NumberValue(found)
        case tuple():
            return tuple(value(ev, node, f) for f in found)  # pyright: ignore[reportUnknownVariableType]
        case list():
            return List([value(ev, node, f) for f in found])  # pyright: ignore[reportUnknownVariableType]
        case _:
            return ev.fail(
                "F403", node, f"a {type(found).__name__} in an array", "arrays hold numbers, truth values, text and records"
            )


def _run(ev: Evaluator, node: ast.AST, function: Callable[..., object], *args: object, **keywords: object) -> Value:
    """Call NumPy. SourceError F703 with what it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*args, **keywords)
    except (MemoryError, RecursionError) as error:
        return ev.fail("F603", node, f"text or objects that NumPy cannot hold: {error}")
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        return ev.fail("F703", node, str(error))
    own = getattr(function, "__self__", None)  # of a method its array
    shared = isinstance(found, np.ndarray) and any(
        isinstance(a, np.ndarray) and np.may_share_memory(a, found) for a in (own, *args)
    )
    return value(ev, node, found, shared=shared)


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A function of NumPy, of known values."""
    name = path.removeprefix("numpy.")
    dates.check(ev, node, path, args)
    given = [_plain(ev, node, a) for a in args]
    named = {k: _plain(ev, node, v) for k, v in keywords.items()}
    _check_made(ev, node, name, given, named)
    return _run(ev, node, attrgetter(name)(np), *given, **named)


@dataclass(frozen=True)
class _Room:
    """The size of a value. count: elements; width: of the largest, in characters or in bytes of a number without end."""

    count: int
    width: int


def _width(element: object) -> int:
    match element:
        case str():
            return len(element)
        case int():
            return element.bit_length() // 8 + 1
        case list() | tuple():
            return len(element) + sum(map(_width, element))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case _:
            return 8


def _room(plain: object) -> _Room:
    match plain:
        case np.ndarray() if plain.dtype.kind == "O":
            return _Room(plain.size, max(map(_width, plain.ravel().tolist()), default=0))
        case np.ndarray() | np.generic():
            return _Room(plain.size, plain.itemsize // (4 if plain.dtype.kind == "U" else 1))
        case list() | tuple() | dict():
            parts = [_room(p) for p in (plain.values() if isinstance(plain, dict) else plain)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            return _Room(sum(p.count for p in parts), max((p.width for p in parts), default=0))
        case _:
            return _Room(1, _width(plain))


def _most(plain: object) -> int:
    """The largest whole number that a value names."""
    numbers = np.asarray(plain, object).ravel().tolist()
    return max((abs(int(n)) for n in numbers if isinstance(n, int | np.integer)), default=0)


def _total(plain: object) -> int:
    numbers = np.asarray(plain, object).ravel().tolist()
    return math.prod(max(int(n), 0) for n in numbers if isinstance(n, int | np.integer))


def _met(given: Sequence[object]) -> int:
    """Elements of what arrays that meet element by element give."""
    try:
        return math.prod(np.broadcast_shapes(*(np.shape(a) for a in given if isinstance(a, np.ndarray | list))))
    except ValueError:
        return 0  # NumPy says so itself


def _objects(given: Sequence[object]) -> bool:
    return any(isinstance(a, np.ndarray) and a.dtype.kind == "O" for a in given)


def _check_room(ev: Evaluator, node: ast.AST, count: int, width: int, *, numbers: bool = False) -> None:
    """Refuse what NumPy would make before it makes it. numbers: width is that of whole numbers of Python, which have no end."""
    if count > _MOST_ELEMENTS:
        ev.fail("F603", node, f"an array of text or objects of {count:,} elements", f"at most {_MOST_ELEMENTS:,} are possible")
    if numbers and width > _MOST_NUMBER:
        ev.fail("F605", node, f"a number of up to {8 * width:,} bits in an array", f"at most {8 * _MOST_NUMBER:,} are possible")
    if count * width > _MOST_TEXT:
        what = f"{count:,} texts or objects of up to {width:,} characters"
        ev.fail("F603", node, what, f"at most {_MOST_TEXT:,} characters together are possible")


def _check_made(ev: Evaluator, node: ast.AST, name: str, given: Sequence[object], named: Mapping[str, object]) -> None:
    """Bound what a function of NumPy makes of its arguments."""
    everything = [*given, *named.values()]
    rooms = [_room(g) for g in everything]
    count, width = sum(r.count for r in rooms), max((r.width for r in rooms), default=0)
    room, _, last = name.rpartition(".")
    numbers = dict(zip(_SIZED.get(last, "").split(), given, strict=False)) | dict(named)
    if last in _REDUCED:
        _check_reduced(ev, node, last, everything)
        return
    if last in ("full", "zeros", "ones", "empty"):
        count = _total(numbers.get("shape", 1))
    elif last == "arange":
        count = dates.count(given, named)
    elif last == "tile":
        count *= max(_total(numbers.get("reps", 1)), 1)
    elif last == "repeat":
        count *= max(_most(numbers.get("repeats", 1)), 1)
    elif last in ("split", "array_split"):
        count += _most(numbers.get("indices_or_sections", 1))
    elif last == "diff":
        count *= max(_most(numbers.get("n", 1)), 1)
    elif last == "isin" and _objects(everything):
        count = math.prod(r.count for r in rooms[:2])  # NumPy compares each with each
    elif room in ("char", "strings") or last in _MET:
        count = max(_met([a for g in everything for a in (g if isinstance(g, list | tuple) else [g])]), 1)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if last in ("join", "replace"):
            width = math.prod(max(r.width, 1) for r in rooms)
        elif last == "multiply":
            width *= max(_most(everything[1:]), 1)
        elif last in ("center", "ljust", "rjust", "zfill"):
            width = max(width, _most(numbers.get("width", 1)))
        else:
            width = sum(r.width for r in rooms)
    elif np.dtype(object) in [np.dtype(d) for d in everything if isinstance(d, type | np.dtype)] or _objects(everything):
        width = 8  # what they hold is not copied
    _check_room(ev, node, count, width)


def _check_reduced(ev: Evaluator, node: ast.AST, name: str, given: Sequence[object]) -> None:
    """Bound a sum or product of objects: whole numbers have no end, and texts and lists are joined."""
    for array in given:
        if not isinstance(array, np.ndarray) or array.dtype.kind != "O":
            continue
        elements = array.ravel().tolist()
        together = sum(map(_width, elements))
        if all(isinstance(e, int | float | complex | None) for e in elements):
            width = together if name == "prod" else 2 * _room(array).width + 8
            _check_room(ev, node, array.size if name == "cumsum" else 1, width, numbers=True)
        else:
            _check_room(ev, node, array.size, together)  # each step copies what came before


def _check_objects(ev: Evaluator, node: ast.AST, op: str, lhs: object, rhs: object) -> None:
    """Bound an operator: what it makes is as large as both sides together allow."""
    count, a, b = _met([lhs, rhs]), _room(lhs).width, _room(rhs).width
    if not _objects([lhs, rhs]) or op not in _GROWS:
        _check_room(ev, node, count, a + b if op == "add" else 1)
        return
    numbers = not any(isinstance(e, str | list | tuple) for side in (lhs, rhs) for e in np.asarray(side, object).ravel().tolist())
    match op:
        case "pow":
            width = a * max(_most(rhs), 1)
        case "mul" if not numbers:
            width = max(a, b, a * _most(rhs), b * _most(lhs))
        case "mod" if not numbers:
            ev.fail("F401", node, "% of text in an array of objects", "make the texts with f-strings before the array")
        case _:
            width = a + b + 1
    _check_room(ev, node, count, width, numbers=numbers)


def attribute(ev: Evaluator, node: ast.Attribute, owner: ForeignArray) -> Value:
    """`owner.name`."""
    masked = isinstance(owner.array, np.ma.MaskedArray)
    if isinstance(owner.array, np.recarray | np.record) and node.attr in (owner.array.dtype.names or ()):
        return value(ev, node, owner.array[node.attr], shared=True)
    methods = _METHODS | (_OF_MASKED if masked else dates.METHODS if owner.array.dtype.kind != "O" else frozenset())
    if node.attr in methods and isinstance(owner.array, np.ndarray | np.datetime64 | np.timedelta64):
        return Method(owner, node.attr)
    if node.attr not in _ATTRIBUTES and not (masked and node.attr in ("data", "mask", "fill_value")):
        known_names = ", ".join(sorted(methods | _ATTRIBUTES))
        ev.fail("F206", node, f"{words(owner)} has no supported attribute `{node.attr}`", f"it has {known_names}")
    if node.attr == "dtype":
        return owner.array.dtype
    if node.attr == "flat":
        return value(ev, node, owner.array.reshape(-1))
    return value(ev, node, getattr(owner.array, node.attr), shared=True)


def method(
    ev: Evaluator,
    node: ast.Call,
    owner: ForeignArray | TracedArray,
    name: str,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> Value:
    """`owner.name(...)`."""
    if name in ("sort", "fill"):
        _check_change(ev, node)
    given = [_plain(ev, node, a) for a in args]
    named = {k: _plain(ev, node, v) for k, v in keywords.items()}
    of = _plain(ev, node, owner)
    if name == "view" and isinstance(owner, TracedArray):  # a change of one is seen in the other
        of = np.array(of, order="C")
        owner.storage.outside = True
        ev.shadows[owner] = of
    if name == "astype":
        _check_room(ev, node, of.size, max(_room(of).width * (3 if of.dtype.kind == "O" else 1), _NUMBER_AS_TEXT))
    elif name != "fill":
        _check_made(ev, node, name, [of, *given], named)
    return _run(ev, node, getattr(of, name), *given, **named)


def binary(ev: Evaluator, node: ast.AST, op: str, lhs: Value, rhs: Value) -> Value:
    """An operator or comparison of which one side is such an array."""
    if op not in _OPERATORS:
        ev.fail("F401", node, f"{op} of {words(lhs)} and {words(rhs)}")
    sides = _plain(ev, node, lhs), _plain(ev, node, rhs)
    _check_objects(ev, node, op, *sides)
    return _run(ev, node, _OPERATORS[op], *sides)


def unary(ev: Evaluator, node: ast.AST, op: ast.unaryop, owner: ForeignArray) -> Value:
    """`-owner` and `~owner`."""
    function = operator.neg if isinstance(op, ast.USub) else operator.pos if isinstance(op, ast.UAdd) else operator.invert
    return _run(ev, node, function, owner.array)


def contains(ev: Evaluator, node: ast.AST, owner: ForeignArray, item: Value) -> bool:
    """`item in owner`."""
    return bool(np.any(owner.array == _plain(ev, node, item)))


def _place(ev: Evaluator, node: ast.AST, items: Sequence[Value]) -> Any:
    found = tuple(_plain(ev, node, i) for i in items)
    return found[0] if len(found) == 1 else found


def load(ev: Evaluator, node: ast.AST, owner: ForeignArray, items: Sequence[Value]) -> Value:
    """`owner[items]`: a view where NumPy gives one."""
    place = _place(ev, node, items)
    met = _met([p for p in (place if isinstance(place, tuple) else [place]) if isinstance(p, np.ndarray) and p.dtype != bool])
    _check_room(ev, node, met, 1)
    return _run(ev, node, operator.getitem, owner.array, place)


def _check_change(ev: Evaluator, node: ast.AST) -> None:
    if ev.inside:
        ev.fail("F511", node, "an array of text or objects is changed in a part that only the run enters or repeats")


def store(ev: Evaluator, node: ast.AST, owner: ForeignArray, items: Sequence[Value], new: Value) -> None:
    """`owner[items] = new`; the fields of records that were taken out before show it too."""
    _check_change(ev, node)
    array = owner.array
    _run(ev, node, operator.setitem, array, _place(ev, node, items), _plain(ev, node, new))
    for shadow, shown in list(ev.shadows.items()):
        if not isinstance(array, np.ndarray) or np.may_share_memory(array, shown):
            ev.domain.replace(shadow, np.array(shown, order="C"))


def shadowed(ev: Evaluator, value: TracedArray) -> ForeignArray | None:
    """The field of records that an array of numbers shows, or None."""
    shown = ev.shadows.get(value)
    return None if shown is None else ForeignArray(shown)


def elements(ev: Evaluator, node: ast.AST, owner: ForeignArray) -> Iterator[Value]:
    """Return the elements that `for` goes over."""
    array = owner.array
    if isinstance(array, np.datetime64 | np.timedelta64) or (not array.shape and not isinstance(array, np.void)):
        return ev.fail("F306", node, f"{words(owner)} has no dimension to iterate over")
    return (value(ev, node, array[i]) for i in range(length(owner)))


def length(owner: ForeignArray) -> int:
    """`len(owner)`: of a record its fields."""
    return len(owner.array) if isinstance(owner.array, np.ndarray) else len(owner.array.dtype.names or ())


def shown(ev: Evaluator, node: ast.AST, owner: ForeignArray, *, quoted: bool) -> str:
    """As `str` or `repr` shows it, under the print options of now."""
    with np.printoptions(**print_options.options(ev, node)):
        return repr(owner.array) if quoted else str(owner.array)
