"""Scripts, jobs, status files, commit records and the generated wrapper: the forms of rtl_models/README.md."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.dut import Dut, generate
from fleet.engines.rtl_sim.job import Job, Script, Status
from fleet.engines.rtl_sim.records import read_records
from fleet.errors import DeviceError, ModelError


def test_a_script_is_records_of_four_words(tmp_path: Path) -> None:
    script = Script()
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
        Script().write(address, value)


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
    assert Status.load(path) == Status("hang", "a=b", "r", "n", "e3", 5, 1, 2, 0.5, {"ddr.read_bytes": 64})
    path.write_text("status=done\nmess")
    with pytest.raises(DeviceError, match="no whole status file"):
        Status.load(path)
    with pytest.raises(DeviceError, match="no whole status file"):
        Status.load(tmp_path / "missing")


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


def test_the_wrapper_has_the_ports_of_the_readme() -> None:
    """The widths, written down here again from the table in rtl_models/README.md."""
    text = generate(Dut("some_top", {"Tin": 64, "HbmPorts": 8}, 0xAB))["fleet_dut.sv"]
    p = "[fleet_dut_pkg::HbmPorts-1:0]"
    for line in (
        "input logic clk_i", "input logic [15:0] s_axil_awaddr_i", "input logic [3:0] s_axil_wstrb_i",
        "output logic [1:0] s_axil_rresp_o",
        f"output logic {p} hbm_arvalid_o", f"output logic {p}[32:0] hbm_araddr_o", f"output logic {p}[7:0] hbm_arlen_o",
        f"input logic {p}[255:0] hbm_rdata_i", f"input logic {p}[1:0] hbm_rresp_i", f"output logic {p} hbm_rready_o",
        f"output logic {p}[31:0] hbm_wstrb_o", f"output logic {p} hbm_bready_o", f"input logic {p} hbm_bvalid_i",
        "output logic [3:0] ddr_arid_o", "input logic [3:0] ddr_rid_i", "input logic [511:0] ddr_rdata_i",
        "input logic ddr_rvalid_i",
        "output logic [63:0] ddr_wstrb_o", "input logic [3:0] ddr_bid_i", "output logic [15:0] commit_opcode_o",
        "output logic commit_result_valid_o", "output logic [31:0] commit_result_o", "output logic [5:0][31:0] commit_cycles_o",
    ):  # fmt: skip
        assert f"  {line}" in text.replace(",\n", "\n").splitlines(), line
    assert "some_top #(.Tin(32'd64), .HbmPorts(32'd8), .DescHash(32'h000000ab)) u_top" in text


@pytest.mark.parametrize(
    "dut", [Dut("a b", {}, 0), Dut("top", {"x); $finish(": 1}, 0), Dut("top", {"Tin": -1}, 0), Dut("top", {"HbmPorts": 64}, 0)]
)
def test_a_bad_design_is_refused(dut: Dut) -> None:
    with pytest.raises(DeviceError):
        generate(dut)
