"""Gates: how much a figure may move from one night to the next. A gain is red too until it is accepted.

| figure | compared | red if |
|---|---|---|
| cycles ENGINE | exactly; with memories other than ideal and fixed only if the content is equal | it differs |
| mean cycles ENGINE | over the phases of a group, if the content changed (`fleet.night.phases`) | the interval excludes 1 |
| drift cycles ENGINE | the same, with a night up to 60 nights ago: steps too small for one night | the interval excludes 1 |
| accuracy ENGINE | paired interval over the predictions of both nights | the interval excludes 0 |
| sqnr COMPARISON | the operation that lost most | it lost more than 1 dB |
| over COMPARISON | largest error over its bound | above 1, or doubled |
| coverage NAME | exactly | it fell |
| each of these but means | there was one, and the run passes without it | it is gone |
| processor | with 1.5 times the median of the last seven nights | never: a warning |

A figure that moves while the content is equal is "unexplained". An accepted figure is compared with the accepted value.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

from fleet.compare.tasks import paired_difference, wilson
from fleet.night.baselines import Accepted
from fleet.night.phases import compare_means
from fleet.regress.night_records import Classes, NightRecord

State = Literal["moved", "unexplained", "accepted", "expired", "warning"]

_EXACT = ("", "ideal", "fixed")
_LOST_DB = 1.0
_DOUBLED = 2.0
_SLOW = 1.5
_SLOW_NIGHTS = 7
_SLOW_LEAST_S = 2.0
"""Seconds of processor time below which the ratio is noise."""


@dataclass(frozen=True)
class Before:
    """The run that a figure is compared with: the last one of its key that passed without a red figure.

    night: id of its night. The others are as in `NightRecord`.
    """

    night: str
    figures: Mapping[str, float]
    classes: Mapping[str, Classes] = field(default_factory=dict[str, Classes])
    content: str = ""
    parts: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Move:
    """A figure that moved.

    Attributes:
        key: of the run or group. said: one clause about the move.
        before, after: values; before is None without an earlier one, after is NaN where the figure is gone.
        better: True for an improvement; None if unknown. place: file:line of the accepted figure, or "".
    """

    key: str
    figure: str
    before: float | None
    after: float
    state: State
    better: bool | None
    said: str
    place: str = ""

    def __str__(self) -> str:
        """Return one line for a terminal."""
        before = "" if self.before is None else f"{self.before:,.6g} -> "
        return f"{self.state}: {self.figure} of {self.key}: {before}{self.after:,.6g} ({self.said})"

    @property
    def red(self) -> bool:
        """True if the move makes the night red."""
        return self.state in ("moved", "unexplained", "expired")


def judge(
    record: NightRecord, before: Before | None, accepted: Mapping[str, Accepted], day: datetime.date,
    processor: Sequence[float] = (),
) -> tuple[Move, ...]:  # fmt: skip
    """Return the moves of a run's figures.

    accepted: figure -> entry, of this key. day: today. processor: seconds in the last nights.
    """
    found = [*_cycles(record, before, accepted), *_accuracy(record, before), *_sqnr(record, before), *_over(record, before)]
    found += [*_coverage(record, before), *_gone(record, before)]
    made = [_settled(move, record, before, accepted.get(move.figure)) for move in found]
    told = {move.figure for move in made}
    expired = {figure: entry for figure, entry in accepted.items() if entry.exemption.expired(day)}
    made = [_expired(move, expired[move.figure]) if move.figure in expired else move for move in made]
    for figure, entry in expired.items():
        if figure not in told and (value := _value(record, figure)) is not None:
            made.append(_expired(Move(record.key, figure, None, value, "moved", None, ""), entry))
    usual = median(processor[-_SLOW_NIGHTS:]) if processor else 0.0
    if usual and record.processor > max(_SLOW * usual, _SLOW_LEAST_S):
        said = f"{record.processor / usual:.1f} times the median of the last {len(processor[-_SLOW_NIGHTS:])} nights"
        made.append(Move(record.key, "processor", usual, record.processor, "warning", False, said))
    return tuple(made)


def _accepted(move: Move, entry: Accepted) -> Move:
    return replace(move, state="accepted", said=str(entry.exemption), place=entry.exemption.place)


def _expired(move: Move, entry: Accepted) -> Move:
    said = f"{entry.value:,.6g} was accepted by {entry.exemption}"
    return replace(move, before=entry.before, state="expired", said=said, place=entry.exemption.place)


def _settled(move: Move, record: NightRecord, before: Before | None, entry: Accepted | None) -> Move:
    """Return the move with its state: accepted, unexplained or moved."""
    if entry is not None and _agrees(move, entry):
        return _accepted(move, entry)
    if before is not None and record.content and record.content == before.content and entry is None:
        said = f"{move.said}; the content is equal: what moved it is in no hash"
        return replace(move, state="unexplained", said=said)
    if move.figure.startswith("cycles ") and record.held and not math.isnan(move.after) and (before or entry):
        return replace(move, state="accepted", said=f"by the case's norms: {record.held}")
    return move


def _agrees(move: Move, entry: Accepted) -> bool:
    kind = move.figure.partition(" ")[0]
    if math.isnan(move.after) or math.isnan(entry.value):
        return math.isnan(move.after) and math.isnan(entry.value)
    if kind == "sqnr":
        return move.after > entry.value - _LOST_DB
    if kind == "over":
        return move.after <= max(entry.value, 0.0) * _DOUBLED and (move.after <= 1 or move.after <= entry.value)
    return math.isclose(move.after, entry.value, rel_tol=1e-9)


def _value(record: NightRecord, figure: str) -> float | None:
    kind, _, of = figure.partition(" ")
    if kind == "accuracy":
        return record.classes[of].correct / record.classes[of].samples if of in record.classes else None
    if kind == "sqnr":
        rows = [v for name, v in record.figures.items() if name.startswith(f"{figure} ")]
        return min(rows, default=None)
    return record.figures.get(figure)


def _totals(figures: Mapping[str, float], kind: str) -> Iterable[tuple[str, float]]:
    """Yield the figures of a kind, without those of single operations, which have a third word."""
    return ((name, value) for name, value in figures.items() if name.startswith(f"{kind} ") and name.count(" ") == 1)


def exact_cycles(record: NightRecord) -> Mapping[str, float]:
    """Return figure -> cycles, of those that are the same in each run of this content: what can be accepted without a night before.

    Empty for a run that failed, for one whose norms hold its cycles, and for memories that answer when they please.
    """
    open_ = not (record.failed or record.not_run or record.held)
    return {} if not open_ or record.memory not in _EXACT else dict(_totals(record.figures, "cycles"))


def _cycles(record: NightRecord, before: Before | None, accepted: Mapping[str, Accepted]) -> Iterable[Move]:
    equal = before is not None and record.content != "" and record.content == before.content
    for figure, value in _totals(record.figures, "cycles"):
        if not equal and record.memory not in _EXACT and figure not in accepted:
            continue
        then = accepted[figure].value if figure in accepted else None if before is None else before.figures.get(figure)
        if figure in accepted and before is not None and then == value and before.figures.get(figure) != value:
            yield Move(record.key, figure, before.figures.get(figure), value, "moved", None, "")
        elif then is not None and then != value:
            times = f"{value / then:.3g} times as many" if then and math.isfinite(then) else "there were none"
            said = times + _most(figure, before, record)
            yield Move(record.key, figure, then, value, "moved", value < then, said)


def _most(figure: str, before: Before | None, record: NightRecord) -> str:
    """Return a clause that names the operation whose cycles moved most; "" if unknown."""
    if before is None:
        return ""
    rows = {n: record.figures[n] - v for n, v in before.figures.items() if n.startswith(f"{figure} ") and n in record.figures}
    name = max(rows, key=lambda n: abs(rows[n]), default=None)
    return "" if name is None or not rows[name] else f"; most in {name.removeprefix(figure).strip()} ({rows[name]:+,.0f})"


def _accuracy(record: NightRecord, before: Before | None) -> Iterable[Move]:
    if before is None:
        return
    data = [record.parts.get(name) == before.parts.get(name) for name in ("model", "data")]
    for engine, now in record.classes.items():
        then = before.classes.get(engine)
        if then is None or not now.samples or not then.samples:
            continue
        value, was = now.correct / now.samples, then.correct / then.samples
        paired = all(data) and now.samples == then.samples
        low, high = _paired(then, now) if paired else _unpaired(then, now)
        same = record.content != "" and record.content == before.content
        if not low <= 0 <= high or (same and value != was):
            how = "paired" if paired else "unpaired"
            said = f"{100 * (value - was):+.2f} points, {how} interval {-100 * high:+.2f} to {-100 * low:+.2f}"
            yield Move(record.key, f"accuracy {engine}", was, value, "moved", value > was, said)


def _paired(then: Classes, now: Classes) -> tuple[float, float]:
    """Return the interval of the accuracy then - now, from the rows that only one night predicts correctly.

    Both nights have the same golden.
    """
    lost, won, lost_now, won_now = set(then.lost), set(then.won), set(now.lost), set(now.won)
    only_now = len(lost - lost_now) + len(won_now - won)
    only_then = len(lost_now - lost) + len(won - won_now)
    return paired_difference(only_then, only_now, now.samples) if only_then or only_now else (0.0, 0.0)


def _unpaired(then: Classes, now: Classes) -> tuple[float, float]:
    """Return Newcombe's interval (1998) of the accuracy then - now, for different rows."""
    p, q = then.correct / then.samples, now.correct / now.samples
    (p_low, p_high), (q_low, q_high) = wilson(then.correct, then.samples), wilson(now.correct, now.samples)
    return p - q - math.hypot(p - p_low, q_high - q), p - q + math.hypot(p_high - p, q - q_low)


