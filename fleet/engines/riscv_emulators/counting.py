"""Exact counts of retired instructions, by function, from an emulator's basic-block events.

Blocks come as (address, size in bytes); with compressed instructions the size says nothing about the number, so a table
over the code gives the number of instruction starts before every halfword. The event handler is native code, compiled
in process: a Python one costs microseconds a block.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fleet.targets.riscv.elf import PF_X, Image

_HOOK = """
%state = type { i64, i64, ptr, ptr, ptr, i64, i64, ptr }
; base, halfwords, starts (u32), function of a halfword (u32), counts (u64), total, limit, stop function

define void @hook(ptr %machine, i64 %address, i32 %size, ptr %user) {
entry:
  %base = load i64, ptr %user
  %bytes = sub i64 %address, %base
  %first = lshr i64 %bytes, 1
  %size64 = zext i32 %size to i64
  %half = lshr i64 %size64, 1
  %last = add i64 %first, %half
  %np = getelementptr %state, ptr %user, i64 0, i32 1
  %n = load i64, ptr %np
  %low = icmp ult i64 %first, %n
  %high = icmp ule i64 %last, %n
  %inside = and i1 %low, %high
  br i1 %inside, label %count, label %outside
count:
  %startsp = getelementptr %state, ptr %user, i64 0, i32 2
  %starts = load ptr, ptr %startsp
  %p0 = getelementptr i32, ptr %starts, i64 %first
  %p1 = getelementptr i32, ptr %starts, i64 %last
  %s0 = load i32, ptr %p0
  %s1 = load i32, ptr %p1
  %number = sub i32 %s1, %s0
  %wide = zext i32 %number to i64
  %namesp = getelementptr %state, ptr %user, i64 0, i32 3
  %names = load ptr, ptr %namesp
  %pn = getelementptr i32, ptr %names, i64 %first
  %name = load i32, ptr %pn
  %name64 = zext i32 %name to i64
  %countsp = getelementptr %state, ptr %user, i64 0, i32 4
  %counts = load ptr, ptr %countsp
  %pc = getelementptr i64, ptr %counts, i64 %name64
  %old = load i64, ptr %pc
  %new = add i64 %old, %wide
  store i64 %new, ptr %pc
  %totalp = getelementptr %state, ptr %user, i64 0, i32 5
  %total = load i64, ptr %totalp
  %sum = add i64 %total, %wide
  store i64 %sum, ptr %totalp
  %limitp = getelementptr %state, ptr %user, i64 0, i32 6
  %limit = load i64, ptr %limitp
  %over = icmp ugt i64 %sum, %limit
  br i1 %over, label %stop, label %done
stop:
  %stopp = getelementptr %state, ptr %user, i64 0, i32 7
  %function = load ptr, ptr %stopp
  %status = call i32 %function(ptr %machine)
  br label %done
outside:
  %counts2p = getelementptr %state, ptr %user, i64 0, i32 4
  %counts2 = load ptr, ptr %counts2p
  %old2 = load i64, ptr %counts2
  %new2 = add i64 %old2, 1
  store i64 %new2, ptr %counts2
  br label %done
done:
  ret void
}
"""


class _State(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_uint64),
        ("halfwords", ctypes.c_uint64),
        ("starts", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("total", ctypes.c_uint64),
        ("limit", ctypes.c_uint64),
        ("stop", ctypes.c_void_p),
    )


def instruction_starts(code: bytes) -> np.ndarray:
    """For every halfword of `code` 1 where an instruction starts, decoding from its first byte (uint32).

    An instruction whose two low bits are set is 4 bytes long, any other 2 (RV64GC has no longer ones).
    """
    long = (np.frombuffer(code[: len(code) // 2 * 2], "<u2") & 3 == 3).tolist()
    starts = np.zeros(len(long), np.uint32)
    i = 0
    while i < len(long):
        starts[i] = 1
        i += 2 if long[i] else 1
    return starts


class BlockCounter:
    """Counts of one run. `hook` is the address of a native function (machine, address, size, user) to be registered with
    `user`; `stop` is the address of a native function that stops the machine, called when the limit is passed.

    The code is [begin, end). Blocks in it outside all functions are counted in `strays`, a halfword as an instruction.
    """

    def __init__(self, image: Image, stop: int) -> None:
        segment = next(s for s in image.segments if s.flags & PF_X)
        halfwords = len(segment.data) // 2
        starts = np.ones(halfwords, np.uint32)
        self.begin, self.end = segment.address, segment.address + len(segment.data)
        self._function = np.zeros(halfwords, np.uint32)
        self.names: list[str] = []
        for symbol in sorted((s for s in image.symbols if s.function), key=lambda s: s.address):
            first = (symbol.address - segment.address) // 2
            last = min(halfwords, first + symbol.size // 2)
            if not 0 <= first < last:
                continue
            self.names.append(symbol.name)
            starts[first:last] = instruction_starts(segment.data[2 * first : 2 * last])
            self._function[first:last] = len(self.names)
        self._starts = np.concatenate([np.zeros(1, np.uint32), np.cumsum(starts, dtype=np.uint32)])
        self._counts = np.zeros(len(self.names) + 1, np.uint64)
        self._state = _State(
            segment.address, halfwords, self._starts.ctypes.data, self._function.ctypes.data, self._counts.ctypes.data, 0, 0, stop
        )
        self.user = ctypes.addressof(self._state)
        self.hook = _compiled()[1]

    def reset(self, limit: int) -> None:
        """Sets the counts to zero and the number of instructions after which the machine is stopped."""
        self._counts[:] = 0
        self._state.total, self._state.limit = 0, limit

    @property
    def total(self) -> int:
        """Instructions so far; may be read while the machine runs."""
        return int(self._state.total)

    @property
    def exceeded(self) -> bool:
        """True when the limit was passed."""
        return self.total > int(self._state.limit)

    @property
    def strays(self) -> int:
        """What was executed outside the image's functions; 0 for a sound run."""
        return int(self._counts[0])

    def by_symbol(self) -> Mapping[str, int]:
        """Instructions so far by function; may be read while the machine runs."""
        return {name: int(n) for name, n in zip(self.names, self._counts[1:], strict=True)}


@lru_cache(maxsize=1)
def _compiled() -> tuple[Any, int]:
    """The hook as host code: the engine that owns it, and its address."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_HOOK)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, int(engine.get_function_address("hook"))
