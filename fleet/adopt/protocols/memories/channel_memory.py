"""A memory with a channel of valid and ready for reads and one for writes: ready answers, and brings what is read."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal


def _channel(verbs: tuple[str, ...], *words: str) -> tuple[str, ...]:
    return tuple(f"{verb}{word}" for verb in verbs for word in words)


_READ, _WRITE = ("read", "rd"), ("write", "wr")
_READS = frozenset({"read_valid", "read_ready", "read_addr", "read_data"})
_WRITES = frozenset({"write_valid", "write_ready", "write_addr", "write_data"})

PROTOCOL = Protocol(
    "channel_memory", "read/write channel memory", 44,
    (
        Signal("read_valid", _channel(_READ, "valid", "vld", "req"), widths=(1,)),
        Signal("read_ready", _channel(_READ, "ready", "rdy", "ack"), driver="subordinate", widths=(1,)),
        Signal("read_addr", _channel(_READ, "addr", "address")),
        Signal("read_data", _channel(_READ, "data"), driver="subordinate", same_as="write_data"),
        Signal("write_valid", _channel(_WRITE, "valid", "vld", "req"), widths=(1,)),
        Signal("write_ready", _channel(_WRITE, "ready", "rdy", "ack"), driver="subordinate", widths=(1,)),
        Signal("write_addr", _channel(_WRITE, "addr", "address")),
        Signal("write_data", _channel(_WRITE, "data")),
        Signal("write_strb", _channel(_WRITE, "strb", "mask", "be", "byteen"), bytes_of="write_data", needs="write_data"),
    ),
    (_READS | _WRITES, _READS, _WRITES),
)  # fmt: skip
