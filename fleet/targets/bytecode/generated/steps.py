"""Decoded steps as one Python function, so that a run costs what the same calls cost in Python's own loop.

The function's text is written from register numbers and Python's own words alone: nothing of a module's text gets into it. A
register that lives in one block only shares a local variable with others like it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import getrefcount
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from fleet.targets.bytecode.decode import DecodedStep, StepBlock
from fleet.targets.bytecode.generated.chains import with_chains
from fleet.targets.bytecode.generated.vectors import with_vectors
from fleet.targets.bytecode.generated.windows import with_windows
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.operators import OperatorKernel

StepsRun: TypeAlias = Callable[[list[Any], int], tuple[Any, ...]]

BRANCH = ""
"""The place of a branch: it belongs to no step."""

_REUSE_BYTES = 1 << 18
"""Results from this size on overwrite a dying operand, as NumPy itself does for temporaries of expressions."""


SYMBOLS: Mapping[Callable[..., Any], str] = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.matmul: "@", np.less: "<", np.less_equal: "<=",
    np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=", operator.add: "+", operator.sub: "-",
    operator.mul: "*", operator.truediv: "/", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
"""Function -> the operator that stands for it. Arrays then take the same function, NumPy scalars a shorter way to the same bits."""


def _sole_references() -> int:
    """Return getrefcount of an array that only a local variable holds (it depends on the Python version)."""
    x = np.empty(1)
    return getrefcount(x)


_SOLE = _sole_references()


class GeneratedCode:
    """The generated function of decoded code.

    Args:
        blocks: as decoded; block `len(blocks)` is the end.
        outputs: registers whose values a run returns.
        endless: called with the most steps of a run that has used them up; it raises.

    Attributes:
        run: takes the first values of the registers, which it clears, and the most steps; returns the outputs.
        places: of every line the place of its step.
    """

    def __init__(self, blocks: Sequence[StepBlock], outputs: Sequence[int], endless: Callable[[int], None]) -> None:
        self._blocks = [with_chains(with_windows(with_vectors(block))) for block in blocks]
        self._functions: dict[int, str] = {}
        self._kept: list[OperatorKernel] = []
        self._named = {*outputs, *(r for block in self._blocks for r in _read_first(block))}
        self._lines: list[str] = []
        self.places: list[str] = []
        self._whole(outputs)
        head = ["def run(frame, most):", *(f" r{r}=frame[{r}]" for r in sorted(self._named)), " frame.clear()"]
        if self._kept:
            head.append(f" {','.join(self._functions.values())},=functions")
        head.append(" block=0;left=most")
        self.places = [BRANCH] * len(head) + self.places
        namespace: dict[str, Any] = {
            "functions": tuple(self._kept), "endless": endless, "getrefcount": getrefcount, "own": _own, "fits": _fits,
        }  # fmt: skip
        exec(compile("\n".join([*head, *self._lines]), "<bytecode>", "exec"), namespace)  # our own text, see above
        self.run: StepsRun = namespace["run"]

    def place(self, error: BaseException) -> str:
        """Return the place of the step in which a run failed; BRANCH if it was none."""
        at: TracebackType | None = error.__traceback__
        while at is not None:
            if at.tb_frame.f_code is self.run.__code__:  # pyright: ignore[reportFunctionMemberAccess]
                return self.places[at.tb_lineno - 1]
            at = at.tb_next
        return BRANCH

    def _whole(self, outputs: Sequence[int]) -> None:
        end = len(self._blocks)
        if end == 1 and self._blocks[0].condition is None and self._blocks[0].otherwise == 1:
            self._block(0, 1)
        elif end:
            self._line(f" while block!={end}:")
            self._choose(0, end, 2)
        self._line(f" return ({''.join(f'r{r},' for r in outputs)})")

    def _choose(self, first: int, last: int, depth: int) -> None:
        """Write the blocks [first, last) under decisions on `block`."""
        if last - first <= 1:
            if first < last:
                self._block(first, depth)
            return
        middle = (first + last) // 2
        self._line(" " * depth + f"if block<{middle}:")
        self._choose(first, middle, depth + 1)
        self._line(" " * depth + "else:")
        self._choose(middle, last, depth + 1)

    def _block(self, number: int, depth: int) -> None:
        block, margin = self._blocks[number], " " * depth
        for r in block.entry_dead:
            if r in self._named:
                self._line(f"{margin}r{r}=None")
        names = _LocalNames(self._named)
        for step in block.steps:
            self._line(margin + self._step(step, names), step.place)
        self._line(f"{margin}left-={block.weight or len(block.steps) + 1}")
        self._line(f"{margin}if left<0:endless(most)")
        if block.condition is None:
            self._line(f"{margin}block={block.otherwise}")
            return
        then, otherwise = (block.then, block.otherwise) if block.when else (block.otherwise, block.then)
        condition = names.of(block.condition)
        gone = "" if block.condition in self._named else f";{condition}=None"
        self._line(f"{margin}block={then} if {condition} else {otherwise}{gone}")

    def _line(self, text: str, place: str = BRANCH) -> None:
        self._lines.append(text)
        self.places.append(place)

    def _step(self, step: DecodedStep, names: _LocalNames) -> str:
        function = self._function(step.function)
        sources = [names.of(r) for r in step.sources]
        symbol = _symbol(step)
        call = f"{function}({','.join(sources)})" if symbol is None else f"{sources[0]}{symbol}{sources[1]}"
        mine = _reused(step)
        if mine is not None:
            x = sources[mine]
            test = f"getrefcount({x})=={_SOLE} and own({x})"
            if len(sources) == 2:
                test += f" and fits({x},{sources[1 - mine]})"
            call = f"{function}({','.join(sources)},out={x}) if {test} else {call}"
        gone = [names.release(r) for r in step.dead if r != step.target]
        if step.target is None:
            return ";".join([call, *(f"{n}=None" for n in gone)])
        target = names.of(step.target)
        text = [f"{target}={call}", *(f"{n}=None" for n in gone if n != target)]
        if step.target in step.dead:
            text.append(f"{names.release(step.target)}=None")
        return ";".join(text)

    def _function(self, function: OperatorKernel) -> str:
        if id(function) not in self._functions:
            self._functions[id(function)] = f"f{len(self._kept)}"
            self._kept.append(function)
        return self._functions[id(function)]


class _LocalNames:
    """Local variables of a block: `r5` for a register that lives beyond it; the others share `t0`, `t1` ..."""

    def __init__(self, named: set[int]) -> None:
        self._named = named
        self._held: dict[int, str] = {}
        self._free: list[str] = []
        self._made = 0

    def of(self, register: int) -> str:
        """Return the register's variable."""
        if register in self._named:
            return f"r{register}"
        if register not in self._held:
            if not self._free:
                self._free.append(f"t{self._made}")
                self._made += 1
            self._held[register] = self._free.pop()
        return self._held[register]

    def release(self, register: int) -> str:
        """Return the variable of a register that is not used again; another may have it."""
        if register in self._named:
            return f"r{register}"
        name = self._held.pop(register)
        self._free.append(name)
        return name


