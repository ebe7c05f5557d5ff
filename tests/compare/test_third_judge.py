"""The third judge: what is held to higher precision, what is not, and what nobody can say.

The engine here shows outputs only and computes in another order than the golden. Each planted wrong result must fail: the judge
excuses rounding and nothing else. References are computed by NumPy in float64 and longdouble, not by the judge's evaluator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from fleet.compare.judges.condition import FunctionErrors, determined, moved, rounded_at_random
from fleet.compare.judges.higher_precision import evaluate, widest
from fleet.compare.judges.third_judge import ThirdJudge
from fleet.compare.measured import OperationRow
from fleet.compare.traces import Doubt
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime.of_file import fused
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load
from fleet.ir.dialect import FleetOp, op_id

# A magnitude spectrum behind 24 reflections. These leave errors as they are, but bounds of single elements grow by 5.7 a step,
# so that from the division on none is finite.
VOICE = """import numpy as np
def forward(x: "DT[6, 32]", q: "DT[32, 32]", c: "DT[32, 12]", s: "DT[32, 12]", w: "DT[12, 5]"):
    for _ in range(24):
        x = np.abs(x @ q)
    re, im = x @ c, x @ s
    size = np.sqrt(re * re + im * im)
    level = size / (np.max(size, axis=-1, keepdims=True) - np.min(size, axis=-1, keepdims=True))
    return 1 / (1 + np.exp(-(level @ w)))
"""
ROUTER = """import numpy as np
def forward(x: "DT[6, 32]", q: "DT[32, 32]", c: "DT[32, 12]", s: "DT[32, 12]"):
    for _ in range(24):
        x = np.abs(x @ q)
    re, im = x @ c, x @ s
    size = np.sqrt(re * re + im * im)
    score = size / (np.max(size, axis=-1, keepdims=True) - np.min(size, axis=-1, keepdims=True))
    order = np.argsort(-score, axis=-1)
    return order[:, :4], np.sort(score, axis=-1), order, np.argmax(score, axis=-1)
"""
DTYPES = ["float32", "float64"]


@dataclass
class Outputs:
    """An engine that shows outputs only. order: it sums the inputs' columns in this order. spoil: outputs -> None, in place."""

    spoil: object = None
    name: str = "blackbox"
    target: str = "onnx"

    def available(self) -> None:
        return None

    def run(self, program, inputs, options) -> Trace:
        # The 32 channels the other way round: the same sums in another order.
        turned = {n: {"q": a[::-1, ::-1], "c": a[::-1], "s": a[::-1]}.get(n, a) for n, a in program.weights.items()}
        other = replace(program, weights={n: np.ascontiguousarray(a) for n, a in turned.items()})
        found = VM.run(other, {"x": np.ascontiguousarray(inputs["x"][:, ::-1])}, options).outputs
        outputs = {n: np.array(a) for n, a in found.items()}
        if self.spoil is not None:
            self.spoil(outputs)
        exposed = {
            op_id(v.owner): n for n, v in zip(program.outputs, program.returned(), strict=True) if isinstance(v.owner, FleetOp)
        }
        trace = Trace(self.name, program.hash, outputs, {i: outputs[n] for i, n in exposed.items()}, complete=True)
        trace.meta["fates"] = fused(program, exposed)
        return trace


def model(tmp_path: Path, source: str, dtype: str, ties: bool = False):
    path = tmp_path / "m.py"
    path.write_text(source.replace("DT", dtype))
    rng = np.random.default_rng(5)
    angle = 2 * np.pi * np.outer(np.arange(32), np.arange(1, 13)) / 32
    weights = {"c": np.cos(angle), "s": np.sin(angle)}
    reflection = np.ones((1, 1))
    for _ in range(5):
        reflection = np.block([[reflection, reflection], [reflection, -reflection]]) / np.sqrt(2)
    weights["q"] = reflection
    if ties:  # two components of one size: in higher precision their gap is rounding
        weights["c"][:, 7], weights["s"][:, 7] = -weights["s"][:, 3], weights["c"][:, 3]
    if "w:" in source:
        weights["w"] = rng.standard_normal((12, 5))
    weights = {n: a.astype(dtype) for n, a in weights.items()}
    inputs = {"x": rng.standard_normal((6, 32)).astype(dtype)}
    return load(f"{path}:forward", weights, inputs), inputs


