"""AHB-Lite (AMBA IHI 0033). A subordinate has HREADY as an input and HREADYOUT; a manager has HREADY alone. Makers who leave out
the input call a subordinate's HREADYOUT HREADY.
"""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_DATA = (8, 16, 32, 64, 128, 256, 512, 1024)
_ALL = {"haddr", "htrans", "hwrite", "hwdata", "hrdata"}

PROTOCOL = Protocol(
    "ahb_lite", "AHB-Lite", 31,
    (
        Signal("haddr"),
        Signal("htrans", widths=(2,)),
        Signal("hwrite", widths=(1,)),
        Signal("hsize", widths=(3,)),
        Signal("hburst", widths=(3,)),
        Signal("hprot", widths=(4, 7), aside=True),
        Signal("hmastlock", widths=(1,)),
        Signal("hwdata", widths=_DATA),
        Signal("hwstrb", bytes_of="hwdata"),
        Signal("hsel", ("hselx",), widths=(1,)),
        Signal("hnonsec", widths=(1,), aside=True),
        Signal("hexcl", widths=(1,)),
        Signal("hmaster", aside=True),
        Signal("hready", ("hreadyin",), driver="outside", widths=(1,)),
        Signal("hreadyout", ("hreadyo", "hready"), driver="subordinate", widths=(1,)),
        Signal("hrdata", driver="subordinate", widths=_DATA, same_as="hwdata"),
        Signal("hresp", driver="subordinate", widths=(1, 2)),
        Signal("hexokay", driver="subordinate", widths=(1,)),
    ),
    (frozenset(_ALL | {"hready"}), frozenset(_ALL | {"hreadyout"})),
)  # fmt: skip
