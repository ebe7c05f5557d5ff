"""More tokens than one instruction takes: several, each with its own part of operands, tables and results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from blocks import Builder

from fleet.engines.base import RunOptions
from fleet.engines.interp import interpret
from fleet.engines.iss import IssEngine
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel

SET, DEVICE = find_device("hbm_small")
MOST = DEVICE.parameters["MaxToken"]
N, C = 2 * MOST + 3, 64
RNG = np.random.default_rng(8)


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def rope(b: Builder) -> None:
    b("y", "rope", "x", "cos", "sin", interleaved=True)


def add(b: Builder) -> None:
    b("y", "add", "x", "z")


def norm(b: Builder) -> None:
    b("y", "rms_norm", "x", "g", eps=1e-5)


def gelu(b: Builder) -> None:
    b("y", "gelu", "x", approximate="tanh")


def softmax(b: Builder) -> None:
    b("y", "softmax", "x", axis=1)


OPERATIONS: dict[str, Callable[[Builder], None]] = {f.__name__: f for f in (rope, add, norm, gelu, softmax)}


def program(name: str) -> Program:
    angles = numbers(N, C // 2)
    b = Builder({"x": (N, C), "z": (N, C)}, {"cos": np.cos(angles), "sin": np.sin(angles), "g": 1 + 0.1 * numbers(C)})
    OPERATIONS[name](b)
    return b.done("y")


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_tile_finds_its_own_part(name: str) -> None:
    made = program(name)
    calls = list(compile_accel(made, SET, DEVICE).calls)
    tiles = [c.token_range or (0, 0) for c in calls]
    assert len(tiles) >= 3
    assert [first for first, _ in tiles] == [0, *(end for _, end in tiles[:-1])], "one behind the other"
    assert tiles[-1][1] == N
    arrays = {"x": numbers(N, C), "z": numbers(N, C)}
    (found,) = IssEngine().run(made, arrays, RunOptions(device="hbm_small")).outputs.values()
    (expected,) = interpret(made, arrays, echo=lambda *_: None)[0].values()
    for first, end in tiles:
        assert np.abs(found[first:end] - expected[first:end]).max() < 0.02, (name, first)
