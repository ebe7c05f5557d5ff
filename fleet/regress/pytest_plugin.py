"""The pytest plug-in: case files become test items, one per run; so do stored streams (`fleet.regress.pytest_bundles`).

A `.toml` file in a folder named `cases` is a case. `pytest sim/` collects sim/cases and the cases that installed instruction sets
bring; quick runs by default, all with --nightly. Each run stores its result as `<--fleet-report>/<case>/<run id>/result.json`. At
the end the hook `pytest_fleet_campaign` gets a record of everything that was collected (sim/conftest.py makes the report from it),
and the session ends with an exit code of fleet's table (`fleet.regress.pytest_campaign`). Tests are recorded as they run, under
`<--fleet-report>/night`, and the next session resumes an interrupted one (`fleet.regress.pytest_night`).
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fleet.core.signals import ending_signals, signals_told
from fleet.core.time_limit import time_limit
from fleet.errors import ExitCode, FleetError, heaviest
from fleet.regress.pytest_bundles import BundleFile, close_runners, is_bundle
from fleet.regress.pytest_campaign import GATHERER, CampaignRecord, Gatherer, exit_code, home_of, refused_arguments, say_and_end
from fleet.regress.pytest_night import NIGHT, RECORDER, ROW, Recorder, RowFields, begin, carried_row
from fleet.regress.requests import node_request, tiers_in

if TYPE_CHECKING:
    from fleet.cosim.result import CosimResult
    from fleet.regress.cases import CaseRun


class PluginHooks:
    """Hooks that the plugin calls."""

    @pytest.hookspec
    def pytest_fleet_campaign(self, config: pytest.Config, records: Sequence[CampaignRecord], folder: Path) -> int | None:
        """Make the report under `folder`, in the main process at the end of a session with cases.

        Returns an exit code (`ExitCode`) for findings that no record has, or None. A session whose tests pass ends with it.
        """


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register `PluginHooks`."""
    pluginmanager.add_hookspecs(PluginHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --nightly, --fleet-report, --rtl-jobs, --fresh, --resume and --night."""
    group = parser.getgroup("fleet", "co-simulation cases")
    group.addoption("--nightly", action="store_true", help="run the nightly tier of the cases too")
    group.addoption(
        "--fleet-report", metavar="DIR", default="reports/sim", help="where results and report go (default: %(default)s)"
    )
    group.addoption(
        "--rtl-jobs", metavar="N", type=int, default=1, help="cut what rtl runs into legs, N at a time (default: %(default)s)"
    )
    group.addoption("--fresh", action="store_true", help="run all tests, also after an interrupted session of the same files")
    group.addoption("--resume", action="store_true", help="resume the interrupted night, or fail (`fleet night resume` does)")
    group.addoption("--night", metavar="ID", help="add to the records of this night (`fleet night rerun` does)")


def pytest_configure(config: pytest.Config) -> None:
    """Add the installed instruction sets' cases if a folder with cases is requested."""
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
_CARRIED = pytest.StashKey[frozenset[str]]()
"""Nodes of tests that an earlier session of the night finished."""
_FOUND = pytest.StashKey[int]()
"""Exit code that `pytest_fleet_campaign` returned."""


def _asked(config: pytest.Config) -> list[Path]:
    """Return the folders among the arguments that are a folder `cases` or have one."""
    found: list[Path] = []
    for argument in config.args:
        path = Path(argument.split("::", 1)[0])
        if (path.name == "cases" and path.is_dir()) or (path / "cases").is_dir():
            found.append(path)
    return found


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a case file or a bundle, or None."""
    if is_bundle(file_path):
        return BundleFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownVariableType]
    if file_path.suffix == ".toml" and file_path.parent.name == "cases":
        return CaseFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownVariableType]
    return None


class CaseFile(pytest.File):
    """A case: the check of its waivers, then its runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item per run. A bad file gives one item that fails, and the other cases run."""
        from fleet.regress.case_runs import waivers_file
        from fleet.regress.cases import load_case

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
    """Raise ModelError if an earlier file of the folder has the same name; unreadable files do not count."""
    from fleet.core.toml_places import place
    from fleet.errors import ModelError
    from fleet.regress.cases import names_of

    before = next((p for p, other in names_of(path.parent).items() if p.name < path.name and other == name), None)
    if before is not None:
        raise ModelError(f"name '{name}' is taken by {before}", where=place(path, "name"))


class _FileItem(pytest.Item):
    """A check of a file as a whole."""

    kind = "cases"

    @property
    def replay(self) -> str:
        """The command that repeats it."""
        return str(node_request(self.nodeid, tiers_in(self.config.invocation_params.args)))

    def note(self, name: str, **more: object) -> None:
        """Tell the campaign about the check."""
        record = {"name": name, "replay": self.replay, "model": "", "device": "", "memory": "", "kind": self.kind, **more}
        self.user_properties.extend((f"fleet_{k}", v) for k, v in record.items())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> Any:
        """Return one line; a traceback only for a bug."""
        return str(excinfo.value) if isinstance(excinfo.value, FleetError) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return path and name for the summary."""
        return self.path, None, self.name


class BadCaseItem(_FileItem):
    """A case file that cannot be read; fails with the error."""

    def __init__(self, *, error: FleetError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._error = error
        self.add_marker(pytest.mark.quick)

    def runtest(self) -> None:
        """Raise the error."""
        self.note(f"{self.path.name}", error=str(self._error), code=int(self._error.exit_code))
        raise self._error


class WaiverItem(_FileItem):
    """Checks that no waiver is expired, ends too late, or names a case or a comparison that does not exist."""

    def runtest(self) -> None:
        """Raises ComparisonFailure for a bad waiver; ModelError for a bad file of waivers."""
        from fleet.regress.case_runs import comparisons_of, waivers_file
        from fleet.regress.cases import good_cases
        from fleet.regress.waivers import check_waivers, load_waivers

        file = waivers_file(self.path)
        known = {case.name: comparisons_of(case) for case in good_cases(self.path.parent)}
        try:
            check_waivers(load_waivers(file), datetime.datetime.now(datetime.UTC).date(), known)
        except FleetError as error:
            self.note(str(file.name), error=str(error), code=int(error.exit_code))
            raise
        self.note(str(file.name))


class CaseFailure(Exception):
    """A run whose verdict is not "pass". Unless it is "fail", nothing differs, but something was not compared or proved."""


class CaseItem(pytest.Item):
    """One run of a case. `run_`: the run."""

    def __init__(self, *, run: CaseRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_ = run
        self.add_marker(pytest.mark.nightly if run.tier == "nightly" else pytest.mark.quick)

    def runtest(self) -> None:
        """Run the case and store its result. Raises CaseFailure with its reasons, also if a known failure passes."""
        known = self.run_.custody.known_failure
        if known is not None:
            known.check(f"the known failure of {known.owner}", datetime.datetime.now(datetime.UTC).date())
        try:
            self._run()
        except (FleetError, CaseFailure) as error:
            if known is None:
                raise
            self.user_properties.append(("fleet_known", str(known)))
            pytest.xfail(f"known failure of {known}: {str(error).splitlines()[0]}")
        if known is not None:
            self.user_properties.append(("fleet_error", what := f"passes, and is a known failure of {known}"))
            raise CaseFailure(f"{what}; remove known_failure: {known.place}")

    def _run(self) -> None:
        from fleet.regress.case_runs import CaseOptions, result_folder
        from fleet.regress.warm_runs import run_case_warm

        root = Path(str(self.config.getoption("--fleet-report")))
        now = datetime.datetime.now(datetime.UTC)
        options = CaseOptions(
            today=now.date(), date=now.isoformat(timespec="seconds"), rtl_jobs=int(str(self.config.getoption("--rtl-jobs")))
        )  # fmt: skip
        run = self.run_
        record: dict[str, object] = {"name": run.name, "replay": self.replay, "model": run.case.model}
        record |= {"device": run.device or "host", "memory": run.memory, "code": int(ExitCode.INTERNAL)}
        self.stash[ROW] = row_of(run)
        try:
            with ending_signals(), time_limit(run.custody.timeout, run.name):  # a KeyboardInterrupt that code raises is not Ctrl-C
                result = run_case_warm(run, options)
            record["result"] = str(result.save(result_folder(root, run)))
            record["code"] = int(result.exit_code)
            self.stash[ROW] |= row_of_result(run, result)
        except FleetError as error:
            record |= {"error": str(error), "code": int(error.exit_code)}
            raise
        finally:
            self.user_properties.extend((f"fleet_{k}", v) for k, v in record.items())
        if result.verdict != "pass":
            lines = [f"{result.verdict}: {run.name}", *(f"  {reason}" for reason in result.reasons[:20])]
            if result.divergence is not None and result.divergence.what not in "\n".join(lines):
                lines.append(f"  first divergence: {result.divergence.what}")
            raise CaseFailure("\n".join(lines))

    @property
    def identity(self) -> Mapping[str, str]:
        """The parts of the run's content that are known before it runs, by name."""
        from fleet.regress.case_runs import held_hash
        from fleet.regress.figures import parts_known

        return {**parts_known(self.run_), "held to": held_hash(self.run_.case)[:16]}

    @property
    def builds(self) -> tuple[str, ...]:
        """Names of the simulations that the run needs; runs with the same name need the same one."""
        return (f"rtl {self.run_.device} {self.run_.build}".rstrip(),) if self.run_.device and "rtl" in self.run_.engines else ()

    def build(self) -> None:
        """Build the simulations, or take them from the cache. Raises FleetError if one does not build or a tool is missing."""
        from fleet.regress.case_runs import build_hardware

        build_hardware(self.run_)

    @property
    def replay(self) -> str:
        """The command that repeats the run."""
        return self.run_.replay(Path.cwd())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> Any:
        """Return the reasons and the command; a traceback only for a bug."""
        if isinstance(excinfo.value, FleetError | CaseFailure):
            return f"{excinfo.value}\nreplay: {self.replay}"
        return f"{super().repr_failure(excinfo)}\nreplay: {self.replay}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return path and name for the summary."""
        return self.path, None, self.name


def row_of(run: CaseRun) -> RowFields:
    """Return the fields of a run's record that its case states."""
    custody = run.custody
    known = "" if custody.known_failure is None else str(custody.known_failure)
    return {
        "case": run.case.name, "seed": run.seed, "group": run.group, "owner": custody.owner, "tags": custody.tags, "known": known,
    }  # fmt: skip


def row_of_result(run: CaseRun, result: CosimResult) -> RowFields:
    """Return the fields of a run's record that its result states."""
    from fleet.cosim.result_signature import of_result
    from fleet.regress.case_runs import held_by_norms, held_hash
    from fleet.regress.figures import classes_of, content_parts, figures_of

    content, parts = content_parts(result)
    held = held_hash(run.case)
    if content:  # what else decides the verdict is part of the content
        content, parts = hashlib.sha256(f"{content} {held}".encode()).hexdigest()[:32], {**parts, "held to": held[:16]}
    return {
        "figures": figures_of(result), "classes": classes_of(result), "signature": str(of_result(result) or ""),
        "content": content, "parts": parts, "held": held_by_norms(run, result),
    }  # fmt: skip


@pytest.fixture
def night_row(request: pytest.FixtureRequest) -> RowFields:
    """Return the fields that the test adds to its record: "seed", "device", "memory", "figures" ("cycles rtl" -> value), ..."""
    return request.node.stash.setdefault(ROW, RowFields())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the nightly tier by default. Raises UsageError if cases were requested and none was found."""
    asked = config.stash.get(_ASKED, [])
    cases = [item for item in items if isinstance(item, CaseItem)]
    bad = any(isinstance(item, BadCaseItem) for item in items)
    told: dict[str, Any] = getattr(config, "workerinput", {}).get("fleet_night", {})
    if asked and not cases and not bad and not session.testsfailed and not told.get("on_demand"):
        raise pytest.UsageError(f"no case was found in {', '.join(str(p) for p in asked)}: nothing would be compared")
    nightly = config.getoption("--nightly")
    carried = config.stash.get(_CARRIED, frozenset[str]())
    left_out = [
        item
        for item in items
        if item.nodeid in carried
        or (
            not nightly
            and (item.run_.tier == "nightly" if isinstance(item, CaseItem) else item.get_closest_marker("nightly") is not None)
        )
    ]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the gatherer in the main process and a recorder in every process; simulations stay between runs."""
    config = session.config
    home = home_of(config.args, config.rootpath)
    if home is None:
        return
    from fleet.engines.legs.warm import keep_warm

    keep_warm()
    gatherer = Gatherer(config.rootpath, home, config.invocation_params.args)
    if hasattr(config, "workerinput"):
        told: dict[str, Any] = config.workerinput  # pyright: ignore[reportAttributeAccessIssue]  # xdist's
        given = told.get("fleet_night")
        if given is not None:
            config.stash[_CARRIED] = frozenset(given["carried"])
            name = str(told["workerid"])
            config.stash[RECORDER] = recorder = Recorder(Path(given["folder"]), gatherer, runs=True, name=name)
            config.pluginmanager.register(recorder, "fleet-recorder")
        return
    config.stash[GATHERER] = gatherer
    config.pluginmanager.register(gatherer, "fleet-gatherer")
    if config.option.collectonly:
        return
    reports = Path(str(config.getoption("--fleet-report")))
    try:
        option = config.option
        night = begin(config, reports, fresh=bool(option.fresh), into=option.night, resume=bool(option.resume))
        several = config.pluginmanager.has_plugin("dsession")
        recorder = Recorder(night.folder, gatherer, runs=not several, name="main")
        recorder.head(night.head)
    except FleetError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[NIGHT], config.stash[RECORDER], config.stash[_CARRIED] = night, recorder, frozenset(night.carried)
    config.pluginmanager.register(recorder, "fleet-recorder")
    for record in night.carried.values():
        gatherer.add(carried_row(record))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if night.says and reporter is not None:
        reporter.write_line(night.says)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the night's folder and the finished nodes to xdist's processes."""
    if NIGHT in node.config.stash:
        night = node.config.stash[NIGHT]
        node.workerinput["fleet_night"] = {"folder": str(night.folder.absolute()), "carried": list(night.carried)}


def _hold_seeds(session: pytest.Session, gatherer: Gatherer) -> None:
    """Fail the session if seeds of a case's runs changed nothing: it would have compared the same thing twice."""
    from fleet.cosim.result import CosimResult
    from fleet.cosim.seeds_held import ignored_seeds

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


def _hold_carried(session: pytest.Session) -> None:
    """Set the session's status as if the tests that an earlier session finished had run in this one."""
    carried = session.config.stash[NIGHT].carried
    if carried and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    if any(r.failed for r in carried.values()) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End simulations and pass the records on."""
    config = session.config
    close_runners(config)
    if home_of(config.args, config.rootpath) is not None:
        from fleet.engines.legs.warm import end_warm

        end_warm()
    gatherer = config.stash.get(GATHERER, None)
    if gatherer is None or config.option.collectonly:
        return
    _hold_seeds(session, gatherer)
    _hold_carried(session)
    signals = signals_told()
    came = None if signals is None else signals.first
    config.stash[_RECORDS] = records = gatherer.records(int(session.exitstatus))
    config.stash[RECORDER].end("ended" if came is None and not gatherer.by_user else getattr(came, "name", "SIGINT"))
    if config.stash[_ASKED] or any(record.kind == "case" for record in records):
        folder = Path(str(config.getoption("--fleet-report")))
        found = config.hook.pytest_fleet_campaign(config=config, records=records, folder=folder)
        codes = [int(code) for code in found if code]
        if codes and session.exitstatus == pytest.ExitCode.OK:
            config.stash[_FOUND] = heaviest(codes)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:  # fmt: skip
    """Refuse with fleet's code 2 what pytest would refuse with its code 4, in a regression session."""
    arguments: Sequence[str] = early_config.known_args_namespace.file_or_dir or early_config.getini("testpaths")
    if home_of(arguments, early_config.rootpath) is None:
        return (yield)
    try:
        done = yield
    except Exception as error:  # a conftest.py may raise anything
        cause, path = getattr(error, "cause", error), getattr(error, "path", None)
        say_and_end(f"{path}: {type(cause).__name__}: {cause}" if path else f"{type(cause).__name__}: {cause}")
    if wrong := refused_arguments(parser, args):
        say_and_end(wrong)
    return done


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, int | None, int | None]:
    """Return the session's exit code, from fleet's table if it is a regression session."""
    if hasattr(config, "workerinput") or home_of(config.args, config.rootpath) is None:
        return (yield)
    try:
        with ending_signals() as signals:
            status = yield
    except pytest.UsageError as error:
        say_and_end(" ".join(map(str, error.args)))
    gatherer = config.stash.get(GATHERER, None)
    if status is None or gatherer is None:  # --help, --version
        return status
    if signals.first is not None:
        return 128 + signals.first
    if _FOUND in config.stash:
        return config.stash[_FOUND]
    return int(exit_code(int(status), config.stash.get(_RECORDS, ()), gatherer.by_user))
