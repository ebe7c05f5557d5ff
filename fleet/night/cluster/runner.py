"""A warm process that runs tests on demand: one pytest session that collects a file when its first test is requested.

It reads JSON lines from its standard input, first a `Told`, then requests, and answers each on a file descriptor. To plug-ins and
fixtures the session looks like a worker process of pytest-xdist. It ends when its standard input ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast, runtime_checkable

import pytest

from fleet.core.codec import Json, decode, encode, encode_record
from fleet.errors import FleetError
from fleet.regress.night_records import RecordLocation
from fleet.regress.pytest_night import RECORDER


@dataclass(frozen=True)
class Told:
    """The first message to a runner. arguments: of the command's pytest. folder: of the night. name: of the worker."""

    arguments: tuple[str, ...]
    folder: str
    name: str


@dataclass(frozen=True)
class Ask:
    """A request. node: a test. build: build its simulations instead of running it."""

    node: str
    build: bool = False


@dataclass(frozen=True)
class Reply:
    """An answer.

    line: place of the record; None for a build. failed: whether the test failed. error: why the request failed, or None.
    """

    line: RecordLocation | None = None
    failed: bool = False
    error: str | None = None


@runtime_checkable
class Builds(Protocol):
    """A test that names the simulations it needs and builds them with `build`."""

    @property
    def builds(self) -> tuple[str, ...]:
        """Names of the simulations."""
        ...

    def build(self) -> None:
        """Build the simulations, or find them in the cache. Raises FleetError."""
        ...


class _WorkerConfig(Protocol):
    """Attributes that pytest-xdist adds to the configuration of its workers."""

    workerinput: Mapping[str, object]
    workeroutput: dict[str, object]


class _Between(pytest.Item):
    """A placeholder for the next test, so that pytest keeps the session's fixtures and ends all others with their test."""

    def runtest(self) -> None:
        raise AssertionError("never run")


class PytestRunner:
    """The pytest plug-in that answers requests."""

    def __init__(self, told: Told, requests: BinaryIO, replies: int) -> None:
        self._told, self._requests, self._replies = told, requests, replies
        self._files: dict[str, dict[str, pytest.Item]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> None:
        """Make the session look like a worker process."""
        name, config = self._told.name, cast("_WorkerConfig", early_config)
        night = {"folder": self._told.folder, "carried": [], "on_demand": True}
        config.workerinput = {"workerid": name, "testrunuid": name, "workercount": 1, "fleet_night": night}
        config.workeroutput = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Skip collection: tests are collected as orders come."""
        del session
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer requests until there are no more."""
        self._send({"ready": os.getpid()})
        for table in _lines(self._requests):
            self._send(encode_record(self._answer(session, decode(Ask, table, "<request>"))))
            session.shouldfail = session.shouldstop = False  # the command handles `-x`
        return True

    def _answer(self, session: pytest.Session, ask: Ask) -> Reply:
        try:
            item = self._item(session, ask.node)
            if ask.build:
                if isinstance(item, Builds):
                    item.build()
                return Reply()
        except (FleetError, pytest.UsageError) as error:
            return Reply(error=" ".join(str(error).split("\n")))
        recorder = session.config.stash[RECORDER]
        recorder.last = None
        failed = session.testsfailed
        between: pytest.Item = _Between.from_parent(session, name="between tests")  # pyright: ignore[reportUnknownVariableType]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=between)
        if recorder.last is None:
            return Reply(error="ended without a record")
        return Reply(recorder.last, session.testsfailed > failed)

    def _item(self, session: pytest.Session, node: str) -> pytest.Item:
        file = node.partition("::")[0]
        if file not in self._files:
            path = str(session.config.rootpath / file)
            self._files[file] = {item.nodeid: item for item in session.perform_collect([path])}
        found = self._files[file].get(node)
        if found is None:
            raise FleetError("the worker does not find this test", where=node, hint="are its files those of the command?")
        return found

    def _send(self, table: Mapping[str, Json]) -> None:
        os.write(self._replies, json.dumps(table).encode() + b"\n")


def _lines(requests: BinaryIO) -> Iterator[object]:
    while line := requests.readline():
        yield json.loads(line)


def told_line(told: Told | Ask) -> bytes:
    """Return a line for the standard input."""
    return json.dumps(encode(told)).encode() + b"\n"


def main(replies: int) -> int:
    """Run the session and return pytest's exit code. replies: file descriptor for the answers."""
    requests = os.fdopen(os.dup(0), "rb")  # pytest captures the standard input of tests
    told = decode(Told, next(_lines(requests)), "<told>")
    os.environ["PYTEST_XDIST_WORKER"] = told.name  # like pytest-xdist: fixtures name files by it
    Path(told.folder).mkdir(parents=True, exist_ok=True)
    return int(pytest.main(list(told.arguments), plugins=[PytestRunner(told, requests, replies)]))
