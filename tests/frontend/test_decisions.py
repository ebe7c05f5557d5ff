"""Decisions and loops of the run: what CPython does, on the VM and by the IR bit for bit, on riscv nearly."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fleet
from fleet.errors import DeviceError, ModelError, SourceError
from fleet.frontend.arrays import builder, known_values
from fleet.ir.dialect import IfOp, WhileOp, all_operations
from fleet.ir.operations import regions
from fleet.targets.bytecode import vm

SEEDS = range(3)


def reals(rng: np.random.Generator, *shape: int, dtype: str = "float64") -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


FOLDER = Path(__file__).parent / "decisions"
PROGRAMS = sorted(FOLDER.glob("*.py"))
REFUSED = sorted(FOLDER.glob("refused/*.py"))
"""Their first line has the code of the error and its words: `#! CODE pattern`."""


def inputs_of(source: str, seed: int) -> dict[str, np.ndarray]:
    """Arrays for what the source declares; integers are small and positive."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for part in source.partition("def forward(")[2].partition("):")[0].split('", '):
        name, _, declared = part.strip().rstrip('"').partition(': "')
        dtype, _, shape = declared.rstrip("]").partition("[")
        sizes = tuple(int(n) for n in shape.split(","))
        found[name] = rng.integers(1, 60, sizes).astype(dtype) if dtype.startswith("int") else reals(rng, *sizes, dtype=dtype)
    if "g * g - v" in source:
        found = {name: np.abs(a) + 1 for name, a in found.items()}  # of a negative number the loop has no end
    return found