def compared(program, inputs, spoil=None):
    options = CosimOptions("m.py:f", DataProvenance("real", 6, None, None, None), engines={"vm": VM, "blackbox": Outputs(spoil)})
    return cosim(program, inputs, None, ("vm", "blackbox"), options)


def rows(result) -> list[OperationRow]:
    return list(result.comparison("blackbox-vs-vm").operations)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("source", [VOICE, ROUTER])
def test_another_order_of_sums_is_held_to_higher_precision(tmp_path: Path, source: str, dtype: str) -> None:
    result = compared(*model(tmp_path, source, dtype))
    assert result.verdict == "pass", result.reasons
    assert result.exit_code == 0
    ways = result.comparison("blackbox-vs-vm").ways
    assert ways.higher > 0, "the model is not steep enough to test this"
    assert ways.own == ways.accumulated == ways.not_proved == ways.beyond == 0
    row = next(row for row in rows(result) if row.higher is not None)
    assert row.higher.dtype == {"float32": "float64", "float64": "longdouble"}[dtype]
    assert 0 < row.higher.golden < 32
    assert row.higher.allowed == max(4 * row.higher.golden, 2.0)
    assert row.higher.other <= row.higher.allowed


def first(outputs):
    return next(a for a in outputs.values() if a.dtype.kind == "f")


