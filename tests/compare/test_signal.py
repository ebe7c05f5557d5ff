"""A reference that is zero but for rounding has no SQNR, wherever one is shown; a small signal has one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.table import as_json, print_comparison
from fleet.compare.metrics import error_stats
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.frontend.source import load
from fleet.report.frame.text import decibel

CODEC = """import numpy as np
def codec(x: "float32[N, 8, 8]", d: "float32[8, 8]", q: "float32[8, 8]"):
    c = (d @ (x - 128.0)) @ d.T
    rows = c[:, 1:, 1:] @ np.ones((7, 7), np.float32)
    levels = np.round(c / q)
    return np.clip(d.T @ (levels * q) @ d + 128.0, 0, 255), rows
"""


def codec(tmp_path: Path, blocks: np.ndarray) -> CosimResult:
    """DCT by products, quantisation, inverse; vm against iss on a device that stores the table in four bits."""
    (tmp_path / "m.py").write_text(CODEC)
    k = np.arange(8)
    d = np.sqrt(2 / 8) * np.cos((2 * k[None, :] + 1) * k[:, None] * np.pi / 16)
    d[0] /= np.sqrt(2)
    weights = {"d": d.astype("f4"), "q": (16 + 4 * (k[:, None] + k[None, :])).astype("f4")}
    inputs = {"x": blocks.astype("f4")}
    program = load(f"{tmp_path / 'm.py'}:codec", weights, inputs)
    return cosim(program, inputs, None, ("vm", "iss"), CosimOptions("m", DataProvenance("real", 4, None, None, None), "hbm_small"))


def test_a_constant_block_has_no_signal_in_its_high_frequencies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = codec(tmp_path, np.full((4, 8, 8), 200))
    total = result.comparison("iss-vs-vm")
    rows = {row.op: row for row in total.operations}
    zero = [row for row in rows.values() if math.isnan(row.cumulative.sqnr_db)]
    assert zero, "the high frequencies"
    assert all(row.cumulative.sqnr_db > 0 for row in rows.values() if row not in zero)
    print_comparison(total)
    said = capsys.readouterr().out
    assert f"{len(zero)} without a signal (zero but for rounding, largest error " in said
    assert "SQNR -" not in said
    assert {decibel(row.cumulative.sqnr_db) for row in zero} == {"no signal"}
    json.dumps(as_json(result, {}), allow_nan=False)
    assert CosimResult.from_json(result.to_json()).to_json() == result.to_json()


def test_a_picture_has_a_signal_everywhere(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    result = codec(tmp_path, rng.integers(0, 255, (4, 8, 8)))
    assert not any(math.isnan(row.cumulative.sqnr_db) for row in result.comparison("iss-vs-vm").operations)


def test_a_small_signal_is_one(tmp_path: Path) -> None:
    """What is scaled to 1e-9 keeps its decibels: its floor is scaled with it."""
    (tmp_path / "m.py").write_text(
        'import numpy as np\ndef f(x: "float32[8, 64]", w: "float32[64, 32]"):\n    return (x @ w) * np.float32(1e-9), x @ w\n'
    )
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((8, 64)).astype("f4")}
    program = load(f"{tmp_path / 'm.py'}:f", {"w": rng.standard_normal((64, 32)).astype("f4")}, inputs)
    result = cosim(
        program, inputs, None, ("vm", "iss"), CosimOptions("m", DataProvenance("real", 8, None, None, None), "hbm_small")
    )
    found = [row.cumulative.sqnr_db for row in result.comparison("iss-vs-vm").operations]
    assert len(found) >= 2
    assert all(10 < db < 60 for db in found), found


def test_the_figure_itself() -> None:
    a = np.array([1e-15, -1e-15])
    assert error_stats(a, a + 0.5).sqnr_db == pytest.approx(20 * math.log10(1e-15 / 0.5))
    assert math.isnan(error_stats(a, a + 0.5, floor=1e-12).sqnr_db)
    assert math.isnan(error_stats(np.zeros(2), np.ones(2)).sqnr_db)
    assert error_stats(np.zeros(2), np.zeros(2), floor=1.0).sqnr_db == math.inf
