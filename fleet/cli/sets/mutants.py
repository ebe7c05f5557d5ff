"""The work of `fleet isa mutants`."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from fleet.cli.progress import ProgressLine
from fleet.errors import ModelError

if TYPE_CHECKING:
    from fleet.verify.mutation.campaign import MutationTarget
    from fleet.verify.mutation.mutant import Mutant, MutantResult, Over
    from fleet.verify.mutation.probes import Effort
    from fleet.verify.mutation.store import MutantRecord

_PLACES = ("rtl", "semantics", "passes")


@dataclass(frozen=True)
class Wanted:
    """The options of the command line."""

    device: str
    count: int
    seed: int
    over: str
    jobs: int
    resume: bool
    effort: str
    work: Path
    survivors: Path
    report: Path | None
    only: str | None


def run_mutants(w: Wanted) -> int:
    """Return 0 if every mutant was found or its survival is explained, 1 otherwise. Raises FleetError."""
    from fleet.core.files import check_writable
    from fleet.isa.registry import find_device
    from fleet.verify.mutation.campaign import Campaign, drawn, judged, open_target, shares
    from fleet.verify.mutation.store import load_report, save_report
    from fleet.verify.mutation.survivors import load_survivors

    over = _places(w.over)
    known = load_survivors(w.survivors)
    find_device(w.device)
    check_writable(w.work)
    before: Mapping[str, str] = {}
    if w.report is not None:  # fail now, not after hours
        check_writable(w.report)
        before = load_report(w.report / "mutants.json").tests()
    # A mutant selected by id runs all checks, whatever the list says.
    explained = () if w.only is not None else tuple(known.values())
    campaign = Campaign(
        w.device, Path.cwd(), w.work, w.jobs, cast("Effort", w.effort), w.resume, before,
        frozenset(j.id for j in explained), frozenset(j.id for j in explained if j.kind == "equivalent"),
    )  # fmt: skip
    if w.only is not None:
        return _one(w.only, [open_target(campaign, o) for o in over])
    click.echo(f"{w.device}: {w.count} mutants, seed {w.seed}, over {', '.join(over)}")
    everything: list[MutantRecord] = []
    for place, count in shares(w.count, over):
        if not count:
            continue
        target = open_target(campaign, place)
        wanted = target.draw(count, w.seed)
        for what in target.left_out:
            click.echo(f"left out: {what}")
        began = time.monotonic()
        with ProgressLine(f"mutants of {place}") as progress:
            results = target.look(wanted, progress, told)
        records = judged(w.device, list(results.values()), known, w.seed)
        everything += records
        click.echo(_summary(place, len(target.mutants), records, time.monotonic() - began))
        if w.report is not None:
            from fleet.report.regression.mutants import write_mutants

            file = w.report / "mutants.json"
            report = load_report(file).with_draw(
                drawn(target, w.seed, len(wanted), sum(r.result.seconds for r in records)), records
            )
            save_report(file, report)
            click.echo(f"report: {write_mutants(report, w.report)}")
    holes = [r for r in everything if r.hole]
    for r in everything:
        if r.result.verdict == "survived":
            click.echo(
                f"{r.kind or 'HOLE':<12} {r.result.mutant.id} {r.result.mutant.describe()}" + (f": {r.reason}" if r.reason else "")
            )
    word = click.style("FAIL", fg="red", bold=True) if holes else click.style("PASS", fg="green", bold=True)
    again = f"; again: fleet isa mutants {w.device} --only {holes[0].result.mutant.id}" if holes else ""
    click.echo(f"{word} {len(everything)} mutants, seed {w.seed}: {len(holes)} survived without an explanation{again}")
    return 1 if holes else 0


def _places(text: str) -> list[Over]:
    found = [t.strip() for t in text.split(",") if t.strip()]
    wrong = [t for t in found if t not in _PLACES]
    if wrong or not found:
        raise ModelError(f"--over {text}: '{wrong[0] if wrong else ''}' is not a place", hint=f"of {', '.join(_PLACES)}")
    return cast("list[Over]", found)


def told(result: MutantResult) -> None:
    """Print the line of a result."""
    m = result.mutant
    what = f"by {result.test}: {result.how}" if result.verdict == "found" else f"{result.tests} tests"
    click.echo(f"  {result.verdict:<8} {m.id} {result.seconds:6.1f} s  {m.describe()} {what}"[:260])


def _summary(place: str, sites: int, records: Sequence[MutantRecord], seconds: float) -> str:
    found = sum(r.result.verdict == "found" for r in records)
    same = sum(r.kind == "equivalent" for r in records)
    holes = sum(r.hole for r in records)
    share = found / max(1, len(records) - same)
    return (
        f"{place}: {len(records)} of {sites:,} mutants in {seconds:,.0f} s: {found} found, {same} equivalent, "
        f"{len(records) - found - same - holes} with another reason, {holes} holes; found {share:.1%} of what is not equivalent"
    )


def _one(name: str, targets: Sequence[MutationTarget]) -> int:
    """Show the change and check the mutant again."""
    target = next((t for t in targets if any(m.id == name for m in t.mutants)), None)
    if target is None:
        raise ModelError(f"there is no mutant '{name}'", hint="fleet isa mutants prints ids; they change with the text around them")
    mutant = target.find(name)
    click.echo(shown_mutant(mutant))
    with ProgressLine("mutant") as progress:
        (result,) = target.look([mutant], progress, told).values()
    return 0 if result.verdict == "found" else 1


def shown_mutant(m: Mutant) -> str:
    """Show the change as a diff of its own lines."""
    lines = difflib.unified_diff(m.before.splitlines(), m.after.splitlines(), m.place, m.operator, lineterm="", n=0)
    return "\n".join([m.describe(), f"in: {m.context}", *list(lines)[2:]])
