"""The work of `fleet isa check`."""

from __future__ import annotations

import click

from fleet.cli.sets.target import find_target


def check_installed(name: str, device: str | None, draws: int, sample: int, seed: int, rtl: bool | None) -> int:
    """Print findings and what was checked. Returns 0 without findings, else 1. Raises FleetError if the set cannot be loaded."""
    from fleet.isa.checking.whole import check_set
    from fleet.isa.conformance import sources
    from fleet.verify.conformance.costs import CostSample
    from fleet.verify.conformance.sample import run_sample, sample_names

    found, chip = find_target(name, device)
    report = check_set(found, chip, draws=draws, seed=seed)
    for finding in report.findings:
        click.echo(str(finding))
    count = len(report.findings)
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
            click.echo(f"{failure.name}: {failure.reason}; fleet stream run {failure.name}")
        wrong_costs = list(costs.findings())
        for finding in wrong_costs:
            click.echo(str(finding))
        count += len(failures) + len(wrong_costs)
        full = f", {len(cases) - len(ran)} left out: the memory is too small" if len(ran) < len(cases) else ""
        click.echo(f"conformance: {len(ran)} cases on {'iss and rtl' if hardware else 'iss'}, {len(failures)} failed{full}")
    word = click.style("FAIL", fg="red", bold=True) if count else click.style("PASS", fg="green", bold=True)
    click.echo(f"{word} {count} finding{'s' * (count != 1)}")
    return 1 if count else 0