def _sqnr(record: NightRecord, before: Before | None) -> Iterable[Move]:
    if before is None:
        return
    same = record.content != "" and record.content == before.content
    worst: dict[str, tuple[float, str, float, float]] = {}
    for name, value in record.figures.items():
        then = before.figures.get(name) if name.startswith("sqnr ") else None
        if then is None or value == then:
            continue
        figure, _, op = name.rpartition(" ")
        lost = then - value
        if (lost > _LOST_DB or same) and lost > worst.get(figure, (-math.inf,))[0]:
            worst[figure] = (lost, op, then, value)
    for figure, (lost, op, then, value) in worst.items():
        yield Move(record.key, figure, then, value, "moved", lost < 0, f"{-lost:+.2f} dB at {op}")


def _over(record: NightRecord, before: Before | None) -> Iterable[Move]:
    same = before is not None and record.content != "" and record.content == before.content
    for figure, value in _totals(record.figures, "over"):
        then = None if before is None else before.figures.get(figure)
        if value > 1 or (then is not None and (value > _DOUBLED * then or (same and value != then))):
            said = "beyond its bound" if value > 1 else "of its bound, at most"
            yield Move(record.key, figure, then, value, "moved", then is not None and value < then, said)


def _coverage(record: NightRecord, before: Before | None) -> Iterable[Move]:
    if before is None:
        return
    for figure, value in _totals(record.figures, "coverage"):
        then = before.figures.get(figure)
        if then is not None and value < then:
            yield Move(record.key, figure, then, value, "moved", False, f"{value - then:+.4g}")


