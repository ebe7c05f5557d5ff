"""Record a pytest session as it runs, and resume an interrupted one.

Part of the plug-in (`fleet.regress.pytest_plugin`). Each process writes its own file (`fleet.regress.night_records`): a process
that runs tests writes their starts and records; the main process writes the head, the plan, records of no test, and the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypedDict, TypeGuard

import pytest

from fleet.core.codec import Json
from fleet.errors import ExitCode, FleetError, ModelError
from fleet.regress.night_records import (
    BESIDE,
    Classes,
    End,
    NightRecord,
    Note,
    NoteKind,
    Reading,
    RecordLocation,
    SessionHead,
    SessionPlan,
    StartOfTest,
    Writer,
    host_name,
    new_id,
    nights,
    now,
    read_night,
    without_result,
)  # fmt: skip
from fleet.regress.pytest_campaign import PHASES, CampaignRecord, Gatherer

FOLDER = "night"
"""Folder of nights, relative to the folder of reports."""


class RowFields(TypedDict, total=False):
    """Fields of `NightRecord` that a test adds to its own record."""

    case: str
    device: str
    memory: str
    seed: int | None
    group: str
    figures: Mapping[str, float]
    classes: Mapping[str, Classes]
    signature: str
    content: str
    parts: Mapping[str, str]
    held: str
    owner: str
    tags: tuple[str, ...]
    known: str
    properties: Mapping[str, Json]


ROW = pytest.StashKey[RowFields]()


@dataclass(frozen=True)
class RecordedSession:
    """A recorded session.

    folder: of its night. carried: node -> record, for tests that an earlier session of the night finished.
    """

    folder: Path
    head: SessionHead
    carried: Mapping[str, NightRecord]

    @property
    def says(self) -> str:
        """One line that names the resumed night; empty if the session is a new one."""
        if not self.carried:
            return ""
        failed = sum(r.failed for r in self.carried.values())
        also = f", {failed} of them failed" if failed else ""
        return f"resumes night {self.head.id}: {len(self.carried)} tests are finished{also}; --fresh runs all"


NIGHT = pytest.StashKey[RecordedSession]()
"""Key of pytest's configuration in the main process."""
RECORDER = pytest.StashKey["Recorder"]()
"""Key of pytest's configuration in every process."""


def begin(config: pytest.Config, reports: Path, *, fresh: bool, into: str | None, resume: bool = False) -> RecordedSession:
    """Begin a session. It resumes the last night if that was interrupted and has the same selection, files and host.

    fresh: always begin a new night. into: id of a night to add to, running all selected tests. resume: never begin a new night.

    Raises ModelError with `resume` if the last night cannot be resumed.
    """
    folder = reports / FOLDER
    at = now()
    state, revision, branch, changed = _checkout(config.rootpath, str(reports.absolute()))
    head = SessionHead(
        new_id(at), at, f"pytest {shlex.join(map(str, config.invocation_params.args))}", _scope(config), state, revision, branch,
        changed, host_name(), {"python": platform.python_version(), "pytest": pytest.__version__},
        tuple(map(str, config.invocation_params.args)),
    )  # fmt: skip
    if into is not None:
        return RecordedSession(folder / "nights" / into, replace(head, id=into), {})
    before, why = (None, "--fresh") if fresh else _interrupted(folder, head)
    if before is None:
        if resume:
            raise ModelError(f"the last night cannot be resumed: {why}", where=str(folder), hint="run it without --resume")
        return RecordedSession(folder / "nights" / head.id, head, {})
    carried = {r.node: r for r in before.records if r.kind not in BESIDE and not r.not_run}
    return RecordedSession(before.folder, replace(head, id=before.id), carried)


def _interrupted(folder: Path, head: SessionHead) -> tuple[Reading | None, str]:
    """Return (the last night, or None if this run cannot resume it; the reason)."""
    if not head.state:
        return None, "outside a checkout nothing says whether the files are the same"
    found = nights(folder)
    if not found:
        return None, "there is no night"
    try:
        last = read_night(found[-1])
    except FleetError as error:
        return None, str(error)
    if last.ended:
        return None, f"{last.id} has ended"
    if not last.records:
        return None, f"{last.id} has no record"
    for what, name in (("state", "files"), ("scope", "selection"), ("host", "host")):
        if any(getattr(s, what) != getattr(head, what) for s in last.sessions):
            return None, f"{last.id} has another {name}" if name != "files" else f"the files have changed since {last.id}"
    return last, ""


def _scope(config: pytest.Config) -> str:
    option = config.option
    chosen = {
        name: getattr(option, name, None) for name in ("keyword", "markexpr", "nightly", "weekly", "lf", "deselect", "ignore")
    }
    return " ".join([*config.args, *(f"{name}={value}" for name, value in chosen.items() if value)])


def _checkout(root: Path, *left_out: str) -> tuple[str, str, str, bool]:
    """Return (hash of all files, revision, branch, whether tracked files differ from it); empty strings outside a checkout.

    left_out: folders whose untracked files are not hashed.
    """

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
    """Return the campaign row of this session for a record of an earlier session."""
    return CampaignRecord(
        record.key, None if record.result is None else Path(record.result), record.error or None, record.replay, record.model,
        record.device, record.memory, record.kind, record.outcome, record.seconds, record.file, record.code, record.node,
    )  # fmt: skip


