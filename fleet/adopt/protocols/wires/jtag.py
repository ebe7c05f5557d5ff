"""JTAG (IEEE 1149.1). The debugger is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "jtag", "JTAG", 48,
    (
        Signal("tck", ("tclk",), widths=(1,)),
        Signal("tms", widths=(1,)),
        Signal("tdi", ("td",), widths=(1,)),
        Signal("trst", ("trstn", "ntrst", "trstb"), widths=(1,), low="trstn|ntrst|trstb"),
        Signal("tdo", ("td",), driver="subordinate", widths=(1,)),
        Signal("tdo_oe", ("tdoen", "tdooen", "tdoenable", "tdodriven"), driver="subordinate", widths=(1,)),
    ),
    (frozenset({"tck", "tms", "tdi", "tdo"}),),
)  # fmt: skip
