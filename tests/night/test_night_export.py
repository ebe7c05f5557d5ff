"""The history as Parquet."""

from __future__ import annotations

from pathlib import Path

import pytest
from nights_made import changed, failed, judged, night_id, run

from fleet.errors import ModelError
from fleet.night.export import export
from fleet.night.history import FILE

pq = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")


def test_every_night_run_and_figure_is_a_row(tmp_path: Path) -> None:
    judged(tmp_path, 0, [run(), run(memory="fixed")])
    judged(tmp_path, 1, [changed(run(day=1), cycles=3.0), failed(run(memory="fixed", day=1))])
    paths = export(tmp_path / "night" / FILE, tmp_path / "out")
    nights, runs, figures = (pq.read_table(path).to_pylist() for path in paths)
    assert [(n["night"], n["failed"], n["planned"]) for n in nights] == [(night_id(0), 0, 2), (night_id(1), 1, 2)]
    assert [(r["night"], r["key"], r["outcome"]) for r in runs] == [
        (night_id(0), "digits[small-fixed-0]", "passed"),
        (night_id(0), "digits[small-ideal-0]", "passed"),
        (night_id(1), "digits[small-fixed-0]", "failed"),
        (night_id(1), "digits[small-ideal-0]", "passed"),
    ]
    assert len(figures) == 16
    cycles = {(f["night"], f["key"]): f["value"] for f in figures if f["figure"] == "cycles rtl"}
    assert cycles[night_id(1), "digits[small-ideal-0]"] == 3.0
    assert cycles[night_id(0), "digits[small-ideal-0]"] == 1000.0


def test_without_a_history_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no history here"):
        export(tmp_path / FILE, tmp_path / "out")
