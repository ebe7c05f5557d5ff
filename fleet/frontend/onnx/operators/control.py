"""If, Loop and Scan: the branch is chosen, and the rounds are read one by one, while the model is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.errors import ModelError
from fleet.frontend.onnx.array import OnnxArray, concat, where
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.graph import Graph
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.problems import NeedsInputs
from fleet.frontend.onnx.registry import operator


def _body(n: NodeCall, name: str) -> Graph:
    found = n.node.attributes.get(name)
    if not isinstance(found, Graph):
        n.refuse(f"has no graph {name}")
    return found


@operator("If")
def _if(n: NodeCall) -> Sequence[NodeValue]:
    condition = n.array(0)
    if condition.known is None:
        both = _both(n, condition)
        if both is not None:
            return both
    chosen = "then_branch" if n.build.decided(condition) else "else_branch"
    n.build.chose(chosen)
    return n.body(_body(n, chosen), [])


def _both(n: NodeCall, condition: OnnxArray) -> Sequence[NodeValue] | None:
    """Both branches, and a choice; None if their results differ in shape, or one of them does not fit these inputs."""
    try:
        yes, no = n.body(_body(n, "then_branch"), []), n.body(_body(n, "else_branch"), [])
    except (NeedsInputs, ModelError):
        n.build.at(n.node)
        return None
    chosen: list[NodeValue] = []
    for a, b in zip(yes, no, strict=False):
        if not isinstance(a, OnnxArray) or not isinstance(b, OnnxArray) or a.shape != b.shape or a.dtype != b.dtype:
            return None
        chosen.append(where(condition.reshape(), a, b))
    return chosen


@operator("Loop")
def _loop(n: NodeCall) -> Sequence[NodeValue]:
    body = _body(n, "body")
    limit = None if n.optional(0) is None else int(n.known(0, "its number of rounds").reshape(-1)[0])
    going = True if n.optional(1) is None else bool(n.known(1, "its condition").reshape(-1)[0])
    carried: list[NodeValue] = list(n.values[2:])
    carried += [None] * (len(body.inputs) - 2 - len(carried))
    if len(carried) != len(body.inputs) - 2:
        n.refuse(f"carries {len(carried)} values, its body takes {len(body.inputs) - 2}")
    scanned: list[list[OnnxArray]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    turn = 0
    while going and (limit is None or turn < limit):
        if turn >= MAX_UNROLLED:
            n.refuse(f"more than {MAX_UNROLLED} rounds")
        condition, *results = n.body(body, [n.constant(turn, np.int64), n.constant(True), *carried])
        carried = results[: len(carried)]
        for rows, value in zip(scanned, results[len(carried) :], strict=True):
            rows.append(_tensor(n, value))
        going = bool(n.build.values_of(_tensor(n, condition), "whether it goes on").reshape(-1)[0])
        turn += 1
    return [*carried, *(_stacked(n, rows) for rows in scanned)]


def _tensor(n: NodeCall, value: NodeValue) -> OnnxArray:
    if not isinstance(value, OnnxArray):
        n.refuse("its body gives a sequence where a tensor is needed")
    return value


def _stacked(n: NodeCall, rows: Sequence[OnnxArray]) -> OnnxArray:
    if not rows:
        n.refuse("gathers the results of no round, whose shape is unknown")
    return concat([r.unsqueeze(0) for r in rows], 0)


@operator("Scan")
def _scan(n: NodeCall) -> Sequence[NodeValue]:
    body, count = _body(n, "body"), n.attribute("num_scan_inputs", 0)
    states: list[NodeValue] = list(n.values[: len(n.values) - count])
    inputs = [n.array(len(states) + i) for i in range(count)]
    backwards = n.attribute("scan_input_directions", [0] * count)
    axes = [n.axis(a, x.rank) for a, x in zip(n.attribute("scan_input_axes", [0] * count), inputs, strict=True)]
    outputs = len(body.outputs) - len(states)
    turned = n.attribute("scan_output_directions", [0] * outputs)
    into = n.attribute("scan_output_axes", [0] * outputs)
    lengths = {x.shape[a] for x, a in zip(inputs, axes, strict=True)}
    if len(lengths) != 1 or len(body.inputs) != len(n.values) or outputs < 0 or max(lengths) > MAX_UNROLLED:
        n.refuse(f"rounds over lengths {sorted(lengths)}, at most {MAX_UNROLLED}, of {len(body.inputs)} values")
    (length,) = lengths
    scanned: list[list[OnnxArray]] = [[] for _ in range(outputs)]
    for t in range(length):
        parts = [x.part(a, length - 1 - t if back else t, 1).squeeze(a) for x, a, back in zip(inputs, axes, backwards, strict=True)]
        results = n.body(body, [*states, *parts])
        states = results[: len(states)]
        for rows, value in zip(scanned, results[len(states) :], strict=True):
            rows.append(_tensor(n, value))
    joined: list[OnnxArray] = []
    for rows, back, axis in zip(scanned, turned, into, strict=True):
        if not rows:
            n.refuse("gathers the results of no round")
        place = n.axis(axis, rows[0].rank + 1)
        joined.append(concat([r.unsqueeze(place) for r in (rows[::-1] if back else rows)], place))
    return [*states, *joined]
