"""Collect a night: compare its records with earlier nights and with accepted figures, and write the history.

A night can be collected at any time and repeatedly, also while it runs or after it was killed. The same records and the same
history give the same result.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.errors import ExitCode, heaviest
from fleet.night import history as h
from fleet.night.baselines import Accepted, load_baselines
from fleet.night.causes import FailureCause, find_causes, find_fixed, find_flaky
from fleet.night.gates import Before, Move, judge, judge_groups
from fleet.night.revisions import GitCommit, commits
from fleet.regress.night_records import NightRecord, Reading, read_night, without_result
from fleet.regress.requests import tiers_in

SHOWN = 60
"""Number of nights in sparklines and heat map."""


@dataclass(frozen=True)
class JudgedNight:
    """A collected night.

    Attributes:
        night: its row of the history. before: row of the previous night with the same scope, or None.
        reading: its files. records: its records, with one of outcome "not run" for each planned test without a record.
        causes: of failures. moves: of figures. means: a line for each test of a mean.
        flaky: key -> explanation. fixed: keys. gone: keys of the previous night that were not planned.
        commits: since the previous night. lines: key with a move -> cycles in the last nights.
        cells: title -> id of night -> (tests that ran, failed, moved). nights: ids in `lines` and `cells`, oldest first.
    """

    night: h.NightRow
    before: h.NightRow | None
    reading: Reading
    records: tuple[NightRecord, ...]
    causes: tuple[FailureCause, ...]
    moves: tuple[Move, ...]
    means: tuple[str, ...]
    flaky: Mapping[str, str]
    fixed: tuple[str, ...]
    gone: tuple[str, ...]
    commits: tuple[GitCommit, ...]
    lines: Mapping[str, tuple[float | None, ...]]
    cells: Mapping[str, Mapping[str, tuple[int, int, int]]]
    nights: tuple[str, ...]

    @property
    def red(self) -> tuple[Move, ...]:
        """The moves that make the night red."""
        return tuple(move for move in self.moves if move.red)

    @property
    def not_run(self) -> tuple[NightRecord, ...]:
        """The records of planned tests that did not run, or did not end."""
        return tuple(record for record in self.records if record.not_run)

    @property
    def incomplete(self) -> bool:
        """True if a planned test did not run, the session did not end, or records are damaged."""
        return bool(self.not_run) or self.reading.partial or self.reading.damaged

    @property
    def exit_code(self) -> ExitCode:
        """The heaviest code of the failures; 1 for a red figure or flaky run; 4 if only something did not run."""
        codes = [r.code or int(ExitCode.DIFFERS) for r in self.records if r.failed]
        codes += [int(ExitCode.DIFFERS)] if self.red or self.flaky else []
        codes += [int(ExitCode.INCOMPLETE)] if self.incomplete or not self.records else []
        return heaviest(codes)

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "incomplete", from the exit code."""
        return {ExitCode.AGREED: "pass", ExitCode.INCOMPLETE: "incomplete"}.get(self.exit_code, "fail")

    @property
    def headline(self) -> str:
        """One line: counts of failures, figures and tests, commits, duration."""
        new = [c for c in self.causes if c.state == "new"]
        still = [c for c in self.causes if c.state == "still failing"]
        parts: list[str] = []
        if self.reading.partial:
            parts.append(f"partial: {self.night.finished:,} of {self.night.planned:,}")
        if new:
            parts.append(f"{_many(sum(len(c.records) for c in new), 'new failure')}, {_many(len(new), 'cause')}")
        if still:
            parts.append(f"{sum(len(c.records) for c in still):,} still failing")
        if self.flaky:
            parts.append(f"{len(self.flaky):,} flaky")
        if self.not_run:
            parts.append(f"{len(self.not_run):,} not run")
        if self.reading.left_out:
            parts.append(f"{len(self.reading.left_out):,} left out by the budget")
        if self.fixed:
            parts.append(f"{len(self.fixed):,} fixed")
        if not (new or still or self.flaky):
            parts.append("no failure")
        parts += self._moved()
        if not self.reading.partial:
            parts.append(f"{self.night.finished:,} of {self.night.planned:,} ran")
        if self.before is not None and self.before.revision and self.commits:
            authors = _many(len(self.night.authors), "author")
            parts.append(f"commits {self.before.revision[:8]}..{self.night.revision[:8]}, {authors}")
        last = f", {_clock(self.before.wall or self.before.seconds)} last night" if self.before is not None else ""
        parts.append(f"{_clock(self.night.wall or self.night.seconds)}{last}")
        return "; ".join(parts)

    def _moved(self) -> list[str]:
        cycles = [m for m in self.red if "cycles " in m.figure and m.state == "moved"]
        others = [m for m in self.red if "cycles " not in m.figure and m.state == "moved"]
        counts = (
            (sum(not m.better for m in cycles), "slower"), (sum(bool(m.better) for m in cycles), "faster, not accepted"),
            (len(others), "other figures moved"), (sum(m.state == "unexplained" for m in self.red), "unexplained"),
            (sum(m.state == "expired" for m in self.red), "accepted no longer"),
        )  # fmt: skip
        return [f"{count:,} {words}" for count, words in counts if count]


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _clock(seconds: float) -> str:
    """Return hours and minutes; below a minute, seconds."""
    minutes = round(seconds / 60)
    return f"{minutes // 60:02}:{minutes % 60:02}" if seconds >= 60 else f"{seconds:.0f} s"


