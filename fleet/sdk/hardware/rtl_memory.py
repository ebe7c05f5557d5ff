"""Places of architectural state in the hardware: the RTL arrays of an on-chip memory, the flip-flops of a state register."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Lanes", "RtlMemory", "RtlRegister"]


@dataclass(frozen=True)
class Lanes:
    """Arrays that take turns in the bytes of a memory: byte n lies in array (n // size) % count.

    name: of the placeholder in `RtlMemory.path`. count, size: integers, the device's parameters, + - * // ("4 * Block").

    Example:
        Lanes("lane", "Block", "4")  # an array for each of a row's INT32 elements
        Lanes("way", "4", "Block")  # rows of `Block` bytes, row n in array n % 4
    """

    name: str
    count: str
    size: str


@dataclass(frozen=True)
class RtlMemory:
    """In which variables of the RTL an on-chip memory lies.

    Byte 0 of a memory is the lowest of word 0. A word may hold several rows, and a row several words. An array may be larger than
    the memory: its first words count.

    Attributes:
        module: that declares the variable ("my_ram"), as the source names it.
        path: hierarchical name of the variable below the top module, with placeholders in braces: "u_core.u_acc.mem",
            "u_pad.gen_bank[{bank}].gen_lane[{lane}].mem". {bank} is the bank of a memory that has several.
        lanes: the other placeholders.
    """

    module: str
    path: str
    lanes: tuple[Lanes, ...] = ()


@dataclass(frozen=True)
class RtlRegister:
    """The variable of the RTL that keeps a state register, or a part of it.

    Attributes:
        module: that declares the variable; path: its hierarchical name below the top module.
        lsb: the register's bit that is the variable's lowest. Bits that no variable keeps are 0.
    """

    module: str
    path: str
    lsb: int = 0
