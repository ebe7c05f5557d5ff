"""The third judge: accepts an engine that is as near to the program in higher precision as the golden is.

It is called if accumulated errors have no finite bound and no bound on the operation's own operands decides either (an engine that
shows only outputs). It evaluates the program with more precision (`higher_precision`) and measures how well inputs and weights
determine each element (`condition`). Distances are in the norm `ways.NORM`: the largest error of an operation, each element's in
units of one ulp of it or of its change by one-ulp changes of inputs and weights and by random rounding, whichever is larger.

An element passes if its distance is at most max(4 * golden, 2), with the golden's distance taken over the whole operation. That
counts only where the golden itself can be trusted. An element is not decided if the golden is farther off than `TRUSTED`, if it
depends on a decision which a small change reverses, or if it is so badly determined that more than `RESOLUTION` of its size would
pass. Nothing else is excused: a trusted element beyond the limit differs.

An engine may state that its functions are off by more than rounding (a sigmoid that ends at -18). Bounds allow that, and so does
the judge: an element may be farther off by as much as such errors move it, and that counts for `RESOLUTION` too.

An index (of an order, of the largest) may differ only if the two indexed values are nearer to each other than that limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fleet.compare.judges.condition import DRAWS, JUMP_DRAWS, Determined, FunctionErrors, determined, stated_moves
from fleet.compare.judges.higher_precision import widest
from fleet.compare.metrics import root_mean_square
from fleet.compare.operation_rows import Judgement
from fleet.compare.rules.steps import Array
from fleet.compare.traces import Doubt
from fleet.compare.ways import HigherPrecision
from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.targets.bytecode.evaluate import apply

FACTOR = 4.0
"""An engine may be this many times as far from higher precision as the golden is."""

LEAST = 2.0
"""The distance that is always allowed: two ulps, or twice the effect of one ulp in inputs and weights and of random rounding."""

TRUSTED = 32.0
"""The largest distance at which the golden is trusted; its own rounding adds up to a few."""

RESOLUTION = 2.0**-7
"""The largest share of an element (or of the operation's root mean square) that may pass as rounding: less than 1 %."""

_INDEX = (d.ArgsortOp, d.ArgmaxOp, d.ArgminOp)
_MOVES = (d.SliceOp, d.ReshapeOp, d.TransposeOp, d.BroadcastToOp, d.CastOp)


@dataclass(frozen=True)
class _Limits:
    """Limits of one operation's floats.

    golden: the golden's distance. allowed: the largest distance that passes. scale: the unit of distances, by element.
    trusted, fine: masks of elements at which the golden is trusted, and at which the allowed distance is below `RESOLUTION`.
    stated: what the engine's stated errors may add, by element, in the operation's own unit.
    least: magnitude up to which a value counts as zero beside the operation's other values.
    """

    golden: float
    allowed: float
    scale: Array
    trusted: Array
    fine: Array
    stated: Array
    least: float

    def beside(self, moves: Array | None, value: Array) -> _Limits:
        """Return the limits with what the engine's stated errors may add; both together must be below `RESOLUTION`."""
        if moves is None:
            return self
        with np.errstate(invalid="ignore", over="ignore"):
            size = np.maximum(np.abs(value).astype(np.float64), root_mean_square(value))
            return replace(self, stated=moves, fine=self.allowed * self.scale + moves <= RESOLUTION * size)


@dataclass(frozen=True)
class _Index:
    """Origin of indices: the operation whose values they order, the axis, and the row of these values for each index."""

    values: FleetOp
    axis: int
    rows: Array


@dataclass
class ThirdJudge:
    """The third judge, one per comparison; the module's docstring explains it.

    Args:
        program: with its weights. inputs: all inputs. golden: the golden's tensors by operation id.
        golden_is_reference: whether the golden is the reference of the doubts; else it is the other side.
        seed: for the changes of inputs and weights.
        functions: what the engine states of its functions beyond rounding.
    """

    program: Program
    inputs: Mapping[str, np.ndarray]
    golden: Mapping[str, np.ndarray]
    golden_is_reference: bool = True
    seed: int = 0
    functions: FunctionErrors = field(default_factory=FunctionErrors)
    _ops: dict[str, FleetOp] = field(default_factory=dict[str, FleetOp], init=False)

    def __call__(self, doubts: Mapping[str, Doubt]) -> dict[str, Judgement]:
        """Return a judgement for each doubt: each of its elements is held, beyond, or neither."""
        self._ops = {op_id(op): op for op in self.program.operations()}
        found: dict[str, Judgement] = {}
        for dtype, names in self._by_dtype(doubts).items():
            if dtype is None:
                found |= {n: _cannot(doubts[n], "this machine has no float with more precision") for n in names}
                continue
            needed = {*names, *(op_id(i.values) for n in names if (i := self._index(n)) is not None)}
            arguments = {a.name: np.asarray({**self.program.weights, **self.inputs}[a.name]) for a in self.program.arguments}
            try:
                known = determined(self.program, arguments, needed, dtype, self.seed)
            except (FleetError, MemoryError) as error:
                found |= {n: _cannot(doubts[n], str(error) or "out of memory") for n in names}
                continue
            judged = {n: self._judged(n, doubts[n], known, dtype, {}) for n in names}
            if any(j.beyond.any() for j in judged.values()):
                try:
                    values = {n: k.value for n, k in known.items()}
                    moves = stated_moves(self.program, arguments, values, dtype, self.functions, self.seed)
                    judged = {n: self._judged(n, doubts[n], known, dtype, moves) for n in names}
                except (FleetError, MemoryError) as error:
                    judged |= {n: _cannot(doubts[n], str(error) or "out of memory") for n in names if judged[n].beyond.any()}
            found |= judged
        return found

    def _by_dtype(self, doubts: Mapping[str, Doubt]) -> dict[np.dtype | None, list[str]]:
        """Return the operations by the dtype in which they are evaluated; None if there is none with more precision."""
        found: dict[np.dtype | None, list[str]] = {}
        for name in doubts:
            own = numpy_dtype(self._ops[name].results[0].type)
            index = self._index(name)
            if own.kind != "f" and index is not None:
                own = numpy_dtype(index.values.results[0].type)
            if own.kind != "f":
                floats = [numpy_dtype(op.results[0].type) for op in self._ops.values() if op.results]
                own = max((t for t in floats if t.kind == "f"), key=lambda t: t.itemsize, default=np.dtype(np.float32))
            found.setdefault(widest(own), []).append(name)
        return found

    def _judged(
        self, name: str, doubt: Doubt, known: Mapping[str, Determined], dtype: np.dtype, moves: Mapping[str, Array]
    ) -> Judgement:
        golden, engine = (doubt.reference, doubt.other) if self.golden_is_reference else (doubt.other, doubt.reference)
        if golden.dtype.kind == "f":
            return self._floats(name, golden, engine, doubt.undecided, known[name], dtype, moves.get(name))
        index = self._index(name)
        if index is None:
            return _whole(golden, engine, doubt.undecided, known[name], dtype)
        ordered = known[op_id(index.values)]
        limits = _limits(np.asarray(self.golden[op_id(index.values)]), ordered, numpy_dtype(index.values.results[0].type))
        limits = limits.beside(moves.get(op_id(index.values)), ordered.value)
        return _indices(index, golden, engine, doubt.undecided, ordered.value, limits, dtype)

    def _floats(
        self, name: str, golden: Array, engine: Array, undecided: Array, known: Determined, dtype: np.dtype, moves: Array | None
    ) -> Judgement:
        """Judge float values. moves: what the engine's stated errors may add, or None."""
        strict = _limits(golden, known, numpy_dtype(self._ops[name].results[0].type))
        limits = strict.beside(moves, known.value)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            distance = np.abs(engine.astype(dtype) - known.value).astype(np.float64)
            near_itself = distance / limits.scale <= limits.allowed
            distance = np.where(distance > limits.stated, distance - limits.stated, 0.0 * distance) / limits.scale
        near = distance <= limits.allowed  # False for NaN
        # A special value that higher precision gives too belongs to the program itself.
        special = ~np.isfinite(known.value) & _same(golden, known.value) & ~known.jumps
        # An exact zero has neither ulps nor a condition: a value that is small beside the operation's others may be right or wrong.
        zero = (known.value == 0) & (known.condition == 0) & (np.abs(engine.astype(np.float64)) <= limits.least)
        held = undecided & limits.trusted & ((strict.fine & near_itself) | (limits.fine & near))
        beyond = undecided & ((limits.trusted & ~near & ~zero) | special)
        judged = distance[undecided & limits.trusted & np.isfinite(distance)]
        condition = known.condition / _ulp(known.value, numpy_dtype(self._ops[name].results[0].type))
        higher = HigherPrecision(
            dtype.name if dtype.itemsize <= 8 else "longdouble", limits.golden, float(judged.max(initial=0.0)), limits.allowed,
            float(condition[np.isfinite(condition)].max(initial=0.0)), DRAWS + JUMP_DRAWS,
            _why(undecided & ~held & ~beyond, limits, known),
        )  # fmt: skip
        words = (
            f"farther from {higher.dtype} than {FACTOR:g} times the golden (worst {higher.other:.3g}, allowed {limits.allowed:.3g})"
        )
        return Judgement(held, beyond, words, higher)

    def _index(self, name: str) -> _Index | None:
        """Return where an operation's indices come from; None if it is neither an order nor an argmax, nor moved from one."""
        chain: list[FleetOp] = []
        op: object = self._ops[name]
        while isinstance(op, _MOVES) and numpy_dtype(op.results[0].type).kind in "iu":
            chain.append(op)
            op = op.operands[0].owner
        if not isinstance(op, _INDEX) or not is_tensor(op.operands[0].type):
            return None
        values = op.operands[0].owner
        if not isinstance(values, FleetOp) or op_id(values) not in self.golden or numpy_dtype(op.operands[0].type).kind != "f":
            return None
        shape = np.asarray(self.golden[op_id(values)]).shape
        axis = int(op.axis.value.data) % len(shape)
        rest = _without(shape, axis)
        rows = np.arange(int(np.prod(rest, dtype=np.int64))).reshape(rest)
        if isinstance(op, d.ArgsortOp):
            rows = np.broadcast_to(np.expand_dims(rows, axis), shape)
        for move in reversed(chain):
            rows = rows if isinstance(move, d.CastOp) else np.asarray(apply(move, [rows]))
        return _Index(values, axis, rows)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _limits(golden: Array, known: Determined, own: np.dtype) -> _Limits:
    """Return the limits of an operation. own: the dtype of its result in the program, whose ulps count."""
    scale = np.maximum(_ulp(known.value, own), known.condition)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        off = np.abs(golden.astype(known.value.dtype) - known.value).astype(np.float64) / scale
        size = np.maximum(np.abs(known.value).astype(np.float64), root_mean_square(known.value))
    trusted = np.isfinite(off) & (off <= TRUSTED) & ~known.jumps
    farthest = float(off[trusted].max(initial=0.0))
    allowed = max(FACTOR * farthest, LEAST)
    return _Limits(
        farthest,
        allowed,
        scale,
        trusted,
        allowed * scale <= RESOLUTION * size,
        np.zeros(()),
        float(np.finfo(own).eps) * root_mean_square(known.value),
    )


def _ulp(value: Array, own: np.dtype) -> Array:
    """Return the spacing of `own` at each element, as float64; for special values the spacing at its largest number."""
    largest = np.finfo(own).max
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.abs(np.where(np.isnan(value), 1.0, np.clip(value, -largest, largest))).astype(own)
    return np.spacing(np.minimum(near, np.nextafter(largest, 0, dtype=own))).astype(np.float64)


def _same(golden: Array, value: Array) -> Array:
    """Return whether elements are equal, the same special values included."""
    with np.errstate(over="ignore"):
        wide = golden.astype(value.dtype)
    return (wide == value) | (np.isnan(wide) & np.isnan(value))


def _why(left: Array, limits: _Limits, known: Determined) -> str:
    """Return the most common reason why elements are left, or "" if none are."""
    if not left.any():
        return ""
    causes = {
        "a decision that they hang on turns round with a small change of the inputs": left & known.jumps,
        "the golden itself is too far from it": left & ~known.jumps & ~limits.trusted,
        "one ulp of the inputs moves them too far": left & limits.trusted & ~limits.fine,
        "it is exactly zero": left & limits.trusted & (known.value == 0) & (known.condition == 0),
    }
    return max(causes, key=lambda words: int(np.count_nonzero(causes[words])))


def _whole(golden: Array, engine: Array, undecided: Array, known: Determined, dtype: np.dtype) -> Judgement:
    """Judge integers and booleans: an element that no change of inputs moves, and that the golden has right, must be equal."""
    certain = (golden == known.value) & ~known.jumps
    why = "" if not (undecided & ~certain).any() else "small changes of the inputs give other ones"
    name = dtype.name if dtype.itemsize <= 8 else "longdouble"
    higher = HigherPrecision(name, 0.0, 0.0, 0.0, 0.0, DRAWS + JUMP_DRAWS, why)
    return Judgement(np.zeros_like(undecided), undecided & certain & (engine != golden), f"are not what {name} gives", higher)


def _indices(
    index: _Index, golden: Array, engine: Array, undecided: Array, values: Array, limits: _Limits, dtype: np.dtype
) -> Judgement:
    """Judge indices: where they differ from the golden's, both values must be as near to each other as rounding may bring them."""
    length = values.shape[index.axis]
    moved: tuple[Array, ...] = (values, limits.allowed * limits.scale + limits.stated, limits.trusted & limits.fine)
    table, scale, good = (np.moveaxis(a, index.axis, -1).reshape(-1, length) for a in moved)
    exists = (engine >= 0) & (engine < length)
    mine, its = (np.clip(a, 0, length - 1).astype(np.int64) for a in (golden, engine))
    rows = index.rows
    with np.errstate(invalid="ignore"):
        gap = np.abs(table[rows, mine] - table[rows, its]).astype(np.float64)
    near: Array = gap <= scale[rows, mine] + scale[rows, its]
    known: Array = np.asarray(good[rows, mine], bool) & np.asarray(good[rows, its], bool)
    single = exists & ~_repeated(rows, engine, golden)
    held = undecided & single & known & near
    beyond = undecided & (~single | (known & ~near))
    left = undecided & ~held & ~beyond
    why = "the values that the indices are of are determined too badly" if left.any() else ""
    judged = (gap / np.maximum(scale[rows, mine] + scale[rows, its], np.finfo(np.float64).tiny))[undecided & known]
    name = dtype.name if dtype.itemsize <= 8 else "longdouble"
    higher = HigherPrecision(
        name, limits.golden, float(judged.max(initial=0.0)) * limits.allowed, limits.allowed, 0.0, DRAWS + JUMP_DRAWS, why
    )
    words = f"are indices of other values than the golden's, farther apart in {name} than rounding may bring them"
    return Judgement(held, beyond, words, higher)


def _repeated(rows: Array, engine: Array, golden: Array) -> Array:
    """Return the mask of indices that a row repeats more often than the golden repeats any."""
    pairs = np.stack([rows.reshape(-1), engine.reshape(-1).astype(np.int64)])
    _, where, count = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    own = np.unique(np.stack([rows.reshape(-1), golden.reshape(-1).astype(np.int64)]), axis=1, return_counts=True)[1]
    return (count[where.reshape(-1)] > own.max(initial=1)).reshape(engine.shape)


def _cannot(doubt: Doubt, why: str) -> Judgement:
    """Return a judgement that decides nothing."""
    none = np.zeros(doubt.undecided.shape, bool)
    return Judgement(none, none, "", HigherPrecision("", 0.0, 0.0, 0.0, 0.0, 0, why))
