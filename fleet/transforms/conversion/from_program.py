"""Converts a program of NumPy or ONNX to a graph of accelerator operators: the inverse of `fleet.transforms.conversion.to_program`.

Rows are tokens: a tensor [..., C] is the feature (1, rows, C). Each operation becomes one node of its name; `fuse` puts biases,
residuals, ReLU and argmax into products afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import prod

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.errors import ModelError
from fleet.ir import dialect as d
from fleet.ir.accel import attention, pointwise, products
from fleet.ir.accel.nodes import ConstantNode, Node, TupleNode
from fleet.ir.constants import constant_value
from fleet.ir.operations.operation import FleetOp, attributes_of, kind_of, op_id
from fleet.ir.program import Argument, Program
from fleet.ir.shapes import UNKNOWN
from fleet.ir.types import is_tensor, shape_of
from fleet.symbols.expr import Number, Var


def from_program(program: Program, tokens: Var | None = None, dims: Collection[Var] = ()) -> Node:
    """Return the graph of a program, without types.

    Args:
        program: as `lowered_program` returns it for a set, so that norms, softmax and activations are one operation each.
        tokens: rows of every feature, if the step determines them; None: as in the program's shapes.
        dims: the program's unknown dimensions, by their names: sizes of the graph are expressions of them.

    Raises:
        ModelError: no operator of a graph computes an operation, or this use of it (with its id and place in the source); `dims`
            lacks an unknown dimension.
    """
    return _Graph(program, tokens, {v.name: v for v in dims}).root()


class _Graph:
    def __init__(self, program: Program, tokens: Var | None, dims: Mapping[str, Var]) -> None:
        self.program, self.tokens, self.dims = program, tokens, dims
        self.nodes: dict[SSAValue, Node] = {}
        self.constants: dict[tuple[str, str], ConstantNode] = {}
        for argument, value in zip(program.arguments, program.function.body.block.args, strict=True):
            if argument.kind == "input":
                self.nodes[value] = products.var_ddr(argument.name, self.feature(argument))

    def root(self) -> Node:
        for op in self.program.operations():
            if isinstance(op, d.ConstantOp | d.PrintOp):
                continue
            made = _LOWERED.get(type(op))
            if made is None:
                raise self.failed(op, f"a graph has no operator for {kind_of(op)}")
            self.nodes[op.results[0]] = made(self, op)
        found = [self.node(v, None) for v in self.program.returned()]
        return found[0] if len(found) == 1 else TupleNode(found)

    # ---- values

    def feature(self, argument: Argument) -> tuple[Number, ...]:
        """Return the shape of an input: its rows, and its channels."""
        *sizes, channels = argument.shape or (1,)
        if channels == UNKNOWN:
            raise ModelError(f"input '{argument.name}' has unknown channels, a graph's are known", where=self.program.source_name)
        if self.tokens is not None:
            return 1, self.tokens, channels
        rows: Number = 1
        for size, name in zip(sizes, argument.dims or ("",) * len(sizes), strict=False):
            if size == UNKNOWN and name not in self.dims:
                what = f"dimension '{name}' of input '{argument.name}' is unknown"
                raise ModelError(what, where=self.program.source_name, hint=f'name it in dims: ne.Var("{name}", max_data=...)')
            rows = rows * (self.dims[name] if size == UNKNOWN else size)
        return 1, rows, channels

    def node(self, value: SSAValue, op: FleetOp | None) -> Node:
        if value not in self.nodes:
            raise self.failed(op, "a weight or number is computed with in a way that no operator of a graph has")
        return self.nodes[value]

    def array(self, value: SSAValue) -> Callable[[], np.ndarray] | None:
        """Return the data of a weight or a number; None for a value computed in the run."""
        if isinstance(value, BlockArgument) and value not in self.nodes:
            name = self.program.arguments[value.index].name
            return lambda: np.asarray(self.program.weights[name])
        if isinstance(value.owner, d.ConstantOp):
            number = constant_value(value.owner)
            return lambda: np.asarray(number)
        return None

    def name(self, value: SSAValue) -> str:
        if isinstance(value, BlockArgument):
            return self.program.arguments[value.index].name
        assert isinstance(value.owner, FleetOp)
        return op_id(value.owner)

    def matrix(self, value: SSAValue) -> ConstantNode | None:
        data, shape = self.array(value), shape_of(value.type)
        if data is None or len(shape) != 2:
            return None
        key = (self.name(value), "matrix")
        if key not in self.constants:
            self.constants[key] = products.const_hbm(self.name(value), data, shape)
        return self.constants[key]

    def channels(self, value: SSAValue, count: int) -> ConstantNode | None:
        """Return one number per channel, as a constant (1, 1, C); a single number is used for all channels."""
        data, shape = self.array(value), shape_of(value.type)
        if data is None or prod(shape) not in (1, count) or prod(shape[:-1]) != 1:
            return None
        key = (self.name(value), f"{count} channels")
        if key not in self.constants:
            name = self.name(value) if is_tensor(value.type) else f"{self.name(value)}_{count}"

            def whole() -> np.ndarray:
                return np.broadcast_to(np.asarray(data(), np.float64).reshape(-1), (count,)).reshape(1, 1, count)

            self.constants[key] = products.const_ddr(name, whole, (1, 1, count))
        return self.constants[key]

    def failed(self, op: FleetOp | None, what: str) -> ModelError:
        if op is None:
            return ModelError(what, where=self.program.source_name)
        at = getattr(op.properties.get("at"), "data", None)
        return ModelError(f"operation {op_id(op)}: {what}", where=at or self.program.source_name)

    def last_axis(self, op: FleetOp) -> None:
        axis, rank = attributes_of(op).get("axis"), len(shape_of(op.operands[0].type))
        if axis is None or int(axis) % rank != rank - 1:
            raise self.failed(op, f"{kind_of(op)} along axis {axis}, a graph has the last one alone")


_Lowered = Callable[[_Graph, FleetOp], Node]


def _product(g: _Graph, op: FleetOp) -> Node:
    weight = g.matrix(op.operands[1])
    if weight is None:
        raise g.failed(op, "a product of two tensors that are both computed; a graph has it as an attention only")
    return products.mvm(g.node(op.operands[0], op), weight, name=op_id(op))


def _two(make: Callable[..., Node], *, either: bool) -> _Lowered:
    def lowered(g: _Graph, op: FleetOp) -> Node:
        a, b = op.operands
        if either and g.array(a) is not None:
            a, b = b, a
        shape = shape_of(op.results[0].type)
        other = g.nodes[b] if b in g.nodes else g.channels(b, shape[-1] if shape else 1)
        if other is None or shape_of(a.type) != shape:
            raise g.failed(op, "its operands are neither of one shape nor a tensor and one number a channel")
        if b in g.nodes and prod(shape_of(b.type)) != prod(shape):
            raise g.failed(op, f"{kind_of(op)} of {list(shape_of(a.type))} and {list(shape_of(b.type))} repeats what was computed")
        return make(g.node(a, op), other, name=op_id(op))

    return lowered


def _positive(g: _Graph, op: FleetOp) -> Node:
    a, b = op.operands
    if g.array(a) is not None:
        a, b = b, a
    zero = g.array(b)
    if zero is None or np.any(zero()):
        raise g.failed(op, "a maximum of other numbers than 0")
    return pointwise.activate(g.node(a, op), pointwise.table("relu"), function="relu", name=op_id(op))


def _activation(function: str) -> _Lowered:
    def lowered(g: _Graph, op: FleetOp) -> Node:
        chosen = "gelu_tanh" if attributes_of(op).get("approximate") == "tanh" else function
        return pointwise.activate(g.node(op.operands[0], op), pointwise.table(chosen), function=chosen, name=op_id(op))

    return lowered


def _norm(make: Callable[..., Node]) -> _Lowered:
    def lowered(g: _Graph, op: FleetOp) -> Node:
        parameters = [g.array(v) for v in op.operands[1:]]
        given = [p for p in parameters if p is not None]
        channels = shape_of(op.operands[0].type)[-1]
        if len(given) != len(parameters) or any(prod(shape_of(v.type)) != channels for v in op.operands[1:]):
            raise g.failed(op, "its parameters are no weights of one number a channel")

        def pair() -> np.ndarray:
            rows = [np.asarray(p(), np.float64).reshape(-1) for p in given]
            return np.stack([*rows, np.zeros(channels)][:2])

        name = "+".join(g.name(v) for v in op.operands[1:])
        key = (name, "norm")
        if key not in g.constants:
            g.constants[key] = products.const_ddr(name, pair, (2, channels))
        return make(g.node(op.operands[0], op), g.constants[key], eps=float(attributes_of(op)["eps"]), name=op_id(op))

    return lowered


def _softmax(g: _Graph, op: FleetOp) -> Node:
    g.last_axis(op)
    return attention.softmax(g.node(op.operands[0], op), mask=0, name=op_id(op))


def _argmax(g: _Graph, op: FleetOp) -> Node:
    g.last_axis(op)
    return pointwise.argmax(g.node(op.operands[0], op), name=op_id(op))


def _reshape(g: _Graph, op: FleetOp) -> Node:
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if before[-1:] != after[-1:]:
        raise g.failed(op, f"a reshape of {list(before)} to {list(after)}: channels stay channels in a graph")
    return g.node(op.operands[0], op)


_LOWERED: Mapping[type[FleetOp], _Lowered] = {
    d.MatmulOp: _product,
    d.AddOp: _two(pointwise.add, either=True),
    d.SubOp: _two(pointwise.sub, either=False),
    d.MulOp: _two(pointwise.mul, either=True),
    d.MaximumOp: _positive,
    d.GeluOp: _activation("gelu"),
    d.SiluOp: _activation("silu"),
    d.LayerNormOp: _norm(pointwise.layer_norm),
    d.RmsNormOp: _norm(pointwise.rms_norm),
    d.SoftmaxOp: _softmax,
    d.ArgmaxOp: _argmax,
    d.ReshapeOp: _reshape,
}
