"""Records are appended as things happen, and read whatever became of the processes that wrote them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from nights_made import failed, head, judged, night_id, run, write

from fleet.errors import ExitCode, ModelError
from fleet.regress.night_records import Classes, End, NightRecord, SessionPlan, Writer, latest, nights, read_night


def test_a_record_comes_back_as_it_went(tmp_path: Path) -> None:
    figures = {"sqnr iss-vs-vm y": float("inf"), "cycles rtl": 3.0}
    made = run(seed=0, tags=("a", "b"), classes={"rtl": Classes(10, 9, (1,), (2, 3))}, figures=figures)
    assert NightRecord.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert "processor" not in replace(made, processor=0.0).to_json()
    assert NightRecord.from_json({**made.to_json(), "of a later version": 3}) == made


def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path) -> None:
    """As a process leaves it that was killed while it wrote."""
    folder = write(tmp_path, 0, [run(seed=s) for s in range(3)], end=False)
    worker = next(folder.glob("one-gw0*"))
    data = worker.read_bytes()
    worker.write_bytes(data[:-20])
    found = read_night(folder)
    assert [r.seed for r in found.records] == [0, 1]
    assert found.missing == (run(seed=2).node,)
    assert (found.partial, found.damaged, found.interrupted) == (True, False, 1)
    assert len(found.said) == 1
    assert "the last line is torn (" in found.said[0]
    assert worker.name in found.said[0]


def test_a_broken_line_in_the_middle_is_damage(tmp_path: Path) -> None:
    folder = write(tmp_path, 0, [run(seed=s) for s in range(3)])
    worker = next(folder.glob("one-gw0*"))
    lines = worker.read_bytes().splitlines(keepends=True)
    worker.write_bytes(b"".join([*lines[:1], b"\0\0\0\n", *lines[2:]]))
    found = read_night(folder)
    assert found.damaged
    assert found.said == (f"{worker.name}: line 2 is no record, dropped",)
    assert judged(tmp_path, 1, [run(day=1)]).exit_code == 0


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"type": "plan", "nodes": ["a"]}', "Plan.nodes: expected a table, got ['a']"),
        (
            '{"type": "record", "key": "a", "node": "a", "kind": "t", "outcome": "passed", "seconds": "1"}',
            "seconds: expected a number",
        ),
        ('{"type": "record", "key": "a"}', "NightRecord.kind: expected a value"),
    ],
)
def test_a_line_of_wrong_types_is_damage_and_named(tmp_path: Path, line: str, says: str) -> None:
    folder = write(tmp_path, 0, [run()])
    (folder / "other.jsonl").write_text(f'{{"type": "of a later version", "x": 1}}\n{line}\n')
    found = read_night(folder)
    assert found.damaged
    assert found.said[0].startswith("other.jsonl: line 2 is dropped: ")
    assert says in found.said[0]
    assert [r.key for r in found.records] == [run().key]


def test_partial_of_a_killed_session(tmp_path: Path) -> None:
    found = judged(
        tmp_path, 0, [run(seed=s) for s in range(37)], planned=[f"sim/cases/x.toml::x[{i}]" for i in range(58)], end=False
    )
    assert found.exit_code == ExitCode.INCOMPLETE
    assert found.headline.startswith("partial: 37 of 95")
    assert [r.outcome for r in found.records].count("not run") == 58


def test_two_tests_of_one_key_are_two_rows(tmp_path: Path) -> None:
    folder = write(tmp_path, 0, [run(), run(node="other/sim/cases/digits.toml::digits[small-ideal-0]")])
    assert {r.key for r in read_night(folder).records} == {
        "digits[small-ideal-0]",
        "other/sim/cases/digits.toml::digits[small-ideal-0]",
    }


def test_a_session_that_goes_on_adds_to_the_night(tmp_path: Path) -> None:
    folder = write(tmp_path, 0, [run(seed=0)], planned=[run(seed=1).node], end=False)
    assert read_night(folder).partial
    main = Writer(folder, "one-main")
    main.write(head(0, at="2026-01-01T05:00:00+00:00"))
    main.write(SessionPlan({run(seed=1).node: "case"}))
    main.write(run(seed=1, at="2026-01-01T05:10:00+00:00"))
    main.write(End("2026-01-01T05:20:00+00:00", "ended", 60.0))
    found = read_night(folder)
    assert not found.missing
    assert found.ended
    assert [s.at[:13] for s in found.sessions] == ["2026-01-01T02", "2026-01-01T05"]


def test_the_last_attempt_counts_and_all_are_known(tmp_path: Path) -> None:
    folder = write(tmp_path, 0, [failed(run()), run(at="2026-01-01T09:00:00+00:00")])
    found = read_night(folder)
    assert [r.outcome for r in found.records] == ["passed"]
    assert [r.outcome for r in found.attempts[run().key]] == ["failed", "passed"]


def test_where_there_are_none(tmp_path: Path) -> None:
    assert nights(tmp_path) == ()
    with pytest.raises(ModelError, match="no night has been recorded here"):
        latest(tmp_path)
    (tmp_path / "nights" / night_id(0)).mkdir(parents=True)
    with pytest.raises(ModelError, match="no session says that it began"):
        read_night(latest(tmp_path))
