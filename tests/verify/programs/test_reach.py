"""Marks say which statements and conditional expressions of a source run, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fleet.verify.programs import mutants
from fleet.verify.programs.reach import innermost, marked

SOURCE = '''"""Text."""
from __future__ import annotations


def choose(x, y=3):
    """What it is."""
    if x > 2 and y > 5:
        return [n for n in range(x) if n]
    return "low" if x < 0 else (lambda: "none")
'''


def places_of(*texts: str) -> list[int]:
    _, places = marked(SOURCE)
    return [innermost(places, SOURCE.index(t), SOURCE.index(t) + len(t)) for t in texts]


def reached(x: int, y: int) -> set[int]:
    tree, _ = marked(SOURCE)
    seen: set[int] = set()
    space: dict[str, Any] = {"_reached_": seen.add}
    exec(compile(tree, "marked", "exec"), space)
    seen.clear()
    space["choose"](x, y)
    return seen


@pytest.mark.parametrize(
    ("x", "y", "runs"),
    [
        (1, 1, (False, False, False, False, True)),
        (3, 1, (True, False, False, False, True)),
        (3, 6, (True, True, True, False, False)),
        (-1, 1, (False, False, False, True, False)),
    ],
)
def test_each_place_by_itself(x: int, y: int, runs: tuple[bool, ...]) -> None:
    seen = reached(x, y)
    found = places_of("y > 5", "range(x)", "if n", '"low"', 'lambda: "none"')
    found[2] = places_of("n for n")[0] if runs[2] else found[2]
    assert tuple(n in seen for n in found) == runs


def test_what_the_marks_leave_alone() -> None:
    tree, places = marked(SOURCE)
    space: dict[str, Any] = {"_reached_": lambda _: None}
    exec(compile(tree, "marked", "exec"), space)
    assert (space["__doc__"], space["choose"].__doc__) == ("Text.", "What it is.")
    assert space["choose"](3, 6) == [1, 2]
    assert [p.line for p in places if p.whole] == [5]
    with pytest.raises(ValueError, match="empty"):
        innermost(places, 0, 3)


def test_programs_for_a_name_of_the_module_are_those_that_run_what_reads_it() -> None:
    sites, text = mutants.sites(), "math.prod(owner.shape) > _MAX_PLACES"
    sources = {f: (mutants.ROOT / f).read_text(encoding="utf-8") for f in mutants.FILES}
    places = {f: marked(s)[1] for f, s in sources.items()}
    file = "fleet/frontend/arrays/indices/storing.py"
    at = sources[file].index(text)
    ran = np.zeros((2, max(map(len, places.values()))), np.bool_)
    ran[1, innermost(places[file], at, at + len(text))] = True
    known = mutants.BaselineRuns(
        [["agreed"]] * 2, ["", ""], places, dict.fromkeys(places, 0), ran, np.zeros(ran.shape[1], np.bool_)
    )
    of = next(m for m in sites.mutants if m.context.startswith("_MAX_PLACES ="))
    assert known.looking(of, sites.changes[of.id]) == [1]
    for m in sites.mutants:
        if m.unit == "module":  # a name that a docstring has, too
            known.looking(m, sites.changes[m.id])


def test_a_default_belongs_to_the_definition() -> None:
    _, places = marked(SOURCE)
    assert places[places_of("3):")[0]].whole
    assert not places[places_of("y > 5")[0]].whole
