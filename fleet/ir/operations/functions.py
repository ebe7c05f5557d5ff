"""NumPy's functions that targets may compute as a sequence of other operations (`fleet.ir.expand`).

The VM calls NumPy's function itself, so that every bit is NumPy's.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition, operand_def

from fleet.ir.operations.composite import CompositeOp
from fleet.ir.operations.operation import BinaryOp, ElementwiseOp, ReduceOp, UnaryOp

__all__ = [
    "ClipOp",
    "CoshOp",
    "Exp2Op",
    "FmaxOp",
    "FminOp",
    "HypotOp",
    "Log2Op",
    "Log10Op",
    "LogaddexpOp",
    "NanMaxOp",
    "NanMinOp",
    "SinhOp",
    "TanOp",
]


@irdl_op_definition
class Log2Op(UnaryOp, CompositeOp):
    """`numpy.log2`."""

    name = "fleet.log2"
    NUMPY: ClassVar = np.log2


@irdl_op_definition
class Log10Op(UnaryOp, CompositeOp):
    """`numpy.log10`."""

    name = "fleet.log10"
    NUMPY: ClassVar = np.log10


@irdl_op_definition
class Exp2Op(UnaryOp, CompositeOp):
    """`numpy.exp2`."""

    name = "fleet.exp2"
    NUMPY: ClassVar = np.exp2


@irdl_op_definition
class SinhOp(UnaryOp, CompositeOp):
    """`numpy.sinh`."""

    name = "fleet.sinh"
    NUMPY: ClassVar = np.sinh


@irdl_op_definition
class CoshOp(UnaryOp, CompositeOp):
    """`numpy.cosh`."""

    name = "fleet.cosh"
    NUMPY: ClassVar = np.cosh


@irdl_op_definition
class TanOp(UnaryOp, CompositeOp):
    """`numpy.tan`."""

    name = "fleet.tan"
    NUMPY: ClassVar = np.tan


@irdl_op_definition
class HypotOp(BinaryOp, CompositeOp):
    """`numpy.hypot`."""

    name = "fleet.hypot"
    NUMPY: ClassVar = np.hypot


@irdl_op_definition
class LogaddexpOp(BinaryOp, CompositeOp):
    """`numpy.logaddexp`."""

    name = "fleet.logaddexp"
    NUMPY: ClassVar = np.logaddexp


@irdl_op_definition
class FmaxOp(BinaryOp, CompositeOp):
    """`numpy.fmax`: of a NaN and a number the number."""

    name = "fleet.fmax"
    NUMPY: ClassVar = np.fmax


@irdl_op_definition
class FminOp(BinaryOp, CompositeOp):
    """`numpy.fmin`: of a NaN and a number the number."""

    name = "fleet.fmin"
    NUMPY: ClassVar = np.fmin


@irdl_op_definition
class ClipOp(ElementwiseOp, CompositeOp):
    """`numpy.clip(operand, low, high)`: NumPy chooses between 0.0 and -0.0."""

    name = "fleet.clip"
    NUMPY: ClassVar = np.clip
    RESULT: ClassVar = "broadcast of all three; `numpy.clip`'s dtype"
    operand = operand_def()
    low = operand_def()
    high = operand_def()


@irdl_op_definition
class NanMaxOp(ReduceOp, CompositeOp):
    """`numpy.nanmax`: NaN if all elements are NaN."""

    name = "fleet.nan_max"
    NUMPY: ClassVar = np.nanmax
    IDENTITY: ClassVar = False


@irdl_op_definition
class NanMinOp(ReduceOp, CompositeOp):
    """`numpy.nanmin`: NaN if all elements are NaN."""

    name = "fleet.nan_min"
    NUMPY: ClassVar = np.nanmin
    IDENTITY: ClassVar = False
