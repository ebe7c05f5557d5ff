"""Inputs, weights and outputs of rank 0 keep their rank: in memory and in files, on every engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

BODY = """import numpy as np


def forward(t: np.ndarray, x: np.ndarray, w: np.ndarray):
    y = t * x
    return t, y.sum() + w, y, w * w, np.ascontiguousarray(t), x[np.array(2)], x[None][np.array(0), np.array(3)]
"""
INPUTS = {"t": np.array(2.5, np.float32), "x": np.arange(4, dtype=np.float32)}
WEIGHTS = {"w": np.array(0.5, np.float32)}


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(BODY)
    return f"{tmp_path / 'model.py'}:forward"


def expected() -> list[np.ndarray]:
    namespace: dict = {}
    exec(BODY, namespace)
    return [np.asarray(v) for v in namespace["forward"](**INPUTS, **WEIGHTS)]


def check(found: dict[str, np.ndarray]) -> None:
    for got, want in zip(found.values(), expected(), strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("engine", ["vm", "cpython", "interp", "riscv", "llvm-cpu", "onnxruntime"])
def test_every_engine_takes_them(model: str, engine: str) -> None:
    check(fleet.compile(model, weights=WEIGHTS, inputs=INPUTS).run(engine).outputs)


def test_files_give_the_same(model: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **INPUTS)
    np.savez(tmp_path / "w.npz", **WEIGHTS)
    check(fleet.compile(model, weights=tmp_path / "w.npz", inputs=tmp_path / "x.npz").run("vm").outputs)


def test_jit_lowers_them() -> None:
    jitted = fleet.jit(scaled)
    assert np.asarray(jitted(INPUTS["t"], INPUTS["x"])[1]).shape == ()
    assert {name: a.shape for name, a in jitted.lower(INPUTS["t"], INPUTS["x"]).inputs.items()} == {"t": (), "x": (4,)}


def scaled(t, x):
    return t * x, t + 1
