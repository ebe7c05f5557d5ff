"""OBI (OpenHW) and the request/grant ports of the cores that it comes from: `we` is a write where it is 1."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_READ = {"req", "gnt", "addr", "rvalid", "rdata"}

PROTOCOL = Protocol(
    "obi", "OBI", 40,
    (
        Signal("req", widths=(1,)),
        Signal("gnt", ("grant",), driver="subordinate", widths=(1,)),
        Signal("addr", ("aaddr", "address", "add")),
        Signal("we", ("awe", "rw"), widths=(1,), unsure=("rw",)),
        Signal("be", ("abe", "strb"), bytes_of="wdata"),
        Signal("wdata", ("awdata",)),
        Signal("aid", ("aaid", "id")),
        Signal("atop", ("aatop", "amo"), widths=(4, 6)),
        Signal("prot", ("aprot", "aaprot"), widths=(3,), aside=True),
        Signal("memtype", ("amemtype",), widths=(2,), aside=True),
        Signal("a_optional", ("aaoptional", "aoptional", "user"), open=True),
        Signal("wdata_intg", ("wdataintg",), aside=True),
        Signal("rvalid", ("valid", "readvalid", "rdvalid"), driver="subordinate", widths=(1,)),
        Signal("rready", widths=(1,)),
        Signal("rdata", ("rrdata",), driver="subordinate", same_as="wdata"),
        Signal("rdata_intg", ("rdataintg",), driver="subordinate", aside=True),
        Signal("err", ("rerr", "error"), driver="subordinate", widths=(1,)),
        Signal("rid", ("rrid",), driver="subordinate", same_as="aid"),
        Signal("r_optional", ("rroptional", "roptional", "ruser"), driver="subordinate", open=True),
    ),
    (frozenset(_READ | {"we", "wdata"}), frozenset(_READ)),
)  # fmt: skip