def one_percent(outputs):
    y = first(outputs)
    y[tuple(i // 2 for i in y.shape)] *= 1.01


def sign(outputs):
    y = first(outputs)
    y[0, 1] = -y[0, 1]


def not_a_number(outputs):
    first(outputs)[1, 1] = np.nan


def other_row(outputs):
    y = first(outputs)
    y[0] = y[1]


def thousandth(outputs):
    first(outputs)[...] *= 1 + 2.0**-10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spoil", [one_percent, sign, not_a_number, other_row, thousandth])
def test_a_wrong_value_is_not_excused(tmp_path: Path, spoil, dtype: str) -> None:
    result = compared(*model(tmp_path, VOICE, dtype), spoil)
    assert (result.verdict, result.exit_code) == ("fail", 1), result.reasons
    if spoil is not not_a_number:  # which even a bound that says nothing does not hold
        assert "farther from" in result.reasons[0]
        assert "than 4 times the golden" in result.reasons[0]
    assert result.comparison("blackbox-vs-vm").ways.beyond > 0


def indices(outputs):
    return [a for a in outputs.values() if a.dtype.kind == "i"]


def off_by_one(outputs):
    top = indices(outputs)[0]
    top[2, 1] = (top[2, 1] + 1) % 12


def swapped_order(outputs):
    order = indices(outputs)[1]
    order[3, [0, 6]] = order[3, [6, 0]]


def twice(outputs):
    order = indices(outputs)[1]
    order[1, 3] = order[1, 2]


def outside(outputs):
    indices(outputs)[0][0, 0] = 12


def swapped_values(outputs):
    y = first(outputs)
    y[1, [4, 8]] = y[1, [8, 4]]


def other_class(outputs):
    best = indices(outputs)[2]
    best[4] = (best[4] + 5) % 12


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spoil", [off_by_one, swapped_order, twice, outside, swapped_values, other_class])
def test_a_wrong_index_or_order_is_not_excused(tmp_path: Path, spoil, dtype: str) -> None:
    result = compared(*model(tmp_path, ROUTER, dtype), spoil)
    assert (result.verdict, result.exit_code) == ("fail", 1), result.reasons


def test_an_order_with_an_index_twice_is_wrong(tmp_path: Path) -> None:
    """Both of two equal components: in values nothing differs, in the order one is missing."""

    def both(outputs):
        order = indices(outputs)[1]
        order[order == 7] = 3

    program, inputs = model(tmp_path, ROUTER, "float32", ties=True)
    result = compared(program, inputs, both)
    assert result.verdict == "fail", result.reasons
    assert any(reason.startswith("blackbox-vs-vm: order:") for reason in result.reasons)


@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_may_differ_where_their_values_do_not(tmp_path: Path, dtype: str) -> None:
    """Two equal components: the engine puts them the other way round, and nothing else."""

    def exchange(outputs):
        order = indices(outputs)[1]
        for row, values in enumerate(order):
            three, seven = int(np.flatnonzero(values == 3)[0]), int(np.flatnonzero(values == 7)[0])
            order[row, [three, seven]] = order[row, [seven, three]]
        indices(outputs)[0][...] = order[:, :4]

    program, inputs = model(tmp_path, ROUTER, dtype, ties=True)
    result = compared(program, inputs, exchange)
    assert result.verdict == "pass", result.reasons
    assert sum(row.ways.higher for row in rows(result) if row.reference_dtype == "int64") > 0
    result = compared(program, inputs, lambda o: (exchange(o), off_by_one(o)))
    assert result.verdict == "fail", "a tie elsewhere excuses nothing"


def test_what_hangs_on_a_decision_is_not_proved(tmp_path: Path) -> None:
    """The golden's side of a step that one ulp of the input turns round: nobody can say that the other side is wrong."""
    (tmp_path / "m.py").write_text(
        "import numpy as np\n"
        'def forward(x: "float32[6, 32]", c: "float32[32, 12]", s: "float32[32, 12]"):\n'
        "    size = np.sqrt((x @ c) ** 2 + (x @ s) ** 2)\n"
        "    level = size / (np.max(size, axis=-1, keepdims=True) - np.min(size, axis=-1, keepdims=True))\n"
        "    return np.where(level[:, 3:4] > level[:, 7:8], level * 2, level * 3), "
        "np.floor(level - level[:, 3:4] + level[:, 7:8])\n"
    )
    program, inputs = model(tmp_path, ROUTER, "float32", ties=True)
    program = load(f"{tmp_path / 'm.py'}:forward", program.weights, inputs)
    (tmp_path / "m.py").write_text((tmp_path / "m.py").read_text())
    assert compared(program, inputs).verdict in {"pass", "not proved"}

    def branch(outputs):
        for a in outputs.values():
            a[0] *= np.float32(1.5)

    result = compared(program, inputs, branch)
    assert result.verdict != "pass"


def test_an_untrustworthy_golden_proves_nothing(tmp_path: Path) -> None:
    """Golden and engine share an error of 1 %, each with its own rounding: near to each other, both far from the program."""
    program, inputs = model(tmp_path, VOICE, "float32")

    @dataclass
    class Wrong:
        name: str = "vm"
        target: str = "bytecode"

        def available(self) -> None:
            return None

        def run(self, program, inputs, options) -> Trace:
            trace = VM.run(program, inputs, options)
            last = op_id(program.returned()[0].owner)
            trace.tensors[last] = trace.tensors[last] * np.float32(1.01)
            trace.outputs = dict.fromkeys(trace.outputs, trace.tensors[last])
            return trace

    def same(outputs):
        first(outputs)[...] *= np.float32(1.01)

    engines = {"vm": Wrong(), "blackbox": Outputs(same)}
    result = cosim(
        program, inputs, None, ("vm", "blackbox"), CosimOptions("m", DataProvenance("real", 6, None, None, None), engines=engines)
    )
    assert (result.verdict, result.exit_code) == ("not proved", 4)
    assert "not proved" in result.reasons[0]
    assert "the golden itself is too far from it" in result.reasons[0]
    assert result.divergence is None, "nothing differs for certain"
    assert type(result).from_json(result.to_json()).to_json() == result.to_json()


def test_what_nothing_determines_is_not_proved(tmp_path: Path) -> None:
    """x - 1 near 1: one ulp of x is an eighth of the result, and so is what the golden is allowed to be off."""
    (tmp_path / "m.py").write_text('def forward(x: "float32[4]"):\n    return x - 1.0\n')
    inputs = {"x": (1 + np.array([8, 9, 10, 11], "f4") * np.float32(2.0**-23)).astype("f4")}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, inputs)
    golden = VM.run(program, inputs, RunOptions()).outputs
    name, value = op_id(program.returned()[0].owner), next(iter(golden.values()))
    doubt = Doubt(value, value * np.float32(1.05), np.ones(4, bool))
    found = ThirdJudge(program, inputs, {name: value})({name: doubt})[name]
    assert not found.held.any()
    assert not found.beyond.any()
    assert found.higher.why == "one ulp of the inputs moves them too far"
    wrong = ThirdJudge(program, inputs, {name: value})({name: replace(doubt, other=-value)})[name]
    assert wrong.beyond.all(), "a wrong sign is one however badly the result is determined"


def test_higher_precision_is_the_program_in_float64(tmp_path: Path) -> None:
    program, inputs = model(tmp_path, VOICE, "float32")
    wide = {n: a.astype(np.float64) for n, a in {**program.weights, **inputs}.items()}
    last = op_id(program.returned()[0].owner)
    found = evaluate(program, wide, {last}, np.dtype(np.float64))[last]
    x, q, c, s, w = (wide[n] for n in "xqcsw")
    for _ in range(24):
        x = np.abs(x @ q)
    size = np.sqrt((x @ c) ** 2 + (x @ s) ** 2)
    level = size / (size.max(-1, keepdims=True) - size.min(-1, keepdims=True))
    assert np.allclose(found, 1 / (1 + np.exp(-(level @ w))), rtol=1e-13)


def test_numbers_and_casts_stay_what_the_program_says(tmp_path: Path) -> None:
    """0.1 beside float32 is float32's; a cast to float16 rounds; an integer's division is of the integers."""
    (tmp_path / "m.py").write_text(
        "import numpy as np\n"
        'def forward(x: "float32[8]", k: "int32[8]"):\n'
        "    return x * 0.1, x.astype(np.float16).astype(np.float32), np.sqrt(k) + k / 3, np.arange(8) * x, "
        "np.tri(8, dtype=np.float32) @ x\n"
    )
    inputs = {"x": np.linspace(0.3, 7, 8, dtype="f4"), "k": np.arange(8, dtype="i4")}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, inputs)
    wide = {**program.weights, "x": inputs["x"].astype(np.float64), "k": inputs["k"]}
    names = [op_id(v.owner) for v in program.returned()]
    found = evaluate(program, wide, set(names), np.dtype(np.float64))
    x, k = wide["x"], wide["k"]
    expected = (
        x * float(np.float32(0.1)), inputs["x"].astype(np.float16).astype(np.float64), np.sqrt(k.astype(np.float64)) + k / 3,
        np.arange(8) * x, np.tri(8) @ x,
    )  # fmt: skip
    for name, values in zip(names, expected, strict=True):
        assert found[name].dtype == np.float64
        assert np.allclose(found[name], values, rtol=1e-15, atol=0), name


