"""Operators of graphs: what there is, and how a user adds one.

Example:
    >>> def infer(call):
    ...     data = call.feature(0)
    ...     return call.result((data.shape[0], data.shape[1], data.shape[2] // 2))
    >>> register(GraphOperator("my.halve", ("data",), infer, doc="Every second channel."))  # doctest: +SKIP
    >>> half = Call("my.halve", [x])  # doctest: +SKIP
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from numbers import Real
from typing import Any, NoReturn, cast

import numpy as np

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import Call, DataType, Dim, Node, Tensor, Type
from fleet.symbols.expr import ExprError, as_expr, dim

__all__ = ["FEATURE", "GraphOperator", "Inference", "Meaning", "find_operator", "operators", "register", "same_dim", "show_shape"]

FEATURE = DataType("float16", "ddr")
"""What activations are."""


class Mismatch(GraphError):
    """What an infer function finds wrong; `infer_type` says of which node."""


def show_shape(shape: Sequence[Dim]) -> str:
    """(1, token, 4096)."""
    return f"({', '.join(map(str, shape))})"


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two sizes are the same for every binding, as far as simplification sees."""
    return dim(as_expr(a) - as_expr(b)) == 0


@dataclass(frozen=True)
class Inference:
    """A call whose arguments' types are known: what an infer function gets.

    Attributes:
        operator: which one. types: of the arguments, in order. nodes: the arguments themselves. attrs: of the call.
        limits: the device's parameters ("MaxToken", "Tout", ...); empty where no device is known.
    """

    operator: GraphOperator
    types: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    attrs: Mapping[str, Any]
    limits: Mapping[str, int] = field(default_factory=dict[str, int])

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Refuses the call. Raises GraphError."""
        raise Mismatch(reason, hint=hint)

    def feature(self, index: int) -> Tensor:
        """Argument `index`, which must be a feature: float16 in DDR or on chip, of three dimensions."""
        found = self.typed(index, ("float16",), ("ddr", "onchip"))
        if len(found.shape) != 3:
            self.fail(f"{self.role(index)} has shape {show_shape(found.shape)}, expected (heads, tokens, channels)")
        return found

    def typed(self, index: int, dtypes: Sequence[str], spaces: Sequence[str]) -> Tensor:
        """Argument `index`, which must be of one of the dtypes in one of the spaces."""
        found = self.types[index]
        if found.dtype.dtype not in dtypes or found.dtype.mapped not in spaces:
            wanted = " or ".join(f"({d}, {s})" for d in dtypes for s in spaces)
            self.fail(f"{self.role(index)} is {found.dtype}, expected {wanted}")
        return found

    def role(self, index: int) -> str:
        """How an error calls an argument: "argument 1 (weight)"."""
        roles = self.operator.roles
        return f"argument {index} ({roles[min(index, len(roles) - 1)]})"

    def result(self, shape: Sequence[Dim], dtype: DataType = FEATURE) -> Tensor:
        """A type on the same accelerator, its sizes simplified."""
        return Tensor(tuple(dim(d) for d in shape), dtype, self.types[0].device)

    def number(self, name: str, default: Dim = 0) -> Dim:
        """An attribute that is a number or an expression; None counts as missing."""
        value = self.attrs.get(name)
        try:
            return dim(default if value is None else value)
        except ExprError as error:
            self.fail(f"attribute {name}: {error.what}")

    def real(self, name: str, least: float = -inf) -> float | None:
        """An attribute that is a finite number, of at least `least`; None where it is missing."""
        value = self.attrs.get(name)
        if value is None:
            return None
        if not isinstance(value, Real) or not isfinite(value) or value < least:
            self.fail(f"attribute {name} is {value!r}, expected a number" + ("" if least == -inf else f" of at least {least:g}"))
        return float(value)

    def agree(self, what: str, a: Dim, b: Dim) -> None:
        """Refuses sizes that differ."""
        if not same_dim(a, b):
            self.fail(f"{what}: {a} and {b} differ")


Meaning = Callable[[Sequence[np.ndarray], Mapping[str, Any]], "np.ndarray | tuple[np.ndarray, ...]"]
"""What an operator computes: (arguments, attributes with numbers in them) -> result or results, in the arguments' precision."""


@dataclass(frozen=True)
class GraphOperator:
    """An operator.

    Attributes:
        name: "accel.hbm.mvm".
        roles: what the arguments are, in order ("data", "weight", "bn", ...); the last one stands for all further ones.
        infer: type of the result, or of the results; refuses with `Inference.fail`.
        meaning: for `fleet.ir.accel.evaluate`; None: it cannot be evaluated.
        view: no instruction: the result stands where the argument stands.
        many: takes one argument or more.
        attrs: attribute -> what it is.
        doc: what it computes, one line.
    """

    name: str
    roles: tuple[str, ...]
    infer: Callable[[Inference], Type]
    meaning: Meaning | None = None
    view: bool = False
    many: bool = False
    attrs: Mapping[str, str] = field(default_factory=dict[str, str])
    doc: str = ""


_OPERATORS: dict[str, GraphOperator] = {}


def register(operator: GraphOperator, *, replace: bool = False) -> GraphOperator:
    """Adds an operator. Raises GraphError where the name is taken and `replace` is not given."""
    if operator.name in _OPERATORS and not replace:
        raise GraphError(f"operator {operator.name} is registered already", hint="give replace=True to put another in its place")
    _OPERATORS[operator.name] = operator
    return operator


def operators() -> dict[str, GraphOperator]:
    """Name -> operator, in the order of registration."""
    return dict(_OPERATORS)


def find_operator(name: str) -> GraphOperator:
    """The operator of a name. Raises GraphError naming those that are spelled alike."""
    if not isinstance(cast("object", name), str):
        raise GraphError(f"operator {name!r}, expected a name")
    if name not in _OPERATORS:
        near = difflib.get_close_matches(name, _OPERATORS, 3)
        raise GraphError(f"no operator {name}", hint=f"did you mean {' or '.join(near)}" if near else "register it first")
    return _OPERATORS[name]


def check_arity(operator: GraphOperator, count: int) -> None:
    """Raises GraphError where the operator does not take so many arguments."""
    expected = len(operator.roles)
    if count != expected and not (operator.many and count >= expected):
        least = f"at least {expected}" if operator.many else str(expected)
        raise Mismatch(f"{operator.name} takes {least} ({', '.join(operator.roles)}), {count} given")


def call(name: str, args: Sequence[Any], attrs: Mapping[str, Any], prefix: str = "runtime") -> Call:
    """A call of a registered operator. Raises GraphError for an unknown one, a wrong count or arguments that are no nodes.

    attrs: "prefix" among them is the memory block of the result, in the place of `prefix`.
    """
    operator = find_operator(name)
    for index, a in enumerate(args):
        if not isinstance(a, Node):
            raise GraphError(f"argument {index} of {name} is {a!r}, expected a node of a graph")
    check_arity(operator, len(args))
    kept = {key: value for key, value in attrs.items() if key != "prefix"}
    return Call(name, args, kept, str(attrs.get("prefix", prefix)))
