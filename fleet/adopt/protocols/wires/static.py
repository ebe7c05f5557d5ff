"""Inputs that a system ties to a constant: numbers of harts and clusters, boot addresses, straps."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "static", "constant input", 63,
    (
        Signal(
            "static_value",
            (
                "hartid", "mhartid", "coreid", "clusterid", "chipid", "tileid", "deviceid", "instanceid", "bootaddr", "bootaddress",
                "resetvector", "resetaddr", "mtvecaddr", "nmiaddr", "dmhaltaddr", "dmexceptionaddr", "strap", "straps", "baseaddr",
                "hartbaseid",
            ),
        ),
    ),
    (frozenset({"static_value"}),),
    single=True,
    never=frozenset({"valid", "ready", "wr", "we", "req"}),
)  # fmt: skip
