"""ELF64 for RISC-V: reads relocatable objects, writes and reads linked images.

Supports only what the linker and the emulators need, as defined by the ELF gABI and the RISC-V psABI. A linked image on disk is an
ordinary ELF executable, which readelf, a debugger or another emulator can open.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet.errors import FleetError

SHF_WRITE, SHF_ALLOC, SHF_EXEC = 1, 2, 4
PF_X, PF_W, PF_R = 1, 2, 4
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS = 1, 2, 3, 4, 8
STT_OBJECT, STT_FUNC = 1, 2
STB_GLOBAL = 1
EM_RISCV, EM_AARCH64 = 243, 183
EF_RVC_DOUBLE = 0x5
_ET_REL, _ET_EXEC = 1, 2
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_MACHINES = {EM_RISCV: "RISC-V", EM_AARCH64: "AArch64"}
_LARGEST = 1 << 31
_IDENT = b"\x7fELF\x02\x01\x01" + bytes(9)


class ElfError(FleetError):
    """The file is not the expected kind of ELF file."""


@dataclass(frozen=True)
class Relocation:
    """One entry of a RELA section. offset: in the section it applies to; symbol: index in the symbol table."""

    offset: int
    type: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class Section:
    """One section of an object; `relocations` are those that apply to it."""

    name: str
    type: int
    flags: int
    align: int
    size: int
    data: bytes
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True)
class ObjectSymbol:
    """One symbol of an object. section: index of its section, None if undefined, -1 if absolute."""

    name: str
    value: int
    size: int
    type: int
    section: int | None


@dataclass(frozen=True)
class ObjectFile:
    """A relocatable object: its sections (index 0 is the null section) and symbols (likewise)."""

    sections: tuple[Section, ...]
    symbols: tuple[ObjectSymbol, ...]


@dataclass(frozen=True)
class LoadSegment:
    """A loadable range: `data` at `address`, zero-filled to `size`; `flags` of PF_X, PF_W, PF_R; `name` of the section."""

    name: str
    address: int
    data: bytes
    size: int
    flags: int


@dataclass(frozen=True)
class Symbol:
    """A symbol of a linked image; `function` distinguishes code from data."""

    name: str
    address: int
    size: int
    function: bool


@dataclass(frozen=True)
class ElfImage:
    """A linked program: entry point, loadable ranges, and symbols."""

    entry: int
    segments: tuple[LoadSegment, ...]
    symbols: tuple[Symbol, ...]

    def symbol(self, name: str) -> Symbol:
        """Return the symbol called `name`. Raises ElfError if the image has none."""
        for symbol in self.symbols:
            if symbol.name == name:
                return symbol
        raise ElfError(f"the image has no symbol {name!r}", hint="compile the model again")


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode("utf-8", "replace")


def _cut(blob: bytes, offset: int, size: int, what: str) -> bytes:
    if offset + size > len(blob):
        raise ElfError(f"truncated ELF: {what} reaches to byte {offset + size} of {len(blob)}")
    return blob[offset : offset + size]


def _header(blob: bytes, kind: int, machine: int) -> tuple[int, ...]:
    fields = _HEADER.unpack(_cut(blob, 0, _HEADER.size, "the header"))
    if fields[0][:7] != _IDENT[:7]:
        raise ElfError("not a little-endian ELF64 file")
    if fields[1] != kind or fields[2] != machine:
        raise ElfError(f"ELF type {fields[1]} for machine {fields[2]}; expected type {kind} for {_MACHINES[machine]} ({machine})")
    return fields[1:]


def _sections(blob: bytes, offset: int, count: int) -> list[tuple[int, ...]]:
    return [_SECTION.unpack(_cut(blob, offset + i * _SECTION.size, _SECTION.size, "a section header")) for i in range(count)]


def read_object(blob: bytes, machine: int = EM_RISCV) -> ObjectFile:
    """Read a relocatable object for a machine. Raises ElfError if it is another file or truncated."""
    try:
        return _read_object(blob, machine)
    except (struct.error, IndexError) as error:
        raise ElfError(f"a damaged {_MACHINES[machine]} object ({error})") from error


def _read_object(blob: bytes, machine: int) -> ObjectFile:
    header = _header(blob, _ET_REL, machine)
    raw = _sections(blob, header[5], header[11])
    names = _cut(blob, raw[header[12]][4], raw[header[12]][5], "the section names")
    relocations: dict[int, list[Relocation]] = {}
    symbols: list[ObjectSymbol] = []
    for _, type_, _, _, offset, size, link, info, _, _ in raw:
        if type_ == SHT_RELA:
            for at, ref, addend in _RELA.iter_unpack(_cut(blob, offset, size, "relocations")):
                relocations.setdefault(info, []).append(Relocation(at, ref & 0xFFFFFFFF, ref >> 32, addend))
        elif type_ == SHT_SYMTAB:
            strings = _cut(blob, raw[link][4], raw[link][5], "the symbol names")
            for name, kind, _, place, value, length in _SYMBOL.iter_unpack(_cut(blob, offset, size, "symbols")):
                section = None if place == 0 else -1 if place >= 0xFF00 else place
                symbols.append(ObjectSymbol(_string(strings, name), value, length, kind & 15, section))
    sections = tuple(
        Section(
            name=_string(names, name),
            type=type_,
            flags=flags,
            align=max(1, align),
            size=size,
            data=b"" if type_ in (0, SHT_NOBITS) else _cut(blob, offset, size, "a section"),
            relocations=tuple(relocations.get(i, ())),
        )
        for i, (name, type_, flags, _, offset, size, _, _, align, _) in enumerate(raw)
    )
    return ObjectFile(sections, tuple(symbols))


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")

    def add(self, text: str) -> int:
        offset = len(self.data)
        self.data += text.encode() + b"\0"
        return offset


def _section_of(symbol: Symbol, segments: Sequence[LoadSegment]) -> int:
    for i, segment in enumerate(segments):
        if segment.address <= symbol.address < segment.address + max(1, segment.size):
            return i + 1
    return 0xFFF1  # SHN_ABS


def write_image(image: ElfImage, notes: Mapping[str, bytes] | None = None) -> bytes:
    """Return the image as an ELF64 executable: a section and a loadable segment for each `LoadSegment`, and a symbol table.

    notes: name -> content of sections that are not loaded.
    """
    page = 0x1000
    count = len(image.segments)
    blob = bytearray(_HEADER.size + count * _PROGRAM.size)
    names = _Strings()
    headers = [bytes(_SECTION.size)]
    programs = bytearray()
    for segment in image.segments:
        blob += bytes(-len(blob) % page)  # p_offset and p_vaddr must agree modulo the page
        offset = len(blob)
        blob += segment.data
        programs += _PROGRAM.pack(1, segment.flags, offset, *[segment.address] * 2, len(segment.data), segment.size, page)
        flags = SHF_ALLOC | (SHF_EXEC if segment.flags & PF_X else 0) | (SHF_WRITE if segment.flags & PF_W else 0)
        type_ = SHT_PROGBITS if segment.data else SHT_NOBITS
        headers.append(_SECTION.pack(names.add(segment.name), type_, flags, segment.address, offset, segment.size, 0, 0, 64, 0))
    blob[_HEADER.size : _HEADER.size + len(programs)] = programs
    strings = _Strings()
    table = bytearray(_SYMBOL.size)
    for symbol in image.symbols:
        info = STB_GLOBAL << 4 | (STT_FUNC if symbol.function else STT_OBJECT)
        place = _section_of(symbol, image.segments)
        table += _SYMBOL.pack(strings.add(symbol.name), info, 0, place, symbol.address, symbol.size)
    blob += bytes(-len(blob) % 8)
    headers.append(_SECTION.pack(names.add(".symtab"), SHT_SYMTAB, 0, 0, len(blob), len(table), count + 2, 1, 8, _SYMBOL.size))
    blob += table
    headers.append(_SECTION.pack(names.add(".strtab"), SHT_STRTAB, 0, 0, len(blob), len(strings.data), 0, 0, 1, 0))
    blob += strings.data
    for title, data in (notes or {}).items():
        headers.append(_SECTION.pack(names.add(title), SHT_PROGBITS, 0, 0, len(blob), len(data), 0, 0, 1, 0))
        blob += data
    name = names.add(".shstrtab")
    headers.append(_SECTION.pack(name, SHT_STRTAB, 0, 0, len(blob), len(names.data), 0, 0, 1, 0))
    blob += names.data
    blob += bytes(-len(blob) % 8)
    tables = len(blob)
    blob += b"".join(headers)
    blob[: _HEADER.size] = _HEADER.pack(
        _IDENT, _ET_EXEC, EM_RISCV, 1, image.entry, _HEADER.size, tables, EF_RVC_DOUBLE,
        _HEADER.size, _PROGRAM.size, count, _SECTION.size, len(headers), len(headers) - 1,
    )  # fmt: skip
    return bytes(blob)


def read_image(blob: bytes) -> ElfImage:
    """Read what `write_image` wrote. Raises ElfError if the file is not a complete RISC-V executable."""
    try:
        return _read_image(blob)
    except (struct.error, IndexError) as error:
        raise ElfError(f"a damaged RISC-V executable ({error})") from error


def read_note(blob: bytes, name: str) -> bytes | None:
    """Return the content of a section of a RISC-V executable that is not loaded, None if there is none. Raises ElfError."""
    try:
        header = _header(blob, _ET_EXEC, EM_RISCV)
        raw = _sections(blob, header[5], header[11])
        names = _cut(blob, raw[header[12]][4], raw[header[12]][5], "the section names")
        found = next((s for s in raw if s[1] == SHT_PROGBITS and not s[2] & SHF_ALLOC and _string(names, s[0]) == name), None)
        return None if found is None else _cut(blob, found[4], found[5], f"the section {name}")
    except (struct.error, IndexError) as error:
        raise ElfError(f"a damaged RISC-V executable ({error})") from error


def _read_image(blob: bytes) -> ElfImage:
    header = _header(blob, _ET_EXEC, EM_RISCV)
    entry, programs, tables, count, sections = header[3], header[4], header[5], header[9], header[11]
    raw = _sections(blob, tables, sections)
    if not count or not raw or header[12] >= len(raw):
        raise ElfError("an executable without segments or sections")
    names = _cut(blob, raw[header[12]][4], raw[header[12]][5], "the section names")
    at = {section[3]: _string(names, section[0]) for section in raw if section[2] & SHF_ALLOC}
    segments: list[LoadSegment] = []
    for i in range(count):
        piece = _cut(blob, programs + i * _PROGRAM.size, _PROGRAM.size, "a program header")
        kind, flags, offset, address, _, filled, size, _ = _PROGRAM.unpack(piece)
        if kind == 1:
            if filled > size or size > _LARGEST or address > (1 << 63):
                raise ElfError(f"segment {i} has {filled} of {size} bytes at {address:#x}; expected at most {_LARGEST}")
            segments.append(
                LoadSegment(at.get(address, f"segment{i}"), address, _cut(blob, offset, filled, f"segment {i}"), size, flags)
            )
    if not any(segment.flags & PF_X and segment.data for segment in segments):
        raise ElfError("an executable without code")
    symbols: list[Symbol] = []
    for _, type_, _, _, offset, size, link, _, _, _ in raw:
        if type_ == SHT_SYMTAB and link < len(raw) and size % _SYMBOL.size == 0:
            strings = _cut(blob, raw[link][4], raw[link][5], "the symbol names")
            for name, info, _, _, value, length in _SYMBOL.iter_unpack(_cut(blob, offset, size, "symbols")):
                if name:
                    symbols.append(Symbol(_string(strings, name), value, length, info & 15 == STT_FUNC))
    return ElfImage(entry, tuple(segments), tuple(symbols))
