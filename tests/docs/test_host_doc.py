"""docs/host.md: its program builds and prints what the page shows; the functions that it lists are those of the library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from fleet.targets.driver import include_dir

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "host.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def fleet(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fleet.cli.main", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_program(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)[1])
    built = fleet("host", "build", tmp_path / "main.cpp", "-o", tmp_path / "program")
    assert (built.returncode, built.stderr) == (0, "")
    ran = fleet("host", "run", "--device", "hbm_small", "--engines", "iss", tmp_path / "program")
    assert ran.returncode == 0
    assert ran.stdout == block("text")
    assert ran.stderr.strip() in PAGE


def test_a_model_as_a_program(tmp_path: Path) -> None:
    """The page's commands in a folder with the examples; on the functional model, since hardware is what sim/host has."""
    commands = next(b for b in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "--emit hpp" in b)
    assert "--engines rtl --check" in commands
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    fleet_here = f'fleet() {{ "{sys.executable}" -m fleet.cli.main "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; set -e\n'
    script = fleet_here + commands.replace("--engines rtl --check", "--engines iss")
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.returncode == 0, ran.stderr
    assert np.load(tmp_path / "results" / "logits.npy").shape == (16, 10)
    header = (tmp_path / "digits.h").read_text()
    assert block("cpp").strip().removesuffix(";") in header


def test_the_functions() -> None:
    text = (include_dir() / "fleet_host.h").read_text()
    public = text[text.rindex("}  // namespace fleet_host") :]
    defined = set(re.findall(r"^inline \w+ (\w+)\(", public, re.MULTILINE))
    table = PAGE[PAGE.index("## The functions") : PAGE.index("## What is different")]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"\b((?:open|close|CSB|DDR|HBM)_\w+)", row)}
    assert defined == listed
