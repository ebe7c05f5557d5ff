"""Names as public accelerators have them: what was mapped wrongly, or not at all, when such a design was adopted first."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.port_map import PortGroup, PortMap
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.top import read_top
from fleet.adopt.workspace import Settings, proposed


def mapped(tmp_path: Path, ports: str) -> tuple[PortMap, Settings]:
    (tmp_path / "t.sv").write_text(f"module t({ports}); endmodule\n")
    top = read_top(read_sources([tmp_path / "t.sv"]), "t")
    found = classify(top)
    return found, proposed(top, found, PROTOCOLS)


def groups(tmp_path: Path, ports: str) -> dict[str, PortGroup]:
    return {g.name: g for g in mapped(tmp_path, ports)[0].groups}


@pytest.mark.parametrize(("name", "low"), [("dla_reset_rstn", True), ("direct_reset_", True), ("sys_rst", False)])
def test_a_reset_is_active_low_if_any_part_of_its_name_says_so(tmp_path: Path, name: str, low: bool) -> None:
    group = groups(tmp_path, f"input {name}")[name]
    assert (group.protocol, bool(group.low)) == ("reset", low)


def test_a_trailing_underscore_elsewhere_does_not_tell_the_polarity_and_is_noted(tmp_path: Path) -> None:
    found = groups(tmp_path, "output m_addr, output m_en_, output m_we, output [7:0] m_wdata, input [7:0] m_rdata")["m"]
    assert found.protocol == "sram"
    assert found.notes == ("the name m_en_ does not tell whether it is active low",)


@pytest.mark.parametrize("name", ["io_mem_clock_enabled", "io_mem_keep_clock_enabled", "clk_enabled"])
def test_whether_a_clock_runs_is_not_a_clock(tmp_path: Path, name: str) -> None:
    assert [g.protocol for g in groups(tmp_path, f"input {name}").values()] == ["clock_enable"]


READS = (
    "output {0}ar_arvalid, input {0}ar_arready, output [31:0] {0}ar_araddr, output [3:0] {0}ar_arlen, input {0}r_rvalid, "
    "output {0}r_rready, input [63:0] {0}r_rdata, input {0}r_rlast"
)


def test_a_channel_before_a_signal_that_says_it_again_makes_no_port_of_its_own(tmp_path: Path) -> None:
    found = groups(tmp_path, READS.format("core2dbb_"))
    assert [(g.name, g.protocol, g.role, len(g.signals)) for g in found.values()] == [("core2dbb", "axi4", "manager", 8)]


CSB = (
    "input {0}_valid, output {0}_ready, input [15:0] {0}_addr, input [31:0] {0}_wdat, input {0}_write, input {0}_nposted, "
    "output {1}_valid, output [31:0] {1}_data, output {1}_wr_complete"
)


def test_a_bus_whose_two_ways_are_named_by_their_ends_is_one_port(tmp_path: Path) -> None:
    [group] = groups(tmp_path, CSB.format("csb2dla", "dla2csb")).values()
    assert (group.name, group.protocol, group.role, len(group.signals), group.notes) == ("csb2dla", "csb", "subordinate", 9, ())


def test_what_is_not_part_of_a_port_and_named_like_it_is_said_of_a_done_too(tmp_path: Path) -> None:
    found = groups(tmp_path, "output q_valid, output [31:0] q_data, output q_wr_complete")
    assert found["q_wr"].protocol == "done"
    assert found["q_wr"].notes == ("named like q and not part of it: q_wr_complete",)


def test_a_field_that_is_named_valid_does_not_hide_the_valid_of_its_port(tmp_path: Path) -> None:
    ports = "input ptw_req_ready, output ptw_req_valid, output ptw_req_bits_valid, output [26:0] ptw_req_bits_bits_vpn"
    [group] = groups(tmp_path, ports).values()
    assert (group.protocol, group.role, group.signals["valid"]) == ("stream", "manager", ("ptw_req_valid",))
    assert group.signals["payload"] == ("ptw_req_bits_valid", "ptw_req_bits_bits_vpn")


def test_the_clock_of_a_port_is_the_one_that_is_named_like_it(tmp_path: Path) -> None:
    ports = f"input dla_core_clk, input dla_csb_clk, {CSB.format('csb2dla', 'dla2csb')}, {READS.format('core2dbb_')}"
    settings = mapped(tmp_path, ports)[1]
    assert {name: p.clock for name, p in settings.ports.items()} == {"csb2dla": "dla_csb_clk", "core2dbb": "dla_core_clk"}
    assert settings.guessed == ()


def test_the_clock_of_a_bus_is_the_one_that_its_standard_names(tmp_path: Path) -> None:
    ports = "input aclk, input pclk, input s_psel, input s_penable, input s_pwrite, input [7:0] s_paddr, "
    ports += "input [31:0] s_pwdata, output [31:0] s_prdata, output out_valid, input out_ready, output [7:0] out_data"
    settings = mapped(tmp_path, ports)[1]
    assert settings.ports["s"].clock == "pclk"
    assert settings.guessed == ("out",)


@pytest.mark.parametrize(
    ("header", "clocks"),
    [
        ("public/dpu_core.v", {"s_axi": "S_AXI_CLK", "dpu0_m_axi_data0": "M_AXI_DPU_ACLK", "M_AXI_DPU_ARESETN": "M_AXI_DPU_ACLK"}),
        ("public/S00_template_v1_0.v", {"s00_axis": "s00_axis_aclk", "m00_axis": "m00_axis_aclk", "s00_axi": "s00_axi_aclk"}),
        ("headers/ahb_npu.sv", {"m0": "HCLK", "apb": "PCLK", "PRESETn": "PCLK", "HRESETn": "HCLK"}),
        ("unseen/vendor_axi_mix.v", {"s_axi": "s_axi_aclk", "s_axis_video": "aclk", "m_axi_mm2s": "aclk", "aresetn": "aclk"}),
        ("unseen/fifo_core.v", {"fifo_write": "wr_clk", "fifo_read": "rd_clk"}),
    ],
)
def test_the_clocks_of_ports_and_resets_of_several_makers(header: str, clocks: dict[str, str]) -> None:
    path = Path(__file__).parent / header
    top = read_top(read_sources([path]), path.stem)
    settings = proposed(top, classify(top), PROTOCOLS)
    found = {name: p.clock for name, p in (*settings.ports.items(), *settings.resets.items())}
    assert {name: found[name] for name in clocks} == clocks


def test_a_signal_that_changes_nothing_and_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    writes = "awvalid, input s_awready, output [31:0] s_awaddr, output s_wvalid, input s_wready, output [31:0] s_wdata"
    ports = f"output s_{writes}, input s_bvalid, output s_bready, output [3:0] s_awprot, output {{0}}s_wstrb"
    found, _ = mapped(tmp_path, ports.format("[3:0] "))
    [group] = found.groups
    assert (group.protocol, group.notes) == ("axi4_lite", ("named like s and not part of it: s_awprot",))
    assert [(u.path, u.reason) for u in found.unmapped] == [
        ("s_awprot", "left out of AXI4-Lite: s_awprot has 4 bits, awprot has 3")
    ]
    strobes, _ = mapped(tmp_path, ports.format("[7:0] "))
    assert strobes.groups == ()
    assert {u.reason for u in strobes.unmapped} == {"like AXI4-Lite (manager), but s_awprot has 4 bits, awprot has 3"}


def test_what_a_stream_carries_by_its_place_is_noted_and_what_is_set_by_itself_is_not_carried(tmp_path: Path) -> None:
    ports = "input in_valid, input [7:0] p [0:3], input [1:0] mode, input start, output out_valid, output [31:0] total, output busy"
    found, _ = mapped(tmp_path, ports)
    by_name = {g.name: g for g in found.groups}
    assert by_name["in"].signals == {"valid": ("in_valid",), "payload": ("p",)}
    assert by_name["in"].notes[0] == "by their place, not their names, it carries p"
    assert by_name["out"].signals["payload"] == ("total",)
    assert [u.path for u in found.unmapped] == ["mode"]


def test_two_streams_without_payload_leave_what_may_be_of_either(tmp_path: Path) -> None:
    ports = "input a_valid, output a_ready, input b_valid, output b_ready, input [31:0] word"
    found, _ = mapped(tmp_path, ports)
    assert [u.path for u in found.unmapped] == ["word"]
    assert {g.name: tuple(g.signals) for g in found.groups} == {"a": ("valid", "ready"), "b": ("valid", "ready")}


def test_a_write_enable_where_nothing_is_written_is_no_fault_of_a_memory_of_the_design(tmp_path: Path) -> None:
    found, _ = mapped(tmp_path, "input r_en, input r_we, input [9:0] r_addr, output [31:0] r_dout")
    assert [(g.protocol, g.role, len(g.signals)) for g in found.groups] == [("sram", "subordinate", 3)]
    assert found.unmapped[0].reason == "left out of SRAM: r_we needs wdata, which is not there"
    other, _ = mapped(tmp_path, "output r_en, output r_we, output [9:0] r_addr, input [31:0] r_dout")
    assert other.groups == ()


@pytest.mark.parametrize(("ready", "role", "shift"), [(True, "manager", 0), (False, "manager", 2), (True, "subordinate", 2)])
def test_addresses_of_strobes_count_bytes_on_a_bus_and_words_elsewhere(tmp_path: Path, ready: bool, role: str, shift: int) -> None:
    out, back = ("output", "input") if role == "manager" else ("input", "output")
    ports = f"{out} m_read, {out} m_write, {out} [15:0] m_addr, {out} [31:0] m_wdata, {back} [31:0] m_rdata"
    found, settings = mapped(tmp_path, ports + (f", {back} m_ready" if ready else ""))
    assert [(g.protocol, g.role) for g in found.groups] == [("strobe_memory", role)]
    assert (settings.ports["m"].shift, settings.ports["m"].space) == (shift, int(not ready and role == "manager"))


def test_a_payload_is_not_guessed_for_a_stream_that_has_a_name_of_its_own(tmp_path: Path) -> None:
    found, _ = mapped(tmp_path, "input ext_valid, input [31:0] words [0:3], input valid_in, input [7:0] pixel_in, input [7:0] w00")
    assert [u.path for u in found.unmapped] == ["ext_valid", "words", "w00"]
    assert [g.signals for g in found.groups] == [{"valid": ("valid_in",), "payload": ("pixel_in",)}]


def test_a_port_whose_name_is_a_number_is_called_after_its_protocol(tmp_path: Path) -> None:
    assert sorted(groups(tmp_path, "input valid0, input [7:0] data0, input valid1, input [7:0] data1")) == ["stream_0", "stream_1"]
