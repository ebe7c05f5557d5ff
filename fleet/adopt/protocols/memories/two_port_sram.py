"""A plain memory with an address for reads and another one for writes; a design may have only one of them."""

from __future__ import annotations

from pathlib import Path

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "two_port_sram", "two-port SRAM", 49,
    (
        Signal("raddr", ("radr", "rdaddr", "readaddr", "rdaddress", "readaddress")),
        Signal("re", ("ren", "rden", "rdenable", "readenable", "readen", "rd"), widths=(1,)),
        Signal("rdata", ("q", "rddata", "rdat", "readdata"), driver="subordinate"),
        Signal("waddr", ("wadr", "wraddr", "writeaddr", "wraddress", "writeaddress")),
        Signal("we", ("wen", "wren", "wrenable", "writeenable", "writeen", "wrvalid", "wr"), widths=(1,), unsure=("wen",)),
        Signal("be", ("wmask", "wstrb", "wrstrb", "bwe", "byteenable", "bytemask"), needs="wdata"),
        Signal("wdata", ("d", "wrdata", "wdat", "writedata"), needs="waddr"),
    ),
    (
        frozenset({"raddr", "re", "rdata", "waddr", "we", "wdata"}), frozenset({"raddr", "rdata", "waddr", "we", "wdata"}),
        frozenset({"raddr", "re", "rdata"}), frozenset({"raddr", "rdata"}), frozenset({"waddr", "we", "wdata"}),
    ),
    bench=Path(__file__).parents[2] / "bench" / "sv" / "register_memories.sv",
)  # fmt: skip
