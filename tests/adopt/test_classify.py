"""What ports mean: headers in the styles of makers and generators, each with the map that a person has read and found right."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.map_file import read_map
from fleet.adopt.port_map import PortMap
from fleet.adopt.ports import Top
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.top import read_top

HEADERS = Path(__file__).with_name("headers")
NAMES = sorted(p.stem for p in HEADERS.glob("*.sv"))
FAULTY = "faulty"

# Written by hand from the headers: (protocol, role, lanes) -> leaves of each group. Only the maps list clocks, resets, interrupts.
GROUPS = {
    "ChiselAccel": "axi4 manager 37, axi4 manager 37, stream subordinate 5, stream manager 3",
    "ReadWrite": "axi4 manager 17, axi4 manager 20",
    "RoccUnit": "rocc subordinate 22, split_memory manager 8",
    "SpinalNpu": "axi4 manager 35, apb subordinate 8, stream subordinate 4, stream manager 3",
    "TileLinkUH": "tilelink manager 22, tilelink manager 22, stream subordinate 3",
    "ahb_npu": "ahb_lite manager 11, apb subordinate 9",
    "ahb_slave_ip": "ahb_lite subordinate 11, sram manager 5",
    "avalon_copro": "avalon_mm subordinate 6, avalon_mm manager 9",
    "avalon_old": "avalon_mm subordinate 6",
    "axi_if_top": "axi4 manager 45 x2",
    "bram_user": "done subordinate 4, sram manager 5, sram manager 5, axi4_stream subordinate 3, axi4_stream manager 3",
    "dla_style": "csb subordinate 8, stream manager 3, stream subordinate 3",
    "edge_mac": "done subordinate 3, sram manager 6, sram manager 5, sram manager 3",
    "faulty": "test subordinate 1, clock_enable subordinate 1",
    "hls_kernel": "axi4_lite subordinate 17, axi4 manager 37, axi4 manager 37",
    "hwpe_top": "test subordinate 1, hci manager 13, hci subordinate 10",
    "litex_core": "stream subordinate 5, stream manager 5, wishbone subordinate 8",
    "pulp_dma": "test subordinate 1, axi4 manager 45 x2, axi4 subordinate 45, obi manager 9, obi manager 5, done subordinate 1",
    "stream_filter": "axi4_lite subordinate 19, axi4_stream subordinate 5, axi4_stream manager 6",
    "tcdm_engine": "hci manager 8 x4, hci subordinate 10",
    "tlul_block": "tilelink subordinate 23, tilelink manager 23, done subordinate 1",
    "wb_accel": "wishbone subordinate 9, wishbone manager 10",
    "zip_unit": "wishbone subordinate 9, wishbone manager 8",
}
UNSEEN = {
    "alert", "avalon_st", "bluespec_method", "cfu", "channel_memory", "csr_bus", "cvxif", "debug", "fifo_read", "fifo_write",
    "interrupt_ack", "jtag", "mig", "native_memory", "nios_custom", "pcpi", "static", "strobe_memory", "two_port_sram",
    "valid_yumi",
}  # fmt: skip
"""Protocols of the headers in the folders `unseen`, `later`, `blind` and `accelerators`."""
_WIRES = ("clock", "reset", "interrupt")


def top_of(name: str) -> Top:
    return read_top(read_sources([HEADERS / f"{name}.sv"]), name)


def summary(ports: PortMap) -> list[str]:
    return [
        f"{g.protocol} {g.role} {len(list(g.paths()))}{f' x{g.lanes}' if g.lanes > 1 else ''}"
        for g in ports.groups
        if g.protocol not in _WIRES
    ]


def test_the_corpus_is_large_enough() -> None:
    assert set(NAMES) == set(GROUPS)
    assert len(NAMES) >= 20
    met = {g.protocol for name in NAMES for g in classify(top_of(name)).groups}
    assert met | UNSEEN == set(PROTOCOLS)


@pytest.mark.parametrize("name", NAMES)
def test_a_header_is_mapped_as_a_person_maps_it(name: str) -> None:
    top = top_of(name)
    found = classify(top)
    expected = read_map(HEADERS / f"{name}.toml", top)
    assert tuple(replace(g, notes=()) for g in found.groups) == expected.groups
    assert found.unmapped == expected.unmapped
    assert Counter(summary(found)) == Counter(filter(None, GROUPS[name].split(", ")))


def test_of_all_ports_95_per_cent_are_mapped() -> None:
    tops = [(top_of(name), classify(top_of(name))) for name in NAMES if name != FAULTY]
    whole = sum(len(list(top.leaves())) for top, _ in tops)
    assert whole > 800
    assert sum(len(ports.unmapped) for _, ports in tops) <= 0.05 * whole


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_of_a_bus_with_names_of_its_own_is_in_the_name_of_its_port(name: str) -> None:
    for g in classify(top_of(name)).groups:
        if g.protocol in ("axi4", "axi4_lite", "axi4_stream", "apb", "ahb_lite", "tilelink"):
            for signal, paths in g.signals.items():
                for path in paths:
                    plain = re.sub(r"_bits_|_payload_|\W|_", "", path.lower())
                    assert signal.replace("_", "") in plain, (path, signal)


_TELLING = {"ahb_npu", "ahb_slave_ip", "zip_unit"}  # HREADY is an input of both sides; i_ and o_ stand before a name


@pytest.mark.parametrize("name", sorted(set(NAMES) - _TELLING))
def test_with_all_directions_turned_all_roles_are(name: str) -> None:
    top = top_of(name)
    turn = {"in": "out", "out": "in", "inout": "inout"}
    turned = replace(
        top,
        ports=tuple(replace(p, leaves=tuple(replace(x, direction=turn[x.direction]) for x in p.leaves)) for p in top.ports),
    )
    other = {"manager": "subordinate", "subordinate": "manager"}
    straight = {(g.protocol, other[g.role], frozenset(g.paths())) for g in classify(top).groups}
    assert {(g.protocol, g.role, frozenset(g.paths())) for g in classify(turned).groups} == straight


def small(tmp_path: Path, ports: str) -> PortMap:
    (tmp_path / "t.sv").write_text(f"module t({ports}); endmodule\n")
    return classify(read_top(read_sources([tmp_path / "t.sv"]), "t"))


@pytest.mark.parametrize(
    "ports",
    [
        "input a, input b, output q",
        "input [7:0] a, input [7:0] d, output [7:0] q",
        "input reset_value, input first, output burst, input clk_gate_bypass, input fetch_enable",
        "input irq_enable, input irq_mask, input rst_mode",
        "input [3:0] addr, input [7:0] data",
        "output [3:0] m_addr, output m_en, output m_we, input [7:0] m_rdata",
    ],
)
def test_what_only_looks_like_a_protocol_is_not_mapped(tmp_path: Path, ports: str) -> None:
    assert small(tmp_path, ports).groups == ()


@pytest.mark.parametrize(
    ("ports", "reason"),
    [
        (
            "output v_tvalid, input v_tready, output [11:0] v_tdata, output v_tkeep",
            "like AXI4-Stream (manager), but v_tkeep has 1 bits",
        ),
        (
            "inout s_cyc, inout s_stb, inout s_ack, inout s_we, inout [7:0] s_adr, inout [7:0] s_dat_w, inout [7:0] s_dat_r",
            "no direction",
        ),
    ],
)
def test_why_a_group_is_not_mapped_is_said(tmp_path: Path, ports: str, reason: str) -> None:
    found = small(tmp_path, ports)
    assert found.groups == ()
    assert all(reason in u.reason for u in found.unmapped), found.unmapped


@pytest.mark.parametrize(
    ("ports", "protocol", "notes"),
    [
        ("output mem_valid, input mem_ready, output [31:0] mem_addr, input [31:0] mem_rdata", "native_memory", ()),
        (
            "output mem_valid, input mem_ready, output [31:0] mem_addr, input [31:0] mem_word",
            "stream",
            (
                "named like mem and not part of it: mem_word",
                "mem_addr may be an address, and the group the requests of a memory",
            ),
        ),
        (
            "output q_valid, input q_ready, output [31:0] q_addr",
            "stream",
            ("q_addr may be an address, and the group the requests of a memory",),
        ),
    ],
)
def test_a_memory_is_not_taken_for_a_stream_in_silence(tmp_path: Path, ports: str, protocol: str, notes: tuple[str, ...]) -> None:
    [group] = small(tmp_path, ports).groups
    assert (group.protocol, group.notes) == (protocol, notes)


def test_a_line_of_the_wrong_direction_is_named(tmp_path: Path) -> None:
    text = (HEADERS / "stream_filter.sv").read_text().replace("output logic s_axi_awready", "input logic s_axi_awready")
    (tmp_path / "t.sv").write_text(text)
    found = classify(read_top(read_sources([tmp_path / "t.sv"]), "stream_filter"))
    reasons = {u.path: u.reason for u in found.unmapped}
    assert "s_axi_awready is an input, awready of a subordinate is the other direction" in reasons["s_axi_awaddr"]


@pytest.mark.parametrize(
    ("name", "low"),
    [
        ("rst_n", True),
        ("rst_ni", True),
        ("aresetn", True),
        ("nreset", True),
        ("rst", False),
        ("core_reset_i", False),
        ("HRESETn", True),
    ],
)
def test_the_polarity_of_a_reset(tmp_path: Path, name: str, low: bool) -> None:
    [group] = small(tmp_path, f"input {name}").groups
    assert (group.protocol, bool(group.low), group.notes) == ("reset", low, ())


def test_a_polarity_that_no_name_tells_is_said(tmp_path: Path) -> None:
    [group] = small(tmp_path, "input rst_b").groups
    assert (group.low, group.notes) == ((), ("the name rst_b does not tell whether it is active low",))


def streams(ports: PortMap) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    return [(g.role, dict(g.signals)) for g in ports.groups if g.protocol == "stream"]


def test_in_and_out_may_say_the_direction_of_the_port_and_not_of_the_stream(tmp_path: Path) -> None:
    ports = "input valid_in, output ready_out, input [7:0] data_in, output valid_out, input ready_in, output [7:0] data_out"
    found = small(tmp_path, ports)
    expected = [
        ("subordinate", {"valid": ("valid_in",), "ready": ("ready_out",), "payload": ("data_in",)}),
        ("manager", {"valid": ("valid_out",), "ready": ("ready_in",), "payload": ("data_out",)}),
    ]
    assert streams(found) == expected
    assert not any(g.notes for g in found.groups)
    for old, new in (("_in", "_input"), ("_out", "_output"), ("valid", "vld"), ("ready", "rdy")):
        ports = ports.replace(old, new)
    assert [(role, sorted(s)) for role, s in streams(small(tmp_path, ports))] == [(role, sorted(s)) for role, s in expected]
    ports = "input in_valid, output out_ready, input [7:0] in_data, output out_valid, input in_ready, output [7:0] out_data"
    assert [s["ready"] for _, s in streams(small(tmp_path, ports))] == [("out_ready",), ("in_ready",)]
    ports = "input a_valid_in, output a_ready_out, input [7:0] a_data_in, output b_valid_out, input b_ready_in, output b_data_out"
    assert [(s["ready"], s["payload"]) for _, s in streams(small(tmp_path, ports))] == [
        (("a_ready_out",), ("a_data_in",)),
        (("b_ready_in",), ("b_data_out",)),
    ]


def test_in_and_out_that_name_the_stream_stay_so(tmp_path: Path) -> None:
    ports = "input valid_in, output ready_in, input [7:0] data_in, output valid_out, input ready_out, output [7:0] data_out"
    assert [(s["valid"], s["ready"]) for _, s in streams(small(tmp_path, ports))] == [
        (("valid_in",), ("ready_in",)),
        (("valid_out",), ("ready_out",)),
    ]


def test_a_direction_in_front_is_no_method_of_bluespec(tmp_path: Path) -> None:
    ports = "input i_vld, output o_rdy, input [7:0] i_dat, output o_vld, input i_rdy, output [7:0] o_dat"
    found = small(tmp_path, ports)
    assert streams(found) == [
        ("subordinate", {"valid": ("i_vld",), "ready": ("o_rdy",), "payload": ("i_dat",)}),
        ("manager", {"valid": ("o_vld",), "ready": ("i_rdy",), "payload": ("o_dat",)}),
    ]
    assert found.unmapped == ()
    assert [g.protocol for g in small(tmp_path, "input EN_put, output RDY_put, input [31:0] put_x").groups] == ["bluespec_method"]


@pytest.mark.parametrize(
    ("ports", "low"),
    [
        ("input chipselect, input write, input [2:0] address, input [31:0] writedata, output [31:0] readdata", ()),
        ("input cs, input rd, input wr, input [2:0] address, input [31:0] write_data, output [31:0] read_data", ()),
        (
            "input s_cs_n, input s_read, input s_write, input [2:0] s_addr, input [31:0] s_writedata, output [31:0] s_readdata",
            ("chipselect",),
        ),
    ],
)
def test_a_chip_select_is_of_its_avalon_port(tmp_path: Path, ports: str, low: tuple[str, ...]) -> None:
    found = small(tmp_path, ports)
    [group] = found.groups
    assert (group.protocol, group.role, group.low, found.unmapped) == ("avalon_mm", "subordinate", low, ())
    assert "chipselect" in group.signals


def test_an_interface_without_a_modport_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text("interface word_if; logic valid, ready; endinterface\nmodule t(word_if a); endmodule\n")
    found = classify(read_top(read_sources([tmp_path / "t.sv"]), "t", {}))
    said = "its interface word_if has no modport in the port list, so who drives it is not known"
    assert [(u.path, u.reason) for u in found.unmapped] == [("a.valid", said), ("a.ready", said)]
