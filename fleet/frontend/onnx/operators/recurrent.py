"""LSTM, GRU and RNN: unrolled over the steps of time, whose number is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, maximum, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.older import OLDER
from fleet.frontend.onnx.operators.elementwise import softplus
from fleet.frontend.onnx.registry import operator

_ACTIVATIONS: dict[str, Callable[[OnnxArray, float, float], OnnxArray]] = {
    "sigmoid": lambda x, _a, _b: unary("sigmoid", x),
    "tanh": lambda x, _a, _b: unary("tanh", x),
    "relu": lambda x, _a, _b: maximum(x, 0),
    "leakyrelu": lambda x, a, _b: where(x < 0, x * a, x),
    "thresholdedrelu": lambda x, a, _b: where(x > a, x, x.like(0)),
    "elu": lambda x, a, _b: where(x < 0, unary("expm1", x) * a, x),
    "hardsigmoid": lambda x, a, b: maximum(minimum(x * a + b, 1), 0),
    "affine": lambda x, a, b: x * a + b,
    "scaledtanh": lambda x, a, b: unary("tanh", x * b) * a,
    "softsign": lambda x, _a, _b: x / (unary("abs", x) + 1),
    "softplus": lambda x, _a, _b: softplus(x),
}
_DEFAULTS = {"leakyrelu": (0.01, 0.0), "elu": (1.0, 0.0), "hardsigmoid": (0.2, 0.5), "thresholdedrelu": (1.0, 0.0)}
_Function = Callable[[OnnxArray], OnnxArray]
RecurrentProduct: TypeAlias = Callable[[OnnxArray, int], OnnxArray]
"""Rows by the weights of a direction."""


class Cell:
    """What the three have in common, of one direction."""

    def __init__(
        self,
        n: NodeCall,
        gates: int,
        activations: Sequence[str],
        direction: int,
        backwards: bool,
        product: RecurrentProduct | None = None,
    ) -> None:
        self.n, self.backwards = n, backwards
        self.x = n.array(0)
        self.hidden = n.attribute("hidden_size", n.array(2).shape[2])
        self.product = product or self._plain
        bias = n.optional(3)
        self.wb = self.rb = None
        if bias is not None:
            both = bias.part(0, direction, 1).squeeze(0)
            self.wb, self.rb = both.part(0, 0, gates * self.hidden), both.part(0, gates * self.hidden, gates * self.hidden)
        self.functions = _functions(n, activations, direction)
        self.direction = direction
        clip = n.attribute("clip", 0.0)
        self.clip: _Function = (lambda v: maximum(minimum(v, clip), -clip)) if clip else (lambda v: v)

    def _plain(self, x: OnnxArray, direction: int) -> OnnxArray:
        return x @ self.n.array(1).part(0, direction, 1).squeeze(0).swapped()

    def recur(self) -> RecurrentProduct:
        """The state by its weights."""
        turned = self.r.swapped()
        return lambda h, _direction: h @ turned

    @property
    def r(self) -> OnnxArray:
        """The weights of the state, [gates * hidden, hidden]."""
        return self.n.array(2).part(0, self.direction, 1).squeeze(0)

    def state(self, index: int) -> OnnxArray:
        """An initial state [batch, hidden], zeros where none is given."""
        given = self.n.optional(index)
        if given is not None:
            return given.part(0, self.direction, 1).squeeze(0)
        return self.n.constant(np.zeros((self.x.shape[1], self.hidden), self.x.dtype))

    def gate(self, v: OnnxArray, index: int) -> OnnxArray:
        """One of the gates side by side."""
        return v.part(-1, index * self.hidden, self.hidden)

    def run(
        self, step: Callable[[OnnxArray, Sequence[OnnxArray]], Sequence[OnnxArray]], states: Sequence[OnnxArray]
    ) -> tuple[OnnxArray, Sequence[OnnxArray]]:
        """All steps: [time, batch, hidden] and the last states. A sequence that is over keeps its state and gives zeros."""
        steps, batch = self.x.shape[:2]
        lengths = self.n.integers(4, "its sequence_lens") if self.n.optional(4) is not None else [steps] * batch
        whole = min(lengths, default=steps)
        outputs: list[OnnxArray | None] = [None] * steps
        used = max(lengths, default=steps)
        projected = self.product(self.x.part(0, 0, used), self.direction)
        if self.wb is not None:
            projected = projected + self.wb
        for t in reversed(range(steps)) if self.backwards else range(steps):
            if t >= used:
                outputs[t] = states[0].like(0).broadcast_to(1, *states[0].shape)
                continue
            new = step(projected.part(0, t, 1).squeeze(0), states)
            if t >= whole:
                live = self.n.constant(np.array([[t < length] for length in lengths]))
                new = [where(live, a, b) for a, b in zip(new, states, strict=True)]
                outputs[t] = where(live, new[0], new[0].like(0)).unsqueeze(0)
            else:
                outputs[t] = new[0].unsqueeze(0)
            states = new
        return concat([o for o in outputs if o is not None], 0), states


def _functions(n: NodeCall, default: Sequence[str], direction: int) -> list[_Function]:
    names = [v.lower() for v in n.attribute("activations", [""])] if n.has("activations") else []
    names = names[direction * len(default) : (direction + 1) * len(default)] or [v.lower() for v in default]
    alphas: list[float] = list(n.attribute("activation_alpha", [0.0])) if n.has("activation_alpha") else []
    betas: list[float] = list(n.attribute("activation_beta", [0.0])) if n.has("activation_beta") else []
    made: list[_Function] = []
    for i, name in enumerate(names):
        if name not in _ACTIVATIONS:
            n.refuse(f"the activation {name!r} is not supported", f"supported are {', '.join(_ACTIVATIONS)}")
        a, b = _DEFAULTS.get(name, (1.0, 1.0))
        place = direction * len(default) + i
        a, b = alphas[place] if place < len(alphas) else a, betas[place] if place < len(betas) else b
        made.append(lambda v, f=_ACTIVATIONS[name], a=a, b=b: f(v, a, b))
    return made


def _directions(n: NodeCall) -> list[bool]:
    found = n.attribute("direction", "forward")
    return {"forward": [False], "reverse": [True], "bidirectional": [False, True]}.get(found, [False])


def _both(n: NodeCall, run: Callable[[int, bool], tuple[OnnxArray, Sequence[OnnxArray]]]) -> list[OnnxArray]:
    """Y and the last states of all directions."""
    if n.array(0).shape[0] > MAX_UNROLLED:
        n.refuse(f"{n.array(0).shape[0]} steps, at most {MAX_UNROLLED} are read")
    made = [run(i, backwards) for i, backwards in enumerate(_directions(n))]
    y = concat([m[0].unsqueeze(1) for m in made], 1)
    states = [concat([m[1][i].unsqueeze(0) for m in made], 0) for i in range(len(made[0][1]))]
    if n.attribute("layout", 0):
        return [y.transpose(2, 0, 1, 3), *(s.transpose(1, 0, 2) for s in states)]
    return [y, *states]


def _batch_first(n: NodeCall) -> NodeCall:
    """The node with its inputs in the order time, batch."""
    if not n.attribute("layout", 0):
        return n
    values = list(n.values)
    for i in (0, 5, 6):
        v = n.optional(i)
        if v is not None and i < len(values) and v.rank == 3:
            values[i] = v.transpose(1, 0, 2)
    return n.given(values)


@operator("LSTM")
@operator("LSTM", domain=OLDER)
def _lstm(n: NodeCall) -> list[OnnxArray]:
    return lstm(_batch_first(n))


def lstm(n: NodeCall, inputs: RecurrentProduct | None = None, states: RecurrentProduct | None = None) -> list[OnnxArray]:
    """An LSTM, time first; with products of its own for the inputs and for the state where its weights are codes."""

    def run(direction: int, backwards: bool) -> tuple[OnnxArray, Sequence[OnnxArray]]:
        cell = Cell(n, 4, ["Sigmoid", "Tanh", "Tanh"], direction, backwards, inputs)
        f, g, h = cell.functions
        peepholes = n.optional(7)
        p = peepholes.part(0, direction, 1).squeeze(0) if peepholes is not None else None
        recur = states or cell.recur()

        def step(x: OnnxArray, held: Sequence[OnnxArray]) -> Sequence[OnnxArray]:
            before, memory = held
            both = x + recur(before, direction)
            both = both if cell.rb is None else both + cell.rb
            i, o, forget, c = (cell.gate(both, k) for k in range(4))
            if p is not None:
                i, forget = i + cell.gate(p, 0) * memory, forget + cell.gate(p, 2) * memory
            i = f(cell.clip(i))
            forget = 1 - i if n.attribute("input_forget", 0) else f(cell.clip(forget))
            memory = forget * memory + i * g(cell.clip(c))
            o = f(cell.clip(o if p is None else o + cell.gate(p, 1) * memory))
            return [o * h(memory), memory]

        return cell.run(step, [cell.state(5), cell.state(6)])

    return _both(n, run)


@operator("GRU")
@operator("GRU", domain=OLDER)
def _gru(n: NodeCall) -> list[OnnxArray]:
    n = _batch_first(n)

    def run(direction: int, backwards: bool) -> tuple[OnnxArray, Sequence[OnnxArray]]:
        cell = Cell(n, 3, ["Sigmoid", "Tanh"], direction, backwards)
        f, g = cell.functions
        size, turned = cell.hidden, cell.r.swapped()
        after = bool(n.attribute("linear_before_reset", 0))

        def step(x: OnnxArray, states: Sequence[OnnxArray]) -> Sequence[OnnxArray]:
            (before,) = states
            gates = before @ turned.part(1, 0, 2 * size) + x.part(-1, 0, 2 * size)
            gates = gates if cell.rb is None else gates + cell.rb.part(0, 0, 2 * size)
            z, r = f(cell.clip(cell.gate(gates, 0))), f(cell.clip(cell.gate(gates, 1)))
            own = cell.gate(turned, 2)
            rb = None if cell.rb is None else cell.gate(cell.rb, 2)
            if after:
                candidate = before @ own
                candidate = r * (candidate if rb is None else candidate + rb)
            else:
                candidate = (r * before) @ own
                candidate = candidate if rb is None else candidate + rb
            candidate = g(cell.clip(candidate + cell.gate(x, 2)))
            return [(1 - z) * candidate + z * before]

        return cell.run(step, [cell.state(5)])

    return _both(n, run)


@operator("RNN")
@operator("RNN", domain=OLDER)
def _rnn(n: NodeCall) -> list[OnnxArray]:
    n = _batch_first(n)

    def run(direction: int, backwards: bool) -> tuple[OnnxArray, Sequence[OnnxArray]]:
        cell = Cell(n, 1, ["Tanh"], direction, backwards)
        turned = cell.r.swapped()

        def step(x: OnnxArray, states: Sequence[OnnxArray]) -> Sequence[OnnxArray]:
            found = x + states[0] @ turned
            return [cell.functions[0](cell.clip(found if cell.rb is None else found + cell.rb))]

        return cell.run(step, [cell.state(5)])

    return _both(n, run)