def expected(source: str, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What CPython gives."""
    names: dict[str, Any] = {"np": np}
    exec(source, names)
    found = names["forward"](**{name: a.copy() for name, a in inputs.items()})
    found = tuple(found.values()) if isinstance(found, dict) else found
    return [np.asarray(v) for v in (found if isinstance(found, tuple) else (found,))]


def compiled(folder: Path, source: str, inputs: dict[str, np.ndarray]) -> fleet.Compiled:
    path = folder / "m.py"
    path.write_text(f"import numpy as np\n{source}")
    return fleet.compile(f"{path}:forward", inputs=inputs)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_what_cpython_gives(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    for seed in SEEDS:
        inputs = inputs_of(source, seed)
        model = fleet.compile(f"{path}:forward", inputs=inputs)
        wanted = expected(source, inputs)
        for engine in ("vm", "interp"):
            found = [np.asarray(v) for v in model.run(engine).outputs.values()]
            for a, b in zip(found, wanted, strict=True):
                assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), (engine, seed)
        for engine in ("riscv", "llvm-cpu"):
            found = [np.asarray(v) for v in model.run(engine).outputs.values()]
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=f"{engine}, seed {seed}")


@pytest.mark.parametrize("path", REFUSED, ids=lambda p: p.stem)
def test_what_cannot_be_followed_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MAX_OPERATIONS", 20_000)
    source = path.read_text(encoding="utf-8")
    code, words = source.partition("\n")[0].removeprefix("#! ").split(" ", 1)
    with pytest.raises(SourceError, match=words) as caught:
        fleet.compile(f"{path}:forward", inputs=inputs_of(source, 0))
    assert f" {code} " in str(caught.value)


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 35
    assert len(REFUSED) >= 10


def test_bodies_hold_what_the_source_has(tmp_path: Path) -> None:
    source = (
        'def forward(x: "float32[4]"):\n    while x.max() > 1:\n        x = x * np.float32(0.5)\n'
        "    if x.sum() > 0:\n        x = -x\n    return x\n"
    )
    model = compiled(tmp_path, source, {"x": np.ones(4, np.float32)})
    kinds = [type(op) for op in all_operations(model.program.function.body.block)]
    assert (kinds.count(WhileOp), kinds.count(IfOp)) == (1, 1)
    model.program.module.verify()
    code = model.text("bytecode")
    assert "goto" in code
    assert "if_false" in code


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
def test_a_loop_without_an_end_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setattr(regions, "MAX_ROUNDS", 1000)
    monkeypatch.setattr(vm, "MAX_STEPS", 10_000)
    source = 'def forward(x: "float32[1]"):\n    while x[0] < 1:\n        x = x * np.float32(0.5)\n    return x\n'
    model = compiled(tmp_path, source, {"x": np.zeros(1, np.float32)})
    with pytest.raises(ModelError, match=r"steps without an end|a loop has not ended after 1,000 rounds"):
        model.run(engine)


RAISES = """
def checked(v, low):
    if v < low:
        raise ValueError(f"below {low}")
    return np.sqrt(v)

def forward(x: "float64[4]"):
    assert x.shape == (4,)
    assert np.all(np.isfinite(x)), "not finite"
    if x.max() > 1e6:
        raise OverflowError("too large")
    elif x.sum() == 0:
        y = x + 1
    else:
        y = x * 2
    total = 0.0
    for v in y:
        if v > 1000:
            unit = "kilo"
            raise RuntimeError(unit + " too big")
        total += checked(v, -1.0)
    n = 0
    while total > 0.1:
        total = total / 2
        n += 1
        if n > 9:
            raise RuntimeError("no convergence")
    return y, n, total, 1.0 if n < 9 else checked(-total - 2, -1.0)
"""


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([0.0, 1.0, 2.0, 3.0], None),
        ([0.0, 0.0, 0.0, 0.0], None),
        ([0.0, 1.0, np.nan, 3.0], "AssertionError: not finite"),
        ([0.0, 1.0, 2e6, 3.0], "OverflowError: too large"),
        ([0.0, 1.0, 2e3, 3.0], "RuntimeError: kilo too big"),
        ([0.0, 1.0, 2.0, -3.0], "ValueError: below -1.0"),
        ([200.0, 200.0, 200.0, 200.0], "RuntimeError: no convergence"),
        ([50.0, 50.0, 50.0, 50.0], "ValueError: below -1.0"),
    ],
)
def test_what_the_source_raises_ends_the_run(tmp_path: Path, engine: str, x: list[float], said: str | None) -> None:
    inputs = {"x": np.array(x)}
    model = compiled(tmp_path, RAISES, inputs)
    if said is None:
        for found, wanted in zip(model.run(engine).outputs.values(), expected(RAISES, inputs), strict=True):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
        return
    kind, _, text = said.partition(": ")
    with pytest.raises(getattr(builtins, kind), match=text):
        expected(RAISES, inputs)
    with pytest.raises(ModelError, match=f"the source raises {said}"):
        model.run(engine)


SAID = """
def forward(x: "float64[3]"):
    assert x[0] >= 0, x.tobytes().hex()
    if x.sum() > 4:
        raise ValueError("bytes " + x.tobytes().hex())
    return x + 1
"""


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([1.0, 1.0, 1.0], None),
        ([-1.0, 1.0, 1.0], r"AssertionError: x\.tobytes\(\)\.hex\(\)"),
        ([1.0, 3.0, 1.0], r"ValueError\('bytes ' \+ x\.tobytes\(\)\.hex\(\)\)"),
    ],
)
def test_a_message_that_only_cpython_computes_is_shown_as_its_source(tmp_path: Path, x: list[float], said: str | None) -> None:
    model = compiled(tmp_path, SAID, {"x": np.array(x)})
    if said is None:
        assert np.array_equal(model.run("vm").outputs["out0"], np.array(x) + 1)
        return
    with pytest.raises(ModelError, match=f"the source raises {said}"):
        model.run("vm")


def test_nan_has_no_order(tmp_path: Path) -> None:
    source = 'def forward(x: "float64[3]"):\n    return sorted(x)[0]\n'
    for engine in ("vm", "riscv"):
        with pytest.raises(ModelError, match="NaN is sorted, which has no order"):
            compiled(tmp_path, source, {"x": np.array([1.0, np.nan, 0.0])}).run(engine)


def test_an_integer_that_python_alone_can_hold_ends_the_run(tmp_path: Path) -> None:
    source = 'def forward(a: "uint64[1]"):\n    return int(a[0]) + 1\n'
    for engine in ("vm", "interp", "riscv", "llvm-cpu"):
        assert compiled(tmp_path, source, {"a": np.array([5], np.uint64)}).run(engine).outputs["out0"] == 6
        with pytest.raises(ModelError, match="9223372036854775808 is no number of the run"):
            compiled(tmp_path, source, {"a": np.array([1 << 63], np.uint64)}).run(engine)


PRINTS = """
def forward(x: "float64[3]"):
    n = 0
    while x.max() > 1:
        {inside}
        x = x * 0.5
        n += 1
    if n > 1:
        x = -x
    print("rounds", n, [n, x[0]], (n,), n > 2)
    print("%d of %5.2f: %s" % (n, x[0], x), "{{:>6.3f}} {{}}".format(x[1], n))
    print(f"{{n}} rounds|{{n:3d}}|{{n!r}}|{{n / 2:.2f}}|{{x.sum():8.3f}}")
    return x
"""


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
def test_prints_are_pythons(tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    inside = 'print(n, x.max(), f"{n:>4}")' if engine in ("vm", "interp") else "pass"
    source, inputs = PRINTS.format(inside=inside), {"x": np.array([1.0, 2.0, 7.0])}
    expected(source, inputs)
    wanted = capsys.readouterr().out
    trace = compiled(tmp_path, source, inputs).run(engine)
    assert str(trace.meta.get("stdout", capsys.readouterr().out)) == wanted


def test_a_print_in_a_body_is_the_hosts_on_riscv_and_refused_where_code_does_not_print(tmp_path: Path) -> None:
    model = compiled(tmp_path, PRINTS.format(inside="print(n)"), {"x": np.array([1.0, 2.0, 7.0])})
    printed = model.run("vm").meta["stdout"]
    assert printed
    assert model.run("riscv").meta["stdout"] == printed
    with pytest.raises(DeviceError, match="a print in a part that only the run enters or repeats"):
        model.run("llvm-cpu")


def test_a_long_loop_stays_a_loop_and_a_short_one_is_unrolled(tmp_path: Path) -> None:
    source = (
        'def forward(x: "float64[9]"):\n    y = 0.0\n    for i in range({rounds}):\n        y = y * 0.5 + x[i % 9]\n    return y\n'
    )
    loops = {}
    for rounds in (20, 20_000):
        model = compiled(tmp_path, source.format(rounds=rounds), {"x": np.arange(9.0)})
        loops[rounds] = sum(isinstance(op, WhileOp) for op in model.program.operations())
        wanted = expected(source.format(rounds=rounds), {"x": np.arange(9.0)})
        assert model.run("vm").outputs["y"] == wanted[0]
    assert loops == {20: 0, 20_000: 1}


TRAINING = """
def forward(x: "float64[6, 4]", w: "float64[4]"):
    rng = np.random.default_rng(1)
    found = []
    for step in range(400):
        rate = 0.1 if step < 200 else 0.01
        at = rng.integers(0, 6, 3)
        error = x[at] @ w - 1.0
        grads = {"w": x[at].T @ error / 3, "noise": 1e-3 * rng.normal(size=4)}
        w = w - rate * (grads["w"] + grads["noise"] + np.tanh(w) * 1e-3)
        loss = np.mean(error**2)
        if step % 100 == 0 or step == 399:
            found.append(loss)
            print("step", step, loss > 0)
    return w, np.array(found), rng.random(2)
"""


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv"])
def test_rounds_that_print_stay_apart_from_a_training_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    rng = np.random.default_rng(0)
    inputs = {"x": reals(rng, 6, 4), "w": reals(rng, 4)}
    wanted = expected(TRAINING, inputs)
    printed = capsys.readouterr().out
    model = compiled(tmp_path, TRAINING, inputs)
    operations = list(all_operations(model.program.function.body.block))
    assert sum(isinstance(op, WhileOp) for op in operations) == 4  # between the rounds 0, 100, 200, 300 and 399
    assert len(operations) < 600
    trace = model.run(engine)
    assert str(trace.meta.get("stdout", capsys.readouterr().out)) == printed
    for a, b in zip(trace.outputs.values(), wanted, strict=True):
        if engine == "riscv":
            np.testing.assert_allclose(a, b, rtol=1e-9)
        else:
            assert np.asarray(a).tobytes() == b.tobytes()


def test_extremes_of_known_numbers_beside_unknown_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two known numbers are compared while the source is read, also where no more is computed then."""
    text = """import numpy as np
def forward(x):
    counts = [3, 1, 2, *(int(np.sum(row > 0)) for row in x)]
    sums = [0.5, float("nan"), 4.0, *(float(row.sum()) for row in x)]
    return np.asarray(max(counts)), np.asarray(min(counts)), np.asarray(max(sums)), np.asarray(min(sums[2:]))
"""
    monkeypatch.setattr(known_values, "_MAX_WORK", 0)
    (tmp_path / "m.py").write_text(text)
    x = reals(np.random.default_rng(0), 6, 5)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    found = fleet.compile(f"{tmp_path}/m.py:forward", inputs={"x": x}).run("vm").outputs.values()
    np.testing.assert_array_equal(list(found), [*namespace["forward"](x)])
