"""The history of nights: one SQLite file, written by `fleet night collect`.

A night is a row, and so is each of its runs. Equal figures, contents and signatures are stored once: most figures do not change
from night to night. Nights are numbered by the time in their ids, so that they can be collected in any order.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fleet.core.codec import Json, decode, is_table
from fleet.errors import FleetError, ModelError
from fleet.night.baselines import Accepted
from fleet.night.gates import Before, Move
from fleet.regress.night_records import Classes, NightRecord

FILE = "history.sqlite"
VERSION = 1

_TABLES = """
CREATE TABLE nights (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, at TEXT, until TEXT, revision TEXT, branch TEXT, changed INTEGER, scope TEXT,
  hosts TEXT, tools TEXT, authors TEXT, planned INTEGER, finished INTEGER, failed INTEGER, red INTEGER, partial INTEGER,
  seconds REAL, wall REAL, digest TEXT);
CREATE TABLE keys (number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, kind TEXT, title TEXT, node TEXT, file TEXT, replay TEXT);
CREATE TABLE figures (number INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, text TEXT NOT NULL);
CREATE TABLE contents (number INTEGER PRIMARY KEY, hash TEXT UNIQUE NOT NULL, parts TEXT NOT NULL);
CREATE TABLE signatures (number INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL);
CREATE TABLE runs (
  key INTEGER NOT NULL, night INTEGER NOT NULL, outcome TEXT NOT NULL, code INTEGER, seconds REAL, processor REAL, cycles REAL,
  figures INTEGER, content INTEGER, signature INTEGER, red INTEGER, error TEXT, PRIMARY KEY (key, night)) WITHOUT ROWID;
CREATE INDEX runs_of_a_night ON runs (night);
CREATE TABLE cells (
  night INTEGER, title TEXT, runs INTEGER, failed INTEGER, moved INTEGER, PRIMARY KEY (night, title)) WITHOUT ROWID;
