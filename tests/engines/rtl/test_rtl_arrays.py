"""Where the RTL keeps a memory: names and bytes of its arrays, and what is said of declarations that match nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.rtl_sim.arrays import Keeper, KeptState, Variable, check, keepers, visible
from fleet.errors import DeviceError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Device, Lanes, MemoryArray, RtlFiles, RtlMemory, RtlRegister, State, StateRegister, Write

SMALL = find_device("vgemm_small")[1]
BANKS, DEPTH, COLUMNS = 2, 6, 4
ARRAY = MemoryArray("pad", 256, "<i2", COLUMNS, DEPTH, BANKS)


def device(**changes: object) -> Device:
    state = State(registers=(StateRegister("stride", 5), StateRegister("mode")))
    return replace(SMALL, arrays={"pad": ARRAY}, state=state, **changes)


def files(path: str, *lanes: Lanes, registers: Mapping[str, tuple[RtlRegister, ...]] | None = None) -> RtlFiles:
    return RtlFiles((), "top", memories={"pad": RtlMemory("ram", path, lanes)}, registers=registers or {})


LAYOUTS = {
    "one array": ("u.mem", (), ["u.mem"], lambda bank, row, byte: 0),
    "banks": ("u[{bank}].mem", (), ["u[0].mem", "u[1].mem"], lambda bank, row, byte: bank),
    "lanes of bytes": (
        "u_{lane}.mem", (Lanes("lane", "Block * 2", "1"),), [f"u_{i}.mem" for i in range(8)], lambda bank, row, byte: byte
    ),
    "rows in turn": ("u[{way}].mem", (Lanes("way", "3", "2 * Block"),), [f"u[{i}].mem" for i in range(3)],
                     lambda bank, row, byte: (bank * DEPTH + row) % 3),
    "both, and banks": (
        "u[{bank}].g[{lane}].w[{way}].mem", (Lanes("way", "2", "8"), Lanes("lane", "4", "2")),
        [f"u[{b}].g[{lane}].w[{w}].mem" for b in range(2) for lane in range(4) for w in range(2)],
        lambda bank, row, byte: 8 * bank + 2 * (byte // 2) + row % 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_byte_is_found_in_its_array(layout: str) -> None:
    """Held against a walk over banks, rows and bytes."""
    path, lanes, names, place = LAYOUTS[layout]
    (keeper,) = keepers(files(path, *lanes), device())
    assert list(keeper.names) == names
    offsets: list[list[int]] = [[] for _ in names]
    for offset in range(ARRAY.size):
        row, byte = divmod(offset, ARRAY.row_bytes)
        offsets[place(*divmod(row, DEPTH), byte)].append(offset)
    order = keeper.order()
    found = range(ARRAY.size) if order is None else order.tolist()
    assert list(found) == [n for part in offsets for n in part]
    assert keeper.share == ARRAY.size // len(names)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (files("u.mem; x"), "is not the name of a variable"),
        (files("u[{lane}].mem"), "nothing says what {lane} of 'u[{lane}].mem' is"),
        (files("u.mem", Lanes("lane", "2", "1")), "'u.mem' has no {lane}"),
        (files("u[{lane}].mem", Lanes("lane", "5", "1")), "5 arrays of 1 bytes in turn do not share 96 bytes evenly"),
        (files("u[{lane}].mem", Lanes("lane", "Blocks", "1")), "no parameter 'Blocks'"),
        (RtlFiles((), "top", memories={"pat": RtlMemory("ram", "u.mem")}), "a memory 'pat', which the description does not have"),
        (RtlFiles((), "top", registers={"size": (RtlRegister("r", "u.q"),)}), "a state register 'size', which the description"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(given: RtlFiles, words: str) -> None:
    with pytest.raises(DeviceError, match=r"^[^\n]*$") as caught:
        keepers(given, device())
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "memory pad: the design has no variable 'u.mem' in a module 'ram'"),
        ({"u.x.mem": Variable(12, 64)}, "it has u.x.mem"),
        ({"u.mem": Variable(11, 64)}, "'u.mem' is 11 x 64 bits, expected whole bytes and 96 of them"),
        ({"u.mem": Variable(99, 12)}, "expected whole bytes"),
        ({"u.mem": Variable(16, 64)}, ""),
    ],
)
def test_the_design_is_held_to_the_declaration(variables: Mapping[str, Variable], words: str) -> None:
    found = keepers(files("u.mem"), device())
    if not words:
        check(found, variables, "top")
        return
    with pytest.raises(DeviceError) as caught:
        check(found, variables, "top")
    assert words in str(caught.value)


def test_only_what_is_declared_becomes_public() -> None:
    assert 'public_flat_rd -module "ram" -var "mem"' in visible(keepers(files("u[{bank}].mem"), device()))
    assert visible(()) == ""


def content(folder: Path) -> tuple[KeptState, MappedMemory]:
    chip = device()
    mode = RtlRegister("config", "u.mode_q"), RtlRegister("config", "u.high_q", lsb=8)
    registers = {"stride": (RtlRegister("config", "u.stride_q"),), "mode": mode}
    found = keepers(files("u[{bank}].mem", registers=registers), chip)
    sizes = {"u[0].mem": Variable(8, 64), "u[1].mem": Variable(8, 64), "u.stride_q": Variable(1, 32), "u.mode_q": Variable(1, 3)}
    sizes["u.high_q"] = Variable(1, 12)
    check(found, sizes, "top")
    return KeptState(found, sizes, folder), MappedMemory(chip, folder / "memory")


def test_a_job_takes_what_is_undefined_and_what_blocks_name_and_brings_all_back(tmp_path: Path) -> None:
    inside, memory = content(tmp_path)
    pad = memory.view("pad", 0, 96).copy()
    files_ = inside.put(memory, ())
    assert files_ is not None
    assert files_[0].read_text().splitlines() == ["6 1 u[0].mem", "6 1 u[1].mem", "1 0 u.stride_q", "1 0 u.mode_q", "1 0 u.high_q"]
    assert files_[1].read_bytes() == pad.tobytes() + b"\5\0\0\0" + b"\0" + b"\0\0"
    block = Write("state", 0, np.array([7, 0x1202], "<u4").view(np.uint8))
    memory.view("state", 0, 8)[:] = block.data
    files_ = inside.put(memory, (block,))
    assert files_ is not None
    assert files_[0].read_text().splitlines()[2:] == ["1 1 u.stride_q", "1 1 u.mode_q", "1 1 u.high_q"]
    assert files_[1].read_bytes()[96:] == b"\7\0\0\0" + b"\2" + b"\x12\0"
    files_[2].write_bytes(pad[::-1].tobytes() + b"\1\2\0\0" + b"\3" + b"\xff\x0f")
    inside.get(files_[2], memory)
    assert np.array_equal(memory.view("pad", 0, 96), pad[::-1])
    assert memory.view("state", 0, 8).view("<u4").tolist() == [0x201, 0xFFF03]
    assert memory.known == (("pad", 0, 96), ("state", 0, 4), ("state", 4, 4))
    files_[2].write_bytes(b"\0" * 10)
    with pytest.raises(DeviceError, match="no whole content"):
        inside.get(files_[2], memory)


def test_content_that_the_set_cannot_place_is_refused(tmp_path: Path) -> None:
    memory = MappedMemory(device(), tmp_path / "memory")
    nothing: tuple[Keeper, ...] = ()
    assert KeptState(nothing, {}, tmp_path).put(memory, ()) is None
    with pytest.raises(DeviceError, match=r"content of pad bank 1, row 0, column 0, and the set does not say where its RTL"):
        KeptState(nothing, {}, tmp_path).put(memory, (Write("pad", 48, np.zeros(2, np.uint8)),))
