"""Functions of MLIR into one program: calls, known loops and conditions are followed; sizes are those of the arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import func, linalg, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from fleet.errors import ModelError
from fleet.frontend.mlir import scalars, tosa
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import as_typed, dtype_of
from fleet.frontend.mlir.loops import MAX_ROUNDS, Nest, nest_of
from fleet.frontend.mlir.reductions import computed
from fleet.frontend.mlir.stablehlo.control import compute as stable
from fleet.frontend.mlir.stablehlo.regions import BY_ELEMENT, LoopBody, LoopTest, StableRegions
from fleet.frontend.mlir.stablehlo.text import StableOperation
from fleet.frontend.mlir.tensors import RULES, number, pad_parts
from fleet.frontend.mlir.text import MlirText
from fleet.frontend.mlir.tosa_text import TosaOperation
from fleet.ir.arguments import isolate
from fleet.ir.dialect import IfOp, WhileOp
from fleet.symbols.dims import Declared

MAX_DEPTH = 64
"""Functions that call functions, and regions in regions."""
_ENDS = (func.ReturnOp, scf.YieldOp, scf.ConditionOp, linalg.ops.YieldOp, tensor.YieldOp)


def function_of(text: MlirText, name: str | None) -> func.FuncOp:
    """Return the function of that name, else the only public one. Raises ModelError."""
    found = {f.sym_name.data: f for f in text.module.walk() if isinstance(f, func.FuncOp) and f.body.blocks}
    public = [n for n, f in found.items() if f.sym_visibility is None or f.sym_visibility.data == "public"]
    if name is None and len(public) == 1:
        return found[public[0]]
    if name is None and "main" in public and any(isinstance(op, StableOperation) for op in found["main"].walk()):
        return found["main"]  # JAX calls it so; comparisons of its sorts may be public too
    if name is None or name not in found:
        what = f"no function @{name}" if name is not None else f"{len(public)} public functions"
        names = ", ".join(found) or "none"
        raise ModelError(what, where=text.name, hint=f"name one, {text.name}:NAME; its functions: {names}")
    return found[name]


def declared(text: MlirText, function: func.FuncOp) -> list[Declared]:
    """Return the function's arguments; unknown dimensions have names of their own."""
    b = MlirBuild(text)
    b.begin(function)
    found: list[Declared] = []
    arguments = function.body.block.args
    for value, name in zip(arguments, text.names(function, len(arguments), r"%([\w.$-]+)\s*:"), strict=True):
        type_: Any = value.type
        dims = type_.get_shape() if isinstance(type_, TensorType) else ()
        shaped = tuple(d if d >= 0 else f"{name}_{i}" for i, d in enumerate(dims))
        found.append(Declared(name, dtype_of(b, type_), shaped))
    return found


