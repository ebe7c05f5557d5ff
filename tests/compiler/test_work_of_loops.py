"""Products in the bodies of loops and decisions are work of the host, in figures too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.compiler.inspection import inspect_program
from fleet.engines.accel_counters import static_counters
from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel

SOURCE = """import numpy as np


def forward(x: "float32[4, 64]", w: "float32[64, 64]", n: "int64"):
    x = x @ w
    i = 0
    while i < n:
        x = np.tanh(x @ w)
        if x.sum() > 0:
            x = x @ w @ w
        else:
            x = x @ w
        i = i + 1
    return x
"""
PRODUCT = 4 * 64 * 64


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (path := tmp_path / "m.py").write_text(SOURCE)
    inputs = {"x": np.ones((4, 64), np.float32), "n": np.array(3)}
    return load(f"{path}:forward", {"w": np.eye(64, dtype=np.float32)}, inputs)


def test_a_round_of_a_loop_is_counted_and_the_larger_branch(program: Program) -> None:
    facts = inspect_program(program, "hbm_small")
    assert facts.macs == 4 * PRODUCT
    (device,) = facts.devices
    assert (device.macs, device.placed_macs, device.share) == (4 * PRODUCT, PRODUCT, 0.25)
    assert device.reasons[0].macs == 3 * PRODUCT


def test_the_hosts_share_of_a_compiled_program(program: Program) -> None:
    counters = static_counters(compile_accel(program, *find_device("hbm_small")))
    assert counters["host_macs"] == 3 * PRODUCT
    assert counters["host_share"] == 3 * PRODUCT / (3 * PRODUCT + counters["macs"])
