"""The bench of a design of many lines is built for few cycles, and says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, modelled
from owner_tests import TESTS, edits

from fleet.adopt.bench import build, replay
from fleet.adopt.bench.records import seen_in
from fleet.adopt.bench.replay import BenchRunner, record_of
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("fault", [0, 1])
def test_a_large_design_has_no_wave_unless_asked_and_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    folder = modelled(tmp_path / "w", COPIER, edits=edits(COPIER))
    test = folder / "owner.toml"
    test.write_text(TESTS[COPIER].replace("FAULT", str(fault)))
    work = open_workspace(folder)
    small = BenchRunner(work).run(test, tmp_path / "small")
    for module in (build, replay):
        monkeypatch.setattr(module, "LARGE", 50)
    large = BenchRunner(work).run(test, tmp_path / "large")
    asked = BenchRunner(work, waves=True).run(test, tmp_path / "asked")
    assert small.exit_code is large.exit_code is asked.exit_code is (ExitCode.DIFFERS if fault else ExitCode.AGREED)
    assert large.differences == small.differences
    assert seen_in(large.folder) == seen_in(small.folder) == seen_in(asked.folder)
    assert [run.wave is not None for run in (small, large, asked)] == [True, False, True]
    assert record_of(work, test, large).wave == "none: the design has 90 lines; --wave writes one"
