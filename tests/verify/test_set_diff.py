"""What a change of an instruction set means: of descriptions alone, and of two versions of an installed set."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.isa.difference import changes
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash, find_device
from fleet.sdk import Call, Write
from fleet.streams.bundle import save_bundle
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.verify.changes.revisions import RevisionSide, find_side
from fleet.verify.changes.set_diff import set_diff, stored_streams

MODEL = """
def forward(a: "int32[N, 20]", b: "int32[N, 20]"):
    return a + b + b
"""

ImportFrom = Callable[[Path], None]
ROOT = Path(__file__).parents[2]
RDL = ROOT / "tests" / "fixtures" / "one_instruction_set" / "vector_add" / "vector_add.rdl"


def edited(folder: Path, *edits: tuple[str, str]) -> Path:
    text = RDL.read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / "vector_add.rdl"
    path.write_text(text)
    return path


CHANGES = [
    ([("vadd_beats @ 0x1C", "vadd_beats @ 0x2C")], ["moved register vadd_beats: number 7 -> 11"]),
    (
        [("done[0:0];", "done[3:3];")],
        ["moved field vadd_status.done: bits 0:0 -> 3:3"],
    ),
    (
        [("bad_size = 2", "bad_size = 9")],
        ["changed field error_cause.cause: named values bad_size 2 -> 9"],
    ),
    ([("0x21;\n        fleet_start = 1", "0x21;\n        fleet_start = 5")], ["moved instruction vadd: start 0x1 -> 0x5"]),
    (
        [("fleet_opcode = 0x21", "fleet_opcode = 0x31"), ("cfg_id[7:0] = 0x21", "cfg_id[7:0] = 0x31")],
        ["moved instruction vadd: opcode 0x21 -> 0x31"],
    ),
    ([("} vadd @ 0x0;", "} vsum @ 0x0;")], ["gone instruction vadd", "new instruction vsum"]),
    ([("Beats of 64 bytes (16 elements).", "Other prose.")], []),
]


@pytest.mark.parametrize(("edits", "expected"), CHANGES)
def test_changes_of_a_description(tmp_path: Path, edits: list[tuple[str, str]], expected: list[str]) -> None:
    found = changes(load(RDL), load(edited(tmp_path, *edits)))
    assert [f"{c.kind} {c.what}" for c in found] == expected
    assert all(":" in c.where for c in found)


def stored(folder: Path, beats: int) -> None:
    fields = {"vadd_a": 0, "vadd_b": 0x400, "vadd_out": 0x800, "vadd_beats": beats, "vadd_start": 1}
    case = StreamCase(f"stored{beats}", "vector_tiny", (Call("vadd", fields),), (Write("ddr", 0, np.zeros(64, np.uint8)),))
    commit = StreamCommit("vadd", 0, 1, 64, None)
    save_bundle(StreamOutcome(case, Setting(), [commit], [commit], True, ()), folder)


def test_stored_streams_against_a_description(installed_set: Path, import_from: ImportFrom, tmp_path: Path) -> None:
    import_from(installed_set)
    stored(tmp_path / "streams", 3)
    stored(tmp_path / "streams", 16)
    (tmp_path / "streams" / "broken").mkdir()
    (tmp_path / "streams" / "broken" / "stream.json").write_text("{")
    assert len(stored_streams(tmp_path / "streams")) == 2
    other = tmp_path / "other"
    other.mkdir()
    narrow = edited(other, ('field { fleet_kind = "size"; } value[31:0]', 'field { fleet_kind = "size"; } value[3:0]'))
    diff = set_diff(RevisionSide("old", None, RDL), RevisionSide("new", None, narrow), folder=tmp_path / "streams")
    assert diff.programs == 2
    assert diff.changed == []
    ((name, why),) = diff.illegal
    assert "stored16" in name
    assert "0x10 sets bits that no field has" in why
    moved = edited(other, ("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    diff = set_diff(RevisionSide("old", None, RDL), RevisionSide("new", None, moved), folder=tmp_path / "streams")
    assert (len(diff.changed), diff.illegal) == (2, [])


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def in_git(installed_set: Path, import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch) -> Path:
    (installed_set / "model.py").write_text(MODEL)
    git(installed_set, "init", "-q")
    git(installed_set, "add", "-A")
    git(installed_set, "commit", "-qm", "first")
    monkeypatch.chdir(installed_set)
    return installed_set


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main(["isa", "diff", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_two_versions_of_a_set(in_git: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]) -> None:
    package = in_git / "vector_add"
    semantics, rdl = package / "semantics.py", package / "vector_add.rdl"
    model = ["--model", "model.py:forward"]
    import_from(in_git)
    same = report(capsys, "vector_add@HEAD", "vector_add", *model)
    assert same["same"]
    assert same["programs"] > 20
    assert (same["changes"], same["changed"], same["illegal"], same["emptied"], same["stale"]) == ([], [], [], [], [])
    assert same["models"][0]["before"] == same["models"][0]["after"]
    assert same["models"][0]["before"]["instructions"] == 2

    text = semantics.read_text()
    semantics.write_text(text.replace("2 + 8 * fields", "2 + 16 * fields"))
    slower = report(capsys, "vector_add@HEAD", "vector_add", *model)
    assert not slower["same"]
    before, after = slower["models"][0]["before"], slower["models"][0]["after"]
    assert after["cycles"] > before["cycles"]
    assert (after["bytes"], after["digest"]) == (before["bytes"], before["digest"])

    semantics.write_text(text.replace('device.parameters["MaxBeats"]', "9"))
    conformance = package / "conformance.py"
    conformance.write_text(conformance.read_text().replace('["MaxBeats"]', '["MaxBeats"] - 7'))
    narrower = report(capsys, "vector_add@HEAD", "vector_add", *model)
    assert narrower["illegal"]
    assert all("expected 1 to 9" in why for _, why in narrower["illegal"])

    git(in_git, "checkout", "-q", ".")
    bundle = in_git / "sim" / "bundles" / "lost"
    bundle.mkdir(parents=True)
    (bundle / "stream.json").write_text(json.dumps({"description_hash": description_hash(*find_device("vector_tiny"))}))
    rdl.write_text(rdl.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    moved = report(capsys, "vector_add@HEAD", "vector_add", *model)
    assert [c["what"] for c in moved["changes"]] == ["register vadd_beats: number 7 -> 11"]
    assert len(moved["changed"]) == moved["programs"] > 20
    assert moved["models"][0]["before"]["digest"] != moved["models"][0]["after"]["digest"]
    assert {Path(f).suffix for f, _ in moved["stale"]} == {".sv", ".vlt", ".json"}
    assert len(moved["stale"]) == 6
    assert ("sim/bundles/lost/stream.json", "fleet stream renew sim/bundles/lost") in {(f, c) for f, c in moved["stale"]}


def test_bins_that_nothing_reaches_any_more(in_git: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]) -> None:
    import_from(in_git)
    conformance = in_git / "vector_add" / "conformance.py"
    text = conformance.read_text()
    conformance.write_text(
        text.replace("rng.integers(1, device", "rng.integers(2, device").replace("number + 1", "max(2, number + 1)")
    )
    found = report(capsys, "vector_add@HEAD", "vector_add")
    assert "vadd vadd_beats 1" in found["emptied"]


def test_what_cannot_be_compared(in_git: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]) -> None:
    import_from(in_git)
    for arguments, message in (
        (["nothing", "vector_add"], "nothing: is neither a description (.rdl) nor an installed set"),
        (["vector_add@none", "vector_add"], "git rev-parse: fatal"),
        (["vector_add@-x", "vector_add"], "no revision"),
        (["vector_add@", "vector_add"], "no revision behind '@'"),
        (["none.rdl", "vector_add"], "no such description"),
        (["vector_add", "vector_add", "--device", "none"], "has no device 'none'; it has vector_tiny"),
    ):
        assert main(["isa", "diff", *arguments]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert len(error.splitlines()) == 1
    (in_git / "vector_add" / "semantics.py").write_text("def f(:")
    assert main(["isa", "diff", "vector_add@HEAD", "vector_add"]) == 2
    assert "vector_add" in capsys.readouterr().err


def test_a_description_at_a_revision(in_git: Path, tmp_path: Path) -> None:
    side = find_side("vector_add/vector_add.rdl@HEAD", tmp_path / "trees")
    assert side.set_name is None
    assert side.rdl is not None
    assert load(side.rdl).hash == load(RDL).hash
