"""Elementwise steps that end in integers, in one step: `ElementChain`.

Steps one after the other, each on what the one before made and nothing else reads, with numbers or one number a channel beside it.
Runs that are observed take the steps one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fleet.targets.bytecode.decode import DecodedStep, StepBlock
from fleet.targets.bytecode.generated.vectors import gone
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.kernels.chain_kernel import DTYPES, OPERATIONS, ChainSpec, ChainStep
from fleet.targets.bytecode.kernels.chains import ChainOperand, ElementChain

_LEAST = 1 << 10
"""Minimum number of elements for which a compiled chain pays off."""
_MANY, _WORK = 5, 1 << 16
"""With fewer steps, minimum number of steps times elements: a call takes as long as four or five small ones of NumPy."""
_WORK_OF_RUN = 1 << 18
"""The same for chains with operands that each run has to look at."""
_MOST = 32
"""Maximum number of steps in one chain."""
_SHORT = 16
"""Minimum number of neighbouring elements of one channel."""


@dataclass
class _Chain:
    """Steps that are one so far. stream: for every step, the place of the chain's value among its sources."""

    shape: tuple[int, ...]
    source: str
    steps: list[DecodedStep] = field(default_factory=list[DecodedStep])
    stream: list[int] = field(default_factory=list[int])
    axis: int | None = None

    def take(self, step: DecodedStep) -> bool:
        """Append the step if it continues the chain."""
        info = step.info
        if info is None or info.name not in OPERATIONS or len(step.sources) not in (1, 2) or len(info.out_types) != 1:
            return False
        if step.target is None or len(set(step.sources)) < len(step.sources):
            return False
        before = self.steps[-1] if self.steps else None
        if before is not None and (before.target not in step.sources or not gone(before.target, step)):
            return False
        shape, dtype = parse_type(info.out_types[0])
        if shape != self.shape or dtype.name not in DTYPES or info.python_result:
            return False
        for place in range(len(step.sources)) if before is None else [step.sources.index(before.target or 0)]:
            axis = self._axis(step, place, dtype)
            if axis is not None:
                self.axis = axis if axis >= 0 else self.axis
                self.steps.append(step)
                self.stream.append(place)
                return True
        return False

    def _axis(self, step: DecodedStep, place: int, dtype: np.dtype) -> int | None:
        """Return the dimension of the channels of the other operand, -1 if it is one number; None if the step does not fit."""
        info = step.info
        assert info is not None
        shape, own = parse_type(info.in_types[place])
        if shape != self.shape or own.name not in DTYPES:
            return None
        if len(step.sources) == 1:
            return -1 if info.name == "cast" or (info.name == "rint" and own.kind == "f") else None
        other, theirs = parse_type(info.in_types[1 - place])
        weak = info.sig[0][1 - place] != "r"
        if own != dtype or (not weak and theirs != dtype) or (info.name == "div" and dtype.kind != "f"):
            return None
        if math.prod(other) == 1 and len(other) <= len(self.shape):
            return -1
        wide = [i + len(self.shape) - len(other) for i, n in enumerate(other) if n != 1]
        if len(wide) != 1 or -1 in other or len(other) > len(self.shape) or self.axis not in (None, wide[0]):
            return None
        return wide[0] if math.prod(self.shape[wide[0] + 1 :]) >= _SHORT else None

    def joined(self) -> tuple[int, DecodedStep] | None:
        """Return how many of the steps are one step, and that step; None if none are."""
        count = len(self.steps)
        while count and parse_type(_out(self.steps[count - 1]))[1].kind == "f":
            count -= 1
        steps, work = self.steps[:count], count * math.prod(self.shape)
        if count < 2 or work < (_WORK_OF_RUN if any(map(_takes_a_scalar, steps)) else 0 if count >= _MANY else _WORK):
            return None
        parts, operands, others = list[ChainStep](), list[ChainOperand](), list[int]()
        for step, place in zip(steps, self.stream, strict=False):
            assert step.info is not None
            dtype = parse_type(_out(step))[1]
            if len(step.sources) == 1:
                parts.append(ChainStep(step.info.name, dtype.name))
                continue
            parts.append(ChainStep(step.info.name, dtype.name, len(operands), place == 0))
            operands.append(ChainOperand(dtype, math.prod(parse_type(step.info.in_types[1 - place])[0])))
            others.append(step.sources[1 - place])
        functions = [(s.function, place if len(s.sources) == 2 else -1) for s, place in zip(steps, self.stream, strict=False)]
        spec = ChainSpec(self.source, tuple(parts))
        chain = ElementChain(self.shape, spec, operands, self.axis or 0, _separate(functions))
        between = {s.target for s in steps[:-1]}
        dead = {r for s in steps for r in s.dead} - between
        sources = (steps[0].sources[self.stream[0]], *others)
        return count, replace(steps[-1], function=chain, sources=sources, dead=tuple(sorted(dead)))


def _out(step: DecodedStep) -> str:
    assert step.info is not None
    return step.info.out_types[0]


def _takes_a_scalar(step: DecodedStep) -> bool:
    """Return whether it takes an array of one element, which may be another in every run."""
    info = step.info
    assert info is not None
    kinds = zip(info.sig[0], info.in_types, strict=True)
    return any(kind == "r" and math.prod(parse_type(t)[0]) == 1 for kind, t in kinds)


def _separate(functions: Sequence[tuple[Callable[..., Any], int]]) -> Callable[..., Any]:
    """Return the steps one by one as a function. functions: each with the place of the chain's value, -1 for its only operand."""

    def run(x: Any, *others: Any) -> Any:
        given = iter(others)
        for function, place in functions:
            x = function(x) if place < 0 else function(x, next(given)) if place == 0 else function(next(given), x)
        return x

    return run


def with_chains(block: StepBlock) -> StepBlock:
    """Return the block with such steps joined; as it is if there are none."""
    found: list[DecodedStep] = []
    waiting = list(reversed(block.steps))
    while waiting:
        chain = _begun(waiting[-1])
        while chain is not None and waiting and len(chain.steps) < _MOST and chain.take(waiting[-1]):
            waiting.pop()
        one = chain.joined() if chain is not None else None
        if chain is None or not chain.steps:
            found.append(waiting.pop())
        elif one is None:  # no part of it ends in integers
            found.extend(chain.steps)
        else:
            waiting.extend(reversed(chain.steps[one[0] :]))
            found.append(one[1])
    if len(found) == len(block.steps):
        return block
    return replace(block, steps=found, weight=block.weight or len(block.steps) + 1)


def _begun(step: DecodedStep) -> _Chain | None:
    """Return a chain that may begin with the step, still empty."""
    if step.info is None or not step.info.out_types or not step.info.in_types:
        return None
    shape = parse_type(step.info.out_types[0])[0]
    if -1 in shape or math.prod(shape) < _LEAST:
        return None
    source = next((t for t in map(parse_type, step.info.in_types) if t[0] == shape), None)
    return _Chain(shape, source[1].name) if source is not None else None
