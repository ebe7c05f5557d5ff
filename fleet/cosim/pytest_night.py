"""Appends the records of a session as things happen, and goes on where an interrupted session stopped.

Part of the plug-in (`fleet.cosim.pytest_plugin`). Every process writes a file of its own (`fleet.cosim.night_records`): who runs a
test, its beginning and its record; the main one the session's beginning, its plan, what is no test, and its end.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fleet.cosim.night_records import NightRecord, Reading, SessionHead, Writer, new_id, nights, now, read_night
from fleet.cosim.pytest_campaign import CampaignRecord, Gatherer
from fleet.errors import FleetError

__all__ = ["FOLDER", "NIGHT", "ROW", "Recorder", "Session", "begin", "carried_row"]

FOLDER = "night"
"""Below the folder of the reports."""

ROW = pytest.StashKey[dict[str, Any]]()
"""What an item knows of itself for its record: keys of `NightRecord`."""

_PHASES = ("setup", "call", "teardown")


@dataclass(frozen=True)
class Session:
    """A session that is recorded. folder: of the night; carried: what an earlier session of it finished, by node."""

    folder: Path
    head: SessionHead
    carried: Mapping[str, NightRecord]

    @property
    def says(self) -> str:
        """That it goes on with another one, in one line; empty where it does not."""
        if not self.carried:
            return ""
        failed = sum(r.failed for r in self.carried.values())
        also = f", {failed} of them failed" if failed else ""
        return f"goes on with night {self.head.id}: {len(self.carried)} are finished{also}; --fresh runs all of them"


NIGHT = pytest.StashKey[Session]()
"""Of a configuration, in the main process: the session that is recorded."""


def begin(config: pytest.Config, reports: Path, *, fresh: bool, into: str | None) -> Session:
    """The session that begins now. It joins the last night where that was interrupted, asked for the same and has the same files.

    fresh: never joins; into: the night to join in any case, of which nothing is carried over.
    """
    folder = reports / FOLDER
    at = now()
    state, revision, branch, changed = _checkout(config.rootpath, str(reports.absolute()))
    head = SessionHead(
        new_id(at), at, f"pytest {shlex.join(map(str, config.invocation_params.args))}", _scope(config), state, revision, branch,
        changed, platform.node(), {"python": platform.python_version(), "pytest": pytest.__version__},
    )  # fmt: skip
    if into is not None:
        return Session(folder / "nights" / into, replace(head, id=into), {})
    before = None if fresh or not state else _interrupted(folder, head)
    if before is None:
        return Session(folder / "nights" / head.id, head, {})
    return Session(before.folder, replace(head, id=before.id), {r.node: r for r in before.records if r.kind not in _BESIDE})


_BESIDE = ("seeds", "session", "collection")
"""Kinds of what is no test: found again by the session that goes on."""


def _interrupted(folder: Path, head: SessionHead) -> Reading | None:
    found = nights(folder)
    try:
        last = read_night(found[-1]) if found else None
    except FleetError:
        return None
    if last is None or last.ended or not last.records:
        return None
    same = all((s.state, s.scope, s.host) == (head.state, head.scope, head.host) for s in last.sessions)
    return last if same else None


def _scope(config: pytest.Config) -> str:
    option = config.option
    chosen = {
        name: getattr(option, name, None) for name in ("keyword", "markexpr", "nightly", "weekly", "lf", "deselect", "ignore")
    }
    return " ".join([*config.args, *(f"{name}={value}" for name, value in chosen.items() if value)])


def _checkout(root: Path, *left_out: str) -> tuple[str, str, str, bool]:
    """(hash of all files as they are now, revision, branch, whether files differ from it); empty texts outside of a checkout."""

    def git(*arguments: str) -> bytes:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL).stdout

    try:
        top = Path(git("rev-parse", "--show-toplevel").decode().strip())
        revision = git("rev-parse", "HEAD").decode().strip()
        branch = git("rev-parse", "--abbrev-ref", "HEAD").decode().strip()
        difference = git("diff", "HEAD", "--binary")
        h = hashlib.sha256(revision.encode() + difference)
        for name in sorted(git("ls-files", "-o", "-z", "--exclude-standard", "--full-name", str(top)).decode().split("\0")):
            path = top / name
            if name and path.is_file() and not any(path.is_relative_to(p) for p in left_out):
                h.update(name.encode() + path.read_bytes())
        return h.hexdigest(), revision, branch, bool(difference)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return "", "", "", False


def carried_row(record: NightRecord) -> CampaignRecord:
    """A finished record as a row of this session's campaign."""
    return CampaignRecord(
        record.key, None if record.result is None else Path(record.result), record.error or None, record.replay, record.model,
        record.device, record.memory, record.kind, record.outcome, record.seconds, record.file, record.code, record.node,
    )  # fmt: skip


