"""Device files: every mistake is named with file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import DeviceError
from fleet.isa.devices import load_devices

GOOD = """\
name = "tiny"
instruction_set = "demo"
clock_mhz = 100
[parameters]
HbmPorts = 1
Lanes = 32
[memory]
ddr = 65536
[limits]
macs_per_cycle = 0
hbm_bytes_per_cycle = 0
ddr_bytes_per_cycle = 64
"""


def load(folder: Path, text: str, **options: tuple[str, ...]) -> object:
    (folder / "tiny.toml").write_text(text)
    return load_devices(folder, "demo", **options)


def test_reads_a_device(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GOOD)
    device = load_devices(tmp_path, "demo", parameters=("Lanes",))["tiny"]
    assert device.parameters == {"HbmPorts": 1, "Lanes": 32}
    assert device.memory == {"ddr": 65536}
    assert (device.clock_mhz, device.path) == (100.0, tmp_path / "tiny.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "tiny"\n', "", "name is missing"),
        ('name = "tiny"', 'name = "other"', "name is 'other', expected 'tiny'"),
        ('name = "tiny"', "name = 3", "name must be a string"),
        ('"demo"', '"else"', "instruction_set is 'else', expected 'demo'"),
        ("clock_mhz = 100", "clock_mhz = 0", "clock_mhz is 0"),
        ("clock_mhz = 100", "clock_mhz = inf", "clock_mhz is inf"),
        ("clock_mhz = 100", "clock_mhz = true", "clock_mhz is True"),
        ("clock_mhz = 100", "clock_mhz = 100\ncolour = 1", "unknown key colour"),
        ("HbmPorts = 1\n", "", "parameters.HbmPorts is missing"),
        ("Lanes = 32\n", "", "parameters.Lanes is missing"),
        ("Lanes = 32", "Lanes = 32\nLane = 1", "unknown key parameters.Lane"),
        ("Lanes = 32", "Lanes = -1", "parameters.Lanes is -1, expected an integer of at least 0"),
        ("HbmPorts = 1", "HbmPorts = 0", "parameters.HbmPorts is 0, expected an integer above 0"),
        ("Lanes = 32", "Lanes = 3.5", r"parameters.Lanes is 3\.5"),
        ("ddr = 65536", "hbm = 65536", "memory.ddr is missing"),
        ("ddr = 65536", "ddr = 0", "memory.ddr is 0"),
        ("ddr_bytes_per_cycle = 64\n", "", "limits.ddr_bytes_per_cycle is missing"),
        ("ddr_bytes_per_cycle = 64", "ddr_bytes_per_cycle = 0", "limits.ddr_bytes_per_cycle is 0"),
        ("macs_per_cycle = 0", "macs_per_cycle = 0\nmax = 1", "unknown key limits.max"),
        ("[memory]\nddr = 65536", "", "memory is missing"),
        ("[memory]\nddr = 65536", "", "missing"),
        ("[parameters]", "[parameters", "no TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DeviceError, match=message) as caught:
        load(tmp_path, GOOD.replace(old, new, 1), parameters=("Lanes",))
    assert str(tmp_path / "tiny.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="no device files"):
        load_devices(tmp_path, "demo")
