"""Operations of StableHLO with regions and calls: reductions, loops, branches; and the way in for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block

from fleet.errors import ModelError
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.loops import MAX_ROUNDS
from fleet.frontend.mlir.stablehlo import elementwise, linear_algebra, movement, products, special
from fleet.frontend.mlir.stablehlo.regions import SAMPLES, StableRegions, only
from fleet.frontend.mlir.stablehlo.sorting import sort, top_k
from fleet.frontend.mlir.stablehlo.text import StableOperation, words

_RegionRule = Callable[[StableRegions, StableOperation, Sequence[MlirArray]], list[MlirArray]]


def compute(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Emit an operation, which nothing has verified yet. Raises ModelError if it is not supported or if its parts do not fit."""
    b, name = r.b, op.name.partition(".")[2]
    rule = _RULES.get(name)
    try:
        if r.whole and name in _SHAPES and movement.shape_of_result(b, op) == ():
            found = list(operands)
        elif rule is not None:
            found = rule(r, op, operands)
        elif name in _PLAIN:
            found = [_PLAIN[name](b, op, *operands)]
        else:
            b.refuse(f"{op.name} is not read", "`fleet help mlir` lists what is")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        b.refuse(f"{op.name} does not verify: its operands and attributes do not fit ({error})")
    for array, result in zip(found, op.results, strict=True):
        type_ = result.type
        if isinstance(type_, TensorType) and not r.whole:
            sizes = type_.get_shape()
            fits = len(sizes) == array.rank and all(d in (s, -1) for d, s in zip(sizes, array.shape, strict=True))
            if not fits or dtype_of(b, type_) != array.dtype:
                b.refuse(f"{op.name} gives {array.dtype}{list(array.shape)}; its text says {type_}")
    return found


# ---- reductions

_COMBINED = {
    "add": ("add", "reduce_sum"), "multiply": ("mul", "reduce_prod"), "maximum": ("maximum", "reduce_max"),
    "minimum": ("minimum", "reduce_min"), "and": ("bitwise_and", ""), "or": ("bitwise_or", ""), "xor": ("bitwise_xor", ""),
}  # fmt: skip
_TRUTHS = {"and": ("logical_and", "reduce_all"), "or": ("logical_or", "reduce_any"), "xor": ("not_equal", "")}


def _combining(op: StableOperation, dtype: np.dtype) -> tuple[str, str] | None:
    """Return (operation, reduction) of fleet if the region combines its two arguments by one operation, else None.

    The reduction is "" where fleet has none: its elements are combined in pairs.
    """
    name = words(op, "applies").partition(".")[2]
    return _named_combination(name, dtype) if name else _combining_block(only(op), dtype)


def _combining_block(block: Block, dtype: np.dtype) -> tuple[str, str] | None:
    first = block.first_op
    if len(block.args) != 2 or len(block.ops) != 2 or not isinstance(first, StableOperation):
        return None
    last = block.last_op
    if set(first.operands) != set(block.args) or last is None or list(last.operands) != list(first.results):
        return None
    return _named_combination(first.name.partition(".")[2], dtype)


def _named_combination(name: str, dtype: np.dtype) -> tuple[str, str] | None:
    if dtype.kind == "b":
        name = {"maximum": "or", "minimum": "and", "add": "or", "multiply": "and"}.get(name, name)
        return _TRUTHS.get(name)
    return _COMBINED.get(name)


