"""Avalon memory-mapped interfaces: readdata and writedata are its own words."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_READ, _WRITE = {"read", "readdata"}, {"write", "writedata"}

PROTOCOL = Protocol(
    "avalon_mm", "Avalon-MM", 32,
    (
        Signal("address", ("addr",)),
        Signal("read", ("rd",), widths=(1,)),
        Signal("write", ("wr",), widths=(1,)),
        Signal("readdata", ("rddat", "rddata", "readdat"), driver="subordinate"),
        Signal("writedata", ("wrdat", "wrdata", "writedat"), same_as="readdata"),
        Signal("byteenable", ("byteen", "byteena"), bytes_of="writedata"),
        Signal("waitrequest", ("waitreq",), driver="subordinate", widths=(1,)),
        Signal("readdatavalid", ("rddatvld", "rddatavalid", "readdatavld"), driver="subordinate", widths=(1,)),
        Signal("burstcount"),
        Signal("beginbursttransfer", widths=(1,)),
        Signal("chipselect", ("cs",), widths=(1,)),
        Signal("response", ("resp",), driver="subordinate", widths=(2,)),
        Signal("writeresponsevalid", ("wrrespvld", "wrrespvalid"), driver="subordinate", widths=(1,)),
        Signal("lock", widths=(1,)),
        Signal("debugaccess", widths=(1,), aside=True),
    ),
    (
        frozenset(_READ | _WRITE | {"address"}), frozenset(_READ | {"address"}), frozenset(_WRITE | {"address"}),
        frozenset(_READ | _WRITE), frozenset(_WRITE | {"address", "chipselect", "readdata"}),
    ),
)  # fmt: skip