def _read_first(block: StepBlock) -> Iterator[int]:
    """Yield the registers that the block reads before it writes them."""
    written: set[int] = set()
    for step in block.steps:
        yield from (r for r in step.sources if r not in written)
        if step.target is not None:
            written.add(step.target)
    if block.condition is not None and block.condition not in written:
        yield block.condition


def _symbol(step: DecodedStep) -> str | None:
    """Return the operator that may be written for the step, or None.

    Of a ufunc an operand must be NumPy's own: of Python's numbers alone NumPy's result has another type. Complex numbers stay with
    the ufunc, whose loops may join a product and a sum in one rounding.
    """
    symbol, info = SYMBOLS.get(step.function), step.info
    if symbol is None or len(step.sources) != 2 or info is None:
        return None
    if isinstance(step.function, np.ufunc) and ("r" not in info.sig[0] or any("c" in t for t in (*info.in_types, *info.out_types))):
        return None
    return symbol


def _reused(step: DecodedStep) -> int | None:
    """Return the operand that may be overwritten, or None: it dies here, has the result's declared type, and is large."""
    info = step.info
    if info is None or not isinstance(step.function, np.ufunc) or len(set(step.sources)) < len(step.sources):
        return None
    if step.target is None or step.target in step.dead or len(step.sources) not in (1, 2):
        return None
    shape, dtype = parse_type(info.out_types[0])
    if info.python_result or dtype.kind != "f" or -1 in shape or math.prod(shape) * dtype.itemsize < _REUSE_BYTES:
        return None
    found = (
        i for i, (r, t) in enumerate(zip(step.sources, info.in_types, strict=True)) if r in step.dead and t == info.out_types[0]
    )
    return next(found, None)


def _own(x: Any) -> bool:
    """Return whether NumPy made the array with its own memory, so that nothing else sees it change."""
    return type(x) is np.ndarray and x.flags.owndata and x.flags.writeable and x.base is None


def _fits(x: np.ndarray, y: Any) -> bool:
    """Return whether the result with y has x's dtype and shape, whatever was declared."""
    if isinstance(y, np.ndarray):
        return (
            y.dtype == x.dtype and y.ndim <= x.ndim and all(b in (1, a) for a, b in zip(x.shape[::-1], y.shape[::-1], strict=False))
        )
    return isinstance(y, int | float)
