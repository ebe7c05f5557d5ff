"""The VM's operations with sizes known only at run time; results that would be too large are refused before allocation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.shapes import MAX_ELEMENTS
from fleet.targets.bytecode.hints import DispatchInfo, parse_type, sequence
from fleet.targets.bytecode.kernels.movement import MovementKernel


def _bounded(*shape: int) -> None:
    if math.prod(max(n, 0) for n in shape) > MAX_ELEMENTS:
        raise ValueError(f"a result of shape {shape}, more than {MAX_ELEMENTS} elements")


def _filled_in(shape: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    given: Iterator[int] = iter(sizes)
    return tuple(next(given) if d < 0 else d for d in shape)


def _dynamic_reshape(info: DispatchInfo) -> MovementKernel:
    shape, _ = parse_type(info.out_types[0])
    return lambda x, *sizes: np.reshape(x, _filled_in(shape, sizes))


def _dynamic_broadcast(info: DispatchInfo) -> MovementKernel:
    shape, _ = parse_type(info.out_types[0])

    def run(x: Any, *sizes: int) -> Any:
        target = _filled_in(shape, sizes)
        _bounded(*target)
        if np.ndim(x):
            return np.broadcast_to(x, target)
        return np.full(target, x, np.asarray(x).dtype)  # np.full, np.zeros, np.ones: memory of its own, as in the source

    return run


def _dynamic_slice(info: DispatchInfo) -> MovementKernel:
    axes, steps = sequence(info.attrs, "axes"), sequence(info.attrs, "step")

    def run(x: Any, *bounds: int) -> Any:
        window = [slice(None)] * x.ndim
        for i, (axis, step) in enumerate(zip(axes, steps, strict=True)):
            window[axis] = slice(bounds[2 * i], bounds[2 * i + 1], step)
        return x[tuple(window)]

    return run


def _arange(_info: DispatchInfo) -> MovementKernel:
    def run(start: int, stop: int, step: int) -> Any:
        if step == 0:
            raise ValueError("arange with a step of zero")
        _bounded(len(range(start, stop, step)))
        return np.arange(start, stop, step)

    return run


def _tri(info: DispatchInfo) -> MovementKernel:
    _, dtype = parse_type(info.out_types[0])

    def run(rows: int, columns: int, diagonal: int) -> Any:
        _bounded(rows, columns)
        return np.tri(rows, columns, diagonal, dtype)

    return run


SIZED: Mapping[type[FleetOp], Callable[[DispatchInfo], MovementKernel]] = {
    d.DynamicReshapeOp: _dynamic_reshape,
    d.DynamicBroadcastOp: _dynamic_broadcast,
    d.DynamicSliceOp: _dynamic_slice,
    d.ArangeOp: _arange,
    d.TriOp: _tri,
}
