"""Products with vectors, as the source wrote them. The IR has matrices only: a vector is reshaped into one and out of one.

`reshape [n] -> [n, 1]`, `matmul`, `reshape [..., m, 1] -> [..., m]`, one after the other with nothing else that reads what lies
between, are one call of `numpy.matmul` with the vector itself. NumPy computes it with the same loop, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fleet.targets.bytecode.decode import DecodedStep, StepBlock
from fleet.targets.bytecode.hints import parse_type


def with_vectors(block: StepBlock) -> StepBlock:
    """Return the block with such steps joined; as it is if there are none."""
    return joined_steps(block, _joined, 4)


def joined_steps(block: StepBlock, joined: Callable[[list[DecodedStep]], tuple[int, DecodedStep] | None], most: int) -> StepBlock:
    """Return the block with steps joined; as it is if none are.

    joined: of the last steps, at most `most`, returns how many of them are one step, and that step; None if they are not.
    """
    found: list[DecodedStep] = []
    for step in block.steps:
        found.append(step)
        if (one := joined(found[-most:])) is not None:
            del found[-one[0] :]
            found.append(one[1])
    if len(found) == len(block.steps):
        return block
    return replace(block, steps=found, weight=block.weight or len(block.steps) + 1)


def _joined(last: list[DecodedStep]) -> tuple[int, DecodedStep] | None:
    """Return how many of the last steps are one product, and that product; None if they are not."""
    if len(last) < 3 or last[-2].function is not np.matmul or len(last[-2].sources) != 2 or not is_reshape(last[-1]):
        return None
    product, out = last[-2], last[-1]
    sides: list[DecodedStep | None] = [None, None]
    before = last[:-2][::-1]
    for step in before:
        side = _vector_side(step, product)
        if side is None or sides[side] is not None:
            break
        sides[side] = step
    if sides == [None, None] or not gone(product.target, out):
        return None
    shape, flat = shapes(out)
    wanted = [n for i, n in enumerate(shape) if i != len(shape) - (1 if sides[1] else 2)]
    if sides[0] and sides[1]:
        wanted = list(shape[:-2])
    if list(flat) != wanted:
        return None
    count = 2 + sum(s is not None for s in sides)
    sources = tuple(r if s is None else s.sources[0] for r, s in zip(product.sources, sides, strict=True))
    between = {product.target, *(s.target for s in sides if s is not None)}
    dead = {r for s in last[-count:] for r in s.dead} - between
    one = replace(product, sources=sources, target=out.target, dead=tuple(sorted(dead)))
    return count, one


def _vector_side(step: DecodedStep, product: DecodedStep) -> int | None:
    """Return the side of the product that the step makes a matrix of a vector for, or None."""
    if not is_reshape(step) or step.target not in product.sources or product.sources[0] == product.sources[1]:
        return None
    side = product.sources.index(step.target)
    shape, matrix = shapes(step)
    (n,) = shape if len(shape) == 1 else (-1,)
    fits = n >= 0 and matrix == ((1, n), (n, 1))[side] and gone(step.target, product)
    return side if fits else None


def gone(register: int | None, step: DecodedStep) -> bool:
    """Return whether the step is the only one that reads the register."""
    return register in step.dead and register != step.target


def is_reshape(step: DecodedStep) -> bool:
    """Return whether the step is a reshape whose result is read."""
    return step.info is not None and step.info.name == "reshape" and step.target not in step.dead


def shapes(step: DecodedStep) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of a reshape's operand and of its result; -1 where unknown."""
    assert step.info is not None
    return parse_type(step.info.in_types[0])[0], parse_type(step.info.out_types[0])[0]
