"""Checks that every instruction is legal in every step, at the steps at which something changes.

These are the smallest and the largest step, those at the borders of loops, and some random ones.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from fleet.errors import DeviceError, ModelError
from fleet.isa.codec import CodecError, words_of
from fleet.isa.description import Description
from fleet.isa.resolved import resolved
from fleet.sdk import Call, Device, InstructionSet
from fleet.symbols.expr import Expr, Var
from fleet.targets.accel.emission import Loop
from fleet.targets.accel.steps import Steps

RANDOM = 4
_TRIES = 64
_MOST = 24
_NEAR, _FAR = 64, 32
"""Steps are tried one by one up to `_NEAR` above the least, then at powers of two below `_FAR` bits."""
"""Largest number of bindings that are checked."""

Dims = dict[str, int]


def bindings(steps: Steps, dims: Mapping[str, Var]) -> list[Dims]:
    """Return the steps to be checked, the smallest first. Raises ModelError without any."""

    def possible(d: Dims) -> bool:
        try:
            steps.bind(d)
        except ModelError:
            return False
        return True

    least = smallest(steps, dims)
    found: dict[tuple[int, ...], Dims] = {}

    def add(d: Dims) -> None:
        if possible(d):
            found.setdefault(tuple(d.values()), d)

    add(least)
    corners = {n: _corners(steps, n, v, least, possible) for n, v in dims.items()}
    # The largest value of one with the others small, then with the others as large as possible beside it.
    for name, values in corners.items():
        add({**least, name: values[-1]})
    for order in itertools.permutations(dims) if len(dims) <= 3 else (tuple(dims),):
        d = dict(least)
        for name in order:
            d[name] = _most(d, name, dims[name], possible)
        add(d)
    for name, values in corners.items():
        for value in values:
            add({**least, name: value})
    draw = random.Random(0)
    wanted = min(_MOST, len(found) + RANDOM)
    for _ in range(_TRIES):
        if len(found) >= wanted or not dims:
            break
        add({n: draw.randint(least[n], corners[n][-1]) for n in dims})
    return list(found.values())[:_MOST]


def smallest(steps: Steps, dims: Mapping[str, Var]) -> Dims:
    """Return the smallest step; a dimension that cannot be 0 gets its least possible value. Raises ModelError if there is none."""
    least = {n: v.min_data for n, v in dims.items()}
    for raised in _larger(least, dims):
        try:
            return steps.bind(raised)
        except ModelError:
            continue
    ones = {n: max(v.min_data, 1) for n, v in dims.items()}
    return steps.bind(ones)


def _larger(least: Dims, dims: Mapping[str, Var]) -> Iterator[Dims]:
    """Yield candidates: the least of all; one dimension larger; all larger."""
    yield least
    for more in (*range(1, _NEAR), *(1 << n for n in range(_NEAR.bit_length() - 1, _FAR))):
        raised = {n: min(least[n] + more, v.max_data or 0) for n, v in dims.items()}
        for name in dims:
            yield {**least, name: raised[name]}
        yield raised


def _most(base: Dims, name: str, variable: Var, possible: Callable[[Dims], bool]) -> int:
    """Return the largest value of one dimension for given values of the others, by bisection."""
    low, high = base[name], variable.max_data or 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if possible({**base, name: middle}) else (low, middle - 1)
    return low


def _corners(steps: Steps, name: str, variable: Var, least: Dims, possible: Callable[[Dims], bool]) -> list[int]:
    """Return values of one dimension to check: the ends, around a group of 32, and where loops get another iteration."""
    most = _most(least, name, variable, possible)
    found = {least[name], least[name] + 1, 31, 32, 33, most - 1, most}
    for item in steps.items:
        if isinstance(item, Loop) and name in {v.name for v in item.count.variables}:
            border = _border(item.count, name, least, most)
            found |= {border - 1, border}
    return sorted(v for v in found if least[name] <= v <= most)


def _border(count: Expr, name: str, least: Dims, most: int) -> int:
    """Return the smallest value for which a loop has a second iteration."""
    low, high = least[name], most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if count.evaluate({**least, name: middle}) > 1 else (middle + 1, high)
    return low


def check(steps: Steps, dims: Mapping[str, Var], instruction_set: InstructionSet, device: Device, description: Description) -> None:
    """Raises DeviceError naming the graph's node, the instruction, the step and what is wrong."""
    seen: set[tuple[object, ...]] = set()
    for bound in bindings(steps, dims):
        for call in resolved(instruction_set, device, (r.call for r in steps.rounds(bound, some=True))):
            key = (call.instruction, *call.fields.values())
            if key not in seen and (lines := _wrong(instruction_set, device, description, call)):
                step = ", ".join(f"{n}={v}" for n, v in bound.items()) or "any step"
                raise DeviceError(
                    f"the compiler made an illegal instruction: {'; '.join(lines)}",
                    where=f"{device.name}, {call.ops[-1]} ({call.instruction}) with {step}",
                )
            seen.add(key)


def _wrong(instruction_set: InstructionSet, device: Device, description: Description, call: Call) -> Sequence[str]:
    try:
        words_of(description, call)
    except CodecError as error:
        return [error.what]
    return instruction_set.instructions[call.instruction].legal(device, call.fields)