def _gone(record: NightRecord, before: Before | None) -> Iterable[Move]:
    """Yield figures that the run had and has no longer: what is not measured cannot move."""
    if before is None or record.failed:
        return
    left = _gated(before.figures, before.classes)
    for figure in sorted(left.keys() - _gated(record.figures, record.classes).keys()):
        yield Move(record.key, figure, left[figure], math.nan, "moved", None, "it is gone: the run no longer measures it")


def _gated(figures: Mapping[str, float], classes: Mapping[str, Classes]) -> Mapping[str, float]:
    """Return figure -> value, of figures with a gate; of an SQNR the lowest of its operations."""
    found = {name: value for kind in ("cycles", "over", "coverage") for name, value in _totals(figures, kind)}
    for name, value in figures.items():
        if name.startswith("sqnr "):
            figure = name.rpartition(" ")[0]
            found[figure] = min(value, found.get(figure, math.inf))
    return found | {f"accuracy {engine}": c.correct / c.samples for engine, c in classes.items() if c.samples}


def judge_groups(
    records: Sequence[NightRecord], before: Mapping[str, Before], accepted: Mapping[tuple[str, str], Accepted], day: datetime.date,
    anchor: Callable[[str], Mapping[str, Before]] | None = None,
) -> tuple[tuple[Move, ...], tuple[str, ...]]:  # fmt: skip
    """Compare means over phases, for runs with changed content and a memory whose cycles depend on the phase.

    anchor: group -> the earlier runs that its drift is compared with. A group that moved since the previous night is not tested for
    drift.

    Returns (moves, one line per tested group).
    """
    groups = _phases(records, lambda _: before)
    drifts = {} if anchor is None else _phases(records, anchor, unlike=before)
    tests = len(groups) + len(drifts)
    moves: list[Move] = []
    said: list[str] = []
    for (group, figure), (old, new) in sorted(groups.items()):
        found = compare_means(old, new, tests)
        name = f"mean {figure}"
        if found is None:
            said.append(f"{group}: {figure}: {len(old)} phases, too few to test their mean")
            continue
        said.append(f"{group}: {figure}: {found}")
        entry = accepted.get((group, name))
        if not found.moved:
            continue
        move = Move(group, name, found.before, found.after, "moved", found.ratio < 1, str(found))
        if entry is not None and entry.exemption.expired(day):
            move = _expired(move, entry)
        elif entry is not None and found.low <= entry.value / found.before <= found.high:
            move = _accepted(move, entry)
        moves.append(move)
    moved = {(move.key, move.figure.removeprefix("mean ")) for move in moves}
    for (group, figure), (old, new) in sorted(drifts.items()):
        found = compare_means(old, new, tests)
        if found is None or not found.moved or (group, figure) in moved:
            continue
        name = f"drift {figure}"
        move = Move(group, name, found.before, found.after, "moved", found.ratio < 1, f"in small steps: {found}")
        entry = accepted.get((group, name))
        moves.append(_expired(move, entry) if entry is not None and entry.exemption.expired(day) else move)
    return tuple(moves), tuple(said)


_Phases = dict[tuple[str, str], tuple[dict[int, float], dict[int, float]]]


def _phases(
    records: Sequence[NightRecord], stood: Callable[[str], Mapping[str, Before]], unlike: Mapping[str, Before] | None = None
) -> _Phases:  # fmt: skip
    """Return (group, figure) -> (seed -> cycles then, seed -> cycles now). stood: group -> the runs to compare with, by key.

    unlike: runs by key; runs of the same night are left out.
    """
    groups: _Phases = {}
    for record in records:
        if record.seed is None or record.memory in _EXACT or record.failed or record.not_run:
            continue
        then = stood(record.group).get(record.key)
        if then is None or (record.content and record.content == then.content):
            continue
        if unlike is not None and (record.key not in unlike or unlike[record.key].night == then.night):
            continue
        for figure, value in _totals(record.figures, "cycles"):
            if figure in then.figures and value > 0 and then.figures[figure] > 0:
                old, new = groups.setdefault((record.group, figure), ({}, {}))
                old[record.seed], new[record.seed] = then.figures[figure], value
    return groups
