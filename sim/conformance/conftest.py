"""Simulations that the whole session shares, and the account that every process keeps and the main one puts together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fleet.streams.run import StreamRunner
from fleet.verify.conformance.coverage import ConformanceCoverage

Runners = Callable[[str], StreamRunner]


@pytest.fixture(scope="session")
def runners() -> Iterator[Runners]:
    """Device name -> its running simulation; one process of it for all tests of this process."""
    open_: dict[str, StreamRunner] = {}
    with ExitStack() as stack:

        def runner(device: str) -> StreamRunner:
            if device not in open_:
                open_[device] = stack.enter_context(StreamRunner(device, power_on=len(open_) + 1))
            return open_[device]

        yield runner


@pytest.fixture(scope="session")
def report_folder(request: pytest.FixtureRequest) -> Path:
    """Where account, report and failing streams go."""
    return _folder(request.config)


def _folder(config: pytest.Config) -> Path:
    return Path(str(config.getoption("--fleet-report", "reports/sim"))).parent / "conformance"


@pytest.fixture(scope="session")
def account(report_folder: Path) -> Iterator[ConformanceCoverage]:
    """What this process compares is added to it; saved at the end."""
    found = ConformanceCoverage()
    yield found
    if found.runs or found.means:
        found.save(report_folder / "parts" / f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}.json")


def pytest_sessionstart(session: pytest.Session) -> None:
    """The main process removes what an earlier session left."""
    if not hasattr(session.config, "workerinput"):
        for part in (_folder(session.config) / "parts").glob("*.json"):
            part.unlink()


_LINES = pytest.StashKey[list[str]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """One report of all processes' accounts; a cost model that misses a gate is named and fails the session."""
    config = session.config
    parts = [] if hasattr(config, "workerinput") else sorted((_folder(config) / "parts").glob("*.json"))
    if not parts:
        return
    from fleet.report.regression.conformance import GATES, gate, write_conformance

    whole = ConformanceCoverage()
    for part in parts:
        whole.merge(ConformanceCoverage.load(part))
    lines = config.stash.setdefault(_LINES, [])
    lines.append(f"conformance: {write_conformance(whole, _folder(config))}")
    for memory in GATES:
        found = gate(whole, memory)
        # A session of other tests (-k) may have run the streams and no means: then there is nothing to judge.
        if found is not None and not (found.runs_passed and (found.passed or found.points == 0)):
            lines.append(
                f"conformance: the cost model misses its gate with {memory} memory: {found.points} calls, median "
                f"{100 * found.median:.1f} %, 95th percentile {100 * found.p95:.1f} %; {found.beyond} of {found.runs} single runs "
                "outside their bound"
            )
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Where the report is, and which gates were missed."""
    for line in config.stash.get(_LINES, []):
        terminalreporter.write_line(line)
