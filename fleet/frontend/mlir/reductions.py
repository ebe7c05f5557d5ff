"""What nests of loops give: elementwise, sums of products, reductions, running totals, the place of the best, or rounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.loops import MAX_ROUNDS, MAX_SPACE, Nest

_COMBINES: Mapping[str, tuple[str, str]] = {
    "arith.addf": ("reduce_sum", "add"), "arith.addi": ("reduce_sum", "add"),
    "arith.mulf": ("reduce_prod", "mul"), "arith.muli": ("reduce_prod", "mul"),
    "arith.maximumf": ("reduce_max", "maximum"), "arith.minimumf": ("reduce_min", "minimum"),
    "arith.maxsi": ("reduce_max", "maximum"), "arith.minsi": ("reduce_min", "minimum"),
    "arith.ori": ("reduce_any", "logical_or"), "arith.andi": ("reduce_all", "logical_and"),
}  # fmt: skip
"""Operation that combines -> the reduction, and the operation of two arrays."""
_CASTS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.sitofp", "arith.extui", "arith.trunci")


def computed(nest: Nest) -> list[MlirArray]:
    """Return the results of a nest of loops. Raises ModelError if it is not supported."""
    given: dict[SSAValue, MlirArray] = {
        argument: nest.operand(array, map_)
        for argument, array, map_ in zip(nest.body.args, nest.inputs, nest.maps, strict=False)
        if argument.uses
    }
    if not nest.reduced:
        for n, argument in enumerate(nest.carried):
            if argument.uses:
                given[argument] = nest.operand(nest.outputs[n], nest.maps[len(nest.inputs) + n])
        return [nest.result(a, n, nest.kept) for n, a in enumerate(nest.compute(given))]
    for way in (_best, _running):
        found = way(nest, given)
        if found is not None:
            return found
    results = [_reduced(nest, n, given) for n in range(len(nest.outputs))]
    return [r for r in results if r is not None] if None not in results else _rounds(nest, given)


def _combining(nest: Nest, number: int) -> tuple[Operation, SSAValue] | None:
    """Return the operation that combines the result so far with a value that does not depend on it, and that value."""
    value, carried = nest.yielded[number], nest.carried[number]
    op = value.owner
    if not isinstance(op, Operation) or op.name not in _COMBINES or len(list(carried.uses)) != 1 or carried not in op.operands:
        return None
    other = op.operands[1] if op.operands[0] is carried else op.operands[0]
    if any(_depends(other, c) for c in nest.carried):
        return None
    return op, other


def _depends(value: SSAValue, on: SSAValue) -> bool:
    left, seen = [value], set[SSAValue]()
    while left:
        one = left.pop()
        if one is on:
            return True
        if one not in seen and isinstance(one.owner, Operation):
            seen.add(one)
            left += one.owner.operands
    return False


def _reduced(nest: Nest, number: int, given: Mapping[SSAValue, MlirArray]) -> MlirArray | None:
    """Return one result as a product or a reduction over axes; None if it is neither."""
    b = nest.build
    found = _combining(nest, number)
    if found is None or any(
        isinstance(e, AffineDimExpr) and e.position in nest.reduced for e in nest.maps[len(nest.inputs) + number].results
    ):
        return None
    op, value = found
    reduction, combine = _COMBINES[op.name]
    dtype = nest.outputs[number].dtype
    if (reduction in ("reduce_any", "reduce_all")) != (dtype.kind == "b"):
        return None
    made = _product(nest, number, value) if combine == "add" else None
    if made is None:
        (array,) = nest.evaluate([value], given, {})
        array = nest.full(array)
        shape = [s if n in nest.reduced else a for n, (s, a) in enumerate(zip(nest.sizes, array.shape, strict=True))]
        if math.prod(shape) > MAX_SPACE:
            b.refuse(f"a reduction of {math.prod(shape):,} elements that the text does not name", f"at most {MAX_SPACE:,} are made")
        if 0 in shape:
            made = b.known(np.broadcast_to(_identity(reduction, dtype), [s for n, s in enumerate(shape) if n in nest.kept]))
        else:
            made = b.emit(reduction, b.broadcast(array, shape), axes=list(nest.reduced), keepdims=False)
        made = nest.result(b.cast(made, dtype), number, nest.kept)
    start = nest.outputs[number]
    if start.known is not None and (start.known == _identity(reduction, dtype)).all():
        return made
    return b.emit(combine, start, made)


def _identity(reduction: str, dtype: np.dtype) -> np.ndarray:
    if reduction in ("reduce_max", "reduce_min"):
        up = reduction == "reduce_min"
        if dtype.kind == "f":
            return np.asarray(np.inf if up else -np.inf, dtype)
        return np.asarray(np.iinfo(dtype).max if up else np.iinfo(dtype).min, dtype)
    return np.asarray(reduction in ("reduce_prod", "reduce_all"), dtype)


# ---- sums of products


def _product(nest: Nest, number: int, value: SSAValue) -> MlirArray | None:
    """Return a sum of products of operands as a matrix product or an einsum; None for another sum."""
    factors = _factors(value)
    if len(factors) < 2:
        return None
    arrays: list[MlirArray] = []
    terms: list[list[int]] = []
    for factor in factors:
        leaf, casts = factor, list[Operation]()
        while isinstance(leaf.owner, Operation) and leaf.owner.name in _CASTS:
            casts.insert(0, leaf.owner)
            leaf = leaf.owner.operands[0]
        place = nest.body.args.index(leaf) if isinstance(leaf, BlockArgument) and leaf in nest.body.args else -1
        if not 0 <= place < len(nest.inputs):
            return None
        found = _followed(nest, place)
        if found is None:
            return None
        array, term = found
        for op in casts:
            (array,) = nest.evaluate([op.results[0]], {op.operands[0]: array}, {})
        arrays.append(array)
        terms.append(term)
    out = [e.position for e in nest.maps[len(nest.inputs) + number].results if isinstance(e, AffineDimExpr)]
    if any(n not in itertools.chain(*terms) for n in range(len(nest.sizes))) or len(out) != len(nest.outputs[number].shape):
        return None
    made = None if nest.doc == "numpy.einsum" or len(arrays) != 2 else _matmul(nest.build, arrays, terms, out)
    if made is None:
        letters = ["".join(chr(ord("a") + n) for n in term) for term in (*terms, out)]
        if len(nest.sizes) > 26:
            return None
        made = nest.build.emit("einsum", *arrays, subscripts=f"{','.join(letters[:-1])}->{letters[-1]}")
    return nest.build.cast(made, nest.outputs[number].dtype)


def _factors(value: SSAValue) -> list[SSAValue]:
    """Return what is multiplied, from left to right."""
    op = value.owner
    if isinstance(op, arith.MulfOp | arith.MuliOp) and len(list(value.uses)) == 1:
        return [*_factors(op.operands[0]), op.operands[1]]
    return [value]


def _followed(nest: Nest, place: int) -> tuple[MlirArray, list[int]] | None:
    """Return an operand without its fixed dimensions of size 1, and the loops that the others follow; None for other maps."""
    b, array, results = nest.build, nest.inputs[place], nest.maps[place].results
    loops = [e.position for e in results if isinstance(e, AffineDimExpr)]
    if len(set(loops)) != len(loops):
        return None
    if any(not isinstance(e, AffineDimExpr) and size != 1 for e, size in zip(results, array.shape, strict=True)):
        return None
    return b.reshape(array, [nest.sizes[n] for n in loops]), loops


def _matmul(b: MlirBuild, arrays: Sequence[MlirArray], terms: Sequence[list[int]], out: list[int]) -> MlirArray | None:
    """Return the matrix product that the terms describe, in either order of the operands; None if they describe none."""
    for first_one in (0, 1):
        x, y = arrays[first_one], arrays[1 - first_one]
        left, right = terms[first_one], terms[1 - first_one]
        shared = [n for n in left if n in right]
        summed = [n for n in shared if n not in out]
        batch = [n for n in out if n in shared or (n in right and n not in left and n != out[-1])]
        rows, columns = [n for n in left if n not in shared], [n for n in right if n not in shared]
        if len(summed) != 1:
            return None
        k = summed[0]
        m = [n for n in rows if n not in batch][-1:] if len(left) > 1 else []
        n_ = [n for n in columns if n not in batch][-1:] if len(right) > 1 else []
        lead = [n for n in out if n not in (*m, *n_)]
        if out != [*lead, *m, *n_] or not (m or len(left) == 1) or not (n_ or len(right) == 1):
            continue
        if len(left) == 1 and len(right) == 1 and out:
            return None
        first, second = [n for n in left if n not in (*m, k)], [n for n in right if n not in (*n_, k)]
        if first != lead[len(lead) - len(first) :] or second != lead[len(lead) - len(second) :]:
            continue
        if (not m and second) or (not n_ and first):
            continue
        x = b.transpose(x, [left.index(n) for n in (*first, *m, k)])
        y = b.transpose(y, [right.index(n) for n in (*second, k, *n_)])
        x, y = b.reshape(x, x.shape if m else (1, *x.shape)), b.reshape(y, y.shape if n_ else (*y.shape, 1))
        found = b.emit("matmul", x, y)
        rank = found.rank  # a vector was a matrix of one row or column
        lost = [*([] if m else [rank - 2]), *([] if n_ else [rank - 1])]
        return b.reshape(found, [s for n, s in enumerate(found.shape) if n not in lost])
    return None


# ---- other patterns


def _best(nest: Nest, given: Mapping[SSAValue, MlirArray]) -> list[MlirArray] | None:
    """Return the best value and its first place, as `argmax` and `argmin` have them; None for another nest.

    A NaN that the text does not ask for is never the best.
    """
    if len(nest.outputs) != 2 or len(nest.reduced) != 1:
        return None
    b, axis = nest.build, nest.reduced[0]
    value, place = (v.owner for v in nest.yielded)
    if not isinstance(value, arith.SelectOp) or not isinstance(place, arith.SelectOp) or value.cond is not place.cond:
        return None
    held, held_place = nest.carried
    if value.rhs is not held or place.rhs is not held_place or any(_depends(value.lhs, c) for c in nest.carried):
        return None
    index = place.lhs.owner
    index = index.operands[0].owner if isinstance(index, arith.IndexCastOp) else index
    if not isinstance(index, linalg.IndexOp) or index.dim.value.data != axis:
        return None
    order, undefined = value.cond.owner, None
    if isinstance(order, arith.OrIOp):
        order, undefined = (v.owner for v in order.operands)
        if not _first_undefined(undefined, value.lhs, held):
            return None
    if not isinstance(order, arith.CmpfOp | arith.CmpiOp) or list(order.operands) != [value.lhs, held]:
        return None
    names = arith.CMPF_COMPARISON_OPERATIONS if isinstance(order, arith.CmpfOp) else arith.CMPI_COMPARISON_OPERATIONS
    word = names[order.predicate.value.data]
    if word not in ("ogt", "sgt", "olt", "slt"):
        return None
    largest, dtype = word.endswith("gt"), nest.outputs[0].dtype
    worst = _identity("reduce_max" if largest else "reduce_min", dtype)
    starts = [o.known for o in nest.outputs]
    if starts[0] is None or starts[1] is None or not (starts[0] == worst).all() or starts[1].any():
        return None
    (array,) = nest.evaluate([value.lhs], given, {})
    array = _along(nest, nest.full(array), axis)
    if isinstance(order, arith.CmpfOp) and undefined is None:
        array = b.emit("where", b.emit("isnan", array), b.known(worst), array)
    best = b.emit("reduce_max" if largest else "reduce_min", array, axes=[axis], keepdims=False)
    where = b.cast(b.emit("argmax" if largest else "argmin", array, axis=axis), nest.outputs[1].dtype)
    return [nest.result(best, 0, nest.kept), nest.result(where, 1, nest.kept)]


def _along(nest: Nest, array: MlirArray, axis: int) -> MlirArray:
    """Return an array of the loops' space that has every element of one loop."""
    shape = [s if n == axis else a for n, (s, a) in enumerate(zip(nest.sizes, array.shape, strict=True))]
    return nest.build.broadcast(array, shape)