CREATE TABLE builds (night INTEGER, device TEXT, hardware TEXT, runs INTEGER, PRIMARY KEY (night, device, hardware)) WITHOUT ROWID;
CREATE TABLE moves (night INTEGER, key TEXT, figure TEXT, before REAL, after REAL, state TEXT, said TEXT);
CREATE INDEX moves_of_a_night ON moves (night);
CREATE TABLE accepted (night INTEGER, key TEXT, figure TEXT, value REAL, reason TEXT, owner TEXT, until TEXT);
"""
_OF_NIGHT = ("runs", "cells", "builds", "moves", "accepted")


@dataclass(frozen=True)
class NightRow:
    """A night in the history.

    Attributes:
        number: ascends with time. id, at, until, revision, branch, changed, scope, hosts, tools: as in the records.
        authors: of the commits since the previous night of the same scope.
        planned, finished, failed: numbers of tests. red: number of red figures.
        partial: whether planned tests have no record, or the session did not end.
        seconds: of all runs. wall: of the sessions. digest: SHA-256 of the row, the records and the moves.
    """

    number: int
    id: str
    at: str
    until: str
    revision: str
    branch: str
    changed: bool
    scope: str
    hosts: tuple[str, ...]
    tools: Mapping[str, str]
    authors: tuple[str, ...]
    planned: int
    finished: int
    failed: int
    red: int
    partial: bool
    seconds: float
    wall: float
    digest: str

    @property
    def good(self) -> bool:
        """True if all planned tests ran, none failed and no figure moved."""
        return not (self.failed or self.red or self.partial or self.finished < self.planned)


@dataclass(frozen=True)
class RunRow:
    """A run in the history. Attributes as in `NightRecord`. red: whether one of its figures is red."""

    key: str
    kind: str
    outcome: str
    seconds: float
    figures: Mapping[str, float]
    classes: Mapping[str, Classes] = field(default_factory=dict[str, Classes])
    content: str = ""
    signature: str = ""
    error: str = ""
    red: bool = False
    replay: str = ""
    node: str = ""


@dataclass(frozen=True)
class LastRun:
    """The last run of a test. night: its number. Others as in `NightRecord`."""

    night: int
    outcome: str
    seconds: float
    content: str
    parts: Mapping[str, str]


def number_of(night: str) -> int:
    """Return the number of a night, from its id."""
    day, _, rest = night.partition("T")
    time, _, drawn = rest.partition("Z-")
    return int(day + time) * 4096 + int(drawn[:3], 16)


def title_of(record: NightRecord) -> str:
    """Return the row of the heat map: the case of a run, or the kind of another test."""
    return record.case or record.kind


class NightHistory:
    """An open history. path: the file. write: open it for writing, and create it if it is missing.

    Raises ModelError if the file is missing, is not a history, or has another version.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise ModelError("there is no history here", where=str(path), hint="`fleet night collect` begins one")
        try:
            target = str(path) if write else f"{path.absolute().as_uri()}?mode=ro"
            self._db = sqlite3.connect(target, timeout=60, uri=not write)
            if write and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise ModelError(f"is not a history ({error})", where=str(path)) from error
        if version != VERSION:
            raise ModelError(f"is a history of version {version}, this fleet reads {VERSION}", where=str(path))

    def __enter__(self) -> NightHistory:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    # -- writing

    def add(
        self, night: NightRow, records: Sequence[NightRecord], moves: Sequence[Move] = (), accepted: Iterable[Accepted] = ()
    ) -> None:
        """Write or replace a night, in one transaction. Raises FleetError if the file cannot be written."""
        red = {move.key for move in moves if move.red}
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                for table in _OF_NIGHT:
                    self._db.execute(f"DELETE FROM {table} WHERE night = ?", (night.number,))
                values = {**asdict(night), **{k: json.dumps(getattr(night, k)) for k in ("hosts", "tools", "authors")}}
                names = ", ".join(values)
                marks = ", ".join("?" * len(values))
                self._db.execute(f"INSERT OR REPLACE INTO nights ({names}) VALUES ({marks})", tuple(values.values()))
                self._add_runs(night.number, records, red)
                self._insert("moves", [(night.number, m.key, m.figure, m.before, m.after, m.state, m.said) for m in moves])
                self._insert("accepted", [_accepted(night.number, one) for one in accepted])
        except sqlite3.Error as error:
            raise FleetError(f"the history cannot be written ({error})", where=str(self.path)) from error

    def _add_runs(self, night: int, records: Sequence[NightRecord], red: set[str]) -> None:
        db = self._db
        db.executemany(
            "INSERT INTO keys (key, kind, title, node, file, replay) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "kind = excluded.kind, title = excluded.title, node = excluded.node, file = excluded.file, replay = excluded.replay",
            [(r.key, r.kind, title_of(r), r.node, r.file, r.replay) for r in records],
        )
        texts = [_figures_text(r) for r in records]
        hashes = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
        db.executemany("INSERT OR IGNORE INTO figures (hash, text) VALUES (?, ?)", set(zip(hashes, texts, strict=True)))
        parts = {r.content: json.dumps(dict(r.parts), sort_keys=True) for r in records if r.content}
        db.executemany("INSERT OR IGNORE INTO contents (hash, parts) VALUES (?, ?)", sorted(parts.items()))
        signatures = sorted({(r.signature,) for r in records if r.signature})
        db.executemany("INSERT OR IGNORE INTO signatures (text) VALUES (?)", signatures)
        db.executemany(
            "INSERT INTO runs VALUES ((SELECT number FROM keys WHERE key = ?), ?, ?, ?, ?, ?, ?, (SELECT number FROM figures WHERE "
            "hash = ?), (SELECT number FROM contents WHERE hash = ?), (SELECT number FROM signatures WHERE text = ?), ?, ?)",
            [
                (r.key, night, r.outcome, r.code, r.seconds, r.processor, headline_cycles(r.figures), h, r.content, r.signature,
                 int(r.key in red), r.error[:2000])
                for r, h in zip(records, hashes, strict=True)
            ],
        )  # fmt: skip
        cells: dict[str, list[int]] = {}
        builds: dict[tuple[str, str], int] = {}
        for r in records:
            cell = cells.setdefault(title_of(r), [0, 0, 0])
            cell[0] += not r.not_run
            cell[1] += r.failed
            cell[2] += r.key in red
            if hardware := r.parts.get("hardware"):
                builds[r.device, hardware] = builds.get((r.device, hardware), 0) + 1
        self._insert("cells", [(night, title, *cell) for title, cell in sorted(cells.items())])
        self._insert("builds", [(night, *build, n) for build, n in sorted(builds.items())])

    def _insert(self, table: str, rows: Sequence[tuple[str | float | None, ...]]) -> None:
        if rows:
            self._db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    # -- reading

    def nights(self) -> tuple[NightRow, ...]:
        """Return all nights, oldest first."""
        rows = self._db.execute("SELECT * FROM nights ORDER BY number")
        names = [column[0] for column in rows.description]
        return tuple(_night(dict(zip(names, row, strict=True))) for row in rows)

    def before(self, night: int) -> tuple[dict[str, Before], dict[str, RunRow]]:
        """Return by key, from earlier nights: (last run that passed without a red figure, last run unless "not run")."""
        stood = {
            row[0]: Before(row[1], *_figures(row[2]), row[3] or "", _parts(row[4]))
            for row in self._db.execute(
                """SELECT k.key, n.id, f.text, c.hash, c.parts FROM (
                     SELECT key, MAX(night) AS night, figures, content FROM runs
                     WHERE night < ? AND outcome = 'passed' AND red = 0 GROUP BY key) r
                   JOIN keys k ON k.number = r.key JOIN nights n ON n.number = r.night
                   LEFT JOIN figures f ON f.number = r.figures LEFT JOIN contents c ON c.number = r.content""",
                (night,),
            )
        }
        last = "SELECT key, MAX(night) AS night FROM runs WHERE night < ? AND outcome != 'not run' GROUP BY key"
        return stood, {row.key: row for row in self._runs(f"JOIN ({last}) l ON l.key = r.key AND l.night = r.night", (night,))}

    def runs(self, night: int) -> dict[str, RunRow]:
        """Return key -> run, for a night."""
        return {row.key: row for row in self._runs("WHERE r.night = ?", (night,))}

    def run(self, key: str, night: int) -> RunRow | None:
        """Return the run of a key in a night, or None."""
        return next(self._runs("WHERE r.night = ? AND k.key = ?", (night, key)), None)

    def _runs(self, which: str, values: tuple[str | int, ...]) -> Iterator[RunRow]:
        rows = self._db.execute(
            f"""SELECT k.key, k.kind, r.outcome, r.seconds, f.text, c.hash, s.text, r.error, r.red, k.replay, k.node
                FROM runs r JOIN keys k ON k.number = r.key LEFT JOIN figures f ON f.number = r.figures
                LEFT JOIN contents c ON c.number = r.content LEFT JOIN signatures s ON s.number = r.signature {which}""",
            values,
        )
        known: dict[str, tuple[Mapping[str, float], Mapping[str, Classes]]] = {}
        for key, kind, outcome, seconds, text, content, signature, error, red, replay, node in rows:
            if text not in known:
                known[text] = _figures(text)
            yield RunRow(key, kind, outcome, seconds, *known[text], content or "", signature or "", error, bool(red), replay, node)

    def last_runs(self) -> dict[str, LastRun]:
        """Return pytest's id -> last run of the test in any night."""
        rows = self._db.execute(
            """SELECT k.node, r.night, r.outcome, r.seconds, c.hash, c.parts FROM (
                 SELECT key, MAX(night) AS night FROM runs WHERE outcome != 'not run' GROUP BY key) l
               JOIN runs r ON r.key = l.key AND r.night = l.night JOIN keys k ON k.number = r.key
               LEFT JOIN contents c ON c.number = r.content"""
        )
        return {
            node: LastRun(night, outcome, seconds, content or "", _parts(parts))
            for node, night, outcome, seconds, content, parts in rows
        }

    def processor(self, night: int, nights: int = 7) -> dict[str, list[float]]:
        """Return key -> processor times in seconds of its passing runs in the last `nights` nights before `night`, oldest first."""
        found: dict[str, list[float]] = {}
        for key, seconds in self._db.execute(
            """SELECT k.key, r.processor FROM runs r JOIN keys k ON k.number = r.key WHERE r.outcome = 'passed' AND r.night IN (
                 SELECT number FROM nights WHERE number < ? ORDER BY number DESC LIMIT ?) ORDER BY r.night""",
            (night, nights),
        ):
            found.setdefault(key, []).append(seconds)
        return found

    def failing_since(self, keys: Iterable[str], night: int) -> dict[str, tuple[str, str | None]]:
        """Return the failures of each key before a night.

        Returns key -> (first night of its current series of failures, or ""; last night before that in which it passed, or None).
        """
        found: dict[str, tuple[str, str | None]] = {}
        for key in keys:
            first, passed = "", None
            for night_id, outcome in self._db.execute(
                """SELECT n.id, r.outcome FROM runs r JOIN nights n ON n.number = r.night
                   WHERE r.key = (SELECT number FROM keys WHERE key = ?) AND r.night < ? ORDER BY r.night DESC""",
                (key, night),
            ):
                if outcome == "failed":
                    first = night_id
                elif outcome == "passed":
                    passed = night_id
                    break
            found[key] = (first, passed)
        return found

    def cycles(self, key: str, night: int, nights: int = 60) -> tuple[float | None, ...]:
        """Return the cycles of a key in the last `nights` nights up to `night`, oldest first; None if it did not run."""
        rows = self._db.execute(
            """SELECT r.cycles FROM (SELECT number FROM nights WHERE number <= ? ORDER BY number DESC LIMIT ?) n
               LEFT JOIN runs r ON r.night = n.number AND r.key = (SELECT number FROM keys WHERE key = ?) ORDER BY n.number""",
            (night, nights, key),
        )
        return tuple(row[0] for row in rows)

    def cells(self, night: int, nights: int = 60) -> dict[str, dict[str, tuple[int, int, int]]]:
        """Return title -> id of night -> (tests that ran, failed, moved), for the last `nights` nights up to `night`."""
        found: dict[str, dict[str, tuple[int, int, int]]] = {}
        for title, name, *counts in self._db.execute(
            """SELECT c.title, n.id, c.runs, c.failed, c.moved FROM cells c JOIN (
                 SELECT number, id FROM nights WHERE number <= ? ORDER BY number DESC LIMIT ?) n ON n.number = c.night
               ORDER BY c.title, n.number""",
            (night, nights),
        ):
            found.setdefault(title, {})[name] = (counts[0], counts[1], counts[2])
        return found

    def find(self, name: str) -> NightRow:
        """Return the newest night with this id or prefix of an id, branch or revision; "last" and "last~N" count from the end.

        Raises ModelError if there is none.
        """
        found = self.nights()
        word, tilde, back = name.partition("~")
        if word == "last" and (not tilde or back.isdigit()) and len(found) > int(back or 0):
            return found[-1 - int(back or 0)]
        for fits in (
            lambda n: n.id.startswith(name),
            lambda n: n.branch == name,
            lambda n: len(name) >= 6 and n.revision.startswith(name),
        ):
            if chosen := [n for n in found if fits(n)]:
                return chosen[-1]
        known = ", ".join(n.id for n in found[-3:]) or "none"
        raise ModelError(
            "is not a night, branch or revision of the history", where=name, hint=f"nights are {known}; or last, last~1"
        )


