"""The work of `fleet isa check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.sets.target import find_target
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.verify.conformance.sample import SampleFailure


def check_installed(
    name: str, device: str | None, draws: int, sample: int, seed: int, rtl: bool | None, folder: Path | None = None
) -> int:
    """Print findings and what was checked. Returns 0 without findings, else 1. Raises FleetError if the set cannot be loaded.

    folder: for streams that fail on hardware, so that `fleet why` can explain them; None: they are not kept.
    """
    from fleet.isa.checking.whole import check_set
    from fleet.isa.conformance import sources
    from fleet.verify.conformance.costs import CostSample
    from fleet.verify.conformance.sample import run_sample, sample_names
    from fleet.verify.conformance.suite import is_case_name

    found, chip = find_target(name, device)
    report = check_set(found, chip, draws=draws, seed=seed)
    for finding in report.findings:
        click.echo(str(finding))
    count, full = len(report.findings), ""
    click.echo(f"{found.name} on {chip.name}: {report.instructions} instructions, {report.draws} calls drawn with seed {seed}")
    if report.findings:
        click.echo("conformance: not run, because of what stands above")
    elif sources(found):
        hardware = found.rtl is not None if rtl is None else rtl
        cases = sample_names(chip.name, sample)
        costs = CostSample(found, chip)
        ran = list(run_sample(chip.name, cases, rtl=hardware, costs=costs))
        failures = [f for f in ran if f is not None]
        for failure in failures:
            click.echo(failure.line)
        wrong_costs = list(costs.findings())
        for finding in wrong_costs:
            click.echo(str(finding))
        seen = _host(chip.name) if hardware else []
        for line in seen:
            click.echo(line)
        count += len(failures) + len(wrong_costs) + len(seen)
        whole = sum(f is None or is_case_name(f.name) for f in ran)  # the others are variants of cases
        full = f", {len(cases) - whole} left out: the memory is too small" if whole < len(cases) else ""
        click.echo(f"conformance: {whole} cases on {'iss and rtl' if hardware else 'iss'}, {len(failures)} failed{full}")
        if folder is not None:
            _keep(failures, folder)
    word = click.style("FAIL", fg="red", bold=True) if count else click.style("PASS", fg="green", bold=True)
    click.echo(f"{word} {count} finding{'s' * (count != 1)}{full}")
    return 1 if count else 0


def _host(device: str) -> list[str]:
    """Lines of what a host would see and should not."""
    from fleet.streams.run import StreamRunner
    from fleet.verify.conformance.host import wrong_for_hosts

    with StreamRunner(device) as runner:
        return wrong_for_hosts(runner)


def _keep(failures: Sequence[SampleFailure], folder: Path) -> None:
    """Store the streams that failed, the first of them last: it is the one that `fleet why` explains."""
    from fleet.streams.bundle import save_bundle

    outcomes = [f.outcome for f in failures if f.outcome is not None]
    try:
        stored = [save_bundle(o, folder) for o in reversed(outcomes)]
    except FleetError as error:  # what was found stands all the same
        click.echo(f"the streams that failed are not kept: {error}")
        return
    if stored:
        many = f"{len(stored)} streams that failed are" if len(stored) > 1 else "the stream that failed is"
        click.echo(f"{many} kept in {folder}; why: fleet why {stored[-1].parent}")
