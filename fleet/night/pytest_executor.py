"""The pytest plug-in of nights: `--executor dask` runs the tests on workers of a cluster, `--budget` chooses among them.

What is collected and recorded is `fleet.regress.pytest_plugin`'s; this plug-in takes over the loop that runs the tests.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fleet.errors import ExitCode, FleetError
from fleet.night.history import FILE, History
from fleet.regress.night_records import Line, NightRecord, NoteKind, read_line
from fleet.regress.pytest_campaign import GATHERER, Gatherer, home_of
from fleet.regress.pytest_night import FOLDER, NIGHT, RECORDER, Recorder, carried_row

if TYPE_CHECKING:
    from fleet.night.cluster.dispatch import RunTask
    from fleet.night.cluster.settings import ClusterSettings

_SETTINGS: pytest.StashKey[ClusterSettings] = pytest.StashKey()
_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "VIRTUAL_ENV")
"""Variables of the environment that workers get; those whose names begin with FLEET_ as well."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """--executor and --cluster."""
    group = parser.getgroup("fleet", "co-simulation cases")
    group.addoption(
        "--executor", choices=("local", "dask"), default="local",
        help="run tests in this process or those of -n (local), or on workers of a cluster (dask)",
    )  # fmt: skip
    group.addoption("--cluster", metavar="FILE", help="a TOML file that says where the workers of --executor dask run")


def pytest_configure(config: pytest.Config) -> None:
    """Reads the cluster's file. Raises UsageError if the options do not fit together."""
    chosen, file = config.getoption("--executor"), config.getoption("--cluster")
    if hasattr(config, "workerinput"):
        return
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Runs the tests on the cluster."""
    config = session.config
    settings = config.stash.get(_SETTINGS, None)
    if settings is None or config.option.collectonly:
        return None
    if session.testsfailed and not config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    if not session.items:
        return True
    from fleet.night.cluster.engine import run_on_cluster
    from fleet.night.cluster.worker import Order

    night = config.stash[NIGHT]
    environment = {k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith("FLEET_")}
    arguments = tuple(map(str, config.invocation_params.args))
    order = Order(arguments, str(config.invocation_params.dir), environment, str(night.folder.absolute()), settings.memory)
    told = _Told(session, config.stash[GATHERER], config.stash[RECORDER])
    times = last_seconds(Path(str(config.getoption("--fleet-report"))) / FOLDER)
    prefix = f"fleet-{night.head.id[-6:]}-{os.getpid()}"
    try:
        run_on_cluster(_tasks(session, told.gatherer, times), settings, order, prefix, told)
    except FleetError as error:
        told.said("not run", str(error))
        raise session.Failed(str(error)) from error
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def last_seconds(folder: Path) -> dict[str, float]:
    """Node -> seconds that it took when it ran last; empty without a history in the folder."""
    if not (folder / FILE).exists():
        return {}
    with History(folder / FILE) as store:
        return store.last_seconds()


def _tasks(session: pytest.Session, gatherer: Gatherer, times: dict[str, float]) -> list[RunTask]:
    from fleet.night.cluster.dispatch import RunTask
    from fleet.night.cluster.runner import Builds

    planned = gatherer.planned
    return [
        RunTask(item.nodeid, planned[item.nodeid], times.get(item.nodeid), item.builds if isinstance(item, Builds) else ())
        for item in session.items
    ]


class _Told:
    """Hands what happens on the cluster to the session: records, notes, and reports for other plug-ins."""

    def __init__(self, session: pytest.Session, gatherer: Gatherer, recorder: Recorder) -> None:
        self._session, self.gatherer, self._recorder = session, gatherer, recorder
        self._reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")

    def begun(self, node: str) -> None:
        """A test was given to a worker."""

    def recorded(self, line: Line) -> None:
        """A test has its record."""
        self._add(read_line(line))

    def refused(self, run: RunTask, why: str, code: int) -> None:
        """A test cannot run."""
        self._add(self._recorder.refuse(run.node, run.kind, why, ExitCode(code)))

    def _add(self, record: NightRecord) -> None:
        self.gatherer.add(carried_row(record))
        hook = self._session.config.hook
        hook.pytest_runtest_logstart(nodeid=record.node, location=(record.file, None, record.key))
        for report in reports_of(record):
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=record.node, location=(record.file, None, record.key))

    def said(self, kind: NoteKind, text: str) -> None:
        """Something befell a worker, a host or a test."""
        self._recorder.note(kind, text)
        if self._reporter is not None:
            self._reporter.ensure_newline()
            self._reporter.write_line(f"fleet: {kind}: {text}")

    def enough(self) -> bool:
        """No more tests are to begin."""
        return bool(self._session.shouldstop or self._session.shouldfail)


def reports_of(record: NightRecord) -> Sequence[pytest.TestReport]:
    """Reports of a test that ran in another process, for the terminal and other plug-ins."""
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
