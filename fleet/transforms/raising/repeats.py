"""Finds the original heads of keys and values that were repeated for groups of queries (`np.repeat(k, 2, axis=1)`)."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.shapes import contiguous
from fleet.ir.types import shape_of
from fleet.transforms.raising.products import Factor
from fleet.transforms.raising.views import view_of


def unrepeated(factor: Factor) -> tuple[Factor, int]:
    """Return the operand before its heads were repeated, and the repeat count; the operand itself and 1 if there is no repeat."""
    view = view_of(factor.value)
    repeat = _repeat(view.base)
    if factor.heads is None or repeat is None or view.offset:
        return factor, 1
    source, axis, times, base = repeat
    steps = contiguous(base)

    def before(mine: int) -> int | None:
        """Return the source's axis for an axis of the operand that runs through all of it."""
        same = [i for i, step in enumerate(steps) if step == view.strides[mine] and base[i] == view.shape[mine] and base[i] > 1]
        return None if len(same) != 1 else same[0] if same[0] <= axis else same[0] + 1

    heads, rows, columns = (before(i) for i in (factor.heads, factor.rows, factor.columns))
    sequences = None if factor.sequences is None else before(factor.sequences)
    if heads != axis or rows is None or columns is None or (sequences is None) != (factor.sequences is None):
        return factor, 1
    return Factor(source, sequences, heads, rows, columns), times


def _repeat(value: SSAValue) -> tuple[SSAValue, int, int, tuple[int, ...]] | None:
    """Return (source, axis, times, merged shape) of a value [..., axis, times, ...] that repeats a source [..., axis, 1, ...]."""
    spread = value.owner
    if not isinstance(spread, d.BroadcastToOp):
        return None
    small, large = shape_of(spread.operand.type), shape_of(spread.result.type)
    wider = [i for i, (a, b) in enumerate(zip(small, large, strict=False)) if a != b]
    if len(small) != len(large) or len(wider) != 1 or wider[0] == 0 or small[wider[0]] != 1 or -1 in large:
        return None
    axis = wider[0] - 1
    merged = (*large[:axis], large[axis] * large[axis + 1], *large[axis + 2 :])
    return spread.operand, axis, large[axis + 1], merged
