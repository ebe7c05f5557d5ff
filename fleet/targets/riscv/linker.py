"""A small static linker: one relocatable object plus a table of absolute symbols -> an image at a fixed address.

It applies the relocations of the RISC-V ELF psABI (version 1.0, chapter "Relocations") that LLVM emits for static code in the
medium code model without linker relaxation. An unknown relocation, an undefined symbol or a value that does not fit its field is an
error with the place; nothing stays silently unpatched.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from fleet.errors import FleetError
from fleet.targets.riscv.elf import (
    PF_R,
    PF_W,
    PF_X,
    SHF_ALLOC,
    SHF_EXEC,
    SHF_WRITE,
    SHT_NOBITS,
    STT_FUNC,
    ElfImage,
    LoadSegment,
    ObjectFile,
    ObjectSymbol,
    Relocation,
    Section,
    Symbol,
    read_object,
)

PAGE = 0x1000

RELOCATIONS: dict[int, str] = {
    0: "NONE", 1: "32", 2: "64", 16: "BRANCH", 17: "JAL", 18: "CALL", 19: "CALL_PLT",
    23: "PCREL_HI20", 24: "PCREL_LO12_I", 25: "PCREL_LO12_S", 26: "HI20", 27: "LO12_I", 28: "LO12_S",
    33: "ADD8", 34: "ADD16", 35: "ADD32", 36: "ADD64", 37: "SUB8", 38: "SUB16", 39: "SUB32", 40: "SUB64",
    44: "RVC_BRANCH", 45: "RVC_JUMP", 51: "RELAX", 52: "SUB6", 53: "SET6", 54: "SET8", 55: "SET16", 56: "SET32",
    57: "32_PCREL",
}  # fmt: skip
"""The relocation types that `link` applies, number -> psABI name."""

_ADDS = {33: 1, 34: 2, 35: 4, 36: 8}
_SUBS = {37: 1, 38: 2, 39: 4, 40: 8}
_SETS = {54: 1, 55: 2, 56: 4}


class LinkError(FleetError):
    """The object cannot be linked: unknown relocation, undefined symbol, or a distance that does not fit."""


def link(object_bytes: bytes, base: int, entry: str, absolute: Mapping[str, tuple[int, int]]) -> ElfImage:
    """Link an object.

    Args:
        object_bytes: an ELF64 RISC-V relocatable object.
        base: address of the code; data follows on the next page boundary.
        entry: name of the function where execution starts.
        absolute: symbols that the object leaves undefined: name -> (address, size in bytes).

    Returns:
        Segments ".text" (code and constants, read and execute) and, if there is data, ".data" (read and write); the object's
        functions and data and the absolute symbols, all as symbols.

    Raises:
        ElfError: not such an object.
        LinkError: it cannot be linked.
    """
    return Linking(read_object(object_bytes), base, absolute).image(entry)


def _signed(value: int, bits: int, where: str) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise LinkError(
            f"a distance of {value} bytes does not fit {bits} bits",
            where=where,
            hint="the model is too large for the medium code model",
        )
    return value


class Linking:
    """One run of the linker: places sections, copies them and applies RISC-V's relocations (`apply`)."""

    def __init__(self, source: ObjectFile, base: int, absolute: Mapping[str, tuple[int, int]]) -> None:
        self.source = source
        self.absolute = absolute
        self.address: dict[int, int] = {}
        groups = [self._group(lambda s: bool(s.flags & SHF_EXEC)), self._group(lambda s: not s.flags & (SHF_EXEC | SHF_WRITE))]
        writable = self._group(lambda s: bool(s.flags & SHF_WRITE) and not s.flags & SHF_EXEC)
        filled = [i for i in writable if source.sections[i].type != SHT_NOBITS]
        empty = [i for i in writable if source.sections[i].type == SHT_NOBITS]
        self.base, self.text_end = base, self._place([*groups[0], *groups[1]], base)
        self.data_base = -(-self.text_end // PAGE) * PAGE
        self.data_end = self._place(filled, self.data_base)
        self.bss_end = self._place(empty, self.data_end)
        self.text = bytearray(self.text_end - base)
        self.data = bytearray(self.data_end - self.data_base)

    def _group(self, test: Callable[[Section], bool]) -> list[int]:
        return [
            i for i, s in enumerate(self.source.sections) if s.flags & SHF_ALLOC and s.size and s.name != ".eh_frame" and test(s)
        ]

    def _place(self, group: list[int], address: int) -> int:
        for i in group:
            section = self.source.sections[i]
            address = -(-address // section.align) * section.align
            self.address[i] = address
            address += section.size
        return address

    def bytes_at(self, address: int) -> tuple[bytearray, int]:
        """Return the bytes of the image that hold an address, and the offset in them."""
        return (self.text, address - self.base) if address < self.text_end else (self.data, address - self.data_base)

    def value(self, symbol: ObjectSymbol, where: str) -> int:
        """Return the address of a symbol. Raises LinkError if it has none."""
        if symbol.section is None:
            if symbol.name not in self.absolute:
                raise LinkError(
                    f"undefined symbol {symbol.name!r}", where=where, hint="generated code may call nothing outside itself"
                )
            return self.absolute[symbol.name][0]
        if symbol.section == -1:
            return symbol.value
        if symbol.section not in self.address:
            raise LinkError(
                f"symbol {symbol.name!r} is in section {self.source.sections[symbol.section].name}, which is not loaded",
                where=where,
            )
        return self.address[symbol.section] + symbol.value

    def image(self, entry: str) -> ElfImage:
        """Return the image. Raises LinkError."""
        for i, address in self.address.items():
            section = self.source.sections[i]
            if section.type != SHT_NOBITS:
                target, offset = self.bytes_at(address)
                target[offset : offset + section.size] = section.data
        for i, address in self.address.items():
            # The value of a PCREL_LO12 is that of the PCREL_HI20 at the label that it names.
            high = {address + r.offset: r for r in self.source.sections[i].relocations if r.type == 23}
            for relocation in self.source.sections[i].relocations:
                self.apply(self.source.sections[i], address, relocation, high)
        segments = [LoadSegment(".text", self.base, bytes(self.text), len(self.text), PF_R | PF_X)]
        if self.bss_end > self.data_base:
            segments.append(LoadSegment(".data", self.data_base, bytes(self.data), self.bss_end - self.data_base, PF_R | PF_W))
        symbols = [
            Symbol(s.name, self.address[s.section] + s.value, s.size, s.type == STT_FUNC)
            for s in self.source.symbols
            if s.name and s.size and s.section is not None and s.section in self.address
        ]
        symbols += [Symbol(name, address, size, function=False) for name, (address, size) in self.absolute.items()]
        for symbol in symbols:
            if symbol.name == entry:
                return ElfImage(symbol.address, tuple(segments), tuple(symbols))
        raise LinkError(f"the object does not define its entry {entry!r}")

    def apply(self, section: Section, base: int, relocation: Relocation, high: Mapping[int, Relocation]) -> None:
        """Apply a relocation of a section at an address. high: address -> PCREL_HI20 there."""
        place = base + relocation.offset
        symbol = self.source.symbols[relocation.symbol]
        where = f"{section.name}+{relocation.offset:#x}"
        kind = relocation.type
        if kind not in RELOCATIONS:
            raise LinkError(f"relocation type {kind} against {symbol.name!r} is not supported", where=where)
        if kind in (0, 51):
            return
        value = self.value(symbol, where) + relocation.addend
        if kind in (24, 25):
            source = high.get(value)
            if source is None:
                raise LinkError(f"no PCREL_HI20 at {symbol.name!r}, which a PCREL_LO12 names", where=where)
            value = self.value(self.source.symbols[source.symbol], where) + source.addend - value
        elif kind in (16, 17, 18, 19, 23, 44, 45, 57):
            value -= place
        target, offset = self.bytes_at(place)
        _patch(target, offset, kind, value, where)


def _patch(target: bytearray, offset: int, kind: int, value: int, where: str) -> None:
    if kind in (1, 57, 2):
        if kind == 57:
            _signed(value, 32, where)
        if kind == 1 and not -(1 << 31) <= value < 1 << 32:
            raise LinkError(f"address {value:#x} does not fit 32 bits", where=where)
        size = 8 if kind == 2 else 4
        target[offset : offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    elif kind in _ADDS or kind in _SUBS or kind in _SETS:
        size = _ADDS.get(kind) or _SUBS.get(kind) or _SETS[kind]
        old = int.from_bytes(target[offset : offset + size], "little")
        new = value if kind in _SETS else old + value if kind in _ADDS else old - value
        target[offset : offset + size] = (new & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    elif kind in (52, 53):
        old = target[offset]
        new = value if kind == 53 else old - value
        target[offset] = (old & 0xC0) | (new & 0x3F)
    elif kind in (18, 19):
        _signed(value + 0x800, 32, where)
        _or32(target, offset, _upper(value))
        _or32(target, offset + 4, (value & 0xFFF) << 20)
    elif kind in (23, 26):
        _signed(value + 0x800, 32, where)
        _or32(target, offset, _upper(value))
    elif kind in (24, 27):
        _or32(target, offset, (value & 0xFFF) << 20)
    elif kind in (25, 28):
        _or32(target, offset, (value >> 5 & 0x7F) << 25 | (value & 0x1F) << 7)
    else:
        _patch_jump(target, offset, kind, value, where)


def _patch_jump(target: bytearray, offset: int, kind: int, value: int, where: str) -> None:
    def bit(n: int, to: int, width: int = 1) -> int:
        return (value >> n & ((1 << width) - 1)) << to

    if value & 1:
        raise LinkError(f"a jump over an odd distance of {value} bytes", where=where)
    if kind == 16:
        _signed(value, 13, where)
        _or32(target, offset, bit(12, 31) | bit(5, 25, 6) | bit(1, 8, 4) | bit(11, 7))
    elif kind == 17:
        _signed(value, 21, where)
        _or32(target, offset, bit(20, 31) | bit(1, 21, 10) | bit(11, 20) | bit(12, 12, 8))
    elif kind == 44:
        _signed(value, 9, where)
        _or16(target, offset, bit(8, 12) | bit(3, 10, 2) | bit(6, 5, 2) | bit(1, 3, 2) | bit(5, 2))
    else:
        _signed(value, 12, where)
        fields = bit(11, 12) | bit(4, 11) | bit(8, 9, 2) | bit(10, 8) | bit(6, 7) | bit(7, 6) | bit(1, 3, 3) | bit(5, 2)
        _or16(target, offset, fields)


def _upper(value: int) -> int:
    """Return the bits of a U-type immediate such that adding the sign-extended low 12 bits gives `value`."""
    return (value + 0x800) & 0xFFFFF000


def _or32(target: bytearray, offset: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", target, offset)
    struct.pack_into("<I", target, offset, word | bits)


def _or16(target: bytearray, offset: int, bits: int) -> None:
    (word,) = struct.unpack_from("<H", target, offset)
    struct.pack_into("<H", target, offset, word | bits)