class Recorder:
    """The plug-in's part that writes. One of a process."""

    def __init__(self, folder: Path, gatherer: Gatherer, *, runs: bool, name: str) -> None:
        """folder: of the night; gatherer: makes rows out of reports; runs: whether tests run in this process; name: its name."""
        self._gatherer, self._runs = gatherer, runs
        self._writer = Writer(folder, f"{platform.node()}-{name}")
        self._reports: dict[str, list[pytest.TestReport]] = {}
        self._began = time.monotonic()
        self._planned = False

    def head(self, head: SessionHead) -> None:
        """Says that the session began; in the main process."""
        self._writer.head(head)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Before and after all phases of a test, in the process that runs it."""
        self._writer.start(item.nodeid)
        before = _processor()
        done = yield
        reports = self._reports.pop(item.nodeid, [])
        if any(r.when == "teardown" for r in reports):
            row = {"content": _content_of_test(item.path), **item.stash.get(ROW, {})}
            self._append(self._gatherer.record_of(item.nodeid, reports), row, _processor() - before)
        return done

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test; in the main process only what no other wrote: a test whose process died."""
        if self._runs:
            self._reports.setdefault(report.nodeid, []).append(report)
        elif report.when not in _PHASES:
            self._append(self._gatherer.record_of(report.nodeid, [report]), {}, 0.0)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The plan of a process that runs all of it."""
        if self._runs and not hasattr(session.config, "workerinput"):
            self._plan()

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """The plan, once: all processes have the same."""
        del node, ids
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._writer.plan(self._gatherer.planned)

    def end(self, status: str, carried: Collection[str]) -> None:
        """What is no test, and how the session ended; in the main process. carried: nodes whose records stand already."""
        for record in self._gatherer.beside:
            if record.node not in carried:
                self._append(record, {}, 0.0)
        self._writer.end(status, time.monotonic() - self._began)
        self._writer.close()

    def _append(self, made: CampaignRecord, row: Mapping[str, Any], processor: float) -> None:
        base = NightRecord(
            made.name, made.node or made.name, made.kind, made.outcome, made.code, made.error or "", made.replay, made.file,
            round(made.seconds, 3), round(processor, 3), made.name.partition("[")[0] if made.kind == "case" else "", made.model,
            made.device, made.memory, host=platform.node(), at=now(), result=None if made.result is None else str(made.result),
        )  # fmt: skip
        record = replace(base, **row)
        if record.failed and not record.signature:
            record = replace(record, signature=_signature(record))
        self._writer.record(record if record.failed else replace(record, signature=""))


def _signature(record: NightRecord) -> str:
    """Of what left no result: the kind of the test and its message without numbers and paths."""
    from fleet.cosim.signature import of_failure

    told = record.error.splitlines()[0] if record.error else "?"
    parts = told.split(": ")
    text = ": ".join(p for p in parts if "/" not in p and not p.startswith(record.file)) or told
    return str(of_failure(record.kind, text)[1])


def _processor() -> float:
    """Seconds of processor time of this process and of its children that ended."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


@cache
def _base() -> str:
    from fleet.cosim.identity import bench_hash, software_hash

    return software_hash() + bench_hash()


@cache
def _content_of_test(path: Path) -> str:
    """Of a test beside the cases: fleet's own code, the bench, and the folder that the test is in."""
    h = hashlib.sha256(_base().encode())
    for p in sorted(path.parent.rglob("*")) if path.suffix == ".py" else (path,):
        if p.is_file() and "__pycache__" not in p.parts:
            h.update(str(p.relative_to(path.parent)).encode() + p.read_bytes())
    return h.hexdigest()[:32]
