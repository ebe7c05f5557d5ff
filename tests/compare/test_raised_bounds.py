"""Cumulative bounds by way of composites: finite and far smaller than the chain's, and still above what roundings do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.raised_bounds import raised_bounds
from fleet.compare.bounds.sides import NUMPY_ULP, FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds
from fleet.engines.base import RunOptions
from fleet.engines.vm import VmEngine
from fleet.frontend.source import load
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.targets.bytecode.evaluate import apply

MODEL = Path(__file__).parents[2] / "examples" / "gpt2_block" / "model.py"
SIZES = {"wqkv": (128, 384), "wo": (128, 128), "wup": (128, 512), "wdown": (512, 128)}


def block(tokens: int) -> tuple[Program, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32) for name, shape in SIZES.items()}
    biases = {"bqkv": 384, "bo": 128, "bup": 512, "bdown": 128, "b1": 128, "b2": 128}
    weights |= {name: rng.normal(0, 0.1, n).astype(np.float32) for name, n in biases.items()}
    weights |= {"g1": np.ones(128, np.float32), "g2": np.ones(128, np.float32)}
    x = {"x": rng.normal(0, 1, (tokens, 128)).astype(np.float32)}
    return load(f"{MODEL}:narrow", weights, x), x


def noisy(program: Program, x: dict[str, np.ndarray], size: float) -> dict[str, np.ndarray]:
    """The program with a relative error of `size` behind every floating-point operation, in float64."""
    rng = np.random.default_rng(1)
    values = Values(program, x, {})
    found: dict[str, np.ndarray] = {}
    made = {}
    for op in program.operations():
        operands = [made[v] if v in made else values.of(v) for v in op.operands]
        y = np.asarray(apply(op, operands))
        if y.dtype.kind == "f" and op.name not in {"fleet.slice", "fleet.transpose", "fleet.concat", "fleet.constant"}:
            y = (y * (1 + size * rng.choice([-1, 1], y.shape))).astype(y.dtype)
        made[op.results[0]] = found[op_id(op)] = y
    return found


@pytest.fixture(scope="module")
def sides() -> tuple[Program, dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    program, x = block(8)
    golden = VmEngine().run(program, x, RunOptions(keep_tensors=True)).tensors
    return program, x, dict(golden), noisy(program, x, 2.0**-24)


def test_they_hold_and_prove_more_than_the_chain(
    sides: tuple[Program, dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]],
) -> None:
    program, x, golden, other = sides
    found = raised_bounds(program, x, golden, other, FloatArithmetic(NUMPY_ULP))
    chain = cumulative_bounds(Values(program, x, golden), FloatArithmetic())
    both = cumulative_bounds(Values(program, x, golden), FloatArithmetic(), known=found)
    last = [op_id(op) for op in program.operations()][-1]
    for name, bound in found.items():
        if name in golden:
            assert (np.abs(other[name].astype(np.float64) - golden[name]) <= bound.array).all(), name
            assert (both[name].array <= chain[name].array).all()
    assert np.isfinite(both[last].array).all()
    assert np.median(both[last].array) < 1e-2 * np.median(chain[last].array)


def test_nothing_without_composites() -> None:
    path = MODEL.parents[1] / "digits" / "model.py"
    arrays = np.load(path.parent / "weights.npz")
    x = {"x": np.zeros((2, 64), np.float32)}
    program = load(f"{path}:forward", dict(arrays), x)
    tensors = dict(VmEngine().run(program, x, RunOptions(keep_tensors=True)).tensors)
    assert raised_bounds(program, x, tensors, tensors, FloatArithmetic(NUMPY_ULP)) == {}


def test_no_error_gets_lost_at_what_a_pass_removed(tmp_path: Path) -> None:
    """gamma is 1: its product is no operation of the raised layer norm, yet the mean's error goes through it."""
    path = tmp_path / "model.py"
    path.write_text("""import numpy as np
gamma = np.ones(64)
def forward(x: "float64[4, 64]"):
    mean = np.mean(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) + 0.5
""")
    x = {"x": np.random.default_rng(0).standard_normal((4, 64))}
    x["x"][:, 0] = x["x"][:, 1:].mean(axis=1)  # next to the mean, where only the mean's own error counts
    program = load(f"{path}:forward", {}, x)
    tensors = dict(VmEngine().run(program, x, RunOptions(keep_tensors=True)).tensors)
    found = raised_bounds(program, x, tensors, tensors, FloatArithmetic(NUMPY_ULP))
    (last,) = (found[name] for name in found if found[name].array.shape == (4, 64))
    assert last.array.min() > 64 * 2.0**-53 * 0.1
