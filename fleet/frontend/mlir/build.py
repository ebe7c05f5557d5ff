"""Collects a program: arrays that are known now or are values of the program, and operations in one block."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fleet.core.unique import Taken
from fleet.frontend.mlir.text import MlirText
from fleet.ir.arguments import append_argument, erase_arguments
from fleet.ir.build import BlockAppender, make
from fleet.ir.constants import constant
from fleet.ir.dead import drop_dead
from fleet.ir.dialect import OPERATIONS, BinaryOp, ConstantOp, FleetOp, MatmulOp, RegionOp, YieldOp, kind_of
from fleet.ir.program import Argument, Program
from fleet.ir.room import check_results
from fleet.ir.shapes import InferenceError
from fleet.ir.types import element_type, numpy_dtype, shape_of, tensor_type
from fleet.transforms.simplify.canonicalise import canonicalise
from fleet.transforms.simplify.numbers import COMPUTED, folded

MAX_OPERATIONS = 100_000
_MAX_FOLDED = 1 << 16
_ELEMENTWISE = {"where", *(name for name, op in OPERATIONS.items() if issubclass(op, BinaryOp) and op is not MatmulOp)}


class MlirArray:
    """An array of any rank: its elements, where they are known, else a value of the program."""

    __slots__ = ("known", "value")

    def __init__(self, known: np.ndarray | None, value: SSAValue | None) -> None:
        self.known, self.value = known, value

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape."""
        if self.known is not None:
            return self.known.shape
        assert self.value is not None
        return shape_of(self.value.type)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        if self.known is not None:
            return self.known.dtype
        assert self.value is not None
        return numpy_dtype(self.value.type)