def collect(folder: Path, night: Path, baselines: Path) -> JudgedNight:
    """Collect a night and write it into the history in `folder`.

    Args:
        folder: of the nights and the history. night: folder of this night's records.
        baselines: file of accepted figures; may be missing.

    Raises:
        ModelError: there are no records, the file of accepted figures is bad, or the history cannot be read.
        FleetError: the history cannot be written.
    """
    accepted = load_baselines(baselines)
    reading = read_night(night)
    records = _with_missing(reading)
    number = h.number_of(reading.id)
    with h.NightHistory(folder / h.FILE, write=True) as store:
        stood, last = store.before(number)
        anchors = _Anchors(store, number, accepted)
        moves, means = _moves(records, stood, accepted, reading.until, store.processor(number), anchors)
        flaky = find_flaky(reading, last)
        row, before, made = _row(reading, records, moves, store)
        digest = _digest(records, moves, row)
        if (old := next((n for n in store.nights() if n.number == number), None)) is None or old.digest != digest:
            row = replace(row, digest=digest)
            store.add(row, records, moves, accepted.values())
        else:
            row = old
        ids = tuple(n.id for n in store.nights() if n.number <= number)
        failing = [r.key for r in records if r.failed]
        causes = find_causes(records, flaky, store.failing_since(failing, number), reading.id, ids)
        revisions = {n.id: n.revision for n in store.nights()}
        causes = tuple(_with_suspects(c, stood, revisions, row.revision) for c in causes)
        known = {r.key for r in records}
        old_runs = {} if before is None else store.runs(before.number)
        gone = tuple(sorted(key for key, r in old_runs.items() if key not in known and r.node not in reading.left_out))
        lines = {m.key: store.cycles(m.key, number, SHOWN) for m in moves if m.state != "warning"}
        return JudgedNight(
            row, before, reading, records, causes, moves, means, flaky, find_fixed(records, last, flaky), gone, made, lines,
            store.cells(number, SHOWN), ids[-SHOWN:],
        )  # fmt: skip


def _with_missing(reading: Reading) -> tuple[NightRecord, ...]:
    """Return the records, with one of outcome "not run" for each planned test without a record."""
    why, code = "was planned and did not run", int(ExitCode.INCOMPLETE)
    tiers = tiers_in([a for session in reading.sessions for a in session.arguments or ()])
    missing = [without_result(node, reading.planned[node], why, code, tiers) for node in reading.missing]
    return tuple(sorted((*reading.records, *missing), key=lambda r: (r.kind != "case", r.kind, r.key)))


