"""Sequences whose length is known: lists of tensors while the model is read, nothing when it runs."""

from __future__ import annotations

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.limits import MAX_PARTS
from fleet.frontend.onnx.operators.control import body_of
from fleet.frontend.onnx.registry import operator


@operator("SequenceConstruct")
def _construct(n: NodeCall) -> list[NodeValue]:
    return [n.arrays()]


@operator("Optional", "OptionalGetElement")
def _optional(n: NodeCall) -> list[NodeValue]:
    """An optional is what it holds, or no value."""
    held = n.values[0] if n.values else None
    if held is None and n.node.op != "Optional":
        n.refuse("takes the element of an optional that has none")
    return [held]


@operator("OptionalHasElement")
def _has_element(n: NodeCall) -> OnnxArray:
    return n.constant(bool(n.values) and n.values[0] is not None)


@operator("SequenceEmpty")
def _empty(_n: NodeCall) -> list[NodeValue]:
    return [[]]


@operator("SequenceLength")
def _length(n: NodeCall) -> OnnxArray:
    return n.constant(len(n.sequence(0)), np.int64)


def _place(n: NodeCall, index: int, size: int, default: int) -> int:
    found = n.integers(index, "its position")[0] if n.optional(index) is not None else default
    if not -size <= found < max(size, 1):
        n.refuse(f"position {found} of a sequence of {size}")
    return found % size if size else 0


@operator("SequenceAt")
def _at(n: NodeCall) -> OnnxArray:
    parts = n.sequence(0)
    return parts[_place(n, 1, len(parts), 0)]


@operator("SequenceInsert")
def _insert(n: NodeCall) -> list[NodeValue]:
    parts = list(n.sequence(0))
    if len(parts) >= MAX_PARTS:
        n.refuse(f"a sequence of more than {MAX_PARTS} tensors")
    place = n.integers(2, "its position")[0] if n.optional(2) is not None else len(parts)
    parts.insert(place if place >= 0 else place + len(parts), n.array(1))
    return [parts]


@operator("SequenceErase")
def _erase(n: NodeCall) -> list[NodeValue]:
    parts = list(n.sequence(0))
    del parts[_place(n, 1, len(parts), len(parts) - 1)]
    return [parts]


@operator("SequenceMap")
def _map(n: NodeCall) -> list[NodeValue]:
    """The body once for each place of the sequences; a tensor is the same in every round."""
    rounds = {len(v) for v in n.values if isinstance(v, list)}
    if len(rounds) != 1:
        n.refuse(f"maps sequences of {sorted(rounds)} tensors, expected one length")
    body = body_of(n, "body")
    parts: list[list[OnnxArray]] = [[] for _ in body.outputs]
    for turn in range(rounds.pop()):
        for row, value in zip(parts, n.body(body, [v[turn] if isinstance(v, list) else v for v in n.values]), strict=True):
            if not isinstance(value, OnnxArray):
                n.refuse("its body gives a sequence where a tensor is needed")
            row.append(value)
    return list(parts)


@operator("SplitToSequence")
def _split(n: NodeCall) -> list[NodeValue]:
    x = n.x
    axis = n.axis(n.attribute("axis", 0), x.rank)
    size, keep = x.shape[axis], True
    if n.optional(1) is None:
        sizes, keep = [1] * size, bool(n.attribute("keepdims", 1))
    elif n.array(1).rank == 0:
        each = int(n.known(1, "its sizes"))
        sizes = [min(each, size - i) for i in range(0, size, each)] if each > 0 else []
    else:
        sizes = n.integers(1, "its sizes")
    if sum(sizes) != size or len(sizes) > MAX_PARTS or min(sizes, default=0) < 0:
        n.refuse(f"a split of {size} into {sizes[:20]}")
    starts = np.cumsum([0, *sizes])
    parts = [x.part(axis, int(start), each) for start, each in zip(starts, sizes, strict=False)]
    return [[p if keep else p.squeeze(axis) for p in parts]]


@operator("ConcatFromSequence")
def _join(n: NodeCall) -> OnnxArray:
    parts = n.sequence(0)
    if not parts:
        n.refuse("joins an empty sequence")
    if n.attribute("new_axis", 0):
        axis = n.axis(n.attribute("axis", 0), parts[0].rank + 1)
        return concat([p.unsqueeze(axis) for p in parts], axis)
    return concat(parts, n.axis(n.attribute("axis", 0), parts[0].rank))