class MlirBuild(BlockAppender):
    """A program in the making. What is emitted belongs to the operation of the text that `begin` named."""

    def __init__(self, text: MlirText) -> None:
        self.text = text
        self.block = self._root = Block()
        self.arguments: list[Argument] = []
        self.weights: dict[str, np.ndarray] = {}
        self.at: Operation = text.module
        self._taken, self._named = Taken(), Taken()
        self._constants: dict[tuple[str, Attribute], SSAValue] = {}
        self._made: set[str] = set()
        """Names of the arguments made from constants of the text."""
        self._count = 0

    def argument(self, argument: Argument) -> MlirArray:
        """Append an argument of the program."""
        value = append_argument(self._root, tensor_type(argument.shape, argument.dtype))
        self.arguments.append(argument)
        self._named.add(argument.name)
        _hint(value, argument.name)
        return MlirArray(None, value)

    def known(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> MlirArray:
        """Return an array that is known now."""
        return MlirArray(np.asarray(value, dtype), None)

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Raise ModelError at the operation of the text."""
        self.text.refuse(self.at, what, hint)

    def begin(self, op: Operation) -> None:
        """What is emitted from now on belongs to this operation."""
        self.at = op

    # ---- bodies

    def splice(self, block: Block) -> None:
        """Append the operations of a block that is part of nothing."""
        for op in list(block.ops):
            op.detach()
            self.block.add_op(op)

    def drop(self, block: Block) -> None:
        """Take back what was appended to a block that is part of nothing."""
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase()

    def end_body(self, block: Block, values: Sequence[MlirArray]) -> list[Attribute]:
        """End a body with these values, without what it does not need. Returns their types."""
        given = [self.value(a) for a in values]
        block.add_op(YieldOp(given))
        drop_dead(block)
        return [v.type for v in given]

    def parts(self, op: RegionOp) -> list[MlirArray]:
        """Append an operation with bodies; return the parts of its result."""
        result = self._append(op)
        elements = [make("element", [result], index=i) for i in range(len(op.result.type.types.data))]
        return [MlirArray(None, self._append(e)) for e in elements]

    # ---- operations

    def emit(self, name: str, *operands: MlirArray, **attributes: object) -> MlirArray:
        """Append an operation; compute it now if all of its operands are known and small."""
        if all(a.known is not None for a in operands):
            known = [a.known for a in operands if a.known is not None]
            found = folded(name, known, attributes, COMPUTED, _MAX_FOLDED)
            if found is not None:
                return self.known(found)
        try:
            op = make(name, self._operands(name, operands), **attributes)
        except InferenceError as error:
            self.refuse(str(error))
            raise
        return MlirArray(None, self._append(op))

    def _operands(self, name: str, operands: Sequence[MlirArray]) -> list[SSAValue]:
        """Return the operands' values. Single numbers beside arrays become constants, as in a NumPy source."""
        scalars = name in _ELEMENTWISE and any(a.known is None for a in operands[-2:])
        return [
            self._constant(a.known.item(), element_type(a.dtype))
            if scalars and a.known is not None and a.known.size == 1 and _finite(a.known) and _least(a, operands)
            else self.value(a)
            for a in operands
        ]

    def value(self, array: MlirArray) -> SSAValue:
        """Return the value of the program behind an array."""
        if array.value is None:
            assert array.known is not None
            array.value = self._weight(array.known)
        return array.value

    def _weight(self, array: np.ndarray) -> SSAValue:
        flat = array.reshape(-1)
        uniform = flat.size and flat.tobytes() == flat[:1].tobytes() * flat.size
        if uniform and _finite(flat):
            return self._constant(flat[0].item(), tensor_type(array.shape, array.dtype))
        name = self._named.unique("constant")
        self._made.add(name)
        value = append_argument(self._root, tensor_type(array.shape, array.dtype))
        self.arguments.append(Argument(name, array.shape, array.dtype, "weight"))
        self.weights[name] = np.asarray(array, order="C")
        _hint(value, name)
        return value

    def _constant(self, number: bool | int | float, type_: Attribute) -> SSAValue:
        key = (repr(number), type_)
        if key not in self._constants:
            # In front of all bodies, which make it again: it may be used behind the one that asks first.
            with self.inside(self._root):
                self._constants[key] = self._append(constant(number, type_))
        return self._constants[key]

    def _append(self, op: FleetOp) -> SSAValue:
        self._count += 1
        if self._count > MAX_OPERATIONS:
            self.refuse(f"the program has more than {MAX_OPERATIONS:,} operations", "its loops have too many rounds")
        self.block.add_op(op)
        op.describe(id=self._taken.unique(kind_of(op)), at=self.text.at(self.at))
        return op.results[0]

    # ---- short names

    def reshape(self, a: MlirArray, shape: Sequence[int]) -> MlirArray:
        """`a.reshape(shape)`."""
        return a if a.shape == tuple(shape) else self.emit("reshape", a, shape=tuple(shape))

    def transpose(self, a: MlirArray, order: Sequence[int]) -> MlirArray:
        """`a.transpose(order)`."""
        return a if list(order) == list(range(a.rank)) else self.emit("transpose", a, permutation=tuple(order))

    def broadcast(self, a: MlirArray, shape: Sequence[int]) -> MlirArray:
        """`np.broadcast_to(a, shape)`."""
        return a if a.shape == tuple(shape) else self.emit("broadcast_to", a, shape=tuple(shape))

    def cast(self, a: MlirArray, dtype: npt.DTypeLike) -> MlirArray:
        """`a.astype(dtype)`."""
        dtype = np.dtype(dtype)
        return a if a.dtype == dtype else self.emit("cast", a, dtype=dtype)

    def window(self, a: MlirArray, start: Sequence[int], size: Sequence[int], step: Sequence[int]) -> MlirArray:
        """`size` elements from `start` by `step`, for every dimension."""
        if list(size) == list(a.shape) and not any(start) and all(s == 1 for s in step):
            return a
        return self.emit("slice", a, start=list(start), size=list(size), step=list(step))

    def concat(self, parts: Sequence[MlirArray], axis: int) -> MlirArray:
        """`np.concatenate`, of parts that are not empty."""
        parts = [p for p in parts if p.shape[axis]] or list(parts[:1])
        return parts[0] if len(parts) == 1 else self.emit("concat", *parts, axis=axis)

    # ---- the end

    def program(self, name: str, outputs: Mapping[str, MlirArray], symbols: Mapping[str, int]) -> Program:
        """Return the program that returns these arrays."""
        values = [self.value(a) for a in outputs.values()]
        for wanted, value in zip(outputs, values, strict=True):
            owner = value.owner
            if isinstance(owner, FleetOp) and not isinstance(owner, ConstantOp):
                owner.describe(id=self._taken.unique(wanted), var=wanted, at=getattr(owner.properties.get("at"), "data", None))
        self.block.add_op(ReturnOp(*values))
        drop_dead(self.block)
        self._drop_unused_weights()
        types = ([v.type for v in self.block.args], [v.type for v in values])
        module = ModuleOp([FuncOp(name, types, Region(self.block))])
        program = Program(module, tuple(self.arguments), self.weights, tuple(outputs), "", self.text.name, symbols)
        return check_results(canonicalise(program, copy=False))

    def _drop_unused_weights(self) -> None:
        """Without arrays of the text that only a body had that was taken back."""
        made = [a.name in self._made for a in self.arguments]
        gone = [i for i, value in enumerate(self.block.args) if made[i] and not value.uses]
        for i in reversed(gone):
            del self.weights[self.arguments.pop(i).name]
        erase_arguments(self.block, [self.block.args[i] for i in gone])


def _finite(array: np.ndarray) -> bool:
    return bool(array.dtype.kind != "f" or np.isfinite(array).all())


def _least(a: MlirArray, operands: Sequence[MlirArray]) -> bool:
    """Return whether an array of one element adds no dimension to the result."""
    return a.rank <= max((o.rank for o in operands if o is not a), default=0)


def _hint(value: SSAValue, name: str) -> None:
    text = re.sub(r"\W", "_", name)
    if text.isascii() and not text[:1].isdigit():
        value.name_hint = text
