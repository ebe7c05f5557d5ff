"""The state map of a description: memories, state registers, and every mistake in them with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_description import RDL

from fleet.isa.description import DescriptionError
from fleet.isa.difference import changes
from fleet.isa.generate.export_sv import package
from fleet.isa.generate.state_module import state_module
from fleet.isa.installed import PluginError
from fleet.isa.reading.cache import load
from fleet.isa.registry import check_binding, find_instruction_set
from fleet.sdk import OnChipMemory, State, StateRegister

STATE_MAP = """
addrmap demo_state {
    fleet_map = "state";
    default regwidth = 32;
    default sw = r;
    default hw = rw;
    external mem { memwidth = 8; fleet_dtype = "int8"; fleet_columns = "Lanes"; fleet_banks = 2; fleet_reset = "zeros"; } pad;
    external mem { memwidth = 32; fleet_dtype = "int32"; fleet_columns = "Lanes * 4"; fleet_reset = "undefined"; } sums;
    reg { name = "Stride"; field { fleet_kind = "stride"; } rows[15:0] = 1; } step;
    reg { field { fleet_kind = "address"; fleet_space = "sums"; } row[31:0] = 0; } target;
};
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "demo.rdl"
    path.write_text(text)
    return path


def test_memories_and_registers(tmp_path: Path) -> None:
    d = load(write(tmp_path, RDL + STATE_MAP))
    memories = OnChipMemory("pad", "|i1", "Lanes", 2, undefined=False), OnChipMemory("sums", "<i4", "Lanes * 4")
    assert d.state == State(memories, (StateRegister("step", 1), StateRegister("target", 0)))
    assert d.register("step").fields[0].name == "rows"
    assert [r.name for r in d.with_role("state")] == [], "software does not see them"
    text = package(d)
    for line in ("SpacePad = 256;", "SpaceSums = 257;", "SpaceState = 1;", "StateStep = 0;", "StateTarget = 4;"):
        assert f"  localparam int unsigned {line}\n" in text


def test_the_generated_module_says_the_same(tmp_path: Path) -> None:
    d = load(write(tmp_path, RDL + STATE_MAP))
    found: dict[str, State] = {}
    exec(compile(state_module(d) or "", "state.py", "exec"), found)
    assert found["STATE"] == d.state
    assert state_module(load(write(tmp_path, RDL))) is None


def test_state_is_part_of_the_hash_and_its_absence_is_not(tmp_path: Path) -> None:
    without = load(write(tmp_path, RDL)).hash
    hashes = {without}
    for old, new in (
        ("", ""),
        ("Lanes * 4", "Lanes * 8"),
        ('"zeros"', '"undefined"'),
        ("= 1; } step", "= 2; } step"),
        ("int8", "uint8"),
    ):
        hashes.add(load(write(tmp_path, RDL + (STATE_MAP.replace(old, new) if old else STATE_MAP))).hash)
    assert len(hashes) == 6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('fleet_dtype = "int8"', 'fleet_dtype = "tensor"', "pad: fleet_dtype is 'tensor', expected a NumPy type"),
        ("memwidth = 8", "memwidth = 16", "pad: memwidth is 16, int8 has 8 bits"),
        ('"Lanes * 4"', '"Lanes ** 4"', r"sums: fleet_columns is 'Lanes \*\* 4': 'Lanes \*\* 4' is not a name, an integer"),
        ('"Lanes * 4"', '"Lanes *"', r"sums: fleet_columns is 'Lanes \*': 'Lanes \*' has no value"),
        ("fleet_banks = 2", "fleet_banks = 0", "pad: fleet_banks is 0, expected 1 or more"),
        ('fleet_reset = "zeros"', 'fleet_reset = "ones"', "pad: fleet_reset is 'ones', expected one of undefined, zeros"),
        ('fleet_space = "sums"', 'fleet_space = "sum"', "target.row: fleet_space is 'sum', expected one of ddr, hbm, pad, sums"),
        ("} pad;", "} u_len;", "u_len: the name is taken"),
        ("} pad;", "} ddr;", "ddr: the name is taken"),
        ("} target;", "} u_src;", "u_src: the name is taken"),
        ('fleet_map = "state"', 'fleet_map = "stat"', "fleet_map is 'stat', expected one of registers, instructions, state"),
    ],
)
def test_mistakes_have_a_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in STATE_MAP
    with pytest.raises(DescriptionError, match=message) as error:
        load(write(tmp_path, RDL + STATE_MAP.replace(old, new)))
    assert str(tmp_path / "demo.rdl:") in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Lanes * 4", "Lanes * 8", ["changed  memory sums: columns Lanes * 4 -> Lanes * 8"]),
        ('fleet_reset = "zeros"', 'fleet_reset = "undefined"', ["changed  memory pad: undefined False -> True"]),
        ("= 1; } step", "= 2; } step", ["changed  field step.rows: reset 1 -> 2"]),
        ("} step;", "} pace;", ["gone     state register step", "new      state register pace"]),
        ("} pad;", "} block;", ["gone     memory pad", "new      memory block"]),
    ],
)
def test_differences_of_the_state_are_told(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    before = load(write(tmp_path, RDL + STATE_MAP))
    (tmp_path / "new").mkdir()
    after = load(write(tmp_path / "new", RDL + STATE_MAP.replace(old, new)))
    assert [str(c).partition("  (")[0] for c in changes(before, after)] == told
    assert changes(before, before) == []


def test_memories_in_another_order_have_moved(tmp_path: Path) -> None:
    before = load(write(tmp_path, RDL + STATE_MAP))
    (tmp_path / "new").mkdir()
    pad, sums = (line for line in STATE_MAP.splitlines() if "external mem" in line)
    text = STATE_MAP.replace(pad, "").replace(sums, f"{sums}\n{pad}")
    told = [c.what for c in changes(before, load(write(tmp_path / "new", RDL + text)))]
    assert told == ["memory pad: space 256 -> 257", "memory sums: space 257 -> 256"]


def test_a_set_whose_devices_or_classes_have_another_state_is_refused() -> None:
    vgemm = find_instruction_set("vgemm")
    devices = {name: replace(device, state=State()) for name, device in vgemm.devices.items()}
    message = r"device 'vgemm16' has no state, vgemm.rdl has memories uop \(<u4 x 1\), inp \(\|i1 x Block\)"
    with pytest.raises(PluginError, match=message) as error:
        check_binding(replace(vgemm, devices=devices))
    assert "fleet isa generate" in (error.value.hint or "")

    class Finish(vgemm.instructions["finish"]):
        uses = ("stride",)

    with pytest.raises(PluginError, match=r"class Finish uses 'stride', which is no state register of vgemm.rdl"):
        check_binding(replace(vgemm, instructions={**vgemm.instructions, "finish": Finish}))
