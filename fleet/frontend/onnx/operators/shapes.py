"""Constants, shapes and ranges: mostly known while the model is read."""

from __future__ import annotations

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, maximum
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.limits import MAX_FOLDED
from fleet.frontend.onnx.registry import operator
from fleet.frontend.onnx.tensors import dtype_of
from fleet.ir.shapes import MAX_ELEMENTS


@operator("Constant")
def _constant(n: NodeCall) -> OnnxArray:
    kinds = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    for name, dtype in kinds.items():
        if n.has(name):
            return n.constant(n.node.attributes[name], dtype)
    if n.has("value_strings"):
        return n.constant(n.words("value_strings"))
    if n.has("value_string"):
        return n.constant(n.build.words[n.attribute("value_string", "")], np.int64)
    value = n.node.attributes.get("value", n.node.attributes.get("sparse_value"))
    if not isinstance(value, np.ndarray):
        n.refuse("a constant of a kind that is not supported", "tensors, floats and ints are")
    return n.build.known(value)


@operator("Shape")
def _shape(n: NodeCall) -> OnnxArray:
    rank = n.x.rank
    start, end = n.attribute("start", 0), n.attribute("end", rank)
    return n.constant(np.array(n.x.shape, np.int64)[slice(start, end)])


@operator("Size")
def _size(n: NodeCall) -> OnnxArray:
    return n.constant(n.x.size, np.int64)


def checked(n: NodeCall, shape: list[int]) -> tuple[int, ...]:
    """A shape that an input gives. Raise ModelError if a dimension is negative, or the shape is too large."""
    if any(d < 0 for d in shape) or np.prod(shape, dtype=np.float64) > MAX_ELEMENTS:
        n.refuse(f"a tensor of shape {shape}, at most {MAX_ELEMENTS} elements are possible")
    return tuple(shape)


@operator("ConstantOfShape")
def _constant_of_shape(n: NodeCall) -> OnnxArray:
    shape = checked(n, n.integers(0, "its shape"))
    value = n.node.attributes.get("value", np.zeros(1, np.float32))
    if not isinstance(value, np.ndarray) or value.size != 1:
        n.refuse("its value must be a tensor of one element")
    scalar = n.build.known(value.reshape(()))
    if np.prod(shape, dtype=np.int64) <= MAX_FOLDED:
        return n.constant(np.full(shape, value.reshape(())))
    return scalar.broadcast_to(*shape)


@operator("Range")
def _range(n: NodeCall) -> OnnxArray:
    """Bounds that data decide lead to as many elements as they do for the given inputs, and are those of the run else."""
    bounds = [n.array(i).reshape() for i in range(3)]
    found = [n.build.values_or_none(b, "its bounds") for b in bounds]
    given = [v for v in found if v is not None]
    words = ""
    if len(given) < len(found):
        if n.build.general:
            n.refuse(
                "how many elements it has is decided by data, and the sizes of the inputs are not known", "leave out --dynamic"
            )
        what = "its bounds depend on data in a way that cannot be computed while the model is read"
        computed = [n.build.computed(b, what) for b in bounds]
        given, words = [v for v, _ in computed], "; ".join(dict.fromkeys(w for _, w in computed if w != "known"))
    start, limit, step = (v.reshape(()) for v in given)
    if step == 0:
        n.refuse("a range with a step of zero")
    if not np.isfinite([start.astype(float), limit.astype(float), step.astype(float)]).all():
        n.refuse(f"a range from {start} to {limit} by {step}")
    count = max(0, int(np.ceil((limit.astype(float) - start) / step)))
    checked(n, [count])
    if count > 1 << 24:
        n.refuse(f"a range of {count} elements")
    if not words:
        return n.constant((start + np.arange(count) * step).astype(start.dtype))
    n.build.say(f"a range of {count} elements for the given inputs ({words}); a run with another number of them ends here")
    wide = np.float64 if start.dtype.kind == "f" else np.int64
    first, end, by = (b.astype(wide) for b in bounds)
    n.build.holds(
        maximum(-((first - end) // by), n.constant(0, wide)).equal(n.constant(count, wide)),
        f"not {count} elements, for which the program was compiled; compile it for these inputs",
    )
    return (first + n.constant(np.arange(count), wide) * by).astype(start.dtype)


@operator("EyeLike")
def _eye_like(n: NodeCall) -> OnnxArray:
    if n.x.rank != 2:
        n.refuse(f"of a tensor of rank {n.x.rank}, expected 2")
    n.bounded(*n.x.shape)
    dtype = dtype_of(n.attribute("dtype", 1), n.node.where) if n.has("dtype") else n.x.dtype
    return n.build.known(np.eye(*n.x.shape, k=n.attribute("k", 0)).astype(dtype))
