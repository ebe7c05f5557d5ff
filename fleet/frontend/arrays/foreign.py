"""Arrays of text, of records and of Python's objects, and masked arrays: NumPy computes with them while the source is read.

Targets have no such dtypes. So all that meets in them is known, and they change only where the run decides nothing.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known
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
    words,
)
from fleet.ir.operations.program_ops import read_options
from fleet.ir.types import DTYPES

__all__ = [
    "FUNCTIONS",
    "attribute",
    "binary",
    "call",
    "contains",
    "converts",
    "dtype",
    "elements",
    "holds",
    "length",
    "load",
    "method",
    "shown",
    "store",
    "takes",
    "unary",
    "value",
]

_MOST = 1 << 16
"""Elements of one such array, and bytes of one of its elements."""
_MOST_TEXT = 1 << 22
_GROWING = frozenset(f"{room}.{name}" for room in ("char", "strings") for name in ("join", "replace"))
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
    **{f"numpy.{n}": () for n in _NUMERIC.split()},
    **{f"numpy.ma.{n}": () for n in _MASKED.split()},
    **{f"numpy.{n}": (0, 1) for n in _BOTH.split()},
    **{f"numpy.{n}": (0,) for n in _ONE.split()},
    **{f"numpy.char.{n}": (0, 1) for n in _CHARACTERS.split()},
    **{f"numpy.strings.{n}": (0, 1) for n in _CHARACTERS.split() if hasattr(np.strings, n)},
    "numpy.full": (1,), "numpy.where": (1, 2), "numpy.select": (1, 2), "numpy.insert": (0, 2), "numpy.choose": (1,),
    "numpy.zeros": (), "numpy.empty": (), "numpy.ones": (),
}  # fmt: skip
"""Function -> its arguments that may hold text."""
_DTYPE_SECOND = frozenset({"numpy.array", "numpy.asarray", "numpy.zeros", "numpy.empty", "numpy.ones"})
_SIZED = frozenset({"full", "zeros", "ones", "empty", "repeat", "tile", "multiply", "center", "ljust", "rjust", "zfill"})
"""Functions whose numbers say how much they make."""
_PYTHON = {"builtins.str": str, "builtins.object": object, "builtins.float": float, "builtins.int": int, "builtins.bool": bool}
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floor_div": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "bit_and": operator.and_, "bit_or": operator.or_,
}  # fmt: skip
_METHODS = frozenset(
    [
        "all",
        "any",
        "argsort",
        "astype",
        "copy",
        "flatten",
        "item",
        "nonzero",
        "ravel",
        "repeat",
        "reshape",
        "searchsorted",
        "squeeze",
        "sum",
        "swapaxes",
        "take",
        "tolist",
        "transpose",
        "sort",
        "fill",
    ]
)
_OF_MASKED = frozenset({"anom", "argmax", "argmin", "clip", "compressed", "count", "cumsum", "filled", "max", "mean", "min",
                        "prod", "ptp", "round", "std", "var"})  # fmt: skip
_ATTRIBUTES = frozenset({"T", "dtype", "flat", "itemsize", "nbytes", "ndim", "shape", "size"})


def holds(value: Value) -> bool:
    """Whether a value is text or an array that holds any, or a container with such."""
    parts = value.items if isinstance(value, List) else value if isinstance(value, tuple) else ()
    return isinstance(value, str | ForeignArray) or any(holds(p) for p in parts)


def _foreign(value: Value) -> bool:
    parts = value.items if isinstance(value, List) else value if isinstance(value, tuple) else ()
    return isinstance(value, ForeignArray) or any(_foreign(p) for p in parts)


def dtype(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype | None:
    """The dtype of text, records or objects that a value names; None if it names none of them."""
    match value:
        case np.dtype():
            found = value
        case Library(path="builtins.str" | "builtins.object"):
            found = np.dtype(_PYTHON[value.path])
        case Library(path="numpy.str_"):
            found = np.dtype(str)
        case List() | str():
            try:
                found = np.dtype(known(ev, node, value, "a dtype"))
            except (TypeError, ValueError):
                return None
        case _:
            return None
    return found if found.kind in "UOV" and found.itemsize <= _MOST else None


def takes(ev: Evaluator, node: ast.AST, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether a call of NumPy makes, or is of, arrays that no target has."""
    if path not in FUNCTIONS:
        return False
    if path.startswith("numpy.ma."):
        return True
    if any(_foreign(a) for a in (*args, *keywords.values())) or any(holds(args[i]) for i in FUNCTIONS[path] if i < len(args)):
        return True
    second = args[1] if len(args) > 1 and path in _DTYPE_SECOND else None
    named = keywords.get("dtype", second)
    return holds(keywords.get("fill_value")) or dtype(ev, node, named) is not None


def converts(ev: Evaluator, node: ast.AST, name: str, args: Sequence[Value]) -> bool:
    """Whether a method of an array of numbers gives one of text or objects: `x.astype(str)`."""
    return name == "astype" and len(args) == 1 and dtype(ev, node, args[0]) is not None


