"""Emits operations: constants of the right dtype, places, and in the end each operation's identity."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from xdsl.dialects.builtin import StringAttr, f64, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fleet.core.unique import Taken
from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.values import NumberValue, TracedArray
from fleet.ir.build import BlockAppender, make
from fleet.ir.constants import constant
from fleet.ir.dialect import DEVICE, OPERATIONS, EinsumOp, FleetOp, MatmulOp, PrintOp, all_operations, name_of
from fleet.ir.refusals import refusal
from fleet.ir.shapes import InferenceError
from fleet.ir.types import element_type, numpy_dtype, tensor_type

MAX_OPERATIONS = 400_000
"""Operations while a source is read, those included that nothing uses because their values are known."""
MAX_USED = 100_000
"""Operations of a program."""
_MAX_PRINTED = 20_000
"""Operations of a loop whose rounds print, which is unrolled where it can be."""
_MAX_UNROLLED = 1_500
"""Operations of a loop without products that are unrolled."""
_MAX_WITH_PRODUCTS = 4_000
"""Operations of a loop with products that are unrolled."""
_MAX_FORMULA = 16
"""Numbers computed out of more others than this are constants of the program; `i += 1` in a loop would never end."""
_CODES: Mapping[str, str] = {
    "matmul": "F302", "einsum": "F311", "reshape": "F303", "concat": "F304", "transpose": "F307", "cast": "F403",
    "gather": "F405", "reduce_sum": "F305", "reduce_prod": "F305", "reduce_max": "F309", "reduce_min": "F309", "mean": "F305",
    "argmax": "F309", "argmin": "F309", "cumsum": "F305",
}  # fmt: skip
_COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
_HINT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


class Builder(BlockAppender):
    """Appends to one block. Every failure is a SourceError at the node that asked for the operation."""

    def __init__(self, source: SourceText, block: Block) -> None:
        self.source = source
        self.block = block
        self._names: dict[FleetOp, tuple[int, str]] = {}
        self._dims: dict[tuple[SSAValue, int], SSAValue] = {}
        self._count = 0
        self.device = ""
        """Where the source wants operations to run; empty: it says nothing."""
        self.unrolled: str | None = None
        """Why the last long loop could not become a loop of the run."""
        self._undone: list[list[Callable[[], object]]] = []
        """What to take back at the end of each open body."""

    @contextmanager
    def within(self, block: Block) -> Generator[None]:
        """Appends to a body. Values that numbers got in it are forgotten behind it: nothing outside can see them."""
        outer, dims = self.block, self._dims
        self.block, self._dims = block, dict(dims)
        self._undone.append([])
        try:
            yield
        finally:
            self.block, self._dims = outer, dims
            for undo in reversed(self._undone.pop()):
                undo()

    def discard(self, block: Block, count: int) -> None:
        """Remove the operations of a body that is not needed; count: operations before it."""
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase(safe_erase=False)
        self._count = count

    @property
    def count(self) -> int:
        """Operations so far."""
        return self._count

    def recent(self, since: int) -> list[Operation]:
        """The operations of this body since there were `since`, latest first."""
        found: list[Operation] = []
        op = self.block.last_op
        while op is not None and len(found) < self._count - since:
            found.append(op)
            op = op.prev_op
        return found

    def too_many(self, since: int, times: int, *, parted: bool = False) -> bool:
        """True if repeating the operations after the first `since` for `times` rounds exceeds the limit for unrolling.

        Rounds with products are for devices, whose patterns do not look into bodies, and what is printed in a body not every
        target can show: the former stay apart longer than others, the latter as long as they can, unless they are `parted`
        from those that do not print.
        """
        own = self._count - since
        if self._count + own * times > min(_MAX_PRINTED, MAX_OPERATIONS):
            return True
        if own * times <= _MAX_UNROLLED:
            return False
        kinds = {type(inner) for op in self.recent(since) for inner in (op, *(o for r in op.regions for o in r.walk()))}
        if PrintOp in kinds and not parted:
            return False
        return own * times > _MAX_WITH_PRODUCTS or not kinds & {MatmulOp, EinsumOp, PrintOp}

    def _note(self, undo: Callable[[], object]) -> None:
        if self._undone:
            self._undone[-1].append(undo)

    def _give(self, number: NumberValue, value: SSAValue) -> None:
        """The value that a number has from now on, in this body."""
        number.ssa = value
        self._note(lambda: setattr(number, "ssa", None))

    def emit(self, node: ast.AST, name: str, operands: Sequence[SSAValue], **attributes: object) -> SSAValue:
        """One operation on values of the IR; its result."""
        try:
            op = make(name, operands, **attributes)
        except InferenceError as error:
            try:
                self.source.fail(_CODES.get(name, "F301"), node, str(error))
            except SourceError as failed:
                raise failed from refusal(name, [v.type for v in operands], attributes)
        return self.append(node, op).results[0]

    def tensor(self, node: ast.AST, name: str, operands: Sequence[SSAValue], **attributes: object) -> TracedArray:
        """As `emit`, for results that are arrays."""
        return TracedArray(self.emit(node, name, operands, **attributes))

    def elementwise(self, node: ast.AST, name: str, operands: Sequence[TracedArray | NumberValue]) -> TracedArray:
        """A ufunc: numbers become constants of the dtype in which NumPy computes."""
        types = [self.type_of(node, v) for v in operands]
        try:
            dtypes = OPERATIONS[name].compute_types(types)
        except InferenceError as error:
            self.source.fail("F401", node, str(error))
        if name == "pow" and dtypes[1].kind == "i" and isinstance(operands[1], NumberValue) and _negative(operands[1]):
            self.source.fail("F703", node, "integers to negative integer powers are not allowed", "make the base a float")
        if name in _COMPARISONS and (known := _beyond(name, operands, dtypes)) is not None:
            array = next(v.ssa for v in operands if isinstance(v, TracedArray))
            return self.tensor(node, "equal" if known else "not_equal", [array, array])
        scalars = [t if isinstance(v, TracedArray) else element_type(d) for v, t, d in zip(operands, types, dtypes, strict=False)]
        weak = OPERATIONS[name].compute_types(scalars)[-1] == dtypes[-1]  # else the constant must be no Python number
        values = [
            v.ssa if isinstance(v, TracedArray) else
            self.number(node, v) if d.kind == "c" else
            self.number(node, v, element_type(d)) if weak or v.symbolic else self.filled(node, (), v.value, d).ssa
            for v, d in zip(operands, dtypes, strict=False)
        ]  # fmt: skip
        return self.tensor(node, name, values)

    def type_of(self, node: ast.AST, value: TracedArray | NumberValue) -> Attribute:
        """IR type; of a number i32 if it fits, i64, f64 or i1."""
        if isinstance(value, TracedArray):
            return value.ssa.type
        if value.symbolic:
            return i64 if value.ssa is None else value.ssa.type
        match value.value:
            case bool():
                return i1
            case int():
                if not -(1 << 63) <= value.value < 1 << 63:
                    self.source.fail("F605", node, f"the integer {_short(value.value)} needs more than 64 bits")
                return i32 if -(1 << 31) <= value.value < 1 << 31 else i64
            case _:
                return f64

    def number(self, node: ast.AST, number: NumberValue, type_: Attribute | None = None) -> SSAValue:
        """The number as a value of scalar type `type_` (its own by default)."""
        if number.symbolic:
            return self._symbolic(node, number, type_)
        if number.ssa is None and number.origin is not None and type_ in (None, self._own_type(node, number)):
            kind = type(number.value).__name__
            self._give(number, self.emit(number.place or node, "item", [number.origin], number=kind))
        if number.formula is not None and number.ssa is None and type_ in (None, number.formula[2]):
            self._compute(node, number)
        if number.ssa is not None and type_ in (None, number.ssa.type):
            return number.ssa
        type_ = type_ or self.type_of(node, number)
        if type_ not in number.constants:
            number.constants[type_] = self.constant(number.place or node, number.value, type_)
            self._note(lambda: number.constants.pop(type_, None))
            if number.variable is not None:
                depth, variable = number.variable
                self.name(number.constants[type_], variable, depth)
        return number.constants[type_]

    def read_off(self, node: ast.AST, array: SSAValue, value: bool | int | float) -> NumberValue:
        """The number in a one-element array, which is known: structure follows its value, and the run shows its own."""
        number = NumberValue(value, place=node, origin=array)
        self._note(lambda: setattr(number, "origin", None))
        return number

    def _own_type(self, node: ast.AST, number: NumberValue) -> Attribute:
        """Type in which the run computes a number: an integer out of an array is int64."""
        known = self.type_of(node, number)
        return i64 if known == i32 and number.computed else known

    def _symbolic(self, node: ast.AST, number: NumberValue, type_: Attribute | None) -> SSAValue:
        """A number that only the run knows; of one dimension there is one operation."""
        if number.ssa is None:
            assert number.dim is not None
            if number.dim not in self._dims:
                self._dims[number.dim] = self.emit(node, "dim", [number.dim[0]], axis=number.dim[1])
            self._give(number, self._dims[number.dim])
            if number.variable is not None:
                self.name(self._dims[number.dim], number.variable[1], number.variable[0])
        assert number.ssa is not None
        if type_ in (None, number.ssa.type):
            return number.ssa
        assert type_ is not None
        return self.emit(node, "cast", [number.ssa], dtype=numpy_dtype(type_))

    def _compute(self, node: ast.AST, number: NumberValue) -> None:
        """Makes the operation by which the source computes a number."""
        assert number.formula is not None
        name, operands, _ = number.formula
        own = [self._own_type(node, v) for v in (*operands, number)]
        common = f64 if f64 in own[-1:] else i64 if i64 in own else i32
        inputs = [
            self.emit(node, "cast", [self.number(node, v, t)], dtype=numpy_dtype(common))
            if v.computed and t != common else self.number(node, v, common)
            for v, t in zip(operands, own, strict=False)
        ]  # fmt: skip
        self._give(number, made := self.emit(number.place or node, name, inputs))
        if number.variable is not None:
            self.name(made, number.variable[1], number.variable[0])

    def constant(self, node: ast.AST, value: bool | int | float, type_: Attribute) -> SSAValue:
        """A constant of scalar or tensor type."""
        try:
            op = constant(value, type_)
        except InferenceError as error:
            self.source.fail("F402", node, str(error))
        return self.append(node, op).results[0]

    def filled(self, node: ast.AST, shape: Sequence[int], value: bool | int | float, dtype: np.dtype) -> TracedArray:
        """A tensor filled with one number (rank 0: a NumPy scalar)."""
        if dtype.kind == "O":  # NumPy's dtype of an integer beyond 64 bits
            self.source.fail("F605", node, f"the integer {_short(int(value))} needs more than 64 bits")
        if dtype.kind == "c":  # a constant of the IR is real
            part = self.constant(node, complex(value).real, tensor_type(shape, np.float64 if dtype.itemsize == 16 else np.float32))
            return self.tensor(node, "cast", [part], dtype=dtype)
        return TracedArray(self.constant(node, value, tensor_type(shape, dtype)))

    def arithmetic(self, node: ast.AST, name: str, operands: Sequence[NumberValue], value: bool | int | float) -> NumberValue:
        """An operator of Python numbers whose result is `value`; the operation is made when the result is used."""
        length = 1 + sum(v.length for v in operands)
        result = NumberValue(value, place=node, length=length)
        if (isinstance(value, int) and value.bit_length() > 63) or any(_wide(v) for v in operands):
            return result
        if length <= _MAX_FORMULA:
            known = self.type_of(node, result)
            result.formula = name, tuple(operands), i64 if known == i32 and any(v.computed for v in operands) else known
        return result

    def print(
        self, node: ast.AST, values: Sequence[TracedArray | NumberValue], format: str | None = None, options: str | None = None
    ) -> None:
        """`print(...)`; `format` and `options` as in PrintOp."""
        operands = [v.ssa if isinstance(v, TracedArray) else self.number(node, v) for v in values]
        self.append(node, PrintOp(operands, format, options))

    def append(self, node: ast.AST, op: FleetOp) -> FleetOp:
        """The operation, at the end of the block. SourceError F604 for too many."""
        self._count += 1
        if self._count > MAX_OPERATIONS:
            self.source.fail(
                "F604",
                node,
                f"the program has more than {MAX_OPERATIONS} operations",
                "shorten loops, or compute with larger arrays"
                + (f"; a loop is unrolled because {self.unrolled}" if self.unrolled else ""),
            )
        op.describe(id="", at=self.source.at(node))
        if self.device:
            op.attributes[DEVICE] = StringAttr(self.device)
        self.block.add_op(op)
        return op

    def name(self, value: SSAValue, variable: str, depth: int) -> None:
        """Note that `value` is bound to a variable, `depth` calls deep; the outermost and first name stays."""
        op = value.owner
        if isinstance(op, FleetOp) and (op not in self._names or self._names[op][0] > depth):
            self._names[op] = (depth, variable)

    def identify(self, final: Mapping[str, SSAValue]) -> None:
        """Give every operation its id, and `var` if the variable still holds that value when the function returns.

        `final`: the function's own variables at its end; an operation whose variable holds something else by then
        has no `var`, unless a later operation of the same variable does.
        """
        taken = Taken()
        counters: Counter[str] = Counter()
        last = {variable: op for op, (depth, variable) in self._ordered_names() if depth == 0}
        top = dict.fromkeys(self.block.ops)
        for op in [*top, *(op for op in all_operations(self.block) if op not in top)]:  # the plain names are for those outside
            if not isinstance(op, FleetOp):
                continue
            kind = name_of(op).rpartition(".")[2]
            depth, variable = self._names.get(op, (0, ""))
            if variable:
                identity = taken.unique(variable)
            else:
                identity = f"{kind}.{counters[kind]}"
                while identity in taken:
                    counters[kind] += 1
                    identity = f"{kind}.{counters[kind]}"
                counters[kind] += 1
                taken.add(identity)
            at = op.properties["at"]
            holds = last.get(variable) is op and final.get(variable) is op.results[0]
            op.describe(id=identity, var=variable if depth == 0 and variable and holds and op in top else None)
            op.properties["at"] = at
            if variable and op.results and _HINT.match(variable):
                op.results[0].name_hint = variable

    def _ordered_names(self) -> list[tuple[FleetOp, tuple[int, str]]]:
        return [(op, self._names[op]) for op in all_operations(self.block) if isinstance(op, FleetOp) and op in self._names]


def _beyond(name: str, operands: Sequence[TracedArray | NumberValue], dtypes: Sequence[np.dtype]) -> bool | None:
    """Return the result of a comparison with a Python integer that the array's dtype cannot hold; None for other comparisons."""
    for i, (v, dtype) in enumerate(zip(operands, dtypes, strict=False)):
        if dtype.kind not in "iu" or isinstance(v, TracedArray) or v.symbolic or not isinstance(v.value, int):
            continue
        limits = np.iinfo(dtype)
        if not limits.min <= v.value <= limits.max:
            pair = (v.value, 0) if i == 0 else (0, v.value)
            return bool(OPERATIONS[name].compute(pair, {}))
    return None


def _negative(number: NumberValue) -> bool:
    return not number.symbolic and number.value < 0


def _wide(number: NumberValue) -> bool:
    return isinstance(number.value, int) and number.value.bit_length() > 63


def _short(number: int) -> str:
    return str(number) if number.bit_length() < 200 else f"of {number.bit_length()} bits"
