"""`fleet isa diff` on the first instruction set: a field that moved, a limit that is tighter, a unit that is slower.

In a copy of the project under git, whose own sources the command imports. The small set of the tests is held in
tests/verify/test_set_diff.py; here everything is large: formats, conformance, models, files made from the description.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
COPIED = ("fleet", "rtl_models", "sim/bundles", "examples/digits", "docs/hbm0923-manual.md")
SET = Path("fleet/sets/hbm0923")
MODEL = "examples/digits/model.py:forward"

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("change")
    for name in COPIED:
        source, target = PROJECT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A", "-f"), ("commit", "-qm", "before")):
        subprocess.run([*git, *words], cwd=folder, check=True, capture_output=True)
    return folder


def diff(copy: Path, *edits: tuple[Path, str, str]) -> dict[str, Any]:
    """What the command says of the set as it was and as it is after the edits, which are undone."""
    kept = {file: (copy / file).read_text() for file, _, _ in edits}
    try:
        for file, old, new in edits:
            text = (copy / file).read_text()
            assert text.count(old) == 1, (file, old)
            (copy / file).write_text(text.replace(old, new))
        command = [sys.executable, "-m", "fleet.cli.main", "isa", "diff", "hbm0923@HEAD", "hbm0923", "--cases", "2", "--json"]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        done = subprocess.run(
            [*command, "--model", MODEL], cwd=copy, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    finally:
        for file, text in kept.items():
            (copy / file).write_text(text)


def test_a_register_that_moved_changes_streams_and_nothing_is_illegal(copy: Path) -> None:
    rdl = SET / "hbm0923.rdl"
    found = diff(
        copy, (rdl, "} mvm_zero25 @ 4 * 25;", "} mvm_zero25 @ 4 * 26;"), (rdl, "} mvm_bn_addr @ 4 * 26;", "} mvm_bn_addr @ 4 * 25;")
    )
    assert [c["what"] for c in found["changes"]] == [
        "register mvm_zero25: number 25 -> 26",
        "register mvm_bn_addr: number 26 -> 25",
    ]
    assert found["changed"]
    assert all("mvm" in name or "program" in name for name in found["changed"])
    assert found["illegal"] == [], "the bundles are refused on both sides"
    assert found["emptied"] == []
    (model,) = found["models"]
    assert model["before"]["digest"] != model["after"]["digest"]
    assert [model["before"][k] for k in ("instructions", "cycles", "bytes")] == [
        model["after"][k] for k in ("instructions", "cycles", "bytes")
    ]
    stale = dict(found["stale"])
    assert stale["docs/hbm0923-manual.md"] == "python -m fleet.isa.manual"
    assert "sim/bundles/overlapping-output-rows/stream.json" in stale


def test_a_tighter_limit_and_a_slower_unit(copy: Path) -> None:
    found = diff(
        copy,
        (SET / "legality.py", 'between("mvm_win", tokens, 1, device.parameters["MaxToken"]', 'between("mvm_win", tokens, 1, 16'),
        (
            SET / "cycles/mvm.py",
            "    return around + max(array, weights, reads) + tail",
            "    return around + max(array, weights, reads) + tail + 500",
        ),
        (
            SET / "cycles/mvm.py",
            "return around + last_issue(_plan(device, o)) - FIRST_ISSUE + tail",
            "return around + last_issue(_plan(device, o)) - FIRST_ISSUE + tail + 500",
        ),
    )
    assert (found["changes"], found["changed"]) == ([], [])
    assert found["illegal"]
    assert all("expected 1 to 16 (MaxToken)" in why for _, why in found["illegal"])
    assert any(name.startswith("mvm") for name in found["emptied"])
    (model,) = found["models"]
    assert model["after"]["cycles"] >= model["before"]["cycles"] + 500
    assert [model["before"][k] for k in ("instructions", "bytes", "digest")] == [
        model["after"][k] for k in ("instructions", "bytes", "digest")
    ]
