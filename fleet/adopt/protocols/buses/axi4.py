"""AXI4 (AMBA IHI 0022): five channels, bursts. A design may have only the channels of reads, or only those of writes."""

from __future__ import annotations

from fleet.sdk.ports import Driver, Protocol, Signal

_DATA = (8, 16, 32, 64, 128, 256, 512, 1024)


def address_channel(c: str) -> tuple[Signal, ...]:
    """Signals of "aw" or "ar" that AXI4-Lite has too."""
    return (
        Signal(f"{c}addr", driver="manager"),
        Signal(f"{c}valid", driver="manager", widths=(1,)),
        Signal(f"{c}ready", driver="subordinate", widths=(1,)),
        Signal(f"{c}prot", driver="manager", widths=(3,), aside=True),
        Signal(f"{c}id", driver="manager"),
        Signal(f"{c}user", driver="manager", open=True, aside=True),
        # AXI4-Lite has none of these, but generators leave them (veriloggen, NNgen).
        Signal(f"{c}lock", driver="manager", widths=(1, 2)),
        Signal(f"{c}cache", driver="manager", widths=(4,), aside=True),
        Signal(f"{c}qos", driver="manager", widths=(4,), aside=True),
        Signal(f"{c}region", driver="manager", widths=(4,), aside=True),
    )


def data_channels(widths: tuple[int, ...]) -> tuple[Signal, ...]:
    """Signals of W, B and R that AXI4-Lite has too."""
    return (
        Signal("wdata", driver="manager", widths=widths),
        Signal("wstrb", driver="manager", bytes_of="wdata"),
        Signal("wvalid", driver="manager", widths=(1,)),
        Signal("wready", driver="subordinate", widths=(1,)),
        Signal("wuser", driver="manager", open=True, aside=True),
        Signal("bresp", driver="subordinate", widths=(2, 3)),
        Signal("bvalid", driver="subordinate", widths=(1,)),
        Signal("bready", driver="manager", widths=(1,)),
        Signal("bid", driver="subordinate", same_as="awid"),
        Signal("buser", driver="subordinate", open=True, aside=True),
        Signal("rdata", driver="subordinate", widths=widths, same_as="wdata"),
        Signal("rresp", driver="subordinate", widths=(2, 3, 4)),
        Signal("rvalid", driver="subordinate", widths=(1,)),
        Signal("rready", driver="manager", widths=(1,)),
        Signal("rid", driver="subordinate", same_as="arid"),
        Signal("ruser", driver="subordinate", open=True, aside=True),
    )


def _bursts(c: str) -> tuple[Signal, ...]:
    return (
        Signal(f"{c}len", driver="manager", widths=(4, 8)),
        Signal(f"{c}size", driver="manager", widths=(3,)),
        Signal(f"{c}burst", driver="manager", widths=(2,)),
    )


def _beside(driver: Driver, names: str) -> tuple[Signal, ...]:
    return tuple(Signal(name, driver=driver, aside=True) for name in names.split())


_SIDEBAND = (
    *_beside("manager", "awsnoop awdomain awbar awunique awidunq awtrace awloop awmpam awnsaid awmmusecsid awmmusid awmmussid"),
    *_beside("manager", "awmmussidv awstashnid awstashniden awstashlpid awstashlpiden wpoison wtrace wack"),
    *_beside("manager", "arsnoop ardomain arbar aridunq artrace arloop armpam arnsaid archunken armmusecsid armmusid rack"),
    *_beside("subordinate", "btrace bidunq bloop rpoison rtrace ridunq rloop rchunkv rchunknum rchunkstrb"),
)
"""What ACE-Lite and AXI5 add to a transfer. The memory of a bench is coherent with nobody: it ignores them, and drives 0."""
_WRITE = {"awaddr", "awlen", "awvalid", "awready", "wdata", "wlast", "wvalid", "wready", "bvalid", "bready"}
_READ = {"araddr", "arlen", "arvalid", "arready", "rdata", "rlast", "rvalid", "rready"}

PROTOCOL = Protocol(
    "axi4", "AXI4", 10,
    (
        *address_channel("aw"), *_bursts("aw"), Signal("awatop", driver="manager", widths=(6,)),
        *address_channel("ar"), *_bursts("ar"), *data_channels(_DATA),
        Signal("wlast", driver="manager", widths=(1,)),
        Signal("wid", driver="manager", same_as="awid"),
        Signal("rlast", driver="subordinate", widths=(1,)),
        *_SIDEBAND,
    ),
    (frozenset(_WRITE | _READ), frozenset(_READ), frozenset(_WRITE)),
)  # fmt: skip
