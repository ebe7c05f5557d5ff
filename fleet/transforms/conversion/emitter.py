"""The emitter of a graph's lowerings, and the program of one step that it builds (described in `to_program`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.errors import ModelError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode, VarNode
from fleet.ir.arguments import append_argument
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.operations.operation import FleetOp
from fleet.ir.program import Argument, Program
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import shape_of, tensor_type
from fleet.ir.weights import Weights
from fleet.transforms.conversion.weights import GraphWeights

MASK = "mask"
_F32 = np.dtype(np.float32)


@dataclass(frozen=True)
class GraphCache:
    """A cache of the graph: its node's name, its argument, its result, and (kv_heads, D)."""

    node: str
    argument: str
    result: str
    heads: int
    channels: int


@dataclass(frozen=True)
class Table:
    """A rotary table: its arguments, and [positions, pairs] of which a step gets the rows of its positions."""

    cos: str
    sin: str
    cosines: np.ndarray
    sines: np.ndarray


@dataclass(frozen=True)
class StepProgram:
    """A program of one step.

    Attributes:
        program: as described in `to_program`.
        tokens: new tokens; past: slots of the caches that it takes, None for any number.
        masked: whether it has the argument "mask". caches: in the order of the graph. tables: rotary tables, each once.
        outputs: names of the graph's results.
        nodes: names of the graph's calls that have their own value in the program (views have none).
    """

    program: Program
    tokens: int
    past: int | None
    masked: bool
    caches: tuple[GraphCache, ...]
    tables: tuple[Table, ...]
    outputs: tuple[str, ...]
    nodes: tuple[str, ...]


Lowering = Callable[["GraphEmitter", OperatorCall, Sequence[SSAValue]], "SSAValue | tuple[SSAValue, ...]"]
"""Emits a call, given its arguments' values in order (the value of a `ConstantNode` is unused: use its argument)."""


