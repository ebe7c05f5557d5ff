"""Failures become causes: new, still failing since, fixed, flaky, not run."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from nights_made import changed, failed, head, judged, night_id, run

from fleet.errors import ExitCode, ModelError
from fleet.night.compare import compare, find_side
from fleet.regress.night_records import SessionHead
from fleet.report.regression.campaign import CampaignEntry, write_campaign
from fleet.report.regression.night import write_night

HANG = "rtl-vs-iss: hang at mvm"


def test_new_still_failing_and_fixed(tmp_path: Path) -> None:
    judged(tmp_path, 0, [run(seed=s) for s in range(5)])
    rows = [failed(changed(run(seed=s, day=1))) for s in range(3)] + [
        failed(changed(run(seed=3, day=1)), HANG),
        changed(run(seed=4, day=1)),
    ]
    first = judged(tmp_path, 1, rows)
    assert [(c.state, c.signature, len(c.records)) for c in first.causes] == [
        ("new", rows[0].signature, 3), ("new", HANG, 1),
    ]  # fmt: skip
    assert first.headline.startswith("4 new failures, 2 causes")
    assert first.causes[0].changed == ("software",)
    assert first.exit_code == 1
    third = judged(
        tmp_path,
        3,
        [replace(changed(r, "3"), outcome="passed", error="", signature="", code=0) if r.seed == 3 else r for r in rows],
    )
    (cause,) = third.causes
    assert (cause.state, cause.since, cause.nights, cause.passed) == ("still failing", night_id(1), 2, night_id(0))
    assert third.fixed == (run(seed=3).key,)


def test_two_outcomes_of_one_content_are_flaky_and_red(tmp_path: Path) -> None:
    judged(tmp_path, 0, [failed(run(seed=0)), run(seed=1)])
    since = judged(tmp_path, 1, [run(seed=0, day=1), run(seed=1, day=1)])
    assert since.flaky.keys() == {run(seed=0).key}
    assert since.exit_code == 1
    assert since.fixed == ()
    within = judged(tmp_path, 2, [failed(run(seed=1, day=2)), run(seed=1, day=2, at="2026-01-03T09:00:00+00:00")])
    assert "1 of 2 tries failed" in within.flaky[run(seed=1).key]
    assert judged(tmp_path, 3, [run(seed=s, day=3) for s in range(2)]).exit_code == 0


def test_what_is_no_longer_there_is_named(tmp_path: Path) -> None:
    judged(tmp_path, 0, [run(seed=s) for s in range(3)])
    assert judged(tmp_path, 1, [run(seed=s, day=1) for s in range(2)]).gone == (run(seed=2).key,)


def test_known_failures_are_not_red(tmp_path: Path) -> None:
    row = replace(run(), outcome="known failure", known="ada: no divider (until 2026-12-31)", error="known failure of ada")
    found = judged(tmp_path, 0, [row, run(seed=1)])
    assert found.exit_code == 0
    write_night(found, tmp_path / "out")
    assert ET.parse(tmp_path / "out" / "junit.xml").getroot().get("skipped") == "1"
    assert "no divider" in (tmp_path / "out" / "index.html").read_text()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three commits of two authors, in the working directory; their revisions."""
    monkeypatch.chdir(tmp_path)

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    made: list[str] = []
    for n, author in enumerate(("ada", "bob", "ada")):
        Path("file").write_text(str(n))
        git("add", "file")
        git("-c", f"user.name={author}", "-c", "user.email=a@b", "commit", "-q", "-m", f"change {n}")
        made.append(git("rev-parse", "HEAD"))
    return made


