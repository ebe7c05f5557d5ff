"""The records of a night: one JSON line per event, appended at once, one file per process.

    <folder>/nights/<id>/<process>.jsonl

    {"type": "session", "id": ..., "at": ..., ...}   `SessionHead`, by the main process
    {"type": "plan", "nodes": {node: kind}}          `SessionPlan`, by the main process
    {"type": "start", "node": ..., "at": ...}        `StartOfTest`, by the process that runs the test
    {"type": "record", ...}                          `NightRecord`, by the same process
    {"type": "note", "at": ..., "kind": ..., ...}    `Note`, by the main process: events of workers and nodes
    {"type": "end", "at": ..., "status": ...}        `End`, by the main process; missing if it was killed

Each process has its own file and writes a line in one call, so nothing is locked, also on a network file system. A killed process
may leave a torn last line: the reader drops it and reports it. A session that resumes an interrupted one adds files to its folder.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from fleet.core.codec import MAY_BE_MISSING, Json, decode, encode, encode_record, is_table
from fleet.errors import FleetError, ModelError
from fleet.regress.requests import node_request

T = TypeVar("T", bound="Event")
BESIDE = ("seeds", "session", "collection")
"""Kinds of records that do not belong to a test. Each session makes them again."""

_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")


@dataclass(frozen=True)
class Classes:
    """Predicted classes of one engine, compared with the golden's and the labels.

    samples: number of rows. correct: number of rows whose class is the label. lost: indices of rows that only the golden has right.
    won: indices of rows that only the engine has right.
    """

    samples: int
    correct: int
    lost: tuple[int, ...] = ()
    won: tuple[int, ...] = ()


@dataclass(frozen=True)
class NightRecord:
    """The outcome of one run or test.

    Attributes:
        key: identifies the run from night to night: "digits[hbm_small-ideal-0]" for a case's run, else the node's id.
        node: pytest's id. kind, outcome, code, error, replay, file, seconds: as in `CampaignRecord`.
        processor: processor time in seconds, with ended child processes.
        case, model, device, memory, seed: of a case's run; "" and None for other tests. group: the key without its seed.
        figures: name -> value: "cycles rtl", "cycles rtl logits" (one operation), "sqnr iss-vs-vm logits" (dB),
            "over iss-vs-vm-rounded" (error over bound), "coverage NAME". `fleet.night.gates` checks them.
        classes: engine -> predicted classes.
        signature: equal for failures of one cause; "" unless it failed.
        content: hash of everything that can change a figure or the verdict; "" if unknown. parts: its parts by name.
        held: reason for which the norms of the case accept its cycles; "" without norms.
        result: path of the stored result.json, relative to the working directory; None without one.
        owner, tags, known: from the case file. host: the machine. at: time of the end, ISO 8601.
        properties: what the test added to pytest's `user_properties`, name -> JSON value.
    """

    key: str
    node: str
    kind: str
    outcome: str
    code: int = 0
    error: str = ""
    replay: str = ""
    file: str = ""
    seconds: float = 0.0
    processor: float = 0.0
    case: str = ""
    model: str = ""
    device: str = ""
    memory: str = ""
    seed: int | None = None
    group: str = ""
    figures: Mapping[str, float] = field(default_factory=dict[str, float])
    classes: Mapping[str, Classes] = field(default_factory=dict[str, Classes])
    signature: str = ""
    content: str = ""
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    held: str = ""
    result: str | None = None
    owner: str = ""
    tags: tuple[str, ...] = ()
    known: str = ""
    host: str = ""
    at: str = ""
    properties: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def failed(self) -> bool:
        """True if the run failed."""
        return self.outcome == "failed"

    @property
    def not_run(self) -> bool:
        """True if the run was planned but did not start, or did not end."""
        return self.outcome == "not run"

    def to_json(self) -> dict[str, Json]:
        """Return JSON values, without those that equal their default. Infinities and NaN become strings."""
        values = encode_record(self)
        usual = _defaults(NightRecord)
        return {k: v for k, v in values.items() if k not in usual or v != usual[k]}

    @classmethod
    def from_json(cls, table: Mapping[str, Json], where: str = "<record>") -> NightRecord:
        """Invert `to_json`. Ignores unknown keys, of later versions. Raises ModelError with `where` and the bad or missing key."""
        return _read(cls, table, where)


@dataclass(frozen=True)
class SessionHead:
    """The beginning of a session.

    Attributes:
        id: of the night. at: ISO 8601. command: the command line. scope: the selection of tests, as text.
        state: hash of the working tree with its changes; "" outside a checkout, where no session resumes another.
        revision, branch: of the checkout. changed: whether it has uncommitted changes. host: the machine. tools: name -> version.
        arguments: of pytest, as it got them; None in older records.
    """

    id: str
    at: str
    command: str
    scope: str
    state: str
    revision: str
    branch: str
    changed: bool
    host: str
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    arguments: tuple[str, ...] | None = field(default=None, metadata=MAY_BE_MISSING)


@dataclass(frozen=True)
class SessionPlan:
    """The tests that a session will run.

    nodes: pytest's id -> kind. left_out: pytest's id -> reason, for tests beyond a budget.
    """

    nodes: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class StartOfTest:
    """The start of a test. at: ISO 8601."""

    node: str
    at: str


@dataclass(frozen=True)
class End:
    """The end of a session. at: ISO 8601. status: "ended", or the name of a signal. seconds: duration of the session."""

    at: str
    status: str
    seconds: float = 0.0


NoteKind = Literal["dashboard", "node", "worker", "interrupted", "not run"]


@dataclass(frozen=True)
class Note:
    """An event beside the tests. at: ISO 8601. kind: what it concerns. text: one line."""

    at: str
    kind: NoteKind
    text: str


Event = SessionHead | SessionPlan | StartOfTest | NightRecord | Note | End
_EVENTS: Mapping[str, type[Event]] = {
    "session": SessionHead, "plan": SessionPlan, "start": StartOfTest, "record": NightRecord, "note": Note, "end": End,
}  # fmt: skip
_TYPES = {cls: name for name, cls in _EVENTS.items()}


@cache
def _defaults(cls: type[Event]) -> Mapping[str, Json]:
    """Return the JSON values of a dataclass's defaults, by field."""
    found: dict[str, Json] = {}
    for f in fields(cls):
        if f.default is not MISSING:
            found[f.name] = encode(f.default)
        elif f.default_factory is not MISSING:
            found[f.name] = encode(f.default_factory())
    return found


