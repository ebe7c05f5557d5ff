"""Bounds that are computed as they are asked for: the same as the direct formulas give, each once, in bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fleet
from fleet.compare import operation_rows
from fleet.compare.bounds import tolerance
from fleet.compare.bounds.bound import Bound
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds, local_bounds
from fleet.compare.rules.arithmetic import ARITHMETIC, product_parts
from fleet.compare.rules.steps import Arithmetic, BoundStep, gamma, unit
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program

STORED = Path(__file__).parent / "data" / "direct_bounds.npz"
"""Bounds of `drawn` by seed and operation, by a straight evaluation of every formula over all operations at once."""
SEEDS = range(10)


def drawn(seed: int) -> str:
    """A model of about twenty operations on x [4, 6], w [6, 6]."""
    rng = np.random.default_rng(seed)
    lines = ["import numpy as np", "", 'def f(x: "float32[4, 6]", w: "float32[6, 6]"):', "    a = x"]
    steps = (
        "a = a @ w", "a = np.tanh(a) + x", "a = np.maximum(a, 0) * 0.5", "a = a - a.mean(axis=1, keepdims=True)",
        "a = np.exp(a * 0.1)", "a = np.concatenate((a[:, 3:], a[:, :3]), axis=1)", "a = a.T.reshape(4, 6)", "a = np.abs(a) + 1.5",
        "a = 1.0 / (np.abs(a) + 2)", "a = a[[3, 1, 0, 2]]", "a = np.sqrt(np.abs(a) + 0.25)", "a = np.where(a > 0.1, a, x)",
        "a = np.pad(a, ((0, 0), (1, 1)))[:, 1:7]", "e = np.exp(a)\n    a = e / e.sum(axis=1, keepdims=True)",
        "a = (a @ w) @ (w + w)", "a = a * x",
    )  # fmt: skip
    lines += [f"    {steps[int(i)]}" for i in rng.integers(len(steps), size=9)]
    return "\n".join([*lines, "    return a", ""])


def made(seed: int, folder: Path) -> tuple[Program, dict[str, np.ndarray], Mapping[str, np.ndarray]]:
    """(program, inputs, the golden's tensors)."""
    path = folder / f"m{seed}.py"
    path.write_text(drawn(seed))
    rng = np.random.default_rng(100 + seed)
    w, x = (rng.standard_normal(s).astype(np.float32) for s in ((6, 6), (4, 6)))
    model = fleet.compile(f"{path}:f", weights={"w": w}, inputs={"x": x})
    return model.program, {"x": x}, model.run("vm", {"x": x}).tensors


def bounds_of(program: Program, inputs: dict[str, np.ndarray], golden: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    values = Values(program, inputs, golden)
    found = {f"all {n}": b.array for n, b in cumulative_bounds(values, FloatArithmetic()).items()}
    return found | {f"own {n}": b.array for n, b in local_bounds(values, FloatArithmetic()).items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bounds_are_those_of_the_direct_formulas(seed: int, tmp_path: Path) -> None:
    with np.load(STORED) as stored:
        expected = {name.removeprefix(f"{seed} "): stored[name] for name in stored.files if name.startswith(f"{seed} ")}
    found = bounds_of(*made(seed, tmp_path))
    assert found.keys() == expected.keys()
    for name, array in found.items():
        # The golden's own float32 values, which enter, differ in their last bits from processor to processor.
        np.testing.assert_allclose(array, expected[name], rtol=1e-6, atol=0, err_msg=name)


@pytest.mark.parametrize("shapes", [((3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((3, 5), (2, 5, 4)), ((5,), (5, 4))])
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", ["none", "left", "right", "both", "infinite"])
def test_a_product_is_bounded_by_the_whole_formula(shapes: tuple[tuple[int, ...], ...], kind: str) -> None:
    rng = np.random.default_rng(3)
    x = [rng.standard_normal(s) * 10.0 ** rng.integers(-3, 4, s) for s in shapes]
    e = [
        np.abs(rng.standard_normal(s)) * 1e-3 * (kind in {side, "both", "infinite"})
        for s, side in zip(shapes, ("left", "right"), strict=True)
    ]
    if kind == "infinite":
        e[0][..., 0] = np.inf
    left, right, dtype = np.abs(x[0]), np.abs(x[1]), np.dtype(np.float32)
    whole = e[0] @ right + (left + e[0]) @ e[1] + gamma(5, dtype) * ((left + e[0]) @ (right + e[1])) + 5 * unit(dtype)[1]
    spread, rounding = product_parts(BoundStep(None, x, e, dtype, Arithmetic()))  # type: ignore[arg-type]
    np.testing.assert_allclose(spread + rounding, whole, rtol=1e-12)


def test_a_product_that_may_overflow_is_bounded_by_nothing() -> None:
    x = [np.array([[3e38, 3e38], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, -1.0]])]
    spread, rounding = product_parts(BoundStep(None, x, [np.zeros((2, 2))] * 2, np.dtype(np.float32), Arithmetic()))  # type: ignore[arg-type]
    assert not spread.any()
    assert np.isinf(rounding).tolist() == [[True, False], [False, False]]


def layers(count: int, folder: Path) -> tuple[Program, dict[str, np.ndarray], Mapping[str, np.ndarray]]:
    path = folder / "layers.py"
    path.write_text(
        'import numpy as np\n\ndef f(x: "float32[512, 256]", w: "float32[256, 256]"):\n'
        f"    for i in range({count}):\n        x = np.maximum(x @ w, 0)\n    return x\n"
    )
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((512, 256)).astype(np.float32), (rng.standard_normal((256, 256)) / 20).astype(np.float32)
    model = fleet.compile(f"{path}:f", weights={"w": w}, inputs={"x": x})
    return model.program, {"x": x}, model.run("vm", {"x": x}).tensors


def test_memory_does_not_grow_with_the_operations(tmp_path: Path) -> None:
    peaks: list[float] = []
    for count in (4, 16):
        program, inputs, golden = layers(count, tmp_path)
        values = Values(program, inputs, golden)
        tracemalloc.start()
        for _ in cumulative_bounds(values, FloatArithmetic()).values():
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0], peaks


def test_each_bound_is_computed_once_in_program_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, inputs, golden = made(0, tmp_path)
    computed: list[str] = []
    step = tolerance._step

    def counted(op: FleetOp, *rest: Any, **more: Any) -> Bound:
        computed.append(op_id(op))
        return step(op, *rest, **more)

    monkeypatch.setattr(tolerance, "_step", counted)
    bounds = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())
    assert computed == []
    for name in bounds:
        assert bounds[name] is bounds[name]
    assert computed == list(bounds)
    arrays = {name: bounds[name].array for name in reversed(list(bounds))}
    assert len(computed) <= 3 * len(bounds)
    assert all(np.array_equal(bounds[name].array, array) for name, array in arrays.items())


def test_a_comparison_tells_of_every_operation(tmp_path: Path) -> None:
    program, inputs, _ = made(1, tmp_path)
    heard: list[tuple[str, str]] = []
    options = CosimOptions(
        model="m", data=DataProvenance("random", 1, None, None, ""), progress=lambda name, _, words: heard.append((name, words))
    )
    result = cosim(program, inputs, None, ["vm", "llvm-cpu"], options)
    compared = [row.op for row in result.comparisons[0].operations]
    assert len(compared) > 5
    told = [words for name, words in heard if name == "llvm-cpu against vm"]
    assert [f"comparing {op}" for op in compared] == [words for words in told if words.removeprefix("comparing ") in compared]


@pytest.mark.parametrize("what", ["absolute_error", "_held"])
def test_what_two_figures_need_is_computed_once(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation has two pairs of arrays: both traces, and the operation alone on its own operands, which counts as local too."""
    program, inputs, _ = made(1, tmp_path)
    calls: list[None] = []
    function = getattr(operation_rows, what)
    monkeypatch.setattr(operation_rows, what, lambda *a, **k: calls.append(None) or function(*a, **k))
    options = CosimOptions(model="m", data=DataProvenance("random", 1, None, None, ""))
    result = cosim(program, inputs, None, ["vm", "llvm-cpu"], options)
    rows = result.comparisons[0].operations
    assert all(row.local_bound == row.own_bound and row.local_bound is not None for row in rows)
    assert len(calls) == 2 * len(rows)


def test_a_mask_of_exact_infinities_hides_errors() -> None:
    """-inf that is exact, plus what is finite wherever it lies, is -inf. A doubtful infinity stays doubtful."""
    scores, mask = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0.0, -np.inf, -np.inf, -np.inf])
    errors, doubt = np.array([[0.1, 0.1, np.inf, 1e39]]), np.array([0.0, 0.0, 0.0, 0.0])
    step = BoundStep(None, [scores, mask], [errors, doubt], np.dtype(np.float32), Arithmetic())  # type: ignore[arg-type]
    bound = ARITHMETIC[d.AddOp](step)
    assert bound[0, 1] == 0.0
    assert 0.1 <= bound[0, 0] < 0.1001
    assert np.isinf(bound[0, 2:]).all(), "the scores may be infinite there, and the sum NaN"
    step = BoundStep(None, [scores, mask], [errors, doubt + 0.1], np.dtype(np.float32), Arithmetic())  # type: ignore[arg-type]
    assert np.isinf(ARITHMETIC[d.AddOp](step)[0, 1:]).all()
