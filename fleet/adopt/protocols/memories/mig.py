"""The user port of AMD's memory controllers (`app_`): commands, written data and read data each with a handshake of their own."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "mig", "MIG user port", 18,
    (
        Signal("addr"),
        Signal("cmd", widths=(3,)),
        Signal("en", widths=(1,)),
        Signal("hi_pri", widths=(1,)),
        Signal("wdf_data"),
        Signal("wdf_end", widths=(1,)),
        Signal("wdf_wren", widths=(1,)),
        Signal("wdf_mask", bytes_of="wdf_data"),
        Signal("rdy", driver="subordinate", widths=(1,)),
        Signal("wdf_rdy", driver="subordinate", widths=(1,)),
        Signal("rd_data", driver="subordinate", same_as="wdf_data"),
        Signal("rd_data_valid", driver="subordinate", widths=(1,)),
        Signal("rd_data_end", driver="subordinate", widths=(1,)),
    ),
    (frozenset({"addr", "cmd", "en", "rdy", "wdf_data", "wdf_wren", "wdf_rdy", "rd_data", "rd_data_valid"}),),
)  # fmt: skip
