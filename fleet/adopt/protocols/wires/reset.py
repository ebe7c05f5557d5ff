"""Resets, by their names; the name says the polarity (`_n`, `_ni`, `aresetn`, `nreset`, `reset_`) if the sources do not."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_OF = "a|s|p|h|m|g|w|r|wr|rd|rx|tx|sys|core|ap|hw|sw|por|async|sync|axi|global|cpu|dbg|usr|user"
_NAME = rf"n?({_OF})?(rst|reset)[nb]?\d*|n?(por|aclr)[nb]?"

PROTOCOL = Protocol(
    "reset", "reset", 2,
    (Signal("reset", pattern=_NAME, widths=(1,), low=r"n\w*|\w*[nb]\d*|\w*_"),),
    (frozenset({"reset"}),),
    single=True, first=True,
    never=frozenset({
        "en", "enable", "req", "done", "ack", "status", "vector", "addr", "pc", "busy", "cause", "count", "sel", "bypass", "mode",
        "val", "value", "valid",
    }),
)  # fmt: skip
