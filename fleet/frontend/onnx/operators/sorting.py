"""TopK."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.indexing import take_along
from fleet.frontend.onnx.registry import operator


@operator("TopK")
def _top_k(n: NodeCall) -> Sequence[OnnxArray]:
    """The first k of a stable order; of equal elements the one with the lower index comes first."""
    x, k = n.x, n.integers(1, "its k")[0]
    axis = n.axis(n.attribute("axis", -1), x.rank)
    size = x.shape[axis]
    if not 0 <= k <= size:
        n.refuse(f"the first {k} of {size}")
    if n.attribute("largest", 1):
        # Descending is ascending backwards, of the elements backwards: so equal ones keep their order.
        turned = x.build.emit("argsort", [x.part(axis, size - 1, size, -1)], axis=axis)
        order = (size - 1) - turned.part(axis, size - 1, k, -1) if k else turned.part(axis, 0, 0)
    else:
        order = x.build.emit("argsort", [x], axis=axis).part(axis, 0, k)
    return [take_along(n, x, order, axis), order]