def _read(cls: type[T], table: Mapping[str, Json], where: str) -> T:
    known = {f.name for f in fields(cls)}
    return decode(cls, {**_defaults(cls), **{k: v for k, v in table.items() if k in known}}, where)


def host_name() -> str:
    """Return the machine's name; a batch system with several nodes on one machine distinguishes them."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_id(at: str) -> str:
    """Return an id for a night that begins at `at` (ISO 8601). Ids sort by time, to 1/4096 s, and end with random digits."""
    begun = datetime.fromisoformat(at)
    part = min(max(int((time.time() - begun.timestamp()) * 4096), 0), 4095)
    return f"{begun.strftime('%Y%m%dT%H%M%SZ')}-{part:03x}{uuid.uuid4().hex[:3]}"


@dataclass(frozen=True)
class RecordLocation:
    """The place of an event. file: absolute path. offset: of its line, in bytes."""

    file: str
    offset: int


def read_line(line: RecordLocation) -> NightRecord:
    """Read the record at a place. Raises FleetError if it cannot be read."""
    try:
        with open(line.file, "rb") as file:
            file.seek(line.offset)
            table = json.loads(file.readline())
    except (OSError, ValueError) as error:
        raise FleetError(f"the record cannot be read ({error})", where=line.file) from error
    return NightRecord.from_json(table, line.file)


def without_result(node: str, kind: str, why: str, code: int, tiers: Sequence[str]) -> NightRecord:
    """Return the record of a planned test that did not end by itself, with outcome "not run".

    node, kind: as planned. tiers: the options of the session that choose a tier.
    """
    name = node.partition("::")[2] if kind == "case" else node
    return NightRecord(
        name, node, kind, "not run", code, why, str(node_request(node, tiers)), node.partition("::")[0],
        case=name.partition("[")[0] if kind == "case" else "",
    )  # fmt: skip


class Writer:
    """Appends events to the file of one process."""

    def __init__(self, folder: Path, name: str) -> None:
        """Create the file. folder: of the night. name: of the process. Raises FleetError if the file cannot be created."""
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)}-{os.getpid()}-{uuid.uuid4().hex[:6]}.jsonl"
        self._size = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FleetError(f"records cannot be written ({error.strerror})", where=str(folder)) from error

    def write(self, event: Event) -> RecordLocation:
        """Append one line, flush it to the disk, and return its place. Raises FleetError if it cannot be written."""
        values = event.to_json() if isinstance(event, NightRecord) else encode_record(event)
        line = json.dumps({"type": _TYPES[type(event)], **values}, separators=(",", ":"), allow_nan=False) + "\n"
        data = line.encode(errors="replace")
        place = RecordLocation(str(self.path.absolute()), self._size)
        self._size += len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fdatasync(self._file)
        except OSError as error:
            raise FleetError(f"records cannot be written ({error.strerror})", where=str(self.path)) from error
        return place

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@dataclass(frozen=True)
class Reading:
    """The contents of a night's files.

    Attributes:
        id, folder: of the night. sessions: their heads, ascending by time. ended: the last session has an `End` of status "ended".
        records: the last record of each key, cases first, then ascending by kind and key.
        attempts: key -> all its records, for keys with several.
        planned: node -> kind. missing: planned nodes without a record. interrupted: number of starts without a record.
        said: defects of the files, one line each. damaged: whether a line other than a torn last one cannot be read.
        processes: file's name -> (seconds of its records, first start, last end), times in ISO 8601.
        wall: duration of all sessions together in seconds, without those that have no `End`.
        left_out: node -> reason, for tests beyond the budget that did not run. notes: of all sessions, ascending by time.
        running: node -> (file's name, start in ISO 8601), for starts without a record in files whose session has not ended.
    """

    id: str
    folder: Path
    sessions: tuple[SessionHead, ...]
    ended: bool
    records: tuple[NightRecord, ...]
    attempts: Mapping[str, tuple[NightRecord, ...]]
    planned: Mapping[str, str]
    missing: tuple[str, ...]
    interrupted: int
    said: tuple[str, ...]
    damaged: bool
    processes: Mapping[str, tuple[float, str, str]]
    wall: float
    left_out: Mapping[str, str]
    notes: tuple[Note, ...]
    running: Mapping[str, tuple[str, str]]

    @property
    def partial(self) -> bool:
        """True if a planned node has no record, or the last session did not end."""
        return bool(self.missing) or not self.ended

    @property
    def at(self) -> str:
        """Start of the first session, ISO 8601."""
        return self.sessions[0].at

    @property
    def until(self) -> str:
        """Time of the last record, ISO 8601."""
        return max((r.at for r in self.records if r.at), default=self.at)


def nights(folder: Path) -> tuple[Path, ...]:
    """Return the folders of all nights under `folder`, oldest first."""
    below = folder / "nights"
    return tuple(sorted(p for p in below.iterdir() if _ID.fullmatch(p.name))) if below.is_dir() else ()


def latest(folder: Path) -> Path:
    """Return the folder of the last night. Raises ModelError if there is no night."""
    found = nights(folder)
    if not found:
        raise ModelError(
            "no night has been recorded here", where=str(folder), hint="run `pytest sim/`, or name its folder with --dir"
        )
    return found[-1]


def read_night(folder: Path) -> Reading:
    """Read all files of a night. Raises ModelError if no session head can be read."""
    events: list[tuple[str, Event]] = []
    said: list[str] = []
    damaged = False
    for path in sorted(folder.glob("*.jsonl")):
        found, torn, broken = _events(path)
        events += [(path.stem, event) for event in found]
        said += [f"{path.name}: {what}" for what in (*torn, *broken)]
        damaged = damaged or bool(broken)
    begun = sorted(((event, name) for name, event in events if isinstance(event, SessionHead)), key=lambda b: (b[0].at, b[1]))
    if not begun:
        raise ModelError("no session says that it began here", where=str(folder))
    order = [name for _, name in begun]
    plans = [(order.index(name), event) for name, event in events if isinstance(event, SessionPlan) and name in order]
    planned: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for _, plan in sorted(plans, key=lambda pair: pair[0]):  # stable: plans of one session stay in the order of its file
        planned |= plan.nodes
        left_out = {node: why for node, why in left_out.items() if node not in plan.nodes} | dict(plan.left_out)
    planned = {node: kind for node, kind in planned.items() if node not in left_out}
    records = sorted((event for _, event in events if isinstance(event, NightRecord)), key=lambda r: r.at)
    attempts: dict[str, list[NightRecord]] = {}
    owner: dict[str, str] = {}
    for record in records:
        key = record.key if owner.setdefault(record.key, record.node) == record.node else record.node
        attempts.setdefault(key, []).append(replace(record, key=key))
    last = [found[-1] for found in attempts.values()]
    done = {r.node for r in last}
    ends = {name: event for name, event in events if isinstance(event, End)}
    last_end = ends.get(begun[-1][1])
    return Reading(
        id=folder.name,
        folder=folder,
        sessions=tuple(head for head, _ in begun),
        ended=last_end is not None and last_end.status == "ended",
        records=tuple(sorted(last, key=lambda r: (r.kind != "case", r.kind, r.key))),
        attempts={key: tuple(found) for key, found in attempts.items() if len(found) > 1},
        planned=planned,
        missing=tuple(sorted(node for node in planned if node not in done)),
        interrupted=_interrupted(events),
        said=tuple(said),
        damaged=damaged,
        processes=_processes(events),
        wall=sum(end.seconds for end in ends.values()),
        left_out={node: why for node, why in left_out.items() if node not in done},
        notes=tuple(sorted((event for _, event in events if isinstance(event, Note)), key=lambda note: note.at)),
        running={} if last_end is not None else _running(events, done),
    )


def _events(path: Path) -> tuple[list[Event], list[str], list[str]]:
    """Return (events, defects of the last line, defects of other lines). Types of later versions are ignored."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return [], [], [f"cannot be read ({error.strerror})"]
    *whole, rest = data.split(b"\n")
    torn = [f"the last line is torn ({len(rest)} bytes), dropped"] if rest else []
    found: list[Event] = []
    broken: list[str] = []
    for number, line in enumerate(whole, 1):
        try:
            values: object = json.loads(line)
        except ValueError:
            values = None
        if not is_table(values):
            broken.append(f"line {number} is no record, dropped")
            continue
        cls = _EVENTS.get(str(values.get("type")))
        try:
            found += [] if cls is None else [_read(cls, values, str(path))]
        except ModelError as error:
            broken.append(f"line {number} is dropped: {error.what}")
    return found, torn, broken


def _interrupted(events: Iterable[tuple[str, Event]]) -> int:
    """Return the number of starts without a later record of the same process."""
    open_: Counter[tuple[str, str]] = Counter()
    for name, event in events:
        if isinstance(event, StartOfTest):
            open_[name, event.node] += 1
        elif isinstance(event, NightRecord) and open_[name, event.node]:
            open_[name, event.node] -= 1
    return sum(open_.values())


def _running(events: Iterable[tuple[str, Event]], done: set[str]) -> dict[str, tuple[str, str]]:
    """Return node -> (file's name, start), for tests that are the last of their process and have no record anywhere."""
    last = {name: event for name, event in events if isinstance(event, StartOfTest | NightRecord)}
    return {e.node: (name, e.at) for name, e in last.items() if isinstance(e, StartOfTest) and e.node not in done}


def _processes(events: Iterable[tuple[str, Event]]) -> dict[str, tuple[float, str, str]]:
    found: dict[str, tuple[float, str, str]] = {}
    for name, event in events:
        if isinstance(event, StartOfTest | NightRecord) and event.at:
            seconds = event.seconds if isinstance(event, NightRecord) else 0.0
            busy, first, last = found.get(name, (0.0, event.at, event.at))
            found[name] = (busy + seconds, min(first, event.at), max(last, event.at))
    return found
