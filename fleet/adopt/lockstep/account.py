"""The account of a difference beside its one line: the command, each byte that differs, operands, the writes around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fleet.adopt.lockstep.history import Key, WriteHistory
from fleet.adopt.lockstep.jobs import INSIDE, ModelJob
from fleet.adopt.record import AccountPart

_BYTES, _READS, _WRITES, _WIDE = 8, 6, 8, 16


Trigger = Literal["commit", "word", "operation", "rest", "end"]
"""The event that a claim is about: the n-th commit, word of a port, operation of a test or time at rest; or the end."""


@dataclass(frozen=True)
class Claim:
    """A statement of the model that the design breaks, in a form that a bench can check without the model.

    kind: "bytes": memory holds `bytes`; "word": the word is `value` under `mask`; "words": `number` words come from the port;
        "event": it comes; "never": it does not come.
    trigger, name, number: when; name is a port or the number of a commit.
    """

    kind: Literal["bytes", "word", "words", "event", "never"]
    trigger: Trigger
    name: str
    number: int
    bytes: Mapping[Key, int] = field(default_factory=dict[Key, int])
    value: int = 0
    mask: int = 0


@dataclass(frozen=True)
class DivergedAt:
    """The first difference between a run and its model.

    Attributes:
        text: in one line.
        time, cycle: of the event or point.
        job: whose it is, None if nobody's.
        keys: bytes that differ -> what the model has.
        held: what the design has, of states inside.
    """

    text: str
    time: int
    cycle: int
    job: ModelJob | None
    keys: Mapping[Key, int]
    held: Mapping[Key, int]


def account_of(
    at: DivergedAt, history: WriteHistory, memory: Callable[[int], str], under_way: Sequence[str]
) -> tuple[AccountPart, ...]:  # fmt: skip
    """The parts of the page in reading order. memory: names one; under_way: the jobs that were."""
    found: list[tuple[str, list[str]]] = [("what differs", [at.text])]
    if at.job is not None:
        found.append(("command", [f"{at.job.text} at {at.job.where}"]))
    found.append(("bytes", list(_bytes(at, history, memory))))
    if at.job is not None:
        reads = [f"{memory(r.memory)} {r.address:#x}: {r.data[:_WIDE].hex(' ')}" for r in at.job.reads[:_READS]]
        more = len(at.job.reads) - _READS
        found.append(("operands", reads + ([f"... {more} more reads of the model"] if more > 0 else [])))
    found.append(("writes", list(_writes(at, history, memory))))
    found.append(("under way", list(under_way)))
    return tuple((title, tuple(lines)) for title, lines in found if lines)


def _bytes(at: DivergedAt, history: WriteHistory, memory: Callable[[int], str]) -> Iterator[str]:
    for key in sorted(at.keys)[:_BYTES]:
        last = history.last(key, at.time) if key[0] < INSIDE else None
        got = at.held.get(key, history.at(key, at.time))
        when = f" (written in cycle {last.cycle})" if last is not None else "" if key[0] >= INSIDE else " (not written)"
        yield f"{memory(key[0])} {key[1]:#x}: design {got:02x}{when}, model {at.keys[key]:02x}"
    if len(at.keys) > _BYTES:
        yield f"... {len(at.keys):,} bytes differ"


def _writes(at: DivergedAt, history: WriteHistory, memory: Callable[[int], str]) -> Iterator[str]:
    """The last writes of the design up to there, bytes of a cycle that lie behind one another together."""
    runs: list[tuple[int, Key, bytearray]] = []
    for w in history.last_writes(at.time, _WRITES * _WIDE):
        if runs and runs[-1][0] == w.cycle and (w.space, w.address) == (runs[-1][1][0], runs[-1][1][1] + len(runs[-1][2])):
            runs[-1][2].append(w.value)
        else:
            runs.append((w.cycle, (w.space, w.address), bytearray([w.value])))
    for cycle, (space, address), data in runs[-_WRITES:]:
        text = data[:_WIDE].hex(" ") + (" ..." if len(data) > _WIDE else "")
        yield f"cycle {cycle}: {memory(space)} {address:#x}: {text}"
