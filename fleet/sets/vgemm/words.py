"""The 128-bit words of vgemm as structures: what `vgemm.rdl` says of their bits, in Python.

Fields of a call are the four 32-bit parts of the word (`load_w0` ... `load_w3`) and `cmd_start`, which has the opcode again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

__all__ = ["AluOp", "Flags", "Loops", "MemoryType", "Opcode", "Transfer", "finish_fields", "raw_words"]


class Opcode(IntEnum):
    """The lowest three bits of a word, and the value of the start register."""

    LOAD = 1
    STORE = 2
    GEMM = 3
    ALU = 4
    FINISH = 5


class MemoryType(IntEnum):
    """The scratchpad of a transfer. OUT: the lowest byte of each accumulator."""

    UOP = 0
    WGT = 1
    INP = 2
    ACC = 3
    OUT = 4


class AluOp(IntEnum):
    """What ALU does with an accumulator and its second operand."""

    MIN = 0
    MAX = 1
    ADD = 2
    SHR = 3
    MUL = 4


@dataclass(frozen=True)
class Flags:
    """Tokens that an instruction takes before it begins, and gives at its end."""

    pop_prev: bool = False
    pop_next: bool = False
    push_prev: bool = False
    push_next: bool = False

    def bits(self) -> int:
        """In their place of the first register."""
        return self.pop_prev << 3 | self.pop_next << 4 | self.push_prev << 5 | self.push_next << 6

    @classmethod
    def of(cls, word: int) -> Flags:
        """Out of the first register."""
        return cls(*(bool(word >> n & 1) for n in (3, 4, 5, 6)))


def raw_words(name: str, fields: Mapping[str, int]) -> tuple[int, int, int, int]:
    """The four registers of a call."""
    return fields[f"{name}_w0"], fields[f"{name}_w1"], fields[f"{name}_w2"], fields[f"{name}_w3"]


def _get(word: int, low: int, width: int) -> int:
    return word >> low & (1 << width) - 1


def _put(*parts: tuple[int, int, int]) -> int:
    """A register out of (value, low, width). Raises ValueError for what does not fit: the compiler's fault."""
    word = 0
    for value, low, width in parts:
        if value >> width:
            raise ValueError(f"{value} does not fit into {width} bits")
        word |= value << low
    return word


def _fields(name: str, opcode: Opcode, words: tuple[int, int, int, int]) -> dict[str, int]:
    return {**{f"{name}_w{i}": w for i, w in enumerate(words)}, "cmd_start": int(opcode)}


@dataclass(frozen=True)
class Transfer:
    """LOAD or STORE. address: byte offset in DDR; sizes, stride and pads: elements; pads are 0 of a store."""

    memory_type: int
    sram_base: int
    address: int
    y_size: int
    x_size: int
    x_stride: int
    y_pad: tuple[int, int] = (0, 0)
    x_pad: tuple[int, int] = (0, 0)
    flags: Flags = field(default_factory=Flags)

    @property
    def rows(self) -> int:
        """In the scratchpad."""
        return sum(self.y_pad) + self.y_size

    @property
    def columns(self) -> int:
        """In the scratchpad."""
        return sum(self.x_pad) + self.x_size

    @classmethod
    def of(cls, name: str, fields: Mapping[str, int]) -> Transfer:
        """Of a call; reserved bits are left out."""
        w0, w1, w2, w3 = raw_words(name, fields)
        pads = [_get(w3, low, 4) for low in (16, 20, 24, 28)] if name == "load" else [0] * 4
        sizes = _get(w2, 0, 16), _get(w2, 16, 16), _get(w3, 0, 16)
        return cls(_get(w0, 7, 3), _get(w0, 16, 16), w1, *sizes, (pads[0], pads[1]), (pads[2], pads[3]), Flags.of(w0))

    def fields(self, name: str) -> dict[str, int]:
        """Fields of the call. Raises ValueError for a value that does not fit."""
        opcode = Opcode.LOAD if name == "load" else Opcode.STORE
        w0 = _put((opcode, 0, 3), (self.memory_type, 7, 3), (self.sram_base, 16, 16)) | self.flags.bits()
        pads = ((self.y_pad[0], 16, 4), (self.y_pad[1], 20, 4), (self.x_pad[0], 24, 4), (self.x_pad[1], 28, 4))
        w3 = _put((self.x_stride, 0, 16), *pads)
        return _fields(name, opcode, (w0, _put((self.address, 0, 32)), _put((self.y_size, 0, 16), (self.x_size, 16, 16)), w3))