@pytest.mark.skipif(widest(np.dtype(np.float64)) is None, reason="longdouble is float64 here")
def test_factorisations_have_a_reference_in_longdouble(tmp_path: Path) -> None:
    """A step of Levenberg and Marquardt: its residual is below what float64 leaves."""
    (tmp_path / "m.py").write_text(
        "import numpy as np\n"
        'def forward(j: "float64[9, 3]", r: "float64[9]"):\n'
        "    step = np.linalg.solve(j.T @ j + 0.01 * np.eye(3), j.T @ r)\n"
        "    return step, np.linalg.inv(j.T @ j), np.linalg.det(j.T @ j)\n"
    )
    rng = np.random.default_rng(0)
    inputs = {"j": rng.standard_normal((9, 3)), "r": rng.standard_normal(9)}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, inputs)
    wide = {n: np.asarray(a).astype(np.longdouble) for n, a in {**program.weights, **inputs}.items()}
    names = [op_id(v.owner) for v in program.returned()]
    step, inverse, determinant = evaluate(program, wide, set(names), np.dtype(np.longdouble)).values()
    gram = wide["j"].T @ wide["j"]
    assert step.dtype == np.longdouble
    # 0.01 is the program's number: float64's
    assert np.abs((gram + np.longdouble(0.01) * np.eye(3)) @ step - wide["j"].T @ wide["r"]).max() < 1e-17
    assert np.abs(gram @ inverse - np.eye(3)).max() < 1e-17
    assert np.isclose(float(determinant), np.linalg.det(gram.astype(float)), rtol=1e-12)


