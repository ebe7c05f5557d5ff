"""The linker: immediates read back by a decoder written from the ISA manual, whole programs run, and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fleet.engines.riscv_emulators.unicorn import UnicornEmulator
from fleet.targets.riscv import compile as compiler
from fleet.targets.riscv.codegen import DATA_LAYOUT
from fleet.targets.riscv.elf import ElfImage
from fleet.targets.riscv.linker import RELOCATIONS, LinkError, link

BASE = 0x8000_0000


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def field(word: int, *pieces: tuple[int, int, int], bits: int) -> int:
    """A sign-extended immediate from (highest bit, lowest bit, place in the immediate) pieces."""
    return signed(sum((word >> low & ((1 << (high - low + 1)) - 1)) << to for high, low, to in pieces), bits)


def upper_pair(code: bytes, low: Callable[[int], int]) -> int:
    first, second = struct.unpack("<II", code)
    return signed(first & 0xFFFFF000, 32) + low(second)


def i_type(word: int) -> int:
    return field(word, (31, 20, 0), bits=12)


def s_type(word: int) -> int:
    return field(word, (31, 25, 5), (11, 7, 0), bits=12)


def b_type(code: bytes) -> int:
    return field(*struct.unpack("<I", code), (31, 31, 12), (30, 25, 5), (11, 8, 1), (7, 7, 11), bits=13)


def j_type(code: bytes) -> int:
    return field(*struct.unpack("<I", code), (31, 31, 20), (30, 21, 1), (20, 20, 11), (19, 12, 12), bits=21)


def cj_type(code: bytes) -> int:
    pieces = ((12, 12, 11), (11, 11, 4), (10, 9, 8), (8, 8, 10), (7, 7, 6), (6, 6, 7), (5, 3, 1), (2, 2, 5))
    return field(*struct.unpack("<H", code), *pieces, bits=12)


def cb_type(code: bytes) -> int:
    return field(*struct.unpack("<H", code), (12, 12, 8), (11, 10, 3), (6, 5, 6), (4, 3, 1), (2, 2, 5), bits=9)


def make_object(code: bytes, relocations: list[tuple[int, int, int, int]], symbols: list[tuple[str, int | None]]) -> bytes:
    """An object with one code section; symbols are (name, offset in the code or None for undefined), from index 1."""
    names = b"\0"
    table = bytes(24)
    for name, value in symbols:
        table += struct.pack(
            "<IBBHQQ", len(names), 0x12, 0, 0 if value is None else 1, value or 0, len(code) if name == "main" else 0
        )
        names += name.encode() + b"\0"
    rela = b"".join(struct.pack("<QQq", offset, symbol << 32 | kind, addend) for offset, kind, symbol, addend in relocations)
    titles = b"\0.text\0.rela\0.symtab\0.strtab\0"
    blobs = [code, rela, table, names, titles]
    offsets = [64 + sum(len(b) for b in blobs[:i]) for i in range(len(blobs))]
    headers = bytes(64)
    for i, (title, kind, flags, link_, info) in enumerate(
        [(1, 1, 6, 0, 0), (7, 4, 0, 3, 1), (13, 2, 0, 4, 1), (21, 3, 0, 0, 0), (21, 3, 0, 0, 0)]
    ):
        headers += struct.pack("<IIQQQQIIQQ", title, kind, flags, 0, offsets[i], len(blobs[i]), link_, info, 2, 24)
    start = offsets[-1] + len(titles)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 243, 1, 0, 0, start, 5, 64, 0, 0, 64, 6, 5)
    return header + b"".join(blobs) + headers


def linked(code: bytes, kind: int, target: int, extra: list[tuple[int, int, int, int]] | None = None) -> bytes:
    """The code after one relocation of `kind` at its start against a symbol at address `target`."""
    symbols: list[tuple[str, int | None]] = [("main", 0), ("there", None)]
    image = link(make_object(code, [(0, kind, 2, 0), *(extra or [])], symbols), BASE, "main", {"there": (target, 8)})
    return image.segments[0].data


JUMPS = [
    (16, struct.pack("<I", 0x00B50063), b_type, 4094),  # beq a0, a1
    (17, struct.pack("<I", 0x000000EF), j_type, (1 << 20) - 2),  # jal ra
    (44, struct.pack("<H", 0xC101), cb_type, 254),  # c.beqz a0
    (45, struct.pack("<H", 0xA001), cj_type, 2046),  # c.j
]


@pytest.mark.parametrize(("kind", "code", "decode", "reach"), JUMPS)
def test_jumps(kind: int, code: bytes, decode: Callable[[bytes], int], reach: int) -> None:
    rng = np.random.default_rng(40)
    for distance in [reach, -reach - 2, 0, 2, -2, *(rng.integers(-reach // 2, reach // 2, 50) * 2).tolist()]:
        data = linked(code, kind, BASE + distance)
        assert decode(data) == distance
        registers = int.from_bytes(data, "little") & int.from_bytes(code, "little")
        assert registers == int.from_bytes(code, "little"), "the opcode and registers stay"
    for distance in (reach + 2, -reach - 4):
        with pytest.raises(LinkError, match="does not fit"):
            linked(code, kind, BASE + distance)
    with pytest.raises(LinkError, match="odd distance"):
        linked(code, kind, BASE + 1)


@pytest.mark.parametrize("kind", [18, 19])
def test_calls(kind: int) -> None:
    code = struct.pack("<II", 0x00000097, 0x000080E7)  # auipc ra; jalr ra
    for distance in (0, 0x7FF, 0x800, 0xFFF, 0x1000, -1 & ~1, -0x800, 0x7000_0000, -0x7000_0000, 0x7FFF_F7FE):
        assert upper_pair(linked(code, kind, BASE + distance), i_type) == distance
    with pytest.raises(LinkError, match="does not fit"):
        linked(code, kind, BASE + 0x7FFF_F800)


@pytest.mark.parametrize(
    ("high", "low", "words", "decode", "origin"),
    [
        (23, 24, (0x00000517, 0x00052503), i_type, BASE),  # auipc a0; lw a0, (a0)
        (23, 25, (0x00000517, 0x00B52023), s_type, BASE),  # auipc a0; sw a1, (a0)
        (26, 27, (0x00000537, 0x00052503), i_type, 0),  # lui a0; lw a0, (a0)
        (26, 28, (0x00000537, 0x00B52023), s_type, 0),
    ],
)
def test_address_pairs(high: int, low: int, words: tuple[int, int], decode: Callable[[int], int], origin: int) -> None:
    relative = high == 23
    # The low half of a relative pair names the label of its auipc (here: main), not the target.
    extra = [(4, low, 1 if relative else 2, 0)]
    for distance in (0, 1, 0x7FF, 0x800, 0x801, 0xFFF, 0x1234_5678, 0x7FFF_F7FF):
        data = linked(struct.pack("<II", *words), high, origin + distance, extra)
        assert upper_pair(data, decode) == distance
    if relative:
        with pytest.raises(LinkError, match="no PCREL_HI20"):
            linked(struct.pack("<II", *words), 0, BASE, extra)


def test_data_words_and_differences() -> None:
    symbols: list[tuple[str, int | None]] = [("main", 0), ("there", None)]
    relocations = [(0, 1, 2, 4), (8, 2, 2, -1), (16, 57, 2, 0), (20, 35, 2, 0), (20, 39, 1, 0), (24, 36, 2, 0), (24, 40, 1, 0)]
    relocations += [
        (32, 54, 2, 0),
        (33, 33, 2, 1),
        (34, 55, 2, 0),
        (36, 56, 2, 0),
        (40, 53, 2, 0),
        (41, 52, 2, 0),
        (42, 34, 2, 0),
        (44, 37, 2, 0),
        (46, 38, 2, 0),
    ]
    target = BASE + 0x12345
    image = link(make_object(bytes(40) + b"\xc0\xff" + bytes(6), relocations, symbols), BASE, "main", {"there": (target, 8)})
    data = image.segments[0].data
    assert struct.unpack_from("<I4xQiiq", data) == (target + 4, target - 1, 0x12345 - 16, 0x12345, 0x12345)
    assert struct.unpack_from("<BBHI", data, 32) == (0x45, 0x46, 0x2345, target)
    assert data[40] == 0xC0 | 0x05
    assert data[41] == 0xC0 | (0x3F - 0x05)
    assert struct.unpack_from("<HBxH", data, 42) == (0x2345, (-0x45) & 0xFF, -0x2345 & 0xFFFF)


def test_an_address_of_32_bits() -> None:
    assert linked(bytes(8), 1, (1 << 32) - 1)[:4] == b"\xff" * 4
    for kind, target in ((1, 1 << 32), (57, BASE + (1 << 31)), (57, BASE - (1 << 31) - 1)):
        with pytest.raises(LinkError, match="does not fit 32 bits"):
            linked(bytes(8), kind, target)


def test_every_unknown_relocation_is_an_error() -> None:
    for kind in (3, 12, 20, 21, 22, 29, 30, 41, 43, 46, 58, 59, 60, 65, 191, 200):
        assert kind not in RELOCATIONS
        with pytest.raises(LinkError, match=rf"\.text\+0x0: relocation type {kind} against 'there' is not supported"):
            linked(bytes(8), kind, BASE)


def test_undefined_symbols_and_missing_entries_are_errors() -> None:
    source = make_object(bytes(8), [(0, 2, 2, 0)], [("main", 0), ("elsewhere", None)])
    with pytest.raises(LinkError, match="undefined symbol 'elsewhere'"):
        link(source, BASE, "main", {})
    with pytest.raises(LinkError, match="does not define its entry 'start'"):
        link(source, BASE, "start", {"elsewhere": (0, 0)})


PROGRAM = (
    f'target datalayout = "{DATA_LAYOUT}"'
    + """
