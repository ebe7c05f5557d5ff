"""90 nights of 10,000 made-up runs: one collected, its page, two compared, the same bytes again. The times are a benchmark's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from many_nights import NIGHTS, many_nights
from nights_made import night_id

from fleet.night import history as h
from fleet.night.collect import collect
from fleet.night.compare import compare, find_side
from fleet.report.regression.night import write_night


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fdatasync", lambda _: None)  # of 20,000 made-up records: half of the time
        return many_nights(tmp_path_factory.mktemp("many"))


def test_a_night_of_ten_thousand_runs_is_a_page_below_two_megabytes(folder: Path) -> None:
    where = folder / "night" / "nights" / night_id(NIGHTS - 1)
    found = collect(folder / "night", where, folder / "none.toml")
    files = write_night(found, folder / "out")
    assert files.html.stat().st_size < 2_000_000
    assert "30 new failures, 3 causes" in found.headline
    assert "10,000 of 10,000 ran" in found.headline
    slower = {m.key for m in found.red if not m.better}
    assert len([k for k in slower if "case0[" not in k]) >= 14
    assert all(len(line) == 60 for line in found.lines.values())


def test_the_same_night_twice_gives_the_same_bytes(folder: Path) -> None:
    where = folder / "night" / "nights" / night_id(NIGHTS - 1)
    made: list[dict[str, bytes]] = []
    for name in ("a", "b"):
        write_night(collect(folder / "night", where, folder / "none.toml"), folder / name)
        files = {p.name: p.read_bytes() for p in sorted((folder / name).iterdir())}
        made.append({**files, h.FILE: (folder / "night" / h.FILE).read_bytes()})
    assert made[0] == made[1]
    assert len(made[0]) == 5


def test_two_nights_of_ten_thousand_runs_are_compared(folder: Path) -> None:
    collect(folder / "night", folder / "night" / "nights" / night_id(NIGHTS - 1), folder / "none.toml")
    found = compare(find_side("last~1", folder / "night"), find_side("last", folder / "night"))
    assert len(found.failing) == 30
    assert "30 fail now" in found.markdown()
