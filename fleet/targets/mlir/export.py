"""IR -> upstream dialects (func, tensor, linalg, arith, math, scf); `fleet.frontend.mlir` reads them.

The model becomes the function `fleet_<name>`, which calls one private function for every different computation. Its arguments are
the model's in their order, weights included. It returns the model's outputs and then the printed values, each value once
(`MlirExport` maps results to their meaning). All results are tensors. Composite operations are expanded to the textbook sequence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, SSAValue

from fleet.core.unique import Taken
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, PrintOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.targets.mlir import _elementwise as elementwise
from fleet.targets.mlir import _movement as movement
from fleet.targets.mlir import _orders as orders
from fleet.targets.mlir import _products as products
from fleet.targets.mlir import _reductions as reductions
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._bodies import MlirBodies
from fleet.targets.mlir._emitter import MlirEmitter
from fleet.targets.mlir._kernels import MlirKernels, MlirRule

RULES: Mapping[type[FleetOp], MlirRule] = {
    **dict.fromkeys((*scalar.BINARY, *scalar.UNARY), elementwise.elementwise),
    **dict.fromkeys(
        (d.ReduceSumOp, d.ReduceProdOp, d.ReduceMaxOp, d.ReduceMinOp, d.ReduceAnyOp, d.ReduceAllOp, d.MeanOp, d.VarOp),
        reductions.reduction,
    ),
    d.ArgmaxOp: reductions.arg_reduction,
    d.ArgminOp: reductions.arg_reduction,
    d.CumsumOp: reductions.cumsum,
    d.WhereOp: elementwise.where,
    d.CastOp: elementwise.cast_op,
    d.ConstantOp: elementwise.constant_op,
    d.MatmulOp: products.matmul,
    d.EinsumOp: products.einsum,
    d.TransposeOp: movement.transpose,
    d.ReshapeOp: movement.reshape,
    d.SliceOp: movement.slice_,
    d.GatherOp: movement.gather,
    d.ConcatOp: movement.concat,
    d.BroadcastToOp: movement.broadcast_to,
    d.PadOp: movement.pad,
    d.DimOp: movement.dim,
    d.ItemOp: movement.item,
    d.ArgsortOp: orders.argsort,
    d.ScatterOp: orders.scatter,
}


_LONG = 256
"""From this number of operations on, the model's function is not optimised."""


@dataclass(frozen=True)
class MlirExport:
    """The result of `export_mlir`.

    Attributes:
        module: the model's function, and the private ones that it calls, one for every different computation.
        entry: the model's function.
        outputs: output name -> number of the function's result.
        printed: for every `print`, its operands' results, in program order.
        tensors: operation id -> number of the result, for the requested operations.
    """

    module: ModuleOp
    entry: str
    outputs: Mapping[str, int]
    printed: tuple[tuple[int, ...], ...]
    tensors: Mapping[str, int]

    def text(self) -> str:
        """Return MLIR text for `mlir-opt`."""
        return str(self.module) + "\n"


def export_mlir(program: Program, *, every_result: bool = False) -> MlirExport:
    """Export a program, after any pass.

    Args:
        program: from a front end or a pass.
        every_result: also return the result of every operation (for traces).

    Raises:
        DeviceError: an operation cannot be expressed; names its id and place.
    """
    source = program.function
    name = "fleet_" + (re.sub(r"\W", "_", source.sym_name.data).strip("_") or "main")
    function = FuncOp(name, ([v.type for v in source.body.block.args], []))
    block = function.body.block
    e = MlirEmitter(block)
    taken = Taken()
    for argument, value in zip(program.arguments, block.args, strict=True):
        # Whole: xDSL's own `name_hint` would cut the number off `w_1`, and `w` and `w_1` could change places.
        value._name = taken.unique(re.sub(r"[^\w.$-]", "_", argument.name, flags=re.A), "_")  # pyright: ignore[reportPrivateUsage]
    results, kernels = _Results(e), MlirKernels(RULES)
    bodies = MlirBodies(e, kernels, dict(zip(source.body.block.args, block.args, strict=True)))
    printed: list[tuple[int, ...]] = []
    tensors: dict[str, int] = {}
    for op in program.operations():
        if isinstance(op, PrintOp):
            printed.append(tuple(results.number(bodies.values[v]) for v in op.operands))
            continue
        value = bodies.apply(op)
        if every_result and value is not None:
            tensors[op_id(op)] = results.number(value)
    outputs = {n: results.number(bodies.values[v]) for n, v in zip(program.outputs, program.returned(), strict=True)}
    block.add_op(ReturnOp(*results.values))
    for body in (block, *(f.body.block for f in kernels.functions.values())):
        _drop_unused_constants(body)
    function.update_function_type()
    function.attributes["llvm.emit_c_interface"] = UnitAttr()
    if len(block.ops) > _LONG:
        # It only calls and frees: optimising it gains nothing, and LLVM's time grows faster than its length.
        function.attributes["passthrough"] = ArrayAttr([StringAttr("noinline"), StringAttr("optnone")])
    # Weights are shared, and may be mapped from a file: they must not be overwritten.
    kept = DictionaryAttr({"bufferization.writable": BoolAttr.from_bool(False)})
    if block.args:
        function.arg_attrs = ArrayAttr([kept if is_tensor(v.type) else DictionaryAttr({}) for v in block.args])
    return MlirExport(ModuleOp([*kernels.functions.values(), function]), name, outputs, tuple(printed), tensors)


class _Results:
    """The function's results, each value once."""

    def __init__(self, e: MlirEmitter) -> None:
        self.e = e
        self.values: list[SSAValue] = []
        self._numbers: dict[SSAValue, int] = {}

    def number(self, value: SSAValue) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(self._own(value))
        return self._numbers[value]

    def _own(self, value: SSAValue) -> SSAValue:
        """Return a tensor in its own buffer: the caller frees every result, and must not free one twice, or an argument."""
        if not is_tensor(value.type):
            return movement.lone(self.e, value)
        # UnregisteredOp is a reshape; what a loop or decision gives may be what it was given.
        shares = isinstance(value, BlockArgument) or isinstance(value.owner, UnregisteredOp | scf.IfOp | scf.WhileOp)
        if not shares:
            return value
        return movement.copied(self.e, value, self.e.empty(numpy_dtype(value.type), self.e.dims(value), value.type))


def _drop_unused_constants(block: Block) -> None:
    for op in list(block.walk()):
        if isinstance(op, ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
