"""`pytest sim/`: the cases come from the plugin; here the report of the whole campaign is made."""

from pathlib import Path

import pytest


@pytest.hookimpl(optionalhook=True)  # the plugin brings the hook
def pytest_fleet_campaign(config: pytest.Config, records, folder: Path) -> None:
    from fleet.report.campaign import CampaignEntry, write_campaign

    entries = [CampaignEntry(r.name, r.result, r.error, r.replay, r.model, r.device, r.memory) for r in records]
    files = write_campaign(entries, folder)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"\nreport: {files.html}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of the planted faults, where any ran (also in other processes); see faults/."""
    reports = [r for group in terminalreporter.stats.values() for r in group if isinstance(r, pytest.TestReport)]
    rows = [row for r in reports if r.when == "call" and (row := dict(r.user_properties).get("fault")) is not None]
    if rows:
        from faults.table import write_faults

        write_faults(rows, Path(str(config.getoption("--fleet-report", "reports/sim"))) / "faults", terminalreporter.write_line)
