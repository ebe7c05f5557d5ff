"""Aux mode: the instructions as one binary in DDR, and which of its words a step changes.

Instructions between loops with a dynamic number of rounds are one run of blocks; such a loop is a run of its own, with a task for
every round that there can be. Rounds that a step has not are words and cfg_ids of 0, so the binary is whole in every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.codec import words_of
from fleet.isa.codec_binary import BEAT, BLOCK, TASKS, WORDS
from fleet.isa.description import Description
from fleet.isa.issue import Binary
from fleet.targets.graph.steps import BoundInstr, BoundLoop, Round, Steps

__all__ = ["AuxBinary", "AuxRun", "Slot"]


@dataclass(frozen=True)
class Slot:
    """The room of a task. word: of its first value, counted in words from the beginning of the binary; body: place in a loop."""

    word: int
    id_byte: int
    made: BoundInstr
    body: int = 0
    round: int = 0


@dataclass(frozen=True)
class AuxRun:
    """Blocks that the hardware is told to run at once.

    Attributes:
        offset, size: bytes in the binary.
        items: [first, end) of `Steps.items`.
        slots: rooms of tasks, in order. loop: where it is a loop, whose rounds fill the slots.
    """

    offset: int
    size: int
    items: tuple[int, int]
    slots: tuple[Slot, ...]
    loop: BoundLoop | None = None


class AuxBinary:
    """The binary of a compiled graph."""

    def __init__(self, steps: Steps, description: Description) -> None:
        """Raises DeviceError for an instruction without a binary form."""
        self.description = description
        self.runs: list[AuxRun] = []
        self.size = 0
        for first, end in self._cut(steps):
            self._add(steps, first, end)
        self._index: dict[tuple[int, int], _Room] = {}
        self._dynamic = np.zeros(self.size // 4, bool)
        for run in self.runs:
            for n, slot in enumerate(run.slots):
                self._enter(run, n, slot)

    def _cut(self, steps: Steps) -> Iterator[tuple[int, int]]:
        """Runs of items: a loop each, and what is between."""
        first = 0
        for n, item in enumerate(steps.items):
            if isinstance(item, BoundLoop):
                if n > first:
                    yield first, n
                yield n, n + 1
                first = n + 1
        if len(steps.items) > first:
            yield first, len(steps.items)

    def _add(self, steps: Steps, first: int, end: int) -> None:
        item = steps.items[first]
        loop = item if isinstance(item, BoundLoop) else None
        made: list[tuple[BoundInstr, int, int]] = []
        if loop is not None:
            if len(loop.body) != 1:
                what = f"a loop over {len(loop.body)} instructions has no binary form"
                raise DeviceError(what, where=loop.body[0].ops[-1], hint="build with aux=False or with setting 'lite'")
            made = [(body, place, r) for r in range(loop.most) for place, body in enumerate(loop.body)]
        else:
            made = [(i, 0, 0) for i in steps.items[first:end] if isinstance(i, BoundInstr)]
        slots: list[Slot] = []
        word = 0
        for n, (body, place, round_) in enumerate(made):
            block, task = divmod(n, TASKS)
            start = self.size + block * BLOCK
            if task == 0:
                word = (start + BEAT) // 4
            beats = self.description.instructions[body.instruction].beats
            if not beats:
                raise DeviceError(
                    "it has no binary form", where=f"{body.ops[-1]} ({body.instruction})", hint="build with aux=False"
                )
            slots.append(Slot(word, start + task, body, place, round_))
            word += beats * WORDS
        size = -(-len(made) // TASKS) * BLOCK
        self.runs.append(AuxRun(self.size, size, (first, end), tuple(slots), loop))
        self.size += size

    # ---- words

    def _enter(self, run: AuxRun, n: int, slot: Slot) -> None:
        """Notes which step's instruction fills a slot, and which of its words depend on the step."""
        names = [r.name for r in self.description.words(slot.made.instruction)]
        if run.loop is None:
            dynamic = tuple((slot.word + k, name) for k, name in enumerate(names) if name in slot.made.dynamic)
            self._index[run.items[0] + n, 0] = _Room(slot, dynamic)
            self._dynamic[[word for word, _ in dynamic]] = True
            return
        # A round that is not there leaves nothing behind.
        self._index[run.items[0], slot.round * len(run.loop.body) + slot.body] = _Room(slot, None)
        self._dynamic[slot.id_byte // 4] = True
        self._dynamic[slot.word : slot.word + len(names)] = True

    def words(self, rounds: Sequence[Round]) -> np.ndarray:
        """All words with which a step runs, uint32."""
        data = np.zeros(self.size // 4, "<u4")
        ids = data.view(np.uint8)
        for r in rounds:
            self._put(self._index[r.item, r.slot].slot, r, data, ids)
        return data

    def _put(self, slot: Slot, r: Round, data: np.ndarray, ids: np.ndarray) -> None:
        ids[slot.id_byte] = self.description.instructions[r.call.instruction].opcode
        values = words_of(self.description, r.call)
        data[slot.word : slot.word + len(values)] = values

    def patches(self, rounds: Sequence[Round]) -> list[tuple[int, np.ndarray]]:
        """(byte offset in the binary, words) of all that depends on the step, in contiguous pieces."""
        data = np.zeros(self.size // 4, "<u4")
        ids = data.view(np.uint8)
        for r in rounds:
            room = self._index[r.item, r.slot]
            if room.dynamic is None:
                self._put(room.slot, r, data, ids)
            else:
                for word, name in room.dynamic:
                    data[word] = r.call.fields[name]
        edges = np.flatnonzero(np.diff(self._dynamic, prepend=False, append=False))
        return [(4 * int(a), data[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    def binaries(self, rounds: Sequence[Round], base: int, space: str) -> tuple[Binary, ...]:
        """The runs of a step; `Binary.first` and `count` are of the step's calls."""
        counts: dict[int, int] = {}
        for r in rounds:
            counts[r.item] = counts.get(r.item, 0) + 1
        made: list[Binary] = []
        first = 0
        for run in self.runs:
            count = sum(counts.get(i, 0) for i in range(*run.items))
            made.append(Binary(first, count, space, base + run.offset, -(-count // TASKS) * BLOCK))
            first += count
        return tuple(made)


@dataclass(frozen=True)
class _Room:
    """A slot, and (word, register) of what depends on the step; None: all of it."""

    slot: Slot
    dynamic: tuple[tuple[int, str], ...] | None
