"""Instructions of one step, with their dynamic dimensions bound."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex, cast

from fleet.errors import ModelError
from fleet.sdk import Call
from fleet.sdk.tasks import TaskOperand
from fleet.symbols.expr import Expr, Number, dim
from fleet.symbols.expr_export import compile_python
from fleet.targets.accel.emission import Emission, Instr, Loop

Dims = Mapping[str, int]
USUAL: tuple[str, ...] = ("token", "last_token")
"""Dimensions that a step may name even if the graph does not have them."""


@dataclass(frozen=True)
class Round:
    """An instruction as a step runs it. item: index in `Steps.items`."""

    item: int
    call: Call


class Steps:
    """Binds dimensions. Everything that does not depend on the step is computed once.

    items: those of the emission, with the storages' addresses in them.
    """

    def __init__(self, emission: Emission, addresses: Mapping[str, int]) -> None:
        """addresses: storage -> its offset."""
        self._emission, self._addresses = emission, addresses
        self._known: dict[Expr, Number] = {}
        self.items: tuple[Instr | Loop, ...] = tuple(self._item(i) for i in emission.items)
        self._values, self._roots = _evaluator(self.items)
        self._bodies: dict[int, _Evaluator] = {}

    # ---- addresses

    def number(self, value: Number) -> Number:
        """Substitute the addresses."""
        if not isinstance(value, Expr):
            return value
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = dim(value.substitute(self._addresses))
        return found

    def operand(self, operand: TaskOperand) -> TaskOperand:
        """Return an operand with its addresses substituted."""
        return replace(
            operand, address=self.number(operand.address), surface=self.number(operand.surface), line=self.number(operand.line)
        )

    def _item(self, item: Instr | Loop) -> Instr | Loop:
        if isinstance(item, Loop):
            return replace(item, body=tuple(map(self._instr, item.body)))
        return self._instr(item)

    def _instr(self, made: Instr) -> Instr:
        return replace(made, fields={name: self.number(value) for name, value in made.fields.items()})

    # ---- one step

    def bind(self, given: Dims) -> dict[str, int]:
        """Return all dimensions of a step. Raises ModelError if the step was not planned."""
        dims = self._emission.dims
        for name in given:
            if name not in dims and name not in USUAL:
                raise ModelError(f"no dimension '{name}'", where="step", hint=f"dimensions are {', '.join(dims) or 'none'}")
        bound: dict[str, int] = {}
        for name, variable in dims.items():
            if name not in given:
                raise ModelError(f"no value for dimension '{name}'", where="step")
            value = _number(name, given[name])
            most = variable.max_data or 0
            if not variable.min_data <= value <= most:
                hint = f"build with a larger max_data of {name}" if value > most else None
                raise ModelError(f"{name} is {value}, the plan has {variable.min_data} to {most}", where="step", hint=hint)
            bound[name] = value
        for name, operand in self._emission.inputs.items():
            if any(self.value(d, bound) < 1 for d in operand.shape):
                shape = ", ".join(str(d) for d in operand.shape)
                raise ModelError(f"input '{name}' ({shape}) would be empty", where="step")
        for r in self._emission.requirements:
            if (value := self.value(r.value, bound)) > r.most:
                raise ModelError(
                    f"{value} {r.what}, at most {r.most} are possible", where=f"step {_show(bound)}", hint="make the step smaller"
                )
        return bound

    def value(self, value: Number, bound: Dims) -> int:
        """Evaluate an expression for a step, with addresses substituted."""
        number = self.number(value)
        return number.evaluate(dict(bound)) if isinstance(number, Expr) else number

    def bound_operand(self, operand: TaskOperand, bound: Dims) -> TaskOperand:
        """Return an operand with its expressions evaluated."""
        return replace(
            operand,
            shape=tuple(self.value(d, bound) for d in operand.shape),
            address=self.value(operand.address, bound),
            surface=self.value(operand.surface, bound),
            line=self.value(operand.line, bound),
        )

    def rounds(self, bound: Dims, *, some: bool = False) -> Iterator[Round]:
        """Return the instructions of a step. some: of every loop only the first two iterations and the last."""
        values = self._values(bound)
        for n, item in enumerate(self.items):
            if isinstance(item, Instr):
                yield Round(n, _call(item, self._roots, values))
                continue
            count = values[self._roots[item.count]]
            evaluate, roots = self._body(n, item)
            for i in range(count):
                if some and 1 < i < count - 1:
                    continue
                inside = evaluate({**bound, item.index.name: i})
                for body in item.body:
                    yield Round(n, _call(body, roots, inside))

    def _body(self, n: int, loop: Loop) -> _Evaluator:
        if n not in self._bodies:
            self._bodies[n] = _evaluator(loop.body)
        return self._bodies[n]


_Evaluator = tuple[Callable[[Dims], list[int]], Mapping[Expr, int]]
"""Dimensions -> the values of expressions; the index of each among them."""


def _evaluator(items: Iterable[Instr | Loop]) -> _Evaluator:
    """Each different expression of some instructions, and of the number of a loop's rounds, is evaluated once."""
    roots: dict[Expr, int] = {}
    for item in items:
        for value in (item.count,) if isinstance(item, Loop) else (*item.dynamic.values(), *(item.tokens or ())):
            if isinstance(value, Expr):
                roots.setdefault(value, len(roots))
    return compile_python(list(roots)), roots


def _call(made: Instr, roots: Mapping[Expr, int], values: Sequence[int]) -> Call:
    fields = {name: values[roots[value]] if isinstance(value, Expr) else value for name, value in made.fields.items()}
    if made.tokens is None:
        return Call(made.instruction, fields, made.ops)
    first, end = (values[roots[t]] if isinstance(t, Expr) else t for t in made.tokens)
    return Call(made.instruction, fields, made.ops, (first, end))


def _number(name: str, value: object) -> int:
    try:
        return operator.index(cast("SupportsIndex", value))
    except TypeError:
        raise ModelError(f"{name} is {value!r}, expected an integer", where="step") from None


def _show(bound: Dims) -> str:
    return ", ".join(f"{name}={value}" for name, value in bound.items())