def headline_cycles(figures: Mapping[str, float]) -> float | None:
    """Return the cycles of rtl, else of the first engine with a clock, else None."""
    found = {name: value for name, value in figures.items() if name.startswith("cycles ") and name.count(" ") == 1}
    return found.get("cycles rtl", next(iter(found.values()), None))


def _figures_text(record: NightRecord) -> str:
    figures = {k: v if abs(v) <= 1e308 else str(v) for k, v in record.figures.items()}
    classes = {k: asdict(v) for k, v in record.classes.items()}
    return json.dumps({"figures": figures, "classes": classes}, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class _StoredFigures:
    figures: Mapping[str, float]
    classes: Mapping[str, Classes]


def _figures(text: str | None) -> tuple[Mapping[str, float], Mapping[str, Classes]]:
    """Read what a run was measured as; empty without a text."""
    if not text:
        return {}, {}
    found = decode(_StoredFigures, json.loads(text), "the history of nights", "figures")
    return found.figures, found.classes


def _parts(text: str | None) -> Mapping[str, str]:
    """Read the parts of a run's content: part -> hash."""
    table: object = json.loads(text) if text else {}
    return {key: str(value) for key, value in table.items()} if is_table(table) else {}


def _accepted(night: int, one: Accepted) -> tuple[int, str, str, float, str, str, str]:
    given = one.exemption
    return night, one.key, one.figure, one.value, given.reason, given.owner, str(given.expires or "")


def _night(row: Mapping[str, str | float]) -> NightRow:
    """Read a row. SQLite has no lists, tables and booleans: the first two are stored as JSON text, the last as 0 and 1."""
    read: dict[str, Json] = {key: json.loads(str(row[key])) for key in ("hosts", "authors", "tools")}
    read |= {key: bool(row[key]) for key in ("changed", "partial")}
    return decode(NightRow, {**row, **read}, "the history of nights", "night")
