"""Exact counts of retired instructions, by function and by instruction, from an emulator's basic-block events.

Blocks are reported as (address, size in bytes). With compressed instructions the size does not give their number, so a table
over the code has the number of instruction starts before every halfword. The event handler is native code, compiled
in process: a Python handler costs microseconds per block.

Functions whose names start with "fn_" are shared by several operations: their instructions are counted for the last entered
function that is not shared. Execution counts of instructions are kept separately for each of these: a block adds one at its
start and subtracts one at its end, and running sums give the counts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fleet.targets.riscv.elf import PF_X, ElfImage

SHARED = "fn_"

_HOOK = """
%state = type { i64, i64, ptr, ptr, ptr, i64, i64, ptr, ptr, ptr, ptr, i64 }
; base, halfwords, starts (u32), function of a halfword (u32), counts (u64), total, limit, stop function,
; first halfword of a shared function or -1 (i64, by function), profile's begin (i64, by function), profile (i64), current

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
  %bodiesp = getelementptr %state, ptr %user, i64 0, i32 8
  %bodies = load ptr, ptr %bodiesp
  %pb = getelementptr i64, ptr %bodies, i64 %name64
  %body = load i64, ptr %pb
  %shared = icmp sge i64 %body, 0
  %currentp = getelementptr %state, ptr %user, i64 0, i32 11
  %before = load i64, ptr %currentp
  %current = select i1 %shared, i64 %before, i64 %name64
  store i64 %current, ptr %currentp
  %profilesp = getelementptr %state, ptr %user, i64 0, i32 9
  %profiles = load ptr, ptr %profilesp
  %pp = getelementptr i64, ptr %profiles, i64 %current
  %own = load i64, ptr %pp
  %inbody = sub i64 %first, %body
  %place = add i64 %own, %inbody
  %at = select i1 %shared, i64 %place, i64 %first
  %end = add i64 %at, %half
  %profilep = getelementptr %state, ptr %user, i64 0, i32 10
  %profile = load ptr, ptr %profilep
  %pa = getelementptr i64, ptr %profile, i64 %at
  %olda = load i64, ptr %pa
  %newa = add i64 %olda, 1
  store i64 %newa, ptr %pa
  %pe = getelementptr i64, ptr %profile, i64 %end
  %olde = load i64, ptr %pe
  %newe = sub i64 %olde, 1
  store i64 %newe, ptr %pe
  %countsp = getelementptr %state, ptr %user, i64 0, i32 4
  %counts = load ptr, ptr %countsp
  %pc = getelementptr i64, ptr %counts, i64 %current
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
        ("bodies", ctypes.c_void_p),
        ("profiles", ctypes.c_void_p),
        ("profile", ctypes.c_void_p),
        ("current", ctypes.c_uint64),
    )


def instruction_starts(code: bytes, size: int | None = None) -> np.ndarray:
    """Return, for every halfword of `code`, 1 if an instruction starts there, decoding from the first byte (uint32).

    size: bytes of every instruction. None: RV64GC, where an instruction with both low bits set has 4 bytes, any other 2.
    """
    if size is not None:
        return (np.arange(len(code) // 2) % (size // 2) == 0).astype(np.uint32)
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

    The code is [begin, end). Blocks outside all functions are counted in `strays`, one instruction per halfword.
    """

    def __init__(self, image: ElfImage, stop: int, size: int | None = None) -> None:
        """size: as in `instruction_starts`."""
        segment = next(s for s in image.segments if s.flags & PF_X)
        halfwords = len(segment.data) // 2
        starts = np.ones(halfwords, np.uint32)
        self.begin, self.end = segment.address, segment.address + len(segment.data)
        self._function = np.zeros(halfwords, np.uint32)
        self.names: list[str] = []
        self._range: dict[str, tuple[int, int]] = {}
        for symbol in sorted((s for s in image.symbols if s.function), key=lambda s: s.address):
            first = (symbol.address - segment.address) // 2
            last = min(halfwords, first + symbol.size // 2)
            if not 0 <= first < last:
                continue
            self.names.append(symbol.name)
            self._range[symbol.name] = (first, last)
            starts[first:last] = instruction_starts(segment.data[2 * first : 2 * last], size)
            self._function[first:last] = len(self.names)
        self._starts = np.concatenate([np.zeros(1, np.uint32), np.cumsum(starts, dtype=np.uint32)])
        self._counts = np.zeros(len(self.names) + 1, np.uint64)
        self._bodies = np.full(len(self.names) + 1, -1, np.int64)
        for i, name in enumerate(self.names, 1):
            if name.startswith(SHARED):
                self._bodies[i] = self._range[name][0]
        # Space for the longest shared function, for each function that may enter one.
        longest = max((e - f for n, (f, e) in self._range.items() if n.startswith(SHARED)), default=0) + 1
        own = np.flatnonzero(self._bodies < 0)
        self._profiles = np.zeros(len(self.names) + 1, np.int64)
        self._profiles[own] = halfwords + 1 + longest * np.arange(len(own))
        self._longest = longest
        self._profile = np.zeros(halfwords + 1 + longest * len(own), np.int64)
        self._state = _State(
            segment.address, halfwords, *(a.ctypes.data for a in (self._starts, self._function, self._counts)), 0, 0, stop,
            *(a.ctypes.data for a in (self._bodies, self._profiles, self._profile)), 0,
        )  # fmt: skip
        self.user = ctypes.addressof(self._state)
        self.hook = _compiled()[1]

    def reset(self, limit: int) -> None:
        """Reset the counts and set the number of instructions after which the machine is stopped."""
        self._counts[:] = 0
        self._profile[:] = 0
        self._state.total, self._state.limit, self._state.current = 0, limit, 0

    @property
    def total(self) -> int:
        """Instructions so far; may be read while the machine runs."""
        return int(self._state.total)

    @property
    def current(self) -> str | None:
        """The last entered function that is not shared."""
        i = int(self._state.current)
        return self.names[i - 1] if i else None

    @property
    def exceeded(self) -> bool:
        """True if the limit was exceeded."""
        return self.total > int(self._state.limit)

    @property
    def strays(self) -> int:
        """Instructions executed outside the image's functions; 0 for a sound run."""
        return int(self._counts[0])

    def by_symbol(self) -> Mapping[str, int]:
        """Instructions so far by function, shared functions counted for their callers; may be read while the machine runs."""
        found = {name: int(n) for name, n in zip(self.names, self._counts[1:], strict=True)}
        return {name: n for name, n in found.items() if not name.startswith(SHARED)}

    def profile(self, symbol: str, function: str) -> np.ndarray:
        """Return the executions of each instruction of `function` while `symbol` was current, by address (int64).

        `function` is `symbol` itself or a shared function.
        """
        first, last = self._range[function]
        if function.startswith(SHARED):
            begin = int(self._profiles[self.names.index(symbol) + 1])
            runs = np.cumsum(self._profile[begin : begin + self._longest])[: last - first]
        else:
            runs = np.cumsum(self._profile[:last])[first:last]
        here = self._starts[first + 1 : last + 1] != self._starts[first:last]
        return runs[here]


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
