"""The records of a night: one JSON line for everything that happens, appended as it happens, one file a process.

    <folder>/nights/<id>/<process>.jsonl

    {"type": "session", "id": ..., "at": ..., ...}   by the main process: what runs, of which revision, where
    {"type": "plan", "nodes": {node: kind}}          by the main process: what was collected and will run
    {"type": "start", "node": ..., "at": ...}        by the process that runs it
    {"type": "record", ...}                          how it ended (`NightRecord`)
    {"type": "end", "at": ..., "status": ...}        by the main process: missing where it was killed

No two processes write one file, and a line is one write: nothing has to be locked, also on a network file system. A process that is
killed may leave a torn last line; it is dropped, and that is said. A session that goes on where another one stopped adds its files
to the same folder.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from fleet.errors import FleetError, ModelError

__all__ = ["Classes", "NightRecord", "Reading", "SessionHead", "Writer", "latest", "new_id", "nights", "now", "read_night"]

_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")


@dataclass(frozen=True)
class Classes:
    """Predicted classes of one engine against the golden's, where there are labels.

    samples, correct: counts; lost, won: rows where the golden alone is right, and where the engine alone is.
    """

    samples: int
    correct: int
    lost: tuple[int, ...] = ()
    won: tuple[int, ...] = ()


@dataclass(frozen=True)
class NightRecord:
    """How one run or test ended.

    Attributes:
        key: by which it is known from night to night: "digits[hbm_small-ideal-0]", of other tests the node's id.
        node: pytest's id; kind, outcome, code, error, replay, file, seconds: as `CampaignRecord`, and outcome "known failure".
        processor: seconds of processor time, children included.
        case, model, device, memory, seed: of a case's run; "" and None elsewhere. group: the key without its seed.
        figures: "cycles rtl", "cycles rtl logits" (of an operation), "sqnr iss-vs-vm logits", "over iss-vs-vm-rounded",
            "coverage NAME" -> value. `fleet.night.gates` says what each may do.
        classes: engine -> predicted classes.
        signature: what makes two failures the same, "" where it did not fail.
        content: hash of all that can move a figure, "" where it is not known; parts: its parts by name.
        held: why its cycles were accepted, where norms of its case hold them; else "".
        result: path of the stored result.json, relative to the working directory; None without one.
        owner, tags, known: as the case states them; host: where it ran; at: when it ended, ISO 8601.
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

    @property
    def failed(self) -> bool:
        """Whether the night is red because of it."""
        return self.outcome in ("failed", "not run")

    def to_json(self) -> dict[str, Any]:
        """JSON values; what is as by default is left out, infinities are texts."""
        usual = asdict(NightRecord("", "", "", ""))
        return _finite({k: v for k, v in asdict(self).items() if v != usual[k]})

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> NightRecord:
        """The inverse. Keys of later versions are ignored. Raises KeyError, TypeError or ValueError for what is no record."""
        known = {f.name for f in fields(cls)}
        values = {k: v for k, v in table.items() if k in known}
        values["figures"] = {str(k): float(v) for k, v in values.get("figures", {}).items()}
        values["classes"] = {
            str(k): Classes(int(v["samples"]), int(v["correct"]), tuple(v.get("lost", ())), tuple(v.get("won", ())))
            for k, v in values.get("classes", {}).items()
        }
        values["tags"] = tuple(values.get("tags", ()))
        return cls(**values)


def _finite(table: dict[str, Any]) -> dict[str, Any]:
    figures = cast("dict[str, float]", table.get("figures", {}))
    if figures:
        table["figures"] = {k: v if abs(v) <= 1e308 else str(v) for k, v in figures.items()}
    return table


@dataclass(frozen=True)
class SessionHead:
    """What the main process knows of its session at the beginning.

    Attributes:
        id: of the night; at: ISO 8601; command: how it was started; scope: what it was asked for, as text.
        state: hash of the working tree with its changes, "" where nobody can tell it; then nothing is ever carried over.
        revision, branch, changed: of the checkout; host; tools: name -> version.
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


def now() -> str:
    """This moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_id(at: str) -> str:
    """The id of a night that begins at `at`: ids ascend with time, and two machines do not draw the same."""
    return f"{datetime.fromisoformat(at).strftime('%Y%m%dT%H%M%SZ')}-{uuid.uuid4().hex[:6]}"


class Writer:
    """Appends lines to one process's file."""

    def __init__(self, folder: Path, name: str) -> None:
        """folder: of the night; name: of the process, unique in it. Raises FleetError where the folder cannot be written."""
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)}-{os.getpid()}-{uuid.uuid4().hex[:6]}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FleetError(f"records cannot be written ({error.strerror})", where=str(folder)) from error

    def line(self, kind: str, values: Mapping[str, Any]) -> None:
        """One line; on the disk when this returns. Raises FleetError when it is full."""
        data = (json.dumps({"type": kind, **values}, separators=(",", ":"), allow_nan=False) + "\n").encode(errors="replace")
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fdatasync(self._file)
        except OSError as error:
            raise FleetError(f"records cannot be written ({error.strerror})", where=str(self.path)) from error

    def head(self, head: SessionHead) -> None:
        """How the session began."""
        self.line("session", asdict(head))

    def plan(self, nodes: Mapping[str, str]) -> None:
        """What will run: node -> kind."""
        self.line("plan", {"nodes": dict(nodes)})

    def start(self, node: str) -> None:
        """That something begins."""
        self.line("start", {"node": node, "at": now()})

    def record(self, record: NightRecord) -> None:
        """How something ended."""
        self.line("record", record.to_json())

    def end(self, status: str, seconds: float) -> None:
        """That the session ended by itself. status: "ended", or the name of a signal; seconds: how long it took."""
        self.line("end", {"at": now(), "status": status, "seconds": seconds})

    def close(self) -> None:
        """Closes the file; nothing can be written afterwards."""
        os.close(self._file)


