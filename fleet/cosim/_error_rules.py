"""Forward error of single operations: the rules that `fleet.cosim.tolerance` chains.

A rule bounds, elementwise, |computed(inputs within e of x) - f(x)|, f being the operation in real arithmetic: what the
operand errors do to f, plus what the arithmetic rounds on the way, whatever the order of its sums.

Model of arithmetic (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapters 2 to 4): u is the unit roundoff, a
correctly rounded operation has relative error at most u and a result in the subnormal range an absolute error of half the
smallest subnormal; a sum or product chain in which a term meets k roundings has relative error gamma_k = k u / (1 - k u)
of the sum of magnitudes, in any order, with or without fused multiply-add.
A bound of inf means that nothing is proved.
"""

from __future__ import annotations

from collections.abc import Mapping

from fleet.cosim._error_arithmetic import ARITHMETIC, floor_of
from fleet.cosim._error_composites import COMPOSITES
from fleet.cosim._error_functions import FUNCTIONS
from fleet.cosim._error_steps import Arithmetic, Array, Rule, Step, clean, gamma, rounded_store
from fleet.ir.dialect import FleetOp

__all__ = ["RULES", "Arithmetic", "Array", "Step", "clean", "floor_of", "gamma", "rounded_store"]

RULES: Mapping[type[FleetOp], Rule] = {**ARITHMETIC, **FUNCTIONS, **COMPOSITES}
"""Every operation with a real value; argmax, argmin and constants are treated by `tolerance`. No rule: nothing is proved."""
