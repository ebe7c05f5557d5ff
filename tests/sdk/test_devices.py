"""Device files: every mistake is named with file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.cosim.device_figures import device_hash, figures_of
from fleet.engines.rtl import memory_timing
from fleet.errors import DeviceError
from fleet.sdk import load_devices
from fleet.sdk.dram import dram, timing_keys

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


def test_reads_what_clock_the_hardware_may_reach(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GOOD + '[clock_estimate]\nmhz = 76\nsource = "an adder"\n')
    device = load_devices(tmp_path, "demo", parameters=("Lanes",))["tiny"]
    assert figures_of(device).clock == "100 MHz (its RTL is estimated to reach at most 76 MHz: an adder)"
    (tmp_path / "tiny.toml").write_text(GOOD)
    other = load_devices(tmp_path, "demo", parameters=("Lanes",))["tiny"]
    assert figures_of(other).clock == "100 MHz"
    assert device_hash(device) == device_hash(other), "the same device, whatever is known of its clock"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "tiny"\n', "", "name is missing"),
        ("[limits]", "[clock_estimate]\nmhz = 76\n[limits]", "clock_estimate.source is missing"),
        ("[limits]", "[clock_estimate]\nmhz = 0\nsource = 'x'\n[limits]", "clock_estimate.mhz is 0"),
        ('name = "tiny"', 'name = "other"', "name is 'other', expected 'tiny'"),
        ('name = "tiny"', "name = 3", "name is 3, expected a text"),
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
        ("[parameters]", "[parameters", "not TOML"),
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


TIMING = """\
[timing.ddr]
clock_mhz = 1200
map = "R16 B2 C7 G2"
burst = 4
cl = 16
cwl = 16
turn = 2
t_rcd = 16
t_rp = 16
t_ras = 39
t_rtp = 9
t_wr = 19
t_ccd_s = 4
t_ccd_l = 6
t_rrd_s = 4
t_rrd_l = 6
t_faw = 26
t_wtr_s = 3
t_wtr_l = 9
t_rfc_ns = 350
t_refi_ns = 7800
request_ns = 56.6
queue_bursts = 8
return_beats = 32
write_beats = 64
write_batch = 32
write_wait = 1200
"""


def test_reads_timing_tables(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GOOD + TIMING)
    device = load_devices(tmp_path, "demo", parameters=("Lanes",))["tiny"]
    table = dram(device, "ddr")
    assert (table.clock_khz, table.t_rfc, table.t_refi, table.request, table.t_ccd_l) == (1_200_000, 420, 9360, 68, 6)
    keys = timing_keys(device)
    assert (keys["core_khz"], keys["ddr.map"], keys["ddr.t_faw"]) == ("100000", "R16 B2 C7 G2", "26")
    assert not any(key.startswith("hbm") for key in keys), "the device has none"
    with pytest.raises(DeviceError, match=r"no table \[timing.hbm\]"):
        dram(device, "hbm")


def test_a_device_without_timing_refuses_timed_memory(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GOOD)
    device = load_devices(tmp_path, "demo", parameters=("Lanes",))["tiny"]
    assert memory_timing("ideal", device) == {}
    with pytest.raises(DeviceError, match=r"no table \[timing.ddr\]: it cannot be simulated with timed memory"):
        memory_timing("timed:3", device)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cl = 16\n", "", "timing.ddr.cl is missing"),
        ("cl = 16", "cl = 16\nal = 1", "unknown key timing.ddr.al"),
        ("cl = 16", "cl = 0", "timing.ddr.cl is 0, expected an integer above 0"),
        ("cl = 16", "cl = 1.5", r"timing.ddr.cl is 1\.5"),
        ("t_rfc_ns = 350", "t_rfc_ns = -1", "timing.ddr.t_rfc_ns is -1, expected a number above 0"),
        ("t_refi_ns = 7800", "t_refi_ns = 370", "expected more than a refresh takes"),
        ("timing.ddr", "timing.hbm", "unknown key timing.hbm"),
        ("timing.ddr", "timing.sram", "unknown key timing.sram"),
        ("R16 B2 C7 G2", "B2 C7 G2", "timing.ddr.map is 'B2 C7 G2', expected fields R"),
        ("R16 B2 C7 G2", "R16 B2 X1", "expected fields R"),
        ("R16 B2 C7 G2", "R16 B5 C7", "expected fields R"),
        ("R16 B2 C7 G2", "R1 C1", "reaches 256 bytes, the memory has 65536"),
        ('map = "R16 B2 C7 G2"', "map = 3", "timing.ddr.map is 3"),
    ],
)
def test_names_what_is_wrong_with_timing(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TIMING
    (tmp_path / "tiny.toml").write_text(GOOD + TIMING.replace(old, new))
    with pytest.raises(DeviceError, match=message):
        load_devices(tmp_path, "demo")
