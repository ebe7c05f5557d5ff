"""AXI4-Stream (AMBA IHI 0051). The manager sends."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "axi4_stream", "AXI4-Stream", 20,
    (
        Signal("tdata"),
        Signal("tvalid", widths=(1,)),
        Signal("tready", driver="subordinate", widths=(1,)),
        Signal("tlast", widths=(1,)),
        Signal("tkeep", bytes_of="tdata"),
        Signal("tstrb", bytes_of="tdata"),
        Signal("tid"),
        Signal("tdest"),
        Signal("tuser"),
        Signal("twakeup", widths=(1,)),
    ),
    (frozenset({"tvalid", "tdata"}),),
)  # fmt: skip
