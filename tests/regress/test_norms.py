"""Stored norms: cycles and bounds that a case's runs are held to."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.regression.case import command
from fleet.compare.bounds import tolerance
from fleet.errors import ComparisonFailure, FleetError
from fleet.regress.case_runs import CaseOptions, run_case
from fleet.regress.cases import load_case
from fleet.regress.norms import Norms, RunNorms, differences, held, load_norms, norms_of, store_norms

RUN = RunNorms({"rtl": 100}, {"riscv-vs-vm": {"matmul.3": 0.5, "tanh": math.inf, "y": 0.0}})


def norms(path: Path) -> Norms:
    return Norms("c", 'a "good" reason', "2026-01-01", {"a": RUN, "b": replace(RUN, cycles={"rtl": 7}), "c": RunNorms()}, path)


def test_what_is_stored_is_read_again_and_equal_bounds_stand_there_once(tmp_path: Path) -> None:
    made = norms(tmp_path / "norms.toml")
    store_norms(made)
    assert load_norms(made.path, ["a", "b", "c", "d"]) == made
    assert made.path.read_text().count("matmul.3") == 1
    assert load_norms(tmp_path / "none.toml") is None
    with pytest.raises(ComparisonFailure, match=r"norms\.toml:7: norms of run 'a', which the case does not have"):
        load_norms(made.path, ["b", "c"])
    with pytest.raises(FleetError, match="norms need a reason"):
        store_norms(replace(made, reason=" "))
    made.path.write_text(made.path.read_text().replace('"rtl" = 7', '"rtl" = "7"'))
    with pytest.raises(ComparisonFailure, match=r"norms\.toml:\d+: runs\.b\.cycles\.rtl is '7', expected an integer"):
        load_norms(made.path)


def test_differences(tmp_path: Path) -> None:
    old = norms(tmp_path / "x")
    assert differences(old, old) == ()
    new = replace(
        old, runs={"a": RunNorms({"rtl": 233}, {"riscv-vs-vm": {"matmul.3": 500.0, "tanh": math.inf, "y": 0.0}}), "b": RUN}
    )
    lines = differences(old, new)
    assert "a: rtl cycles 100 -> 233" in lines
    assert "a: riscv-vs-vm: 1 bounds, first: matmul.3 0.5 -> 500" in lines
    assert "c: gone" in lines
    assert len(differences(None, old)) == 4


MODEL = 'import numpy as np\n\ndef forward(x: "float32[4, 64]", w: "float32[64, 32]"):\n    return np.tanh(np.maximum(x @ w, 0))\n'
CASE = (
    'name = "c"\nmodel = "../m.py:forward"\nweights = "../w.npz"\ninput = "../x.npz"\ngolden = false\nengines = ["vm", "interp"]\n'
)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "m.py").write_text(MODEL)
    np.savez(tmp_path / "w.npz", w=rng.standard_normal((64, 32)).astype(np.float32))
    np.savez(tmp_path / "x.npz", x=rng.standard_normal((4, 64)).astype(np.float32))
    (tmp_path / "cases").mkdir()
    (tmp_path / "golden").mkdir()
    (tmp_path / "cases" / "c.toml").write_text(CASE)
    monkeypatch.chdir(tmp_path)
    return Path("cases/c.toml")


def test_a_bound_that_widens_regresses_until_it_is_accepted(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime

    options = CaseOptions(datetime.date(2026, 1, 1), "2026-01-01")
    (run,) = load_case(case).runs
    assert "norms" in {n.what for n in run_case(run, options).not_compared}
    accept = ["accept", str(case), "--reason", "first"]
    assert "wrote golden/c/norms.toml" in CliRunner().invoke(command, accept).output
    result = run_case(run, options)
    assert result.verdict == "pass"
    assert "norms" not in {n.what for n in result.not_compared}

    monkeypatch.setattr(tolerance, "split_of", wider(tolerance.split_of))
    monkeypatch.setattr(tolerance, "RULES", {op: wider(rule) for op, rule in tolerance.RULES.items()})
    result = run_case(run, options)
    assert result.verdict == "fail"
    assert "golden/c/norms.toml" in result.reasons[0]
    assert "bounds are wider than their norms" in result.reasons[0]
    assert "c/norms.toml" in CliRunner().invoke(command, [*accept[:2], "--reason", "wide"]).output
    assert run_case(run, options).verdict == "pass"


def wider(rule):
    def made(step):
        found = rule(step)
        if found is None or isinstance(found, np.ndarray | float):
            return None if found is None else 1000 * found
        return type(found)(1000 * found.spread, 1000 * found.rounding, 1000 * found.row)

    return made


def test_other_cycles_regress(case: Path) -> None:
    import datetime

    (run,) = load_case(case).runs
    result = run_case(run, CaseOptions(datetime.date(2026, 1, 1), "2026-01-01"))
    engines = tuple(replace(e, cycles=233) if e.name == "interp" else e for e in result.engines)
    stored = Norms("c", "r", "", {"host-0": replace(norms_of(result), cycles={"interp": 100})}, Path("n.toml"))
    says = "n.toml: interp took 233 cycles, the norm is 100 (2.33 times as many); if that is meant: `fleet case accept`"
    assert held(stored, "host-0", replace(result, engines=engines)) == (says,)
    fewer = tuple(replace(e, cycles=50) if e.name == "interp" else e for e in result.engines)
    assert "(0.50 times as many)" in held(stored, "host-0", replace(result, engines=fewer))[0]
    assert "took none cycles" in held(stored, "host-0", result)[0]
    both = tuple(replace(e, cycles=100) if e.status == "ran" else e for e in result.engines)
    assert held(stored, "host-0", replace(result, engines=both)) == (
        "n.toml: holds no cycles of vm; accept them with `fleet case accept`",
    )
