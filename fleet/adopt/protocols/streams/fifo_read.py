"""The reading side of a FIFO. The one who takes words out is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "fifo_read", "FIFO, reading side", 45,
    (
        Signal("rd_en", ("read", "pop", "rd", "re", "deq", "rdreq", "rinc", "ren", "get"), widths=(1,)),
        Signal("dout", ("data", "rdata", "q", "rddata", "dataout", "readdata", "do", "rddout", "popdata", "deqdata"),
               driver="subordinate"),
        Signal("empty", ("emptyn", "nempty", "isempty", "rdempty", "notempty", "rempty", "exists"),
               driver="subordinate", widths=(1,), low="emptyn|nempty|notempty|exists"),
        Signal("almost_empty", ("aempty", "rdalmempty"), driver="subordinate", widths=(1,)),
        Signal("prog_empty", driver="subordinate", widths=(1,)),
        Signal("valid", ("rdvalid",), driver="subordinate", widths=(1,)),
        Signal("underflow", ("unf",), driver="subordinate", widths=(1,)),
        Signal("rd_count", ("rddatacount", "rdusedw", "rdlevel", "rcount"), driver="subordinate"),
        Signal("rd_rst_busy", driver="subordinate", widths=(1,)),
        Signal("cap", ("fifocap",), driver="subordinate"),
        Signal("num_data_valid", ("numdata",), driver="subordinate"),
    ),
    (frozenset({"rd_en", "dout", "empty"}),),
)  # fmt: skip
