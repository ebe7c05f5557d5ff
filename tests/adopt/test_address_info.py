"""Registers from the comment that high-level synthesis writes above a block of registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.adopt.registers import AdoptedRegister, read_registers, shipped
from fleet.errors import DeviceError

BLOCK = """module k_control_s_axi (input ACLK);
//------------------------Address Info-------------------
// 0x00 : Control signals
//        bit 0  - ap_start (Read/Write/COH)
//        bit 1  - ap_done (Read/COR)
//        others - reserved
// 0x04 : Global Interrupt Enable Register
//        bit 0  - Global Interrupt Enable (Read/Write)
//        others - reserved
// 0x08 : IP Interrupt Enable Register (Read/Write)
//        bit 0 - enable ap_done interrupt (Read/Write)
// 0x0c : IP Interrupt Status Register (Read/TOW)
//        bit 0 - ap_done (Read/TOW)
// 0x10 : Data signal of in_r
//        bit 31~0 - in_r[31:0] (Read/Write)
// 0x14 : Data signal of in_r
//        bit 31~0 - in_r[63:32] (Read/Write)
// 0x18 : reserved
// 0x1c : Data signal of scale
//        bit 15~0 - scale[15:0] (Read/Write)
//        others   - reserved
// 0x24 : Data signal of ap_return
//        bit 31~0 - ap_return[31:0] (Read)
// 0x28 : Control signal of ap_return
//        bit 0  - ap_return_ap_vld (Read/COR)
// 0x40 ~
// 0x7f : Memory 'lut' (16 * 32b)
//        Word n : bit [31:0] - lut[n]
// (SC = Self Clear, COR = Clear on Read, TOW = Toggle on Write, COH = Clear on Handshake)

//------------------------Parameter----------------------
localparam ADDR_AP_CTRL = 7'h00;
// 0x99 : Data signal of nothing
endmodule
"""
NAMES = (
    ("ap_ctrl", 0, "rw"), ("gie", 4, "rw"), ("ier", 8, "rw"), ("isr", 12, "rw"), ("in_r_0", 16, "rw"), ("in_r_1", 20, "rw"),
    ("scale", 28, "rw"), ("ap_return", 36, "r"), ("ap_return_ctrl", 40, "r"),
)  # fmt: skip


def test_the_comment_is_read(tmp_path: Path) -> None:
    path = tmp_path / "k_control_s_axi.v"
    path.write_text(BLOCK)
    assert read_registers(path) == tuple(AdoptedRegister(name, offset, 32, access=access) for name, offset, access in NAMES)


def test_registers_of_two_blocks_have_the_names_of_their_ports(tmp_path: Path) -> None:
    path = tmp_path / "all.v"
    path.write_text(BLOCK + BLOCK.replace("k_control_s_axi", "k_control_r_s_axi"))
    assert [r.name for r in read_registers(path)][:2] == ["k_control.ap_ctrl", "k_control_r.ap_ctrl"]


def test_a_source_counts_where_nothing_better_is_shipped(tmp_path: Path) -> None:
    (tmp_path / "k.v").write_text(BLOCK)
    (tmp_path / "plain.v").write_text("module plain; endmodule\n")
    sources = (tmp_path / "k.v", tmp_path / "plain.v")
    assert shipped([tmp_path], sources) == (tmp_path / "k.v",)
    (tmp_path / "k.rdl").write_text("addrmap k {};\n")
    assert shipped([tmp_path], sources) == (tmp_path / "k.rdl",)


def test_a_source_without_the_comment_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.v").write_text("module plain; endmodule\n")
    with pytest.raises(DeviceError, match="has no comment with addresses of registers"):
        read_registers(tmp_path / "plain.v")
