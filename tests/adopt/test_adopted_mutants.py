"""Which tests of a workspace judge its mutants. The runs are made up: the simulation is the business of sim/adopt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import SCALER, workspace

from fleet.adopt.bench.replay import Outcome
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.errors import DeviceError
from fleet.verify.adopted import mutants as adopted_mutants
from fleet.verify.mutation.schemata import plusarg


class _Runner:
    """Compares two values in `owner.toml`, none in others; each mutant differs there."""

    def __init__(self, work: AdoptWorkspace) -> None:
        self.work = work

    def run(
        self, test: Path, folder: Path, arguments: Sequence[str] = (), *, wave: bool = True, seconds: float = 0
    ) -> Outcome:  # fmt: skip
        compares = test.name == "owner.toml"
        differs = ("differs",) if compares and plusarg(0) not in arguments else ()
        return Outcome(1, 2 * compares, differs, (), 0, 0, (), smoke=not compares, folder=folder, wave=None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(adopted_mutants, "BenchRunner", _Runner)
    return workspace(tmp_path / "scaler", SCALER)


def test_a_test_that_compares_nothing_judges_no_mutant(tmp_path: Path, folder: Path) -> None:
    (folder / "owner.toml").write_text("[[step]]\nidle = 1\n")
    work = open_workspace(folder)
    mutants = adopted_mutants.AdoptedMutants(work, adopted_mutants.tests_of(work))
    said: list[str] = []
    [result] = mutants.look(mutants.mutants[:1], tmp_path / "mutants", said.append)
    assert (result.verdict, result.test) == ("found", "owner.toml")
    assert said == ["left out: smoke.toml compares nothing"]


def test_if_no_test_compares_anything_the_message_says_so(tmp_path: Path, folder: Path) -> None:
    work = open_workspace(folder)
    mutants = adopted_mutants.AdoptedMutants(work, adopted_mutants.tests_of(work))
    with pytest.raises(DeviceError, match=r"no test compares anything \(smoke.toml\)"):
        next(mutants.look(mutants.mutants[:1], tmp_path / "mutants"))
