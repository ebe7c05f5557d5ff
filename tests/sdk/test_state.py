"""On-chip memories of a device: sizes from the device file, places in words, numbers of spaces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_devices import GOOD

from fleet.errors import DeviceError
from fleet.isa.digest import DDR, HBM_PORT_0, STATE, digest, digest_writes, space_named, space_number
from fleet.isa.memory import MappedMemory
from fleet.sdk import Device, OnChipMemory, State, StateRegister, Write, load_devices

DECLARED = State(
    memories=(OnChipMemory("pad", "|i1", "Lanes", banks=2, undefined=False), OnChipMemory("weight_buffer", "<i4", "Lanes * 2 + 1")),
    registers=(StateRegister("step", 7), StateRegister("target", 0x1_0001)),
)
SIZES = "[memories]\npad = 8\nweight_buffer = 4\n"


def device_of(folder: Path, sizes: str = SIZES) -> Device:
    (folder / "tiny.toml").write_text(GOOD.replace("[memory]\n", f"{sizes}[memory]\n"))
    return load_devices(folder, "demo", parameters=("Lanes",), state=DECLARED)["tiny"]


def test_sizes_and_places(tmp_path: Path) -> None:
    device = device_of(tmp_path)
    assert device.parameters == {"HbmPorts": 1, "Lanes": 32, "PadDepth": 8, "WeightBufferDepth": 4}
    pad, weights = device.arrays["pad"], device.arrays["weight_buffer"]
    assert (pad.row_bytes, pad.size, weights.row_bytes, weights.size) == (32, 512, 260, 1040)
    assert pad.place(8 * 32 + 3 * 32 + 5) == "bank 1, row 3, column 5"
    assert weights.place(2 * 260 + 4 * 7 + 1) == "row 2, column 7"


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("", "memories is missing"),
        ("[memories]\npad = 8\n", "memories.weight_buffer is missing"),
        (SIZES + "sums = 3\n", "unknown key memories.sums"),
        (SIZES.replace("= 4", "= 0"), "memories.weight_buffer is 0, expected an integer above 0"),
    ],
)
def test_mistakes_in_the_device_file(tmp_path: Path, sizes: str, message: str) -> None:
    with pytest.raises(DeviceError, match=message) as error:
        device_of(tmp_path, sizes)
    assert (error.value.where or "").startswith(f"{tmp_path / 'tiny.toml'}:")


def test_columns_of_a_parameter_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GOOD.replace("[memory]\n", "[memories]\npad = 8\n[memory]\n"))
    state = State((OnChipMemory("pad", "|i1", "Blocks"),))
    with pytest.raises(DeviceError, match="a row of pad is 'Blocks' elements: no parameter 'Blocks'"):
        load_devices(tmp_path, "demo", parameters=("Lanes",), state=state)


def test_numbers_of_spaces_go_both_ways(tmp_path: Path) -> None:
    device = device_of(tmp_path)
    spaces = [("ddr", 0), ("hbm", 0), ("hbm", 31), ("state", 0), ("pad", 0), ("weight_buffer", 0)]
    numbers = [space_number(device, *s) for s in spaces]
    assert numbers == [DDR, HBM_PORT_0, HBM_PORT_0 + 31, STATE, 256, 257]
    assert [space_named(device, n) for n in numbers] == spaces
    with pytest.raises(DeviceError, match=r"no memory 'acc'.*ddr, pad, weight_buffer, state"):
        space_number(device, "acc")
    with pytest.raises(DeviceError, match="the hardware wrote to space 258"):
        space_named(device, 258)


def test_memory_has_the_arrays_and_what_reset_leaves(tmp_path: Path) -> None:
    memory = MappedMemory(device_of(tmp_path), tmp_path / "images")
    left = memory.view("weight_buffer", 0, 1040).copy()
    assert np.count_nonzero(left) > 900, "arbitrary bytes"
    assert not memory.view("pad", 0, 512).any()
    assert memory.view("state", 0, 8).view("<u4").tolist() == [7, 0x1_0001]
    memory.view("state", 0, 8)[:] = 255
    memory.view("pad", 0, 1)[:] = 1
    memory.clear_arrays()
    assert memory.view("state", 0, 8).view("<u4").tolist() == [7, 0x1_0001]
    assert memory.view("pad", 0, 1)[0] == 0
    assert np.array_equal(memory.view("weight_buffer", 0, 1040), left), "the same at every power-on"
    memory.fill_undefined(1)
    assert np.count_nonzero(memory.view("weight_buffer", 0, 1040) == left) < 100
    memory.fill_undefined(None)
    assert not memory.view("weight_buffer", 0, 1040).any()
    with pytest.raises(DeviceError, match="leave 'pad' of 0x200 bytes"):
        memory.view("pad", 511, 2)
    assert sorted(p.name for p in (tmp_path / "images").iterdir()) == ["ddr.bin"]


def test_a_commit_counts_every_space(tmp_path: Path) -> None:
    device = device_of(tmp_path)
    data = np.arange(4, dtype=np.uint8)
    writes = [Write("pad", 0, data), Write("state", 4, data), Write("reg", 8, data), Write("ddr", 64, data)]
    expected = digest(256, 0, data) + digest(STATE, 4, data) + digest(DDR, 64, data)
    assert digest_writes(device, writes) == expected % (1 << 64)
