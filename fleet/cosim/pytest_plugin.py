"""The pytest plugin: case files become test items, one a run; stored streams too (`fleet.cosim.pytest_bundles`).

A file is a case when it is a `.toml` in a folder named `cases`. `pytest sim/` collects sim/cases and the cases that
installed instruction sets bring; quick runs by default, all with --nightly. Every run stores its result under
`<--fleet-report>/<case>/<run id>/result.json`. At the end hook `pytest_fleet_campaign` gets a record of everything that was
collected (sim/conftest.py makes the report out of it), and the session ends with an exit code of fleet's table
(`fleet.cosim.pytest_campaign`). Nothing of fleet but its errors is imported before a case is collected.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fleet.cosim.pytest_bundles import BundleFile, close_runners, is_bundle
from fleet.cosim.pytest_campaign import CampaignRecord, Gatherer, exit_code, home_of, refused_arguments, say_and_end
from fleet.errors import ExitCode, FleetError

if TYPE_CHECKING:
    from fleet.cosim.cases import CaseRun

__all__ = ["CampaignRecord", "CaseFile", "CaseItem"]


class Hooks:
    """Hooks that the plugin calls."""

    @pytest.hookspec
    def pytest_fleet_campaign(self, config: pytest.Config, records: Sequence[CampaignRecord], folder: Path) -> None:
        """At the end of a session that was asked for cases, in the main process: makes the report under `folder`."""


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
_RECORDS = pytest.StashKey[Sequence[CampaignRecord]]()
_GATHERER = pytest.StashKey[Gatherer]()


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
        """One item a run. A bad file is one item that fails: the other cases run."""
        from fleet.cosim.case_runs import waivers_file
        from fleet.cosim.cases import load_case

        if self.path == min(self.path.parent.glob("*.toml")) and waivers_file(self.path).exists():
            yield WaiverItem.from_parent(self, name="waivers")
        try:
            case = load_case(self.path)
            _hold_name(case.name, self.path)
        except FleetError as error:
            yield BadCaseItem.from_parent(self, name="case", error=error)
            return
        for run in case.runs:
            yield CaseItem.from_parent(self, name=run.name, run=run)


def _hold_name(name: str, path: Path) -> None:
    """Raises ModelError where a file before this one has the name; a file that cannot be read has none."""
    from fleet.core.toml_places import place
    from fleet.cosim.cases import names_of
    from fleet.errors import ModelError

    before = next((p for p, other in names_of(path.parent).items() if p.name < path.name and other == name), None)
    if before is not None:
        raise ModelError(f"name '{name}' is taken by {before}", where=place(path, "name"))


class _FileItem(pytest.Item):
    """A check of a file as a whole."""

    kind = "cases"

    @property
    def replay(self) -> str:
        """The one command that makes it again."""
        import shlex

        return f"python -m pytest {shlex.quote(self.nodeid)}"

    def note(self, name: str, **more: object) -> None:
        """What the campaign is told of it."""
        record = {"name": name, "replay": self.replay, "model": "", "device": "", "memory": "", "kind": self.kind, **more}
        self.user_properties.extend((f"fleet_{k}", v) for k, v in record.items())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """One line; a traceback only for a bug."""
        return str(excinfo.value) if isinstance(excinfo.value, FleetError) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """For the summary."""
        return self.path, None, self.name


class BadCaseItem(_FileItem):
    """A case file that cannot be read: fails with what is wrong in it."""

    def __init__(self, *, error: FleetError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._error = error
        self.add_marker(pytest.mark.quick)

    def runtest(self) -> None:
        """Raises the error."""
        self.note(f"{self.path.name}", error=str(self._error), code=int(self._error.exit_code))
        raise self._error


class WaiverItem(_FileItem):
    """No waiver is expired, ends too late, or names a case or a comparison that does not exist."""

    def runtest(self) -> None:
        """Raises ComparisonFailure; ModelError for a bad file of waivers."""
        import datetime

        from fleet.cosim.case_runs import comparisons_of, waivers_file
        from fleet.cosim.cases import good_cases
        from fleet.cosim.waivers import check_waivers, load_waivers

        file = waivers_file(self.path)
        known = {case.name: comparisons_of(case) for case in good_cases(self.path.parent)}
        try:
            check_waivers(load_waivers(file), datetime.datetime.now(datetime.UTC).date(), known)
        except FleetError as error:
            self.note(str(file.name), error=str(error), code=int(error.exit_code))
            raise
        self.note(str(file.name))


class CaseFailure(Exception):
    """A run whose verdict is not "pass"; with another one than "fail" nothing differs, and something was not compared or proved."""


class CaseItem(pytest.Item):
    """One run of a case. `run_`: what it runs."""

    def __init__(self, *, run: CaseRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_ = run
        self.add_marker(pytest.mark.nightly if run.tier == "nightly" else pytest.mark.quick)

    def runtest(self) -> None:
        """Runs, stores the result, fails with its reasons."""
        import datetime

        from fleet.core.signals import ending_signals
        from fleet.cosim.case_runs import CaseOptions, result_folder, run_case

        root = Path(str(self.config.getoption("--fleet-report")))
        now = datetime.datetime.now(datetime.UTC)
        options = CaseOptions(today=now.date(), date=now.isoformat(timespec="seconds"))
        record: dict[str, object] = {"name": self.run_.name, "replay": self.replay, "model": self.run_.case.model}
        record |= {"device": self.run_.device or "host", "memory": self.run_.memory, "code": int(ExitCode.INTERNAL)}
        try:
            with ending_signals():  # a KeyboardInterrupt that code raises is not Ctrl-C
                result = run_case(self.run_, options)
            record["result"] = str(result.save(result_folder(root, self.run_)))
            record["code"] = int(result.exit_code)
        except FleetError as error:
            record |= {"error": str(error), "code": int(error.exit_code)}
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
    bad = any(isinstance(item, BadCaseItem) for item in items)
    if asked and not cases and not bad and not session.testsfailed:
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


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """The main process gathers."""
    config = session.config
    if not hasattr(config, "workerinput") and (home := home_of(config.args, config.rootpath)) is not None:
        config.stash[_GATHERER] = gatherer = Gatherer(config.rootpath, home)
        config.pluginmanager.register(gatherer, "fleet-gatherer")


def _hold_seeds(session: pytest.Session, gatherer: Gatherer) -> None:
    """Runs of a case whose seeds changed nothing fail the session: it would have compared the same thing twice."""
    from fleet.cosim.result import CosimResult
    from fleet.cosim.settings_held import ignored_seeds

    cases: dict[str, list[Path]] = {}
    for record in gatherer.records(pytest.ExitCode.OK):
        if record.result is not None:
            cases.setdefault(record.name.partition("[")[0], []).append(record.result)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for name, paths in cases.items():
        for line in ignored_seeds([CosimResult.load(path) for path in paths]) if len(paths) > 1 else ():
            gatherer.add(
                CampaignRecord(f"{name}: {line}", None, line, f"fleet case run {name}", kind="seeds", outcome="failed", code=1)
            )
            if reporter is not None:
                reporter.write_line(f"\nFAILED {line}")
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ends simulations, hands the records over."""
    config = session.config
    close_runners(config)
    gatherer = config.stash.get(_GATHERER, None)
    if gatherer is None or config.option.collectonly:
        return
    _hold_seeds(session, gatherer)
    config.stash[_RECORDS] = records = gatherer.records(int(session.exitstatus))
    if config.stash[_ASKED] or any(record.kind == "case" for record in records):
        config.hook.pytest_fleet_campaign(config=config, records=records, folder=Path(str(config.getoption("--fleet-report"))))


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:  # fmt: skip
    """Refuses what pytest would refuse with its code 4, with fleet's 2, in a session of the regression."""
    arguments: Sequence[str] = early_config.known_args_namespace.file_or_dir or early_config.getini("testpaths")
    if home_of(arguments, early_config.rootpath) is None:
        return (yield)
    try:
        done = yield
    except Exception as error:  # of a conftest.py: anything
        cause, path = getattr(error, "cause", error), getattr(error, "path", None)
        say_and_end(f"{path}: {type(cause).__name__}: {cause}" if path else f"{type(cause).__name__}: {cause}")
    if wrong := refused_arguments(parser, args):
        say_and_end(wrong)
    return done


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, int | None, int | None]:
    """The session's exit code, in fleet's table where it is one of the regression."""
    if hasattr(config, "workerinput") or home_of(config.args, config.rootpath) is None:
        return (yield)
    try:
        status = yield
    except pytest.UsageError as error:
        say_and_end(" ".join(map(str, error.args)))
    gatherer = config.stash.get(_GATHERER, None)
    if status is None or gatherer is None:  # --help, --version
        return status
    return int(exit_code(int(status), config.stash.get(_RECORDS, ()), gatherer.by_user))
