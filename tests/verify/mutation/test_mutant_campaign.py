"""A campaign that is stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.build import Progress
from fleet.verify.mutation.campaign import Campaign, MutationTarget
from fleet.verify.mutation.mutant import Mutant, MutantResult

ONE = Mutant("0", "passes", "fleet/a.py", 2, "f", "arithmetic", "1 + 1", "(1) - (1)", "return 1 + 1")
MUTANTS = [replace(ONE, id=str(i)) for i in range(6)]


class _Stopped(MutationTarget):
    """Mutants of even number survive; after `most` results somebody interrupts."""

    most = 99

    def _prepare(self, tell: Progress, rest: Sequence[Mutant]) -> None:
        self.asked = [m.id for m in rest]

    def _each(self, rest: Sequence[Mutant]) -> Iterator[MutantResult]:
        for n, m in enumerate(rest):
            if n == self.most:
                raise KeyboardInterrupt
            yield MutantResult(m, "found" if int(m.id) % 2 else "survived", "t" if int(m.id) % 2 else "", "", 1, 0.1)


def _target(root: Path, most: int = 99, **options: object) -> _Stopped:
    (root / "tests").mkdir(exist_ok=True)
    made = _Stopped(Campaign("d", root, root / "work", **options), "passes", MUTANTS, root / "work" / "r.json")  # pyright: ignore
    made.most = most
    return made


def _look(target: _Stopped) -> tuple[list[str], list[str], list[float]]:
    """(asked now, told, shares of the progress)."""
    told: list[str] = []
    shares: list[float] = []
    target.look(MUTANTS, lambda share, _: shares.append(share), lambda r: told.append(r.mutant.id))
    return target.asked, told, shares


def test_an_interrupted_campaign_goes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _look(_target(tmp_path, most=4))
    asked, told, shares = _look(_target(tmp_path, resume=True))
    assert asked == ["4", "5"]
    assert told == [m.id for m in MUTANTS], "all are told, those of the first run too"
    assert shares == [5 / 6, 1.0]
    assert _look(_target(tmp_path))[0] == [m.id for m in MUTANTS], "without resume nothing is taken"


def test_survivors_are_looked_for_again_where_tests_changed_unless_they_are_explained(tmp_path: Path) -> None:
    _look(_target(tmp_path))
    (tmp_path / "tests" / "test_new.py").write_text("def test_new() -> None: ...\n")
    asked, _, _ = _look(_target(tmp_path, resume=True, explained=frozenset({"2"})))
    assert asked == ["0", "4"]
