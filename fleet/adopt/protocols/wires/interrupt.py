"""Interrupt lines, one or many in a vector."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "interrupt", "interrupt", 70,
    (Signal("interrupt", pattern=r"\w*(irq|intr|interrupt|introut)s?\d*|int|evt|events?", low=r"n(irq|int\w*)|\w*(irq|intr)n"),),
    (frozenset({"interrupt"}),),
    single=True,
    never=frozenset({"en", "enable", "mask", "ack", "id", "clear", "clr", "sel", "test", "core", "perf", "pmu", "counter"}),
)  # fmt: skip
