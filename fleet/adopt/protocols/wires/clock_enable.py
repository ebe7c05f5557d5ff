"""Enables of clocks: not a clock, and held active by a bench."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "clock_enable", "clock enable", 62,
    (
        Signal(
            "clk_en",
            ("clken", "clkenable", "clockenable", "clockena", "clkena", "clkgateen", "clkgate", "cgen", "icgen", "cken",
             "cke", "clkgaten", "clkenabled", "clockenabled"),
            driver="either",
        ),
    ),
    (frozenset({"clk_en"}),),
    single=True,
    never=frozenset({"bypass", "override", "count", "status"}),
)  # fmt: skip
