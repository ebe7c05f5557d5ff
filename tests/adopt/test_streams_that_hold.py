"""Streams whose receiver says when it does not take: a ready under the opposite name, which is not left out in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.port_map import PortGroup, PortMap
from fleet.adopt.top import read_top


def _map(folder: Path, ports: str) -> PortMap:
    (folder / "t.v").write_text(f"module t(input clk, input rst, {ports}); endmodule\n")
    return classify(read_top(read_sources([folder / "t.v"]), "t", {}))


def _streams(found: PortMap) -> list[PortGroup]:
    return [g for g in found.groups if g.protocol == "stream"]


@pytest.mark.parametrize("word", ["stall", "busy", "wait", "full", "not_ready"])
@pytest.mark.parametrize(
    "names",
    [
        "input in_valid, input [7:0] in_data, output in_{}, output out_valid, output [7:0] out_data, input out_{}",
        "input i_valid, input [7:0] i_data, output o_{}, output o_valid, output [7:0] o_data, input i_{}",
    ],
)
def test_what_holds_a_stream_is_its_ready(tmp_path: Path, names: str, word: str) -> None:
    found = _map(tmp_path, names.format(word, word))
    assert not found.unmapped
    assert [(g.role, sorted(g.signals), g.low) for g in _streams(found)] == [
        (role, ["payload", "ready", "valid"], ("ready",)) for role in ("subordinate", "manager")
    ]
    for group in _streams(found):
        assert group.notes == (f"{group.signals['ready'][0]} is taken for its ready, active low",)


@pytest.mark.parametrize("other", ["busy", "ack"])
def test_a_ready_comes_before_what_holds(tmp_path: Path, other: str) -> None:
    [group] = _streams(_map(tmp_path, f"input in_valid, input [7:0] in_data, output in_{other}, output in_ready"))
    assert (group.signals["ready"], group.low) == (("in_ready",), ())


def test_a_hold_that_is_active_low_is_a_ready(tmp_path: Path) -> None:
    [group] = _streams(_map(tmp_path, "input in_valid, input [7:0] in_data, output in_stall_n"))
    assert (group.signals["ready"], group.low) == (("in_stall_n",), ())


def test_the_busy_of_a_start_is_no_ready(tmp_path: Path) -> None:
    found = _map(tmp_path, "input i_start, output o_busy, output o_done, input i_valid, input [7:0] i_data")
    assert [sorted(g.signals) for g in _streams(found)] == [["payload", "valid"]]
    assert [sorted(g.signals) for g in found.groups if g.protocol == "done"] == [["busy", "done", "start"]]


def test_a_hold_that_says_its_direction(tmp_path: Path) -> None:
    found = _map(
        tmp_path, "input valid_in, input [7:0] data_in, output stall_out, output valid_out, output [7:0] data_out, input stall_in"
    )
    assert {g.name: (g.role, g.signals["ready"]) for g in _streams(found)} == {
        "in": ("subordinate", ("stall_out",)), "out": ("manager", ("stall_in",))
    }  # fmt: skip


def test_an_acknowledge_is_a_ready_and_a_note_says_so(tmp_path: Path) -> None:
    ports = "input i_data_valid, input [7:0] i_data, output o_data_ack, output q_valid, output [7:0] q_data, input q_allow"
    first, second = _streams(_map(tmp_path, ports))
    assert first.signals["ready"] == ("o_data_ack",)
    assert first.notes == ("o_data_ack is taken for its ready: a word is taken in the cycle with both",)
    assert (second.signals["ready"], second.low, second.notes) == (("q_allow",), (), ())


def test_words_of_fifos(tmp_path: Path) -> None:
    ports = "input push, input [7:0] push_data, output full, input pop, output [7:0] pop_data, output empty"
    others = "output S_Read, input [31:0] S_Data, input S_Exists, output r_wrreq, output [7:0] r_data, input r_wrfull"
    found = _map(tmp_path, f"{ports}, {others}")  # `r_data` alone may be the data of a read
    assert not found.unmapped
    assert [(g.protocol, g.role, g.low) for g in found.groups[2:]] == [
        ("fifo_write", "subordinate", ()), ("fifo_read", "subordinate", ()), ("fifo_read", "manager", ("empty",)),
        ("fifo_write", "manager", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(("there", "back"), [("m2s", "s2m"), ("req", "rsp")])
def test_both_ways_of_a_stream_whose_records_are_flat(tmp_path: Path, there: str, back: str) -> None:
    found = _map(tmp_path, f"input s_{there}_valid, input [7:0] s_{there}_data, input s_{there}_last, output s_{back}_ready")
    assert not found.unmapped
    [group] = _streams(found)
    assert (group.name, sorted(group.signals), len(group.signals["payload"])) == ("s", ["payload", "ready", "valid"], 2)
