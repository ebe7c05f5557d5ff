"""The NumPy stack VM: code is decoded once (`decode`), then runs as one generated function, or step by step if observed.

A value is dropped after its last use, so that its memory can be reused. Jumps are blocks: a run goes from one to the next. A run of
more than `max_steps` steps is stopped, because the code may never end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.ir.program import Argument
from fleet.targets.bytecode.contents import ArgumentSlot
from fleet.targets.bytecode.decode import DecodedStep, StepBlock, decode
from fleet.targets.bytecode.generated.steps import BRANCH, GeneratedCode
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.operators import Operator, OperatorKernel
from fleet.targets.bytecode.profile import Profile

TARGET = "python"
"""The target of modules that this VM runs."""

MAX_STEPS = 100_000_000
"""Steps after which a run counts as endless."""


class VM:
    """Runs one bytecode module, any number of times.

    Args:
        bc: the module.
        operators: entries that take precedence over the project's table (name -> Operator).
        echo: called instead of `print` by the program's print; takes `print`'s `end`.

    Raises ModelError if the module is for another target, or with the offset if the code is malformed.
    """

    def __init__(self, bc: ByteCodeModule, operators: Mapping[str, Operator] | None = None, echo: OperatorKernel = print) -> None:
        if bc.target != TARGET:
            raise ModelError(
                f"a module for the target {bc.target[:40]!r}; the NumPy VM runs modules for {TARGET!r}",
                where="bytecode",
                hint="compile the model again, or run it where it belongs (c-vm: fleet-vm)",
            )
        self.bc = bc
        code = decode(bc, operators or {}, echo)
        self._frame = code.frame
        self._blocks = code.blocks
        self._generated: GeneratedCode | None = None
        self._inputs = [(i, a.name, a.shape, np.dtype(a.dtype)) for i, a in enumerate(bc.arguments) if a.name not in bc.weights]
        self._weights = [(i, a.name) for i, a in enumerate(bc.arguments) if a.name in bc.weights]

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | None = None,
        *,
        tensors: dict[str, np.ndarray] | None = None,
        keep: Collection[str] | None = None,
        profile: Profile | None = None,
        max_steps: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Run the code.

        Args:
            inputs: argument name -> array, for every argument without a weight; unknown dimensions accept any size.
            tensors: if given, filled with operations' results by id; of an operation that runs repeatedly, the last result.
            keep: the ids that `tensors` takes; None: all. Other results are freed after their last use.
            profile: gets every operation's calls, time and bytes.
            max_steps: a run of more steps is stopped; None: `MAX_STEPS`.

        Returns output name -> array. Raises ModelError for a missing or unfit input, a weight that cannot be made, an operator that
        fails on the values (naming the operation), and a run without an end.
        """
        most = MAX_STEPS if max_steps is None else max_steps
        frame = self._frame.copy()
        for slot, name, shape, dtype in self._inputs:
            frame[slot] = _input(inputs or {}, name, shape, dtype)
        check_dimensions(self.bc.arguments, inputs or {})
        for slot, name in self._weights:
            frame[slot] = self._weight(name)
        with np.errstate(all="ignore"):
            if tensors is None and profile is None:
                values = self._fast(frame, most)
            else:
                self._observed(frame, most, tensors, keep, profile)
                values = [frame[o.slot] for o in self.bc.outputs]
        return {o.name: _output(value, o.type, o.scalar) for o, value in zip(self.bc.outputs, values, strict=True)}

    def _weight(self, name: str) -> np.ndarray | np.generic:
        """Return a weight. If it is made on first use, that may raise any error of its maker."""
        try:
            weight = self.bc.weights[name]
            return weight if weight.ndim else weight[()]  # without dimensions: a NumPy scalar, as in the source
        except FleetError:
            raise
        except Exception as error:
            raise ModelError(f"cannot be made: {str(error) or type(error).__name__}", where=f'weight "{name}"') from error

    def _fast(self, frame: list[Any], max_steps: int) -> Sequence[Any]:
        """Run without observers; returns the outputs' values. The function is made for the first such run, then kept."""
        if self._generated is None:
            self._generated = GeneratedCode(self._blocks, [o.slot for o in self.bc.outputs], _endless)
        try:
            return self._generated.run(frame, max_steps)
        except _CAUSES as error:
            place = self._generated.place(error)
            raise (_undecided(error) if place == BRANCH else _failed(error, place)) from error

    def _observed(
        self,
        frame: list[Any],
        max_steps: int,
        tensors: dict[str, np.ndarray] | None,
        keep: Collection[str] | None,
        profile: Profile | None,
    ) -> None:
        block, left = 0, max_steps
        while block < len(self._blocks):
            for r in self._blocks[block].entry_dead:
                frame[r] = None
            for step in self._blocks[block].steps:
                try:
                    result = _call(step, frame, profile)
                except _CAUSES as error:
                    raise _failed(error, step.place) from error
                if tensors is not None and step.name and step.target is not None and (keep is None or step.name in keep):
                    tensors[step.name] = np.asarray(result, step.number_dtype)
                del result
            left -= len(self._blocks[block].steps) + 1
            block = self._next(block, frame, left, max_steps)

    def _next(self, block: int, frame: list[Any], left: int, max_steps: int) -> int:
        """Return the next block. Raises ModelError if the steps are used up, or if a condition has no truth value."""
        here: StepBlock = self._blocks[block]
        if left < 0:
            _endless(max_steps)
        if here.condition is None:
            return here.otherwise
        try:
            truth = bool(frame[here.condition])
        except ValueError as error:
            raise _undecided(error) from error
        return here.then if truth == here.when else here.otherwise