@dataclass(frozen=True)
class Reading:
    """What the files of a night say.

    Attributes:
        id, folder: of the night; sessions: their beginnings, ascending by time; ended: whether the last one ended by itself.
        records: the last of every key, ascending by kind and key, cases first; attempts: key -> all of it, where there are several.
        planned: node -> kind; missing: of these, what has no record. interrupted: starts that have no end.
        said: what is wrong with the files, a line each; damaged: whether more than last lines are torn.
        processes: file's name -> (seconds of its records, first start, last end), ISO 8601.
        wall: seconds of all sessions together, as far as they say.
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

    @property
    def partial(self) -> bool:
        """Whether something that was planned did not run, or the session did not end."""
        return bool(self.missing) or not self.ended

    @property
    def at(self) -> str:
        """When it began, ISO 8601."""
        return self.sessions[0].at

    @property
    def until(self) -> str:
        """When the last thing ended, ISO 8601."""
        return max((r.at for r in self.records if r.at), default=self.at)


def nights(folder: Path) -> tuple[Path, ...]:
    """The folders of all nights below `folder`, the oldest first."""
    below = folder / "nights"
    return tuple(sorted(p for p in below.iterdir() if _ID.fullmatch(p.name))) if below.is_dir() else ()


def latest(folder: Path) -> Path:
    """The last night's folder. Raises ModelError where there is none."""
    found = nights(folder)
    if not found:
        raise ModelError(
            "no night has been recorded here", where=str(folder), hint="run `pytest sim/`, or name its folder with --dir"
        )
    return found[-1]


def read_night(folder: Path) -> Reading:
    """Reads all files of a night. Raises ModelError where no session says that it began."""
    lines: list[tuple[str, str, dict[str, Any]]] = []
    said: list[str] = []
    damaged = False
    for path in sorted(folder.glob("*.jsonl")):
        found, torn, broken = _lines(path)
        lines += [(path.stem, str(table.get("type")), table) for table in found]
        said += [f"{path.name}: {what}" for what in (*torn, *broken)]
        damaged = damaged or bool(broken)
    begun = sorted(((_head(t), name) for name, kind, t in lines if kind == "session"), key=lambda s: s[0].at)
    sessions = [head for head, _ in begun]
    if not sessions:
        raise ModelError("no session says that it began here", where=str(folder))
    planned = {str(n): str(k) for _, kind, t in lines if kind == "plan" for n, k in t["nodes"].items()}
    records: list[NightRecord] = []
    for name, kind, table in lines:
        if kind == "record":
            try:
                records.append(NightRecord.from_json(table))
            except (KeyError, TypeError, ValueError) as error:
                said.append(f"{name}: a record cannot be read ({error})")
                damaged = True
    records.sort(key=lambda r: r.at)
    attempts: dict[str, list[NightRecord]] = {}
    owner: dict[str, str] = {}
    for record in records:
        key = record.key if owner.setdefault(record.key, record.node) == record.node else record.node
        attempts.setdefault(key, []).append(replace(record, key=key))
    last = [found[-1] for found in attempts.values()]
    done = {r.node for r in last}
    ends = {name: t for name, kind, t in lines if kind == "end"}
    return Reading(
        id=folder.name,
        folder=folder,
        sessions=tuple(sessions),
        ended=ends.get(begun[-1][1], {}).get("status") == "ended",
        records=tuple(sorted(last, key=lambda r: (r.kind != "case", r.kind, r.key))),
        attempts={key: tuple(found) for key, found in attempts.items() if len(found) > 1},
        planned=planned,
        missing=tuple(sorted(node for node in planned if node not in done)),
        interrupted=_interrupted(lines),
        said=tuple(said),
        damaged=damaged,
        processes=_processes(lines),
        wall=sum(float(t.get("seconds", 0.0)) for t in ends.values()),
    )


def _lines(path: Path) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """(tables, what of the last line, what of others); both in words."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return [], [], [f"cannot be read ({error.strerror})"]
    *whole, rest = data.split(b"\n")
    torn = [f"the last line is torn ({len(rest)} bytes), dropped"] if rest else []
    found: list[dict[str, Any]] = []
    broken: list[str] = []
    for number, line in enumerate(whole, 1):
        try:
            table = json.loads(line)
        except ValueError:
            table = None
        if isinstance(table, dict):
            found.append(cast("dict[str, Any]", table))
        else:
            broken.append(f"line {number} is no record, dropped")
    return found, torn, broken


def _head(table: Mapping[str, Any]) -> SessionHead:
    known = {f.name for f in fields(SessionHead)}
    return SessionHead(**{k: v for k, v in table.items() if k in known})


def _interrupted(lines: Iterable[tuple[str, str, Mapping[str, Any]]]) -> int:
    """Starts of a process that no record of the same process follows."""
    open_: Counter[tuple[str, str]] = Counter()
    for name, kind, table in lines:
        at = (name, str(table.get("node", "")))
        if kind == "start":
            open_[at] += 1
        elif kind == "record" and open_[at]:
            open_[at] -= 1
    return sum(open_.values())


def _processes(lines: Iterable[tuple[str, str, Mapping[str, Any]]]) -> dict[str, tuple[float, str, str]]:
    found: dict[str, tuple[float, str, str]] = {}
    for name, kind, table in lines:
        if kind in ("start", "record") and table.get("at"):
            at, seconds = str(table["at"]), float(table.get("seconds", 0.0)) if kind == "record" else 0.0
            busy, first, last = found.get(name, (0.0, at, at))
            found[name] = (busy + seconds, min(first, at), max(last, at))
    return found