class MlirReader:
    """Reads operations into a build."""

    def __init__(self, build: MlirBuild) -> None:
        self.b = build
        self.functions = {f.sym_name.data: f for f in build.text.module.walk() if isinstance(f, func.FuncOp)}
        self._depth = 0
        self._whole = False
        """Inside of what the text says of one element: it is read on whole arrays."""

    def call(self, function: func.FuncOp, arrays: Sequence[MlirArray]) -> list[MlirArray]:
        """Return a function's results for these arguments."""
        if not function.body.blocks:
            self.b.refuse(f"@{function.sym_name.data} has no body", "only functions of this file are called")
        return self.block(function.body.block, arrays, {})

    def _named(self, name: str, arrays: Sequence[MlirArray]) -> list[MlirArray]:
        if name not in self.functions:
            self.b.refuse(f"no function @{name}", "only functions of this file are called")
        return self.call(self.functions[name], arrays)

    def block(self, block: Block, arrays: Sequence[MlirArray], outer: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        """Return what the last operation of a block gives."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.b.refuse(f"regions and calls are nested more than {MAX_DEPTH} deep")
        values = dict(outer) | dict(zip(block.args, arrays, strict=True))
        try:
            for op in block.ops:
                self.b.begin(op)
                if isinstance(op, _ENDS) or op.name == "stablehlo.return":
                    return [values[v] for v in op.operands]
                values.update(zip(op.results, self._read(op, values), strict=True))
        finally:
            self._depth -= 1
        self.b.refuse(f"a block that ends with {op.name if (op := block.last_op) else 'nothing'}")
        raise AssertionError

    def _for_elements(self, block: Block, arrays: Sequence[MlirArray], outer: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        """Return what a block that says what is done to one element gives for whole arrays."""
        before, self._whole = self._whole, True
        try:
            return self.block(block, arrays, outer)
        finally:
            self._whole = before

    def _read(self, op: Operation, values: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        name = scalars.name_of(op)
        return as_typed(self.b, op, name, self._results(op, name, values))

    def _results(self, op: Operation, name: str, values: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        b, operands = self.b, [values[v] for v in op.operands]
        if name in RULES:
            return [RULES[name](b, op, *operands)]
        if isinstance(op, StableOperation):
            block = partial(self._for_elements if name.partition(".")[2] in BY_ELEMENT else self.block, outer=values)
            regions = StableRegions(b, block, self._named, self._rolled, self._chosen_of, whole=self._whole)
            return stable(regions, op, operands)
        if isinstance(op, TosaOperation):
            return [tosa.compute(b, op, operands)]
        if name.startswith(("arith.", "math.")):
            return [scalars.compute(b, op, operands)]
        if isinstance(op, LinalgStructuredOperation):
            return computed(nest_of(b, op, values.__getitem__))
        if isinstance(op, linalg.ops.ReduceOp):
            return computed(_reduce_nest(b, op, values))
        if isinstance(op, func.CallOp):
            return self._named(op.callee.string_value(), operands)
        if isinstance(op, tensor.PadOp):
            array, (low, high), filler = pad_parts(b, op, operands)
            value = values.get(filler)
            if value is None:
                (value,) = self.block(op.regions[0].block, [b.known(0, np.int64)] * array.rank, values)
            return [b.emit("pad", array, value, low=low, high=high)]
        if isinstance(op, scf.ForOp):
            return self._for(op, operands, values)
        if isinstance(op, scf.IfOp):
            return self._if(op, operands[0], values)
        if isinstance(op, scf.WhileOp):
            return self._while(op, operands, values)
        b.refuse(f"{name} is not read", "lower or raise it to linalg on tensors: `fleet help mlir` lists what is read")
        raise AssertionError

    def _for(self, op: scf.ForOp, operands: Sequence[MlirArray], values: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        b = self.b
        low, high, step = (number(b, a, "a bound of a loop") for a in operands[:3])
        if step < 1:
            b.refuse(f"a loop with step {step}")
        rounds = range(low, high, step)
        dtype = dtype_of(b, op.lb.type)
        carried = list(operands[3:])
        if len(rounds) > MAX_ROUNDS:
            return self._counted(op, rounds, [b.known(low, dtype), *carried], values)
        for at in rounds:
            carried = self.block(op.body.block, [b.known(at, dtype), *carried], values)
            b.begin(op)
        return carried

    def _counted(
        self, op: scf.ForOp, rounds: range, state: Sequence[MlirArray], values: Mapping[SSAValue, MlirArray]
    ) -> list[MlirArray]:
        """Make a loop of the run of too many rounds to follow. state: place of the first round, and what is carried."""
        b = self.b

        def test(now: Sequence[MlirArray]) -> MlirArray:
            return b.emit("less", now[0], b.known(rounds.stop, now[0].dtype))

        def body(now: Sequence[MlirArray]) -> list[MlirArray]:
            following = self.block(op.body.block, now, values)
            return [b.emit("add", now[0], b.known(rounds.step, now[0].dtype)), *following]

        return self._rolled(op, state, test, body)[1:]

    def _while(self, op: scf.WhileOp, state: Sequence[MlirArray], values: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        """Make a loop of the run; follow the rounds where that needs what only a known round says."""
        first, second = op.before_region.block, op.after_region.block

        def tested(now: Sequence[MlirArray]) -> tuple[MlirArray, list[MlirArray]]:
            condition, *given = self.block(first, now, values)
            return condition, given

        try:
            state = self._rolled(op, state, lambda now: tested(now)[0], lambda now: self.block(second, tested(now)[1], values))
            return tested(state)[1]
        except ModelError as error:
            for _ in range(MAX_ROUNDS):
                condition, given = tested(state)
                if condition.known is None:
                    raise error from None
                if not condition.known.item():
                    return given
                state = self.block(second, given, values)
            self.b.begin(op)
            self.b.refuse(f"a loop of more than {MAX_ROUNDS:,} rounds, which must be followed one by one: {error.what}", error.hint)
            raise

    def _rolled(self, op: Operation, state: Sequence[MlirArray], test: LoopTest, body: LoopBody) -> list[MlirArray]:
        """Make a loop of the run. Raises ModelError, with nothing made, for a body that changes shapes."""
        b = self.b
        start = [b.value(a) for a in state]
        blocks = [Block(arg_types=[v.type for v in start]) for _ in range(2)]
        ended: list[list[Attribute]] = []
        try:
            for block, values_of in zip(blocks, (lambda now: [test(now)], body), strict=True):
                with b.inside(block):
                    ended.append(b.end_body(block, values_of([MlirArray(None, v) for v in block.args])))
                b.begin(op)
            if ended[1] != [v.type for v in start]:
                b.refuse("a loop whose rounds change the shape of what they carry")
        except ModelError:
            for block in blocks:
                b.drop(block)
            raise
        return b.parts(WhileOp(start, isolate(blocks), *blocks))

    def _if(self, op: scf.IfOp, condition: MlirArray, values: Mapping[SSAValue, MlirArray]) -> list[MlirArray]:
        """Follow the branch that is known, else choose in the run."""
        ways = [region.block for region in (op.true_region, op.false_region) if region.blocks]
        if condition.known is not None:
            taken = ways[0 if condition.known.item() else 1 :][:1]
            return self.block(taken[0], [], values) if taken and (op.results or len(taken[0].ops)) else []
        if not op.results:
            return []
        yes, no = (lambda way=way: self.block(way, [], values) for way in ways)
        return self._chosen_of(op, condition, yes, no)

    def _chosen_of(
        self, op: Operation, condition: MlirArray, yes: Callable[[], list[MlirArray]], no: Callable[[], list[MlirArray]]
    ) -> list[MlirArray]:
        """Compute both branches, which changes nothing else, and choose between their results.

        A branch with a loop of the run, which may have no end where the other is meant, is computed only if it is chosen.
        """
        b, blocks, found = self.b, [Block(), Block()], list[list[MlirArray]]()
        for block, way in zip(blocks, (yes, no), strict=True):
            with b.inside(block):
                found.append(way())
        b.begin(op)
        if any(isinstance(o, WhileOp) for block in blocks for o in block.walk()):
            for x, y in zip(*found, strict=True):
                self._alike(x, y)
            for block, arrays in zip(blocks, found, strict=True):
                b.end_body(block, arrays)
            return b.parts(IfOp(b.value(condition), isolate(blocks), *blocks))
        for block in blocks:
            b.splice(block)
        return [self._chosen(condition, x, y) for x, y in zip(*found, strict=True)]

    def _alike(self, x: MlirArray, y: MlirArray) -> None:
        if x.shape != y.shape:
            self.b.refuse(f"branches of shapes {list(x.shape)} and {list(y.shape)}, between which data decide")

    def _chosen(self, condition: MlirArray, x: MlirArray, y: MlirArray) -> MlirArray:
        self._alike(x, y)
        return self.b.emit("where", self.b.broadcast(condition, x.shape), x, y)


def _reduce_nest(b: MlirBuild, op: linalg.ops.ReduceOp, values: Mapping[SSAValue, MlirArray]) -> Nest:
    """Return the loops of a `linalg.reduce`."""
    half = len(op.operands) // 2
    inputs, outputs = (tuple(values[v] for v in group) for group in (op.operands[:half], op.operands[half:]))
    rank = inputs[0].rank
    dims: Any = op.dimensions
    reduced = tuple(int(v) for v in dims.get_values())
    kept = [n for n in range(rank) if n not in reduced]
    out = AffineMap(rank, 0, tuple(AffineExpr.dimension(n) for n in kept))
    maps = (*(AffineMap.identity(rank) for _ in inputs), *(out for _ in outputs))
    return Nest(b, inputs[0].shape, reduced, inputs, outputs, maps, op.regions[0].block, values.__getitem__)
