"""A port of a plain synchronous memory: address, enable, write enable, data; no handshake."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "sram", "SRAM", 50,
    (
        Signal("addr", ("a", "adr", "address", "add")),
        Signal(
            "en", ("ce", "cs", "me", "req", "enable", "enb", "chipenable", "ceb", "cen", "csb", "csn", "rden", "ren", "re",
             "readen", "readenable", "sel", "v"),
            widths=(1,), low="ceb|csb|csn", unsure=("cen",),
        ),
        Signal(
            "we", ("wr", "wren", "writeenable", "writeen", "write", "web", "wen", "wmode", "w"),
            needs="wdata", low="web", unsure=("wen",),
        ),
        Signal(
            "be", ("bwe", "wmask", "wstrb", "strb", "mask", "bweb", "bwen", "bytewriteenable"),
            needs="wdata", low="bweb", unsure=("bwen",),
        ),
        Signal("wdata", ("d", "di", "din", "data", "datain", "wrdata", "wdat", "idat", "odat", "writedata")),
        Signal(
            "rdata", ("q", "qout", "do", "dout", "data", "dataout", "rddata", "rdat", "idat", "odat", "readdata"),
            driver="subordinate",
        ),
        Signal("rvalid", driver="subordinate", widths=(1,)),
    ),
    (
        frozenset({"addr", "we", "wdata", "rdata"}), frozenset({"addr", "en", "rdata"}), frozenset({"addr", "we", "wdata"}),
        frozenset({"addr", "en", "wdata"}), frozenset({"addr", "rdata"}),
    ),
)  # fmt: skip
