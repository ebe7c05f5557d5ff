"""Avalon memory-mapped interfaces: readdata and writedata are its own words."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_READ, _WRITE = {"read", "readdata"}, {"write", "writedata"}

PROTOCOL = Protocol(
    "avalon_mm", "Avalon-MM", 32,
    (
        Signal("address", ("addr",)),
        Signal("read", widths=(1,)),
        Signal("write", widths=(1,)),
        Signal("readdata", driver="subordinate"),
        Signal("writedata", same_as="readdata"),
        Signal("byteenable", bytes_of="writedata"),
        Signal("waitrequest", driver="subordinate", widths=(1,)),
        Signal("readdatavalid", driver="subordinate", widths=(1,)),
        Signal("burstcount"),
        Signal("beginbursttransfer", widths=(1,)),
        Signal("chipselect", widths=(1,)),
        Signal("response", driver="subordinate", widths=(2,)),
        Signal("writeresponsevalid", driver="subordinate", widths=(1,)),
        Signal("lock", widths=(1,)),
        Signal("debugaccess", widths=(1,)),
    ),
    (
        frozenset(_READ | _WRITE | {"address"}), frozenset(_READ | {"address"}), frozenset(_WRITE | {"address"}),
        frozenset(_READ | _WRITE),
    ),
)  # fmt: skip
