"""`fleet case run`: what is wrong in a case is blamed on the line of its file, never on an option that nobody gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.cli.main import main

CASE = """\
name = "c"
model = "model.py:forward"
weights = "w.npz"
input = "x.npz"
golden = false
engines = ["vm", "cpython"]
[[runs]]
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["vm", "cpython"]', '[\n  "vm",\n  "rtk",\n]', "c.toml:8: no engine 'rtk'; choose among aarch64, cpython"),
        ("[[runs]]\n", '[[runs]]\n[[runs]]\nseeds = [1]\nengines = ["vm", "wm"]\n', "c.toml:10: no engine 'wm'"),
        ('"cpython"]', '"iss"]', "c.toml:6: engine 'iss' needs a device"),
        ('"cpython"]\n', '"iss"]\ndevices = ["hbm_tiny"]\n', "c.toml:7: no device 'hbm_tiny'; known devices: hbm0923"),
        ("golden = false\n", 'memory = "ideal"\ngolden = false\n', "c.toml:5: unknown key memory; known are name"),
        ("golden = false\n", "golden = 3\n", "c.toml:5: golden is 3, expected true or false"),
        ('"cpython"]\n', '"iss"]\ndevices = ["hbm_small"]\nmemories = ["fast"]\n', "c.toml:8: memory 'fast' is unknown"),
    ],
)
def test_the_line_of_the_case_is_blamed(
    dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    monkeypatch.chdir(dense)
    assert old in CASE
    Path("c.toml").write_text(CASE.replace(old, new, 1))
    assert main(["case", "run", "c.toml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"fleet: {says}")
    assert len(err.splitlines()) == 1
    assert "--engines" not in err
    assert "--device" not in err