def _first_undefined(op: object, value: SSAValue, held: SSAValue) -> bool:
    """Return whether it is "the element is the first NaN"."""
    if not isinstance(op, arith.AndIOp):
        return False
    ours, theirs = (v.owner for v in op.operands)
    return (
        isinstance(ours, arith.CmpfOp)
        and isinstance(theirs, arith.CmpfOp)
        and arith.CMPF_COMPARISON_OPERATIONS[ours.predicate.value.data] == "uno"
        and arith.CMPF_COMPARISON_OPERATIONS[theirs.predicate.value.data] == "ord"
        and set(ours.operands) == {value}
        and set(theirs.operands) == {held}
    )


def _running(nest: Nest, given: Mapping[SSAValue, MlirArray]) -> list[MlirArray] | None:
    """Return a total and the array of its steps, as `cumsum` has them; None for another nest."""
    if len(nest.outputs) != 2 or len(nest.reduced) != 1 or nest.yielded[0] is not nest.yielded[1] or nest.carried[1].uses:
        return None
    found, b, axis = _combining(nest, 0), nest.build, nest.reduced[0]
    start = nest.outputs[0].known
    if found is None or _COMBINES[found[0].name][1] != "add" or start is None or start.any():
        return None
    (array,) = nest.evaluate([found[1]], given, {})
    array = _along(nest, nest.full(array), axis)
    dtype = nest.outputs[0].dtype
    sums = b.cast(b.emit("cumsum", array, axis=axis), dtype)
    size = [1 if n == axis else s for n, s in enumerate(sums.shape)]
    last = b.window(sums, [s - 1 if n == axis else 0 for n, s in enumerate(sums.shape)], size, [1] * sums.rank)
    last = b.reshape(last, [s for n, s in enumerate(size) if n != axis])
    return [nest.result(last, 0, nest.kept), nest.result(sums, 1, list(range(len(nest.sizes))))]


