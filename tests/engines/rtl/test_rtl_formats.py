"""Scripts, jobs, status files, commit records and the generated wrapper: the forms of rtl_models/README.md."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.dut import Dut, generate
from fleet.engines.rtl_sim.job import Job, JobScript, JobStatus
from fleet.engines.rtl_sim.records import read_records
from fleet.engines.rtl_sim.top_parameters import has_channels
from fleet.errors import DeviceError, ModelError
from fleet.sdk import rtl_models


def test_a_script_is_records_of_four_words(tmp_path: Path) -> None:
    script = JobScript()
    script.write(0x84, 0x11F, start=True)
    script.write(0x10, 7)
    script.wait_irq(99)
    assert [script.read(0x38C), script.read(0xA0)] == [0, 1]
    script.poll(4, 3, 1)
    script.save(tmp_path / "s")
    assert struct.unpack("<28I", (tmp_path / "s").read_bytes()) == (
        1, 0x84, 0x11F, 1,  1, 0x10, 7, 0,  2, 0, 99, 0,  3, 0x38C, 0, 0,  3, 0xA0, 0, 0,  4, 4, 1, 3,  0, 0, 0, 0,
    )  # fmt: skip


@pytest.mark.parametrize(("address", "value"), [(2, 0), (0x10000, 0), (-4, 0), (0, 1 << 32), (0, -1)])
def test_a_script_refuses_what_the_port_cannot_do(address: int, value: int) -> None:
    with pytest.raises(DeviceError, match="register script record 0: WRITE"):
        JobScript().write(address, value)


def test_a_job_file_is_lines(tmp_path: Path) -> None:
    job = Job(
        Path("/a b/ddr"),
        Path("/s"),
        Path("/r"),
        Path("/t"),
        Path("/st"),
        {3: Path("/h=3")},
        "stall:4",
        waves=Path("/w"),
        window=(1, 2),
    )
    job.save(tmp_path / "job")
    assert (tmp_path / "job").read_text().splitlines() == [
        "ddr=/a b/ddr", "script=/s", "results=/r", "trace=/t", "status=/st", "memory=stall:4", "hbm.3=/h=3",
        "max_cycles=100000000", "quiet_cycles=200000", "waves=/w", "waves_from=1", "waves_to=2",
    ]  # fmt: skip
    with pytest.raises(DeviceError, match="line break"):
        Job(Path("/a\nmemory=ideal"), Path("/s"), Path("/r"), Path("/t"), Path("/st")).save(tmp_path / "job")


def test_status_files(tmp_path: Path) -> None:
    path = tmp_path / "status"
    path.write_text(
        "status=hang\nmessage=a=b\nrefusal=r\nnonce=n\nrecords=e3\ncycles=5\ncommits=1\nscript=2\nseconds=0.5\nddr.read_bytes=64\n"
    )
    assert JobStatus.load(path) == JobStatus("hang", "a=b", "r", "n", "e3", 5, 1, 2, 0.5, {"ddr.read_bytes": 64})
    path.write_text("status=done\nmess")
    with pytest.raises(DeviceError, match="no whole status file"):
        JobStatus.load(path)
    with pytest.raises(DeviceError, match="no whole status file"):
        JobStatus.load(tmp_path / "missing")


def _record(seq: int, *, error: int = 0, end: int = 100) -> bytes:
    return struct.pack("<IHHQQQ6III", seq, 8, error, 0xDEAD, 90, end, 1, 2, 3, 4, 0, 0, 64, 17)


def test_commit_records(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(_record(0) + _record(1, error=0x8000) + _record(2, error=0x8006) + bytes(64 * 5))
    records = read_records(path)
    assert [(r.seq, r.opcode, r.error, r.result) for r in records] == [(0, 8, 0, None), (1, 8, 0, 17), (2, 8, 6, 17)]
    assert records[0].cycles == {
        "compute": 1, "weight_wait": 2, "activation_wait": 3, "write_back": 4, "issue": 0, "dependency": 0,
    }  # fmt: skip
    assert (records[0].digest, records[0].start, records[0].end, records[0].bytes_written) == (0xDEAD, 90, 100, 64)


def test_damaged_commit_records(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(_record(0)[:-1])
    with pytest.raises(ModelError, match="63 bytes are not a whole number"):
        read_records(path)
    path.write_bytes(_record(0) + _record(2))
    with pytest.raises(ModelError, match="commit record 1 carries number 2"):
        read_records(path)
    with pytest.raises(ModelError, match="no trace of commits"):
        read_records(tmp_path / "missing")


SOME = Dut("some_top", {"Tin": 64, "HbmPorts": 8}, 0xAB)
CHANNELS = (
    "input fleet_axi_pkg::axil_req_t s_axil_req_i", "output fleet_axi_pkg::axil_rsp_t s_axil_rsp_o",
    "output fleet_axi_pkg::hbm_req_t [fleet_dut_pkg::HbmPorts-1:0] hbm_req_o",
    "input fleet_axi_pkg::hbm_rsp_t [fleet_dut_pkg::HbmPorts-1:0] hbm_rsp_i",
    "output fleet_axi_pkg::ddr_req_t ddr_req_o", "input fleet_axi_pkg::ddr_rsp_t ddr_rsp_i",
)  # fmt: skip


def test_the_channels_have_the_widths_of_the_readme() -> None:
    """Written down here again from the table in rtl_models/README.md."""
    text = (rtl_models() / "axi" / "fleet_axi_pkg.sv").read_text()
    found = {
        name: {n: w for w, n in _MEMBER.findall(body)} for body, name in re.findall(r"struct packed \{(.*?)\} (\w+);", text, re.S)
    }
    assert found["axil_ax_t"] == {"addr": "[15:0]"}
    assert found["axil_w_t"] == {"data": "[31:0]", "strb": "[3:0]"}
    assert found["axil_r_t"] == {"data": "[31:0]", "resp": "[1:0]"}
    for port, data, strobes, ids in (("hbm", 255, 31, {}), ("ddr", 511, 63, {"id": "[3:0]"})):
        assert found[f"{port}_ax_t"] == {"addr": "[32:0]", "len": "[7:0]", **ids}
        assert found[f"{port}_w_t"] == {"data": f"[{data}:0]", "strb": f"[{strobes}:0]", "last": ""}
        assert found[f"{port}_r_t"] == {"data": f"[{data}:0]", "resp": "[1:0]", "last": "", **ids}
        assert found[f"{port}_b_t"] == {"resp": "[1:0]", **ids}
    for port in ("axil", "hbm", "ddr"):
        assert set(re.findall(r"(\w+);", text.split(f"}} {port}_req_t;")[0].rpartition("{")[2])) == set(REQUEST)
        assert set(re.findall(r"(\w+);", text.split(f"}} {port}_rsp_t;")[0].rpartition("{")[2])) == set(RESPONSE)


REQUEST = ("aw", "aw_valid", "w", "w_valid", "b_ready", "ar", "ar_valid", "r_ready")
RESPONSE = ("aw_ready", "w_ready", "b", "b_valid", "ar_ready", "r", "r_valid")
_MEMBER = re.compile(r"logic (\S*) *(\w+);")


def test_the_wrapper_hands_structures_on() -> None:
    text = generate(replace(SOME, channels=True))["fleet_dut.sv"].replace(",\n", "\n")
    ports = ("input logic clk_i", *CHANNELS, "output logic [15:0] commit_opcode_o", "output logic [5:0][31:0] commit_cycles_o")
    for line in (*ports, *(f"  .{c.split()[-1]}" for c in CHANNELS)):
        assert f"  {line}" in text.splitlines(), line
    assert "some_top #(.Tin(32'd64), .HbmPorts(32'd8), .DescHash(32'h000000ab)) u_top" in text


def test_the_wrapper_flattens_for_a_top_with_a_port_for_each_signal() -> None:
    """The names and the HBM ports' widths, written down here again from the table in rtl_models/README.md."""
    text = generate(SOME)["fleet_dut.sv"].replace(",\n", "\n")
    p = "[fleet_dut_pkg::HbmPorts-1:0]"
    for line in (
        *CHANNELS,
        f"logic {p} hbm_arvalid;", f"logic {p}[32:0] hbm_araddr;", f"logic {p}[7:0] hbm_arlen;", f"logic {p}[255:0] hbm_rdata;",
        f"logic {p}[1:0] hbm_rresp;", f"logic {p} hbm_rready;", f"logic {p}[31:0] hbm_wstrb;", f"logic {p} hbm_bready;",
        "  assign hbm_req_o[p].ar_valid = hbm_arvalid[p];", "  assign hbm_req_o[p].w.strb = hbm_wstrb[p];",
        "  assign hbm_bvalid[p] = hbm_rsp_i[p].b_valid;", "  assign hbm_rdata[p] = hbm_rsp_i[p].r.data;",
        "  .s_axil_awaddr_i(s_axil_req_i.aw.addr)", "  .s_axil_wstrb_i(s_axil_req_i.w.strb)",
        "  .s_axil_rresp_o(s_axil_rsp_o.r.resp)", "  .hbm_arvalid_o(hbm_arvalid)", "  .hbm_rdata_i(hbm_rdata)",
        "  .ddr_arid_o(ddr_req_o.ar.id)", "  .ddr_rid_i(ddr_rsp_i.r.id)", "  .ddr_rdata_i(ddr_rsp_i.r.data)",
        "  .ddr_rvalid_i(ddr_rsp_i.r_valid)", "  .ddr_wstrb_o(ddr_req_o.w.strb)", "  .ddr_bid_i(ddr_rsp_i.b.id)",
        "output logic commit_result_valid_o", "output logic [31:0] commit_result_o",
    ):  # fmt: skip
        assert f"  {line}" in text.splitlines(), line
    assert len(re.findall(r"^    \.(?:s_axil|hbm|ddr)_", text, re.M)) == 17 + 21 + 25


def test_which_tops_have_structures(tmp_path: Path) -> None:
    top = tmp_path / "top.sv"
    for text, expected in (
        ("module top import fleet_axi_pkg::*; #(parameter int N = 1) (output ddr_req_t ddr_req_o); endmodule\n", True),
        ("module top (output logic ddr_arvalid_o); part u_part (.ddr_req_o(x)); endmodule\n", False),
        ("// ddr_req_o\nmodule top (output logic ddr_arvalid_o); endmodule\nmodule b; logic ddr_req_o; endmodule\n", False),
    ):
        top.write_text(text)
        assert has_channels((top,), "top") is expected


@pytest.mark.parametrize(
    "dut", [Dut("a b", {}, 0), Dut("top", {"x); $finish(": 1}, 0), Dut("top", {"Tin": -1}, 0), Dut("top", {"HbmPorts": 64}, 0)]
)
def test_a_bad_design_is_refused(dut: Dut) -> None:
    with pytest.raises(DeviceError):
        generate(dut)