def _moves(
    records: Sequence[NightRecord], stood: Mapping[str, Before], accepted: Mapping[tuple[str, str], Accepted], until: str,
    processor: Mapping[str, Sequence[float]], anchors: _Anchors,
) -> tuple[tuple[Move, ...], tuple[str, ...]]:  # fmt: skip
    day = datetime.datetime.fromisoformat(until).date()
    own: dict[str, dict[str, Accepted]] = {}
    for (key, figure), entry in accepted.items():
        own.setdefault(key, {})[figure] = entry
    found: list[Move] = []
    for record in records:
        if not record.not_run:
            found += judge(record, stood.get(record.key), own.get(record.key, {}), day, processor.get(record.key, ()))
    groups, means = judge_groups(records, stood, accepted, day, anchors)
    order = ("unexplained", "moved", "expired", "accepted", "warning")
    return tuple(sorted((*found, *groups), key=lambda m: (order.index(m.state), m.figure, m.key))), means


class _Anchors:
    """Maps a group to its baseline runs: those after the first of the last nights, or after the group was last accepted."""

    def __init__(self, store: h.NightHistory, number: int, accepted: Mapping[tuple[str, str], Accepted]) -> None:
        """number: of the collected night."""
        self._store = store
        earlier = [night.number for night in store.nights() if night.number < number]
        self._first = earlier[-SHOWN:][0] if earlier else number
        self._since: dict[str, int] = {}
        for (key, figure), entry in accepted.items():
            if figure.startswith(("mean ", "drift ")) and not (at := h.number_of(entry.night)) >= number:
                self._since[key] = max(at, self._since.get(key, 0))
        self._known: dict[int, Mapping[str, Before]] = {}

    def __call__(self, group: str) -> Mapping[str, Before]:
        """Return the baseline runs of a group, by key."""
        night = max(self._first, self._since.get(group, 0))
        if night not in self._known:
            self._known[night] = self._store.before(night + 1)[0]
        return self._known[night]


def _row(
    reading: Reading, records: Sequence[NightRecord], moves: Sequence[Move], store: h.NightHistory
) -> tuple[h.NightRow, h.NightRow | None, tuple[GitCommit, ...]]:  # fmt: skip
    head = reading.sessions[-1]
    number = h.number_of(reading.id)
    scope = reading.sessions[0].scope
    earlier = [n for n in store.nights() if n.number < number and n.scope == scope]
    before = earlier[-1] if earlier else None
    made = commits(before.revision, head.revision) if before is not None else ()
    row = h.NightRow(
        number, reading.id, reading.at, reading.until, head.revision, head.branch, head.changed, scope,
        tuple(sorted({r.host for r in reading.records if r.host})), dict(head.tools), tuple(sorted({c.author for c in made})),
        len(records), sum(not r.not_run for r in records), sum(r.failed for r in records), sum(m.red for m in moves),
        reading.partial, round(sum(r.seconds for r in records), 3), round(reading.wall, 3), "",
    )  # fmt: skip
    return row, before, made


def _digest(records: Sequence[NightRecord], moves: Sequence[Move], row: h.NightRow) -> str:
    digest = hashlib.sha256(repr(row).encode())
    for record in records:
        digest.update(json.dumps(record.to_json(), sort_keys=True).encode())
    for move in moves:
        digest.update(repr(move).encode())
    return digest.hexdigest()


def _with_suspects(cause: FailureCause, stood: Mapping[str, Before], revisions: Mapping[str, str], revision: str) -> FailureCause:
    """Return the cause with its suspects and the changed parts of its content."""
    first = revisions.get(cause.since, revision)
    suspects = commits(revisions.get(cause.passed, ""), first) if cause.passed else ()
    record = cause.first
    then = stood.get(record.key)
    changed = tuple(k for k in record.parts if then is not None and then.parts.get(k) != record.parts[k])
    return replace(cause, suspects=tuple(map(str, suspects)), changed=changed)
