"""Arrays as values of the IR: operators, calls and prints become operations, one by one."""

from __future__ import annotations

import ast
import contextlib
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays import called, complexes, handlers, sizes
from fleet.frontend.arrays.arguments import bind
from fleet.frontend.arrays.emitting import Emitting, cast
from fleet.frontend.arrays.functions import draws, layout, order, products
from fleet.frontend.arrays.indices import loading, storing
from fleet.frontend.arrays.making import literal
from fleet.frontend.arrays.memory import change, check_writable
from fleet.frontend.arrays.operands import bitwise, convert, elementwise, loop
from fleet.frontend.arrays.parts import element
from fleet.frontend.arrays.signatures import FUNCTIONS, METHODS
from fleet.frontend.arrays.truths import number_of
from fleet.frontend.reading.domain import Index
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import Generator, Method, NumberValue, TextPart, TracedArray, Value, ValueOperand, dimension
from fleet.frontend.reading.wording import numbered, words
from fleet.ir.dialect import OPERATIONS, BinaryOp

_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T", "mT", "flat", "imag", "itemsize", "nbytes", "real", "strides")


class Tracing(Emitting):
    """NumPy's functions on arrays, as operations."""

    # ---- operators

    def binary(self, ev: Evaluator, node: ast.expr, op: str, lhs: ValueOperand, rhs: ValueOperand) -> Value:
        """The operator as an operation; the value itself if both sides are scalars that are known."""
        if complexes.any_complex((lhs, rhs)) and op in ("pow", "matmul"):
            return self._of_complex(ev, node, op, lhs, rhs)
        if op == "matmul":
            return products.matmul(ev, node, lhs, rhs)
        op = bitwise(ev, node, op, lhs, rhs)
        known = [self.known_scalar(v) for v in (lhs, rhs)]
        record = OPERATIONS.get(op)
        if None not in known and record is not None and issubclass(record, BinaryOp):
            with np.errstate(all="ignore"), contextlib.suppress(ValueError, TypeError, OverflowError):
                # Of scalars the operator and the ufunc differ: -0.0 ** 0.5 is 0.0, np.power(-0.0, 0.5) is -0.0.
                value = operator.pow(*known) if op == "pow" else record.compute(known, {})
                return literal(ev, node, value)
        if op == "pow" and _squares_bool(lhs, rhs):
            assert isinstance(lhs, TracedArray)
            squared = self.builder.tensor(node, "cast", [lhs.ssa], dtype=np.dtype(np.int8))
            return self.builder.elementwise(node, "mul", [squared, squared])
        if op == "pow" and _roots_half(lhs, rhs):
            return self.builder.elementwise(node, "sqrt", [lhs])
        if op == "pow" and any(isinstance(v, TracedArray) and not v.scalar for v in (lhs, rhs)):
            return elementwise(ev, node, op, lhs, rhs)
        return self.builder.elementwise(node, op, [lhs, rhs])

    def _of_complex(self, ev: Evaluator, node: ast.expr, op: str, lhs: ValueOperand, rhs: ValueOperand) -> Value:
        """A power or product of complex numbers."""
        if op == "matmul":
            return called.call(ev, node, "numpy.matmul", [lhs, rhs], {})
        name = complexes.power(lhs, rhs)
        if name != "power":
            return called.call(ev, node, f"numpy.{name}", [lhs], {})
        if all(isinstance(v, NumberValue) or v.scalar for v in (lhs, rhs)):
            return self.builder.elementwise(node, op, [lhs, rhs])
        return elementwise(ev, node, op, lhs, rhs)

    @property
    def spent(self) -> str:
        """Advice for a value that is unknown because too much was computed while the source was read; "" below that limit."""
        what = "more than 2^25 elements are computed while the source is read, so only the run knows the rest"
        return f"{what}: decide by fewer of them" if self.values.exhausted else ""

    def elements_of(self, value: TracedArray) -> np.ndarray | None:
        """The elements, computed while the source is read; None also for more than 2^16."""
        return self.values.array(value)

    def literal(self, ev: Evaluator, node: ast.AST, value: np.ndarray | np.generic) -> TracedArray:
        """A weight of the program."""
        return literal(ev, node, value)

    def replace(self, owner: TracedArray, array: np.ndarray) -> None:
        """Replace an entry."""
        assert isinstance(owner, Static)
        owner.replace(array)

    def known_scalar(self, value: ValueOperand) -> Any:
        """The number, or the NumPy scalar that costs nothing to make; None for anything else."""
        if isinstance(value, NumberValue):
            return None if value.symbolic else value.value
        small = value.small() if isinstance(value, Static) and not value.shape else None
        return None if small is None else small[()]

    def unary(self, ev: Evaluator, node: ast.expr, op: str, value: TracedArray) -> Value:
        """The operator as an operation, in dtypes that NumPy takes."""
        if op == "pos":
            loop(ev, node, np.positive, value)  # NumPy refuses truth values
            return TracedArray(value.ssa)
        if op == "invert":
            if value.dtype == np.uint64:  # its largest number is no number of the IR: by way of int64, which has the same bits
                signed = self.unary(ev, node, op, self.builder.tensor(node, "cast", [value.ssa], dtype=np.dtype(np.int64)))
                assert isinstance(signed, TracedArray)
                return self.builder.tensor(node, "cast", [signed.ssa], dtype=value.dtype)
            if value.dtype.kind in "iu":
                ones = NumberValue(-1 if value.dtype.kind == "i" else int(np.iinfo(value.dtype).max))
                return self.binary(ev, node, "bit_xor", value, ones)
            if value.dtype.kind != "b":
                ev.fail("F401", node, f"~ of {words(value)}", "it is for truth values and integers")
            op = "logical_not"
        return self.builder.elementwise(node, op, [value])

    def arithmetic(self, node: ast.expr, op: str, operands: Sequence[NumberValue], value: bool | int | float | None) -> NumberValue:
        """A number of the run as an operation; a known one keeps the formula that gave it."""
        if value is None:
            types = [self.builder.type_of(node, v) for v in operands]
            inputs = [self.builder.number(node, v, f64 if t == f64 else i64) for v, t in zip(operands, types, strict=True)]
            found = NumberValue(None, self.builder.emit(node, op, inputs))
            found.sized = all(v.sized or not v.symbolic for v in operands)
            return found
        return self.builder.arithmetic(node, op, operands, value)

    def update(self, ev: Evaluator, node: ast.AugAssign, op: str, owner: TracedArray, value: ValueOperand) -> Value:
        """Give the array a new value, which every name and view of it sees."""
        target = node.target
        if owner.storage.outside and isinstance(target, ast.Name):
            sign = ast.unparse(node).split("=")[0].split()[-1]
            ev.fail(
                "F504", node, f"`{sign}=` changes an array in place that belongs to whoever calls the model",
                f"write {target.id} = {target.id} {sign} (...)",
            )  # fmt: skip
        check_writable(ev, node, owner)
        if op != "matmul" and isinstance(value, TracedArray) and _may_widen(owner, value):
            value = TracedArray(sizes.broadcasted(ev, node, value, sizes.dims_of(owner)))  # the run refuses what NumPy refuses
        result = self.binary(ev, target, op, owner, value)
        assert isinstance(result, TracedArray)
        if result.shape != owner.shape:
            ev.fail("F301", node, f"an array of shape {owner.shape} cannot be changed in place to shape {result.shape}")
        if not np.can_cast(result.dtype, owner.dtype, "same_kind"):
            ev.fail(
                "F406",
                node,
                f"an array of {owner.dtype} cannot be changed in place to {result.dtype}",
                "make a new array: x = x + y",
            )
        change(ev, node, owner, cast(ev, node, result, owner.dtype).ssa)
        return owner

    # ---- calls

    def call(self, ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Follow the front end's rule for the function; if that refuses the call, emit NumPy's own function."""
        if path.startswith("numpy.random."):
            return draws.call(ev, node, path.removeprefix("numpy.random."), args, keywords)
        if path == "numpy.where" and len(args) == 1 and not keywords:
            return order.nonzero(ev, node, {"a": args[0]})
        called.check_arrays(ev, node, path, args, keywords)
        given = {k: v for k, v in keywords.items() if not called.is_default(path, k, v)}
        if path not in FUNCTIONS or complexes.by_numpy(path, args, given):
            return called.call(ev, node, path, args, given)
        try:
            bound = bind(ev, node, path.replace("numpy", "np", 1), FUNCTIONS[path], args, given)
            return handlers.handle(ev, node, FUNCTIONS[path].handler, bound)
        except SourceError as error:
            return self._instead(ev, node, path, args, given, error)

    def method(
        self, ev: Evaluator, node: ast.Call, owner: TracedArray, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """As `call`, with the array as the function's first argument."""
        given = {k: v for k, v in keywords.items() if not called.is_default(name, k, v)}
        path, owned = called.function_of(name, owner, args)
        if name not in METHODS or complexes.by_numpy(path, owned, given):
            return called.call(ev, node, path, owned, given)
        try:
            bound = bind(ev, node, f"`.{name}`", METHODS[name], [owner, *args], given)
            return handlers.handle(ev, node, METHODS[name].handler, bound)
        except SourceError as error:
            return self._instead(ev, node, path, owned, given, error)

    def _instead(
        self, ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value], error: SourceError
    ) -> Value:
        """NumPy's own function in place of a rule that refuses the call.

        If that refuses it too, the rule's error; with `out`, which no rule takes, the function's.
        """
        if not called.instead(error, path):
            raise error
        try:
            return called.call(ev, node, path, args, keywords)
        except SourceError as refused:
            raise (refused if "out" in keywords else error) from refused.__cause__

    def draw(
        self, ev: Evaluator, node: ast.Call, owner: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """A recipe at its place in the stream; nothing is drawn."""
        return draws.draw(ev, node, owner.stream, name, args, keywords)

    def single(self, ev: Evaluator, node: ast.AST, value: TracedArray) -> Value:
        """An operation that takes the number from the draw."""
        return number_of(ev, node, value)

    def drawn(self, made: Static) -> TracedArray:
        """The recipe itself: operations on it stay in the program."""
        return made

    def attribute(self, ev: Evaluator, node: ast.Attribute, owner: TracedArray) -> Value:
        """A number, a dtype, a view or a method of the array."""
        match node.attr:
            case "shape":
                return tuple(dimension(owner, i) for i in range(len(owner.shape)))
            case "ndim":
                return NumberValue(len(owner.shape))
            case "size" | "nbytes":
                size = sizes.element_count(ev, node, owner)
                if node.attr == "size":
                    return size
                bytes_ = NumberValue(owner.dtype.itemsize)
                known = None if size.symbolic else int(size.value) * owner.dtype.itemsize
                return NumberValue(known) if known is not None else self.arithmetic(node, "mul", [size, bytes_], None)
            case "itemsize":
                return NumberValue(owner.dtype.itemsize)
            case "dtype":
                return owner.dtype
            case "strides":
                return tuple(map(NumberValue, layout.strides(ev, node, owner)))
            case "real" if owner.dtype.kind != "c":
                return owner
            case "real":
                return called.call(ev, node, "numpy.real", [owner], {})
            case "imag":
                return called.call(ev, node, "numpy.imag", [owner], {})
            case "flat":
                return owner.view(sizes.flat(ev, node, owner).ssa, scalar=False, where="always")
            case "mT" if len(owner.shape) > 1:
                last = len(owner.shape) - 1
                order = [*range(last - 1), last, last - 1]
                return owner.view(self.builder.emit(node, "transpose", [owner.ssa], permutation=order))
            case "T" if owner.scalar:
                return owner
            case "T":
                order = list(reversed(range(len(owner.shape))))
                return owner.view(self.builder.emit(node, "transpose", [owner.ssa], permutation=order))
            case "tobytes":
                return Method(owner, "tobytes")
            case name if name in (METHODS.keys() | called.METHODS) and not (name == "dot" and owner.scalar):  # which scalars lack
                return Method(owner, name)
            case name:
                supported = ", ".join(sorted({*METHODS, *called.METHODS, *_ATTRIBUTES}))
                return ev.fail("F206", node, f"arrays have no supported attribute `{name}`", f"supported are {supported}")

    def convert(self, ev: Evaluator, node: ast.expr, value: Value, dtype: np.dtype) -> Value:
        """A cast; a NumPy scalar if the value has no dimensions."""
        found = convert(ev, node, value, dtype)
        return found if found.shape else TracedArray(found.ssa)

    # ---- parts

    def load(self, ev: Evaluator, node: ast.Subscript, owner: TracedArray, index: Index) -> Value:
        """A view of the array, or what a gather takes out of it."""
        return loading.load(ev, node, owner, index)

    def store(self, ev: Evaluator, node: ast.expr, owner: TracedArray, index: Index, value: Value) -> None:
        """Give the array a new value, which every name and view of it sees."""
        storing.store(ev, node, owner, index, value)

    def elements(self, ev: Evaluator, node: ast.expr, owner: TracedArray) -> Iterator[Value]:
        """One view for each element. SourceError F510 if only the run knows how many there are."""
        if owner.shape[0] < 0:
            ev.unknown(node, "a loop over a dimension whose size only the run knows")
        for i in range(owner.shape[0]):
            yield element(ev, node, owner, i)

    def known(self, owner: TracedArray) -> bool | int | float | None:
        """The value, computed while the source is read."""
        found = self.values.array(owner) if math.prod(owner.shape) == 1 else None
        return None if found is None else found.item()

    def known_number(self, value: NumberValue) -> bool | int | float | None:
        """The number, computed while the source is read."""
        if value.ssa is not None:
            found = self.values.of(value.ssa)
            return None if found is None else found.item()
        whole = None if value.dim is None else self.values.of(value.dim[0])
        return None if whole is None or value.dim is None else whole.shape[value.dim[1]]

    # ---- effects and names

    def print(self, ev: Evaluator, node: ast.expr, parts: Sequence[Value], separator: str, end: str) -> None:
        """A print of arrays and numbers, or of a format string and its values."""
        plain = [p for p in parts if isinstance(p, TracedArray | NumberValue)]
        formatted = bool(ev.formatter) and any(isinstance(p, TracedArray) and p.shape for p in parts)
        if len(plain) == len(parts) and parts and (separator, end) == (" ", "\n") and not formatted:
            if not self.muted:
                self.builder.print(node, plain, options=self._options(ev, plain))
            return
        pieces: list[TextPart] = []
        for i, p in enumerate(parts):
            pieces += [separator if i else "", *ev.parts(node, p)]
        template, values = numbered([*pieces, end])
        ev.bounded(node, len(template), "a string")
        if not self.muted:
            self.builder.print(node, values, template, self._options(ev, values))

    def _options(self, ev: Evaluator, values: Sequence[TracedArray | NumberValue]) -> str | None:
        """The options under which arrays are printed, or None if there are no arrays."""
        return ev.printing or None if any(isinstance(v, TracedArray) and v.shape for v in values) else None

    def operations(self) -> int:
        """Operations that the builder has made."""
        return self.builder.count

    def too_many(self, since: int, times: int, *, parted: bool = False) -> bool:
        """As the builder counts, unless all of the operations are known while the source is read."""
        # A round of decisions alone that are known already leaves nothing to the run.
        return self.builder.too_many(since, times, parted=parted) and not all(
            self.values.decided(r) for op in self.builder.recent(since) for r in op.results
        )

    def in_rounds(self, value: SSAValue, rounds: Mapping[SSAValue, tuple[int, int]]) -> tuple[SSAValue, list[bool]] | None:
        """As known values are computed."""
        return self.values.in_rounds(value, rounds)

    def stays_unrolled(self, error: SourceError) -> None:
        """Keep the reason for the message about too many operations."""
        self.builder.unrolled = error.what

    def named(self, value: Value, variable: str, depth: int) -> None:
        """Name the operation after the variable."""
        if isinstance(value, Static) and value.lazy:
            value.note(variable, depth)
        elif isinstance(value, TracedArray):
            self.builder.name(value.ssa, variable, depth)
        elif isinstance(value, NumberValue):
            value.variable = value.variable or (depth, variable)
            if value.ssa is not None:
                self.builder.name(value.ssa, variable, depth)


def _may_widen(owner: TracedArray, value: TracedArray) -> bool:
    """Return whether only the run can say that `value` fits into `owner`."""
    lead = len(owner.shape) - len(value.shape)
    return lead >= 0 and any(o < 0 and v != 1 for o, v in zip(owner.shape[lead:], value.shape, strict=True))


def _squares_bool(lhs: ValueOperand, rhs: ValueOperand) -> bool:
    """`bools ** 2` is numpy.square, the one power that NumPy gives as int8 instead of int64."""
    two = isinstance(rhs, NumberValue) and not rhs.symbolic and type(rhs.value) is int and rhs.value == 2
    return two and isinstance(lhs, TracedArray) and lhs.dtype.kind == "b" and not lhs.scalar


def _roots_half(lhs: ValueOperand, rhs: ValueOperand) -> bool:
    """`halves ** 0.5` is numpy.sqrt; the ufunc of the wider floats sees that itself."""
    root = isinstance(rhs, NumberValue) and not rhs.symbolic and type(rhs.value) is float and rhs.value == 0.5
    return root and isinstance(lhs, TracedArray) and lhs.dtype == np.float16 and not lhs.scalar


def final_values(variables: Mapping[str, Value]) -> dict[str, SSAValue]:
    """The IR value that each variable holds at the end, for those that hold one."""
    found: dict[str, SSAValue] = {}
    for name, value in variables.items():
        if isinstance(value, Static) and value.lazy:
            continue
        if isinstance(value, TracedArray):
            found[name] = value.ssa
        elif isinstance(value, NumberValue):
            if value.ssa is not None:
                found[name] = value.ssa
            elif len(value.constants) == 1:
                found[name] = next(iter(value.constants.values()))
    return found
