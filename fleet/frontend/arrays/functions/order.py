"""NumPy's calls that put elements in order or take them by many indices: sort, argsort, take_along_axis, x[i, j], masks."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import Arguments, Handler, axis_of
from fleet.frontend.arrays.emitting import cast, emit, known_array
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.memory import change, check_writable
from fleet.frontend.arrays.operands import array, convert, elementwise, select
from fleet.frontend.arrays.sizes import flat, reshaped
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.errors import as_call, expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.intervals import is_inside
from fleet.frontend.reading.values import NumberValue, TracedArray, Value, dimension
from fleet.frontend.reading.wording import words
from fleet.ir.dialect import NumpyOp
from fleet.ir.operations.operation import attributes_of

_KINDS = ("stable", "quicksort", "mergesort", "heapsort")
_FAR = 1 << 40
"""An index beyond every array: gather and scatter refuse it when the model runs."""
_MAX_PLACES = 1 << 22
OrderPart: TypeAlias = "np.ndarray | TracedArray"


def _along(ev: Evaluator, node: ast.Call, args: Arguments) -> tuple[TracedArray, int]:
    """The array and the axis of a sort; all elements in a row for axis=None."""
    x = array(ev, node, args["a"])
    if args.get("kind") not in (None, *_KINDS):
        ev.fail("F506", node, f"kind={words(args['kind'])} is not supported", f"known are {', '.join(_KINDS)}")
    if "axis" in args and args["axis"] is None:
        return flat(ev, node, x), 0
    if not x.shape:
        ev.fail("F305", node, f"{words(x)} has no axis to sort along")
    return x, axis_of(ev, node, len(x.shape), args.get("axis", NumberValue(-1)))


def _argsort(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    x, axis = _along(ev, node, {**args, "a": x if x.shape else flat(ev, node, x)})  # unlike sort it takes a scalar
    kind, known = args.get("kind"), known_array(ev, x)
    if kind not in (None, "quicksort", "heapsort", "mergesort", "stable"):
        ev.fail("F402", node, f"argsort with kind={words(kind)}", "'quicksort', 'heapsort', 'mergesort' or 'stable'")
    stable = kind in ("mergesort", "stable") or (args.get("stable") is not None and ev.flag(node, args["stable"], "stable"))
    if known is not None and not stable:
        order = np.argsort(known, axis=axis, kind="heapsort" if kind == "heapsort" else None)
        if not np.array_equal(order, np.argsort(known, axis=axis, kind="stable")):
            return static(ev, node, order, "order", scalar=False)  # NumPy leaves the order of equal elements open
    return emit(ev, node, "argsort", [x], axis=axis)


def _sort_in_place(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = args["a"]
    assert isinstance(owner, TracedArray)
    given = {k: v for k, v in args.items() if k in ("axis", "kind", "stable")}
    ev.domain.store(ev, node, owner, [], called.call(ev, node, "numpy.sort", [owner], given))
    return None


# ---- many indices


def _normal(ev: Evaluator, node: ast.AST, index: OrderPart, size: int, *, checked: bool) -> OrderPart:
    """Indices of one dimension that count from the front. Known ones are checked here, others when the model runs."""
    if isinstance(index, np.ndarray):
        if index.size and not -size <= int(index.min()) <= int(index.max()) < size:
            worst = int(index.min()) if int(index.min()) < -size else int(index.max())
            ev.fail("F306", node, f"index {worst} is out of bounds for a dimension of size {size}")
        return np.where(index < 0, index + size, index).astype(np.int64)
    if not checked:
        return index
    index = cast(ev, node, index, np.dtype(np.int64))
    if is_inside(ev, index.ssa, size):
        return index
    front = select(ev, node, elementwise(ev, node, "less", index, NumberValue(0)),
                   elementwise(ev, node, "add", index, NumberValue(size)), index)  # fmt: skip
    low, high = (
        elementwise(ev, node, "less", front, NumberValue(0)),
        elementwise(ev, node, "greater_equal", front, NumberValue(size)),
    )
    return select(ev, node, elementwise(ev, node, "logical_or", low, high), NumberValue(_FAR), front)


def _flat_places(ev: Evaluator, node: ast.AST, sizes: Sequence[int], parts: Sequence[OrderPart], *, checked: bool) -> OrderPart:
    """Indices into several dimensions, each with its own array, as indices into these dimensions flattened."""
    shapes = {p.shape for p in parts}
    if len(shapes) > 1 and any(d < 0 for s in shapes for d in s):
        ev.unknown(node, "several arrays of indices, one of them of a size that only the run knows")
    try:
        shape = np.broadcast_shapes(*shapes) if len(shapes) > 1 else parts[0].shape
    except ValueError:
        ev.fail("F301", node, f"indices of shapes {' and '.join(str(p.shape) for p in parts)} do not broadcast")
    if math.prod(shape) > _MAX_PLACES:
        ev.fail("F603", node, f"{math.prod(shape)} indices", f"at most {_MAX_PLACES}")
    known = np.zeros((1,) * len(shape), np.int64)
    late: TracedArray | None = None
    for i, (size, part) in enumerate(zip(sizes, parts, strict=True)):
        stride = math.prod(sizes[i + 1 :])
        index = _normal(ev, node, part, size, checked=checked and len(parts) > 1)  # the run checks a single one itself
        if isinstance(index, np.ndarray):
            known = known + index * stride
            continue
        scaled = index if stride == 1 else elementwise(ev, node, "mul", index, NumberValue(stride))
        late = scaled if late is None else elementwise(ev, node, "add", late, scaled)
    if late is None:
        return np.array(np.broadcast_to(known, shape), order="C")
    if known.any():
        late = elementwise(ev, node, "add", late, static(ev, node, np.asarray(known, order="C"), "places", scalar=False))
    return late if late.shape == shape else emit(ev, node, "broadcast_to", [late], shape=list(shape))


def flat_places(ev: Evaluator, node: ast.AST, sizes: Sequence[int], parts: Sequence[OrderPart]) -> TracedArray:
    """Indices into several dimensions as indices into these dimensions flattened."""
    known = [known_array(ev, p) if isinstance(p, TracedArray) else p for p in parts]
    found = [p if k is None else k for p, k in zip(parts, known, strict=True)]
    return _as_tensor(ev, node, _flat_places(ev, node, sizes, found, checked=True))


def _as_tensor(ev: Evaluator, node: ast.AST, places: OrderPart) -> TracedArray:
    return places if isinstance(places, TracedArray) else static(ev, node, places, "places", scalar=False)


def take(
    ev: Evaluator, node: ast.AST, x: TracedArray, first: int, parts: Sequence[OrderPart], *, checked: bool = True
) -> TracedArray:
    """`x[:, ..., i, j]`: as many dimensions as there are parts, from `first` on, by arrays of indices."""
    sizes = x.shape[first : first + len(parts)]
    if any(d < 0 for d in x.shape):
        ev.unknown(node, "several arrays of indices into dimensions whose sizes only the run knows")
    places = _flat_places(ev, node, sizes, parts, checked=checked)
    merged = reshaped(ev, node, x, [*x.shape[:first], math.prod(sizes), *x.shape[first + len(parts) :]])
    return emit(ev, node, "gather", [merged, _as_tensor(ev, node, places)], **({"axis": first} if first else {}))


def put(
    ev: Evaluator, node: ast.AST, owner: TracedArray, parts: Sequence[OrderPart], value: TracedArray, *, checked: bool = True
) -> None:
    """`owner[i, j] = value`, of the first dimensions: of several values for one place the last stays."""
    sizes, rest = owner.shape[: len(parts)], owner.shape[len(parts) :]
    places = _flat_places(ev, node, sizes, parts, checked=checked)
    target = (*places.shape, *rest)
    try:
        fits = np.broadcast_shapes(value.shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        ev.fail("F301", node, f"an array of shape {value.shape} cannot be assigned to a part of shape {target}")
    wide = value if value.shape == target else emit(ev, node, "broadcast_to", [value], shape=list(target))
    count = math.prod(places.shape)
    rows = reshaped(ev, node, owner, [math.prod(sizes), *rest])
    updates = reshaped(ev, node, wide, [count, *rest])
    index = reshaped(ev, node, _as_tensor(ev, node, places), [count])
    done = emit(ev, node, "scatter", [rows, index, updates], reduction="none")
    change(ev, node, owner, reshaped(ev, node, done, owner.shape).ssa)


def _in_own_place(ev: Evaluator, node: ast.AST, x: TracedArray, indices: TracedArray, axis: int) -> list[OrderPart]:
    """Return the indices of take_along_axis: those given along one axis, and each element's own place along the others."""
    if indices.dtype.kind != "i" or len(indices.shape) != len(x.shape):
        ev.fail("F405", node, f"indices {words(indices)} along an axis of {words(x)}", "they are integers, of as many dimensions")
    if any(d < 0 for d in (*x.shape, *indices.shape)):
        ev.unknown(node, "indices along an axis, of dimensions whose sizes only the run knows")
    parts: list[OrderPart] = []
    for i, size in enumerate(x.shape):
        shape = [-1 if j == i else 1 for j in range(len(x.shape))]
        if i != axis and indices.shape[i] not in (1, size):
            ev.fail("F301", node, f"indices of shape {indices.shape} along axis {axis} of shape {x.shape}")
        known = known_array(ev, indices) if i == axis else None
        parts.append(np.arange(size).reshape(shape) if i != axis else indices if known is None else known)
    return parts


