"""90 nights of 10,000 made-up runs and the records of the last: tests count in it, `benchmarks/nights.py` times it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from nights_made import MEMORIES, changed, failed, night_row, run, write

from fleet.night import history as h
from fleet.regress.night_records import NightRecord

NIGHTS, RUNS = 90, 10_000


def runs(day: int) -> list[NightRecord]:
    """RUNS runs of 250 cases on four memories with ten seeds; a few change their content and cycles every night."""
    made = [run(f"case{c}", m, s, day) for c in range(RUNS // 40) for m in MEMORIES for s in range(10)]
    return [changed(r, f"{day}", cycles=3000.0 + day) if i % 100 == 0 else r for i, r in enumerate(made)]


def many_nights(made: Path) -> Path:
    """Write all nights but the last into a history, and the records of the last: 30 failures of three causes, 14 slower runs."""
    with h.NightHistory(made / "night" / h.FILE, write=True) as store:
        for day in (0, NIGHTS - 2):  # as `collect` writes them; the nights between are copies, each with some figures of its own
            store.add(night_row(day, RUNS), runs(day))
    with closing(sqlite3.connect(made / "night" / h.FILE)) as db, db:
        for day in range(1, NIGHTS - 2):
            row = night_row(day, 0)
            values = (row.number, row.id, row.at, row.until, row.revision, f"digest {day}", night_row(0, 0).number)
            db.execute(
                "INSERT INTO nights SELECT ?, ?, ?, ?, ?, branch, changed, scope, hosts, tools, authors, planned, finished, "
                "failed, red, partial, seconds, wall, ? FROM nights WHERE number = ?",
                values,
            )
            for table, columns in (("runs", "key, night"), ("cells", "night, title")):
                others: list[str] = [
                    c[1] for c in db.execute(f"PRAGMA table_info({table})") if c[1] not in ("key", "night", "title")
                ]
                named = columns.replace("night", "?").split(", ")
                cycles = {"cycles": f"cycles + {day} * (key % 100 = 1)"}
                picked = ", ".join([*named, *(cycles.get(c, c) for c in others)])
                into = ", ".join([*columns.split(", "), *others])
                copied = f"INSERT INTO {table} ({into}) SELECT {picked} FROM {table} WHERE night = ?"
                db.execute(copied, (row.number, values[-1]))
    last = runs(NIGHTS - 1)
    for i in range(30):
        last[i * 7 + 1] = failed(changed(last[i * 7 + 1]), f"rtl-vs-iss: commit at instruction{i % 3}, values")
    for i in range(14):
        last[5001 + 40 * i] = changed(last[5001 + 40 * i], cycles=1200.0)
    write(made, NIGHTS - 1, last)
    return made
