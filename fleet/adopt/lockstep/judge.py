"""Holds a run of an adopted design to its functional model: at each commit what the job wrote, at rest all of memory.

A byte that a job writes must have been written since the job began, and hold the job's value when it commits; where a younger job
that has begun writes it too, it must have held it at some time. What the design wrote in the cycle of the commit counts, but a
write with a response only once that was taken. State inside must hold the job's value when it commits, unless another job that is
under way writes the same byte. Events of a commit that no job of the run names, and words that the model does not give, are not
compared: the scope counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from fleet.adopt.bench.observe import Observation, ResponseCommit
from fleet.adopt.bench.plan import BenchPlan
from fleet.adopt.lockstep.account import Claim, DivergedAt, Trigger, account_of
from fleet.adopt.lockstep.events import CommitEvent, Events, RestPoint, StreamWord
from fleet.adopt.lockstep.history import Key, WriteHistory
from fleet.adopt.lockstep.inside import InsideStates
from fleet.adopt.lockstep.jobs import INSIDE, GivenWord, ModelJob, ModelRun, ModelWrite
from fleet.adopt.record import AccountPart

_SHOWN_BYTES = 8
_SHOWN_READS = 3


@dataclass(frozen=True)
class LockstepOutcome:
    """The result of a comparison with a model.

    Attributes:
        jobs: that the model began; commits: that were compared.
        points: times at rest at which all of memory was compared.
        compared: bytes and words.
        divergence: the first one, in words; "" if there is none.
        account: what more is told of it; claim: what a bench without the model checks instead.
        cycles: of each job that committed, from when the design took its command, in cycles of the reference clock.
        scope: what was not compared, one line each.
        uncompared: events of commits, and words, of the design that nobody compared.
    """

    jobs: int
    commits: int
    points: int
    compared: int
    divergence: str
    scope: tuple[str, ...]
    uncompared: int = 0
    account: tuple[AccountPart, ...] = ()
    claim: Claim | None = None
    cycles: tuple[int, ...] = ()


def judge_lockstep(
    plan: BenchPlan, observed: Observation, run: ModelRun, events: Events, before: Mapping[Key, int], period: int = 2
) -> LockstepOutcome:
    """Compare. before: memory at the beginning; period: of the reference clock, in units of time."""
    found = _Lockstep(plan, observed, run, events, before)
    return replace(found.outcome(), cycles=tuple(time // period for time in found.times))


class _Diverged(Exception):
    """The first difference, in words. job: whose; keys: bytes that differ -> the model's value; held: the design's, inside."""

    def __init__(
        self, text: str, job: ModelJob | None = None, keys: Mapping[Key, int] | None = None, held: Mapping[Key, int] | None = None,
        claim: Claim | None = None,
    ) -> None:  # fmt: skip
        super().__init__(text)
        self.job, self.keys, self.held, self.claim = job, keys or {}, held or {}, claim


class _Lockstep:
    def __init__(self, plan: BenchPlan, observed: Observation, run: ModelRun, events: Events, before: Mapping[Key, int]) -> None:
        self._plan, self._observed, self._events, self._before = plan, observed, events, before
        self._jobs = run.jobs
        self._said = run
        self._history = WriteHistory(events.writes, before)
        self._done: dict[int, int] = {}  # job -> time
        self.times: list[int] = []  # from a job's command to its commit
        self._left = {j.number: j.events for j in run.jobs}
        self._commits = self._points = self._compared = 0
        self._held = Counter[str]()  # port -> words compared
        self._words: dict[tuple[str, int], ModelJob] = {}  # a word that a commit with tags gives to a job
        self._inner = InsideStates(observed.states, events.states)
        self._endless = [j for j in run.jobs if j.is_job and j.rule is None]  # nothing says when they end
        self._trigger: tuple[Trigger, str, int] = "end", "", 0
        self._now = 1 << 62, 0  # time and cycle of the event or point that is compared
        self._unseen: set[int] = set()  # commits without a look at the states
        self._open = [j for j in run.jobs if j.rule is not None]  # that have not committed
        # Memory as the model has it at rest: of the first so many jobs, compared until a time.
        self._expected: dict[Key, int] = {}
        self._writers: dict[Key, ModelJob] = {}
        self._wanted: list[np.ndarray] = []
        self._applied, self._compared_until = 0, -1

    def outcome(self) -> LockstepOutcome:
        divergence, account, claim = "", (), None
        try:
            self._walk()
        except _Diverged as found:
            divergence = str(found)
            time, cycle = self._now
            at = DivergedAt(divergence, time, cycle, found.job, found.keys, found.held)
            claim = found.claim or (Claim("bytes", *self._trigger, found.keys) if found.keys else Claim("never", *self._trigger))
            open_ = [self._name(j) for j in self._open if j.begin <= time]
            account = account_of(at, self._history, self._memory, open_)
        real = sum(j.is_job for j in self._jobs)
        left = self._unnamed().total() + self._silent(whole=not divergence).total()
        scope = tuple(self._scope(whole=not divergence))
        return LockstepOutcome(real, self._commits, self._points, self._compared, divergence, scope, left, account, claim)

    def _unnamed(self) -> Counter[str]:
        """Commits that no job names -> their events in the run, which may be 0."""
        named = {j.rule for j in self._jobs}
        names = {n: c.name for n, c in enumerate(self._observed.commits) if n not in named}
        return Counter({name: sum(e.rule == n for e in self._events.commits) for n, name in names.items()})

    def _silent(self, *, whole: bool) -> Counter[str]:
        """Ports -> words that were not compared. whole: the comparison came to its end; else of ports that the model gives none."""
        given = {w.port for j in self._jobs for w in j.given}
        found = Counter(w.port for w in self._events.words)
        found.subtract({port: self._held[port] if whole or port not in given else count for port, count in found.items()})
        return +found

    def _scope(self, *, whole: bool) -> Iterator[str]:
        if not self._observed.commits:
            yield "no commit is declared: memory is compared at the end alone"
        if not self._observed.states:
            yield "only what leaves through ports is compared, nothing inside the design"
        if self._unseen:
            names = ", ".join(self._observed.commits[n].name for n in sorted(self._unseen))
            yield f"commit {names}: state inside was not looked at then, it is compared at rest alone"
        for name, count in self._unnamed().items():
            yield f"commit {name}: {_counted(count, 'event')} of the design not compared, no job names it"
        for port, count in self._silent(whole=whole).items():
            yield f"{port}: {_counted(count, 'word')} of the design not compared, the model gives none"

    def _walk(self) -> None:
        points = self._events.snapshots
        if points:
            self._inner.go_to(points[0].time)
            self._wanted = [self._inner.all(n) for n in range(len(self._observed.states))]
        # Sorted by time; commits before snapshots. What is written at the same time counts for both.
        named = {j.rule for j in self._jobs}
        steps: list[tuple[int, int, CommitEvent | RestPoint]] = [(e.time, 0, e) for e in self._events.commits if e.rule in named]
        steps += [(p.time, 1, p) for p in points[1:]]
        for _, _, step in sorted(steps, key=lambda s: s[:2]):
            self._now = step.time, step.cycle
            self._trigger = self._trigger_of(step)
            if isinstance(step, CommitEvent):
                self._event(step)
            else:
                self._at_rest(step, last=step is points[-1])
        self._now = 1 << 62, 0
        self._trigger = "end", "", 0
        self._all_words()
        for job in self._open:
            if job.rule is not None:
                missing = f"{self._left[job.number]} of {job.events} events of " if job.events > 1 else ""
                raise _Diverged(
                    f"{self._name(job)} never committed: {missing}commit {self._observed.commits[job.rule].name} did not come",
                    job,
                    claim=Claim("event", "end", *self._missing(job)),
                )

    def _trigger_of(self, step: CommitEvent | RestPoint) -> tuple[Trigger, str, int]:
        if isinstance(step, RestPoint):
            return "rest", "", step.number
        if step.word is not None:
            return "word", step.word.port, step.word.number
        return ("operation", "", step.number) if step.level else ("commit", str(step.rule), step.number)

    def _missing(self, job: ModelJob) -> tuple[str, int]:
        """The commit that a job waits for, and the number of the event that did not come."""
        return str(job.rule), sum(e.rule == job.rule for e in self._events.commits)

    # Commits.

    def _event(self, event: CommitEvent) -> None:
        rule = self._observed.commits[event.rule]
        begun = takewhile(lambda j: j.begin <= event.time, self._open)
        waiting = [j for j in begun if j.rule == event.rule]
        found = [
            j for j in waiting
            if (not rule.tagged or j.tag == event.tag) and (self._left[j.number] > 1 or j.started <= event.time)
        ]  # fmt: skip
        tag = f" with tag {event.tag}" if rule.tagged else ""
        if not found:
            if event.level:
                return
            under_way = "; ".join(self._name(j) + (f" (tag {j.tag})" if rule.tagged else "") for j in waiting[:_SHOWN_READS])
            raise _Diverged(
                f"commit {rule.name}{tag} at cycle {event.cycle}, which no job waits for; under way: {under_way or 'no job'}"
            )
        job = found[0]
        if event.word is not None and rule.tagged:
            self._words[event.word.port, event.word.number] = job
            self._word(event.word, job)
        self._left[job.number] -= 1
        if self._left[job.number]:
            return
        self._in_order(job, event, in_program_order=rule.in_program_order)
        self._done[job.number] = event.time
        if 0 <= job.taken <= event.time:
            self.times.append(event.time - job.taken)
        self._open.remove(job)
        self._commits += 1
        self._written(job, event, f"commit {self._commits} ({rule.name}{tag}, cycle {event.cycle}) of {self._name(job)}")

    def _in_order(self, job: ModelJob, event: CommitEvent, *, in_program_order: bool) -> None:
        for other in takewhile(lambda j: j.number < job.number, self._open):
            why = f"both are of queue {job.queue}" if job.queue and other.queue == job.queue else ""
            why = f"{self._name(job)} comes after it" if other.number in job.after else why
            why = "commits come in the order of the program" if in_program_order and other.rule == job.rule else why
            if why:
                raise _Diverged(f"{self._name(job)} committed at cycle {event.cycle} before {self._name(other)}: {why}", job)

    def _written(self, job: ModelJob, event: CommitEvent, what: str) -> None:
        expected = {key: v for key, v in job.bytes().items() if key[0] < INSIDE}
        younger = [j.bytes() for j in takewhile(lambda j: j.begin <= event.time, self._jobs[job.number + 1 :])]
        wrong: list[tuple[Key, int, ModelWrite]] = []
        for key, (value, write) in expected.items():
            writes = self._history.between(key, job.begin, event.time)
            held = bool(writes) and writes[-1].value == value
            held = held or (any(w.value == value for w in writes) and any(key in y for y in younger))
            if not held:
                wrong.append((key, value, write))
        self._compared += len(expected)
        if wrong:
            text = self._difference(what, job, event, wrong, len(expected))
            raise _Diverged(text, job, {key: value for key, value, _ in wrong})
        self._inside_at(job, event, what)

    def _inside_at(self, job: ModelJob, event: CommitEvent, what: str) -> None:
        mine = {
            key: v for key, v in job.bytes().items() if key[0] >= INSIDE and self._observed.states[key[0] - INSIDE].at_commits
        }  # fmt: skip
        if not mine:
            return
        if not self._inner.go_to(event.time):
            self._unseen.add(event.rule)
            return
        younger = takewhile(lambda j: j.begin <= event.time, self._jobs[job.number + 1 :])
        others = [*younger, *takewhile(lambda j: j.number < job.number, self._open), *self._endless]
        taken = {key for j in others for key in j.bytes()}
        wrong: list[tuple[Key, int, ModelWrite]] = []
        for key, (value, write) in mine.items():
            self._held_inside(key, job)
            if key not in taken:
                self._compared += 1
                if self._inner.byte(key[0] - INSIDE, key[1]) != value:
                    wrong.append((key, value, write))
        if wrong:
            (memory, address), value, write = min(wrong, key=lambda w: w[0])
            where = f"{self._memory(memory)} at {address:#x} (in {self._inner.array(memory - INSIDE, address)})"
            raise _Diverged(
                f"{what}: {where}: it holds {self._inner.byte(memory - INSIDE, address):02x}, the model {value:02x}; "
                f"{self._read_for(job, write)}; {len(wrong)} of {len(mine)} bytes differ",
                job, {key: v for key, v, _ in wrong}, {key: self._inner.byte(key[0] - INSIDE, key[1]) for key, _, _ in wrong},
            )  # fmt: skip

    def _held_inside(self, key: Key, writer: ModelJob) -> None:
        """Raise if a state has no byte of that address."""
        state = key[0] - INSIDE
        if key[1] >= self._inner.size(state):
            name, size = self._observed.states[state].name, self._inner.size(state)
            raise _Diverged(f"the model writes {name} at {key[1]:#x}, which has {size:,} bytes, for {self._name(writer)}")

    def _difference(
        self, what: str, job: ModelJob, event: CommitEvent, wrong: Sequence[tuple[Key, int, ModelWrite]], count: int
    ) -> str:  # fmt: skip
        (memory, address), _, write = min(wrong, key=lambda w: w[0])
        values = {key: value for key, value, _ in wrong}
        run = 1
        while run < _SHOWN_BYTES and (memory, address + run) in values:
            run += 1
        keys = [(memory, address + n) for n in range(run)]
        got = bytes(self._history.at(k, event.time) for k in keys)
        wanted = bytes(values[k] for k in keys)
        last = self._history.between(keys[0], job.begin, event.time)
        wrote = (
            f"the design wrote {got.hex(' ')} (cycle {last[-1].cycle})"
            if last
            else f"the design has written nothing there yet ({got.hex(' ')})"
        )
        later = self._later(keys[0], event.time) if not last else ""
        return (
            f"{what}: {self._memory(memory)} at {address:#x}: {wrote}, the model {wanted.hex(' ')}{later}; "
            f"{self._read_for(job, write)}; {len(wrong)} of {count} bytes differ"
        )

    def _later(self, key: Key, time: int) -> str:
        writes = self._history.between(key, time + 1, 1 << 62)
        return f" (it writes {writes[0].value:02x} at cycle {writes[0].cycle}, after the commit)" if writes else ""

    def _read_for(self, job: ModelJob, write: ModelWrite) -> str:
        reads = job.reads[: write.reads][-_SHOWN_READS:]
        if not reads:
            return "the model read nothing for it"
        return f"the model read {', '.join(f'{self._memory(r.memory)} {r.address:#x}: {_excerpt(r.data)}' for r in reads)}"

    # Words.

    def _all_words(self) -> None:
        """Words that no commit with tags gives to a job come in the order of the program."""
        tagged = {c.port for c in self._observed.commits if isinstance(c, ResponseCommit) and c.tagged}
        given: dict[str, list[tuple[GivenWord, ModelJob]]] = {}
        for job in self._jobs:
            for word in job.given:
                if word.port not in tagged:
                    given.setdefault(word.port, []).append((word, job))
        for word in self._events.words:
            expected = given.get(word.port)
            if expected is None:
                continue
            if word.number >= len(expected):
                raise _Diverged(
                    f"{word.port} word {word.number} (cycle {word.cycle}): {word.value:#x}, the model gives {len(expected)} words",
                    claim=Claim("words", "end", word.port, len(expected)),
                )
            self._same_word(word, *expected[word.number])
        counts = {w.port: w.number + 1 for w in self._events.words}
        for port, expected in given.items():
            if counts.get(port, 0) < len(expected):
                job = expected[counts.get(port, 0)][1]
                raise _Diverged(
                    f"{port} gave {counts.get(port, 0)} words, the model {len(expected)}; the next is of {self._name(job)}",
                    claim=Claim("words", "end", port, len(expected)),
                )

    def _word(self, word: StreamWord, job: ModelJob) -> None:
        mine = [w for w in job.given if w.port == word.port]
        number = job.events - self._left[job.number]
        if not mine:
            return
        if number >= len(mine):
            raise _Diverged(f"{word.port} word {word.number} (cycle {word.cycle}): {self._name(job)} gives {len(mine)} words")
        self._same_word(word, mine[number], job)

    def _same_word(self, word: StreamWord, expected: GivenWord, job: ModelJob) -> None:
        self._compared += 1
        self._held[word.port] += 1
        if (word.value ^ expected.value) & expected.mask:
            write = ModelWrite(0, 0, b"", len(job.reads))
            raise _Diverged(
                f"{word.port} word {word.number} (cycle {word.cycle}) of {self._name(job)}: {word.value & expected.mask:#x}, "
                f"the model {expected.value & expected.mask:#x}; {self._read_for(job, write)}",
                job,
                claim=Claim("word", "word", word.port, word.number, {}, expected.value & expected.mask, expected.mask),
            )

    # Rest.

    def _at_rest(self, point: RestPoint, *, last: bool) -> None:
        if not last and any(o.begin <= point.time <= o.end for o in self._events.operations if o.at in self._said.commands):
            return  # nobody knows whether the command has come through
        if any(j.begin <= point.time for j in self._open):
            return  # at the end a job that never commits is said instead
        if not last and any(j.is_job and j.rule is None and j.begin <= point.time for j in self._jobs):
            return
        new = set(self._history.written(self._compared_until, point.time))
        while self._applied < len(self._jobs):
            job = self._jobs[self._applied]
            if (job.begin if job.is_job else job.started) > point.time:
                break
            for key, (value, _) in job.bytes().items():
                self._expected[key], self._writers[key] = value, job
                new.add(key)
            self._applied += 1
        self._points += 1
        self._compared_until = point.time
        self._stray(point, sorted(k for k in new if k[0] < INSIDE))
        self._inside(point, [k for k in new if k[0] >= INSIDE])

    def _stray(self, point: RestPoint, keys: Sequence[Key]) -> None:
        """keys: what may differ since the point before."""
        self._compared += len(keys)
        for key in keys:
            wanted, got = self._expected.get(key, self._before.get(key, 0)), self._history.at(key, point.time)
            if wanted == got:
                continue
            write = self._history.last(key, point.time)
            wrote = f"it holds {got:02x}"
            if write is not None:
                wrote = f"the design wrote {got:02x} (cycle {write.cycle}{self._during(write.time)})"
            where = f"{self._memory(key[0])} at {key[1]:#x}"
            raise _Diverged(
                f"at rest (cycle {point.cycle}): {where}: {wrote}, {self._whose(key, wanted)}",
                self._writers.get(key),
                {key: wanted},
            )

    def _whose(self, key: Key, wanted: int) -> str:
        if key in self._writers:
            return f"the model {wanted:02x}, last by {self._name(self._writers[key])}"
        return f"no job writes there, it was {wanted:02x}"

    def _during(self, time: int) -> str:
        jobs = [j for j in self._jobs if j.is_job and j.begin <= time and self._done.get(j.number, 1 << 62) >= time]
        return f", under way: {'; '.join(self._name(j) for j in jobs[:_SHOWN_READS])}" if jobs else ", no job under way"

    def _inside(self, point: RestPoint, keys: Sequence[Key]) -> None:
        self._inner.go_to(point.time)
        for key in keys:
            self._held_inside(key, self._writers[key])
            self._wanted[key[0] - INSIDE][key[1]] = self._expected[key]
        for n, (state, wanted) in enumerate(zip(self._observed.states, self._wanted, strict=True)):
            got = self._inner.all(n)
            self._compared += wanted.size
            wrong = np.flatnonzero(wanted != got)
            if wrong.size:
                first = int(wrong[0])
                where = f"{state.name} at {first:#x} (in {self._inner.array(n, first)})"
                whose = self._whose((INSIDE + n, first), int(wanted[first]))
                differ = f"{wrong.size} of {wanted.size} bytes differ"
                raise _Diverged(
                    f"at rest (cycle {point.cycle}): {where}: {got[first]:02x}, {whose}; {differ}",
                    self._writers.get((INSIDE + n, first)), {(INSIDE + n, int(k)): int(wanted[k]) for k in wrong},
                    {(INSIDE + n, int(k)): int(got[k]) for k in wrong},
                )  # fmt: skip

    # Names.

    def _name(self, job: ModelJob) -> str:
        number = sum(j.is_job for j in self._jobs[: job.number + 1])
        return f"job {number} ({job.text} at {job.where})" if job.is_job else f"{job.text} at {job.where}"

    def _memory(self, memory: int) -> str:
        if memory >= INSIDE:
            return self._observed.states[memory - INSIDE].name
        names = [p.name for p in self._plan.memories() if p.space == memory]
        return "/".join(names[:2]) or f"space {memory}"


def _excerpt(data: bytes) -> str:
    return data[:_SHOWN_BYTES].hex(" ") + (" ..." if len(data) > _SHOWN_BYTES else "")


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
