"""Registers in the hjson of reggen, and ports of AMBA whose letter is glued to their words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyslang")
pytest.importorskip("hjson")

from adopted import DMA, MACC

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.reggen import reggen_registers
from fleet.adopt.registers import read_registers, shipped
from fleet.adopt.top import read_top
from fleet.errors import DeviceError


def _written(folder: Path, registers: str, more: str = "") -> Path:
    path = folder / "block.hjson"
    quoted = re.sub(r"(: )([A-Za-z]\w*)(?=[,\s}])", r'\1"\2"', f"{more} registers: [ {registers} ]")  # a word ends with its line
    path.write_text(f'{{ name: "block", bus_interfaces: [], regwidth: 32, {quoted} }}')
    return path


def test_a_block_is_read_with_the_registers_of_its_interrupts_and_alerts() -> None:
    (path,) = shipped([MACC.parent])
    assert path.name == "macc.hjson"
    found = {r.name: (r.offset, r.access, r.reset, r.known) for r in read_registers(path)}
    assert found == {
        "INTR_STATE": (0, "rw", 0, 1), "INTR_ENABLE": (4, "rw", 0, 1), "INTR_TEST": (8, "w", 0, 0), "ALERT_TEST": (12, "w", 0, 0),
        "OP_A": (0x10, "w", 0, 0), "OP_B": (0x14, "w", 0, 0), "CMD": (0x18, "w", 0, 0), "STATUS": (0x1C, "r", 0, 0),
        "ACC": (0x20, "r", 0, 0), "VERSION": (0x24, "r", 0x40001, 0xFFFFFFFF),
    }  # fmt: skip


def test_what_moves_addresses_is_followed(tmp_path: Path) -> None:
    text = """
      { name: A, swaccess: rw, fields: [{bits: "3:0", resval: 5}] }
      { skipto: "0x20" }
      { multireg: { name: KEY, count: NumKeys, swaccess: wo, fields: [{bits: "31:0"}] } }
      { multireg: { name: EN, count: 40, swaccess: rw, fields: [{bits: "0", resval: 1}] } }
      { reserved: 2 }
      { window: { name: BUF, items: 10 } }
      { sameaddr: [ { name: R, swaccess: ro, fields: [{bits: "7:0"}] }, { name: W, swaccess: wo, fields: [{bits: "7:0"}] } ] }
      { name: LAST, swaccess: rw1c, fields: [{bits: "0"}] }
    """
    path = _written(
        tmp_path, text, 'param_list: [{name: NumKeys, default: "3"}], interrupt_list: [{name: x}], no_auto_intr_regs: "true",'
    )
    found = {r.name: (r.offset, r.access) for r in reggen_registers(path)}
    assert found == {
        "A": (0, "rw"), "KEY_0": (0x20, "w"), "KEY_1": (0x24, "w"), "KEY_2": (0x28, "w"), "EN_0": (0x2C, "rw"),
        "EN_1": (0x30, "rw"), "R": (0x68, "r"), "W": (0x68, "w"), "LAST": (0x6C, "rw"),
    }  # fmt: skip
    resets = {r.name: (r.reset, r.known) for r in reggen_registers(path)}
    assert (resets["A"], resets["EN_0"], resets["EN_1"]) == ((5, 15), (0xFFFFFFFF, 0xFFFFFFFF), (0xFF, 0xFF))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{ name: A, swaccess: maybe }", "access 'maybe', which is not known"),
        ("{ skipto: there }", "skipto is 'there', expected a number"),
        ("{ something: 1 }", "an entry that is not read: something"),
        ("5", "'5' where a table is expected"),
    ],
)
def test_what_is_not_understood_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DeviceError, match=said):
        reggen_registers(_written(tmp_path, text))


def test_several_interfaces_and_other_hjson_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.hjson"
    path.write_text("{ registers: { core: [] } }")
    with pytest.raises(DeviceError, match="several interfaces"):
        reggen_registers(path)
    path.write_text('{ name: "x" }')
    with pytest.raises(DeviceError, match="has no `registers`"):
        reggen_registers(path)
    path.write_text("{ name: [")
    with pytest.raises(DeviceError, match="is not hjson"):
        reggen_registers(path)


@pytest.mark.parametrize(
    ("files", "ports", "wanted"),
    [
        (DMA, 24, {"s": ("ahb_lite", "subordinate", 10), "m": ("ahb_lite", "manager", 11)}),
        (MACC, 34, {"tl": ("tilelink", "subordinate", 20)}),
    ],
    ids=["a letter behind each word", "structures of OpenTitan"],
)
def test_two_more_styles_are_mapped_whole(files: Path, ports: int, wanted: dict[str, tuple[str, str, int]]) -> None:
    top = read_top(read_sources([files]))
    found = classify(top, known_protocols(()))
    assert found.unmapped == ()
    assert sum(1 for leaf in top.leaves() if leaf.width) == ports
    got = {g.name: (g.protocol, g.role, len(g.signals)) for g in found.groups}
    assert {name: got[name] for name in wanted} == wanted
