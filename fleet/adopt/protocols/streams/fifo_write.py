"""The writing side of a FIFO. The one who writes is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "fifo_write", "FIFO, writing side", 44,
    (
        Signal("wr_en", ("write", "push", "wr", "we", "enq", "wrreq", "winc", "put"), widths=(1,)),
        Signal("din", ("data", "wdata", "d", "wrdata", "datain", "writedata", "di", "wrdin", "pushdata", "enqdata")),
        Signal("full", ("fulln", "nfull", "isfull", "wrfull", "notfull", "wfull"), driver="subordinate", widths=(1,),
               low="fulln|nfull|notfull"),
        Signal("almost_full", ("afull", "wralmfull"), driver="subordinate", widths=(1,)),
        Signal("prog_full", driver="subordinate", widths=(1,)),
        Signal("wr_ack", driver="subordinate", widths=(1,)),
        Signal("overflow", ("ovf",), driver="subordinate", widths=(1,)),
        Signal("wr_count", ("wrdatacount", "wrusedw", "wrlevel", "wcount"), driver="subordinate"),
        Signal("wr_rst_busy", driver="subordinate", widths=(1,)),
        Signal("cap", ("fifocap", "wfifocap"), driver="subordinate"),
        Signal("num_data_valid", ("numdata",), driver="subordinate"),
    ),
    (frozenset({"wr_en", "din", "full"}),),
)  # fmt: skip
