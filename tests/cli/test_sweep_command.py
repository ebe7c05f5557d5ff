"""`fleet sweep`: what is printed and written, and every refusal before anything runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Fleet, Ran


def test_a_sweep_prints_its_front_and_writes_page_csv_and_json(fleet: Fleet, dense: Path, tmp_path: Path) -> None:
    arguments = [
        "sweep",
        f"{dense}/model.py:forward",
        "--batch",
        "4",
        "--device",
        "hbm_small",
        "--over",
        "Tout=4,8",
        "ports=4,8",
        "group=64",
    ]
    ran = fleet(*arguments, "--report", "out", env={"FLEET_CACHE": str(tmp_path / "cache")})
    assert ran.code == 0, ran.err
    assert "2 points" in ran.out
    assert "2 combinations left out: the hardware cannot have Tout=4: every HBM port feeds one output channel" in ran.out
    assert "the front by time, SQNR, energy, LUT:" in ran.out
    assert "verdict: PASS" in ran.out
    assert (tmp_path / "out" / "index.html").is_file()
    with (tmp_path / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["Tout"], r["device"]) for r in rows] == [("4", "hbm_small@Tout=4,HbmPorts=4"), ("8", "hbm_small")]
    told = fleet(*arguments, "--report", "out", "--json", env={"FLEET_CACHE": str(tmp_path / "cache")})
    table = json.loads(told.out)
    assert (table["kept"], table["computed"], table["verdict"]) == (2, 0, "pass")
    assert table == json.loads((tmp_path / "out" / "sweep.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "hbm_small", "--over", "Tin=96"], ("Tin=96", "the hardware cannot have", "whole beats of 64 inputs")),
        (["--device", "hbm_small", "--over", "colour=1"], ("no axis 'colour'", "axes of hbm_small are Tin")),
        (["--device", "hbm_small"], ("no axis was given",)),
        (["--device", "no_such", "--over", "Tin=64"], ("no device 'no_such'",)),
        (["--device", "hbm_small", "--over", "Tin=64", "--rtl", "all"], ("'all' is no choice of points", "best:3")),
        (["--device", "vgemm_small", "--over", "group=64"], ("vgemm_small has no axis 'group'",)),
    ],
)
def test_refusals_are_one_line(
    refused: Callable[..., Ran], dense: Path, tmp_path: Path, arguments: list[str], words: tuple[str, ...]
) -> None:
    refused("sweep", f"{dense}/model.py:forward", *arguments, words=words, env={"FLEET_CACHE": str(tmp_path / "cache")})


def test_options_that_do_not_fit_together_are_refused(fleet: Fleet, dense: Path) -> None:
    assert fleet("sweep", f"{dense}/model.py:forward", "--over", "Tin=64", "--executor", "dask", "--jobs", "2").code == 2
    assert fleet("sweep", f"{dense}/model.py:forward", "--over", "Tin=64", "--cluster", "x.toml").code == 2
