"""Nodes of a graph as operations of the dialect `accel`: variables, constants, calls and parts of their results.

A graph is everything reachable from its last node. Builders create operations outside any block; `infer_type` puts its
operations into a function. The class of an operator defines it: operands, which give the arguments their roles, type inference and
computation. Nodes are compared by identity. A pass creates new nodes (`fleet.ir.accel.walk`).
"""

from __future__ import annotations

import difflib
import inspect
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
    VarOperandDef,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from fleet.errors import FleetError
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.inference import Inference
from fleet.ir.accel.types import (
    HBM,
    Accelerator,
    AccelTensor,
    Content,
    DataType,
    Dim,
    Held,
    Size,
    Type,
    from_attribute,
    show_type,
    to_attribute,
    to_type,
    type_of,
)
from fleet.ir.types import Attributes
from fleet.ir.walk import operands_first
from fleet.symbols.expr import Expr, ExprError


def sizes(what: str, given: object) -> tuple[Dim, ...]:
    """Return a shape as a tuple; `infer_type` checks the sizes. Raises GraphError if it is not a sequence."""
    if not isinstance(given, Iterable) or isinstance(given, str | Expr):
        raise GraphError(f"{what} {given!r}, expected a tuple or a list of sizes")
    return tuple(cast("Iterable[Dim]", given))


def _nodes(given: object, all_of_them: str, one: str) -> list[Node]:
    """Return nodes as a list. Raises GraphError for anything else."""
    if not isinstance(given, Iterable) or isinstance(given, Node | str):
        raise GraphError(f"{all_of_them} {type(given).__name__}, expected a list of nodes")
    found = list(cast("Iterable[Node]", given))
    for index, node in enumerate(found):
        if not isinstance(cast("object", node), Node):
            raise GraphError(f"{one.format(index)} {node!r}, expected a node of a graph")
    return found