def test_widest() -> None:
    assert widest(np.dtype(np.float16)) == widest(np.dtype(np.float32)) == np.float64
    long = widest(np.dtype(np.float64))
    assert long is None or np.finfo(long).nmant > 52


def test_changes_are_one_ulp_and_leave_structure_alone() -> None:
    values = np.array([1.0, -3.0, 0.0, np.inf, -np.inf, np.nan, 1e-30], np.float32)
    found = moved(values, 1, np.random.default_rng(0), np.dtype(np.float64))
    assert found.dtype == np.float64
    step = np.abs(found[[0, 1, 6]] - values[[0, 1, 6]].astype(np.float64))
    assert np.array_equal(step, np.spacing(np.abs(values[[0, 1, 6]])).astype(np.float64))
    assert np.array_equal(found[2:5], values[2:5].astype(np.float64))
    assert np.isnan(found[5])
    assert moved(np.arange(3), 1, np.random.default_rng(0), np.dtype(np.float64)).dtype == np.int64


def test_the_condition_of_a_difference_is_known(tmp_path: Path) -> None:
    """y = x - 1 at x near 1: one ulp of x is 1 / |y| ulps and more of y; and the same seed draws the same."""
    (tmp_path / "m.py").write_text('def forward(x: "float32[4]"):\n    return x - 1.0\n')
    inputs = {"x": (1 + np.array([1, 2, 4, 8], "f4") * np.float32(2.0**-20)).astype("f4")}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, inputs)
    name = op_id(program.returned()[0].owner)
    found = determined(program, inputs, {name}, np.dtype(np.float64))[name]
    assert np.array_equal(found.condition, np.full(4, 2.0**-23))
    assert not found.jumps.any()
    again = determined(program, inputs, {name}, np.dtype(np.float64))[name]
    assert np.array_equal(found.condition, again.condition)


SMALL = """import numpy as np
def forward(x: "float32[4, 8]", w: "float32[8, 6]"):
    gate = np.exp(-np.abs(x @ w) * 2)
    return 1 / (1 + np.exp(7 + gate))
"""
"""A probability of 1e-4 to 1e-3, as a voice detector gives for noise."""


def judged(tmp_path: Path, error: float, functions: FunctionErrors) -> tuple[bool, bool]:
    """Judge a probability that an engine has off by `error`, whose doubtful operation is the result."""
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    rng = np.random.default_rng(3)
    given = {"x": rng.standard_normal((4, 8)).astype(np.float32)}
    program = load(f"{path}:forward", {"w": rng.standard_normal((8, 6)).astype(np.float32)}, given)
    golden = VM.run(program, given, RunOptions()).tensors
    result = op_id(program.returned()[0].owner)
    off = golden[result].copy()
    off[1, 2] += np.float32(error)
    doubt = Doubt(golden[result], off, golden[result] != off)
    judge = ThirdJudge(program, given, golden, functions=functions)
    found = judge({result: doubt})[result]
    return bool(found.held[1, 2]), bool(found.beyond[1, 2])


