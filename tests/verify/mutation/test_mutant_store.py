"""Results and judged survivors as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.errors import ModelError
from fleet.report.regression.mutants import write_mutants
from fleet.verify.mutation.campaign import judged, shares
from fleet.verify.mutation.mutant import Mutant, MutantResult
from fleet.verify.mutation.outside import pytest_command
from fleet.verify.mutation.rtl_hunt import RtlHunt
from fleet.verify.mutation.store import MutantDraw, MutantRecord, Report, load_report, load_results, save_report, save_results
from fleet.verify.mutation.survivors import load_survivors

MUTANT = Mutant("0123456789", "rtl", "rtl/a.sv", 7, "a", "logical", "a && b", "(a) || (b)", "assign x = a && b;", 3)
FOUND = MutantResult(MUTANT, "found", "d/i/directed/0 ideal/regs", "commit 0: <differs>", 3, 1.25)
SURVIVED = MutantResult(MUTANT, "survived", "", "", 9, 2.0)

GOOD = '[[survivor]]\nid = "0123456789"\nplace = "rtl/a.sv (a) logical"\nkind = "equivalent"\nreason = "never both"\n'


def test_results_come_back(tmp_path: Path) -> None:
    save_results(tmp_path / "r.json", {"0123456789": FOUND}, "these")
    assert load_results(tmp_path / "r.json", "others") == {"0123456789": FOUND}
    assert load_results(tmp_path / "none.json", "these") == {}


def test_a_survivor_of_other_tests_is_looked_for_again(tmp_path: Path) -> None:
    save_results(tmp_path / "r.json", {"0123456789": SURVIVED}, "these")
    assert load_results(tmp_path / "r.json", "these") == {"0123456789": SURVIVED}
    assert load_results(tmp_path / "r.json", "these and one more") == {}
    assert load_results(tmp_path / "r.json", "these and one more", {"0123456789"}) == {"0123456789": SURVIVED}, "it has a reason"


def test_draws_of_two_seeds_stand_side_by_side_and_a_mutant_of_both_once(tmp_path: Path) -> None:
    other = MutantResult(replace(MUTANT, id="9876543210"), "found", "tests/a/test_b.py::test_c", "1 is not 2", 1, 1.0)
    one, two = MutantDraw("d", "rtl", 7, 2, 10, 3.0), MutantDraw("d", "rtl", 8, 1, 10, 3.0)
    report = Report().with_draw(one, [MutantRecord("d", SURVIVED, seed=7), MutantRecord("d", other, seed=7)])
    report = report.with_draw(two, [MutantRecord("d", FOUND, seed=8)])
    assert report.draws == (one, two)
    assert [(r.result.mutant.id, r.result.verdict, r.seed) for r in report.records] == [
        ("9876543210", "found", 7), ("0123456789", "found", 8)
    ]  # fmt: skip
    assert report.tests() == {"9876543210": other.test, "0123456789": FOUND.test}
    save_report(tmp_path / "mutants.json", report)
    assert [r.seed for r in load_report(tmp_path / "mutants.json").records] == [7, 8]


def test_a_report_takes_the_place_of_an_older_draw(tmp_path: Path) -> None:
    drawn = MutantDraw("d", "rtl", 7, 1, 10, 3.0)
    report = Report().with_draw(drawn, [MutantRecord("d", SURVIVED)]).with_draw(drawn, [MutantRecord("d", FOUND)])
    assert [r.result.verdict for r in report.records] == ["found"]
    save_report(tmp_path / "mutants.json", report)
    assert load_report(tmp_path / "mutants.json") == Report(
        (drawn,), (MutantRecord("d", MutantResult(MUTANT, "found", FOUND.test, FOUND.how, 3, 1.2)),)
    )


@pytest.mark.parametrize("text", ["[", "{}", '{"form": 1}', '{"form": 1, "draws": [{}], "mutants": []}'])
def test_a_broken_report_is_an_error_of_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "mutants.json").write_text(text)
    with pytest.raises(ModelError, match=r"mutants\.json"):
        load_report(tmp_path / "mutants.json")


def test_judged_survivors_are_no_holes(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(GOOD)
    known = load_survivors(tmp_path / "s.toml")
    assert [r.hole for r in judged("d", [SURVIVED], known)] == [False]
    assert [r.hole for r in judged("d", [SURVIVED], {})] == [True]
    assert [r.kind for r in judged("d", [FOUND], known)] == [""], "what is found needs no reason"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("equivalent", "fine"), ":4: kind 'fine' is unknown; known are equivalent"),
        (GOOD + GOOD, ":7: id '0123456789' stands there twice"),
        (GOOD.replace('reason = "never both"\n', ""), r":1: survivor\[0\].reason is missing"),
        ("a = 1\n", ":1: unknown key a"),
        ("[[survivor", ":1: not TOML"),
    ],
)
def test_a_wrong_list_of_survivors_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ModelError, match=says):
        load_survivors(tmp_path / "s.toml")


def test_the_page_counts_and_escapes(tmp_path: Path) -> None:
    report = Report().with_draw(MutantDraw("d", "rtl", 7, 2, 10, 3.0), [MutantRecord("d", FOUND), MutantRecord("d", SURVIVED)])
    page = write_mutants(report, tmp_path).read_text()
    assert "1 of 2 found, 0 are the program itself: 50.0 % of the others; 1 holes" in page
    assert "Holes" in page
    assert "&lt;differs&gt;" in page
    assert "<differs>" not in page
    assert json.dumps("a && b")[1:-1] in (tmp_path / "README.md").read_text()


def test_mutants_are_shared_among_the_places() -> None:
    assert shares(8, ["rtl", "semantics", "passes"]) == [("rtl", 3), ("semantics", 3), ("passes", 2)]


def test_where_there_are_no_tests_none_are_run(tmp_path: Path) -> None:
    """A workspace has none that play registers; pytest without a file would run everything in it."""
    hunt = object.__new__(RtlHunt)
    hunt._root, hunt._device = tmp_path, "vgemm_small"
    assert hunt._regression(MUTANT) == ("", "")
    with pytest.raises(ValueError, match="no test files"):
        pytest_command([])


def test_the_page_counts_what_is_equivalent_apart_from_what_only_has_a_reason(tmp_path: Path) -> None:
    def survivor(n: int, kind: str, proof: str = "") -> MutantRecord:
        return MutantRecord("d", replace(SURVIVED, mutant=replace(MUTANT, id=f"{n:010x}")), kind, "because", proof=proof)

    records = [
        MutantRecord("d", FOUND),
        survivor(1, "equivalent", "tests/a.py::test_b"),
        survivor(2, "equivalent"),
        survivor(3, "cost"),
    ]
    report = Report().with_draw(MutantDraw("d", "rtl", 7, 4, 10, 3.0), records)
    save_report(tmp_path / "mutants.json", report)
    assert [r.proof for r in load_report(tmp_path / "mutants.json").records] == ["", "tests/a.py::test_b", "", ""]
    write_mutants(report, tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "# Mutants: 1 of 4 found, 2 are the program itself: 50.0 % of the others; 0 holes" in text
    assert "| all | 4 | 1 | 2 | 1 | 0 | 25.0 % | 50.0 % |" in text
    assert "of 1 of these a test goes through" in text
    assert "with those 1 alone left out 33.3 % are found" in text
