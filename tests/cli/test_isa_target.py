"""Commands about an instruction set take the set or one of its devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.cli.sets.target import find_set, find_target
from fleet.errors import DeviceError


def test_a_set_means_its_smallest_device_and_a_device_itself() -> None:
    for name, device in (("hbm0923", "hbm_small"), ("hbm_small", "hbm_small"), ("vgemm16", "vgemm16"), ("vgemm", "vgemm_small")):
        found, chip = find_target(name)
        assert (chip.name, found.devices[chip.name]) == (device, chip)
    assert find_target("vgemm", "vgemm16")[1].name == "vgemm16"
    assert find_target("vgemm16", "vgemm16")[1].name == "vgemm16"
    assert find_set("vgemm")[1] is None


def test_a_name_of_neither_lists_both() -> None:
    with pytest.raises(DeviceError, match=r"'hbm_smal'; instruction sets: .*vgemm.*; devices: .*hbm_small, .*vgemm_small"):
        find_target("hbm_smal")


def test_two_devices_are_one_too_many() -> None:
    with pytest.raises(DeviceError, match=r"^vgemm_small: is a device, --device names another one, 'vgemm16'; give vgemm --device"):
        find_target("vgemm_small", "vgemm16")
    with pytest.raises(DeviceError, match=r"^vgemm: has no device 'hbm_small'; it has vgemm16, vgemm_small"):
        find_target("vgemm", "hbm_small")


@pytest.mark.parametrize("command", ["check", "doc", "fuzz", "coverage", "mutants"])
def test_every_command_says_so(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["isa", command, "nothing"]) == 2
    assert "no instruction set and no device is called 'nothing'" in capsys.readouterr().err


def test_the_manual_of_a_device_is_that_of_its_set(capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str] = []
    for name in ("vgemm", "vgemm_small"):
        assert main(["isa", "doc", name]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != ""