@pytest.mark.parametrize(("error", "expected"), [(1.5e-8, (True, False)), (1e-6, (False, True))])
def test_what_an_engine_states_of_its_functions_is_allowed_and_no_more(tmp_path: Path, error: float, expected: object) -> None:
    """1.5e-8 of a probability of 6e-4 is 250 ulps: rounding cannot be off by that, a sigmoid of an absolute 2e-7 can."""
    assert judged(tmp_path, error, FunctionErrors()) == (False, True)
    assert judged(tmp_path, error, FunctionErrors({"div": 2e-7})) == expected
    assert judged(tmp_path, error, FunctionErrors({"tanh": 1.0})) == (False, True), "of a function that the program has not"


def test_a_stated_error_that_allows_too_much_proves_nothing(tmp_path: Path) -> None:
    assert judged(tmp_path, 1e-6, FunctionErrors({"div": 1e-4})) == (False, False)


def test_stated_ulps_of_a_function_reach_the_result(tmp_path: Path) -> None:
    assert judged(tmp_path, 5e-9, FunctionErrors()) == (False, True)
    assert judged(tmp_path, 5e-9, FunctionErrors(ulp={"exp": 128.0})) == (True, False)
    assert judged(tmp_path, 5e-7, FunctionErrors(ulp={"exp": 128.0})) == (False, True)


# One product and one quotient a round: an ulp of x moves the result by an ulp, the 6,000 roundings move it by dozens.
LONG = """import numpy as np
def forward(x: "float32[64]"):
    for i in range(3000):
        x = x * np.float32(i + 2) / np.float32(i + 1)
    return x
"""


@pytest.mark.parametrize(("ulps", "expected"), [(40, (True, False)), (4000, (False, True))])
def test_a_long_recursion_is_judged_by_its_own_rounding(tmp_path: Path, ulps: int, expected: tuple[bool, bool]) -> None:
    """A golden that has rounded thousands of times is as trustworthy as its rounding allows, in the bodies of loops too."""
    (tmp_path / "m.py").write_text(LONG)
    inputs = {"x": np.random.default_rng(1).uniform(1, 2, 64).astype("f4")}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, inputs)
    golden = VM.run(program, inputs, RunOptions()).outputs
    name, value = op_id(program.returned()[0].owner), next(iter(golden.values()))
    true = inputs["x"].astype("f8") * 3001
    assert (np.abs(value - true) / np.spacing(value)).max() > 32, "farther off than a few roundings explain"
    off = value + np.spacing(value) * np.float32(ulps)
    found = ThirdJudge(program, inputs, {name: value})({name: Doubt(value, off, np.ones(64, bool))})[name]
    assert (bool(found.held.all()), bool(found.beyond.all())) == expected


@pytest.mark.parametrize(("own", "wide"), [("float16", "float64"), ("float32", "float64"), ("float64", "longdouble")])
def test_rounding_at_random_takes_one_of_both_neighbours(own: str, wide: str) -> None:
    rng = np.random.default_rng(3)
    narrow = np.concatenate([rng.standard_normal(500), [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(own)
    with np.errstate(invalid="ignore"):
        same = rounded_at_random(narrow.astype(wide), np.dtype(own), rng)
    assert np.array_equal(same, narrow.astype(wide), equal_nan=True), "what is representable stays"
    value = narrow[:500].astype(wide) * (1 + np.finfo(own).eps * rng.uniform(0.1, 0.4, 500).astype(wide))
    found = np.stack([rounded_at_random(value, np.dtype(own), rng) for _ in range(40)])
    assert np.array_equal(found.astype(own).astype(wide), found)
    assert (np.abs(found - value) < np.spacing(np.abs(value).astype(own))).all()
    inexact = value.astype(own).astype(wide) != value
    assert inexact.sum() > 400
    assert np.all(np.any(found > value, axis=0)[inexact])
    assert np.all(np.any(found < value, axis=0)[inexact])
    beyond = np.array([np.finfo(own).max], wide) * 4
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(rounded_at_random(beyond, np.dtype(own), rng), beyond), "an overflow is no rounding"
    integers = np.arange(4)
    assert rounded_at_random(integers, np.dtype(np.int64), rng) is integers
