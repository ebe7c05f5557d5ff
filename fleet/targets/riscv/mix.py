"""Classifies instructions by their encoding, for the instruction mix in a report."""

from __future__ import annotations

import struct

KINDS: tuple[str, ...] = ("load", "store", "float", "integer", "branch", "vector")
"""Every instruction has one kind. Jumps and calls are branches; vector loads and stores are "vector"."""

_LONG = {
    0x03: "load", 0x23: "store", 0x2F: "load", 0x63: "branch", 0x67: "branch", 0x6F: "branch", 0x57: "vector",
    0x43: "float", 0x47: "float", 0x4B: "float", 0x4F: "float", 0x53: "float",
}  # fmt: skip
_SHORT = {
    0: ("integer", "load", "load", "load", "integer", "store", "store", "store"),
    1: ("integer", "integer", "integer", "integer", "integer", "branch", "branch", "branch"),
    2: ("integer", "load", "load", "load", "integer", "store", "store", "store"),
}
"""Quadrant -> kind by the three top bits of a compressed instruction."""


def kind_of(word: int) -> str:
    """Return the kind of a 2-byte (low bits not both set) or 4-byte instruction."""
    if word & 3 != 3:
        word &= 0xFFFF
        if word & 3 == 2 and word >> 13 == 4 and not word >> 2 & 0x1F:
            return "branch"  # jr, jalr: no second register
        return _SHORT[word & 3][word >> 13]
    opcode = word & 0x7F
    if opcode in (0x07, 0x27):
        scalar = 1 <= word >> 12 & 7 <= 4
        return ("load" if opcode == 0x07 else "store") if scalar else "vector"
    return _LONG.get(opcode, "integer")


def instructions_of(code: bytes) -> list[tuple[int, int]]:
    """Return (offset, word) of every instruction of a function, decoded from its first byte."""
    found: list[tuple[int, int]] = []
    at = 0
    while at + 2 <= len(code):
        (word,) = struct.unpack_from("<H", code, at)
        size = 4 if word & 3 == 3 else 2
        if size == 4 and at + 4 <= len(code):
            (word,) = struct.unpack_from("<I", code, at)
        found.append((at, word))
        at += size
    return found
