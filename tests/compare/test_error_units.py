"""The two parts of a unit's bound, held against random points and random roundings; what is drawn knows nothing of the rules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "targets" / "accel"))
from blocks import Builder

from fleet.compare.rules.steps import Arithmetic, BoundStep, row_norm
from fleet.compare.rules.table import split_of
from fleet.ir.dialect import FleetOp
from fleet.targets.bytecode.evaluate import apply

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
UNIT = Arithmetic(SINGLE, 40, {"exp": 1.0, "recip": 1.52, "rsqrt": 1.01}, inner=HALF)
ROWS, CHANNELS = 6, 128

CASES: dict[str, Callable[[Builder], str]] = {
    "layer_norm": lambda b: b("y", "layer_norm", "x", "g", "b", eps=1e-5),
    "rms_norm": lambda b: b("y", "rms_norm", "x", "g", eps=1e-5),
    "softmax": lambda b: b("y", "softmax", "x", axis=-1),
    "gelu_tanh": lambda b: b("y", "gelu", "x", approximate="tanh"),
    "gelu": lambda b: b("y", "gelu", "x", approximate="erf"),
    "silu": lambda b: b("y", "silu", "x"),
    "sigmoid": lambda b: b("y", "sigmoid", "x"),
    "tanh": lambda b: b("y", "tanh", "x"),
    "linear": lambda b: b("y", "linear", "x", "w", "b", "z", residual=True, activation="gelu_tanh"),
    "relu": lambda b: b("y", "linear", "x", "w", "b", activation="relu"),
    "product": lambda b: b("y", "linear", "x", "w", "b", "z", residual=True),
    "matmul": lambda b: b("y", "matmul", "x", "w"),
    "add": lambda b: b("y", "add", "x", "z"),
    "attention": lambda b: b("y", "attention", "x", "z", "v", heads=2, kv_heads=2, scale=0.125, causal=True),
    "seen": lambda b: b("y", "attention", "x", "z", "v", heads=2, kv_heads=2, scale=0.125, causal=False),
    "shared": lambda b: b("y", "attention", "x", "k1", "v1", heads=2, kv_heads=1, scale=0.125, causal=True),
    "sequences": lambda b: b("y", "attention", "x2", "z2", "v2", heads=2, kv_heads=2, scale=0.125, causal=True),
}
WEIGHTS = {"g", "b", "w"}


def operation(name: str) -> tuple[FleetOp, list[str]]:
    shapes = dict.fromkeys(("x", "z", "v"), (ROWS, CHANNELS)) | dict.fromkeys(("k1", "v1"), (ROWS, 64))
    shapes |= dict.fromkeys(("x2", "z2", "v2"), (2, ROWS, CHANNELS))
    weights = {"g": np.ones(CHANNELS), "b": np.ones(CHANNELS), "w": np.ones((CHANNELS, CHANNELS))}
    b = Builder(shapes, weights, "float64")
    program = b.done(CASES[name](b))
    (op,) = program.operations()
    names = dict(zip(program.function.body.block.args, (a.name for a in program.arguments), strict=True))
    return op, [names[v] for v in op.operands]


def draw(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name == "w":
        return rng.standard_normal(shape) / np.sqrt(CHANNELS)
    return rng.standard_normal(shape) * rng.choice([0.3, 1.0, 3.0]) + (1.0 if name == "g" else 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # `tolerance` calls rules with floating-point errors off
@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("name", CASES)
def test_what_operands_do_stays_within_the_spread(name: str, size: float) -> None:
    """Errors of random signs at their most, and errors along the directions in which rows are stretched most."""
    op, names = operation(name)
    rng = np.random.default_rng(0)
    worst = 0.0
    for trial in range(6):
        x = [draw(rng, n, tuple(v.type.get_shape())) for n, v in zip(names, op.operands, strict=True)]  # pyright: ignore[reportAttributeAccessIssue]
        moved, e, norms = [], [], []
        for n, value in zip(names, x, strict=True):
            direction = rng.standard_normal(value.shape)
            if n != "w" and "w" in names and trial % 2 and value.shape == (ROWS, CHANNELS):
                direction = np.linalg.svd(x[names.index("w")])[0][:, :1].T * np.ones((ROWS, 1))
            elif trial % 3 == 0:
                direction = np.sign(direction)
            delta = np.zeros_like(value) if n in WEIGHTS else size * direction / np.abs(direction).max()
            moved.append(value + delta)
            e.append(np.full(value.shape, np.abs(delta).max()) if delta.any() else np.zeros_like(value))
            norms.append(row_norm(delta) * (1 + 1e-12))
        split = split_of(BoundStep(op, x, e, SINGLE, UNIT, norms=norms))
        assert split is not None
        y = apply(op, x)
        found, slack = np.abs(apply(op, moved) - y), 1e-9 * (1 + np.abs(y))
        assert (found <= split.spread + slack).all()
        assert (row_norm(found) <= split.row + row_norm(slack)).all()
        worst = max(worst, float((row_norm(found) / split.row).max()))
    assert worst > (0.002 if size < 50 else 0.0)  # not merely true


def rounded(op: FleetOp, x: list[np.ndarray]) -> np.ndarray:
    """The operation in binary32, scores and probabilities stored as FP16."""
    single = [v.astype(np.float32) for v in x]
    if op.name != "fleet.attention":
        return np.asarray(apply(op, single)).astype(np.float64)
    if single[0].ndim == 3:
        return np.stack([rounded(op, list(of)) for of in zip(*single, strict=True)])
    q, k, v = single
    heads, kv_heads = 2, k.shape[1] // 64
    out: list[np.ndarray] = []
    for h in range(heads):
        kv = h * kv_heads // heads
        at = slice(kv * 64, kv * 64 + 64)
        s = ((q[:, h * 64 : h * 64 + 64] @ k[:, at].T) * np.float32(0.125)).astype(np.float16).astype(np.float32)
        if op.properties["causal"].value.data:  # pyright: ignore[reportAttributeAccessIssue]
            s = np.where(np.tri(*s.shape, dtype=bool), s, np.float32(-np.inf))
        w = np.exp(s - s.max(-1, keepdims=True))
        w = (w / w.sum(-1, keepdims=True)).astype(np.float16).astype(np.float32)
        out.append(w @ v[:, at])
    return np.hstack(out).astype(np.float64)


@pytest.mark.parametrize("name", ["attention", "seen", "shared", "sequences"])
def test_exact_products_of_attention_are_bounded_as_such(name: str) -> None:
    """Sums of products that are rounded once, beside a softmax's that is rounded at each step."""
    op, names = operation(name)
    rng = np.random.default_rng(2)
    x = [draw(rng, n, tuple(v.type.get_shape())) for n, v in zip(names, op.operands, strict=True)]  # pyright: ignore[reportAttributeAccessIssue]
    none = [np.zeros_like(v) for v in x]
    each, once, unstated = (
        split_of(BoundStep(op, x, none, SINGLE, replace(UNIT, roundings=many, products=products)))
        for many, products in ((69, 69), (69, 1), (69, None))
    )
    assert each is not None
    assert once is not None
    assert unstated is not None
    assert (once.rounding < each.rounding).all()
    assert (unstated.rounding == each.rounding).all()


