"""Protocols of a user's own: by file, by entry point; what is wrong with one is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.map_file import map_text, read_map
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.top import read_top
from fleet.errors import DeviceError

FILE = """from fleet.sdk.ports import Protocol, Signal
PROTOCOL = Protocol("token_bus", "token bus", 5, (Signal("tok", widths=(8,)), Signal("give"), Signal("take", driver="subordinate")),
    (frozenset({"tok", "give", "take"}),))
"""


def test_a_file_adds_a_protocol(tmp_path: Path) -> None:
    (tmp_path / "token_bus.py").write_text(FILE)
    (tmp_path / "t.sv").write_text("module t(input clk, output [7:0] r_tok, output r_give, input r_take); endmodule\n")
    top = read_top(read_sources([tmp_path / "t.sv"]))
    assert [g.protocol for g in classify(top).groups] == ["clock"]
    protocols = known_protocols([tmp_path / "token_bus.py"])
    ports = classify(top, protocols)
    assert [(g.name, g.protocol, g.role) for g in ports.groups] == [("clk", "clock", "subordinate"), ("r", "token_bus", "manager")]
    (tmp_path / "ports.toml").write_text(map_text(ports, "", protocols))
    assert read_map(tmp_path / "ports.toml", top, protocols) == ports
    with pytest.raises(DeviceError, match="expected one of clock"):
        read_map(tmp_path / "ports.toml", top)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"token_bus"', '"axi4"', "there is a protocol axi4 already"),
        ('"take"}', '"tack"}', "protocol token_bus: forms name tack, which is not a signal of it"),
        ('"give")', '"give", bytes_of="data")', "protocol token_bus: signal give names data, which is not a signal of it"),
        ('"give")', '"Give")', "protocol token_bus: 'Give' cannot be the name of a signal"),
        ('(frozenset({"tok", "give", "take"}),)', "()", "protocol token_bus: forms is empty"),
        ('"token_bus"', '"token bus"', "'token bus' cannot be the name of a protocol"),
        ("PROTOCOL = Protocol(", "raise SystemExit(3)\n(", "cannot be run: SystemExit: 3"),
        (FILE, "x = 1\n", "has no Protocol"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "p.py"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(DeviceError) as caught:
        known_protocols([path])
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="there is no such file"):
        known_protocols([tmp_path / "p.py"])


def test_the_records_of_fleets_own_protocols_are_right() -> None:
    assert [fault for p in PROTOCOLS.values() for fault in p.faults()] == []
