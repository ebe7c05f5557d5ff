"""What a device lets a sweep change: the file, its mistakes, its expressions."""

from __future__ import annotations

import operator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.errors import DeviceError
from fleet.isa.registry import instruction_sets
from fleet.sdk import load_devices
from fleet.sdk.hardware.state import evaluated
from fleet.sdk.hardware.sweepable import holds, read_sweepable, sweepable_of

DEVICE = """\
name = "tiny"
instruction_set = "demo"
sweep = "lanes.txt"
clock_mhz = 100
[parameters]
HbmPorts = 1
Lanes = 32
[memory]
ddr = 65536
[limits]
macs_per_cycle = 32
hbm_bytes_per_cycle = 0
ddr_bytes_per_cycle = 64
"""
GOOD = """\
[parameters]
Lanes = ["width"]
[limits]
macs_per_cycle = "Lanes"
[[rules]]
holds = "power_of_two(Lanes)"
why = "the tree has two inputs a node"
[[energy]]
what = "a MAC"
counter = "macs"
picojoules = 0.5
source = "a table"
"""


def load(folder: Path, text: str) -> object:
    (folder / "tiny.toml").write_text(DEVICE)
    (folder / "lanes.txt").write_text(text)
    return load_devices(folder, "demo", parameters=("Lanes",))


def test_reads_what_a_device_file_names(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    found = sweepable_of(tmp_path / "tiny.toml")
    assert found is not None
    assert found.parameters == {"Lanes": ("width",)}
    assert found.limits == {"macs_per_cycle": "Lanes"}
    assert [(e.counter, e.picojoules) for e in found.energy] == [("macs", 0.5)]
    assert (found.options, found.errors, found.area) == ({}, (), ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('Lanes = ["width"]', 'Lane = ["width"]', "parameters.Lane is no parameter of tiny.toml"),
        ('Lanes = ["width"]', "Lanes = 3", "parameters.Lanes is 3, expected a list of different names"),
        ("power_of_two(Lanes)", "Lanes == 31", "breaks 'Lanes == 31': the tree has two inputs a node"),
        ("power_of_two(Lanes)", "Lane == 32", "no parameter 'Lane'"),
        ("power_of_two(Lanes)", "Lanes", "'Lanes' is no comparison"),
        ("power_of_two(Lanes)", "Lanes ==", "is no condition"),
        ("picojoules = 0.5", "picojoules = 0", "picojoules is 0, expected a number above 0"),
        ("picojoules = 0.5", "joules = 0.5", "unknown key"),
        ('why = "the tree has two inputs a node"\n', "", "why is missing"),
        ("[limits]", "[limit]", "unknown key limit"),
    ],
)
def test_every_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DeviceError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(DEVICE)
    with pytest.raises(DeviceError, match=r"tiny.toml:3: sweep is 'lanes.txt', expected a file"):
        load_devices(tmp_path, "demo", parameters=("Lanes",))


COMPARED = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@given(
    a=st.integers(0, 70), b=st.integers(0, 70), first=st.sampled_from(sorted(COMPARED)), second=st.sampled_from(sorted(COMPARED))
)
def test_conditions_mean_what_they_mean_in_python(a: int, b: int, first: str, second: str) -> None:
    known = {"A": a, "B": b}
    one, two = COMPARED[first](a, b + 1), COMPARED[second](a * 2 // 3, b)
    assert holds(f"A {first} B + 1", known) == one
    assert holds(f"A {first} B + 1 and A * 2 // 3 {second} B", known) == (one and two)
    assert holds(f"A {first} B + 1 or A * 2 // 3 {second} B", known) == (one or two)
    assert holds(f"A {first} B {second} 5", known) == (COMPARED[first](a, b) and COMPARED[second](b, 5))
    assert holds("power_of_two(A)", known) == (bin(a).count("1") == 1)


@pytest.mark.parametrize(
    "bad", ["__import__('os')", "A.real == 1", "A == 'x'", "not A == 1", "A if A else B", "power_of_two(A, B)"]
)
def test_nothing_else_is_evaluated(bad: str) -> None:
    with pytest.raises(DeviceError):
        holds(bad, {"A": 1, "B": 2})


def test_the_installed_sets_state_what_their_device_files_say() -> None:
    seen = 0
    for instruction_set in instruction_sets().values():
        for device in instruction_set.devices.values():
            space = sweepable_of(device.path)
            if space is None:
                continue
            seen += 1
            assert space.broken_rule(device.parameters) is None
            stated = {name: evaluated(text, device.parameters) for name, text in space.limits.items()}
            assert stated == {name: device.limits[name] for name in stated}, device.name
            assert all(evaluated(part.count, device.parameters) > 0 for part in space.area)
            assert all(c.source for c in (*space.energy, *space.area, *space.errors))
            assert read_sweepable(space.path) == space
    assert seen >= 5
