"""`fleet night` and what cases gained with it, as users type them; made-up nights and a small case."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from command_line import Fleet, Refused

sys.path.append(str(Path(__file__).parents[1] / "night"))
from nights_made import at, changed, failed, judged, night_id, run, write


def night_dir(folder: Path) -> Path:
    """Where commands look by default."""
    return folder / "reports" / "sim"


def test_collect_accept_compare_and_list(tmp_path: Path, fleet: Fleet, refused: Refused) -> None:
    refused("night", "collect", words=("no night has been recorded here", "pytest sim/"))
    where = night_dir(tmp_path)
    write(where, 0, [run(memory="fixed"), run()])
    assert fleet("night", "collect").code == 0
    write(where, 1, [changed(run(memory="fixed", day=1), cycles=3495.0), changed(run(day=1))])
    ran = fleet("night", "collect")
    assert ran.code == 1
    assert "no failure; 1 slower; 2 of 2 ran" in ran.out
    assert "moved: cycles rtl of digits[small-fixed-0]: 1,500 -> 3,495 (2.33 times as many" in ran.out
    assert "digits[small-ideal-0]" not in ran.out
    for name in ("index.html", "night.json", "junit.xml", "summary.md"):
        assert (where / "night" / name).exists()
    key = "digits[small-fixed-0]"
    refused("night", "accept", key, "--metric", "cycles", words=("needs an owner and a reason", "--reason"))
    refused(
        "night", "accept", key, "--metric", "sqnr", "--reason", "r", "--owner", "o", words=("no sqnr of it moved", "cycles rtl")
    )
    ran = fleet(
        "night",
        "accept",
        "digits[small-fixed-*]",
        "--metric",
        "cycles",
        "--reason",
        "later",
        "--owner",
        "ada",
        "--until",
        "2026-01-20",
    )
    assert ran.code == 0, ran.err
    assert (tmp_path / "sim/baselines.toml").read_text().count("[[accepted]]") == 1
    assert fleet("night", "collect").code == 0
    write(where, 27, [changed(run(memory="fixed", day=27), cycles=3495.0), changed(run(day=27))])
    ran = fleet("night", "collect")
    assert ran.code == 1
    assert "expired: cycles rtl of digits[small-fixed-0]" in ran.out
    ran = fleet("night", "compare", night_id(0), "last", "-o", "comment.md")
    assert ran.code == 1
    assert "1 slower" in (tmp_path / "comment.md").read_text()
    assert json.loads(fleet("night", "compare", "last", "last", "--json").out)["worse"] is False
    refused("night", "compare", "last", "nosuch", words=("is not a night, branch or revision", night_id(27)))
    listed = fleet("night", "list").out.splitlines()
    assert [line.split()[0] for line in listed] == [night_id(0), night_id(1), night_id(27)]
    assert "1 moved" in listed[2]


def test_gc_keeps_figures_and_what_was_never_collected(tmp_path: Path, fleet: Fleet, refused: Refused) -> None:
    where = night_dir(tmp_path)
    for day in range(4):
        judged(where, day, [failed(run(day=day)) if day == 1 else run(day=day)]) if day != 2 else write(where, day, [run(day=day)])
    refused("night", "gc", "--keep", "soon", words=("is not an age", "14d"))
    assert "would remove" in fleet("night", "gc", "--keep", "0d", "--dry-run").out
    ran = fleet("night", "gc", "--keep", "0d", "--keep-failing", "999999d")
    assert f"removed {night_id(0)}" in ran.out
    assert f"kept {night_id(2)}: was never collected" in ran.out
    assert sorted(p.name for p in (where / "night" / "nights").iterdir()) == [night_id(d) for d in (1, 2, 3)]
    assert len(fleet("night", "list").out.splitlines()) == 3
    assert at(0) < at(1)


def test_bisect_and_page_say_what_is_missing(tmp_path: Path, refused: Refused, fleet: Fleet) -> None:
    where = night_dir(tmp_path)
    judged(where, 0, [run()])
    refused("night", "bisect", "digits[small-ideal-0]", words=("does not fail in the last night",))
    refused("night", "bisect", "digits[small-ideal-0]", "--metric", "cycles", words=("has no night before",))
    refused("night", "bisect", "nosuch", words=("no run of this key",))
    refused("night", "page", "digits[small-ideal-0]", words=("has no stored result", "fleet case run sim/cases/digits.toml"))
    refused("night", "page", "digits[small-ideal-1]", words=("no run of this key in the night", "digits[small-ideal-0]"))
    assert "nothing to run again" in fleet("night", "rerun", "--failed").out
    refused("night", "rerun", words=("--failed", "--missing"))


CASE = """name = "one"
model = "../../model.py:forward"
golden = false
engines = ["vm", "cpython"]
owner = "ada"
tags = ["dense", "small"]
timeout = 60
known_failure = { owner = "bob", reason = "no divider", expires = 2026-12-31 }
[[runs]]
[[runs]]
seeds = [3]
tags = ["other"]
"""


@pytest.fixture
def case(dense: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sim/cases/one.toml"
    path.parent.mkdir(parents=True)
    path.write_text(CASE)
    return path


def test_list_of_cases(case: Path, fleet: Fleet, refused: Refused) -> None:
    lines = fleet("case", "list").out.splitlines()
    assert lines[0].startswith(
        "one[host-0]  quick  vm,cpython  owner ada  tags dense,small  timeout 60 s  known failure of bob: no divider"
    )
    assert "tags other" in lines[1]
    assert lines[-1] == "2 of 2 runs"
    assert fleet("case", "list", "--tag", "dense", "--tag", "small").out.splitlines()[-1] == "1 of 2 runs"
    assert fleet("case", "list", "--owner", "eve").out.splitlines() == ["0 of 2 runs"]
    (row, _) = json.loads(fleet("case", "list", "--json").out)
    assert (row["owner"], row["timeout"], row["known_failure"]["expires"]) == ("ada", 60, "2026-12-31")
    case.write_text(CASE.replace("expires", "until"))
    refused("case", "list", words=("sim/cases/one.toml:8", "known_failure.expires is missing"))


def test_a_run_for_git_bisect_leaves_with_125(case: Path, fleet: Fleet) -> None:
    assert fleet("case", "run", "one", "--bisect").code == 0
    text = case.read_text()
    case.write_text(text.replace('"cpython"', '"cpyton"'))
    assert fleet("case", "run", "one").code == 2
    assert fleet("case", "run", "one", "--bisect").code == 125
    case.write_text(text.replace('"vm", "cpython"', '"vm"'))
    assert fleet("case", "run", "one").code == 4
    assert fleet("case", "run", "one", "--bisect").code == 125
    assert fleet("case", "run", "gone", "--bisect").code == 125


def test_the_first_figures_hold_in_a_checkout_without_nights(tmp_path: Path, fleet: Fleet, refused: Refused) -> None:
    where = night_dir(tmp_path)
    write(where, 0, [run(memory="fixed"), run(), run(memory="timed")])
    assert fleet("night", "collect").code == 0
    words = ["night", "accept", "*", "--metric", "cycles", "--reason", "the first night", "--owner", "ada"]
    refused(*words, words=("no cycles of it moved",))
    ran = fleet(*words, "--first")
    assert ran.code == 0, ran.err
    text = (tmp_path / "sim/baselines.toml").read_text()
    assert text.count("[[accepted]]") == 2, "a timed memory answers when it pleases"
    refused(*words, "--first", words=("no cycles of it is new", "memory ideal or fixed"))
    shutil.rmtree(where / "night")
    write(where, 1, [run(memory="fixed", day=1), changed(run(day=1), cycles=1600.0), run(memory="timed", day=1)])
    ran = fleet("night", "collect")
    assert ran.code == 1
    assert "moved: cycles rtl of digits[small-ideal-0]: 1,000 -> 1,600" in ran.out
    assert "digits[small-fixed-0]" not in ran.out
