"""What patterns ask of an operation's tensors: whether they can stand in memory as features, where they stand, in which tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from fleet.sdk import Device, ModelError
from fleet.sdk.ir import Program, is_tensor, numpy_dtype, shape_of, weight_name
from fleet.sdk.lowering import EmitContext
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.lower.rows import merged
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div


@dataclass(frozen=True)
class FeatureShape:
    """Sizes of a feature: exact channels of every token."""

    tokens: int
    channels: int

    @property
    def row(self) -> int:
        """Bytes of all tokens of one group of 32 channels: the stride between groups."""
        return self.tokens * PIXEL_BYTES

    @property
    def surfaces(self) -> int:
        """Groups of 32 channels."""
        return ceil_div(self.channels, PIXEL_LANES)


def feature_shape(value: SSAValue) -> FeatureShape:
    """Sizes of a value for which `no_feature` is None."""
    shape = merged(shape_of(value.type))
    return FeatureShape(1, shape[0]) if len(shape) == 1 else FeatureShape(shape[0], shape[1])


def no_feature(*values: SSAValue) -> str | None:
    """Why one of the values cannot stand in memory as a feature; None where all can."""
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
    """Whether nothing broadcasts."""
    return len({shape_of(v.type) for v in values}) == 1


def activations(program: Program, *values: SSAValue) -> tuple[SSAValue, ...]:
    """Those of the values that are no weights, each once."""
    return tuple(dict.fromkeys(v for v in values if weight_name(v, program) is None))


def weights(program: Program, *values: SSAValue) -> tuple[str, ...]:
    """Names of those of the values that are weights, each once."""
    return tuple(dict.fromkeys(n for v in values if (n := weight_name(v, program)) is not None))


def place(context: EmitContext, value: SSAValue) -> int:
    """DDR offset of a feature: an activation's room, or a weight placed as FP16."""
    name = weight_name(value, context.program)
    if name is None:
        return context.address(value)
    half = stored_half(context, name)
    return context.store(f"{name}.feature", "ddr", FeatureLayout().pack(half))


def stored_half(context: EmitContext, name: str) -> np.ndarray:
    """A weight as FP16, recorded as the device stores it. Raises ModelError for what FP16 cannot hold."""
    model = context.weight(name)
    if not np.isfinite(model).all():
        raise ModelError("NaN or infinity, expected finite numbers", where=f"weight '{name}'")
    with np.errstate(over="ignore"):
        half = model.astype(np.float16)
    if not np.isfinite(half).all():
        raise ModelError(
            f"a number of magnitude {np.abs(model).max():g} is beyond FP16 (65504)",
            where=f"weight '{name}'",
            hint="rescale the model",
        )
    context.rounded(name, half.astype(model.dtype))
    return half


def tiles(device: Device, tokens: int) -> Iterator[tuple[int, int]]:
    """(first, count) of the tokens that one instruction takes."""
    most = device.parameters["MaxToken"]
    for first in range(0, tokens, most):
        yield first, min(most, tokens - first)
