"""Register buses whose two ways are named by their ends (`csb2nvdla_*`, `nvdla2csb_*`): requests of valid and ready, reads answered
by a valid, writes that ask for it (nposted) by a pulse. Addresses count words.
"""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "csb", "configuration space bus", 42,
    (
        Signal("valid", ("pvld",), widths=(1,)),
        Signal("ready", ("prdy",), driver="subordinate", widths=(1,)),
        Signal("addr", ("address",)),
        Signal("wdat", ("wdata",), same_as="rsp_data"),
        Signal("write", ("wr",), widths=(1,)),
        Signal("nposted", widths=(1,)),
        Signal("rsp_valid", driver="subordinate", widths=(1,)),
        Signal("rsp_data", driver="subordinate"),
        Signal("rsp_error", ("rsperr",), driver="subordinate", widths=(1,)),
        Signal("rsp_wr_complete", ("rspwrcomplete",), driver="subordinate", widths=(1,), needs="nposted"),
    ),
    (frozenset({"valid", "ready", "addr", "wdat", "write", "rsp_valid", "rsp_data"}),),
)  # fmt: skip