target triple = "riscv64-unknown-elf"
@where = external global [64 x i8]
@table = internal constant [4 x double] [double 1.5, double 2.5, double -3.25, double 1.0e10]
@counter = internal global i64 5
@zeros = internal global [8 x i64] zeroinitializer
define void @main() nounwind {
entry:
  %n = load i64, ptr @where
  %out = getelementptr i8, ptr @where, i64 8
  %slot = getelementptr [4 x double], ptr @table, i64 0, i64 %n
  %x = load double, ptr %slot
  %y = fmul double %x, 0x3FF199999999999A
  store double %y, ptr %out
  %old = load i64, ptr @counter
  %new = add i64 %old, %n
  store i64 %new, ptr @counter
  %z = getelementptr [8 x i64], ptr @zeros, i64 0, i64 %n
  store i64 %new, ptr %z
  switch i64 %n, label %other [
    i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e  i64 5, label %f ]
a:
  call void @put(i64 11)
  br label %done
b:
  call void @put(i64 12345678901)
  br label %done
c:
  %w = load volatile i64, ptr %z
  call void @put(i64 %w)
  br label %done
d:
  call void @put(i64 -7)
  ret void
e:
  call void @put(i64 8)
  br label %done
f:
  call void @put(i64 9)
  br label %done
other:
  call void @put(i64 99)
  br label %done
done:
  ret void
}
define void @put(i64 %v) noinline nounwind {
  %p = getelementptr i8, ptr @where, i64 16
  store volatile i64 %v, ptr %p
  ret void
}
"""
)


def build(text: str, where: int) -> ElfImage:
    module, machine = compiler.optimised(text)
    return link(bytes(machine.emit_object(module)), BASE, "main", {"where": (where, 64)})


@pytest.mark.parametrize(("n", "put"), [(0, 11), (1, 12345678901), (2, 7), (3, -7)])
def test_a_program_with_tables_constants_data_and_jump_table_runs(n: int, put: int) -> None:
    where = BASE + 0x10_0000
    image = build(PROGRAM, where)
    assert [s.name for s in image.segments] == [".text", ".data"]
    machine: Any = UnicornEmulator()
    machine.load(image)
    machine.map(where, 4096, writable=True)
    machine.map(where + 0x2000, 4096, writable=True)
    machine.write(where, struct.pack("<Q", n))
    execution = machine.run(image.entry, where + 0x3000, limit=1000)
    assert struct.unpack("<dq", machine.read(where + 8, 16)) == ((1.5, 2.5, -3.25, 1.0e10)[n] * 1.1, put)
    assert struct.unpack("<q", machine.read(image.symbol("counter").address, 8)) == (5 + n,)
    assert execution.by_symbol["put"] == 3  # auipc, sd, ret
    assert execution.instructions == sum(execution.by_symbol.values())


def test_data_that_begins_as_zeros_alone_has_room() -> None:
    text = "@room = global [16 x i64] zeroinitializer\ndefine void @main() {\n"
    text += "%p = getelementptr [16 x i64], ptr @room, i64 0, i64 3\nstore volatile i64 5, ptr %p\nret void\n}\n"
    image = build(text, BASE + 0x10_0000)
    assert [(s.name, s.data) for s in image.segments[1:]] == [(".data", b"")]
    machine: Any = UnicornEmulator()
    machine.load(image)
    machine.map(BASE + 0x20_0000, 4096, writable=True)
    machine.run(image.entry, BASE + 0x20_1000, limit=100)
    assert struct.unpack("<q", machine.read(image.symbol("room").address + 24, 8)) == (5,)