@dataclass(frozen=True)
class Loops:
    """GEMM or ALU: micro-operations [begin, end) in two loops; a factor is (of the outer loop, of the inner loop).

    acc: of the accumulator that is written; second: of the input of a GEMM, of the second accumulator of an ALU.
    wgt and reset are a GEMM's; op, use_imm and imm (signed, 16 bits) an ALU's.
    """

    uops: tuple[int, int]
    extents: tuple[int, int] = (1, 1)
    acc: tuple[int, int] = (0, 0)
    second: tuple[int, int] = (0, 0)
    wgt: tuple[int, int] = (0, 0)
    reset: bool = False
    op: int = 0
    use_imm: bool = False
    imm: int = 0
    flags: Flags = field(default_factory=Flags)

    SRC_BITS: ClassVar[int] = 10

    @property
    def iterations(self) -> int:
        """Micro-operations that are carried out."""
        return max(self.uops[1] - self.uops[0], 0) * self.extents[0] * self.extents[1]

    @classmethod
    def of(cls, name: str, fields: Mapping[str, int]) -> Loops:
        """Of a call; reserved bits are left out."""
        w0, w1, w2, w3 = raw_words(name, fields)
        uops = _get(w0, 8, 12), _get(w0, 20, 12)
        extents = _get(w1, 0, 14), _get(w1, 14, 14)
        acc, flags = (_get(w2, 0, 11), _get(w2, 11, 11)), Flags.of(w0)
        if name == "gemm":
            second, wgt = (_get(w3, 0, 11), _get(w3, 11, 11)), (_get(w2, 22, 10), _get(w3, 22, 10))
            return cls(uops, extents, acc, second, wgt, bool(_get(w0, 7, 1)), flags=flags)
        second, imm = (_get(w2, 22, 10), _get(w3, 0, 10)), _get(w3, 16, 16)
        signed = imm - (imm >> 15 << 16)
        return cls(uops, extents, acc, second, op=_get(w1, 28, 3), use_imm=bool(w1 >> 31), imm=signed, flags=flags)

    def fields(self, name: str) -> dict[str, int]:
        """Fields of the call. Raises ValueError for a value that does not fit."""
        opcode = Opcode.GEMM if name == "gemm" else Opcode.ALU
        w0 = _put((opcode, 0, 3), (self.uops[0], 8, 12), (self.uops[1], 20, 12)) | self.flags.bits()
        w1 = _put((self.extents[0], 0, 14), (self.extents[1], 14, 14))
        w2 = _put((self.acc[0], 0, 11), (self.acc[1], 11, 11))
        if name == "gemm":
            w0 |= int(self.reset) << 7
            w2 |= _put((self.wgt[0], 22, 10))
            w3 = _put((self.second[0], 0, 11), (self.second[1], 11, 11), (self.wgt[1], 22, 10))
        else:
            w1 |= _put((self.op, 28, 3), (int(self.use_imm), 31, 1))
            w2 |= _put((self.second[0], 22, 10))
            w3 = _put((self.second[1], 0, 10), (self.imm & 0xFFFF, 16, 16))
        return _fields(name, opcode, (w0, w1, w2, w3))


def finish_fields() -> dict[str, int]:
    """Fields of FINISH."""
    return _fields("finish", Opcode.FINISH, (int(Opcode.FINISH), 0, 0, 0))
