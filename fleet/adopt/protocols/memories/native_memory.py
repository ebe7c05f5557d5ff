"""A memory behind one handshake (PicoRV32's native port, PULP's register interface): ready answers, and brings what is read."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "native_memory", "valid/ready memory", 42,
    (
        Signal("valid", ("req", "strobe", "stb", "vld"), widths=(1,)),
        Signal("ready", ("ack", "rdy", "done"), driver="subordinate", widths=(1,)),
        Signal("instr", widths=(1,)),
        Signal("addr", ("address", "adr")),
        Signal("write", ("we", "wr", "wen", "wren", "rw", "rnw"), widths=(1,), low="wen", unsure=("rw", "rnw")),
        Signal("wdata", ("wrdata", "datawrite", "writedata"), same_as="rdata"),
        Signal("wstrb", ("be", "wmask", "strb", "byteenable", "byteen"), bytes_of="wdata"),
        Signal("size", widths=(2, 3)),
        Signal("rdata", ("rddata", "dataread", "readdata"), driver="subordinate"),
        Signal("error", ("err", "slverr"), driver="subordinate", widths=(1,)),
    ),
    (frozenset({"valid", "ready", "addr", "rdata"}),),
)  # fmt: skip
