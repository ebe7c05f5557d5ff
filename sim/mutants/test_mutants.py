"""Mutants every night: a few of each place, drawn with the date as seed; every week more; a set made by `fleet isa new`.

The seed is printed with the command that draws the same again.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.verify.conformance.suite import suite_devices
from fleet.verify.mutation.survivors import load_survivors

ROOT = Path(__file__).parent.parent.parent
LEAST = 0.5  # of a draw that small; holes are printed, and a report adds them up
NIGHTLY, WEEKLY, DAY = 12, 70, 6  # mutants of a device and place; Sunday


def _run(folder: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
    command = [sys.executable, "-m", "fleet.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_the_list_of_survivors_can_be_read() -> None:
    found = load_survivors(Path(__file__).with_name("survivors.toml"))
    assert found
    for j in found.values():
        file, _, name = j.test.partition("::")
        assert not j.test or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{j.id}: there is no {j.test}"


@pytest.mark.nightly
def test_a_new_set_finds_mutants_of_its_functional_model(tmp_path: Path) -> None:
    """The small design of the template, and its functional model."""
    assert _run(tmp_path, "init", "work").returncode == 0
    work = tmp_path / "work"
    assert _run(work, "isa", "new", "mine").returncode == 0
    project = work / "sets" / "mine"
    info = project / "mine-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[fleet.instruction_sets]\nmine = mine:INSTRUCTION_SET\n")
    arguments = ("isa", "mutants", "mine_tiny", "--over", "rtl,semantics", "--count", "8", "--effort", "quick")
    done = _run(work, *arguments, path=(project,))
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert "8 mutants, seed 0" in done.stdout
    found = done.stdout.count("  found ")
    assert found >= 5, done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("over", ["rtl", "semantics", "passes"])
@pytest.mark.parametrize("device", suite_devices(all_devices=False))
def test_mutants_of_the_day(device: str, over: str) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    count = WEEKLY if today.weekday() == DAY else NIGHTLY
    arguments = ("isa", "mutants", device, "--over", over, "--count", str(count), "--seed", str(today.toordinal()))
    print("fleet", *arguments)
    done = _run(ROOT, *arguments)
    print(done.stdout)
    assert done.returncode in {0, 1}, done.stdout[-4000:] + done.stderr[-2000:]
    found, holes = done.stdout.count("\n  found "), done.stdout.count("\nHOLE ")
    assert found > 0, done.stdout[-4000:]
    assert found >= LEAST * (found + holes), f"fleet {' '.join(arguments)}\n{done.stdout[-6000:]}"
