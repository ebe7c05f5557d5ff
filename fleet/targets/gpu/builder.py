"""Makes statements of a language from the calls that the loop level's kernels make of a builder of LLVM IR.

`TextBuilder` has the methods of llvmlite's builder that kernels use, on scalars; `TextFlow` gives it control flow. The outermost
loops of a kernel, whose rounds do not depend on each other, become the work items of a launch, so one operation may take several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llvmlite import ir

from fleet.ir.schedule import MatmulChoice
from fleet.targets.gpu.statements import (
    CallStatement,
    Choice,
    CountedLoop,
    Expression,
    FaultStop,
    Pointer,
    Raw,
    StatementBlock,
    StoreStatement,
    TextOperand,
    When,
    WhileLoop,
)
from fleet.targets.gpu.surface import Surface
from fleet.targets.riscv.isa import DEFAULT_ISA
from fleet.targets.riscv.kernels.kernel import F32, F64, I1, I64, Carried

_SIGNS = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_PROMOTED = 32
"""Bits below which C computes in int, so that a sum or product cannot overflow before it is cast."""


@dataclass(frozen=True)
class LaunchBody:
    """What the work items of one launch do.

    items: how many are needed; groups: how many, if items wait for each other, else None; local: of items of a group, None for the
    usual. block: their statements.
    """

    items: int
    block: StatementBlock
    groups: int | None = None
    local: int | None = None


class TextFlow:
    """Control flow as statements; see `fleet.targets.riscv.kernels.kernel.CodeFlow`.

    launches: most nests of loops whose rounds become work items; those after it run in one work item, in order.
    """

    unrolls = False

    def __init__(self, builder: TextBuilder, launches: int | None) -> None:
        self._b, self._launches = builder, launches
        self._depth = 0
        self.done: list[LaunchBody] = []

    def counted(self, count: int, step: int, init: Carried, body: Callable[[TextOperand, Carried], Carried]) -> Carried:
        """Emit a `for` loop."""
        variable = Expression(I64, None, index=True)
        carried = [Expression(value.type, None) for value in init]
        loop = CountedLoop(count, step, variable, list(init), carried, StatementBlock())
        with self.inside(loop.body):
            loop.after = body(variable, list(carried))
        self._b.add_item(loop)
        return list(carried)

    def unrolled(self, count: int, body: Callable[[TextOperand], None]) -> None:
        """Emit a loop that the compiler writes out."""
        variable = Expression(I64, None, index=True)
        loop = CountedLoop(count, 1, variable, (), (), StatementBlock(), unrolled=-1)
        with self.inside(loop.body):
            body(variable)
        self._b.add_item(loop)

    def spread_out(self, sizes: Sequence[int], body: Callable[[Sequence[TextOperand]], None]) -> bool:
        """Make a launch with a work item for every index; False inside of one, and where rounds must follow each other."""
        if self._depth or self._launches == 0:
            return False
        if self._launches is not None:
            self._launches -= 1
        before = self._b.block
        if before.acts:
            self.done.append(LaunchBody(1, before))
            before = StatementBlock()
        block = StatementBlock([*before.items])
        with self.inside(block):
            body(self._b.indices(self._b.item, sizes))
        self.done.append(LaunchBody(math.prod(sizes), block))
        self._b.block = StatementBlock()
        return True

    def in_groups(self, groups: int, body: Callable[[], None]) -> None:
        """Make a launch of whole groups, whose items may wait for each other."""
        block = StatementBlock()
        with self.inside(block):
            body()
        self.done.append(LaunchBody(groups, block, groups))

    def finish(self) -> list[LaunchBody]:
        """Return the launches; statements outside of loops take one work item."""
        rest = [LaunchBody(1, self._b.block)] if self._b.block.acts else []
        return self.done + rest

    def chosen(self, condition: TextOperand, then: Callable[[], TextOperand], otherwise: TextOperand) -> TextOperand:
        """Emit an `if` that may change a variable."""
        choice = Choice(condition, Expression(otherwise.type, None), otherwise, StatementBlock(), otherwise)
        with self.inside(choice.body):
            choice.value = then()
        self._b.add_item(choice)
        return choice.variable

    def when(self, condition: TextOperand, body: Callable[[], None]) -> None:
        """Emit an `if`."""
        item = When(condition, StatementBlock())
        with self.inside(item.body):
            body()
        self._b.add_item(item)

    def repeated(
        self, init: TextOperand, holds: Callable[[TextOperand], TextOperand], step: Callable[[TextOperand], TextOperand]
    ) -> TextOperand:
        """Emit an endless `for` loop with a `break`."""
        variable = Expression(init.type, None)
        loop = WhileLoop(init, variable, StatementBlock(), None, StatementBlock(), None)
        with self.inside(loop.test):
            loop.holds = holds(variable)
        with self.inside(loop.body):
            loop.after = step(variable)
        self._b.add_item(loop)
        return variable

    def stop_if(self, condition: TextOperand, fault: int, value: TextOperand, bound: TextOperand) -> None:
        """Emit an `if` that notes the fault and returns from the kernel."""
        self._b.add_item(FaultStop(condition, fault, value, bound))

    def inside(self, block: StatementBlock) -> _Inside:
        """Return a context in which statements go into a block."""
        return _Inside(self, block)

    def enter(self, block: StatementBlock) -> StatementBlock:
        """Begin a block; return the one before."""
        self._depth += 1
        before, self._b.block = self._b.block, block
        return before

    def leave(self, before: StatementBlock) -> None:
        """Go on in the block before."""
        self._depth -= 1
        self._b.block = before


class _Inside:
    def __init__(self, flow: TextFlow, block: StatementBlock) -> None:
        self._flow, self._block = flow, block

    def __enter__(self) -> None:
        self._before = self._flow.enter(self._block)

    def __exit__(self, *_: object) -> None:
        self._flow.leave(self._before)


class TextBuilder:
    """llvmlite's builder, as far as kernels on scalars use it. Methods with its names do what it does."""

    def __init__(self, surface: Surface, scratch: int, launches: int | None = None, matmul: MatmulChoice = "exact") -> None:
        """scratch: bytes of each work item; `common` of all together; launches: as in `TextFlow`; matmul: of `Program.matmul`."""
        self.surface, self.scratch, self.common, self.matmul = surface, scratch, 0, matmul
        self.module = ir.Module()
        self.fleet_isa, self.fleet_host, self.fleet_part = DEFAULT_ISA, None, None
        self.fleet_flow = TextFlow(self, launches)
        self.block = StatementBlock()
        self.item = Expression(I64, None, index=True, name="i")

    def add_item(self, item: Any) -> None:
        """Append a statement."""
        self.block.items.append(item)

    def number(self, text: str) -> Expression:
        """Return a number of C's int from an expression of the language."""
        return self.make(I64, text, index=True)

    def raw(self, text: str) -> None:
        """Append a statement as text."""
        self.add_item(Raw(text))

    def call_text(self, form: str, *operands: TextOperand) -> None:
        """Append a call of a function that returns nothing; its operands count elements."""
        self.add_item(CallStatement(form, operands))

    def make(self, type_: Any, form: str, *operands: TextOperand, index: bool = False, reads: bool = False) -> Expression:
        """Append an expression."""
        counts = index or reads or (type_ == I1 and any(map(_counting, operands)) and all(map(_counts, operands)))
        found = Expression(type_, form, operands, index, counts, reads)
        self.add_item(found)
        return found

    def indices(self, number: TextOperand, sizes: Sequence[int]) -> list[TextOperand]:
        """Return the indices of an element in C order, of its number."""
        found: list[TextOperand] = []
        inner, whole = math.prod(sizes), True
        for size in sizes:
            inner //= size
            if size == 1:
                found.append(ir.Constant(I64, 0))
                continue
            divided = number if inner == 1 else self.make(I64, f"({{0}} / {inner})", number, index=True)
            found.append(divided if whole else self.make(I64, f"({{0}} % {size})", divided, index=True))
            whole = False
        return found

    # ---- memory

    def gep(self, pointer: Pointer, indices: Sequence[TextOperand], inbounds: bool = False, source_etype: Any = None) -> Pointer:
        (offset,) = indices
        if pointer.space == "scratch" and source_etype == ir.IntType(8) and isinstance(offset, ir.Constant):
            return replace(pointer, start=pointer.start + offset.constant)
        if pointer.space == "scratch":
            pointer = replace(pointer, type=source_etype)
        before = pointer.offset
        return replace(pointer, offset=offset if before is None else self.add(before, offset, flags=("nsw",)))

    def load(self, pointer: Pointer, typ: Any = None, align: int | None = None) -> Expression:
        stored, wanted = pointer.type, pointer.type if typ is None else typ
        offset = ir.Constant(I64, 0) if pointer.offset is None else pointer.offset
        found = self.make(stored, f"{self.base(pointer)}[{{0}}]", offset, reads=True)
        return found if stored == wanted else self.bitcast(found, wanted)

    def store(self, value: TextOperand, pointer: Pointer, align: int | None = None) -> None:
        self.add_item(StoreStatement(pointer, value if value.type == pointer.type else self.bitcast(value, pointer.type)))

    def base(self, pointer: Pointer) -> str:
        """Return the text of an array's first element's address."""
        if pointer.space not in ("scratch", "common"):
            return pointer.name
        type_ = self.surface.types[str(pointer.type)]
        if pointer.space == "common":
            return f"(({self.surface.memory}{type_} *)scratch)"
        moved = f" + {pointer.start}" if pointer.start else ""
        place = f"scratch + ({self.surface.types['i64']})i * {self.scratch}{moved}"
        return f"(({self.surface.memory}{type_} *)({place}))"

    # ---- floating point

    def fadd(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, "({0} + {1})", x, y)

    def fsub(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, "({0} - {1})", x, y)

    def fmul(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, "({0} * {1})", x, y)

    def fdiv(self, x: TextOperand, y: TextOperand) -> Expression:
        if x.type == F32 and not self.surface.exact:
            return self.make(F32, "(float)((double){0} / (double){1})", x, y)
        return self.make(x.type, "({0} / {1})", x, y)

    def fneg(self, x: TextOperand) -> Expression:
        return self.make(x.type, "(-{0})", x)

    def fcmp_ordered(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        if sign == "ord":
            return self._compare("({0} == {0} && {1} == {1})" if x is not y else "({0} == {0})", x, y)
        if sign == "!=":
            return self.make(I1, "({0} < {1} || {0} > {1})", x, y)
        return self.make(I1, f"({{0}} {_SIGNS[sign]} {{1}})", x, y)

    def fcmp_unordered(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        if sign == "uno":
            return self._compare("({0} != {0} || {1} != {1})" if x is not y else "({0} != {0})", x, y)
        if sign == "!=":
            return self.make(I1, "({0} != {1})", x, y)
        if sign == "==":
            return self.make(I1, "(!({0} < {1} || {0} > {1}))", x, y)
        return self.make(I1, f"(!({{0}} {_NEGATED[sign]} {{1}}))", x, y)

    def _compare(self, form: str, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(I1, form, x, y) if x is not y else self.make(I1, form, x)

    def fpext(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_)

    def fptrunc(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_)

    def sitofp(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_)

    def uitofp(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_) if x.type == I1 else self.make(type_, f"({self._type(type_)}){self._unsigned(x.type)}", x)

    def fptosi(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_)

    def _cast(self, x: TextOperand, type_: Any) -> Expression:
        return self.make(type_, f"({self._type(type_)}){{0}}", x)

    def bitcast(self, x: TextOperand, type_: Any) -> TextOperand:
        if x.type == type_:
            return x
        return self.make(type_, f"{self.surface.bits[str(x.type), str(type_)]}({{0}})", x)

    # ---- integers

    def _type(self, type_: Any) -> str:
        return self.surface.types[str(type_)]

    def _unsigned(self, type_: Any, operand: int = 0) -> str:
        return f"{{{operand}}}" if type_ == I1 else f"({self.surface.unsigned[str(type_)]}){{{operand}}}"

    def _modulo(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        """Emit a sum, difference or product modulo 2**n."""
        type_ = x.type
        if type_.width < _PROMOTED:
            return self.make(type_, f"({self._type(type_)})({{0}} {sign} {{1}})", x, y)
        return self.make(type_, f"({self._type(type_)})({self._unsigned(type_)} {sign} {self._unsigned(type_, 1)})", x, y)

    def add(self, x: TextOperand, y: TextOperand, flags: Sequence[str] = ()) -> TextOperand:
        return self._counted("+", 0, x, y) if "nsw" in flags else self._modulo("+", x, y)

    def sub(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._modulo("-", x, y)

    def mul(self, x: TextOperand, y: TextOperand, flags: Sequence[str] = ()) -> TextOperand:
        return self._counted("*", 1, x, y) if "nsw" in flags else self._modulo("*", x, y)

    def _counted(self, sign: str, nothing: int, x: TextOperand, y: TextOperand) -> TextOperand:
        """Emit a step of counting elements, which cannot overflow. nothing: the number that changes nothing."""
        known = [isinstance(v, ir.Constant) for v in (x, y)]
        if all(known):
            return ir.Constant(I64, x.constant + y.constant if sign == "+" else x.constant * y.constant)
        for v, other, constant in ((x, y, known[0]), (y, x, known[1])):
            if constant and v.constant == nothing:
                return other
        if known[1] and sign == "+" and y.constant < 0:
            return self.make(I64, f"({{0}} - {-y.constant})", x, index=x.index)
        index = all(constant or v.index for v, constant in zip((x, y), known, strict=True))
        return self.make(I64, f"({{0}} {sign} {{1}})", x, y, index=index)

    def neg(self, x: TextOperand) -> Expression:
        return self._modulo("-", ir.Constant(x.type, 0), x)

    def udiv(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._without_sign("/", x, y)

    def urem(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._without_sign("%", x, y)

    def _without_sign(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        form = f"({self._type(x.type)})({self._unsigned(x.type)} {sign} {self._unsigned(x.type, 1)})"
        return self.make(x.type, form, x, y)

    def sdiv(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, f"({self._type(x.type)})({{0}} / {{1}})", x, y)

    def srem(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, f"({self._type(x.type)})({{0}} % {{1}})", x, y)

    def and_(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._bitwise("&", "&&", x, y)

    def or_(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._bitwise("|", "||", x, y)

    def xor(self, x: TextOperand, y: TextOperand) -> Expression:
        return self._bitwise("^", "!=", x, y)

    def _bitwise(self, sign: str, of_truth: str, x: TextOperand, y: TextOperand) -> Expression:
        if x.type == I1:
            return self.make(I1, f"({{0}} {of_truth} {{1}})", x, y)
        narrow = x.type.width < _PROMOTED
        return self.make(x.type, f"({self._type(x.type)})({{0}} {sign} {{1}})" if narrow else f"({{0}} {sign} {{1}})", x, y)

    def not_(self, x: TextOperand) -> Expression:
        return self.make(x.type, "(!{0})" if x.type == I1 else f"({self._type(x.type)})(~{{0}})", x)

    def shl(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, f"({self._type(x.type)})({self._unsigned(x.type)} << {{1}})", x, y)

    def lshr(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, f"({self._type(x.type)})({self._unsigned(x.type)} >> {{1}})", x, y)

    def ashr(self, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, f"({self._type(x.type)})({{0}} >> {{1}})", x, y)

    def icmp_signed(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(I1, f"({{0}} {_SIGNS[sign]} {{1}})", x, y)

    def icmp_unsigned(self, sign: str, x: TextOperand, y: TextOperand) -> Expression:
        if sign in ("==", "!="):
            return self.icmp_signed(sign, x, y)
        return self.make(I1, f"({self._unsigned(x.type)} {_SIGNS[sign]} {self._unsigned(x.type, 1)})", x, y)

    def zext(self, x: TextOperand, type_: Any) -> Expression:
        return self._cast(x, type_) if x.type == I1 else self.make(type_, f"({self._type(type_)}){self._unsigned(x.type)}", x)

    def sext(self, x: TextOperand, type_: Any) -> Expression:
        return self.make(type_, f"({self._type(type_)})(-(int){{0}})", x) if x.type == I1 else self._cast(x, type_)

    def trunc(self, x: TextOperand, type_: Any) -> Expression:
        return self.make(I1, "(({0} & 1) != 0)", x) if type_ == I1 else self._cast(x, type_)

    def select(self, condition: TextOperand, x: TextOperand, y: TextOperand) -> Expression:
        return self.make(x.type, "({0} ? {1} : {2})", condition, x, y)

    # ---- functions

    def call(self, function: Any, operands: Sequence[TextOperand]) -> Expression:
        """Emit a call of one of LLVM's intrinsics on one type; `KeyError` for another function."""
        _, name, _ = function.name.split(".", 2)
        type_ = operands[0].type
        if name == "sqrt" and type_ == F32 and not self.surface.exact:
            return self.make(F32, f"(float){self.surface.function(name, str(F64))}((double){{0}})", *operands)
        places = ", ".join(f"{{{i}}}" for i in range(len(operands)))
        return self.make(type_, f"{self.surface.function(name, str(type_))}({places})", *operands)


def _counting(operand: TextOperand) -> bool:
    return isinstance(operand, Expression) and operand.index


def _counts(operand: TextOperand) -> bool:
    """Return True if an operand is an element count or index, which fits into 32 bits."""
    return _counting(operand) or (isinstance(operand, ir.Constant) and operand.type == I64)
