"""Causes: failures with the same signature, their age, and the changes before the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fleet.night.history import RunRow
from fleet.regress.night_records import NightRecord, Reading

State = Literal["new", "still failing", "flaky"]


@dataclass(frozen=True)
class FailureCause:
    """Failures with the same signature.

    Attributes:
        signature: of all of them. state: "new" if none of them failed when it last ran. records: ascending by key.
        since: id of the night of the oldest failure. nights: number of nights since then, inclusive.
        passed: last night before `since` in which that key passed; None if it never did.
        suspects: commits after `passed`, as text. changed: parts of the content that differ from the baseline run.
    """

    signature: str
    state: State
    records: tuple[NightRecord, ...]
    since: str
    nights: int
    passed: str | None
    suspects: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def first(self) -> NightRecord:
        """The failure to show: the fastest one that can be replayed."""
        return min(self.records, key=lambda r: (not r.replay, r.seconds, r.key))


def find_flaky(reading: Reading, last: Mapping[str, RunRow]) -> dict[str, str]:
    """Return key -> explanation, for runs that passed and failed with the same content, in one night or since their last run."""
    found: dict[str, str] = {}
    for key, attempts in reading.attempts.items():
        outcomes = {(a.content, a.outcome) for a in attempts if a.outcome in ("passed", "failed") and a.content}
        if any((content, "passed") in outcomes and (content, "failed") in outcomes for content, _ in outcomes):
            found[key] = f"{sum(a.outcome == 'failed' for a in attempts)} of {len(attempts)} tries failed, of the same content"
    for record in reading.records:
        then = last.get(record.key)
        both = {record.outcome, then.outcome} if then is not None else set[str]()
        if then is not None and both == {"passed", "failed"} and record.content and record.content == then.content:
            found.setdefault(record.key, f"{then.outcome} the last time and {record.outcome} now, of the same content")
    return found


def find_fixed(records: Sequence[NightRecord], last: Mapping[str, RunRow], flaky: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys that failed in their last run and pass now."""
    passed = [r.key for r in records if r.outcome == "passed" and r.key not in flaky]
    return tuple(key for key in passed if key in last and last[key].outcome == "failed")


def find_causes(
    records: Sequence[NightRecord], flaky: Mapping[str, str], since: Mapping[str, tuple[str, str | None]], night: str,
    nights: Sequence[str],
) -> tuple[FailureCause, ...]:  # fmt: skip
    """Group the failures by signature; new causes first, then descending by number of failures.

    since: as `NightHistory.failing_since`. night: id of this night. nights: ids of all nights up to this one.
    """
    by: dict[str, list[NightRecord]] = {}
    for record in records:
        if record.failed:
            by.setdefault(record.signature or record.error or record.outcome, []).append(record)
    found: list[FailureCause] = []
    for signature, failed in by.items():
        firsts = [(since.get(r.key, ("", None))[0] or night, r.key) for r in failed]
        first, key = min(firsts)
        state: State = "still failing" if first != night else "new"
        if all(r.key in flaky for r in failed):
            state = "flaky"
        age = sum(first <= n <= night for n in nights)
        found.append(
            FailureCause(
                signature,
                state,
                tuple(sorted(failed, key=lambda r: r.key)),
                first,
                max(age, 1),
                since.get(key, ("", None))[1],
                (),
                (),
            )
        )
    order = ("new", "flaky", "still failing")
    return tuple(sorted(found, key=lambda c: (order.index(c.state), -len(c.records), c.signature)))
