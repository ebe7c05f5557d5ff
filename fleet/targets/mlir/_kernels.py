"""One private function for every different computation, because a model repeats itself and compile time grows with function length.

GPT-2's 2,530 operations need 58 functions. As one function, LLVM took more than ten minutes for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue

from fleet.ir.dialect import ConstantOp, FleetOp, ReshapeOp, SizedOp, kind_of
from fleet.ir.expand import expand
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.targets.mlir._emitter import MlirEmitter
from fleet.targets.mlir._movement import refuse

MlirRule: TypeAlias = Callable[[MlirEmitter, FleetOp, Sequence[SSAValue]], SSAValue]

_IDENTITY = frozenset({"id", "var", "at", "covers"})

_NOT_EXPORTED: Mapping[str, str] = {"u": "integers without a sign", "c": "complex numbers"}
"""Kind of a dtype -> what the export lacks."""


class MlirKernels:
    """Calls computations; makes the function of each when it is first needed."""

    def __init__(self, rules: Mapping[type[FleetOp], MlirRule]) -> None:
        self.rules = rules
        self.functions: dict[object, FuncOp] = {}

    def apply(self, e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
        """Return the result of `op` on these values. Numbers, constants and reshapes (which move nothing) need no function."""
        foreign = [numpy_dtype(v.type) for v in (*op.operands, *op.results) if numpy_dtype(v.type).kind in _NOT_EXPORTED]
        if foreign:
            raise refuse(op, f"{kind_of(op)} of {foreign[0]}: {_NOT_EXPORTED[foreign[0].kind]} are not exported")
        if isinstance(op, ConstantOp | ReshapeOp) or not is_tensor(op.results[0].type):
            return self._emit(e, op, values)
        passed = [
            n for n, operand in enumerate(op.operands) if not isinstance(operand.owner, ConstantOp) or is_tensor(operand.type)
        ]
        function = self.functions.get(self._key(op, passed))
        if function is None:
            function = self._function(op, passed, values)
            self.functions[self._key(op, passed)] = function
        call = CallOp(function.sym_name.data, [values[n] for n in passed], [op.results[0].type])
        return e.add(call)

    def _key(self, op: FleetOp, passed: Sequence[int]) -> object:
        """Return everything that the function depends on, including literal numbers; arrays count only by their types."""
        attributes = tuple(sorted((name, str(value)) for name, value in op.properties.items() if name not in _IDENTITY))
        operands = tuple(
            str(v.type) if n in passed or not isinstance(v.owner, ConstantOp) else f"{v.owner.properties['value']} {v.type}"
            for n, v in enumerate(op.operands)
        )
        return op.name, attributes, operands, str(op.results[0].type)

    def _function(self, op: FleetOp, passed: Sequence[int], outer: Sequence[SSAValue]) -> FuncOp:
        name = f"{kind_of(op)}_{len(self.functions)}"
        function = FuncOp(name, ([op.operands[n].type for n in passed], [op.results[0].type]), visibility="private")
        block = function.body.block
        inner = list(outer)
        for n, argument in zip(passed, block.args, strict=True):
            inner[n] = argument
        e = MlirEmitter(block)
        block.add_op(ReturnOp(self._emit(e, op, inner)))
        # LLVM would inline small ones again into the one long function.
        function.attributes["passthrough"] = ArrayAttr([StringAttr("noinline")])
        return function

    def _emit(self, e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
        """Emit the operation's code here: its own, or that of a composite's sequence."""
        try:
            sequence = expand(op) or [op]
        except InferenceError as error:
            raise refuse(op, str(error)) from error
        found = dict(zip(op.operands, values, strict=True))
        for primitive in sequence:
            rule = self.rules.get(type(primitive))
            if rule is None:
                late = isinstance(primitive, SizedOp)
                raise refuse(op, "its sizes are the run's; bind them first, with infer-shapes" if late else "not supported")
            found[primitive.results[0]] = rule(e, primitive, [found[v] for v in primitive.operands])
        return found[sequence[-1].results[0]]