@pytest.mark.parametrize("name", CASES)
def test_what_the_unit_adds_stays_within_its_rounding(name: str) -> None:
    op, names = operation(name)
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(6):
        x = [
            draw(rng, n, tuple(v.type.get_shape())).astype(np.float32).astype(np.float64)  # pyright: ignore[reportAttributeAccessIssue]
            for n, v in zip(names, op.operands, strict=True)
        ]
        none = [np.zeros_like(v) for v in x]
        split = split_of(BoundStep(op, x, none, SINGLE, UNIT))
        assert split is not None
        assert not split.spread.any()
        found = np.abs(rounded(op, x) - apply(op, x))
        assert (found <= split.rounding).all()
        worst = max(worst, float((found / split.rounding).max()))
    assert worst > 0.003


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "softmax", "attention"])
def test_whatever_the_operand_is_the_result_has_a_bound(name: str) -> None:
    """A normalised row and a mean of values cannot leave their range."""
    op, names = operation(name)
    x = [draw(np.random.default_rng(2), n, tuple(v.type.get_shape())) for n, v in zip(names, op.operands, strict=True)]  # pyright: ignore[reportAttributeAccessIssue]
    e = [np.full(v.shape, 1e3) if i == 0 else np.zeros_like(v) for i, v in enumerate(x)]
    split = split_of(BoundStep(op, x, e, SINGLE, UNIT))
    assert split is not None
    limit = {"softmax": 1.0, "attention": 2 * np.abs(x[-1]).max()}.get(
        name, 4 * np.sqrt(CHANNELS) * np.abs(x[-1 if len(x) < 3 else 1]).max()
    )
    assert split.spread.max() <= limit
    if name != "attention":
        assert (split.spread + split.rounding).max() <= 1.01 * limit + 1


def test_a_table_counts_with_what_is_stated_of_it() -> None:
    op, _ = operation("gelu_tanh")
    x = np.linspace(-4, 4, ROWS * CHANNELS).reshape(ROWS, CHANNELS)
    stated = Arithmetic(SINGLE, absolute={"gelu_tanh": 0.00302})
    split = split_of(BoundStep(op, [x], [np.zeros_like(x)], SINGLE, stated))
    assert split is not None
    assert np.all(split.rounding == 0.00302)
