"""The pytest plugin: case files become test items, one a run; stored streams too (`fleet.cosim.pytest_bundles`).

A file is a case when it is a `.toml` in a folder named `cases`. `pytest sim/` collects sim/cases and the cases that
installed instruction sets bring; quick runs by default, all with --nightly. Every run stores its result under
`<--fleet-report>/<case>/<run id>/result.json`. At the end hook `pytest_fleet_campaign` gets all of them (sim/conftest.py
makes the report out of it). Nothing of fleet is imported before a case is collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from fleet.cosim.pytest_bundles import BundleFile, close_runners, is_bundle

if TYPE_CHECKING:
    from fleet.cosim.cases import CaseRun
    from fleet.cosim.waivers import Waiver

__all__ = ["CampaignRecord", "CaseFile", "CaseItem"]


@dataclass(frozen=True)
class CampaignRecord:
    """One run for the campaign's report.

    name: "digits[hbm_small-ideal-0]"; result: the stored result.json, None when there is none; error: why, one line;
    replay: the one command that runs it again; model, device, memory: for the matrix where there is no result.
    """

    name: str
    result: Path | None
    error: str | None
    replay: str
    model: str
    device: str
    memory: str


class Hooks:
    """Hooks that the plugin calls."""

    @pytest.hookspec
    def pytest_fleet_campaign(self, config: pytest.Config, records: Sequence[CampaignRecord], folder: Path) -> None:
        """After the last run, in the main process, when any case ran: makes the report under `folder`."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Registers `Hooks`."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """--nightly and --fleet-report."""
    group = parser.getgroup("fleet", "co-simulation cases")
    group.addoption("--nightly", action="store_true", help="run the nightly tier of the cases too")
    group.addoption(
        "--fleet-report", metavar="DIR", default="reports/sim", help="where results and report go (default: %(default)s)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Adds the installed instruction sets' cases where a folder with cases is asked for."""
    config.addinivalue_line("markers", "quick: a run of the quick tier of the cases")
    config.addinivalue_line("markers", "nightly: left out without --nightly")
    asked = _asked(config)
    config.stash[_ASKED] = asked
    config.stash[_RECORDS] = []
    if not asked:
        return
    known = {p.resolve() for p in asked}
    from fleet.isa.registry import instruction_sets

    for instruction_set in instruction_sets().values():
        folder = instruction_set.cases
        if folder is None or not any(folder.glob("*.toml")):
            continue
        covered = any(folder.resolve().is_relative_to(p) for p in known) or str(folder) in config.args
        if not covered:
            config.args.append(str(folder))


_ASKED = pytest.StashKey[list[Path]]()
_RECORDS = pytest.StashKey[list[CampaignRecord]]()


def _asked(config: pytest.Config) -> list[Path]:
    """Folders among the arguments that have cases below, and are not a whole project."""
    found: list[Path] = []
    for argument in config.args:
        path = Path(argument.split("::", 1)[0])
        if (path.name == "cases" and path.is_dir()) or (path / "cases").is_dir():
            found.append(path)
    return found


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A case file, a bundle, or None."""
    if is_bundle(file_path):
        return BundleFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownVariableType]
    if file_path.suffix == ".toml" and file_path.parent.name == "cases":
        return CaseFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownVariableType]
    return None


class CaseFile(pytest.File):
    """A case: its waivers' check, then its runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item a run. A bad file is a collection error of one line."""
        from fleet.cosim.case_runs import waivers_file
        from fleet.cosim.cases import find_cases, load_case
        from fleet.cosim.waivers import load_waivers
        from fleet.errors import FleetError

        try:
            case = load_case(self.path)
            if self.path == min(self.path.parent.glob("*.toml")):
                names = {c.name for c in find_cases(self.path.parent)}
                waivers = load_waivers(waivers_file(case))
                if waivers:
                    yield WaiverItem.from_parent(self, name="waivers", waivers=waivers, cases=names)
        except FleetError as error:
            raise self.CollectError(str(error)) from None
        for run in case.runs:
            yield CaseItem.from_parent(self, name=run.name, run=run)


class WaiverItem(pytest.Item):
    """No waiver is expired or names a case that does not exist."""

    def __init__(self, *, waivers: tuple[Waiver, ...], cases: set[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._waivers, self._cases = waivers, cases

    def runtest(self) -> None:
        """Raises ComparisonFailure."""
        import datetime

        from fleet.cosim.waivers import check_waivers

        check_waivers(self._waivers, datetime.date.today(), self._cases)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """One line."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """For the summary."""
        return self.path, None, "waivers"


class CaseFailure(Exception):
    """A run whose verdict is not "pass"."""


class CaseItem(pytest.Item):
    """One run of a case. `run_`: what it runs."""

    def __init__(self, *, run: CaseRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_ = run
        self.add_marker(pytest.mark.nightly if run.tier == "nightly" else pytest.mark.quick)

    def runtest(self) -> None:
        """Runs, stores the result, fails with its reasons."""
        import datetime

        from fleet.cosim.case_runs import CaseOptions, result_folder, run_case
        from fleet.errors import FleetError

        root = Path(str(self.config.getoption("--fleet-report")))
        now = datetime.datetime.now(datetime.UTC)
        options = CaseOptions(today=now.date(), date=now.isoformat(timespec="seconds"))
        record = {"fleet": True, "replay": self.replay, "model": self.run_.case.model, "device": self.run_.device or "host"}
        record |= {"memory": self.run_.memory, "name": self.run_.name}
        try:
            result = run_case(self.run_, options)
            record["result"] = str(result.save(result_folder(root, self.run_)))
        except FleetError as error:
            record["error"] = str(error)
            raise
        finally:
            self.user_properties.extend((f"fleet_{k}", v) for k, v in record.items())
        if result.verdict != "pass":
            lines = [f"{result.verdict}: {self.run_.name}", *(f"  {reason}" for reason in result.reasons[:20])]
            if result.divergence is not None and result.divergence.what not in "\n".join(lines):
                lines.append(f"  first divergence: {result.divergence.what}")
            raise CaseFailure("\n".join(lines))

    @property
    def replay(self) -> str:
        """The one command that runs it again."""
        return self.run_.replay(Path.cwd())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reasons and the command; a traceback only for a bug."""
        from fleet.errors import FleetError

        if isinstance(excinfo.value, FleetError | CaseFailure):
            return f"{excinfo.value}\nreplay: {self.replay}"
        return f"{super().repr_failure(excinfo)}\nreplay: {self.replay}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """For the summary."""
        return self.path, None, self.name


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the nightly tier out by default; no case where cases were asked for is an error."""
    asked = config.stash.get(_ASKED, [])
    cases = [item for item in items if isinstance(item, CaseItem)]
    if asked and not cases and not session.testsfailed:
        raise pytest.UsageError(f"no case was found in {', '.join(str(p) for p in asked)}: nothing would be compared")
    if config.getoption("--nightly"):
        return
    left_out = [
        item
        for item in items
        if (item.run_.tier == "nightly" if isinstance(item, CaseItem) else item.get_closest_marker("nightly") is not None)
    ]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


class _Gatherer:
    """Gathers the records of all runs, also of other processes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = {k.removeprefix("fleet_"): v for k, v in report.user_properties if k.startswith("fleet_")}
        if report.when != "call" or not properties:
            return
        result = cast("str | None", properties.get("result"))
        error = cast("str | None", properties.get("error"))
        if result is None and error is None:
            error = "internal error: " + (report.longreprtext.strip().splitlines() or ["?"])[0]
        texts = [str(properties[k]) for k in ("replay", "model", "device", "memory")]
        record = CampaignRecord(str(properties["name"]), None if result is None else Path(result), error, *texts)
        self._config.stash[_RECORDS].append(record)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """The main process gathers."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Gatherer(session.config), "fleet-gatherer")


def _hold_seeds(session: pytest.Session, records: Sequence[CampaignRecord]) -> None:
    """Runs of a case whose seeds changed nothing fail the session: it would have compared the same thing twice."""
    from fleet.cosim.result import CosimResult
    from fleet.cosim.settings_held import ignored_seeds

    cases: dict[str, list[Path]] = {}
    for record in records:
        if record.result is not None:
            cases.setdefault(record.name.partition("[")[0], []).append(record.result)
    several = [paths for paths in cases.values() if len(paths) > 1]
    lines = [line for paths in several for line in ignored_seeds([CosimResult.load(path) for path in paths])]
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for line in lines:
        if reporter is not None:
            reporter.write_line(f"\nFAILED {line}")
    if lines and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ends simulations, hands the records over."""
    close_runners(session.config)
    records = session.config.stash.get(_RECORDS, [])
    if records and not hasattr(session.config, "workerinput"):
        _hold_seeds(session, records)
        folder = Path(str(session.config.getoption("--fleet-report")))
        records = sorted(records, key=lambda r: r.name)
        session.config.hook.pytest_fleet_campaign(config=session.config, records=records, folder=folder)