def test_suspects_are_the_commits_since_it_passed(tmp_path: Path, repository: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import nights_made

    def of(day: int, **changes: object) -> SessionHead:
        return head(day, revision=repository[min(day, 2)])

    monkeypatch.setattr(nights_made, "head", of)
    judged(tmp_path, 0, [run()])
    found = judged(tmp_path, 2, [failed(changed(run(day=2)))])
    (cause,) = found.causes
    assert [s.split(" ", 1)[1] for s in cause.suspects] == ["change 1 (bob)", "change 2 (ada)"]
    assert f"commits {repository[0][:8]}..{repository[2][:8]}, 2 authors" in found.headline
    again = judged(tmp_path, 3, [failed(changed(run(day=3)))])
    assert again.causes[0].suspects == cause.suspects


def test_junit_has_one_case_a_row_and_no_key_twice(tmp_path: Path) -> None:
    rows = [run(seed=s) for s in range(3)] + [
        failed(run("other")),
        replace(run("t"), kind="fuzz", key="sim/fuzz/t.py::x", node="sim/fuzz/t.py::x"),
    ]
    found = judged(tmp_path, 0, rows, planned=["sim/cases/z.toml::z[host-0]"])
    files = write_night(found, tmp_path / "out")
    cases = list(ET.parse(files.junit).getroot().iter("testcase"))
    assert len(cases) == 6
    assert max(Counter((c.get("classname"), c.get("name")) for c in cases).values()) == 1
    assert ET.parse(files.junit).getroot().get("failures") == "2"
    table = json.loads(files.json.read_text())
    assert (table["verdict"], table["exit_code"], table["finished"], table["planned"]) == ("fail", 1, 5, 6)
    assert files.summary.read_text().startswith("# ✘ fail: partial: 5 of 6; 1 new failure, 1 cause; 1 not run; ")


def test_a_folder_without_a_history_is_compared_by_its_campaign(tmp_path: Path) -> None:
    entries = [CampaignEntry(f"t{i}", None, "3 commits differ" if i else None, f"pytest t{i}", kind="tests", outcome=outcome)
               for i, outcome in enumerate(("passed", "failed", "skipped"))]  # fmt: skip
    write_campaign(entries, tmp_path / "b")
    write_campaign([replace(entry, outcome="passed", error=None) for entry in entries], tmp_path / "a")
    found = compare(find_side(str(tmp_path / "a"), tmp_path), find_side(str(tmp_path / "b"), tmp_path))
    assert (found.failing, found.both) == (("t1",), 3)
    assert "3 commits differ" in found.markdown()
    for text in ("[]", '{"runs": [{"name": "a"}]}', "{"):
        (tmp_path / "b" / "campaign.json").write_text(text)
        with pytest.raises(ModelError, match=r"campaign\.json: .*(is not a campaign|the file is damaged)|is not a campaign"):
            find_side(str(tmp_path / "b"), tmp_path)


def test_not_run_is_no_failure_and_the_night_stays_incomplete(tmp_path: Path) -> None:
    rows = [run(seed=s, day=1) for s in range(3)]
    judged(tmp_path, 0, [run(seed=s) for s in range(3)])
    ended = replace(rows[2], outcome="not run", code=4, error="did not end")
    planned = [f"sim/cases/x.toml::x[{i}]" for i in range(11)]
    for number, more, code in ((1, [], ExitCode.INCOMPLETE), (2, [failed(run("bad", day=2))], ExitCode.DIFFERS)):
        found = judged(tmp_path, number, [*rows[:2], ended, *more], planned=planned)
        assert found.exit_code == code
        assert len(found.not_run) == 12
        assert [len(c.records) for c in found.causes] == [1] * len(more)
        assert found.night.failed == len(more)
        assert not found.night.good
        before = "1 new failure, 1 cause; 12 not run; " if more else "12 not run; no failure; "
        assert found.headline.startswith(f"partial: {2 + len(more)} of {14 + len(more)}; {before}")
    files = write_night(found, tmp_path / "out")
    assert "12 planned tests did not run or did not end" in files.html.read_text()
    assert json.loads(files.json.read_text())["not_run"][0] == ended.key
    assert ET.parse(files.junit).getroot().get("failures") == "13"
    side = compare(find_side(night_id(0), tmp_path / "night"), find_side(night_id(1), tmp_path / "night"))
    assert (side.failing, side.worse) == ((), True)
    assert ended.key in side.missing


def test_figures_that_are_gone_are_worse(tmp_path: Path) -> None:
    """And a run that failed and then did not run is not fixed."""
    bad = run("bad")
    judged(tmp_path, 0, [run(), failed(bad)])
    judged(tmp_path, 1, [changed(replace(run(day=1), figures={})), replace(bad, outcome="not run", code=4, error="did not end")])
    found = compare(find_side("last~1", tmp_path / "night"), find_side("last", tmp_path / "night"))
    assert (found.worse, found.fixed, found.missing) == (True, (), (bad.key,))
    assert {(m.figure, m.gone, m.better) for m in found.moves} == {("cycles rtl", True, False), ("over iss-vs-vm", True, False)}
    assert "1 did not run" in found.markdown()
    assert "2 figures gone" in found.markdown().splitlines()[0]
    assert "| 1,000 | gone |  | worse |" in found.markdown()


def test_a_moved_figure_is_red_in_junit(tmp_path: Path) -> None:
    judged(tmp_path, 0, [run()])
    files = write_night(judged(tmp_path, 1, [changed(run(day=1), cycles=2000.0)]), tmp_path / "out")
    assert ET.parse(files.junit).getroot().get("failures") == "1"
    assert "2 times as many" in files.junit.read_text()


def test_comparison_of_two_nights(tmp_path: Path) -> None:
    judged(tmp_path, 0, [run(seed=s) for s in range(5)])
    rows = [
        failed(changed(run(seed=0, day=1))),
        changed(run(seed=1, day=1), cycles=1100.0),
        run(seed=2, day=1),
        run(seed=3, day=1),
        run("new", day=1),
    ]
    judged(tmp_path, 1, rows)
    folder = tmp_path / "night"
    found = compare(find_side("last~1", folder), find_side("last", folder))
    assert (found.failing, found.missing, found.added) == ((run().key,), (run(seed=4).key,), (run("new").key,))
    assert [(m.key, m.figure, m.after) for m in found.moves] == [(run(seed=1).key, "cycles rtl", 1100.0)]
    assert found.worse
    text = found.markdown()
    assert "1 fail now, 1 slower, 1 did not run, 1 new runs" in text.splitlines()[0]
    assert "| 1,000 | 1,100 | x 1.1 | worse |" in text
    assert found.fixed == ()
    same = compare(find_side("last", folder), find_side(night_id(1), folder))
    assert not same.worse
    assert "1 fail on both sides" in same.markdown()
    assert "Cycles: the same" in same.markdown()
    assert compare(find_side(str(tmp_path), folder), find_side(str(folder), folder)).both == 5