def _reduce(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    b, half = r.b, len(operands) // 2
    arrays, starts = operands[:half], operands[half:]
    axes = sorted(movement.wanted(b, op, "dimensions"))
    if not axes:
        return list(arrays)
    if half == 1:
        kinds = _combining(op, arrays[0].dtype)
        if kinds is not None:
            return [_of_one(b, arrays[0], starts[0], axes, *kinds)]
    if half == 2 and len(axes) == 1 and (best := _best(r, op, arrays, starts)) is not None:
        found = b.cast(b.emit(best, arrays[0], axis=axes[0], keepdims=False), arrays[1].dtype)
        return [b.emit("reduce_max" if best == "argmax" else "reduce_min", arrays[0], axes=(axes[0],), keepdims=False), found]
    return _one_by_one(r, op, arrays, starts, axes)


def _of_one(b: MlirBuild, x: MlirArray, start: MlirArray, axes: Sequence[int], kind: str, reduction: str) -> MlirArray:
    found = b.cast(b.emit(reduction, x, axes=tuple(axes), keepdims=False), x.dtype) if reduction else _in_pairs(b, x, axes, kind)
    if start.known is not None and start.known.size == 1 and _neutral(kind, start.known):
        return found
    return b.emit(kind, found, b.broadcast(b.reshape(start, ()), found.shape))


def _in_pairs(b: MlirBuild, x: MlirArray, axes: Sequence[int], kind: str) -> MlirArray:
    """Combine the elements of these dimensions by an operation of which neither order nor grouping matters."""
    kept = [n for n in range(x.rank) if n not in axes]
    shape, count = [x.shape[n] for n in kept], math.prod(x.shape[n] for n in axes)
    if not count:
        return b.broadcast(b.known(_IDENTITIES[kind], x.dtype), shape)
    x = b.reshape(b.transpose(x, [*axes, *kept]), (count, *shape))

    def part(start: int, size: int) -> MlirArray:
        return b.window(x, [start] + [0] * len(shape), [size, *shape], [1] * x.rank)

    while count > 1:
        half = count // 2
        both = b.emit(kind, part(0, half), part(half, half))
        x, count = (b.concat([both, part(2 * half, 1)], 0), half + 1) if count % 2 else (both, half)
    return b.reshape(x, shape)


def _neutral(kind: str, start: np.ndarray) -> bool:
    """Return whether a start value changes nothing."""
    if kind in ("maximum", "minimum"):
        info = np.finfo if start.dtype.kind == "f" else np.iinfo
        ends = (float("-inf"), info(start.dtype).min) if kind == "maximum" else (float("inf"), info(start.dtype).max)
        value = start.item()
        return value == ends[0] or (start.dtype.kind != "f" and value == ends[1])
    return bool(start.item() == np.asarray(_IDENTITIES[kind]).astype(start.dtype))


_IDENTITIES: Mapping[str, int] = {
    "add": 0, "mul": 1, "logical_or": 0, "logical_and": 1, "not_equal": 0, "bitwise_or": 0, "bitwise_xor": 0, "bitwise_and": -1,
}  # fmt: skip


def _best(r: StableRegions, op: StableOperation, arrays: Sequence[MlirArray], starts: Sequence[MlirArray]) -> str | None:
    """Return "argmax" or "argmin" if a reducer of values and positions is one: it is tried on numbers; None otherwise.

    The positions must count the reduced dimension from 0, and the start must be the least (the greatest) value.
    """
    b, (values, places), start = r.b, arrays, starts[0].known
    axis = movement.wanted(b, op, "dimensions")[0]
    count = np.arange(values.shape[axis]).reshape([-1 if n == axis else 1 for n in range(values.rank)])
    if (
        places.known is None
        or start is None
        or values.dtype.kind not in "fiu"
        or places.dtype.kind not in "iu"
        or not np.array_equal(places.known, np.broadcast_to(count, places.shape))
    ):
        return None
    samples = [*SAMPLES, math.nan] if values.dtype.kind == "f" else [*SAMPLES[1:]] if values.dtype.kind == "i" else [0, 1, 3]
    for kind, better in (("argmax", np.greater), ("argmin", np.less)):
        if not _neutral("maximum" if kind == "argmax" else "minimum", start):
            continue
        if all(_as_best(r, op, x, y, i, j, better, arrays) for x in samples for y in samples for i, j in ((1, 2), (2, 1))):
            return kind
    return None


def _as_best(
    r: StableRegions, op: StableOperation, x: float, y: float, i: int, j: int, better: np.ufunc, arrays: Sequence[MlirArray]
) -> bool:
    b, dtypes = r.b, [a.dtype for a in arrays]
    given = [b.known(n, dtypes[k % 2]) for k, n in enumerate((x, i, y, j))]
    found = [a.known for a in r.block(only(op), given)]
    if any(k is None for k in found):
        return False
    undefined = [math.isnan(n) for n in (x, y)]
    first = undefined[0] or bool(better(x, y)) if not undefined[1] or undefined[0] else False
    tie = x == y or all(undefined)
    expected = (x, min(i, j)) if tie else (x, i) if first else (y, j)
    return all(
        np.array_equal(np.asarray(k, float), np.asarray(e, float), equal_nan=True) for k, e in zip(found, expected, strict=True)
    )


def _one_by_one(
    r: StableRegions, op: StableOperation, arrays: Sequence[MlirArray], starts: Sequence[MlirArray], axes: Sequence[int]
) -> list[MlirArray]:
    """Follow the reduced elements in their order, each step done on all that are kept."""
    b = r.b
    if words(op, "applies"):
        b.refuse(f"{op.name} that applies {words(op, 'applies')}")
    kept = [n for n in range(arrays[0].rank) if n not in axes]
    rounds = math.prod(arrays[0].shape[n] for n in axes)
    if rounds > MAX_ROUNDS:
        b.refuse(f"a reduction of {rounds:,} elements by a function of its own", f"at most {MAX_ROUNDS:,} are followed")
    shape = [arrays[0].shape[n] for n in kept]
    columns = [b.reshape(b.transpose(a, [*axes, *kept]), (rounds, *shape)) for a in arrays]
    carried = [b.broadcast(b.reshape(s, ()), shape) for s in starts]
    for n in range(rounds):
        row = [b.reshape(b.window(c, [n] + [0] * len(shape), [1, *shape], [1] * c.rank), shape) for c in columns]
        carried = [b.broadcast(a, shape) for a in r.block(only(op), [*carried, *row])]
        b.begin(op)
    return carried


def _reduce_window(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    if len(operands) != 2:
        r.b.refuse("windows of several arrays")
    x, start = operands
    kinds = _combining(op, x.dtype)
    if kinds is not None:
        return [products.reduced_windows(r.b, op, x, start, kinds[0])]
    met = products.windows_of(r.b, op, x, start)
    if len(met) > MAX_ROUNDS:
        r.b.refuse(
            f"windows of {len(met):,} elements that a function of their own combines", f"at most {MAX_ROUNDS:,} are followed"
        )
    shape = met[0].shape
    carried = r.b.broadcast(r.b.reshape(start, ()), shape)
    for window in met:
        (carried,) = r.block(only(op), [carried, window])
        r.b.begin(op)
    return [r.b.broadcast(carried, shape)]


def _select_and_scatter(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Add each source to the element of its window that is selected, the first of the greatest or least: a pool's gradient."""
    b, (x, source, start) = r.b, operands
    select, scatter = (region.block for region in op.regions)
    kinds = _combining_block(scatter, x.dtype)
    best = next((k for k in ("greater", "less") if _selects(r, select, x, k)), None)
    if best is None or kinds is None or kinds[0] != "add":
        b.refuse("a selection of its own", "of each window the greatest or least element is read, to which sources are added")
    worst = b.known(-math.inf if best == "greater" else math.inf, x.dtype)
    met = products.windows_of(b, op, x, worst)
    chosen, at = met[0], b.known(np.zeros(met[0].shape, np.int64))
    for n, window in enumerate(met[1:], 1):
        better = b.emit(best, window, chosen)
        chosen = b.emit("where", better, window, chosen)
        at = b.emit("where", better, b.known(np.full(window.shape, n, np.int64)), at)
    parts = [
        b.emit("where", b.emit("equal", at, b.known(n, np.int64)), source, b.known(np.zeros(source.shape, x.dtype)))
        for n in range(len(met))
    ]
    found = products.put_back(b, op, parts, x.shape)
    return [b.emit("add", found, b.broadcast(b.reshape(start, ()), x.shape))]


def _selects(r: StableRegions, block: Block, x: MlirArray, better: str) -> bool:
    """Return whether a region says that its first argument is as good or better."""
    for one in SAMPLES:
        for other in SAMPLES:
            (found,) = r.block(block, [r.b.known(one, x.dtype), r.b.known(other, x.dtype)])
            if found.known is None or bool(found.known.item()) != (one >= other if better == "greater" else one <= other):
                return False
    return x.dtype.kind == "f"


# ---- loops and branches


_FOLLOWED = 512
"""Rounds of a loop up to which they are followed one by one: what they multiply can then be placed on a device."""


def _while(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Follow the rounds of a loop that is known to be short; make a loop of the run of another."""
    b, carried = r.b, list(operands)
    condition, body = (region.block for region in op.regions)

    def goes(now: Sequence[MlirArray]) -> MlirArray:
        return r.block(condition, now)[0]

    def rolled(state: Sequence[MlirArray]) -> list[MlirArray]:
        return r.roll(op, state, goes, lambda now: r.block(body, now))

    if _is_long(r, body, goes, carried):
        with suppress(ModelError):
            return rolled(carried)
    for _ in range(MAX_ROUNDS + 1):
        more = goes(carried)
        b.begin(op)
        if more.known is None:
            return rolled(carried)
        if not more.known.item():
            return carried
        carried = r.block(body, carried)
        b.begin(op)
    return b.refuse(f"a loop of more than {MAX_ROUNDS:,} rounds, which must be followed one by one")


def _is_long(r: StableRegions, body: Block, goes: Callable[[Sequence[MlirArray]], MlirArray], state: Sequence[MlirArray]) -> bool:
    """Return whether a loop still goes on after `_FOLLOWED` rounds, its known numbers counting on as in the first round."""
    tried = Block()
    try:
        with r.b.inside(tried):
            following = r.block(body, state)
            ahead = [_counted_on(r.b, now, then) for now, then in zip(state, following, strict=True)]
            more = goes(ahead).known
    except ModelError:
        return False
    finally:
        r.b.drop(tried)
    return more is not None and bool(more.item())


def _counted_on(b: MlirBuild, now: MlirArray, then: MlirArray) -> MlirArray:
    if now.known is None or then.known is None or now.known.size != 1 or now.dtype.kind not in "iu":
        return now
    return b.known(now.known + (then.known - now.known) * _FOLLOWED, now.dtype)


def _case(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Follow the branch that is known, else choose in the run. Indices outside the branches mean the last one."""
    (index,) = operands
    blocks = [region.block for region in op.regions]

    def branch(n: int) -> list[MlirArray]:
        if n == len(blocks) - 1:
            return r.block(blocks[n], [])
        here = r.b.emit("equal", index, r.b.known(n, index.dtype))
        if here.known is not None:
            return r.block(blocks[n], []) if here.known.item() else branch(n + 1)
        return r.choose(op, here, lambda: r.block(blocks[n], []), lambda: branch(n + 1))

    return branch(0)


def _if(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    (condition,) = operands
    yes, no = (region.block for region in op.regions)
    if condition.known is not None:
        return r.block(yes if condition.known.item() else no, [])
    return r.choose(op, condition, lambda: r.block(yes, []), lambda: r.block(no, []))


def _scatter(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    b = r.b
    if len(operands) != 3:
        b.refuse("a scatter into several arrays")
    x, indices, updates = operands
    block = only(op)
    last = block.last_op
    if last is not None and list(last.operands) == [block.args[1]]:
        return [movement.scattered(b, op, x, indices, updates, "none")]
    kinds = _combining(op, x.dtype)
    reduction = _SCATTERED.get(kinds[0] if kinds else "")
    if reduction is not None and x.dtype.kind == "b":
        found = movement.scattered(b, op, b.cast(x, np.int8), indices, b.cast(updates, np.int8), reduction)
        return [b.emit("not_equal", found, b.known(0, np.int8))]

    def combined(now: MlirArray, given: MlirArray) -> MlirArray:
        (found,) = r.block(block, [now, given])
        b.begin(op)
        return b.broadcast(found, now.shape)

    return [movement.scattered(b, op, x, indices, updates, reduction or combined)]


_SCATTERED = {"add": "add", "mul": "mul", "maximum": "max", "minimum": "min", "logical_or": "max", "logical_and": "min"}
"""Operation that combines -> the reduction of fleet's scatter."""


def _composite(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Call the function of the file that defines the composite."""
    return r.call(words(op, "decomposition").removeprefix("@"), operands)


def _custom(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    name = words(op, "call_target_name").removeprefix("@").strip('"')
    if name in _MARKS:
        return list(operands)
    if name in linear_algebra.CALLS:
        return linear_algebra.CALLS[name](r, op, operands)
    return r.b.refuse(
        f"a call of {name}, which is not in the file", "of JAX's linear algebra Cholesky, LU and what solves by them are read"
    )


_MARKS = ("Sharding", "annotate_device_placement", "LayoutConstraint", "xla.sdy.FuncResultSharding")
"""Calls that say where something is computed."""
_SHAPES = ("broadcast_in_dim", "reshape", "transpose")
"""Operations that do nothing to one element."""
_PLAIN = {**elementwise.RULES, **movement.RULES, **products.RULES, **special.RULES}
_RULES: Mapping[str, _RegionRule] = {
    "reduce": _reduce, "reduce_window": _reduce_window, "sort": sort, "select_and_scatter": _select_and_scatter, "top_k": top_k,
    "while": _while, "case": _case, "if": _if, "scatter": _scatter, "composite": _composite, "custom_call": _custom,
    "optimization_barrier": lambda _r, _op, operands: list(operands),
    "map": lambda r, op, operands: r.block(only(op), operands),
}  # fmt: skip
READ = tuple(sorted({*_PLAIN, *_RULES}))
"""Operations that are read, without their dialect."""
