"""Nights of made-up runs, written as `pytest sim/` writes them. Nothing here was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from fleet.night import history as h
from fleet.night.collect import JudgedNight, collect
from fleet.regress.night_records import Classes, End, NightRecord, SessionHead, SessionPlan, StartOfTest, Writer

MEMORIES = ("ideal", "fixed", "stall", "timed")


def night_id(day: int) -> str:
    """The id of the night of a day of the years from 2026 on, 28 days a month."""
    year, rest = divmod(day, 12 * 28)
    month, of = divmod(rest, 28)
    return f"{2026 + year}{month + 1:02}{of + 1:02}T020000Z-{day:06x}"


def at(day: int, minute: int = 0) -> str:
    name = night_id(day)
    return f"{name[:4]}-{name[4:6]}-{name[6:8]}T{2 + minute // 60:02}:{minute % 60:02}:00+00:00"


class RunChanges(TypedDict, total=False):
    """Fields of a record that `run` takes in place of its own."""

    node: str
    at: str
    processor: float
    figures: Mapping[str, float]
    classes: Mapping[str, Classes]
    tags: tuple[str, ...]


class HeadChanges(TypedDict, total=False):
    """Fields of a session's head that `head` takes in place of its own."""

    at: str
    revision: str


class Ended(TypedDict, total=False):
    """How a written night ended. planned: nodes without a record; end: False if the session was killed."""

    planned: Sequence[str]
    end: bool


def run(case: str = "digits", memory: str = "ideal", seed: int = 0, day: int = 0, **changes: Unpack[RunChanges]) -> NightRecord:
    """A run that passes; its cycles depend on the memory alone."""
    key = f"{case}[small-{memory}-{seed}]"
    file = f"sim/cases/{case}.toml"
    cycles = 1000.0 + 500 * MEMORIES.index(memory)
    figures = {"cycles rtl": cycles, "cycles rtl logits": cycles - 100, "over iss-vs-vm": 0.5, "sqnr iss-vs-vm logits": 42.0}
    made = NightRecord(
        key, f"{file}::{key}", "case", "passed", replay=f"fleet case run {file} --only small-{memory}-{seed}", file=file,
        seconds=1.5, processor=1.2, case=case, model=f"{case}.py:forward", device="small", memory=memory, seed=seed,
        group=f"{case}[small-{memory}]", figures=figures, content=f"{key}-1",
        parts={"model": "m", "data": "d", "software": "1", "hardware": "h"}, host="one", at=at(day, 5),
    )  # fmt: skip
    return replace(made, **changes)


def changed(record: NightRecord, content: str = "2", /, **figures: float) -> NightRecord:
    """The run of another content; figures: first word -> value of the first figure that begins with it."""
    named = {next(n for n in record.figures if n.startswith(word)): value for word, value in figures.items()}
    parts = {**record.parts, "software": content}
    return replace(record, content=f"{record.key}-{content}", parts=parts, figures={**record.figures, **named})


def failed(record: NightRecord, signature: str = "rtl-vs-iss: commit at mvm, values") -> NightRecord:
    return replace(record, outcome="failed", code=1, error="rtl-vs-iss: 3 commits differ", signature=signature)


def head(day: int, **changes: Unpack[HeadChanges]) -> SessionHead:
    made = SessionHead(night_id(day), at(day), "pytest sim", "sim", "s", f"{day:040x}", "main", False, "one", {"python": "3"})
    return replace(made, **changes)


def write(folder: Path, day: int, records: Iterable[NightRecord], **how: Unpack[Ended]) -> Path:
    """The records of a night on the disk."""
    rows = list(records)
    below = folder / "night" / "nights" / night_id(day)
    main = Writer(below, "one-main")
    main.write(head(day))
    main.write(SessionPlan({**{r.node: r.kind for r in rows}, **dict.fromkeys(how.get("planned", ()), "case")}))
    worker = Writer(below, "one-gw0")
    for r in rows:
        worker.write(StartOfTest(r.node, r.at))
        worker.write(r)
    worker.close()
    if how.get("end", True):
        main.write(End(at(day, 30), "ended", 600.0))
    main.close()
    return below


def judged(folder: Path, day: int, records: Iterable[NightRecord], **how: Unpack[Ended]) -> JudgedNight:
    """A night written and collected. Accepted figures are those of folder/baselines.toml."""
    return collect(folder / "night", write(folder, day, records, **how), folder / "baselines.toml")


def night_row(day: int, count: int) -> h.NightRow:
    """A row of the history."""
    name = night_id(day)
    return h.NightRow(
        h.number_of(name), name, at(day), at(day, 5), f"{day:040x}", "main", False, "sim", ("one",), {}, ("ada",), count, count,
        0, 0, False, 1.0, 600.0, f"digest {day}",
    )  # fmt: skip


def states(found: JudgedNight) -> Mapping[tuple[str, str], str]:
    return {(m.key, m.figure): m.state for m in found.moves}
