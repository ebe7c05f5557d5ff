"""Steps as closures on the frame: one Python call and one NumPy call each, with no look-up while the code runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from sys import getrefcount
from typing import Any, TypeAlias

import numpy as np

from fleet.targets.bytecode.decode import DecodedStep
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.operators import OperatorKernel

__all__ = ["StepRun", "closure"]

StepRun: TypeAlias = Callable[[list[Any]], None]

_REUSE_BYTES = 1 << 18
"""Results from this size on overwrite a dying operand, as NumPy itself does for temporaries of expressions."""


def _sole_references() -> int:
    """Return getrefcount of an array that only a frame and the closure's own variable hold (it depends on the Python version)."""

    def probe(frame: list[Any]) -> int:
        x = frame[0]
        return getrefcount(x)

    return probe([np.empty(1)])


_SOLE = _sole_references()


def closure(step: DecodedStep) -> StepRun:
    """Return the step as a function on a frame; it removes from the frame what dies."""
    function, sources, target, dead = step.function, step.sources, step.target, step.dead
    if target is None or target in dead or len(sources) not in (1, 2) or len(dead) > len(sources):
        return _general(function, sources, target, dead)
    reused = _reused(step)
    if len(sources) == 1:
        return _unary(function, sources[0], target, dead, reused is not None)
    return _binary(function, sources, target, dead, reused)


def _unary(function: OperatorKernel, only: int, target: int, dead: tuple[int, ...], reused: bool) -> StepRun:
    if reused:

        def over(frame: list[Any]) -> None:
            x = frame[only]
            frame[target] = function(x, out=x) if getrefcount(x) == _SOLE and _own(x) else function(x)
            frame[only] = None

        return over
    if dead:

        def last(frame: list[Any]) -> None:
            frame[target] = function(frame[only])
            frame[only] = None

        return last

    def unary(frame: list[Any]) -> None:
        frame[target] = function(frame[only])

    return unary


def _binary(function: OperatorKernel, sources: tuple[int, ...], target: int, dead: tuple[int, ...], reused: int | None) -> StepRun:
    first, second = sources
    if reused is not None:
        mine, other = sources[reused], sources[1 - reused]

        def over(frame: list[Any]) -> None:
            x, y = frame[mine], frame[other]
            if getrefcount(x) == _SOLE and _own(x) and _fits(x, y):
                frame[target] = function(frame[first], frame[second], out=x)
            else:
                frame[target] = function(frame[first], frame[second])
            for r in dead:
                frame[r] = None

        return over
    if not dead:

        def binary(frame: list[Any]) -> None:
            frame[target] = function(frame[first], frame[second])

        return binary
    if len(dead) == 1:
        (gone,) = dead

        def one(frame: list[Any]) -> None:
            frame[target] = function(frame[first], frame[second])
            frame[gone] = None

        return one

    def both(frame: list[Any]) -> None:
        frame[target] = function(frame[first], frame[second])
        frame[first] = frame[second] = None

    return both


def _general(function: OperatorKernel, sources: tuple[int, ...], target: int | None, dead: tuple[int, ...]) -> StepRun:
    def general(frame: list[Any]) -> None:
        result = function(*[frame[s] for s in sources])
        if target is not None:
            frame[target] = result
        for r in dead:
            frame[r] = None

    return general


def _reused(step: DecodedStep) -> int | None:
    """Return the operand that may be overwritten, or None: it dies here, has the result's declared type, and is large."""
    info = step.info
    if info is None or not isinstance(step.function, np.ufunc) or len(set(step.sources)) < len(step.sources):
        return None
    shape, dtype = parse_type(info.out_types[0])
    if info.python_result or dtype.kind != "f" or -1 in shape or math.prod(shape) * dtype.itemsize < _REUSE_BYTES:
        return None
    found = (
        i for i, (r, t) in enumerate(zip(step.sources, info.in_types, strict=True)) if r in step.dead and t == info.out_types[0]
    )
    return next(found, None)


def _own(x: Any) -> bool:
    """Whether NumPy made the array with its own memory, so that nothing else sees it change."""
    return type(x) is np.ndarray and x.flags.owndata and x.flags.writeable and x.base is None


def _fits(x: np.ndarray, y: Any) -> bool:
    """Whether the result with y has x's dtype and shape, whatever was declared."""
    if isinstance(y, np.ndarray):
        return (
            y.dtype == x.dtype and y.ndim <= x.ndim and all(b in (1, a) for a, b in zip(x.shape[::-1], y.shape[::-1], strict=False))
        )
    return isinstance(y, int | float)
