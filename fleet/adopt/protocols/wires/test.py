"""Signals of production test: scan chains, test modes, memory test. A bench holds the inputs at 0."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "test", "production test", 3,
    (Signal("test", pattern=r"(scan|dft|m?bist|lbist|atpg|iddq)\w*|test(mode|en|enable|_?se)?|tmode", driver="either"),),
    (frozenset({"test"}),),
    single=True, first=True,
    never=frozenset({
        "valid", "ready", "data", "addr", "vector", "req", "ack", "irq", "intr", "interrupt", "rst", "reset", "clk", "clock",
        "line", "count",
    }),
)  # fmt: skip
