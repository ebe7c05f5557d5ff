"""`pytest sim/`: the cases come from the plugin; here the report of the whole campaign is made."""

from pathlib import Path

import pytest


@pytest.hookimpl(optionalhook=True)  # the plugin brings the hook
def pytest_fleet_campaign(config: pytest.Config, records, folder: Path) -> int:
    from fleet.night.baselines import FILE
    from fleet.night.collect import collect
    from fleet.regress.pytest_night import NIGHT
    from fleet.report.regression.campaign import CampaignEntry, write_campaign
    from fleet.report.regression.night import write_night

    entries = [
        CampaignEntry(
            r.name, None if r.outcome == "known failure" else r.result, r.error, r.replay, r.model, r.device, r.memory, r.kind,
            "skipped" if r.outcome == "known failure" else r.outcome, r.seconds, r.file,
        )
        for r in records
    ]  # fmt: skip
    files = write_campaign(entries, folder, pages=False)
    judged = collect(folder / "night", config.stash[NIGHT].folder, config.rootpath / FILE)
    night = write_night(judged, folder / "night")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"\nreport: {files.html}\nnight: {judged.headline}: {night.html}")
        for move in judged.red[:20]:
            reporter.write_line(str(move))
    return int(judged.exit_code)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("fleet").addoption("--weekly", action="store_true", help="plant every fault of the catalogue")


def _faults(config: pytest.Config) -> list[dict[str, object]]:
    """The rows of the planted faults that ran (also in other processes); see faults/."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    groups = reporter.stats.values() if reporter is not None else ()
    reports = [r for group in groups for r in group if isinstance(r, pytest.TestReport) and r.when == "call"]
    return [dict(row) for r in reports if (row := dict(r.user_properties).get("fault")) is not None]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the faults' page before the campaign's, which links to it; too few localised faults fail the run."""
    if rows := _faults(session.config):
        from faults.table import too_few_localised, write_faults

        write_faults(rows, _folder(session.config))
        if too_few_localised(rows) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _folder(config: pytest.Config) -> Path:
    return Path(str(config.getoption("--fleet-report", "reports/sim"))) / "faults"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of the planted faults, where any ran."""
    if rows := _faults(config):
        from faults.table import lines

        for line in lines(rows, _folder(config)):
            terminalreporter.write_line(line)
