"""The pytest plug-in of nights: `--executor dask` runs the tests on workers of a cluster, `--budget` chooses among them.

`fleet.regress.pytest_plugin` collects and records; this plug-in replaces the loop that runs the tests.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pytest

from fleet.errors import ExitCode, FleetError
from fleet.regress.night_records import NightRecord, NoteKind, RecordLocation, read_line
from fleet.regress.pytest_campaign import GATHERER, Gatherer, home_of
from fleet.regress.pytest_night import FOLDER, NIGHT, RECORDER, Recorder, carried_row, content_of_test

if TYPE_CHECKING:
    from fleet.night.budget import Candidate
    from fleet.night.cluster.dispatch import RunTask
    from fleet.night.cluster.settings import ClusterSettings
    from fleet.night.history import LastRun
    from fleet.regress.cases import CaseRun

_SETTINGS: pytest.StashKey[ClusterSettings] = pytest.StashKey()
_BUDGET: pytest.StashKey[float] = pytest.StashKey()
_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "VIRTUAL_ENV")
"""Environment variables that workers get, in addition to those with names that begin with FLEET_."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --executor, --cluster and --budget."""
    group = parser.getgroup("fleet", "co-simulation cases")
    group.addoption(
        "--executor", choices=("local", "dask"), default="local",
        help="run tests in this process or those of -n (local), or on workers of a cluster (dask)",
    )  # fmt: skip
    group.addoption("--cluster", metavar="FILE", help="a TOML file that says where the workers of --executor dask run")
    group.addoption(
        "--budget", metavar="TIME", help="a time such as 8h or 30m: what failed, what changed, then what was not run longest"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the cluster's file. Raises UsageError if the options do not fit together."""
    chosen, file = config.getoption("--executor"), config.getoption("--cluster")
    if hasattr(config, "workerinput"):
        return
    if (budget := config.getoption("--budget")) is not None:
        config.stash[_BUDGET] = _seconds(str(budget))
        if config.pluginmanager.has_plugin("dsession"):
            raise pytest.UsageError("--budget chooses for one process or for --executor dask, which has workers; leave out -n")
    if chosen == "local":
        if file is not None:
            raise pytest.UsageError("--cluster is for --executor dask")
        return
    if config.pluginmanager.has_plugin("dsession"):
        raise pytest.UsageError("-n is for --executor local; the cluster's file says how many workers there are")
    if home_of(config.args, config.rootpath) is None:
        raise pytest.UsageError("--executor dask runs a regression: give a folder that has a folder 'cases'")
    try:
        import dask_jobqueue
        import distributed
    except ImportError as error:
        raise pytest.UsageError(f"{error.name} is not installed; pip install 'fleet-cosim[cluster]'") from error
    del dask_jobqueue, distributed
    from fleet.night.cluster.settings import local_settings, read_cluster

    try:
        config.stash[_SETTINGS] = local_settings() if file is None else read_cluster(Path(file))
    except FleetError as error:
        raise pytest.UsageError(str(error)) from error


def _seconds(budget: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", budget.strip().lower())
    if found is None or not float(found[1]):
        raise pytest.UsageError(f"--budget {budget:.40}: is not a time; give 8h, 30m or 90s")
    return float(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]


@runtime_checkable
class _Case(Protocol):
    """The part of a case's run that a budget needs."""

    run_: CaseRun

    @property
    def identity(self) -> Mapping[str, str]: ...


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests beyond the budget, and put the others in the budget's order."""
    seconds, gatherer = config.stash.get(_BUDGET, None), config.stash.get(GATHERER, None)
    if seconds is None or gatherer is None:
        return
    from fleet.night.budget import Candidate, choose

    times = _last_runs(config)
    candidates: list[Candidate] = []
    for item in items:
        case = item if isinstance(item, _Case) else None
        identity = {"": content_of_test(item.path)} if case is None else case.identity
        candidates.append(Candidate(item.nodeid, "" if case is None else case.run_.group, times.get(item.nodeid), identity))
    settings = config.stash.get(_SETTINGS, None)
    choice = choose(candidates, seconds, 1 if settings is None else settings.workers)
    gatherer.leave_out(choice.left_out)
    by_node = {item.nodeid: item for item in items}
    items[:] = [by_node[node] for node in choice.nodes]
    if choice.left_out:
        config.hook.pytest_deselected(items=[by_node[node] for node in choice.left_out])
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(
            f"budget: {len(items)} tests, about {choice.seconds:,.0f} s by their last times; {len(choice.left_out)} left out"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests on the cluster."""
    config = session.config
    settings = config.stash.get(_SETTINGS, None)
    if settings is None or config.option.collectonly:
        return None
    if session.testsfailed and not config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    if not session.items:
        return True
    from fleet.night.cluster.engine import run_on_cluster
    from fleet.night.cluster.worker import WorkerOrder

    night = config.stash[NIGHT]
    environment = {k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith("FLEET_")}
    arguments = tuple(map(str, config.invocation_params.args))
    prefix = f"fleet-{night.head.id[-6:]}-{os.getpid()}"
    order = WorkerOrder(
        arguments, str(config.invocation_params.dir), environment, str(night.folder.absolute()), settings.memory, prefix
    )
    budget = config.stash.get(_BUDGET, None)
    told = _Told(session, config.stash[GATHERER], config.stash[RECORDER], None if budget is None else time.monotonic() + budget)
    times = {node: last.seconds for node, last in _last_runs(config).items()}
    try:
        run_on_cluster(_tasks(session, told.gatherer, times), settings, order, prefix, told)
    except FleetError as error:
        told.said("not run", str(error))
        raise session.Failed(str(error)) from error
    told.close()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _last_runs(config: pytest.Config) -> dict[str, LastRun]:
    """Return pytest's id -> last run; empty without a history."""
    from fleet.night.history import FILE, NightHistory

    file = Path(str(config.getoption("--fleet-report"))) / FOLDER / FILE
    if not file.exists():
        return {}
    with NightHistory(file) as store:
        return store.last_runs()


def _tasks(session: pytest.Session, gatherer: Gatherer, times: dict[str, float]) -> list[RunTask]:
    from fleet.night.cluster.dispatch import RunTask
    from fleet.night.cluster.runner import Builds

    planned = gatherer.planned
    return [
        RunTask(item.nodeid, planned[item.nodeid], times.get(item.nodeid), item.builds if isinstance(item, Builds) else ())
        for item in session.items
    ]


class _Told:
    """Passes events of the cluster to the session: records, notes, and reports for other plug-ins."""

    def __init__(self, session: pytest.Session, gatherer: Gatherer, recorder: Recorder, end: float | None) -> None:
        """end: time of the monotonic clock after which no test begins."""
        self._session, self.gatherer, self._recorder, self._end = session, gatherer, recorder, end
        self._begun: set[str] = set()
        self._reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")

    def begun(self, node: str) -> None:
        """Note that a worker got a test."""
        self._begun.add(node)

    def close(self) -> None:
        """Record the tests that did not begin before the budget ended."""
        late = {node: "the budget's time was up" for node in self.gatherer.planned if node not in self._begun}
        if late and self._over:
            self.gatherer.leave_out(late)
            self._recorder.plan()

    @property
    def _over(self) -> bool:
        return self._end is not None and time.monotonic() > self._end

    def recorded(self, line: RecordLocation) -> None:
        """Add a test's record."""
        self._add(read_line(line))

    def refused(self, run: RunTask, why: str, code: int) -> None:
        """Add the record of a test that cannot run."""
        self._add(self._recorder.refuse(run.node, run.kind, why, ExitCode(code)))

    def _add(self, record: NightRecord) -> None:
        self.gatherer.add(carried_row(record))
        hook = self._session.config.hook
        hook.pytest_runtest_logstart(nodeid=record.node, location=(record.file, None, record.key))
        for report in reports_of(record):
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=record.node, location=(record.file, None, record.key))

    def said(self, kind: NoteKind, text: str) -> None:
        """Note that something happened to a worker, a host or a test."""
        self._recorder.note(kind, text)
        if self._reporter is not None and " ends: " not in text:
            self._reporter.ensure_newline()
            self._reporter.write_line(f"fleet: {kind}: {text}")

    def enough(self) -> bool:
        """Return whether no more tests may begin."""
        return self._over or bool(self._session.shouldstop or self._session.shouldfail)


def reports_of(record: NightRecord) -> Sequence[pytest.TestReport]:
    """Return reports of a test that ran in another process, for the terminal and other plug-ins."""
    end = time.time()

    def made(when: Any, outcome: Any, text: Any = None) -> pytest.TestReport:
        seconds = record.seconds if when == "call" else 0.0
        properties = list(record.properties.items()) if when == "call" else []
        return pytest.TestReport(
            record.node, (record.file, None, record.key), {}, outcome, text, when, user_properties=properties, duration=seconds,
            start=end - seconds, stop=end,
        )  # fmt: skip

    match record.outcome:
        case "passed":
            middle = [made("call", "passed")]
        case "skipped":
            return [made("setup", "skipped", (record.file, 0, record.error)), made("teardown", "passed")]
        case "known failure":
            known = made("call", "skipped", record.error)
            known.wasxfail = record.error
            middle = [known]
        case _:
            middle = [made("call", "failed", f"{record.error}\nhost: {record.host}\nreplay: {record.replay}")]
    return [made("setup", "passed"), *middle, made("teardown", "passed")]
