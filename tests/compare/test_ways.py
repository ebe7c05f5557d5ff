"""In which way each element is held: equal, within the accumulated bound, on its own operands; and what decides an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ir_builder import Net

from fleet.compare.bounds.bound import Bound
from fleet.compare.operation_rows import Basis, measured
from fleet.compare.ways import Ways
from fleet.cosim.campaign import cosim
from fleet.cosim.comparisons import ComparisonSession
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load
from fleet.ir import dialect as d
from fleet.ir.dialect import op_id

INF = np.inf


def run(path: Path, inputs, engines=("vm", "cpython"), weights=None) -> CosimResult:
    options = CosimOptions("m.py:f", DataProvenance("real", 4, None, None, None))
    return cosim(load(f"{path}:f", weights or {}, inputs), inputs, None, engines, options)


@pytest.mark.parametrize(
    "body",
    [
        "np.argsort(np.tanh(x))",
        "np.sort(np.exp(x), axis=0), np.argsort(-np.log1p(np.abs(x)))",
        "np.median(np.tanh(x), axis=-1), np.take_along_axis(np.sin(x), np.argsort(np.sin(x), axis=-1), axis=-1)",
        "1 / (np.exp(x) - np.exp(x)), np.sqrt(np.tanh(x) - np.tanh(x))",
    ],
)
def test_equal_values_pass_before_any_bound_is_asked(tmp_path: Path, body: str) -> None:
    (tmp_path / "m.py").write_text(f'import numpy as np\n\n\ndef f(x: "float32[4, 16]"):\n    return {body}\n')
    x = np.random.default_rng(0).standard_normal((4, 16)).astype("f4")
    result = run(tmp_path / "m.py", {"x": x})
    assert (result.verdict, result.exit_code) == ("pass", 0), result.reasons
    ways = result.comparison("vm-vs-cpython").ways
    assert ways == Ways(equal=result.comparison("vm-vs-cpython").elements)


def test_a_plain_network_is_held_by_accumulated_bounds(tmp_path: Path) -> None:
    """What no other way may have to decide: two layers of a product, a sum and a tanh."""
    (tmp_path / "m.py").write_text(
        'import numpy as np\n\n\ndef f(x: "float32[8, 64]", w: "float32[64, 32]", v: "float32[32, 10]"):\n'
        "    h = np.tanh(x @ w + 0.5)\n    return h @ v\n"
    )
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((64, 32)).astype("f4"), "v": rng.standard_normal((32, 10)).astype("f4")}
    result = run(tmp_path / "m.py", {"x": rng.standard_normal((8, 64)).astype("f4")}, ("vm", "riscv"), weights)
    ways = result.comparison("riscv-vs-vm").ways
    assert result.verdict == "pass"
    assert ways.accumulated > 0
    assert ways == Ways(equal=ways.equal, accumulated=ways.accumulated)
    assert all(row.bound.unbounded == 0 for row in result.comparison("riscv-vs-vm").operations)


@pytest.fixture
def op():
    net = Net({"x": ((4,), "input")})
    net.call(d.TanhOp, net["x"], name="y")
    return next(iter(net.program(y=net.call(d.ExpOp, net["x"], name="z")).operations()))


REFERENCE = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
OTHER = np.array([1.0, 2.25, 3.25, 4.25], np.float32)


def bound(*limits: float) -> Bound:
    return Bound(np.array(limits), None, "stated")


def test_each_element_is_held_in_its_own_way(op) -> None:
    basis = Basis(op, 0, "", bound=bound(INF, 0.5, INF, INF), own_bound=bound(INF, 0.5, 0.5, INF))
    found = measured(basis, REFERENCE, OTHER, own=(REFERENCE + np.float32(0.25), OTHER), kind="bound")
    # the last is what the golden's operator gives on its own operands, so that it needs no bound there
    assert found.row.ways == Ways(equal=1, accumulated=1, own=2)
    assert (found.row.verdict, found.undecided.any()) == ("pass", np.False_)
    found = measured(basis, REFERENCE, OTHER, own=(REFERENCE + np.float32(0.125), OTHER), kind="bound")
    assert found.row.ways == Ways(equal=1, accumulated=1, own=1, not_proved=1)
    assert found.undecided.tolist() == [False, False, False, True]
    row = found.decided(None)
    assert (row.verdict, row.reason.split(":")[0]) == ("not proved", "1 of 4 elements not proved")


def test_a_difference_stays_one_whatever_is_not_proved(op) -> None:
    row = measured(Basis(op, 0, "", bound=bound(INF, 0.125, INF, INF)), REFERENCE, OTHER, kind="bound").decided(None)
    assert (row.verdict, row.ways) == ("fail", Ways(equal=1, beyond=1, not_proved=2))
    own = (np.array([1.0, 2.25, 3.0, 4.25], np.float32), OTHER)
    basis = Basis(op, 0, "", bound=bound(INF, 0.5, INF, INF), own_bound=bound(0.125, 0.125, 0.125, 0.125))
    row = measured(basis, REFERENCE, OTHER, own=own, kind="bound").decided(None)
    assert (row.verdict, row.ways.beyond) == ("fail", 1)
    assert "on its own operands: 1 of 4 elements beyond the bound" in row.reason


@pytest.mark.parametrize(("limit", "said"), [(0.0, "bound"), (0.0625, "bound, worst 4 times")])
def test_an_error_is_no_multiple_of_nothing(op, limit: float, said: str) -> None:
    row = measured(Basis(op, 0, "", bound=bound(INF, limit, INF, INF)), REFERENCE, OTHER, kind="bound").decided(None)
    assert row.reason.split("; ")[0] == f"1 of 4 elements beyond the {said}"


def test_a_bound_that_holds_a_wrong_sign_decides_nothing(op) -> None:
    basis = Basis(op, 0, "", bound=bound(9, 9, 9, 9))
    row = measured(basis, REFERENCE, -REFERENCE, kind="bound").decided(None)
    assert (row.verdict, row.ways) == ("not proved", Ways(not_proved=4))
    basis = Basis(op, 0, "", bound=bound(9, 9, 9, 9), own_bound=bound(0.5, 0.5, 0.5, 0.5))
    row = measured(basis, REFERENCE, -REFERENCE, own=(REFERENCE, -REFERENCE), kind="bound").decided(None)
    assert row.verdict == "fail"


@pytest.mark.parametrize("other", [np.int64, np.uint32, np.float64, np.bool_])
def test_the_same_numbers_in_another_dtype_are_a_difference(op, other: type) -> None:
    """A cast that was dropped shows in the dtype alone; floats a device may store in fewer bits."""
    ones = np.ones(4, np.int32)
    row = measured(Basis(op, 0, "", bound=bound(0, 0, 0, 0)), ones, ones.astype(other), kind="bound").decided(None)
    assert (row.verdict, row.reason) == ("fail", f"dtype {np.dtype(other).name} instead of int32")
    row = measured(Basis(op, 0, "", bound=bound(0, 0, 0, 0)), REFERENCE, REFERENCE.astype(np.float16), kind="bound").decided(None)
    assert row.verdict == "pass"


def test_special_values_without_a_bound_are_decided_like_others(op) -> None:
    nan = np.array([np.nan, 2, 3, 4], np.float32)
    basis = Basis(op, 0, "", bound=bound(INF, 1, 1, 1))
    assert measured(basis, nan, REFERENCE, kind="bound").decided(None).verdict == "not proved"
    basis = Basis(op, 0, "", bound=bound(INF, 1, 1, 1), own_bound=bound(INF, 1, 1, 1))
    assert measured(basis, nan, REFERENCE, own=(nan, REFERENCE), kind="bound").decided(None).verdict == "fail"
    assert measured(basis, nan, REFERENCE, own=(REFERENCE, REFERENCE), kind="bound").decided(None).verdict == "pass"
    assert measured(Basis(op, 0, "", bound=bound(1, 1, 1, 1)), REFERENCE, nan, kind="bound").decided(None).verdict == "fail"


def test_words() -> None:
    assert Ways().words() == ""
    ways = Ways(equal=1200, accumulated=3, own=2, higher=1, not_proved=4, beyond=5)
    assert ways.words() == (
        "held: 1,200 equal, 3 within the accumulated bound, 2 on their own operands, 1 to higher precision; 4 not proved; 5 beyond"
    )
    assert Ways.total([ways, None, ways]).equal == 2400


CHAIN = "import numpy as np\n\n\ndef forward(x):\n" + "    x = np.tanh(x) * np.float32(1.25)\n" * 20 + "    return x\n"


@pytest.mark.parametrize("off", [0.0, 2.0**-20])
def test_bounds_of_what_is_not_shown_are_derived_where_outputs_differ(tmp_path: Path, off: float) -> None:
    """Equal outputs need no bound; others have theirs, derived by way of 40 operations that the engine does not show."""
    (tmp_path / "m.py").write_text(CHAIN)
    x = {"x": np.linspace(-1, 1, 8, dtype=np.float32)}
    program = load(f"{tmp_path / 'm.py'}:forward", {}, x)
    golden = VM.run(program, x, RunOptions())
    name = op_id(list(program.operations())[-1])
    shown = {name: golden.tensors[name] + np.float32(off)}
    other = replace(golden, engine="other", tensors=shown, outputs={"out0": shown[name]}, meta={})
    session = ComparisonSession(program, x, golden, {}, tmp_path)
    comparison, _ = session._float("other-vs-vm", "question", golden, other, of_source=True)
    (row,) = comparison.operations
    assert (row.bound is None) == (off == 0)
    assert (row.cumulative.mismatches > 0) == (off > 0)
    assert comparison.verdict == "pass"
    if row.bound is not None:
        assert off < row.bound.bound_max < 1e-3
        other.tensors[name] = other.outputs["out0"] = shown[name] + np.float32(0.01)
        assert session._float("other-vs-vm", "question", golden, other, of_source=True)[0].verdict == "fail"
