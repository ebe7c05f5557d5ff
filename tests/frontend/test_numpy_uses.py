"""One-line uses of NumPy (`numpy_uses.txt`): what is taken is CPython's result in every bit; what is refused says why."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_source import program_of
from helpers_uses import Use, by_python, corpus, difference, flat, source_of

from fleet.engines.base import RunOptions
from fleet.engines.interp import ENGINE as INTERP
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM_ENGINE
from fleet.errors import DeviceError, FleetError, SourceError
from fleet.frontend.interpreter import run
from fleet.ir.lowering_options import LoweringOptions

INPUTS, USES = corpus()
TAKEN = [u for u in USES if not u.refused]


def given(use: Use) -> tuple[str, dict[str, np.ndarray]]:
    text, names = source_of(use.code, INPUTS)
    return text, {n: INPUTS[n] for n in names}


@pytest.mark.parametrize("use", TAKEN, ids=lambda u: u.code)
def test_what_is_taken_is_cpythons_in_every_bit(tmp_path, use: Use) -> None:
    text, inputs = given(use)
    program = program_of(tmp_path, text, **inputs)
    program.module.verify()
    expected = by_python(text, inputs)
    found = list(VM_ENGINE.run(program, inputs, RunOptions()).outputs.values())
    assert len(found) == len(expected)
    assert not [d for f, e in zip(found, expected, strict=True) if (d := difference(f, e))]


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -7.25, 30.0, np.nan, np.inf, -np.inf, 1e-3]
DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "uint64", "bool"]


def changed(name: str, like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An input of the same name in another dtype or shape, some with zeros, infinities and NaN."""
    dtype = np.dtype(rng.choice(DTYPES) if like.dtype.kind != "b" and rng.random() < 0.8 else like.dtype)
    kind = rng.random()
    shape = (*like.shape[:-1], 0) if kind < 0.1 and like.shape else (1,) * like.ndim if kind < 0.2 else like.shape
    x = rng.choice(SPECIAL, shape) if rng.random() < 0.4 else rng.standard_normal(shape) * 4
    if dtype.kind in "iub":
        x = np.nan_to_num(x, nan=2, posinf=7, neginf=-3)
        x = np.abs(x) if dtype.kind == "u" else x
    x = np.asarray(x).astype(dtype)
    if name in "ik":
        x = np.abs(x if dtype.kind == "u" else np.nan_to_num(x.astype(float), posinf=7, neginf=-3).astype(np.int64)) % 3
    return np.sort(x) if name == "q" else np.asarray(x)


@pytest.mark.parametrize("seed", range(20))
def test_other_dtypes_and_shapes_are_cpythons_or_refused(tmp_path, seed: int) -> None:
    """A part of the uses, each with inputs that nobody wrote it for: equal in every bit, or refused with a code."""
    rng = np.random.default_rng(seed)
    wrong: list[str] = []
    for use in rng.choice(np.array(TAKEN, object), 40):
        if "argsort(" in use.code and "stable" not in use.code:
            continue  # NumPy leaves the order of equal elements open
        text, names = source_of(use.code, INPUTS)
        inputs = {n: changed(n, INPUTS[n], rng) for n in names}
        try:
            expected: list[np.ndarray] | None = by_python(text, inputs)
        except Exception:
            expected = None
        try:
            found = list(VM_ENGINE.run(program_of(tmp_path, text, **inputs), inputs, RunOptions()).outputs.values())
        except FleetError:
            continue
        words = f"{use.code} of {', '.join(f'{v.dtype}{list(v.shape)}' for v in inputs.values())}"
        if expected is None:
            wrong.append(f"{words}: taken, CPython refuses it")
        else:
            wrong += [f"{words}: {d}" for f, e in zip(found, expected, strict=True) if (d := difference(f, e))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("use", [u for u in USES if u.refused], ids=lambda u: u.code)
def test_what_is_refused_says_why(tmp_path, use: Use) -> None:
    text, inputs = given(use)
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, text, **inputs)
    assert caught.value.code == use.refused


def test_most_uses_are_taken() -> None:
    assert len(USES) > 900
    assert len(TAKEN) >= 0.95 * len(USES)


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    """Equal up to rounding in another order."""
    rtol = {np.dtype(np.float16): 2e-3, np.dtype(np.float32): 4e-6}.get(expected.dtype, 1e-11)
    same = found.shape == expected.shape and found.dtype.kind == expected.dtype.kind
    return same and np.allclose(found, expected, rtol=rtol, atol=1e-13 if expected.dtype == np.float64 else 1e-6, equal_nan=True)


@pytest.mark.parametrize("use", TAKEN, ids=lambda u: u.code)
def test_sequences_that_stand_for_functions_give_what_the_functions_give(tmp_path, use: Use) -> None:
    """What targets without NumPy compute: the interpreter after their passes."""
    text, inputs = given(use)
    program = program_of(tmp_path, text, **inputs)
    expected = by_python(text, inputs)
    found = list(INTERP.run(program, inputs, RunOptions(lowering=LoweringOptions(pipeline="riscv"))).outputs.values())
    for f, e in zip(found, expected, strict=True):
        assert close(f, e), (f, e)


@pytest.mark.parametrize("use", TAKEN, ids=lambda u: u.code)
def test_the_interpreter_gives_the_same(tmp_path, use: Use) -> None:
    text, inputs = given(use)
    path = tmp_path / "model.py"
    path.write_text(text)
    found = flat(run(f"{path}:forward", {k: v.copy() for k, v in inputs.items()}).returned)
    expected = by_python(text, inputs)
    assert not [d for f, e in zip(found, expected, strict=True) if (d := difference(np.asarray(f), e))]


@pytest.mark.parametrize("use", TAKEN[::8], ids=lambda u: u.code)
def test_riscv_computes_the_same_or_names_what_it_lacks(tmp_path, use: Use) -> None:
    text, inputs = given(use)
    program = program_of(tmp_path, text, **inputs)
    try:
        found = RISCV.run(program, inputs, RunOptions()).outputs.values()
    except DeviceError as error:
        assert any(w in str(error) for w in ("(numpy.", "float16", "f16", "complex")), error  # noqa: PT017
        return
    for f, e in zip(found, by_python(text, inputs), strict=True):
        assert close(f, e), (f, e)


def test_what_values_decide_is_known_where_they_are(tmp_path) -> None:
    text = "import numpy as np\n\n\ndef forward(x):\n    return x[np.unique(np.array([2, 0, 2, 1]))][:, np.union1d([1], [0, 1])]\n"
    x = np.arange(12.0).reshape(3, 4)
    program = program_of(tmp_path, text, x=x)
    assert [f.tolist() for f in VM_ENGINE.run(program, {"x": x}, RunOptions()).outputs.values()] == [x[:, :2].tolist()]
    assert all("?" not in str(op.results[0].type) for op in program.operations())
