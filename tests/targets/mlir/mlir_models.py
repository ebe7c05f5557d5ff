"""Programs for the tests of the MLIR export, built straight in the IR, and their results by way of mlir-opt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import kind_of
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type
from fleet.targets.mlir.lower import missing
from fleet.targets.mlir.run import run_mlir

needs_tools = pytest.mark.skipif(missing() is not None, reason=missing() or "")


class Maker:
    """Appends operations to a block."""

    def __init__(self, block: Block) -> None:
        self.block, self.count = block, 0

    def __call__(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        return self.add(make(name, operands, **attributes))

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        return self.add(constant(number, type_))

    def print(self, *operands: SSAValue) -> None:
        self.add(d.PrintOp(operands))

    def add(self, op: d.FleetOp) -> Any:
        self.count += 1
        op.describe(id=f"{kind_of(op)}.{self.count}", at=f"model.py:{self.count}:4")
        self.block.add_op(op)
        return op.results[0] if op.results else None


Body = Callable[..., "SSAValue | Sequence[SSAValue]"]


def model(
    arguments: Mapping[str, np.ndarray],
    body: Body,
    *,
    weights: Sequence[str] = (),
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Program:
    """A program with arguments like these arrays; `shapes` declares others (-1 for an unknown size)."""
    declared = {n: (shapes or {}).get(n, a.shape) for n, a in arguments.items()}
    block = Block(arg_types=[tensor_type(declared[n], a.dtype) for n, a in arguments.items()])
    returned = body(Maker(block), *block.args)
    values = [returned] if isinstance(returned, SSAValue) else list(returned)
    block.add_op(ReturnOp(*values))
    function = FuncOp("model", ([v.type for v in block.args], [v.type for v in values]), Region(block))
    kinds = tuple(Argument(n, declared[n], a.dtype, "weight" if n in weights else "input") for n, a in arguments.items())
    outputs = tuple(f"out{i}" for i in range(len(values)))
    return Program(ModuleOp([function]), kinds, {n: arguments[n] for n in weights}, outputs, source_name="model.py")


def results(body: Body, *arrays: np.ndarray, shapes: Sequence[tuple[int, ...]] | None = None) -> list[np.ndarray]:
    """The outputs of `body` on these arrays, computed by lowered MLIR; the program verifies first."""
    given = {f"x{i}": a for i, a in enumerate(arrays)}
    program = model(given, body, shapes=dict(zip(given, shapes, strict=True)) if shapes else None)
    program.module.verify()
    return list(run_mlir(program, given).values())


def draw(shape: tuple[int, ...], dtype: str, seed: int, *, special: bool = False) -> np.ndarray:
    """Seeded numbers of all magnitudes; with infinities, NaN, zeros and a subnormal when `special`."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        wild = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, wild, rng.integers(-9, 9, shape)).astype(dtype)
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    if special:
        specials = (0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-7)
        values = np.where(rng.random(shape) < 0.4, rng.choice(specials, shape), values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits, all NaN alike."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


def near(got: np.ndarray, want: np.ndarray, ulps: float) -> None:
    """Within so many units in the last place of the largest value."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    exact = want.astype(np.float64)
    found = got.astype(np.float64)
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(found[~finite], exact[~finite])
    if finite.any():
        with np.errstate(all="ignore"):
            unit = np.maximum(np.spacing(np.abs(want[finite])).astype(np.float64), np.finfo(want.dtype).smallest_subnormal)
        assert np.max(np.abs(found[finite] - exact[finite]) / unit) <= ulps
