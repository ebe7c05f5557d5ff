"""A sweep whose best points run in RTL: three points of the digits on one simulation, every bit compared."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.core.cache import cache_root
from fleet.errors import ExitCode
from fleet.regress.pytest_night import RowFields
from fleet.report.regression.sweep import write_sweep
from fleet.sweep.campaign import SweepRequest, sweep
from fleet.sweep.subject import SubjectRequest

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MOST_OFF = 0.01
"""Of the cycles of the instructions; with ideal memory the cost model's worst instruction is 0.4 % off."""


@pytest.fixture
def subject() -> Iterator[SubjectRequest]:
    """The digits; the seed, which decides nothing where all data are given, makes figures that nobody has kept."""
    before = set(_stored())
    weights, data, labels = (str(DIGITS / name) for name in ("weights.npz", "test.npz", "labels.npz"))
    yield SubjectRequest(f"{DIGITS / 'model.py'}:forward", weights, data, labels, seed=time.time_ns() % 2**31)
    for path in set(_stored()) - before:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _stored() -> list[Path]:
    return list((cache_root() / "sweep").glob("*.rtl"))


def test_three_points_of_the_digits(subject: SubjectRequest, tmp_path: Path, night_row: RowFields) -> None:
    outcome, code = sweep(SweepRequest(subject, "hbm_small", ("group=32,64,128",), 3), lambda fraction, words: None)
    assert (code, outcome.verdict, outcome.computed, outcome.kept) == (ExitCode.AGREED, "pass", 3, 0)
    built = {p.point.label: p.hardware for p in outcome.points if p.hardware is not None}
    assert len(built) == 3
    assert all(h.verdict == "pass" and abs(h.off) < MOST_OFF for h in built.values()), built
    night_row["figures"] = {f"cycles rtl {label}": float(h.instruction_cycles) for label, h in built.items()}
    page = write_sweep(outcome, tmp_path / "reports" / "sweep").read_text()
    assert page.count('<a href="runs/') == 3
    assert f"{max(h.instruction_cycles for h in built.values()):,}" in page
