"""The range of a bisection: the revisions between which a run began to fail, or a figure moved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.cosim.run_request import RunRequest
from fleet.errors import ModelError
from fleet.night import history as h
from fleet.night.bisect import Metric
from fleet.regress.requests import request_of


@dataclass(frozen=True)
class Between:
    """A range of revisions.

    good, bad: revisions. request: runs it again. metric: the figure; None for the verdict. said: one clause.
    """

    good: str
    bad: str
    request: RunRequest
    metric: Metric | None
    said: str


def between(folder: Path, key: str, metric: str | None) -> Between:
    """Return the revisions of the last good and the first bad night of a run.

    metric: "cycles" or a whole figure ("cycles rtl"); None for the verdict. Raises ModelError if the history lacks one of them.
    """
    with h.NightHistory(folder / h.FILE) as store:
        rows = [(n, store.run(key, n.number)) for n in store.nights()]
    runs = [(n, r) for n, r in rows if r is not None and r.outcome != "not run"]
    if not runs:
        raise ModelError("the history has no run of this key", where=key, hint="`fleet night list` shows its nights")
    last = runs[-1][1]
    if metric is None:
        if last.outcome != "failed":
            raise ModelError("does not fail in the last night that it ran in", where=key, hint="name a figure with --metric")
        good = next((i for i in range(len(runs) - 1, -1, -1) if runs[i][1].outcome == "passed"), None)
        found = None
    else:
        figure = next((f for f in sorted(last.figures) if f == metric or (f.startswith(f"{metric} ") and f.count(" ") == 1)), None)
        if figure is None:
            raise ModelError(f"has no figure {metric}", where=key, hint=f"figures are {', '.join(sorted(last.figures)[:6])}")
        now = last.figures[figure]
        good = next((i for i in range(len(runs) - 1, -1, -1) if runs[i][1].figures.get(figure, now) != now), None)
        found = None if good is None else Metric(figure, runs[good][1].figures[figure], now)
    if good is None or good + 1 == len(runs) or not runs[good][0].revision:
        raise ModelError(
            "the history has no night before, of a known revision", where=key, hint="name revisions with --good and --bad"
        )
    before, after = runs[good][0], runs[good + 1][0]
    what = "failing" if found is None else f"{found.figure} {found.good:g} -> {found.bad:g}"
    said = f"between nights {before.id} and {after.id}: {what}"
    return Between(before.revision, after.revision, request_of(last.node, last.kind), found, said)