class Node(IRDLOperation, ABC):
    """A node of a graph.

    Attributes:
        prefix: the memory block that its result is placed in ("runtime", "weight", "hbm", "hbm_cache", a user's own).
        checked_type: the type found by `infer_type`; None before.
        label: its name for people and reports; calls have one only if the builder gave it (attribute "name").
    """

    result = result_def()
    prefix_attr = prop_def(StringAttr, prop_name="prefix")
    label_attr = opt_prop_def(StringAttr, prop_name="label")

    def _make(
        self, operands: Sequence[Node], checked: Type | None, prefix: str, label: str | None, properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:  # fmt: skip
        named = {"prefix": StringAttr(prefix), **({} if label is None else {"label": StringAttr(label)}), **properties}
        Operation.__init__(
            self, operands=[n.results[0] for n in operands], result_types=[to_type(checked)], properties=named,
            attributes=attributes or {},
        )  # fmt: skip

    @property
    def prefix(self) -> str:
        """The memory block of the result."""
        return cast("StringAttr", self.properties["prefix"]).data

    @prefix.setter
    def prefix(self, block: str) -> None:
        self.properties["prefix"] = StringAttr(block)

    @property
    def label(self) -> str | None:
        """The name for people and reports, or None."""
        found = self.properties.get("label")
        return found.data if isinstance(found, StringAttr) else None

    @label.setter
    def label(self, label: str | None) -> None:
        if label is None:
            self.properties.pop("label", None)
        else:
            self.properties["label"] = StringAttr(label)

    @property
    def checked_type(self) -> Type | None:
        """The type found by `infer_type`; None before."""
        return type_of(self.results[0].type)

    @checked_type.setter
    def checked_type(self, checked: Type | None) -> None:
        self.results[0]._type = to_type(checked)  # pyright: ignore[reportPrivateUsage]  # a value's type has no other way to change

    def with_arguments(self, args: Sequence[Node]) -> Self:
        """Return a new node like this one with other arguments, outside any block."""
        return self.create(
            operands=[n.results[0] for n in args], result_types=[self.results[0].type], properties=dict(self.properties),
            attributes=dict(self.attributes),
        )  # fmt: skip

    def __getitem__(self, index: int) -> TupleItemNode:
        if not isinstance(cast("object", index), int):
            raise GraphError(f"result {index!r} of a node, expected a number")
        return TupleItemNode(self, index)

    def __iter__(self) -> Any:
        # `__getitem__` alone would make every node an endless sequence.
        raise TypeError("a node has no known number of results: take them by index")

    def __str__(self) -> str:
        return print_graph(self)

    def __repr__(self) -> str:
        return f"<{self.name} {self.label or ''}>"


class Leaf(Node, ABC):
    """An input or a constant."""

    shape_attr = opt_prop_def(ArrayAttr[Size], prop_name="shape")
    dtype_attr = prop_def(StringAttr, prop_name="dtype")
    mapped_attr = prop_def(StringAttr, prop_name="mapped")
    device_attr = prop_def(StringAttr, prop_name="device")

    def _leaf(
        self, label: object, shape: Sequence[Dim] | None, dtype: DataType, device: Accelerator, prefix: str, checked: Type | None,
        **properties: Attribute,
    ) -> None:  # fmt: skip
        if label is not None and not isinstance(label, str):
            raise GraphError(f"{label!r} is not a name of an input or a constant")
        if shape is not None:
            try:
                properties["shape"] = ArrayAttr(list(map(Size, sizes(f"{label}: shape", shape))))
            except ExprError as error:
                raise GraphError(error.what, where=label) from None
        words = {"dtype": dtype.dtype, "mapped": dtype.mapped, "device": device.kind}
        self._make((), checked, prefix, label, {**properties, **{name: StringAttr(word) for name, word in words.items()}})

    def resize(self, shape: Sequence[Dim]) -> None:
        """Set another shape."""
        self.properties["shape"] = ArrayAttr(list(map(Size, shape)))

    @property
    def dtype(self) -> DataType:
        """Dtype of the elements, and the memory that holds them."""
        return DataType(self.dtype_attr.data, self.mapped_attr.data)

    @property
    def device(self) -> Accelerator:
        """The accelerator that the leaf was built for."""
        return Accelerator(self.device_attr.data)


@irdl_op_definition
class VarNode(Leaf):
    """An input: shape as (1, tokens, channels)."""

    name = "accel.var"

    def __init__(
        self, label: str, shape: Sequence[Dim], dtype: DataType, device: Accelerator = HBM, prefix: str = "runtime",
        checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        self._leaf(label, sizes(f"{label}: shape", shape), dtype, device, prefix, checked_type)

    @property
    def shape(self) -> tuple[Dim, ...]:
        """Sizes as declared, of a feature (heads, tokens, channels); () if there are none."""
        return () if (found := self.shape_attr) is None else tuple(size.data for size in found.data)


@irdl_op_definition
class ConstantNode(Leaf):
    """Weights. See `fleet.ir.accel.types.Held` for what `data` may be."""

    name = "accel.constant"
    content = opt_prop_def(Content)

    def __init__(
        self, label: str, data: Held, shape: Sequence[Dim] | None, dtype: DataType, device: Accelerator = HBM,
        prefix: str = "weight", checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        held = {} if data is None else {"content": Content(data)}
        self._leaf(label, shape, dtype, device, prefix, checked_type, **held)

    @property
    def shape(self) -> tuple[Dim, ...] | None:
        """(CHin, CHout) of weights; None: the shape of the data."""
        return None if (found := self.shape_attr) is None else tuple(size.data for size in found.data)

    @property
    def data(self) -> Held:
        """The array or the name of the file that holds it, or None."""
        return None if (found := self.content) is None else found.held

    @data.setter
    def data(self, data: Held) -> None:
        if data is None:
            self.properties.pop("content", None)
        else:
            self.properties["content"] = Content(data)


class OperatorCall(Node, ABC):
    """An operator on arguments: `OperatorCall("accel.hbm.mvm", (x, w), {"skip": 1})`.

    The class of an operator declares its operands (a variadic one takes one argument or more); its docstring says what it
    computes. It may also declare:
        VIEW: no instruction: the result shares the argument's memory.
        ATTRS: attribute -> description.
    """

    VIEW: ClassVar[bool] = False
    ATTRS: ClassVar[Mapping[str, str]] = {}

    OPERATORS: ClassVar[dict[str, type[OperatorCall]]] = {}
    """Name -> operator, for all registered operators."""

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Raises GraphError if no operator has the name."""
        op = given[0] if given else named.get("op")
        made = cls if op is None or "name" in vars(cls) else cast("type[Self]", find_operator(op))
        return super().__new__(made)

    def __init__(
        self, op: str, args: Sequence[Node], attrs: Attributes | None = None, prefix: str = "runtime",
        checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        """attrs: numbers, expressions, texts and sequences of them; None values are omitted. Raises GraphError."""
        del op
        nodes = _nodes(args, f"arguments of {self.name} are", f"argument {{}} of {self.name} is")
        self.check_arity(len(nodes))
        given = {name: to_attribute(name, value) for name, value in (attrs or {}).items() if value is not None}
        label = given.get("name")
        self._make(nodes, checked_type, prefix, label.data if isinstance(label, StringAttr) else None, {}, given)

    @property
    def op(self) -> str:
        """ "accel.hbm.mvm"."""
        return self.name

    @property
    def args(self) -> tuple[Node, ...]:
        """Argument nodes, in order."""
        return arguments(self)

    @property
    def attrs(self) -> Attributes:
        """The attributes as they were given, sequences as tuples; `set` changes them."""
        return MappingProxyType({name: from_attribute(value) for name, value in self.attributes.items()})

    def set(self, **attrs: Any) -> None:
        """Set attributes to other values."""
        self.attributes.update({name: to_attribute(name, value) for name, value in attrs.items()})

    @classmethod
    def roles(cls) -> tuple[str, ...]:
        """Return the arguments' roles in order ("data", "weight", "bn", ...); the last one of a variadic operator repeats."""
        return tuple(name.rstrip("0123456789") for name, _ in cls.get_irdl_definition().operands)

    @classmethod
    def many(cls) -> bool:
        """Return whether it takes one argument or more."""
        return any(isinstance(operand, VarOperandDef) for _, operand in cls.get_irdl_definition().operands)

    @classmethod
    def doc(cls) -> str:
        """Return the first line of the class's docstring: what the operator computes."""
        return (inspect.getdoc(cls) or "").partition("\n")[0].removesuffix(".")

    @classmethod
    def check_arity(cls, count: int) -> None:
        """Raises GraphError if the operator does not take so many arguments."""
        expected = len(cls.get_irdl_definition().operands)
        if count != expected and not (count > expected and cls.many()):
            least = f"at least {expected}" if cls.many() else str(expected)
            raise GraphError(f"{cls.name} takes {least} ({', '.join(cls.roles())}), {count} given")

    def inferred(self, limits: Mapping[str, int]) -> Type:
        """Return the type inferred from its arguments' types. Raises GraphError if they do not fit, or one has several results."""
        args = self.args
        return self.infer(Inference(self.roles(), tuple(map(single, args)), args, self.attrs, limits))

    def verify_(self) -> None:
        """Check that the type is the inferred one, once types are known. Raises VerifyException."""
        if self.checked_type is not None:
            try:
                expected = self.inferred({})
            except FleetError as error:
                raise VerifyException(f"{self.name}: {error}") from None
            if expected != self.checked_type:
                raise VerifyException(f"{self.name}: type is {show_type(self.checked_type)}, expected {show_type(expected)}")

    @classmethod
    def infer(cls, c: Inference) -> Type:
        """Return the type of the result, or of the results; refuse with `Inference.fail`."""
        raise GraphError(f"operator {cls.name} has no rule for its type", hint="give its class an `infer`")

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray | tuple[np.ndarray, ...]:
        """Evaluate the operator in the arrays' precision; attributes hold numbers. Raises GraphError if it cannot be evaluated."""
        raise GraphError(f"operator {cls.name} has no meaning that could be evaluated")


C = TypeVar("C", bound=OperatorCall)


def single(node: Node) -> AccelTensor:
    """Return the type of a node with one result. Raises GraphError if it has several."""
    found = node.checked_type
    if isinstance(found, AccelTensor):
        return found
    count = len(found or ())
    raise GraphError(f"a node with {count} results is used as one", hint="take one of them: [0], [1], ...")


def call(op: str, args: Sequence[Any], attrs: Attributes, prefix: str = "runtime") -> OperatorCall:
    """Create a call for a builder: "prefix" among the attributes is the memory block of the result and overrides `prefix`."""
    kept = {name: value for name, value in attrs.items() if name != "prefix"}
    return OperatorCall(op, args, kept, str(attrs.get("prefix", prefix)))


@irdl_op_definition
class TupleNode(Node):
    """Several results of a graph."""

    name = "accel.tuple"
    parts = var_operand_def()

    def __init__(self, fields: Sequence[Node], checked_type: Type | None = None) -> None:
        self._make(_nodes(fields, "fields of a tuple are", "field {} of a tuple is"), checked_type, "runtime", None, {})

    @property
    def fields(self) -> tuple[Node, ...]:
        """Nodes of the results, in order."""
        return arguments(self)


@irdl_op_definition
class TupleItemNode(Node):
    """One result of a node that has several."""

    name = "accel.item"
    several = operand_def()
    index_attr = prop_def(IntegerAttr, prop_name="index")

    def __init__(self, source: Node, index: int, checked_type: Type | None = None) -> None:
        self._make((source,), checked_type, source.prefix, None, {"index": IntegerAttr(index, i64)})

    @property
    def source(self) -> Node:
        """Node that has several results."""
        return arguments(self)[0]

    @property
    def index(self) -> int:
        """Index of the result, from 0."""
        return self.index_attr.value.data


def find_operator(name: object) -> type[OperatorCall]:
    """Return the operator of a name. Raises GraphError naming similar ones."""
    if not isinstance(name, str):
        raise GraphError(f"operator {name!r}, expected a name")
    if name not in OperatorCall.OPERATORS:
        near = difflib.get_close_matches(name, OperatorCall.OPERATORS, 3)
        raise GraphError(f"no operator {name}", hint=f"did you mean {' or '.join(near)}" if near else "register it first")
    return OperatorCall.OPERATORS[name]


def register(operator: type[C], *, replace: bool = False) -> type[C]:
    """Add an operator, as a decorator of its class. Raises GraphError if the name is taken and `replace` is not given.

    Example:
        >>> @register
        ... class Halve(Call):
        ...     "Every second channel."
        ...     name = "my.halve"
        ...     data = operand_def()
        ...     @classmethod
        ...     def infer(cls, c):
        ...         heads, tokens, channels = c.feature(0).shape
        ...         return c.result((heads, tokens, channels // 2))
        >>> half = Call("my.halve", [x])  # doctest: +SKIP
    """
    if operator.name in OperatorCall.OPERATORS and not replace:
        raise GraphError(f"operator {operator.name} is registered already", hint="give replace=True to put another in its place")
    OperatorCall.OPERATORS[operator.name] = operator = irdl_op_definition(operator)
    return operator


# Traversals of a graph, none of them recursive: a graph may be as deep as memory allows.


def arguments(node: Node) -> tuple[Node, ...]:
    """Return the arguments of a node, in order."""
    return cast("tuple[Node, ...]", tuple(value.owner for value in node.operands))


def post_order(root: Node) -> Iterator[Node]:
    """Iterate over every node once, arguments before their users, first arguments first."""
    return iter(operands_first(root, arguments))


def labels(root: Node) -> dict[Node, str]:
    """Return each node's name in the printed graph: its label, "%3" or "%3.0"; a tuple by its fields."""
    named: dict[Node, str] = {}
    calls = 0
    for node in post_order(root):
        match node:
            case OperatorCall():
                named[node] = f"%{calls}"
                calls += 1
            case TupleItemNode():
                named[node] = f"{named[node.source]}.{node.index}"
            case TupleNode():
                named[node] = f"({', '.join(named[f] for f in node.fields)})"
            case _:
                named[node] = node.label or "?"
    return named


def print_graph(root: Node, name: str = "main") -> str:
    """Return the graph as text, one line per node, followed by its type if `infer_type` found one.

    Example:
        >>> print(print_graph(c))  # doctest: +SKIP
        def main(a) {
          a = var()
          b = constant()
          %0 = accel.hbm.mvm(a, b)
          return %0
        }
    """
    named = labels(root)
    lines = [f"def {name}({', '.join(named[v] for v in post_order(root) if isinstance(v, VarNode))}) {{"]
    for node in post_order(root):
        if isinstance(node, VarNode | ConstantNode | OperatorCall):
            checked = f" {show_type(node.checked_type)}" if node.checked_type is not None else ""
            lines.append(f"  {named[node]} = {_right_side(node, named)}{checked}")
    return "\n".join([*lines, f"  return {named[root]}", "}"])


def _right_side(node: Node, named: dict[Node, str]) -> str:
    if isinstance(node, VarNode):
        return "var()"
    if isinstance(node, ConstantNode):
        return "constant()"
    assert isinstance(node, OperatorCall)
    return f"{node.op}({', '.join(named[a] for a in node.args)})"


def describe(node: Node, named: dict[Node, str]) -> str:
    """Describe a node for an error: "%3 = accel.hbm.mvm(%2, wq)"; a call's own name is appended."""
    if not isinstance(node, OperatorCall):
        return named[node]
    return f"{named[node]} = {_right_side(node, named)}" + (f' "{node.label}"' if node.label else "")
