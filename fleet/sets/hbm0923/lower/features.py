"""Questions of patterns about an operation's tensors: whether they can be features in memory, at which address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from fleet.sdk.ir import Program, is_tensor, numpy_dtype, shape_of, weight_name
from fleet.sdk.lowering import EmitContext
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.lower.rows import merged
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.tables import finite_half


@dataclass(frozen=True)
class FeatureShape:
    """Sizes of a feature: tokens, and exact channels per token."""

    tokens: int
    channels: int

    @property
    def row(self) -> int:
        """Bytes of all tokens of one group of 32 channels: the stride between groups."""
        return self.tokens * PIXEL_BYTES


def feature_shape(value: SSAValue) -> FeatureShape:
    """Return the sizes of a value for which `no_feature` is None."""
    shape = merged(shape_of(value.type))
    return FeatureShape(1, shape[0]) if len(shape) == 1 else FeatureShape(shape[0], shape[1])


def no_feature(*values: SSAValue) -> str | None:
    """Return why one of the values cannot be a feature in memory; None if all can."""
    for value in values:
        if not is_tensor(value.type):
            return "an operand is a number, the device takes tensors"
        shape, dtype = shape_of(value.type), numpy_dtype(value.type)
        if dtype.kind != "f":
            return f"a tensor of {dtype.name}, the device takes floats"
        if not shape or any(n <= 0 for n in shape):
            sizes = "x".join("?" if n < 0 else str(n) for n in shape) or "no dimensions"
            return f"a tensor of {sizes}, the device takes [..., tokens, channels]"
    return None


def same_shapes(*values: SSAValue) -> bool:
    """Return whether all values have one shape, so that nothing broadcasts."""
    return len({shape_of(v.type) for v in values}) == 1


def activations(program: Program, *values: SSAValue) -> tuple[SSAValue, ...]:
    """Return the values that are not weights, each once."""
    return tuple(dict.fromkeys(v for v in values if weight_name(v, program) is None))


def weights(program: Program, *values: SSAValue) -> tuple[str, ...]:
    """Return the names of the values that are weights, each once."""
    return tuple(dict.fromkeys(n for v in values if (n := weight_name(v, program)) is not None))


def place(context: EmitContext, value: SSAValue) -> int:
    """Return the DDR offset of a feature: an activation's room, or a weight placed as FP16."""
    name = weight_name(value, context.program)
    if name is None:
        return context.address(value)
    half = stored_half(context, name)
    return context.store(f"{name}.feature", "ddr", FeatureLayout().pack(half))


def stored_half(context: EmitContext, name: str) -> np.ndarray:
    """Return a weight as FP16 and record it as the device stores it. Raises ModelError if FP16 cannot hold it."""
    model = context.weight(name)
    half = finite_half(model, f"weight '{name}'")
    context.rounded(name, half.astype(model.dtype))
    return half
