"""Machine code in this process, and the memory that it works on."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fleet.core.room import check_room
from fleet.errors import ModelError
from fleet.targets.riscv.faults import RuntimeFault
from fleet.targets.riscv.plan import Buffer, Region

FIRST = "fleet_first_fault"
"""The symbol of the words in which the first fault of a run is noted."""


class Arena:
    """Memory for everything that a run writes, laid out as the plan has it; pages that nothing touches cost nothing."""

    def __init__(self, regions: Sequence[Region], where: str) -> None:
        check_room(sum(r.size for r in regions), "the memory of the program", where=where)
        self.start = min((r.address for r in regions), default=0)
        end = max((r.address + r.size for r in regions), default=1)
        self.memory = mmap.mmap(-1, max(end - self.start, 1))
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self._views: dict[Buffer, np.ndarray] = {}

    def address(self, planned: int) -> int:
        """Return where an address of the plan lies in this process."""
        return self.base + planned - self.start

    def view(self, buffer: Buffer) -> np.ndarray:
        """Return a buffer of the plan as an array on this memory."""
        found = self._views.get(buffer)
        if found is None:
            found = self._views[buffer] = self._view(buffer)
        return found

    def _view(self, buffer: Buffer) -> np.ndarray:
        if not buffer.size:
            return np.empty(buffer.shape, buffer.dtype)
        low, size = buffer.extent
        flat = np.frombuffer(self.memory, buffer.dtype, size // buffer.dtype.itemsize, low - self.start)
        first = flat[(buffer.address - low) // buffer.dtype.itemsize :]
        return np.lib.stride_tricks.as_strided(first, buffer.shape, [s * buffer.dtype.itemsize for s in buffer.steps])


@dataclass(frozen=True)
class HostCode:
    """Code of this machine, with its weights in place; runs any number of times.

    Attributes:
        inputs: where they lie. outputs: name -> where it lies, in order.
        operations: id and place in the source of every operation that has code, in program order.
        checks: number -> message of the program's checks.
        engine: llvmlite's, which holds the code. arena: the memory.
    """

    inputs: tuple[Buffer, ...]
    outputs: tuple[tuple[str, Buffer], ...]
    operations: tuple[tuple[str, str | None], ...]
    checks: Mapping[int, str]
    engine: Any
    arena: Arena

    def run(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Runs; results are read with `fetch`. Raises ModelError for an unfit input, a bad index or exponent."""
        for buffer in self.inputs:
            array = inputs.get(buffer.name)
            if array is None:
                raise ModelError(f'no input "{buffer.name}"', hint=f"given are {', '.join(inputs) or 'none'}")
            if array.shape != buffer.shape or array.dtype != buffer.dtype:
                have, want = f"{array.dtype}{list(array.shape)}", f"{buffer.dtype}{list(buffer.shape)}"
                raise ModelError(f'input "{buffer.name}" must be {want}, found {have}')
            self.arena.view(buffer)[...] = array
        words, main = self._entry
        words[0] = 0
        main()
        if words[0]:
            known = 0 <= words[3] < len(self.operations)
            operation, at = self.operations[words[3]] if known else ("an operation", None)
            what = RuntimeFault(words[0]).message(words[1], words[2], self.checks)
            raise ModelError(f"operation {operation}: {what}", where=at, hint="check the input data")

    @cached_property
    def _entry(self) -> tuple[Any, Any]:
        """Return the words in which the first fault is noted, and the code."""
        words = (ctypes.c_int64 * 4).from_address(self.engine.get_global_value_address(FIRST))
        return words, ctypes.CFUNCTYPE(None)(self.engine.get_function_address("fleet_main"))

    def fetch(self, buffer: Buffer) -> np.ndarray:
        """A copy of a buffer of the plan."""
        return self.arena.view(buffer).copy()
