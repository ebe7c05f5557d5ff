"""Mutants are looked for in forked processes, in functions and in what runs at import; names and places count beside results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.verify.mutation.python_sites import TextEdit, changes
from fleet.verify.programs import mutants
from fleet.verify.programs.batches import _placed  # pyright: ignore[reportPrivateUsage]
from fleet.verify.programs.drawing import DrawnProgram, DrawnStatement
from fleet.verify.programs.judging import Ready, find, told
from fleet.verify.programs.oracle import ByCPython, ComparedProgram, ProgramOracle, by_cpython
from fleet.verify.programs.parts.calls import respelled
from fleet.verify.programs.parts.hand import Hand, Redraw
from fleet.verify.programs.parts.wrong import same_kind

A = {"a": np.arange(6, dtype=np.float32).reshape(2, 3)}
HEAD = 'import numpy as np\n\n\ndef forward(a: "float32[2, 3]"):\n'
JOINED = HEAD + "    v0 = np.vstack([a, a])\n    return v0\n"
ONE = HEAD + "    v0 = np.take(a)\n    return v0\n"
SUMMED = HEAD + "    v0 = np.sum(a, axis=1)\n    return v0\n"


def ready(source: str) -> Ready:
    with ProgramOracle() as oracle:
        return Ready(0, source, A, (), by_cpython(source, A), told(oracle.compare(ComparedProgram(source, A))))


def change_of(file: str, line: str, before: str, after: str) -> tuple[TextEdit, Path]:
    """The change of that text in the line that has these words."""
    path = mutants.ROOT / file
    source = path.read_text(encoding="utf-8")
    rows = source.splitlines()
    return next(c for c in changes(source) if line in rows[c.line - 1] and (c.before, c.after) == (before, after)), path


def test_the_front_end_as_it_is_is_not_found() -> None:
    assert find(None, Path("any"), set(), [ready(JOINED), ready(SUMMED)]).by == ""


@pytest.mark.parametrize(
    ("file", "line", "before", "after", "source", "by"),
    [
        (
            "fleet/frontend/arrays/functions/shapes.py",
            "return joined(ev, node, rows, 0)",
            "0",
            "1",
            JOINED,
            "results",
        ),  # in a function
        ("fleet/frontend/arrays/signatures.py", '"take": Signature(', "1", "2", ONE, "results"),  # in a table
        ("fleet/frontend/arrays/arguments.py", "if not -rank <= a < rank", "-rank", "(rank)", SUMMED, "refusal"),
        ("fleet/frontend/arrays/arguments.py", "if not -rank <= a < rank", "-rank", "(rank)", JOINED, ""),
    ],
)
def test_a_change_is_found_by_a_program_that_meets_it(file: str, line: str, before: str, after: str, source: str, by: str) -> None:
    change, path = change_of(file, line, before, after)
    assert find(change, path, set(), [ready(source)]).by == by


def test_a_variable_that_holds_another_value_is_a_difference() -> None:
    source = HEAD + "    v0 = a + 1\n    p = v0 * 2\n    return v0, p\n"
    ran = by_cpython(source, A)
    with ProgramOracle() as oracle:
        assert oracle.compare(ComparedProgram(source, A), ran).named == ("p", "v0")
        wrong = ByCPython(ran.results, {**ran.variables, "p": ran.variables["v0"]})
        outcome = oracle.compare(ComparedProgram(source, A), wrong)
    assert (outcome.kind, outcome.cause) == ("differs", "variable")


def test_a_program_that_returns_early_agrees() -> None:
    source = HEAD + "    v0 = a + 1\n    if a.shape[0] == 2:\n        return v0\n    v1 = v0 * 2\n    return v0, v1\n"
    ran = by_cpython(source, A)
    assert len(ran.results) == 1
    with ProgramOracle() as oracle:
        assert oracle.compare(ComparedProgram(source, A), ran).kind == "agreed"


def test_a_refusal_must_stand_where_the_program_is_wrong() -> None:
    drawn = DrawnProgram((DrawnStatement("v0 = a + 1", ("v0",)), DrawnStatement("v1 = np.sum(a, axis=7)", ("v1",))), A, wrong=True)
    with ProgramOracle() as oracle:
        found = oracle.compare(ComparedProgram(drawn.source, A))
        assert _placed(drawn, found, oracle) == found
        assert _placed(drawn, replace(found, line=found.line - 1), oracle).kind == "differs"


def test_a_refusal_must_be_of_the_kind_of_cpythons_error() -> None:
    drawn = DrawnProgram((DrawnStatement("v0 = a + 1", ("v0",)), DrawnStatement("v1 = np.sum(a, axis=7)", ("v1",))), A, wrong=True)
    with ProgramOracle() as oracle:
        found = oracle.compare(ComparedProgram(drawn.source, A))
        other = _placed(drawn, replace(found, cause="F312"), oracle)
    assert (other.kind, other.cause) == ("differs", "kind")
    assert same_kind("F305", "AxisError: axis 7 is out of bounds")
    assert same_kind("F501", "ValueError: the truth value of an array")
    assert same_kind("F401", "UFuncTypeError: no loop")
    assert same_kind("F301", "LinAlgError: 0-dimensional array given")
    assert not same_kind("F201", "TypeError: no")
    assert same_kind("F703", "AxisError: axis -1 is out of bounds", "model.py:3:1: F703 axis -1 is out of bounds")
    assert not same_kind("F703", "AxisError: axis -1 is out of bounds", "model.py:3:1: F703 min of nothing")
    assert not same_kind("F703", "AxisError: ", "model.py:3:1: F703 min of nothing")


def test_what_a_program_prints_is_compared() -> None:
    source = HEAD + "    v0 = a + 1\n    print(v0, a.shape, sep='-')\n    return v0\n"
    ran = by_cpython(source, A)
    assert ran.printed == "[[1. 2. 3.]\n [4. 5. 6.]]-(2, 3)\n"
    with ProgramOracle() as oracle:
        assert oracle.compare(ComparedProgram(source, A), ran).kind == "agreed"
        outcome = oracle.compare(ComparedProgram(source, A), replace(ran, printed="[[1. 2. 3.]\n [4. 5. 6.]] (2, 3)\n"))
    assert (outcome.kind, outcome.cause) == ("differs", "print")


def test_calls_are_spelled_in_other_ways() -> None:
    hand = Hand(np.random.default_rng(0), [])
    same = {respelled(hand, "np.sum(a, axis=0)") for _ in range(30)}
    assert {"np.sum(a=a, axis=0)", "np.sum(axis=0, a=a)", "np.sum(a, 0)"} <= same
    with pytest.raises(Redraw):
        respelled(hand, "a + 1")
