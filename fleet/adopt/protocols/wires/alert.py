"""Differential alerts (OpenTitan)."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "alert", "alert", 66,
    (Signal("alert", pattern=r"alerts?", driver="either"),),
    (frozenset({"alert"}),),
    single=True,
    never=frozenset({"en", "enable", "cause", "test"}),
)  # fmt: skip
