"""Aux mode: the instructions as one binary in DDR, and which of its words a step changes.

Instructions between loops with a dynamic number of iterations are one run of blocks; such a loop is a separate run, with a task for
every possible iteration. Iterations that a step does not have are words and cfg_ids of 0, so the binary is complete in every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.codec_binary import BEAT, BLOCK, TASKS, WORDS, encode
from fleet.isa.description import Description
from fleet.isa.issue import Binary
from fleet.sdk import Call
from fleet.targets.accel.emission import Instr, Loop
from fleet.targets.accel.steps import Round


@dataclass(frozen=True)
class Slot:
    """The space of a task. word: index of its first value, in words from the beginning of the binary."""

    word: int
    made: Instr


@dataclass(frozen=True)
class AuxRun:
    """Blocks that the hardware runs with one start.

    Attributes:
        offset, size: bytes in the binary.
        items: [first, end) of the instructions and loops.
        slots: spaces of tasks, in order. loop: the loop whose iterations fill the slots, if the run is one.
    """

    offset: int
    size: int
    items: tuple[int, int]
    slots: tuple[Slot, ...]
    loop: Loop | None = None


class AuxBinary:
    """The binary of a compiled graph. Its size depends on no address."""

    def __init__(self, items: Sequence[Instr | Loop], description: Description) -> None:
        """items: of an `Emission`, or of its `Steps`. Raises DeviceError if an instruction has no binary form."""
        self.description = description
        self.runs: list[AuxRun] = []
        self.size = 0
        for first, end in self._cut(items):
            self._add(items, first, end)
        self._dynamic_words: dict[int, list[tuple[int, str]]] = {}
        """Item outside of loops -> (word, register) of the values that depend on the step."""
        self._dynamic = np.zeros(self.size // 4, bool)
        for run in self.runs:
            for n, slot in enumerate(run.slots):
                self._enter(run, n, slot)

    def _cut(self, items: Sequence[Instr | Loop]) -> Iterator[tuple[int, int]]:
        """Runs of items: one for each loop, and one for the items between two loops."""
        first = 0
        for n, item in enumerate(items):
            if isinstance(item, Loop):
                if n > first:
                    yield first, n
                yield n, n + 1
                first = n + 1
        if len(items) > first:
            yield first, len(items)

    def _add(self, items: Sequence[Instr | Loop], first: int, end: int) -> None:
        item = items[first]
        loop = item if isinstance(item, Loop) else None
        made: list[Instr]
        if loop is not None:
            if len(loop.body) != 1:
                what = f"a loop over {len(loop.body)} instructions has no binary form"
                raise DeviceError(what, where=loop.body[0].ops[-1], hint="build with aux=False or with setting 'lite'")
            made = [body for _ in range(loop.most) for body in loop.body]
        else:
            made = [i for i in items[first:end] if isinstance(i, Instr)]
        slots: list[Slot] = []
        word = 0
        for n, body in enumerate(made):
            if n % TASKS == 0:
                word = (self.size + n // TASKS * BLOCK + BEAT) // 4
            beats = self.description.instructions[body.instruction].beats
            if not beats:
                raise DeviceError(
                    "it has no binary form", where=f"{body.ops[-1]} ({body.instruction})", hint="build with aux=False"
                )
            slots.append(Slot(word, body))
            word += beats * WORDS
        size = -(-len(made) // TASKS) * BLOCK
        self.runs.append(AuxRun(self.size, size, (first, end), tuple(slots), loop))
        self.size += size

    # ---- words

    def _enter(self, run: AuxRun, n: int, slot: Slot) -> None:
        """Record which words depend on the step."""
        names = [r.name for r in self.description.words(slot.made.instruction)]
        if run.loop is not None:  # an iteration that the step does not have must leave only zeros
            self._dynamic[(run.offset + n // TASKS * BLOCK + n % TASKS) // 4] = True
            self._dynamic[slot.word : slot.word + len(names)] = True
            return
        words = [(slot.word + k, name) for k, name in enumerate(names) if name in slot.made.dynamic]
        self._dynamic_words[run.items[0] + n] = words
        self._dynamic[[word for word, _ in words]] = True

    def words(self, rounds: Sequence[Round]) -> np.ndarray:
        """Return the whole binary of a step, uint32 words."""
        return self._encoded(self.runs, rounds)

    def _encoded(self, runs: Sequence[AuxRun], rounds: Sequence[Round]) -> np.ndarray:
        """Return the words of some runs in a step, with zeros in place of the others."""
        calls: dict[int, list[Call]] = {}
        for r in rounds:
            calls.setdefault(r.item, []).append(r.call)
        data = np.zeros(self.size // 4, "<u4")
        for run in runs:
            made = encode(self.description, [call for item in range(*run.items) for call in calls.get(item, ())])
            data[run.offset // 4 :][: len(made) // 4] = np.frombuffer(made, "<u4")
        return data

    def patches(self, rounds: Sequence[Round]) -> list[tuple[int, np.ndarray]]:
        """Return (byte offset in the binary, words) of the words that depend on the step, in contiguous pieces."""
        data = self._encoded([run for run in self.runs if run.loop is not None], rounds)
        for r in rounds:
            for word, name in self._dynamic_words.get(r.item, ()):
                data[word] = r.call.fields[name]
        edges = np.flatnonzero(np.diff(self._dynamic, prepend=False, append=False))
        return [(4 * int(a), data[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    def binaries(self, rounds: Sequence[Round], base: int, space: str) -> tuple[Binary, ...]:
        """Return the runs of a step; `Binary.first` and `count` index the step's calls."""
        counts = Counter(r.item for r in rounds)
        made: list[Binary] = []
        first = 0
        for run in self.runs:
            count = sum(counts[i] for i in range(*run.items))
            made.append(Binary(first, count, space, base + run.offset, -(-count // TASKS) * BLOCK))
            first += count
        return tuple(made)
