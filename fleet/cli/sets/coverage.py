"""The work of `fleet isa coverage`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.progress import ProgressLine
from fleet.errors import ComparisonFailure, DeviceError, ModelError

if TYPE_CHECKING:
    from fleet.verify.coverage.account import CoverageAccount
    from fleet.verify.coverage.bins import BinSpace
    from fleet.verify.coverage.rtl import RtlCoverage

_SHOWN = 12


@dataclass(frozen=True)
class CoverageRequest:
    """The command's options. seconds 0: nothing runs, `merge` is shown."""

    device: str
    seconds: float
    jobs: int
    seed: int
    steer: bool
    rtl: bool
    report: Path
    merge: tuple[Path, ...]
    until: float | None = None


def run_isa_coverage(asked: CoverageRequest) -> int:
    """Return 0 if all comparisons of the run agreed, 1 if one did not. Raises FleetError."""
    from fleet.core.files import check_writable
    from fleet.isa.registry import find_device
    from fleet.report.regression.coverage import write_coverage
    from fleet.verify.coverage.account import load_account
    from fleet.verify.coverage.bins import space_of
    from fleet.verify.coverage.run import CoveragePlan, new_account, run_coverage

    if not asked.seconds and not asked.merge:
        raise ModelError("nothing would be run or shown", where=asked.device, hint="give --budget, or --merge FILE")
    space = space_of(*find_device(asked.device))
    check_writable(asked.report)
    total = new_account(space)
    for path in asked.merge:
        total.merge(load_account(path))
    rtl: RtlCoverage | None = None
    if asked.seconds > 0:
        plan = CoveragePlan(
            asked.device, asked.seconds, asked.seed, asked.jobs, asked.steer, asked.rtl, asked.report / "runs",
            asked.until,
        )  # fmt: skip
        click.echo(f"{space.instruction_set.name} on {asked.device}: {len(space.open):,} bins, seeds from {asked.seed}")
        with ProgressLine("coverage") as bar:
            total.merge(run_coverage(plan, total, lambda a, s: bar(s / plan.seconds, _words(space, a))))
        total.save(asked.report / "account.json")  # save it before the hardware's counts may fail
        if asked.rtl:
            rtl = _hardware(asked, space)
    if not total.programs and total.left_out:
        raise DeviceError(
            f"nothing was run: memory is too small for {_left_out(total)}", where=asked.device, hint="give it more memory"
        )
    if not total.programs and not total.failures:
        raise ComparisonFailure("nothing was run", where=asked.device, hint="give a larger --budget, or --merge FILE")
    rtl = rtl or _known_hardware(asked, total)
    total.save(asked.report / "account.json")
    page = write_coverage(space, total, rtl, asked.report)
    for line in _lines(space, total, rtl):
        click.echo(line)
    click.echo(f"account {asked.report / 'account.json'}, page {page}")
    return 1 if total.failures else 0


def _words(space: BinSpace, account: CoverageAccount) -> str:
    met = sum(k in account.met for k in space.open)
    return f"{met:,} of {len(space.open):,} bins, {account.instructions:,} instructions, {len(account.failures)} failed"


def _hardware(asked: CoverageRequest, space: BinSpace) -> RtlCoverage:
    from fleet.engines.rtl_sim.build import design_of
    from fleet.isa.registry import description_hash
    from fleet.verify.coverage.rtl import load_exclusions, measure

    folder = asked.report / "runs"
    files = sorted(folder.glob("rtl-*/simulation/coverage-*.dat"))
    if not files:
        raise ModelError("the simulation left no counts", where=str(folder))
    sources = design_of(space.instruction_set, space.device).sources
    found = description_hash(space.instruction_set, space.device)
    measured = measure(asked.device, found, files, sources, load_exclusions(space.hints.exclusions), folder)
    measured.save(asked.report / "rtl.json")
    return measured


def _known_hardware(asked: CoverageRequest, total: CoverageAccount) -> RtlCoverage | None:
    """Return the hardware counts beside the last merged account that has some, if their description is the same."""
    from fleet.verify.coverage.rtl import load_rtl

    for path in reversed(asked.merge):
        beside = path.with_name("rtl.json")
        if beside.is_file():
            found = load_rtl(beside)
            if (found.device, found.description_hash) == (total.device, total.description_hash):
                return found
    return None


def _lines(space: BinSpace, account: CoverageAccount, rtl: RtlCoverage | None) -> Iterator[str]:
    from fleet.verify.coverage.bins import FAMILIES, family

    every = Counter(family(k) for k in space.open)
    met = Counter(family(k) for k in space.open if k in account.met)
    for f in FAMILIES:
        if every[f]:
            yield f"  {f:<10} {met[f]:>6,} of {every[f]:>6,}  {_share(met[f], every[f])}"
    impossible = len(space.bins) - len(space.open)
    yield f"  all        {met.total():>6,} of {every.total():>6,}  {_share(met.total(), every.total())}; {impossible:,} impossible"
    yield from _holes([k for k in space.open if k not in account.met])
    if rtl is not None:
        parts = [f"{kind} {_share(*rtl.total(kind))}" for kind in ("lines", "branches", "toggles", "assertions")]
        yield f"hardware: {', '.join(parts)}"
    if account.left_out:
        yield f"left out, because the memory of {account.device} is too small: {_left_out(account)}"
    yield from (f"  {f}" for f in account.failures[:_SHOWN])
    seeds = ", ".join(map(str, account.seeds))
    word = click.style("FAIL", fg="red", bold=True) if account.failures else click.style("PASS", fg="green", bold=True)
    yield (
        f"{word} {account.programs:,} programs, {account.instructions:,} instructions compared in {account.seconds:,.0f} s of "
        f"workers ({account.cpu:,.0f} s of processors), seeds {seeds}; {len(account.failures)} failed"
    )


def _left_out(account: CoverageAccount) -> str:
    return ", ".join(f"{count:,} of {what}" if what != "program" else f"{count:,} programs of several instructions"
                     for what, count in sorted(account.left_out.items()))  # fmt: skip


def _share(met: int, every: int) -> str:
    return f"{100 * met / every:5.1f} %" if every else "-"


def _holes(holes: Sequence[str]) -> Iterator[str]:
    """Yield the largest groups of unmet bins: by the key without its last part, crosses by instruction and mode."""
    groups = Counter(":".join(k.split(":")[:3]) if ":cross:" in k else k.rpartition(":")[0] for k in holes)
    if groups:
        yield f"largest holes of {len(holes):,}:"
    for key, count in groups.most_common(_SHOWN):
        yield f"  {count:>4} {key}"
