"""AXI4-Lite (AMBA IHI 0022): AXI4 without bursts; it has no AWLEN and no ARLEN."""

from __future__ import annotations

from fleet.adopt.protocols.buses.axi4 import address_channel, data_channels
from fleet.sdk.ports import Protocol

_WRITE = {"awaddr", "awvalid", "awready", "wdata", "wvalid", "wready", "bvalid", "bready"}
_READ = {"araddr", "arvalid", "arready", "rdata", "rvalid", "rready"}

PROTOCOL = Protocol(
    "axi4_lite", "AXI4-Lite", 11,
    (*address_channel("aw"), *address_channel("ar"), *data_channels((8, 16, 32, 64, 128, 256, 512, 1024))),
    (frozenset(_WRITE | _READ), frozenset(_READ), frozenset(_WRITE)),
)  # fmt: skip
