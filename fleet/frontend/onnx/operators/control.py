"""If, Loop and Scan: the branch is chosen, and the rounds are read one by one, while the model is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from fleet.errors import ModelError
from fleet.frontend.onnx.array import OnnxArray, binary, concat, where
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.graph import Graph, OnnxPort
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.narrow import BY_CODE
from fleet.frontend.onnx.problems import NeedsInputs
from fleet.frontend.onnx.registry import operator
from fleet.frontend.onnx.tensors import dtype_of
from fleet.frontend.onnx.texts import TEXT


def body_of(n: NodeCall, name: str) -> Graph:
    """The graph that an attribute holds. Raises ModelError if it has none."""
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
    found, words = n.build.decided(condition, "its branches have no one shape, and its condition is computed of data")
    branch = "then" if found else "else"
    if condition.known is None:
        n.build.say(f"its {branch} branch is taken, as the given inputs decide", f" ({words}); others may need the other")
    n.build.chose(f"{branch}_branch")
    return n.body(body_of(n, f"{branch}_branch"), [])


def _both(n: NodeCall, condition: OnnxArray) -> Sequence[NodeValue] | None:
    """Both branches, and a choice; None if their results differ in shape, or one of them does not fit these inputs."""
    try:
        yes, no = n.body(body_of(n, "then_branch"), []), n.body(body_of(n, "else_branch"), [])
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
    body = body_of(n, "body")
    limit = None if n.optional(0) is None else int(n.known(0, "its number of rounds").reshape(-1)[0])
    asked: list[OnnxArray] = []
    first = n.optional(1)
    going, words = (True, "") if first is None else _goes_on(n, first, asked, "")
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
        turn += 1
        if turn != limit:
            going, words = _goes_on(n, _tensor(n, condition), asked, words)
    if asked:
        _ends_alike(n, asked, turn, words)
    ports = body.outputs[1 + len(carried) :]
    return [*carried, *(_stacked(n, rows, port) for rows, port in zip(scanned, ports, strict=True))]


def _goes_on(n: NodeCall, condition: OnnxArray, asked: list[OnnxArray], words: str) -> tuple[bool, str]:
    """Return whether another round follows for the given inputs, and the words for what decides it.

    A condition that data decide is added to `asked`, negated if it ends the loop. Raises ModelError if it cannot be computed now.
    """
    if condition.known is None and n.build.general:
        n.refuse("the number of its rounds is decided by data, and the sizes of the inputs are not known", "leave out --dynamic")
    going, found = n.build.decided(condition, "the number of its rounds is decided by data")
    if condition.known is not None:
        return going, words
    asked.append(condition.reshape() if going else condition.reshape().equal(False))
    return going, found


def _ends_alike(n: NodeCall, asked: Sequence[OnnxArray], turns: int, words: str) -> None:
    """Emit a check that stops a run whose inputs would take another number of rounds."""
    n.build.say(f"{turns} rounds for the given inputs ({words}); a run of another number of them ends here")
    n.build.chose(turns)
    n.build.holds(
        reduce(lambda a, b: binary("logical_and", a, b), asked), f"not {turns} rounds, for which the program was compiled"
    )


def _tensor(n: NodeCall, value: NodeValue) -> OnnxArray:
    if not isinstance(value, OnnxArray):
        n.refuse("its body gives a sequence where a tensor is needed")
    return value


def _stacked(n: NodeCall, rows: Sequence[OnnxArray], port: OnnxPort, into: int = 0) -> OnnxArray:
    """Return the results of the rounds beside each other; `port`: as the body declares one of them."""
    if not rows:
        return _none(n, port, into)
    place = n.axis(into, rows[0].rank + 1)
    return concat([r.unsqueeze(place) for r in rows], place)


def _none(n: NodeCall, port: OnnxPort, into: int) -> OnnxArray:
    """Return the results of no round: of the shape that the body declares; sizes that it leaves open are 0, as in onnxruntime."""
    if port.dims is None or port.code is None or port.code == TEXT or port.code in BY_CODE:
        n.refuse("gathers the results of no round, whose shape is unknown", f"declare type and shape of {port.name!r} in its body")
    shape = [d if isinstance(d, int) else 0 for d in port.dims]
    shape.insert(n.axis(into, len(shape) + 1), 0)
    return n.constant(np.zeros(shape), dtype_of(port.code, n.node.where))


@operator("Scan")
def _scan(n: NodeCall) -> Sequence[NodeValue]:
    body, count = body_of(n, "body"), n.attribute("num_scan_inputs", 0)
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
    ports = body.outputs[len(states) :]
    joined = [
        _stacked(n, rows[::-1] if back else rows, port, axis)
        for rows, back, axis, port in zip(scanned, turned, into, ports, strict=True)
    ]
    return [*states, *joined]