def _plain(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    """A value as NumPy takes it. SourceError F404 if only the run knows it."""
    match value:
        case ForeignArray():
            return value.array
        case TracedArray():
            found = ev.domain.elements_of(value)
            if found is None:
                ev.fail("F404", node, f"{words(value)} beside text or objects, whose elements only the run knows")
            return found[()] if value.scalar else found
        case List():
            return [_plain(ev, node, v) for v in value.items]
        case tuple():
            return tuple(_plain(ev, node, v) for v in value)
        case Dict():
            return {k: _plain(ev, node, v) for k, v in value.items.items()}
        case Slice():
            return value.plain
        case np.dtype():
            return value
        case Library() if value.path in _PYTHON:
            return _PYTHON[value.path]
        case _:
            return ... if value is ELLIPSIS else known(ev, node, value, "what meets text or objects in an array")


def value(ev: Evaluator, node: ast.AST, found: Any, *, shared: bool = False) -> Value:
    """What NumPy gave, as a value of the source. shared: it is a part of an array that stays."""
    match found:
        case np.ma.MaskedArray():
            ev.bounded(node, found.size, "a masked array")
            return ForeignArray(found)
        case np.ndarray() if found.dtype.name in DTYPES and found.dtype.isnative:
            made = ev.domain.literal(ev, node, np.array(found, order="C"))
            made.storage.outside = shared  # a change of one would have to be seen in the other
            return made
        case np.ndarray() | np.void():
            ev.bounded(node, found.size * max(found.itemsize // 64, 1), "an array of text or objects")
            return ForeignArray(found)
        case str() | None:
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


def _run(ev: Evaluator, node: ast.AST, function: Callable[..., Any], *args: Any, **keywords: Any) -> Value:
    """Call NumPy. SourceError F703 with what it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*args, **keywords)
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        return ev.fail("F703", node, str(error))
    shared = isinstance(found, np.ndarray) and any(isinstance(a, np.ndarray) and np.may_share_memory(a, found) for a in args)
    return value(ev, node, found, shared=shared)


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A function of NumPy, of known values."""
    name = path.removeprefix("numpy.")
    given = [_plain(ev, node, a) for a in args]
    named = {k: _plain(ev, node, v) for k, v in keywords.items()}
    if name.rpartition(".")[2] in _SIZED:
        _check_made(ev, node, [*given, *named.values()])
    if name in _GROWING:
        _check_grown(ev, node, [*given, *named.values()])
    return _run(ev, node, attrgetter(name)(np), *given, **named)


def _check_grown(ev: Evaluator, node: ast.AST, given: Sequence[Any]) -> None:
    """Refuse a text of which each character may become another text, before NumPy makes it."""
    longest = math.prod(max(np.asarray(text).itemsize // 4, 1) for text in given)
    if longest > _MOST_TEXT:
        ev.fail("F603", node, f"a text of up to {longest:,} characters", f"at most {_MOST_TEXT:,} are possible")


def _check_made(ev: Evaluator, node: ast.AST, given: Sequence[Any]) -> None:
    size = 1
    for plain in given:
        numbers = [n for n in np.ravel(np.asarray(plain, object)).tolist() if isinstance(n, int) and not isinstance(n, bool)]
        size *= math.prod(max(n, 1) for n in numbers[:64]) if not isinstance(plain, np.ndarray) else max(plain.size, 1)
    if size > _MOST:
        ev.fail("F603", node, f"an array of text or objects of {size} elements", f"at most {_MOST} are possible")


def attribute(ev: Evaluator, node: ast.Attribute, owner: ForeignArray) -> Value:
    """`owner.name`."""
    masked = isinstance(owner.array, np.ma.MaskedArray)
    if node.attr in (_METHODS | _OF_MASKED if masked else _METHODS) and isinstance(owner.array, np.ndarray):
        return Method(owner, node.attr)
    if node.attr not in _ATTRIBUTES and not (masked and node.attr in ("data", "mask", "fill_value")):
        known_names = ", ".join(sorted(_METHODS | _ATTRIBUTES | (_OF_MASKED if masked else frozenset())))
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
    if name == "repeat":
        _check_made(ev, node, [_plain(ev, node, owner), *given])
    return _run(ev, node, getattr(_plain(ev, node, owner), name), *given, **{k: _plain(ev, node, v) for k, v in keywords.items()})


def binary(ev: Evaluator, node: ast.AST, op: str, lhs: Value, rhs: Value) -> Value:
    """An operator or comparison of which one side is such an array."""
    if op not in _OPERATORS:
        ev.fail("F401", node, f"{op} of {words(lhs)} and {words(rhs)}")
    return _run(ev, node, _OPERATORS[op], _plain(ev, node, lhs), _plain(ev, node, rhs))


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
    return _run(ev, node, operator.getitem, owner.array, _place(ev, node, items))


def _check_change(ev: Evaluator, node: ast.AST) -> None:
    if ev.inside:
        ev.fail("F511", node, "an array of text or objects is changed in a part that only the run enters or repeats")


def store(ev: Evaluator, node: ast.AST, owner: ForeignArray, items: Sequence[Value], new: Value) -> None:
    """`owner[items] = new`."""
    _check_change(ev, node)
    if owner.array.dtype.kind == "V":
        ev.fail("F504", node, "a record cannot be changed in place", "make the array out of its fields at once")
    _run(ev, node, operator.setitem, owner.array, _place(ev, node, items), _plain(ev, node, new))


def elements(ev: Evaluator, node: ast.AST, owner: ForeignArray) -> Iterator[Value]:
    """What `for` goes over."""
    if not owner.array.shape and not isinstance(owner.array, np.void):
        ev.fail("F306", node, f"{words(owner)} has no dimension to iterate over")
    return (value(ev, node, owner.array[i]) for i in range(length(owner)))


def length(owner: ForeignArray) -> int:
    """`len(owner)`: of a record its fields."""
    return len(owner.array) if isinstance(owner.array, np.ndarray) else len(owner.array.dtype.names or ())


def shown(ev: Evaluator, owner: ForeignArray, *, quoted: bool) -> str:
    """As `str` or `repr` shows it, under the print options of now."""
    with np.printoptions(**(read_options(ev.printing) if ev.printing else {})):
        return repr(owner.array) if quoted else str(owner.array)
