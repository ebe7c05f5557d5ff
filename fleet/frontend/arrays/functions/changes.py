"""NumPy's calls that change an array: put, putmask, place, copyto, and `at` of ufuncs."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import Arguments, Handler
from fleet.frontend.arrays.emitting import cast, emit
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.memory import change, check_writable
from fleet.frontend.arrays.operands import array, convert, elementwise, select
from fleet.frontend.arrays.sizes import flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, NumberValue, RangeValue, TracedArray, Value
from fleet.frontend.reading.wording import words

UPDATES: Mapping[str, str] = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "subtract": "add"}
"""Ufunc -> the reduction of `scatter`; subtract adds the negated values."""


def _changed(ev: Evaluator, node: ast.AST, value: Value) -> TracedArray:
    if not isinstance(value, TracedArray) or any(d < 0 for d in value.shape):
        ev.fail("F504", node, f"a change of {words(value)} is not supported", "change an array whose shape is known")
    check_writable(ev, node, value)
    return value


def _cast_safely(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> TracedArray:
    """The value as an array of `dtype`; what NumPy would not cast on its own is refused."""
    if isinstance(value, TracedArray) and not np.can_cast(value.dtype, dtype, "same_kind"):
        ev.fail("F406", node, f"{words(value)} cannot be put into an array of {dtype}", "convert it with .astype(...)")
    if isinstance(value, NumberValue) and not value.symbolic and isinstance(value.value, float) and dtype.kind in "biu":
        ev.fail("F406", node, f"{words(value)} cannot be put into an array of {dtype}", "convert it")
    return cast(ev, node, value, dtype) if isinstance(value, TracedArray) else convert(ev, node, value, dtype)


def _cycled(ev: Evaluator, node: ast.AST, values: TracedArray, count: int) -> TracedArray:
    """So many values, from the first again after the last."""
    row = flat(ev, node, values)
    size = row.shape[0]
    if size == count:
        return row
    if not size:
        ev.fail("F301", node, "no values to put")
    if size == 1:
        return emit(ev, node, "broadcast_to", [row], shape=[count])
    return emit(ev, node, "gather", [row, static(ev, node, np.arange(count) % size, "places", scalar=False)])


def _put(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = _changed(ev, node, args["a"])
    places = flat(ev, node, array(ev, node, args["ind"]))
    places = cast(ev, node, places, np.dtype(np.int64)) if places.dtype.kind == "u" else places
    if places.dtype.kind != "i":
        ev.fail("F405", node, f"put at {words(places)}", "places are integers")
    values = _cycled(ev, node, _cast_safely(ev, node, args["v"], owner.dtype), places.shape[0])
    row = flat(ev, node, owner)
    done = emit(ev, node, "scatter", [row, places, values], reduction="none")
    change(ev, node, owner, reshaped(ev, node, done, owner.shape).ssa)
    return None


def _masked(ev: Evaluator, node: ast.AST, owner: TracedArray, mask: Value, values: TracedArray) -> None:
    found = array(ev, node, mask)
    found = found if found.dtype.kind == "b" else elementwise(ev, node, "not_equal", found, NumberValue(0))
    change(ev, node, owner, select(ev, node, found, values, owner).ssa)


def _putmask(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = _changed(ev, node, args["a"])
    values = _cast_safely(ev, node, args["values"], owner.dtype)
    mask = array(ev, node, args["mask"])
    if mask.shape != owner.shape:
        ev.fail("F301", node, f"a mask of shape {mask.shape} for an array of shape {owner.shape}")
    if values.shape != owner.shape:
        values = reshaped(ev, node, _cycled(ev, node, values, math.prod(owner.shape)), owner.shape)
    _masked(ev, node, owner, mask, values)
    return None


def _place(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = _changed(ev, node, args["arr"])
    values = _cast_safely(ev, node, args["vals"], owner.dtype)
    mask = array(ev, node, args["mask"])
    known = ev.domain.elements_of(mask) if mask.shape == owner.shape and math.prod(values.shape) > 1 else None
    if known is not None:  # the values go to the places one by one, again from the first where they do not suffice
        places = np.flatnonzero(known)
        taken = np.arange(len(places)) % math.prod(values.shape)
        index = [static(ev, node, v, "places", scalar=False) for v in (places, taken)]
        flat_values = emit(ev, node, "gather", [reshaped(ev, node, values, [math.prod(values.shape)]), index[1]])
        whole = reshaped(ev, node, owner, [math.prod(owner.shape)])
        done = emit(ev, node, "scatter", [whole, index[0], flat_values], reduction="none")
        change(ev, node, owner, reshaped(ev, node, done, owner.shape).ssa)
        return None
    if mask.shape != owner.shape:
        ev.fail("F301", node, f"a mask of shape {mask.shape} for an array of shape {owner.shape}")
    count = math.prod(values.shape)
    if count == 1:
        _masked(ev, node, owner, mask, reshaped(ev, node, values, []))
        return None
    if not count:
        ev.fail("F301", node, "no values to place")
    flags = flat(ev, node, mask if mask.dtype.kind == "b" else elementwise(ev, node, "not_equal", mask, NumberValue(0)))
    before = elementwise(
        ev, node, "sub", emit(ev, node, "cumsum", [cast(ev, node, flags, np.dtype(np.int64))], axis=0), NumberValue(1)
    )
    taken = elementwise(ev, node, "mod", before, NumberValue(count))  # how many places came before, from the first value again
    new = emit(ev, node, "gather", [reshaped(ev, node, values, [count]), taken])
    _masked(ev, node, owner, mask, reshaped(ev, node, new, owner.shape))
    return None


def _copyto(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner, source = _changed(ev, node, args["dst"]), args["src"]
    if isinstance(source, NumberValue) and not source.truth and owner.dtype.kind == "b":
        ev.fail("F406", node, f"{words(source)} cannot be put into an array of bool", "give True or False")
    values = _cast_safely(ev, node, args["src"], owner.dtype)
    if len(values.shape) > len(owner.shape):
        ev.fail("F301", node, f"an array of shape {values.shape} copied to one of shape {owner.shape}")
    wide = values if values.shape == owner.shape else emit(ev, node, "broadcast_to", [values], shape=list(owner.shape))
    if "where" in args:
        mask = emit(ev, node, "broadcast_to", [array(ev, node, args["where"])], shape=list(owner.shape))
        _masked(ev, node, owner, mask, wide)
    else:
        ev.domain.store(ev, node, owner, [], wide)
    return None


def _at(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """`np.add.at(a, i, b)`, `np.add.at(a, (i, j), b)`: every update counts, also several at one place."""
    name = str(args[""])
    owner = _changed(ev, node, args["a"])
    given = args["indices"]
    items = given if isinstance(given, tuple) else (given,)
    parts = [_places(ev, node, name, item, owner) for item in items]
    if len(parts) > len(owner.shape):
        ev.fail("F312", node, f"{len(parts)} indices for an array of rank {len(owner.shape)} (shape {owner.shape})")
    sizes, rest = owner.shape[: len(parts)], owner.shape[len(parts) :]
    places = order.flat_places(ev, node, sizes, parts)
    target = (*places.shape, *rest)
    rows, row = reshaped(ev, node, owner, [math.prod(sizes), *rest]), reshaped(ev, node, places, [math.prod(places.shape)])
    if name not in UPDATES:
        number_like = owner.dtype if owner.dtype.kind == "f" else None
        updates = _wide(ev, node, args["b"], target, rest, number_like) if "b" in args else None
        done = _in_turns(ev, node, name, rows, row, updates)
        change(ev, node, owner, reshaped(ev, node, done, owner.shape).ssa)
        return None
    values = _cast_safely(ev, node, args["b"], owner.dtype)
    if name == "subtract":
        values = elementwise(ev, node, "neg", values)
    updates = _wide(ev, node, values, target, rest)
    done = emit(ev, node, "scatter", [rows, row, updates], reduction=UPDATES[name])
    change(ev, node, owner, reshaped(ev, node, done, owner.shape).ssa)
    return None


def _wide(
    ev: Evaluator, node: ast.AST, value: Value, target: tuple[int, ...], rest: tuple[int, ...], like: np.dtype | None = None
) -> TracedArray:
    """The updates as one row for every place: [places, *rest]. like: the dtype that a Python number takes.

    SourceError F301 if they do not fit.
    """
    values = convert(ev, node, value, like) if like is not None and isinstance(value, NumberValue) else array(ev, node, value)
    try:
        fits = np.broadcast_shapes(values.shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        ev.fail("F301", node, f"updates of shape {values.shape} at places of shape {target}")
    wide = values if values.shape == target else emit(ev, node, "broadcast_to", [values], shape=list(target))
    return reshaped(ev, node, wide, [math.prod(target) // max(math.prod(rest), 1), *rest])


def _in_turns(
    ev: Evaluator, node: ast.Call, name: str, rows: TracedArray, places: TracedArray, updates: TracedArray | None
) -> TracedArray:
    """`at` of a ufunc whose updates have an order: the first update of every place, then the second of those that have one, ...

    rows: what changes, [n, ...]. places: [k]. updates: the second operand, [k, ...]; None for a ufunc of one.
    """
    known = ev.domain.elements_of(places)
    if known is None:
        hint = f"places of np.{', '.join(UPDATES)} may be any; else write x[i] = np.{name}(x[i], ...)"
        ev.fail("F404", node, f"np.{name}.at with places that only the run knows", hint)
    order_of = np.argsort(known, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(known[order_of]) != 0]) if known.size else np.zeros(0, int)
    turns = np.empty(known.size, int)
    turns[order_of] = np.arange(known.size) - np.repeat(first, np.diff(np.r_[first, known.size]))
    for turn in range(int(turns.max(initial=-1)) + 1):
        chosen = np.flatnonzero(turns == turn)
        at = static(ev, node, known[chosen], "places", scalar=False)
        operands = [emit(ev, node, "gather", [rows, at])]
        if updates is not None:
            operands.append(emit(ev, node, "gather", [updates, static(ev, node, chosen, "places", scalar=False)]))
        found = ev.domain.call(ev, node, f"numpy.{name}", operands, {})
        done = _cast_safely(ev, node, found, rows.dtype)
        rows = emit(ev, node, "scatter", [rows, at, done], reduction="none")
    return rows


def _places(ev: Evaluator, node: ast.AST, name: str, item: Value, owner: TracedArray) -> TracedArray:
    """One dimension's places. SourceError F405 if they are not integers (a slice, a mask)."""
    found = array(ev, node, item) if isinstance(item, TracedArray | NumberValue | List | RangeValue | tuple) else None
    if found is None or found.dtype.kind not in "iu" or not owner.shape:
        ev.fail("F405", node, f"{name}.at with places {words(item)}", "give an array of integers, or a tuple of them")
    return cast(ev, node, found, np.dtype(np.int64)) if found.dtype.kind == "u" else found


def _partition(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """`a.partition(k)`: the array becomes what np.partition gives."""
    owner = _changed(ev, node, args["a"])
    keywords = {k: args[k] for k in ("axis", "kind") if k in args}
    done = called.call(ev, node, "numpy.partition", [owner, args["kth"]], keywords)
    assert isinstance(done, TracedArray)
    change(ev, node, owner, done.ssa)
    return None


HANDLERS: Mapping[str, Handler] = {
    "put": _put, "putmask": _putmask, "place": _place, "copyto": _copyto, "at": _at, "partition": _partition,
}  # fmt: skip
