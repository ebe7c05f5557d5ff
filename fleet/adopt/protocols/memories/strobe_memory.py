"""Memories and registers with one address and a strobe each for reads and writes (`mem_read`, `mem_write`, `readEn`, `writeEn`).

With ready, or one each for reads and writes, a strobe waits for it, and the data that are read lie beside it, or beside rvalid
where there is one. Without ready each cycle of a strobe is an access, and a memory answers as a plain SRAM does.
"""

from __future__ import annotations

from pathlib import Path

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "strobe_memory", "memory with strobes for reads and writes", 46,
    (
        Signal("addr", ("address", "adr", "add")),
        Signal("read", ("readen", "rden", "ren", "rd", "re", "readenable", "readreq", "rdreq"), widths=(1,)),
        Signal("write", ("writeen", "wren", "wen", "wr", "we", "writeenable", "writereq", "wrreq"), widths=(1,), unsure=("wen",)),
        Signal("wdata", ("writedata", "wrdata", "din", "datain", "wdat", "wrdat"), same_as="rdata"),
        Signal("be", ("wstrb", "wmask", "strb", "byteen", "byteenable", "bytemask", "writemask", "wrstrb"), bytes_of="wdata"),
        Signal("rdata", ("readdata", "rddata", "dout", "dataout", "rdat", "rddat"), driver="subordinate"),
        Signal("ready", ("rdy", "ack", "done"), driver="subordinate", widths=(1,)),
        Signal("read_done", ("rddone", "readack", "rdack", "readready", "rdready"), driver="subordinate", widths=(1,)),
        Signal("write_done", ("wrdone", "writeack", "wrack", "writeready", "wrready"), driver="subordinate", widths=(1,)),
        Signal("rvalid", ("readvalid", "rdvalid", "readdatavalid", "rddatavalid"), driver="subordinate", widths=(1,)),
        Signal("error", ("err",), driver="subordinate", widths=(1,)),
    ),
    (frozenset({"addr", "read", "write", "wdata", "rdata"}),),
    bench=Path(__file__).parents[2] / "bench" / "sv" / "register_memories.sv",
)  # fmt: skip
