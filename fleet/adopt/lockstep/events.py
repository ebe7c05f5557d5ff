"""Records of a run of the bench: operations of the test, writes to memory, commits, words, snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fleet.adopt.bench.observe import Observation, ReadCommit, ResponseCommit
from fleet.adopt.bench.plan import BenchPlan, spaces_of
from fleet.adopt.bench.script import ReplayScript

_READS = (2, 3)
"""Operations of a script that read an address."""


@dataclass(frozen=True)
class DoneOperation:
    """An operation of the script.

    at: its place; begin, end: time; value: what it read; taken: when the design took it, -1: not told.
    """

    at: int
    begin: int
    end: int
    value: int
    taken: int = -1


@dataclass(frozen=True)
class MemoryWrite:
    """A byte that the design wrote. time, cycle: from which on it counts."""

    time: int
    cycle: int
    space: int
    address: int
    value: int


@dataclass(frozen=True)
class StreamWord:
    """A word that left through a port. number: of that port."""

    time: int
    cycle: int
    port: str
    value: int
    number: int


@dataclass(frozen=True)
class CommitEvent:
    """An event of a `[[commit]]`.

    rule: its number; word: that it is, if it is one; level: it counts only if a job waits; number: the n-th event of its rule, of a
    read the operation that read.
    """

    time: int
    cycle: int
    rule: int
    tag: int
    word: StreamWord | None = None
    level: bool = False
    number: int = 0


@dataclass(frozen=True)
class RestPoint:
    """A time at which the design was at rest."""

    time: int
    cycle: int
    number: int


@dataclass(frozen=True)
class StatePoint:
    """A time at which the states inside were looked at. changed: element (counted over all states) -> its value since then."""

    time: int
    changed: Mapping[int, str]


@dataclass
class Events:
    """The events of a run, each kind in the order of time."""

    operations: list[DoneOperation] = field(default_factory=list[DoneOperation])
    writes: list[MemoryWrite] = field(default_factory=list[MemoryWrite])
    words: list[StreamWord] = field(default_factory=list[StreamWord])
    commits: list[CommitEvent] = field(default_factory=list[CommitEvent])
    snapshots: list[RestPoint] = field(default_factory=list[RestPoint])
    states: list[StatePoint] = field(default_factory=list[StatePoint])


def read_events(folder: Path, script: ReplayScript, plan: BenchPlan, observed: Observation) -> Events:
    """Read the events from the folder of a run."""
    found = Events()
    begun: dict[int, int] = {}
    counts: dict[str, int] = {}
    rules: dict[int, int] = {}
    posted = {n for name in observed.posted for n in spaces_of(plan, name)}
    waiting: dict[int, list[MemoryWrite]] = {}  # bursts without a response so far
    last = 0
    changed: dict[int, str] = {}
    for line in (folder / "results.txt").read_text(errors="replace").splitlines():
        kind, *words = line.split("|")
        if kind == "B":
            begun[int(words[0])] = last = int(words[1])
        elif kind == "R":
            last = int(words[3])
            done = DoneOperation(
                int(words[0]), begun[int(words[0])], last, int(words[2], 16), int(words[4]) if len(words) > 4 else -1
            )
            found.operations.append(done)
            found.commits += _read_commits(done, int(words[1]), script, plan, observed)
        elif kind == "W":
            last = int(words[1])
            space, address, value = (int(w, 16) for w in words[2:5])
            write = MemoryWrite(last, int(words[0]), space, address, value)
            burst = int(words[5])
            (waiting.setdefault(burst, []) if burst and space not in posted else found.writes).append(write)
        elif kind == "A":
            last = int(words[1])
            found.writes += [replace(w, time=last, cycle=int(words[0])) for w in waiting.pop(int(words[2]), [])]
        elif kind == "C":
            last = int(words[1])
            rule = int(words[2])
            found.commits.append(CommitEvent(last, int(words[0]), rule, int(words[3], 16), number=rules.get(rule, 0)))
            rules[rule] = rules.get(rule, 0) + 1
        elif kind == "S":
            last = int(words[3]) if len(words) > 3 else last  # parts of a user's own may leave the time out
            number = counts.get(words[1], 0)
            counts[words[1]] = number + 1
            word = StreamWord(last, int(words[0]), words[1], int(words[2], 16), number)
            found.words.append(word)
            found.commits += _word_commits(word, observed)
        elif kind == "T":
            changed[int(words[0])] = words[1]
        elif kind in ("P", "Q"):
            last = int(words[1])
            found.states.append(StatePoint(last, changed))
            changed = {}
            if kind == "Q":
                found.snapshots.append(RestPoint(last, int(words[0]), int(words[2])))
    for events in (found.writes, found.words, found.commits, found.snapshots, found.states):
        events.sort(key=lambda e: e.time)
    return found


def _read_commits(
    done: DoneOperation, cycle: int, script: ReplayScript, plan: BenchPlan, observed: Observation
) -> Sequence[CommitEvent]:
    op = script.ops[done.at]
    if op.code not in _READS:
        return ()
    port = next(name for name, n in plan.driven.items() if n == op.number)
    return [
        CommitEvent(done.end, cycle, n, _bits(done.value, rule.tag), level=True, number=done.at)
        for n, rule in enumerate(observed.commits)
        if isinstance(rule, ReadCommit) and (rule.port, rule.address) == (port, op.a) and done.value & rule.mask == rule.value
    ]


def _bits(value: int, mask: int) -> int:
    """The bits of a mask, lowest down."""
    return (value & mask) // (mask & -mask) if mask else 0


def _word_commits(word: StreamWord, observed: Observation) -> Sequence[CommitEvent]:
    found: list[CommitEvent] = []
    for n, rule in enumerate(observed.commits):
        if not isinstance(rule, ResponseCommit) or rule.port != word.port:
            continue
        if all(word.value >> lsb & (1 << bits) - 1 == value for lsb, bits, value in rule.when):
            tag = 0 if rule.tag is None else word.value >> rule.tag[0] & (1 << rule.tag[1]) - 1
            found.append(CommitEvent(word.time, word.cycle, n, tag, word))
    return found