def take_along(
    ev: Evaluator, node: ast.AST, x: TracedArray, indices: TracedArray, axis: int, *, checked: bool = True
) -> TracedArray:
    """`np.take_along_axis`."""
    if len(x.shape) == 1:
        return emit(ev, node, "gather", [x, indices])
    return take(ev, node, x, 0, _in_own_place(ev, node, x, indices, axis), checked=checked)


def _take_along_axis(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, indices = array(ev, node, args["arr"]), array(ev, node, args["indices"])
    if args.get("axis", NumberValue(-1)) is None:
        return take_along(ev, node, flat(ev, node, x), indices, 0)
    axis = axis_of(ev, node, len(x.shape), args.get("axis", NumberValue(-1)))
    if indices.dtype.kind != "i" or len(indices.shape) != len(x.shape):
        _in_own_place(ev, node, x, indices, axis)
    return take_along(ev, node, x, indices, axis)


def _put_along_axis(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = args["arr"]
    if not isinstance(owner, TracedArray) or args["axis"] is None:
        ev.fail("F506", node, "put_along_axis takes an array and an axis")
    check_writable(ev, node, owner)
    axis = axis_of(ev, node, len(owner.shape), args["axis"])
    parts = _in_own_place(ev, node, owner, array(ev, node, args["indices"]), axis)
    put(ev, node, owner, parts, convert(ev, node, args["values"], owner.dtype))
    return None


# ---- masks


def places_of(ev: Evaluator, node: ast.AST, mask: TracedArray) -> list[TracedArray]:
    """The places where a mask is true, one array a dimension; only the run knows their length if it is not known."""
    known = known_array(ev, mask)
    if known is None:
        found = called.call(ev, expression_at(node), "numpy.nonzero", [mask], {})
        assert isinstance(found, tuple)
        return [p for p in found if isinstance(p, TracedArray)]
    places = np.nonzero(known if known.ndim else known[None])
    return [static(ev, node, p, "places", scalar=False) for p in places]


def _flatnonzero(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return places_of(ev, node, flat(ev, node, array(ev, node, args["a"])))[0]


def nonzero(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """`np.nonzero` and `np.where` of one argument."""
    x = array(ev, node, args["a"])
    if not x.shape:
        ev.fail("F305", node, f"nonzero of {words(x)}", "use np.atleast_1d")
    return tuple(places_of(ev, node, x))


def mask_of(ev: Evaluator, node: ast.AST, items: Sequence[Value]) -> TracedArray | None:
    """The mask whose places (`np.where(mask)`, `np.nonzero`) an index consists of, in their order; None for another index."""
    source: TracedArray | None = None
    for i, item in enumerate(items):
        op = item.held.owner if isinstance(item, TracedArray) and item.held is not None else None
        if not isinstance(op, NumpyOp):
            return None
        found = attributes_of(op)
        if (found["call"], found.get("output", 0)) != ("nonzero(x0)", i):
            return None
        if source is not None and source.ssa is not op.operands[0]:
            return None
        source = TracedArray(op.operands[0])
    if source is None or len(source.shape) != len(items):
        return None
    return source if source.dtype.kind == "b" else elementwise(ev, node, "not_equal", source, NumberValue(0))


def _spread(ev: Evaluator, node: ast.AST, owner: TracedArray, mask: TracedArray, values: TracedArray) -> TracedArray:
    """The array with rows of `values`, as many as only the run knows, one after the other where the mask is true."""
    rest = owner.shape[len(mask.shape) :]
    count = math.prod(mask.shape)
    rows, flags = reshaped(ev, node, owner, [count, *rest]), reshaped(ev, node, mask, [count])
    whole = cast(ev, node, flags, np.dtype(np.int64))
    place = expression_at(node)
    held = ev.domain.call(ev, as_call(place), "numpy.sum", [whole], {})
    fits = ev.domain.binary(ev, place, "equal", ev.operand(place, held), dimension(values, 0))
    flag = condition(ev, node, fits)
    check(ev, node, flag, "values are assigned where a mask is true, and they are not as many as it has true elements")
    number = elementwise(ev, node, "sub", emit(ev, node, "cumsum", [whole], axis=0), NumberValue(1))
    last = static(ev, node, np.zeros((1, *rest), owner.dtype), "none", scalar=False)
    padded = emit(ev, node, "concat", [values, last], axis=0)  # where the mask is false the last is taken, and not used
    taken = emit(ev, node, "gather", [padded, select(ev, node, flags, number, NumberValue(-1))])
    wide = reshaped(ev, node, flags, [count, *([1] * len(rest))])
    return reshaped(ev, node, emit(ev, node, "where", [wide, taken, rows]), owner.shape)


def fill_where(ev: Evaluator, node: ast.AST, owner: TracedArray, mask: TracedArray, value: TracedArray) -> None:
    """`owner[mask] = value` where the mask is known only when the model runs: one value, or a row of what the mask leaves."""
    rest = owner.shape[len(mask.shape) :]
    if mask.shape != owner.shape[: len(mask.shape)]:
        ev.fail("F306", node, f"a mask of shape {mask.shape} for an array of shape {owner.shape}")
    if value.shape == (-1, *rest):
        change(ev, node, owner, _spread(ev, node, owner, mask, value).ssa)
        return
    if len(value.shape) > len(rest) or any(v not in (1, d) for v, d in zip(value.shape[::-1], rest[::-1], strict=False)):
        what = f"an array of shape {value.shape} cannot be assigned where a mask is true: how often that is, only the run knows"
        ev.fail("F504", node, what, "assign one value, or use np.where(mask, new, old)")
    wide = reshaped(ev, node, mask, [*mask.shape, *([1] * len(rest))])
    change(ev, node, owner, emit(ev, node, "where", [wide, value, owner]).ssa)


HANDLERS: Mapping[str, Handler] = {
    "argsort": _argsort, "sort_in_place": _sort_in_place,
    "take_along_axis": _take_along_axis, "put_along_axis": _put_along_axis, "flatnonzero": _flatnonzero, "nonzero": nonzero,
}  # fmt: skip
