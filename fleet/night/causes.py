"""Failures of one signature are one cause: new or still there, since when, and what was changed before it began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fleet.cosim.night_records import NightRecord, Reading
from fleet.night.history import RunRow

__all__ = ["Cause", "find_causes", "find_fixed", "find_flaky"]

State = Literal["new", "still failing", "flaky"]


@dataclass(frozen=True)
class Cause:
    """Failures that fail in the same way.

    Attributes:
        signature: the way; state: "new" where none of them failed the last time it ran; records: ascending by key.
        since: id of the first night of the oldest failure; nights: how many nights lie between, that one counted.
        passed: the last night before it in which that key passed, None where it never did.
        suspects: commits since then, as text; changed: parts of the content that differ from then.
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
        """The failure that is shown: the one that took least time."""
        return min(self.records, key=lambda r: (not r.replay, r.seconds, r.key))


def find_flaky(reading: Reading, last: Mapping[str, RunRow]) -> dict[str, str]:
    """Key -> how: two outcomes of the same content, in one night, or since the last time that it ran."""
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
    """Keys that failed the last time and pass now."""
    passed = [r.key for r in records if r.outcome == "passed" and r.key not in flaky]
    return tuple(key for key in passed if key in last and last[key].outcome == "failed")


def find_causes(
    records: Sequence[NightRecord], flaky: Mapping[str, str], since: Mapping[str, tuple[str, str | None]], night: str,
    nights: Sequence[str],
) -> tuple[Cause, ...]:  # fmt: skip
    """The causes of the failures, new ones first, then by how many they are.

    since: key -> (first night of its row of failures before this one, "" for none; the night in which it passed before that).
    nights: ids of all nights up to this one.
    """
    by: dict[str, list[NightRecord]] = {}
    for record in records:
        if record.failed:
            by.setdefault(record.signature or record.error or record.outcome, []).append(record)
    found: list[Cause] = []
    for signature, failed in by.items():
        firsts = [(since.get(r.key, ("", None))[0] or night, r.key) for r in failed]
        first, key = min(firsts)
        state: State = "still failing" if first != night else "new"
        if all(r.key in flaky for r in failed):
            state = "flaky"
        age = sum(first <= n <= night for n in nights)
        found.append(
            Cause(
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
