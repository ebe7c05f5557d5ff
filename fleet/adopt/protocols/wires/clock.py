"""Clocks, by their names. A design that has one as an output drives it."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_NAME = r"[a-z0-9]*(clk|clock)\d*x?|clk(in|out|core|sys|ref|mem|ext)\d*|ck"

PROTOCOL = Protocol(
    "clock", "clock", 1,
    (Signal("clock", pattern=_NAME, widths=(1,)),),
    (frozenset({"clock"}),),
    single=True, first=True,
    never=frozenset({
        "en", "enable", "req", "gate", "gated", "sel", "div", "bypass", "locked", "valid", "ack", "ratio", "good", "cg", "stop",
        "icg", "disable", "count", "off", "status", "rst", "reset", "idle", "ovr", "override", "on", "force", "detect", "present",
        "freq", "phase", "edge", "tick", "mux", "enabled", "enables", "keep",
    }),
)  # fmt: skip
