"""ports.toml: written, edited, read again; every mistake is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.map_file import map_text, read_map
from fleet.adopt.ports import Top
from fleet.adopt.top import read_top
from fleet.errors import DeviceError

SOURCE = """module t(input clk, input rst_n, input spare,
  input s_valid, output s_ready, input [7:0] s_data, input [3:0] s_user,
  output m_ceb, output m_web, output [5:0] m_a, output [31:0] m_d, input [31:0] m_q);
endmodule
"""


def top(folder: Path) -> Top:
    (folder / "t.sv").write_text(SOURCE)
    return read_top(read_sources([folder / "t.sv"]), "t")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    t = top(tmp_path)
    ports = classify(t)
    (tmp_path / "ports.toml").write_text(map_text(ports, "0" * 64))
    assert read_map(tmp_path / "ports.toml", t) == ports
    assert [u.path for u in ports.unmapped] == ["spare"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('top = "t"', 'top = "u"', 'top = "u"', "the map is of u, the top is t"),
        ('protocol = "sram"', 'protocol = "dram"', 'protocol = "dram"', "expected one of clock, reset, test, axi4"),
        ('protocol = "stream"', 'protocol = "axi4_stream"', "valid =", "AXI4-Stream has no signal valid; it has tdata"),
        ('ready = "s_ready"', 'ready = "s_rdy"', "ready =", "the top has no port s_rdy; was it renamed?"),
        ('ready = "s_ready"', 'ready = "s_valid"', "ready =", "s_valid is used twice"),
        ('addr = "m_a"', "# a", 'protocol = "sram"', "addr not there"),
        ('rdata = "m_q"', 'rdata = "m_d"\nwdata = "m_q"\n#', 'protocol = "sram"', "m_d is an output"),
        ('active_low = ["en", "we"]', 'active_low = ["en", "be"]', "active_low", "be is not a signal of this group"),
        (
            'role = "subordinate"\n[group.signals]\nclock',
            'role = "slave"\n[group.signals]\nclock',
            'role = "slave"',
            "expected manager or",
        ),
        ('[[unmapped]]\nport = "spare"\nreason', "[[unmapped]]\nreason", "[[unmapped]]", "port is missing"),
        ('port = "spare"', 'port = "spares"', 'port = "spares"', "the top has no port spares"),
        ('name = "clk"', 'name = "m"', 'name = "m"', "there are two groups m"),
        ('name = "s"', 'name = "s"\nlanes = 2', "lanes", "lanes is 2, the widths and arrays say 1"),
        ('name = "s"', 'name = "s"\nbus = 2', "bus", "unknown key"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: str, message: str) -> None:
    t = top(tmp_path)
    text = map_text(classify(t), "")
    assert old in text
    text = text.replace(old, new, 1)
    if 'wdata = "m_q"' in new:
        text = text.replace('wdata = "m_d"\n', "", 1)
    path = tmp_path / "ports.toml"
    path.write_text(text.replace('closure = ""\n', ""))
    with pytest.raises(DeviceError) as caught:
        read_map(path, t)
    assert message in str(caught.value)
    where, _, number = (caught.value.where or "").rpartition(":")
    numbers = [n for n, said in enumerate(path.read_text().splitlines(), 1) if said.startswith(line)]
    assert (where, int(number) in numbers) == (str(path), True), (caught.value.where, numbers)


def test_a_port_that_no_group_has_is_named(tmp_path: Path) -> None:
    t = top(tmp_path)
    path = tmp_path / "ports.toml"
    path.write_text(map_text(classify(t), "x").partition("\n[[unmapped]]")[0])
    with pytest.raises(DeviceError, match=r"ports.toml:1: spare of t is in no group; add it to one, or \[\[unmapped\]\]"):
        read_map(path, t)
