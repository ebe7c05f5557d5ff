"""NumPy's calls that move elements: reshape, transpose, split, stack and their like."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import Arguments, Handler, axes_of, axis_of, dtype_of
from fleet.frontend.arrays.emitting import builder_of, cast, emit, read_off
from fleet.frontend.arrays.functions import create
from fleet.frontend.arrays.functions.layout import fresh, ordered
from fleet.frontend.arrays.memory import places_of
from fleet.frontend.arrays.operands import array, joined, select, stack
from fleet.frontend.arrays.parts import element, gather, piece, transposed
from fleet.frontend.arrays.reinterpreted import as_dtype
from fleet.frontend.arrays.sizes import broadcasted, dims_of, element_count, flat, given_sizes, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import value_of
from fleet.frontend.reading.values import List, NumberValue, TracedArray, Value, dimension
from fleet.frontend.reading.wording import words


def _given(value: Value) -> Value:
    """`x.reshape((2, 3))` and `x.reshape(2, 3)` mean the same."""
    if isinstance(value, tuple) and len(value) == 1 and (value[0] is None or isinstance(value[0], tuple | List)):
        return value[0]
    return value


def _transpose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    given, rank = _given(args.get("axes")), len(x.shape)
    # `x.transpose()` reverses the axes; `x.transpose(())` names none, which fits no dimension.
    reverse = given is None or (given == () and not node.args and not node.keywords)
    permutation = tuple(reversed(range(rank))) if reverse else ev.integers(node, given, "axes")
    return transposed(ev, node, x, [p + rank if p < 0 else p for p in permutation])


def _swapaxes(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    order = list(range(len(x.shape)))
    a, b = (axis_of(ev, node, len(order), args[n]) for n in ("axis1", "axis2"))
    order[a], order[b] = order[b], order[a]
    return transposed(ev, node, x, order)


def _moveaxis(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    rank = len(x.shape)
    ends: list[list[int]] = []
    for name in ("source", "destination"):
        numbers = ev.integers(node, args[name], name)
        axes_of(ev, node, rank, tuple(NumberValue(n) for n in numbers))
        ends.append([n % rank for n in numbers])
    if len(ends[0]) != len(ends[1]):
        ev.fail("F305", node, "source and destination must name as many axes")
    order = [i for i in range(rank) if i not in ends[0]]
    for to, source in sorted(zip(ends[1], ends[0], strict=True)):
        order.insert(to, source)
    return transposed(ev, node, x, order)


def _reshape(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if args["shape"] == () and args[""] == "method":
        ev.fail("F208", node, "`.reshape()` is called without a shape", "of one element write .reshape(())")
    shape = given_sizes(ev, node, _given(args["shape"]))
    plain = [d for d in shape if isinstance(d, int)]
    if plain.count(-1) > 1 or min(plain, default=0) < -1:
        ev.fail("F303", node, "reshape with more than one unknown dimension")
    if -1 in plain and len(plain) == len(shape) and all(d >= 0 for d in x.shape):
        known = math.prod(d for d in plain if d != -1)
        total = math.prod(x.shape)
        if known == 0 or total % known:
            ev.fail("F303", node, f"reshape of shape {x.shape} ({total} elements) to {tuple(plain)}")
        shape[shape.index(-1)] = total // known
    elif len(plain) == len(shape) and -1 not in plain and any(d < 0 for d in x.shape):
        return _fixed(ev, node, x, plain)
    return reshaped(ev, node, x, shape)


def _fixed(ev: Evaluator, node: ast.AST, x: TracedArray, shape: Sequence[int]) -> TracedArray:
    """A known shape of an array whose size only the run knows: the run checks it."""
    return x.view(builder_of(ev).emit(node, "reshape", [x.ssa], shape=list(shape)))


def _ravel(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return flat(ev, node, array(ev, node, args["a"]))


def _flatten(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    result = _ravel(ev, node, args)
    return TracedArray(result.ssa) if isinstance(result, TracedArray) else result


def _expand_dims(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    count = len(ev.integers(node, args["axis"], "axis"))
    places = axes_of(ev, node, len(x.shape) + count, args["axis"])
    left = iter(dims_of(x))
    return reshaped(ev, node, x, [1 if i in places else next(left) for i in range(len(x.shape) + count)])


def _squeeze(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    given = args.get("axis")
    if isinstance(given, List):
        ev.fail("F404", node, "the axes of squeeze must be a number or a tuple of them, found a list", "write axis=(0, 1)")
    axes = [i for i, d in enumerate(x.shape) if d == 1] if given is None else axes_of(ev, node, len(x.shape), given)
    if given is None and any(d < 0 for d in x.shape):
        ev.unknown(node, "squeeze of all dimensions of 1, where only the run knows which these are")
    for a in axes:
        if x.shape[a] < 0:
            ev.unknown(node, f"squeeze of axis {a}, whose size only the run knows")
        if x.shape[a] != 1:
            ev.fail("F303", node, f"axis {a} of shape {x.shape} cannot be squeezed: it is not 1")
    if not axes:
        return x
    return reshaped(ev, node, x, [d for i, d in enumerate(dims_of(x)) if i not in axes])


def _atleast(rank: int) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x = array(ev, node, args["a"])
        return x if len(x.shape) >= rank else reshaped(ev, node, x, [*([1] * (rank - len(x.shape))), *dims_of(x)])

    return handler


def _broadcast_to(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    shape = given_sizes(ev, node, args["shape"])
    if any(isinstance(d, NumberValue) for d in shape):
        return x.view(broadcasted(ev, node, x, shape), writable=False)
    found = builder_of(ev).emit(node, "broadcast_to", [x.ssa], shape=shape)
    return x.view(found, scalar=False, writable=False)


# ---- joining


def parts_of(ev: Evaluator, node: ast.Call, value: Value) -> list[TracedArray]:
    """The arrays of a list or tuple (or of the first dimension of an array)."""
    if isinstance(value, TracedArray) and value.shape:
        return [v for v in ev.iterate(node, value) if isinstance(v, TracedArray)]
    parts = ev.sequence(value)
    if not parts:
        ev.fail("F304", node, f"expected a list or tuple of arrays, found {words(value)}")
    return [array(ev, node, v) for v in parts]


def _concatenate(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = parts_of(ev, node, args["arrays"])
    if "axis" in args and args["axis"] is None:
        return joined(ev, node, [flat(ev, node, p) for p in parts], 0)
    if not parts[0].shape:
        ev.fail("F304", node, "arrays without dimensions cannot be concatenated", "use np.stack")
    axis = axis_of(ev, node, len(parts[0].shape), args["axis"]) if "axis" in args else 0
    return joined(ev, node, parts, axis)


def _hstack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = [p if p.shape else reshaped(ev, node, p, [1]) for p in parts_of(ev, node, args["arrays"])]
    return joined(ev, node, parts, 0 if len(parts[0].shape) == 1 else 1)


def _vstack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = parts_of(ev, node, args["arrays"])
    rows = [p if len(p.shape) > 1 else reshaped(ev, node, p, [1, *(dims_of(p) or (1,))]) for p in parts]
    return joined(ev, node, rows, 0)


def _column_stack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = parts_of(ev, node, args["arrays"])
    return joined(ev, node, [p if len(p.shape) > 1 else reshaped(ev, node, p, [*(dims_of(p) or (1,)), 1]) for p in parts], 1)


def _stack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = parts_of(ev, node, args["arrays"])
    return stack(ev, node, parts, axis_of(ev, node, len(parts[0].shape) + 1, args.get("axis", NumberValue(0))))


# ---- taking apart


def _split(equal: bool, axis: int | None = None) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        if equal and not isinstance(args["a"], TracedArray) and ev.sequence(args["indices_or_sections"]) is None:
            ev.fail("F408", node, f"{words(args['a'])} is split into equal parts, but has no shape", "make it an array first")
        x = array(ev, node, args["a"])
        along = 0 if axis == 1 and len(x.shape) == 1 else axis
        at = along if along is not None else axis_of(ev, node, len(x.shape), args["axis"]) if "axis" in args else 0
        if at >= len(x.shape) or (axis == 0 and len(x.shape) == 1):  # np.vsplit asks for two
            ev.fail("F305", node, f"split along axis {at} of an array of rank {len(x.shape)}")
        length, sections = x.shape[at], args["indices_or_sections"]
        if length < 0:
            ev.unknown(node, "a split of a dimension whose size only the run knows")
        given = ev.sequence(sections)
        if given is None:
            count = ev.integer(node, sections, "the number of sections")
            if count <= 0 or (equal and length % count):
                ev.fail("F308", node, f"dimension {at} of size {length} cannot be split into {count} equal parts")
            ev.bounded(node, count, "a list")
            sizes = [length // count + (i < length % count) for i in range(count)]
            cuts = [0, *np.cumsum(sizes).tolist()]
            ends = list(pairwise(cuts))
        else:
            marks = [0, *ev.integers(node, sections, "a place to split at"), length]
            ends = []
            for a, b in pairwise(marks):
                first, last, _ = slice(a, b).indices(length)
                ends.append((first, max(first, last)))
        return List([piece(ev, node, x, at, a, b) for a, b in ends])

    return handler


def _take(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, indices = array(ev, node, args["a"]), args["indices"]
    if args.get("axis") is None:
        x = flat(ev, node, x)
    axis = 0 if args.get("axis") is None else axis_of(ev, node, len(x.shape), args["axis"])
    if isinstance(indices, NumberValue):
        return element(ev, node, x, ev.integer(node, indices, "an index"), axis)
    return gather(ev, node, x, array(ev, node, indices), axis)


def _tile(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, reps = array(ev, node, args["a"]), list(ev.integers(node, args["reps"], "reps"))
    if any(r < 0 for r in reps):
        ev.fail("F303", node, f"tile by {tuple(reps)}")
    reps = [1] * (len(x.shape) - len(reps)) + reps
    x = reshaped(ev, node, x, [1] * (len(reps) - len(x.shape)) + dims_of(x))
    for axis, count in enumerate(reps):
        ev.bounded(node, count, "a tile")
        if count == 0:
            x = piece(ev, node, x, axis, 0, 0)
        elif count > 1:
            x = joined(ev, node, [x] * count, axis)
    return TracedArray(x.ssa)


def _repeat(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, count = array(ev, node, args["a"]), ev.integer(node, args["repeats"], "repeats")
    if count < 0:
        ev.fail("F303", node, f"repeat {count} times")
    if args.get("axis") is None:
        x = flat(ev, node, x)
    axis = 0 if args.get("axis") is None else axis_of(ev, node, len(x.shape), args["axis"])
    shape = [*x.shape[: axis + 1], count, *x.shape[axis + 1 :]]
    dims = dims_of(x)
    wide = reshaped(ev, node, x, [*dims[: axis + 1], 1, *dims[axis + 1 :]])
    spread = emit(ev, node, "broadcast_to", [wide], shape=shape)
    after = dims_of(spread)
    length = x.shape[axis] * count if x.shape[axis] >= 0 else -1
    made = reshaped(ev, node, spread, [*after[:axis], length, *after[axis + 2 :]])
    return TracedArray(fresh(ev, node, made).ssa)


def _flip(axis: int | None = None) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x = array(ev, node, args["a"])
        given = NumberValue(axis) if axis is not None else args.get("axis")
        axes = axes_of(ev, node, len(x.shape), given)
        if not x.shape:
            return TracedArray(x.ssa)
        if not axes:
            return x
        start = [-1 if i in axes and d < 0 else d - 1 if i in axes and d > 0 else 0 for i, d in enumerate(x.shape)]
        step = [-1 if i in axes else 1 for i in range(len(x.shape))]
        return x.view(builder_of(ev).emit(node, "slice", [x.ssa], start=start, size=list(x.shape), step=step))

    return handler


def _roll(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, shift = array(ev, node, args["a"]), ev.integer(node, args["shift"], "shift")
    shape = dims_of(x)
    if args.get("axis") is None:
        x = flat(ev, node, x)
    axis = 0 if args.get("axis") is None else axis_of(ev, node, len(x.shape), args["axis"])
    length = x.shape[axis]
    if length < 0:
        ev.unknown(node, "roll of a dimension whose size only the run knows")
    cut = length - shift % length if length else 0
    if cut in (0, length):
        return TracedArray(reshaped(ev, node, x, shape).ssa, scalar=False)
    turned = joined(ev, node, [piece(ev, node, x, axis, cut, length), piece(ev, node, x, axis, 0, cut)], axis)
    return TracedArray(reshaped(ev, node, turned, shape).ssa, scalar=False)


def _pad(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if args.get("mode", "constant") != "constant":
        ev.fail("F506", node, "pad with a mode other than constant is not supported", "pad with a number")
    given = _widths(ev, node, args["pad_width"])
    pairs = None
    with suppress(ValueError):
        widths = np.array(given)
        if widths.dtype.kind not in "iO":
            ev.fail("F408", node, f"pad by {given}: the width is not an integer", "give one width, two, or two for each dimension")
        if widths.dtype.kind == "i" and (widths >= 0).all():
            pairs = np.broadcast_to(widths, (len(x.shape), 2)).tolist()
    if pairs is None:
        ev.fail("F303", node, f"pad of {words(x)} by {given}", "give one width, two, or two for each dimension, none below 0")
    if not x.shape:
        return TracedArray(x.ssa, scalar=False)
    number = ev.static(args.get("constant_values", NumberValue(0)))
    if number is None:
        ev.fail("F404", node, "constant_values must be a number known from the source")
    value = builder_of(ev).filled(node, (), int(number) if x.dtype.kind == "i" else number, x.dtype)
    return emit(ev, node, "pad", [x, value], low=[p[0] for p in pairs], high=[p[1] for p in pairs])


def _widths(ev: Evaluator, node: ast.Call, value: Value) -> int | list[Any]:
    """Widths of pad, nested as they are given."""
    parts = ev.sequence(value)
    if parts is not None:
        return [_widths(ev, node, p) for p in parts]
    width = ev.integer(node, value, "pad_width")
    return bool(width) if isinstance(value, NumberValue) and value.truth else width


def _triangle(upper: bool) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x, k = array(ev, node, args["a"]), args.get("k", NumberValue(0))
        if not x.shape:
            ev.fail("F305", node, f"{'triu' if upper else 'tril'} of {words(x)}", "it takes arrays of rank 1 or more")
        diagonal = ev.integer(node, k, "k") - (1 if upper else 0)
        dims = dims_of(x)
        mask = create.triangle(ev, node, dims[max(len(dims) - 2, 0)], dims[-1], diagonal, np.dtype(bool))
        zero = builder_of(ev).filled(node, (), 0, x.dtype)
        return select(ev, node, mask, *((zero, x) if upper else (x, zero)))

    return handler


def _diagonal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return diagonal(ev, node, array(ev, node, args["a"]))


def diagonal(ev: Evaluator, node: ast.AST, x: TracedArray) -> TracedArray:
    """A read-only view of the main diagonal of a matrix."""
    if len(x.shape) != 2:
        ev.fail("F305" if len(x.shape) < 2 else "F506", node, f"diagonal of {words(x)}", "it takes matrices")
    if min(x.shape) < 0:
        ev.unknown(node, "the diagonal of a matrix whose size only the run knows")
    length, columns = min(x.shape), x.shape[1]
    flat = reshaped(ev, node, x, [math.prod(x.shape)])
    step = columns + 1 if length else 1
    found = builder_of(ev).emit(node, "slice", [flat.ssa], start=[0], size=[length], step=[step])
    return x.view(found, writable=False, where="always")


def _trace(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    found = diagonal(ev, node, array(ev, node, args["a"]))
    return emit(ev, node, "reduce_sum", [found], axes=[0], keepdims=False)


def _copy(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, method = array(ev, node, args["a"]), args[""] == "method"
    found = ordered(ev, node, x, args.get("order", "C" if method else "K"))
    return TracedArray(found.ssa, scalar=method and x.scalar)


def _astype(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, dtype = array(ev, node, args["a"]), dtype_of(ev, node, args["dtype"])
    casting = args.get("casting", "unsafe")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe") or not np.can_cast(x.dtype, dtype, casting):  # pyright: ignore[reportArgumentType]
        ev.fail("F401", node, f"astype of {words(x)} to {dtype} with casting={words(casting)}")
    same = dtype == x.dtype and "order" not in args
    if same and "copy" in args and not ev.flag(node, args["copy"], "copy"):
        return x
    found = ordered(ev, node, cast(ev, node, x, dtype), args.get("order"))
    return TracedArray(found.ssa, scalar=x.scalar)


def _shape(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    return tuple(dimension(x, i) for i in range(len(x.shape)))


def _fill(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner = args["a"]
    assert isinstance(owner, TracedArray)
    ev.domain.store(ev, node, owner, [], args["value"])
    return None


def _item(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, at = args["a"], args.get("args") or ()
    if isinstance(x, TracedArray) and isinstance(at, tuple) and at:
        place = ast.copy_location(ast.Subscript(node.func, ast.copy_location(ast.Constant(0), node), ast.Load()), node)
        index = list(at[0]) if len(at) == 1 and isinstance(at[0], tuple) else list(at)
        x = ev.domain.load(ev, place, TracedArray(flat(ev, node, x).ssa) if len(index) == 1 else x, index)
    known = ev.static(x)
    if known is not None and isinstance(x, TracedArray) and not isinstance(known, complex):
        return read_off(ev, node, x, known)
    if known is not None:
        return value_of(known)
    if isinstance(x, TracedArray) and x.dtype.kind == "c":
        ev.fail("F407", node, f"a Python number out of {words(x)}", "keep it NumPy's")
    if not isinstance(x, TracedArray) or any(d < 0 for d in x.shape) or math.prod(x.shape) != 1:
        ev.fail("F407", node, f"a Python number out of {words(x)}", "take one element of it first")
    number = {"b": "bool", "f": "float"}.get(x.dtype.kind, "int")
    return NumberValue(None, builder_of(ev).emit(node, "item", [x.ssa], number=number))


def _tolist(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """Lists of Python numbers, as deep as the array has dimensions."""
    x = array(ev, node, args["a"])
    if not x.shape:
        return _item(ev, node, {"a": x})
    found: list[Value] = []
    for part in ev.domain.elements(ev, node, x):
        found.append(_tolist(ev, node, {"a": part}))
        ev.step(node)
    return List(found)


def _size(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if args.get("axis") is None:
        return element_count(ev, node, x)
    return dimension(x, axis_of(ev, node, len(x.shape), args["axis"]))


def _view(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """The array itself, or its bits as another dtype of the same size."""
    x = array(ev, node, args["a"])
    dtype = x.dtype if args.get("dtype") is None else dtype_of(ev, node, args["dtype"])
    if dtype == x.dtype:
        return x.view(x.ssa)
    found = called.call(ev, node, "numpy.ndarray.view", [x], {"dtype": dtype})  # refuses what NumPy refuses of C order
    if x.scalar:
        return found
    if dtype.itemsize != x.dtype.itemsize and _ends_strided(ev, node, x):
        what = f"view: the last axis must be contiguous for a dtype of another size, {dtype} instead of {x.dtype}"
        ev.fail("F703", node, what, "view a copy: x.copy().view(dtype)")
    return x.view(as_dtype(ev, node, x, dtype).ssa, where="always")


def _ends_strided(ev: Evaluator, node: ast.Call, x: TracedArray) -> bool:
    """Return whether the elements of the last axis certainly lie apart."""
    found = places_of(ev, node, x)
    places = np.zeros(1) if found is None else found[1]
    return places.size > 0 and places.ndim > 0 and places.shape[-1] != 1 and places.strides[-1] != places.itemsize


HANDLERS: Mapping[str, Handler] = {
    "view": _view,
    "own": lambda ev, node, args: array(ev, node, args["a"]),
    "transpose": _transpose, "swapaxes": _swapaxes, "moveaxis": _moveaxis, "reshape": _reshape, "ravel": _ravel,
    "flatten": _flatten, "expand_dims": _expand_dims, "squeeze": _squeeze, "atleast_1d": _atleast(1), "atleast_2d": _atleast(2),
    "broadcast_to": _broadcast_to, "concatenate": _concatenate, "hstack": _hstack, "vstack": _vstack,
    "column_stack": _column_stack, "stack": _stack, "split": _split(True), "array_split": _split(False),
    "hsplit": _split(True, 1), "vsplit": _split(True, 0), "take": _take, "tile": _tile, "repeat": _repeat, "flip": _flip(),
    "flipud": _flip(0), "fliplr": _flip(1), "roll": _roll, "pad": _pad, "tril": _triangle(False), "triu": _triangle(True),
    "diagonal": _diagonal, "trace": _trace, "copy": _copy, "astype": _astype, "shape": _shape, "fill": _fill, "item": _item,
    "tolist": _tolist,
    "ndim": lambda ev, node, args: NumberValue(len(array(ev, node, args["a"]).shape)),
    "size": _size,
}  # fmt: skip
