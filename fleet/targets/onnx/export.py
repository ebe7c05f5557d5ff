"""IR -> an ONNX model of standard operators.

Every operation becomes one node, or the few nodes of its rule. The node that makes its result has the operation's id as its name
and its place in the source as doc string; the value has the Python variable's name. Weights are initializers under their names.
Printed values become outputs, because ONNX has no print, and so do conditions that have to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.ir import Block, BlockArgument, SSAValue

from fleet.core.version import __version__
from fleet.errors import DeviceError
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, PrintOp, RegionOp, name_of, op_id
from fleet.ir.expand import expand
from fleet.ir.program import Argument, Program
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.onnx import _composites as composites
from fleet.targets.onnx import _elementwise as elementwise
from fleet.targets.onnx import _movement as movement
from fleet.targets.onnx import _reductions as reductions
from fleet.targets.onnx._emitter import EmittedValue, OnnxEmitter, Unsupported
from fleet.targets.onnx.types import ELEMENT_TYPES

OPSET = 26
"""The newest opset that onnxruntime 1.31 supports."""
IR_VERSION = 13
"""The newest version of the format that it supports."""

ExportRule: TypeAlias = Callable[[OnnxEmitter, FleetOp, Sequence[EmittedValue]], EmittedValue]
Whole: TypeAlias = Callable[[OnnxEmitter, FleetOp, Sequence[EmittedValue]], "EmittedValue | None"]

RULES: Mapping[type[FleetOp], ExportRule] = {
    **dict.fromkeys(elementwise.BINARY, elementwise.binary),
    **dict.fromkeys(elementwise.COMPARISONS, elementwise.comparison),
    d.NotEqualOp: elementwise.not_equal,
    **dict.fromkeys(elementwise.LOGICAL, elementwise.logical),
    d.LogicalNotOp: elementwise.logical_not,
    **dict.fromkeys(elementwise.UNARY, elementwise.unary),
    d.IsnanOp: elementwise.isnan,
    d.RsqrtOp: elementwise.rsqrt,
    d.Expm1Op: elementwise.expm1,
    d.Log1pOp: elementwise.log1p,
    d.PowOp: elementwise.power,
    d.FloorDivOp: elementwise.floor_div,
    d.ModOp: elementwise.mod,
    d.WhereOp: elementwise.where,
    d.CastOp: elementwise.cast,
    d.ConstantOp: elementwise.constant,
    **dict.fromkeys(reductions.REDUCTIONS, reductions.reduction),
    d.ReduceAnyOp: reductions.reduce_any,
    d.ReduceAllOp: reductions.reduce_all,
    d.MeanOp: reductions.mean,
    d.VarOp: reductions.var,
    d.ArgmaxOp: reductions.argmax,
    d.ArgminOp: reductions.argmin,
    d.ArgsortOp: reductions.argsort,
    d.CumsumOp: reductions.cumsum,
    d.MatmulOp: reductions.matmul,
    d.EinsumOp: reductions.einsum,
    d.TransposeOp: movement.transpose,
    d.ReshapeOp: movement.reshape,
    d.BroadcastToOp: movement.broadcast_to,
    d.SliceOp: movement.slice_,
    d.GatherOp: movement.gather,
    d.ScatterOp: movement.scatter,
    d.ConcatOp: movement.concat,
    d.PadOp: movement.pad,
    d.DimOp: movement.dim,
    d.ItemOp: movement.item,
    d.DynamicReshapeOp: movement.dynamic_reshape,
    d.DynamicBroadcastOp: movement.dynamic_broadcast,
    d.DynamicSliceOp: movement.dynamic_slice,
    d.ArangeOp: movement.arange,
    d.TriOp: movement.tri,
    d.CheckOp: movement.check,
    d.NumpyOp: movement.library,
}
"""Primitive operation -> rule that exports it."""

COMPOSITES: Mapping[type[FleetOp], Whole] = {
    d.SoftmaxOp: composites.softmax,
    d.SigmoidOp: composites.sigmoid,
    d.GeluOp: composites.gelu,
    d.LayerNormOp: composites.layer_norm,
    d.RmsNormOp: composites.rms_norm,
}
"""Composites that are one operator of ONNX; the others are exported as their textbook sequences."""

_SHOWN = 5


@dataclass(frozen=True)
class OnnxExport:
    """The result of `export_onnx`.

    Attributes:
        model: the model without its weights' bytes: `fleet.targets.onnx.write` adds them, inside or beside it.
        weights: name -> array of every initializer.
        outputs: the program's outputs -> their names in the graph (another name only for an input that is returned unchanged).
        tensors: operation id -> name of its value.
        printed: for every `print`, the names of its operands' values, in program order.
        checks: name of the node that fails where a condition does not hold -> what the run then says.
    """

    model: ModelProto
    weights: Mapping[str, np.ndarray]
    outputs: Mapping[str, str]
    tensors: Mapping[str, str]
    printed: tuple[tuple[str, ...], ...]
    checks: Mapping[str, str]


def export_onnx(program: Program, *, every_result: bool = False) -> OnnxExport:
    """Export a program, after any pass; unknown dimensions stay unknown.

    Args:
        program: from a front end or a pass.
        every_result: make the result of every operation an output of the graph (for traces).

    Raises:
        DeviceError: lists all operations that cannot be expressed, each kind with its reason and ids.
    """
    export = _Exporter(program)
    for op in program.operations():
        export.operation(op)
    if export.refused:
        lines = [f"  {what}: {', '.join(ids[:_SHOWN])}{_more(ids)}" for what, ids in export.refused.items()]
        what = "1 kind of operation" if len(lines) == 1 else f"{len(lines)} kinds of operations"
        raise DeviceError(
            f"{what} cannot be written as ONNX", where=program.source_name, hint="`fleet help onnx-out` lists what can",
            detail="\n".join(lines),
        )  # fmt: skip
    return export.result(every_result)


def _more(ids: Sequence[str]) -> str:
    return f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""


class _Exporter:
    """Exports one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        block = program.function.body.block
        self.names = {a.name for a in program.arguments}
        self.emitter = OnnxEmitter([*self.names, *program.outputs])
        self.values: dict[SSAValue, EmittedValue] = {
            v: EmittedValue(a.name, numpy_dtype(v.type), shape_of(v.type))
            for v, a in zip(block.args, program.arguments, strict=True)
        }
        self.outputs = {v: name for name, v in reversed(list(zip(program.outputs, program.returned(), strict=True)))}
        self.parts: dict[SSAValue, Sequence[EmittedValue]] = {}
        self.depth = 0
        """Of bodies: what is in one has no value outside."""
        self.refused: dict[str, list[str]] = {}
        self.tensors: dict[str, str] = {}
        self.printed: list[tuple[SSAValue, ...]] = []
        self.shown: dict[SSAValue, EmittedValue] = {}
        self.checks: dict[str, str] = {}
        self.checked: list[EmittedValue] = []

    def operation(self, op: FleetOp) -> None:
        """Emit the nodes of one operation; an operation that cannot be expressed is recorded and replaced by a placeholder."""
        if isinstance(op, PrintOp):
            if self.depth:
                self._refuse(op, "in a branch or loop of the run has no operator of ONNX: take it out")
            self.printed.append(tuple(op.operands))
            return
        result = op.results[0]
        if isinstance(op, RegionOp):
            self.parts[result] = self._bodies(op)
            return
        first = self.emitter.begin(op)
        try:
            if isinstance(op, d.ElementOp):
                value = self.parts[op.operand][op.index.value.data]
            else:
                value = self._rule(op, [self.values[v] for v in op.operands])
        except (Unsupported, InferenceError) as error:
            self._refuse(op, str(error))
            value = EmittedValue(op_id(op), numpy_dtype(result.type), shape_of(result.type))
        else:
            dtype = numpy_dtype(result.type)
            value = self.emitter.cast(EmittedValue(value.name, value.dtype, shape_of(result.type)), dtype)
            if not isinstance(op, d.ConstantOp):
                value = self.emitter.finish(first, value, self._wanted(op))
                if not self.depth:
                    self.tensors[op_id(op)] = value.name
                if isinstance(op, d.CheckOp):
                    self.checks[self.emitter.nodes[-1].name] = op.message.data
                    self.checked.append(value)
        self.values[result] = value

    def _refuse(self, op: FleetOp, why: str) -> None:
        ids = self.refused.setdefault(f"{name_of(op).removeprefix('fleet.')} {why}", [])
        if op_id(op) not in ids:  # a loop's test is emitted twice
            ids.append(op_id(op))

    # ---- operations with bodies

    def _bodies(self, op: RegionOp) -> Sequence[EmittedValue]:
        """Emit an operation with bodies; return the parts of its result."""
        types = [v.type for v in (*op.operands, *(a for body in op.bodies for a in body.args))]
        if any(numpy_dtype(t).kind == "c" for t in types):
            self._refuse(op, "of complex numbers has no operator of ONNX")
            parts: Any = op.result.type.types.data
            return [EmittedValue(op_id(op), numpy_dtype(t), shape_of(t)) for t in parts]
        self.emitter.begin(op)
        return BODIES[type(op)](self, op)

    def if_(self, op: d.IfOp) -> Sequence[EmittedValue]:
        """`If`."""
        given = [self.values[v] for v in op.inputs]
        results, graphs = list[EmittedValue](), list[GraphProto]()
        for body in op.bodies:
            nodes: list[NodeProto] = []
            with self.emitter.inside(nodes):
                results = self.emitter.own(self._body(body, given))
            self.emitter.begin(op)
            graphs.append(helper.make_graph(nodes, self.emitter.fresh(f"{op_id(op)}.branch"), [], [_info(v) for v in results]))
        condition = self.values[op.condition]
        return self.emitter.results("If", [condition], results, then_branch=graphs[0], else_branch=graphs[1])

    def while_(self, op: d.WhileOp) -> Sequence[EmittedValue]:
        """`Loop` without a number of rounds, which its condition ends; a loop that nothing ends runs for ever."""
        e = self.emitter
        carried, inputs = ([self.values[v] for v in group] for group in (op.carried, op.inputs))
        (first,) = self._body(op.test.block, [*carried, *inputs])
        e.begin(op)
        names = [e.fresh(f"{op_id(op)}.{what}") for what in ("round", "again", *(str(n) for n in range(len(carried))))]
        own = [EmittedValue(name, v.dtype, v.shape) for name, v in zip(names[2:], carried, strict=True)]
        given = [EmittedValue(names[0], np.dtype(np.int64), ()), EmittedValue(names[1], np.dtype(np.bool_), ()), *own]
        nodes: list[NodeProto] = []
        with e.inside(nodes):
            following = self._body(op.body.block, [*own, *inputs])
            again = self._body(op.test.block, [*following, *inputs])
            results = e.own([*again, *following])
        e.begin(op)
        body = helper.make_graph(nodes, e.fresh(f"{op_id(op)}.body"), [_info(v) for v in given], [_info(v) for v in results])
        return e.results("Loop", [None, first, *carried], carried, body=body)

    def fused(self, op: d.FusedOp) -> Sequence[EmittedValue]:
        """Its operations, one by one."""
        return self._body(op.body.block, [self.values[v] for v in op.inputs])

    def _body(self, body: Block, given: Sequence[EmittedValue]) -> list[EmittedValue]:
        """Emit a body's operations here; return what it yields."""
        self.values.update(zip(body.args, given, strict=True))
        self.depth += 1
        for op in body.ops:
            if isinstance(op, FleetOp):
                self.operation(op)
        self.depth -= 1
        last = body.last_op
        assert last is not None
        return [self.values[v] for v in last.operands]

    # ---- names

    def _wanted(self, op: FleetOp) -> str:
        """Return the name of an operation's value: the output's, the variable's, or the operation's."""
        name = self.outputs.get(op.results[0])
        if name is not None and name not in self.names:
            self.emitter.release(name)
            return name
        return str(getattr(op.properties.get("var"), "data", None) or op_id(op))

    def _rule(self, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
        if self.depth and isinstance(op, d.CheckOp):
            raise Unsupported("in a branch or loop of the run has no operator of ONNX")
        if any(numpy_dtype(v.type).kind == "c" for v in (*op.operands, *op.results)):
            raise Unsupported("of complex numbers has no operator of ONNX")
        whole = COMPOSITES.get(type(op))
        found = whole(self.emitter, op, values) if whole is not None else None
        if found is not None:
            return found
        sequence = expand(op)
        if not sequence:
            if type(op) not in RULES:
                raise Unsupported("has no operator of ONNX")
            return RULES[type(op)](self.emitter, op, values)
        known = dict(zip(op.operands, values, strict=True))
        for part in sequence:
            made = RULES[type(part)](self.emitter, part, [known[v] for v in part.operands])
            result = part.results[0]
            made = self.emitter.cast(made, numpy_dtype(result.type))
            known[result] = EmittedValue(made.name, made.dtype, shape_of(result.type))
        return known[sequence[-1].results[0]]

    def result(self, every_result: bool) -> OnnxExport:
        """Return the model."""
        program = self.program
        outputs = {name: self._output(name, v) for name, v in zip(program.outputs, program.returned(), strict=True)}
        printed = tuple(tuple(self._shown(v).name for v in operands) for operands in self.printed)
        graph_outputs = {v.name: v for v in (*outputs.values(), *(self._shown(v) for o in self.printed for v in o), *self.checked)}
        results = [self.values[op.results[0]] for op in program.operations() if op.results and op_id(op) in self.tensors]
        inner = {v.name: v for v in results if v.name not in graph_outputs}
        if every_result:
            graph_outputs |= inner
        weights = [a for a in program.arguments if a.kind == "weight"]
        graph = helper.make_graph(
            self.emitter.nodes,
            program.function.sym_name.data,
            [_argument(a) for a in program.inputs],
            [_info(v) for v in graph_outputs.values()],
            [TensorProto(name=a.name, data_type=ELEMENT_TYPES[a.dtype.name], dims=list(a.shape)) for a in weights],
            value_info=[] if every_result else [_info(v) for v in inner.values()],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="fleet",
            producer_version=__version__,
        )
        helper.set_model_props(model, {"fleet.program": program.hash})
        arrays = {a.name: program.weights[a.name] for a in weights}
        return OnnxExport(model, arrays, {n: v.name for n, v in outputs.items()}, dict(self.tensors), printed, self.checks)

    def _output(self, name: str, value: SSAValue) -> EmittedValue:
        found = self.values[value]
        if found.name == name and not isinstance(value, BlockArgument):
            return found
        if name in self.names:
            return self.emitter.copy(found, self.emitter.fresh(name))
        return self.emitter.copy(found, name)

    def _shown(self, value: SSAValue) -> EmittedValue:
        """Return a printed value as a value of the graph: an argument or a constant is copied."""
        if value not in self.shown:
            found = self.values[value]
            own = isinstance(value.owner, FleetOp) and op_id(value.owner) in self.tensors
            self.shown[value] = found if own else self.emitter.copy(found, self.emitter.fresh("printed"))
        return self.shown[value]


BODIES: Mapping[type[FleetOp], Callable[..., Sequence[EmittedValue]]] = {
    d.IfOp: _Exporter.if_,
    d.WhileOp: _Exporter.while_,
    d.FusedOp: _Exporter.fused,
}
"""Operation with bodies -> how it is exported."""


def _info(value: EmittedValue) -> ValueInfoProto:
    shape = [f"{value.name}.{i}" if d == UNKNOWN else d for i, d in enumerate(value.shape)]
    return helper.make_tensor_value_info(value.name, ELEMENT_TYPES[value.dtype.name], shape)


def _argument(argument: Argument) -> ValueInfoProto:
    """Return an input; dimensions with one name in the program have one in the graph."""
    names = argument.dims or ("",) * len(argument.shape)
    shape = [
        (n or f"{argument.name}.{i}") if d == UNKNOWN else d for i, (d, n) in enumerate(zip(argument.shape, names, strict=True))
    ]
    return helper.make_tensor_value_info(argument.name, ELEMENT_TYPES[argument.dtype.name], shape)
