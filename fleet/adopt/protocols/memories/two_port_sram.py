"""A plain memory with an address for reads and another one for writes; a design may have only one of them."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "two_port_sram", "two-port SRAM", 49,
    (
        Signal("raddr", ("radr", "rdaddr", "readaddr", "rdaddress", "readaddress")),
        Signal("re", ("ren", "rden", "rdenable", "readenable", "readen"), widths=(1,)),
        Signal("rdata", ("q", "rddata", "rdat", "readdata"), driver="subordinate"),
        Signal("waddr", ("wadr", "wraddr", "writeaddr", "wraddress", "writeaddress")),
        Signal("we", ("wen", "wren", "wrenable", "writeenable", "writeen"), widths=(1,), unsure=("wen",)),
        Signal("be", ("wmask", "wstrb", "bwe", "byteenable"), needs="wdata"),
        Signal("wdata", ("d", "wrdata", "wdat", "writedata"), needs="waddr"),
    ),
    (
        frozenset({"raddr", "re", "rdata", "waddr", "we", "wdata"}), frozenset({"raddr", "rdata", "waddr", "we", "wdata"}),
        frozenset({"raddr", "re", "rdata"}), frozenset({"waddr", "we", "wdata"}),
    ),
)  # fmt: skip
