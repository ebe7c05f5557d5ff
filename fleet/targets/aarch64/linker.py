"""Relocations of AArch64 that LLVM emits for static code in the small code model (ELF for the Arm 64-bit Architecture, 5.7)."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from fleet.targets.riscv.elf import EM_AARCH64, ElfImage, Relocation, Section, read_object
from fleet.targets.riscv.linker import LinkError, Linking

_ABS64, _ABS32, _PREL64, _PREL32 = 257, 258, 260, 261
_PAGE_HI21, _PAGE_HI21_NC, _ADD_LO12 = 275, 276, 277
_LOADS = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""LDST<n>_ABS_LO12_NC: relocation -> the shift of its offset."""
_JUMPS = {282: (26, 0), 283: (26, 0), 280: (19, 5), 279: (14, 5)}
"""Relocation -> bits of the distance in instructions, and where they begin."""


def link_aarch64(object_bytes: bytes, base: int, entry: str, absolute: Mapping[str, tuple[int, int]]) -> ElfImage:
    """Link an AArch64 object; arguments, result and errors as `fleet.targets.riscv.linker.link`."""
    return _Aarch64Linking(read_object(object_bytes, EM_AARCH64), base, absolute).image(entry)


class _Aarch64Linking(Linking):
    def apply(self, section: Section, base: int, relocation: Relocation, high: Mapping[int, Relocation]) -> None:
        """Apply a relocation of a section at an address."""
        place, kind = base + relocation.offset, relocation.type
        symbol = self.source.symbols[relocation.symbol]
        where = f"{section.name}+{relocation.offset:#x}"
        value = self.value(symbol, where) + relocation.addend
        target, offset = self.bytes_at(place)
        if kind in (_ABS64, _PREL64):
            struct.pack_into("<Q", target, offset, (value - (place if kind == _PREL64 else 0)) & (1 << 64) - 1)
        elif kind in (_ABS32, _PREL32):
            distance = value - (place if kind == _PREL32 else 0)
            if not -(1 << 31) <= distance < 1 << 32:
                raise LinkError(f"{distance:#x} does not fit 32 bits", where=where)
            struct.pack_into("<I", target, offset, distance & 0xFFFF_FFFF)
        elif kind in (_PAGE_HI21, _PAGE_HI21_NC):
            pages = (value >> 12) - (place >> 12)
            if not -(1 << 20) <= pages < 1 << 20:
                raise LinkError(f"a distance of {pages} pages does not fit 21 bits", where=where)
            _or(target, offset, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)
        elif kind == _ADD_LO12:
            _or(target, offset, (value & 0xFFF) << 10)
        elif kind in _LOADS:
            shift = _LOADS[kind]
            if value & (1 << shift) - 1:
                raise LinkError(f"address {value:#x} is no multiple of {1 << shift}", where=where)
            _or(target, offset, (value & 0xFFF) >> shift << 10)
        elif kind in _JUMPS:
            bits, first = _JUMPS[kind]
            distance = value - place
            if distance & 3 or not -(1 << bits + 1) <= distance < 1 << bits + 1:
                raise LinkError(f"a jump over {distance} bytes does not fit {bits} bits", where=where)
            _or(target, offset, (distance >> 2 & (1 << bits) - 1) << first)
        else:
            raise LinkError(f"relocation type {kind} against {symbol.name!r} is not supported", where=where)


def _or(target: bytearray, offset: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", target, offset)
    struct.pack_into("<I", target, offset, word | bits)
