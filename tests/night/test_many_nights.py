"""90 nights of 10,000 made-up runs: one collected, its page, two compared, the same bytes again; `benchmarks/nights.py` has the times."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from nights_made import MEMORIES, changed, failed, night_id, night_row, run, write

from fleet.night import history as h
from fleet.night.collect import collect
from fleet.night.compare import compare, find_side
from fleet.regress.night_records import NightRecord
from fleet.report.night import write_night

NIGHTS, RUNS = 90, 10_000


def runs(day: int) -> list[NightRecord]:
    """RUNS runs of 250 cases on four memories with ten seeds; a few change their content and cycles every night."""
    made = [run(f"case{c}", m, s, day) for c in range(RUNS // 40) for m in MEMORIES for s in range(10)]
    return [changed(r, f"{day}", cycles=3000.0 + day) if i % 100 == 0 else r for i, r in enumerate(made)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of all nights but the last, and the records of the last: 30 failures of three causes, 14 slower runs."""
    made = tmp_path_factory.mktemp("many")
    with h.History(made / "night" / h.FILE, write=True) as store:
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


def test_a_night_of_ten_thousand_runs_is_a_page_below_two_megabytes(folder: Path) -> None:
    where = folder / "night" / "nights" / night_id(NIGHTS - 1)
    found = collect(folder / "night", where, folder / "none.toml")
    files = write_night(found, folder / "out")
    assert files.html.stat().st_size < 2_000_000
    assert "30 new failures, 3 causes" in found.headline
    assert "10,000 of 10,000 ran" in found.headline
    slower = {m.key for m in found.red if not m.better}
    assert len([k for k in slower if "case0[" not in k]) >= 14
    assert all(len(line) == 60 for line in found.lines.values())


def test_the_same_night_twice_gives_the_same_bytes(folder: Path) -> None:
    where = folder / "night" / "nights" / night_id(NIGHTS - 1)
    made: list[dict[str, bytes]] = []
    for name in ("a", "b"):
        write_night(collect(folder / "night", where, folder / "none.toml"), folder / name)
        files = {p.name: p.read_bytes() for p in sorted((folder / name).iterdir())}
        made.append({**files, h.FILE: (folder / "night" / h.FILE).read_bytes()})
    assert made[0] == made[1]
    assert len(made[0]) == 5


def test_two_nights_of_ten_thousand_runs_are_compared(folder: Path) -> None:
    collect(folder / "night", folder / "night" / "nights" / night_id(NIGHTS - 1), folder / "none.toml")
    found = compare(find_side("last~1", folder / "night"), find_side("last", folder / "night"))
    assert len(found.failing) == 30
    assert "30 fail now" in found.markdown()
