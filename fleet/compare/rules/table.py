"""Forward error of single operations: the rules that `fleet.compare.bounds.tolerance` chains.

A rule bounds, elementwise, |computed(inputs within e of x) - f(x)|, f being the operation in real arithmetic: the effect of the
operand errors on f, plus the rounding of the arithmetic, whatever the order of its sums.

Model of arithmetic (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapters 2 to 4): u is the unit roundoff, a
correctly rounded operation has relative error at most u and a result in the subnormal range an absolute error of half the
smallest subnormal; a sum or product chain in which a term is rounded k times has relative error gamma_k = k u / (1 - k u)
of the sum of magnitudes, in any order, with or without fused multiply-add.
A bound of inf means that nothing is proved.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet.compare.rules.arithmetic import ARITHMETIC
from fleet.compare.rules.composites import COMPOSITES
from fleet.compare.rules.functions import FUNCTIONS
from fleet.compare.rules.steps import (
    BoundStep,
    Rule,
    RuleSplit,
    clean,
    none,
    row_norm,
    some,
    total,
)
from fleet.compare.rules.units import UNITS, product_split
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp

RULES: Mapping[type[FleetOp], Rule] = {**ARITHMETIC, **FUNCTIONS, **COMPOSITES}
"""Rules of operations with a real value. `tolerance` handles argmax, argmin and constants. Without a rule nothing is proved."""

_LINEAR = (d.AddOp, d.SubOp)

MOVES = (d.SliceOp, d.ReshapeOp, d.TransposeOp, d.GatherOp, d.ConcatOp, d.PadOp, d.BroadcastToOp)
"""Movements: elements come out unchanged at another place, so errors only move and nothing is rounded."""


def split_of(s: BoundStep) -> RuleSplit | None:
    """Return the bound of an operation in its two parts, with the norm of its rows, or None without a rule.

    If an accelerator's unit computes the operation (`Arithmetic.dtype` is set), the unit's rule applies. Sums and products are
    bounded as vectors too. For all others, the rule's bound is the spread as a whole.
    """
    kind = type(s.op)
    if s.how.dtype is not None and kind in UNITS and (found := UNITS[kind](s)) is not None:
        return RuleSplit(clean(found.spread), clean(found.rounding), found.row)
    if kind is d.MatmulOp:
        return product_split(s)
    rule = RULES.get(kind)
    if rule is None:
        return None
    whole = clean(rule(s))
    if kind in _LINEAR:
        # These rules add their own rounding to the operands' errors; subtracting the errors gives the rounding.
        errors = [np.broadcast_to(e, whole.shape) for e in s.e]
        rows = [s.norm(i) if v.shape == whole.shape else row_norm(e) for i, (v, e) in enumerate(zip(s.x, errors, strict=True))]
        spread = total(*errors)
        return RuleSplit(spread, whole - spread if some(spread) else whole, total(*rows))
    if kind is d.SliceOp and whole.shape[:-1] == s.x[0].shape[:-1]:
        return RuleSplit(whole, none(whole.shape), np.fmin(row_norm(whole), s.norm(0)))
    return RuleSplit(whole, none(whole.shape), row_norm(whole))
