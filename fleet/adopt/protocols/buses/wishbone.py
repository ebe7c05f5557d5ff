"""Wishbone B3 and B4. `dat` is written or read data: its direction says which."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_LINES = {"cyc", "stb", "ack"}

PROTOCOL = Protocol(
    "wishbone", "Wishbone", 33,
    (
        Signal("cyc", widths=(1,)),
        Signal("stb", widths=(1,)),
        Signal("we", widths=(1,)),
        Signal("adr", ("addr",)),
        Signal("dat_w", ("dat", "datw", "data", "wdata", "datwr", "datmosi", "datawrite"), widths=(8, 16, 32, 64, 128, 256, 512)),
        Signal(
            "dat_r", ("dat", "datr", "rdt", "data", "rdata", "datrd", "datmiso", "dataread"), driver="subordinate",
            same_as="dat_w",
        ),
        Signal("sel"),
        Signal("cti", widths=(3,)),
        Signal("bte", widths=(2,)),
        Signal("lock", widths=(1,)),
        Signal("ack", driver="subordinate", widths=(1,)),
        Signal("err", driver="subordinate", widths=(1,)),
        Signal("rty", driver="subordinate", widths=(1,)),
        Signal("stall", driver="subordinate", widths=(1,)),
    ),
    (
        frozenset(_LINES | {"adr", "we", "dat_w", "dat_r"}), frozenset(_LINES | {"adr", "dat_r"}),
        frozenset(_LINES | {"adr", "dat_w"}), frozenset({"stb", "ack", "adr", "we", "dat_w", "dat_r"}),
        frozenset({"cyc", "ack", "adr", "we", "dat_w", "dat_r"}), frozenset({"cyc", "ack", "adr", "dat_r"}),
    ),
)  # fmt: skip
