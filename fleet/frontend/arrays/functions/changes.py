"""NumPy's calls that change an array: put, putmask, place, copyto, and `at` of ufuncs."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import Arguments, Handler
from fleet.frontend.arrays.emitting import cast, emit
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.indices.items import expanded, integers, mask_of
from fleet.frontend.arrays.indices.storing import as_part, chosen, for_places, in_front
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.memory import change, check_writable
from fleet.frontend.arrays.operands import array, convert, elementwise, select
from fleet.frontend.arrays.sizes import flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, NumberValue, RangeValue, Slice, TracedArray, Value
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
    """`np.add.at(a, index, b)`, of any index that NumPy takes: every update counts, also several at one place."""
    name = str(args[""])
    owner = _changed(ev, node, args["a"])
    if owner.scalar:
        ev.fail("F408", node, f"{name}.at changes an array, found {words(owner)}")
    given = args["indices"]
    items = _index(ev, node, name, owner, given if isinstance(given, tuple) else (given,))
    values = _second(ev, node, args["b"]) if "b" in args else None
    base, axes, arrays = chosen(ev, node, owner, items)
    if not arrays:  # slices alone name no place twice
        operands = [base] if values is None else [base, as_part(ev, node, values, base.shape)]
        change(ev, node, base, _cast_safely(ev, node, ev.domain.call(ev, node, f"numpy.{name}", operands, {}), owner.dtype).ssa)
        return None
    parts = [integers(ev, node, item) for item in arrays]
    wide = None if values is None else for_places(ev, node, base, axes, parts, values)
    base = in_front(ev, node, base, axes)
    sizes, rest = base.shape[: len(parts)], base.shape[len(parts) :]
    places = order.flat_places(ev, node, sizes, parts)
    count = math.prod(places.shape)
    rows, row = reshaped(ev, node, base, [math.prod(sizes), *rest]), reshaped(ev, node, places, [count])
    updates = None if wide is None else reshaped(ev, node, wide, [count, *rest])
    known = ev.domain.elements_of(row) is not None
    if updates is None or name not in UPDATES or (known and not _in_any_order(ev, name, owner.dtype, updates)):
        done = _in_turns(ev, node, name, rows, row, updates)
    else:
        updates = _cast_safely(ev, node, updates, owner.dtype)
        updates = elementwise(ev, node, "neg", updates) if name == "subtract" else updates
        done = emit(ev, node, "scatter", [rows, row, updates], reduction=UPDATES[name])
    change(ev, node, base, reshaped(ev, node, done, base.shape).ssa)
    return None


def _second(ev: Evaluator, node: ast.AST, value: Value) -> TracedArray:
    """The second operand of `at`, in NumPy's own dtype also for a number of Python."""
    if isinstance(value, NumberValue):
        return convert(ev, node, value, np.dtype(bool if value.truth else np.int64 if value.whole else float))
    return array(ev, node, value)


def _in_any_order(ev: Evaluator, name: str, dtype: np.dtype, updates: TracedArray) -> bool:
    """Return whether an update in the array's own dtype has the bits of NumPy's, which is computed in the common dtype."""
    if dtype.kind not in "fc" or np.result_type(dtype, updates.dtype) == dtype or name in ("maximum", "minimum"):
        return True
    known = ev.domain.elements_of(updates)
    return known is not None and np.array_equal(known.astype(dtype).astype(known.dtype), known, equal_nan=True)


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


def _index(ev: Evaluator, node: ast.AST, name: str, owner: TracedArray, given: Sequence[Value]) -> list[Value]:
    """The items of an index, one for each dimension, masks as the places where they are true. SourceError F405 for others."""
    found: list[Value] = []
    for item in expanded(ev, node, owner, given):
        mask = mask_of(ev, node, item)
        if mask is None and not (item is None or isinstance(item, TracedArray | NumberValue | List | RangeValue | tuple | Slice)):
            ev.fail("F405", node, f"{name}.at with places {words(item)}", "give integers, arrays, slices, or a tuple of them")
        if mask is None:
            found.append(item)
            continue
        if ev.domain.elements_of(mask) is None:
            hint = f"a mask names no place twice: x[mask] = np.{name}(x[mask], ...)"
            ev.fail("F404", node, f"{name}.at with a mask that only the run knows", hint)
        found += order.places_of(ev, node, mask)
    return found


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
