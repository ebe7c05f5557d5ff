"""The functional model's memory at any instruction of a stream: executes to move forwards, restores old bytes to move backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import executed, registers_in, resolved_call
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.streams.model_side import refusal

_ROOM = 1 << 28  # most bytes of old contents that are kept


class MemoryHistory:
    """Memory before instruction `at`, which `to` moves.

    Example:
        history = MemoryHistory(instruction_set, device, memory, calls)
        history.to(17)  # instructions 0 to 16 have been executed
        history.to(12)  # 16 to 12 have been undone
    """

    def __init__(
        self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, calls: Sequence[Call],
        restart: Callable[[], None] | None = None, first: int = 0,
    ) -> None:  # fmt: skip
        """Start before instruction `first`.

        Args:
            memory: as it was before instruction `first`; the history cannot move further back.
            restart: restores memory to its state before the first instruction; needed beyond `_ROOM` bytes.
        """
        self.instruction_set, self.device, self.memory, self.calls = instruction_set, device, memory, calls
        self._restart = restart
        self.first = first
        self._before: list[list[Write]] = []
        self._forgotten = first  # instructions that cannot be undone any more
        self._room = _ROOM
        self._written = self._nothing()

    @property
    def at(self) -> int:
        """Number of the next instruction to execute."""
        return self._forgotten + len(self._before)

    def to(self, seq: int) -> None:
        """Move to before instruction `seq`. Raises FleetError if old contents are lost or an instruction cannot be executed."""
        if not 0 <= seq <= len(self.calls):
            raise FleetError(f"instruction {seq} of {len(self.calls)}", where="replay")
        if seq < self._forgotten:
            if self._restart is None or seq < self.first:
                raise FleetError(f"memory before instruction {seq} is not known any more", where="replay")
            self._restart()
            self._before, self._forgotten, self._room = [], self.first, _ROOM
            self._written = self._nothing()
        while self.at > seq:
            for w in reversed(self._before.pop()):
                self._view(w)[:] = w.data
                self._room += w.data.size
                self._count(w, -1)
        while self.at < seq:
            self._forward()

    def writes(self) -> list[Write]:
        """Return what the next instruction writes; empty if it is refused."""
        call = self.calls[self.at]
        cls = self.instruction_set.instructions[call.instruction]
        call = resolved_call(cls, self.device, call, registers_in(self.device, self.memory))
        if refusal(cls, self.device, call.fields):
            return []
        return [w for w in executed(cls, self.device, call.fields, self.memory) if w.space != "reg"]

    def undefined(self, space: str) -> np.ndarray:
        """Return the mask of undefined bytes of an on-chip memory. A written byte is defined, whatever its value."""
        return self.memory.untouched(space) & (self._written[space] == 0)

    def _nothing(self) -> dict[str, np.ndarray]:
        """Return write counts of zero for each byte on the chip."""
        return {a.name: np.zeros(a.size, np.int32) for a in self.device.arrays.values()}

    def _count(self, w: Write, step: int) -> None:
        if w.space in self._written:
            self._written[w.space][w.offset : w.offset + w.data.size] += step

    def _forward(self) -> None:
        entry: list[Write] = []
        for w in self.writes():
            view = self._view(w)
            entry.append(Write(w.space, w.offset, view.copy(), w.bank))
            view[:] = w.data.reshape(-1)
            self._room -= w.data.size
            self._count(w, 1)
        self._before.append(entry)
        while self._room < 0 and len(self._before) > 1:
            self._room += sum(w.data.size for w in self._before.pop(0))
            self._forgotten += 1

    def _view(self, w: Write) -> np.ndarray:
        return self.memory.view(w.space, w.offset, w.data.size, w.bank)