class Recorder:
    """Writes the events of one process."""

    def __init__(self, folder: Path, gatherer: Gatherer, *, runs: bool, name: str) -> None:
        """folder: of the night. gatherer: makes records from reports. runs: whether tests run here. name: of the process."""
        self._gatherer, self._runs = gatherer, runs
        self._writer = Writer(folder, f"{host_name()}-{name}")
        self._reports: dict[str, list[pytest.TestReport]] = {}
        self._began = time.monotonic()
        self._planned = False
        self.last: RecordLocation | None = None
        """Place of the last record."""

    def note(self, kind: NoteKind, text: str) -> None:
        """Write an event beside the tests; called in the main process."""
        self._writer.write(Note(now(), kind, text))

    def refuse(self, node: str, kind: str, why: str, code: ExitCode) -> NightRecord:
        """Write and return the record of a planned test that cannot run; called in the main process."""
        base = replace(
            without_result(node, kind, why, int(code), self._gatherer.tiers), outcome="failed", host=host_name(), at=now()
        )
        made = replace(base, signature=_signature(base))
        self._writer.write(made)
        return made

    def head(self, head: SessionHead) -> None:
        """Write the head; called in the main process."""
        self._writer.write(head)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Write start and record of a test, in the process that runs it."""
        self._writer.write(StartOfTest(item.nodeid, now()))
        before = _processor()
        done = yield
        reports = self._reports.pop(item.nodeid, [])
        if any(r.when == "teardown" for r in reports):
            row: RowFields = {
                "content": content_of_test(item.path),
                "properties": _properties(reports),
                **item.stash.get(ROW, RowFields()),
            }
            self._append(self._gatherer.record_of(item.nodeid, reports), row, _processor() - before)
        return done

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the report of a phase. A process without tests of its own writes the record of a test whose process died."""
        if self._runs:
            self._reports.setdefault(report.nodeid, []).append(report)
        elif report.when not in PHASES:
            self._append(self._gatherer.record_of(report.nodeid, [report]), {}, 0.0)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write the plan if the tests run in the main process."""
        if self._runs and not hasattr(session.config, "workerinput"):
            self._plan()

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """Write the plan when the first process has collected; all collect the same."""
        del node, ids
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self.plan()

    def plan(self) -> None:
        """Write the plan, or write it again if it has changed; called in the main process."""
        self._writer.write(SessionPlan(self._gatherer.planned, self._gatherer.left_out))

    def end(self, status: str) -> None:
        """Write records that belong to no test, and the end ("ended", or the name of a signal); called in the main process."""
        for record in self._gatherer.beside:
            if not record.node:
                self._append(record, {}, 0.0)
        self._writer.write(End(now(), status, time.monotonic() - self._began))
        self._writer.close()

    def _append(self, made: CampaignRecord, row: RowFields, processor: float) -> None:
        base = NightRecord(
            made.name, made.node or made.name, made.kind, made.outcome, made.code, made.error or "", made.replay, made.file,
            round(made.seconds, 3), round(processor, 3), made.name.partition("[")[0] if made.kind == "case" else "", made.model,
            made.device, made.memory, host=host_name(), at=now(), result=None if made.result is None else str(made.result),
        )  # fmt: skip
        record = replace(base, **row)
        if record.failed and not record.signature:
            record = replace(record, signature=_signature(record))
        self.last = self._writer.write(record if record.failed else replace(record, signature=""))


def _properties(reports: Sequence[pytest.TestReport]) -> dict[str, Json]:
    """Return the user properties of a test that are JSON values, without fleet's own."""
    found = ((str(key), value) for r in reports for key, value in r.user_properties)
    return {key: value for key, value in found if not key.startswith("fleet_") and _is_json(value)}


def _is_json(value: object) -> TypeGuard[Json]:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _signature(record: NightRecord) -> str:
    """Return the signature of a failure without a stored result: kind of test and message, without numbers and paths."""
    from fleet.compare.signature import of_failure

    told = record.error.splitlines()[0] if record.error else "?"
    parts = told.split(": ")
    text = ": ".join(p for p in parts if "/" not in p and not p.startswith(record.file)) or told
    return str(of_failure(record.kind, text)[1])


def _processor() -> float:
    """Return the processor time in seconds of this process and its ended children."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


@cache
def _base() -> str:
    from fleet.cosim.identity import bench_hash, software_hash

    return software_hash() + bench_hash()


@cache
def content_of_test(path: Path) -> str:
    """Return the content of a test without a case: hash of fleet's code, the bench, and the files in the test's folder."""
    h = hashlib.sha256(_base().encode())
    for p in sorted(path.parent.rglob("*")) if path.suffix == ".py" else (path,):
        if p.is_file() and "__pycache__" not in p.parts:
            h.update(str(p.relative_to(path.parent)).encode() + p.read_bytes())
    return h.hexdigest()[:32]