def _input(inputs: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if name not in inputs:
        raise ModelError(f'no input "{name}"', hint=f"given are {', '.join(inputs) or 'none'}")
    array = inputs[name]
    fits = array.shape == shape or (
        len(array.shape) == len(shape) and all(d in (-1, n) for d, n in zip(shape, array.shape, strict=True))
    )
    if not fits or array.dtype != dtype:
        wanted = "[" + ", ".join("?" if d < 0 else str(d) for d in shape) + "]"
        raise ModelError(f'input "{name}" must be {dtype}{wanted}, found {array.dtype}{list(array.shape)}')
    return array


def check_dimensions(arguments: Iterable[Argument | ArgumentSlot], inputs: Mapping[str, np.ndarray]) -> None:
    """Check that dimensions with one name have one size. Raises ModelError that names the dimension and the two places."""
    found: dict[str, tuple[int, str]] = {}
    for a in arguments:
        for axis, name in enumerate(a.dims):
            if name:
                size, place = inputs[a.name].shape[axis], f'dimension {axis} of "{a.name}"'
                first, there = found.setdefault(name, (size, place))
                if first != size:
                    hint = f"give arrays with one size for {name}"
                    raise ModelError(f"{name} is {first} by {there}, but {size} by {place}", where="inputs", hint=hint)


_CAUSES: tuple[type[Exception], ...] = (
    *(ArithmeticError, ValueError, LookupError, TypeError, AttributeError, MemoryError),
    RecursionError,
)
"""Errors of NumPy and Python for values that an operator does not support."""


def _failed(error: Exception, place: str) -> ModelError:
    return ModelError(f"fails on these values: {str(error) or type(error).__name__}", where=place)


def _endless(max_steps: int) -> NoReturn:
    raise ModelError(f"it has run {max_steps} steps without an end", where="bytecode", hint="raise max_steps if it has one")


def _undecided(error: Exception) -> ModelError:
    return ModelError(f"a branch on a value that is neither true nor false ({error})", where="bytecode")


def _call(step: DecodedStep, frame: list[Any], profile: Profile | None) -> Any:
    """Run one step in plain form: without reuse of operands' memory, so that kept values do not change."""
    values = [frame[s] for s in step.sources]
    if profile is None:
        result = step.function(*values)
    else:
        start = perf_counter()
        result = step.function(*values)
        elapsed = perf_counter() - start
        if step.info is not None:
            profile.add(step.name or f"{step.info.name}@{step.offset}", step.info.name, elapsed, (*values, result))
    if step.target is not None:
        frame[step.target] = result
    for r in step.dead:
        frame[r] = None
    return result


def _output(value: Any, type_: str, scalar: bool) -> np.ndarray:
    return np.asarray(value, parse_type(type_)[1]) if scalar else np.asarray(value)
