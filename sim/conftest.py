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
