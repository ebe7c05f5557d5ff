"""Bundles as tests: what is stored, what is refused of files that nobody can trust, what pytest makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.running.stream import command as stream
from fleet.compare.signature import FailureSignature
from fleet.errors import DeviceError, ModelError
from fleet.isa.registry import description_hash, find_device, interface_hash
from fleet.sdk import Write
from fleet.streams.bundle import load_bundle, save_bundle
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.streams.renew import moved, renew_bundle, unexpected
from fleet.verify.conformance.suite import make_case

ROOT = Path(__file__).parents[2]
CASE = make_case("hbm_small/elementwise/directed/0")


def stored(folder: Path, case: StreamCase = CASE, *, expect: str = "passes") -> Path:
    outcome = StreamOutcome(case, Setting(), commits(folder), (), True, ())
    return save_bundle(outcome, folder, expect="diverges" if expect == "diverges" else "passes", story="a test", folder_name="one")


def commits(folder: Path) -> Sequence[StreamCommit]:
    """Those of the functional model."""
    instruction_set, device = find_device(CASE.device)
    images = Images(device, folder / "iss")
    images.fill(CASE.blocks, CASE.parameters)
    found = execute(instruction_set, device, images.memory, CASE.calls)
    images.close()
    return found


def test_a_case_with_a_long_name_has_a_folder_all_the_same(tmp_path: Path) -> None:
    """A program that aims at many bins has a name of a thousand characters; two that end differently have two folders."""
    names = [f"hbm_small/mvm/aimed/{'mvm:executed:yes,' * 90}mvm:executed:yes/{n}" for n in (1, 2)]
    outcomes = [StreamOutcome(replace(CASE, name=n), Setting(), (), (), True, ()) for n in names]
    paths = [save_bundle(o, tmp_path) for o in outcomes]
    assert [load_bundle(p)[0].name for p in paths] == names


def test_blocks_of_one_value_are_stored_as_such(tmp_path: Path) -> None:
    big = Write("ddr", 1 << 20, np.full(1 << 20, 7, np.uint8))
    other = Write("hbm", 64, np.arange(96, dtype=np.uint8), 3)
    path = stored(tmp_path, replace(CASE, blocks=(big, other)))
    assert sum(f.stat().st_size for f in path.parent.iterdir()) < 20_000
    bundle, arrays = load_bundle(path)
    assert list(arrays) == ["block1"]
    again = bundle.case(arrays, str(path))
    for a, b in zip(again.blocks, (big, other), strict=True):
        assert (a.space, a.bank, a.offset) == (b.space, b.bank, b.offset)
        assert np.array_equal(a.data, b.data)
    assert (bundle.expect, bundle.story) == ("passes", "a test")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("constant", 256, "expected a byte"),
        ("size", 1 << 40, "more than"),
        ("offset", 1 << 40, "leave|is bytes"),
        ("offset", -64, "is bytes"),
        ("space", "nowhere", "is bytes"),
        ("size", "many", "expected"),
    ],
)
def test_places_that_make_no_sense_are_refused(tmp_path: Path, key: str, value: object, words: str) -> None:
    path = stored(tmp_path, replace(CASE, blocks=(Write("ddr", 0, np.full(64, 3, np.uint8)),)))
    table = json.loads(path.read_text())
    table["places"][0][key] = value
    path.write_text(json.dumps(table))

    def read() -> None:
        bundle, arrays = load_bundle(path)
        bundle.case(arrays, str(path))

    with pytest.raises((ModelError, DeviceError), match=words):
        read()


def test_arrays_that_unfold_to_too_much_are_refused_before_they_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fleet.streams.bundle as module

    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    path = stored(tmp_path, replace(CASE, blocks=(Write("ddr", 0, np.arange(4096, dtype=np.uint16).view(np.uint8)),)))
    with pytest.raises(ModelError, match="the arrays unfold to"):
        load_bundle(path)


def test_another_description_names_the_command_that_makes_it_again(tmp_path: Path) -> None:
    path = stored(tmp_path)
    table = json.loads(path.read_text())
    table["description_hash"] = "0" * 64
    path.write_text(json.dumps(table, indent=1))
    bundle, arrays = load_bundle(path)
    with pytest.raises(DeviceError, match=r"made for description 0000.*make it again with `fleet stream renew .*stream\.json`"):
        bundle.case(arrays, str(path))
    assert not renew_bundle(path)
    bundle, arrays = load_bundle(path)
    assert bundle.case(arrays, str(path)).calls == CASE.calls
    assert bundle.story == "a test", "what it is about stays"


def test_a_test_is_held_by_its_commits_and_not_by_the_text_of_the_semantics(tmp_path: Path) -> None:
    here = find_device(CASE.device)
    bundle, _ = load_bundle(stored(tmp_path))
    assert bundle.description_hash == interface_hash(*here) != description_hash(*here)
    outcome = StreamOutcome(CASE, Setting(), bundle.expected, (), True, ())
    failing = load_bundle(save_bundle(outcome, tmp_path, folder_name="failing"))[0]
    assert failing.description_hash == description_hash(*here), "its commits are not compared with anything"

    assert bundle.expected
    assert not moved(bundle, outcome, "sim/bundles/one")
    other = replace(outcome, expected=(replace(bundle.expected[0], digest=1), *bundle.expected[1:]))
    assert moved(bundle, other, "sim/bundles/one").startswith("the functional model's commit 0 (instruction, cause, digest")
    assert moved(bundle, other, "sim/bundles/one").endswith("if that is meant: fleet stream renew sim/bundles/one")
    assert "is none, the bundle stores ('elementwise', " in moved(bundle, replace(outcome, expected=()), "x")
    assert moved(replace(bundle, expected=()), outcome, "x").endswith(
        "the bundle stores none; if that is meant: fleet stream renew x"
    )
    assert not moved(failing, other, "x")


def test_stream_run_compares_the_stored_commits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path)
    monkeypatch.chdir(tmp_path)
    good = CliRunner().invoke(stream, ["run", str(path)], standalone_mode=False)
    assert good.return_value == 0, good.output
    table = json.loads(path.read_text())
    table["expected"][0]["bytes_written"] += 1
    path.write_text(json.dumps(table))
    other = CliRunner().invoke(stream, ["run", str(path)], standalone_mode=False)
    assert other.return_value == 1
    assert "FAIL" in other.output
    assert "the functional model's commit 0" in other.output
    assert not (tmp_path / "reports").exists(), "the engines agree: there is nothing to explain"


def test_the_device_s_values_make_another_interface() -> None:
    instruction_set, device = find_device(CASE.device)
    hashes = {
        interface_hash(instruction_set, d)
        for d in (
            device,
            replace(device, memory={**device.memory, "ddr": 1 << 30}),
            replace(device, parameters={**device.parameters, "new": 1}),
            replace(device, clock_mhz=1.0),
            replace(device, limits={**device.limits, "new": 1}),
        )
    }
    assert len(hashes) == 5


@pytest.mark.parametrize("name", [".", "stream.json"])
def test_a_bundle_is_renewed_where_one_stands(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path)
    monkeypatch.chdir(path.parent)
    before = path.stat().st_ino
    assert not renew_bundle(Path(name))
    assert path.stat().st_ino != before, "it was written"
    assert [p for p in path.parent.iterdir() if p.is_dir()] == []
    assert load_bundle(path)[0].command == "fleet stream run stream.json"


def test_what_is_expected_decides(tmp_path: Path) -> None:
    passed = StreamOutcome(CASE, Setting(), (), (), True, ())
    hang = replace(passed, passed=False, reasons=("rtl, instruction 0 (elementwise): the simulation ended in hang: x",))
    bundle, _ = load_bundle(stored(tmp_path))
    assert not unexpected(bundle, passed)
    assert "expected to pass" in unexpected(bundle, hang)
    hangs = replace(bundle, expect="diverges", signature=FailureSignature("rtl-vs-iss", "hang", "elementwise"))
    assert not unexpected(hangs, hang)
    assert "it passes" in unexpected(hangs, passed)
    other = replace(hangs, signature=FailureSignature("rtl-vs-iss", "commit", "elementwise", "values"))
    assert "it fails by rtl-vs-iss: hang at elementwise" in unexpected(other, hang)
    assert "does not say" in unexpected(replace(bundle, expect=None), passed)


def test_pytest_collects_bundles_wherever_they_lie(tmp_path: Path) -> None:
    folder = tmp_path / "sim" / "bundles" / "deeper"
    stored(folder)
    shutil.copytree(folder / "one", folder / "two")
    shutil.copytree(folder / "one", tmp_path / "sim" / "elsewhere")
    table = json.loads((folder / "two" / "stream.json").read_text())
    table["expect"] = "diverges"
    table["signature"] = {"comparison": "rtl-vs-iss", "kind": "hang", "instruction": "elementwise", "difference": ""}
    (folder / "two" / "stream.json").write_text(json.dumps(table))
    shutil.copytree(folder / "one", folder / "three")
    table = json.loads((folder / "three" / "stream.json").read_text())
    table["expected"][0]["digest"] ^= 1
    (folder / "three" / "stream.json").write_text(json.dumps(table))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "sim", "-q"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "expected to fail (rtl-vs-iss: hang at elementwise): it passes" in done.stdout
    assert "replay: fleet stream run sim/bundles/deeper/two/stream.json" in done.stdout
    assert "the functional model's commit 0" in done.stdout
    assert "fleet stream renew sim/bundles/deeper/three/stream.json" in done.stdout
    assert "Traceback" not in done.stdout
