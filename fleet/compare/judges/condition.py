"""Condition of a program: the effect of small changes of inputs and weights, and of rounding, on its results.

A golden of some precision cannot be nearer to the truth than its inputs are. Inputs and weights moved by one ulp are another model
that the same numbers might stand for, so the change that this causes is no error, and a golden within it can be trusted. The
changes are drawn with a seed, in random directions. Zeros stay (most are structure: masks, padding), and so do infinities, integers
and the program's own constants.

Neither can it be nearer than its own rounding allows: a recursion of a thousand rounds rounds a thousand times, however few its
inputs are. So each result is rounded to the program's dtype too, up or down at random (random rounding: CADNA, Vignes 1993). What
is representable stays as it is, so that operations which do not round (moves, maxima, exact differences) stay exact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from fleet.compare.judges.higher_precision import PreparedSteps, evaluate
from fleet.compare.metrics import root_mean_square
from fleet.compare.rules.steps import Array
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype

DRAWS = 6
"""Number of evaluations with each input and weight moved by one ulp."""

JUMP_DRAWS = 2
JUMP_ULPS = 32
"""Number of evaluations with larger moves, and their size in ulps. A result that moves far more than in proportion depends on a
decision.
"""

_IN_PROPORTION = 8.0


@dataclass(frozen=True)
class FunctionErrors:
    """What an engine states of its functions beyond rounding, for results in float32 and float16.

    absolute: operation ("sigmoid") or operation id -> largest absolute error. ulp: operation ("tanh") -> largest error in ULPs.
    """

    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    ulp: Mapping[str, float] = field(default_factory=dict[str, float])

    def of(self, op: FleetOp, value: Array) -> Array | None:
        """Return the largest error of each element of a result, or None if nothing is stated."""
        own = numpy_dtype(op.results[0].type)
        if own.kind != "f" or own.itemsize > 4 or value.dtype.kind != "f":
            return None
        absolute = self.absolute.get(kind_of(op), 0.0) + self.absolute.get(op_id(op), 0.0)
        ulps = self.ulp.get(kind_of(op), 0.0)
        if not absolute and not ulps:
            return None
        return np.full(value.shape, absolute, value.dtype) + ulps * np.spacing(np.abs(value).astype(own)).astype(value.dtype)


@dataclass(frozen=True)
class Determined:
    """An operation's value in higher precision.

    Attributes:
        value: without any change.
        condition: float64: the largest move of an element per ulp (with random rounding where inputs move by one ulp), over all
            draws; infinite if a draw gave another special value.
            For integers and booleans: 1 if a draw gave another value.
        jumps: boolean: elements that depend on a decision (a comparison, an order, a rounding) which a small change reverses.
    """

    value: Array
    condition: Array
    jumps: Array


def moved(array: Array, ulps: int, rng: np.random.Generator, dtype: np.dtype) -> Array:
    """Return floats in `dtype`, each finite non-zero one moved up or down by `ulps` of its own ulps; other dtypes as they are."""
    if array.dtype.kind != "f":
        return array
    wide = array.astype(dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        step = np.spacing(np.abs(array)).astype(dtype) * ulps
    moves = np.isfinite(array) & (array != 0) & np.isfinite(step)
    return np.where(moves, wide + np.where(rng.integers(0, 2, array.shape) == 1, step, -step), wide)


def rounded_at_random(value: Array, own: np.dtype, rng: np.random.Generator) -> Array:
    """Return floats of more precision rounded to `own`, each up or down at random, in their dtype.

    Other dtypes stay as they are, and so does what is beyond the range of `own`: an overflow is no rounding.
    """
    if value.dtype.kind != "f" or own.kind != "f" or own.itemsize >= value.dtype.itemsize:
        return value
    nearest = value.astype(own)
    rest = value - nearest.astype(value.dtype)
    other = np.nextafter(nearest, np.where(rest > 0, np.inf, -np.inf).astype(own))
    away = (rest != 0) & np.isfinite(other) & (rng.integers(0, 2, value.shape) == 1)
    return np.where(np.isfinite(nearest), np.where(away, other, nearest).astype(value.dtype), value)


def determined(
    program: Program,
    arguments: Mapping[str, Array],
    keep: Collection[str],
    dtype: np.dtype,
    seed: int = 0,
) -> dict[str, Determined]:
    """Return the operations of `keep` in `dtype`, and how well inputs, weights and the program's precision determine them.

    Raises FleetError as `evaluate` does.
    """
    plain = {name: a.astype(dtype) if a.dtype.kind == "f" else a for name, a in arguments.items()}
    steps: PreparedSteps = {}
    values = evaluate(program, plain, keep, dtype, steps=steps)
    eps = {op_id(op): _eps(op) for op in program.operations() if op.results and op_id(op) in values}
    condition = {name: np.zeros(v.shape) for name, v in values.items()}
    jumps = {name: np.zeros(v.shape, bool) for name, v in values.items()}
    for draw, ulps in enumerate((*[1] * DRAWS, *[JUMP_ULPS] * JUMP_DRAWS)):
        rng = np.random.default_rng([seed, draw])
        changed = {name: moved(a, ulps, rng, dtype) for name, a in arguments.items()}

        def rounds(op: FleetOp, value: Array, rng: np.random.Generator = rng) -> Array:
            return rounded_at_random(value, numpy_dtype(op.results[0].type), rng)

        found = evaluate(program, changed, keep, dtype, rounds if ulps == 1 else None, steps)
        for name, value in values.items():
            distance = _distance(value, found[name])
            if ulps > 1:
                expected = np.maximum(
                    condition[name], eps[name] * np.maximum(np.abs(value).astype(np.float64), root_mean_square(value))
                )
                jumps[name] |= distance > (_IN_PROPORTION * ulps * expected if value.dtype.kind == "f" else 0)
                distance = np.where(jumps[name], 0.0, distance / ulps) if value.dtype.kind == "f" else distance
            condition[name] = np.maximum(condition[name], distance)
    for name, value in values.items():
        if value.dtype.kind != "f":
            jumps[name] |= condition[name] > 0
    return {name: Determined(value, condition[name], jumps[name]) for name, value in values.items()}


def stated_moves(
    program: Program,
    arguments: Mapping[str, Array],
    values: Mapping[str, Array],
    dtype: np.dtype,
    functions: FunctionErrors,
    seed: int = 0,
) -> dict[str, Array]:
    """Return the largest moves of `values` (float64) if every function is off by all that is stated: up, down, at random.

    values: operation id -> value in `dtype`, without any change. Raises FleetError as `evaluate` does.
    """
    plain = {name: a.astype(dtype) if a.dtype.kind == "f" else a for name, a in arguments.items()}
    moves = {name: np.zeros(v.shape) for name, v in values.items()}
    if all(functions.of(op, np.zeros(1, dtype)) is None for op in program.operations() if op.results):
        return moves
    steps: PreparedSteps = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, DRAWS + JUMP_DRAWS + draw])

        def off(op: FleetOp, value: Array, draw: int = draw, rng: np.random.Generator = rng) -> Array:
            error = functions.of(op, value) if op.results else None
            if error is None:
                return value
            signs = (1.0, -1.0)[draw] if draw < 2 else rng.choice([-1.0, 1.0], value.shape)
            return value + (error * signs).astype(value.dtype)

        found = evaluate(program, plain, values.keys(), dtype, off, steps)
        moves = {name: np.maximum(moves[name], _distance(value, found[name])) for name, value in values.items()}
    return moves


def _eps(op: FleetOp) -> float:
    dtype = numpy_dtype(op.results[0].type)
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0


def _distance(a: Array, b: Array) -> Array:
    """Return the distances, as float64; infinite between different special values; 0 or 1 for integers and booleans."""
    if a.dtype.kind != "f":
        return np.asarray(a != b).astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b).astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