def _rounds(nest: Nest, given: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
    """Follow the reduced loops round by round, in their order."""
    b = nest.build
    places = [range(nest.sizes[n]) for n in nest.reduced]
    rounds = math.prod(map(len, places))
    if rounds > MAX_ROUNDS:
        b.refuse(f"a reduction of {rounds:,} iterations that NumPy lacks", f"at most {MAX_ROUNDS:,} are followed one by one")
    maps = nest.maps[len(nest.inputs) :]
    along = [any(isinstance(e, AffineDimExpr) and e.position in nest.reduced for e in map_.results) for map_ in maps]
    if any(a and c.uses for a, c in zip(along, nest.carried, strict=True)) or (any(along) and len(nest.reduced) != 1):
        b.refuse("a result that is carried along the loop that it is written by")
    operands = {argument: nest.full(array) for argument, array in given.items()}
    state = [None if a else nest.full(nest.operand(o, m)) for a, o, m in zip(along, nest.outputs, maps, strict=True)]
    written: list[list[MlirArray]] = [[] for _ in state]
    for at in itertools.product(*places):
        here = dict(zip(nest.reduced, at, strict=True))
        values: dict[SSAValue, MlirArray] = {argument: _at(b, array, here) for argument, array in operands.items()}
        values |= {c: s for c, s in zip(nest.carried, state, strict=True) if s is not None}
        for n, made in enumerate(nest.compute(values, here)):
            if along[n]:
                written[n].append(nest.full(made))
            else:
                state[n] = nest.full(made)
    results: list[MlirArray] = []
    for n, last in enumerate(state):
        if last is None:
            shape = [1 if i in nest.reduced else s for i, s in enumerate(nest.sizes)]
            whole = b.concat([b.broadcast(part, shape) for part in written[n]], nest.reduced[0])
            results.append(nest.result(whole, n, list(range(len(nest.sizes)))))
        else:
            results.append(nest.result(b.reshape(last, [s for i, s in enumerate(last.shape) if i in nest.kept]), n, nest.kept))
    return results


def _at(b: MlirBuild, array: MlirArray, here: Mapping[int, int]) -> MlirArray:
    start = [here[n] if n in here and size > 1 else 0 for n, size in enumerate(array.shape)]
    return b.window(array, start, [1 if n in here else s for n, s in enumerate(array.shape)], [1] * array.rank)