class GraphEmitter:
    """The builder into which lowerings emit.

    Attributes:
        tokens, past: of the step; past is -1 if unknown. masked: whether scores get a mask.
        weights: the constants' arrays.
    """

    def __init__(self, tokens: int, past: int, masked: bool, weights: GraphWeights, name: str) -> None:
        self.tokens, self.past, self.masked, self.weights, self.name = tokens, past, masked, weights, name
        self.block = Block()
        self._arguments: list[Argument] = []
        self._values: dict[str, SSAValue] = {}
        self._of: dict[Node, SSAValue | tuple[SSAValue, ...]] = {}
        self._entries: dict[str, Any] = {}
        self._caches: list[tuple[GraphCache, SSAValue]] = []
        self._tables: dict[str, Table] = {}
        self._names: set[str] = set()
        self._node, self._count, self._parts = "", 0, 0
        self._named: list[str] = []

    # ---- for lowerings

    def emit(self, operation: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """Emit one operation with `fleet.ir.build.make`. Raises ModelError naming the node if the operands do not fit."""
        try:
            op = make(operation, operands, **attributes)
        except InferenceError as error:
            raise self.failed(str(error)) from error
        return self._append(op)

    def number(self, value: float, dtype: Any = np.float32) -> SSAValue:
        """Emit a scalar constant (a tensor of rank 0)."""
        return self._append(constant(value, tensor_type((), np.dtype(dtype))))

    def failed(self, what: str) -> ModelError:
        """Return the error with the node that is being lowered."""
        return ModelError(what, where=f"{self.name}, node {self._node}")

    def array(self, node: Node) -> np.ndarray:
        """Return the data of a small constant, float32 (for matrices use `matrix`)."""
        if not isinstance(node, ConstantNode):
            raise self.failed("an argument that must be a constant is not")
        return self.weights.array(node)

    def matrix(self, node: Node) -> SSAValue:
        """Return a weight matrix (CHin, CHout); it is stored transposed, which NumPy and RISC-V read faster for few tokens."""
        if not isinstance(node, ConstantNode):
            raise self.failed("the second argument of a product must be a constant")
        recipe = self.weights.matrix(node)
        name = node.label or "weight"
        stored = self._argument(name, recipe.shape, _F32, "weight")
        self._entries[name] = recipe
        return self.emit("transpose", stored, permutation=[1, 0])

    def weight(self, name: str, array: np.ndarray) -> SSAValue:
        """Add a small array to the program under its own name."""
        if name not in self._values:
            self._entries[name] = np.asarray(array, order="C")
        return self._argument(name, array.shape, array.dtype, "weight")

    def mask(self) -> SSAValue:
        """The additive attention mask, an input [tokens, past + tokens] in float32."""
        return self._argument(MASK, (self.tokens, UNKNOWN if self.past < 0 else self.past + self.tokens), _F32, "input")

    def cached(self, rows: SSAValue) -> SSAValue:
        """Return the past contents of this node's cache followed by `rows` [kv_heads, tokens, D]."""
        heads, _, channels = shape_of(rows.type)
        cache = GraphCache(self._node, f"{self._node}.past", self._node, heads, channels)
        past = self._argument(cache.argument, (heads, self.past, channels), _F32, "input", ("", "past", ""))
        self._caches.append((cache, rows))
        return self.emit("concat", past, rows, axis=1)

    def angles(self, name: str, table: np.ndarray) -> tuple[SSAValue, SSAValue]:
        """Cosines and sines of the step's positions, [tokens, pairs]. table: [2, positions, pairs]."""
        if name not in self._tables:
            cosines, sines = (np.ascontiguousarray(rows, np.float32) for rows in table)
            self._tables[name] = Table(f"{name}.cos", f"{name}.sin", cosines, sines)
        found = self._tables[name]
        shape = (self.tokens, found.cosines.shape[1])
        return self._argument(found.cos, shape, _F32, "input"), self._argument(found.sin, shape, _F32, "input")

    # ---- nodes

    def add(self, node: Node, lowerings: Mapping[type[OperatorCall], Lowering]) -> None:
        """Lower one node, after its arguments."""
        match node:
            case VarNode():
                self._of[node] = self._variable(node)
            case TupleItemNode():
                values = self._of[node.source]
                if not isinstance(values, tuple) or not 0 <= node.index < len(values):
                    raise ModelError(f"no result {node.index}", where=f"{self.name}, node {node.source.label}")
                self._of[node] = values[node.index]
            case OperatorCall():
                self._of[node] = self._call(node, lowerings)
            case _:
                pass

    def _variable(self, node: VarNode) -> SSAValue:
        *lead, middle, channels = node.shape
        if not isinstance(channels, int) or not all(isinstance(d, int) for d in lead) or node.label is None:
            raise ModelError("expected a name and a shape (heads, token, channels)", where=f"{self.name}, variable {node.label}")
        heads = [d for d in lead if isinstance(d, int) and d != 1]
        tokens = middle if isinstance(middle, int) else self.tokens
        return self._argument(node.label, (*heads, tokens, channels), _F32, "input")

    def _call(self, node: OperatorCall, lowerings: Mapping[type[OperatorCall], Lowering]) -> SSAValue | tuple[SSAValue, ...]:
        kind = node.op.rsplit(".", 1)[-1]
        self._node, self._parts = node.label or f"{kind}.{self._count}", 0
        self._count += 1
        if type(node) not in lowerings:
            raise self.failed(f"operator {node.op} has no meaning in a program")
        operands = [self._operand(a) for a in node.args]
        last = self.block.last_op
        result = lowerings[type(node)](self, node, operands)
        made = self.block.last_op
        main = result[0] if isinstance(result, tuple) and not node.VIEW else result
        if isinstance(main, SSAValue) and made is not last and isinstance(main.owner, FleetOp):
            if self._node in self._names:
                raise self.failed("two nodes of one name")
            main.owner.describe(id=self._node)
            self._names.add(self._node)
            self._named.append(self._node)
        return result

    def _operand(self, node: Node) -> Any:
        if isinstance(node, ConstantNode):
            return None
        value = self._of[node]
        if isinstance(value, tuple):
            raise self.failed("an argument with several results: take one by its index")
        return value

    def _append(self, op: FleetOp) -> SSAValue:
        self._parts += 1
        op.describe(id=f"{self._node}/{self._parts}")
        self.block.add_op(op)
        return op.results[0]

    def _argument(self, name: str, shape: Sequence[int], dtype: np.dtype, kind: str, dims: tuple[str, ...] = ()) -> SSAValue:
        if name not in self._values:
            self._arguments.append(Argument(name, tuple(shape), dtype, kind, dims if UNKNOWN in shape else ()))
            self._values[name] = append_argument(self.block, tensor_type(shape, dtype))
        elif shape_of(self._values[name].type) != tuple(shape):
            raise self.failed(f"{kind} {name} is there already with another shape")
        return self._values[name]

    def finish(self, results: dict[str, Node], past: int | None) -> StepProgram:
        """Finish the program."""
        outputs: dict[str, SSAValue] = {}
        for name, node in results.items():
            value = self._of.get(node)
            if not isinstance(value, SSAValue):
                raise ModelError("its result is no tensor", where=f"{self.name}, result {name}")
            outputs[name] = value
        outputs |= {cache.result: rows for cache, rows in self._caches}
        self.block.add_op(ReturnOp(*outputs.values()))
        types = [a.type for a in self.block.args], [v.type for v in outputs.values()]
        module = ModuleOp([FuncOp("main", types, Region(self.block))])
        program = Program(module, tuple(self._arguments), Weights(self._entries), tuple(outputs), source_name=self.name)
        caches = tuple(cache for cache, _ in self._caches)
        tables = tuple(self._tables.values())
        return StepProgram(program, self.tokens, past, MASK in self._values, caches, tables, tuple(results), tuple(self._named))
