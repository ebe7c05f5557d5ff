"""Several ports in flat vectors of Verilog: `tdata[N*W-1:0]` beside `tvalid[N-1:0]`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.port_map import PortMap
from fleet.adopt.top import read_top


def _map(folder: Path, ports: str) -> PortMap:
    (folder / "t.v").write_text(f"module t(input clk, input rst, {ports}); endmodule\n")
    return classify(read_top(read_sources([folder / "t.v"]), "t", {}))


@pytest.mark.parametrize(
    ("ports", "protocol", "lanes"),
    [
        ("input [31:0] s_tdata, input [3:0] s_tkeep, s_tvalid, s_tlast, output [3:0] s_tready", "axi4_stream", 4),
        ("input [2:0] req_val, output [2:0] req_rdy, input [47:0] req_msg", "stream", 3),
        ("output [1:0] m_arvalid, m_rready, input [1:0] m_arready, m_rvalid, output [63:0] m_araddr, input [127:0] m_rdata,"
         " input [3:0] m_rresp", "axi4_lite", 2),
    ],
)  # fmt: skip
def test_flat_vectors_are_lanes(tmp_path: Path, ports: str, protocol: str, lanes: int) -> None:
    found = _map(tmp_path, ports)
    assert not found.unmapped
    assert [(g.protocol, g.lanes) for g in found.groups[2:]] == [(protocol, lanes)]


@pytest.mark.parametrize(
    "ports",
    [
        "input [3:0] wr_en, input [11:0] wr_addr, input [31:0] wr_data",
        "input [3:0] s_tvalid, output [3:0] s_tready, input [30:0] s_tdata",
    ],
)
def test_what_may_be_bytes_of_one_word_is_not_taken_for_lanes(tmp_path: Path, ports: str) -> None:
    found = _map(tmp_path, ports)
    assert [g.protocol for g in found.groups] == ["clock", "reset"]
