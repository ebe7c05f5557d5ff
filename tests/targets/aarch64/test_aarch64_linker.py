"""Relocations of AArch64, applied to instructions of zeros and read back as the manual has their fields."""

from __future__ import annotations

import struct

import pytest

from fleet.targets.aarch64.linker import link_aarch64
from fleet.targets.riscv.elf import ElfError
from fleet.targets.riscv.linker import LinkError

BASE = 0x8000_0000
_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")


def linked(kind: int, address: int, *, addend: int = 0, offset: int = 0, machine: int = 183) -> int:
    """The first 8 bytes at `offset` of a function of zeros, with one relocation there against a symbol at `address`."""
    text = bytes(64)
    strings = b"\0main\0far\0"
    symbols = bytes(_SYMBOL.size) + _SYMBOL.pack(1, 0x12, 0, 1, 0, 64) + _SYMBOL.pack(6, 0x10, 0, 0, 0, 0)
    rela = struct.pack("<QQq", offset, 2 << 32 | kind, addend)
    names = b"\0.text\0.rela.text\0.symtab\0.strtab\0"
    parts = [text, rela, symbols, strings, names]
    starts, at = [], 64
    for part in parts:
        starts.append(at)
        at += len(part)
    heads = bytes(_SECTION.size) + b"".join((
        _SECTION.pack(1, 1, 6, 0, starts[0], len(text), 0, 0, 4, 0),
        _SECTION.pack(7, 4, 0, 0, starts[1], len(rela), 3, 1, 8, 24),
        _SECTION.pack(18, 2, 0, 0, starts[2], len(symbols), 4, 1, 8, 24),
        _SECTION.pack(26, 3, 0, 0, starts[3], len(strings), 0, 0, 1, 0),
        _SECTION.pack(26, 3, 0, 0, starts[4], len(names), 0, 0, 1, 0),
    ))  # fmt: skip
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), 1, machine, 1, 0, 0, at, 0, 64, 0, 0, 64, 6, 5)
    image = link_aarch64(header + b"".join(parts) + heads, BASE, "main", {"far": (address, 8)})
    return int.from_bytes(image.segments[0].data[offset : offset + 8], "little")


def page_of(word: int, place: int) -> int:
    """The page that an ADRP at `place` gives."""
    immediate = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    return (place & ~0xFFF) + ((immediate ^ 1 << 20) - (1 << 20) << 12)


@pytest.mark.parametrize("address", [BASE + 0x1234, BASE - 0x7000_0000 + 8, BASE + 0x7FF0_0FF8, BASE])
def test_pages_and_offsets_in_them(address: int) -> None:
    assert page_of(linked(275, address), BASE) == address & ~0xFFF
    assert linked(277, address) == (address & 0xFFF) << 10
    for kind, shift in ((278, 0), (284, 1), (285, 2), (286, 3)):
        aligned = address >> shift << shift
        assert (linked(kind, aligned) >> 10) << shift == aligned & 0xFFF


@pytest.mark.parametrize("distance", [4, -4, 0x7FF_FFFC, -0x800_0000])
def test_calls_and_jumps(distance: int) -> None:
    for kind in (282, 283):
        found = linked(kind, BASE + 8 + distance, offset=8) & (1 << 26) - 1
        assert ((found ^ 1 << 25) - (1 << 25)) * 4 == distance


def test_short_jumps() -> None:
    assert linked(280, BASE - 4) == 0x7FFFF << 5
    assert linked(279, BASE + 12) == 3 << 5


def test_addresses_and_distances() -> None:
    assert linked(257, 0x1234_5678_9ABC, addend=4) == 0x1234_5678_9AC0
    assert linked(260, BASE + 0x1000, offset=16) == 0xFF0
    assert linked(258, BASE) == BASE
    assert linked(261, BASE - 8) == 0xFFFF_FFF8


@pytest.mark.parametrize(
    ("kind", "address", "said"),
    [
        (283, BASE + 0x800_0000, "does not fit 26 bits"),
        (282, BASE + 2, "does not fit 26 bits"),
        (280, BASE + (1 << 20), "does not fit 19 bits"),
        (275, BASE + (1 << 33), "does not fit 21 bits"),
        (286, BASE + 4, "is no multiple of 8"),
        (258, 1 << 33, "does not fit 32 bits"),
        (311, BASE, "relocation type 311 against 'far' is not supported"),
    ],
)
def test_what_does_not_fit_is_refused(kind: int, address: int, said: str) -> None:
    with pytest.raises(LinkError, match=said):
        linked(kind, address)


def test_an_object_for_another_machine_is_refused() -> None:
    with pytest.raises(ElfError, match=r"machine 243; expected type 1 for AArch64 \(183\)"):
        linked(283, BASE, machine=243)
