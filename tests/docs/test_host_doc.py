"""docs/host.md: its program builds and prints what the page shows; the functions that it lists are those of the library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from fleet.targets.graph.host import include_dir

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
    (tmp_path / "main.cpp").write_text(block("cpp"))
    built = fleet("host", "build", tmp_path / "main.cpp", "-o", tmp_path / "program")
    assert (built.returncode, built.stderr) == (0, "")
    ran = fleet("host", "run", "--device", "hbm_small", "--engine", "iss", tmp_path / "program")
    assert ran.returncode == 0
    assert ran.stdout == block("text")
    assert ran.stderr.strip() in PAGE


def test_the_functions() -> None:
    text = (include_dir() / "fleet_host.h").read_text()
    public = text[text.rindex("}  // namespace fleet_host") :]
    defined = set(re.findall(r"^inline \w+ (\w+)\(", public, re.MULTILINE))
    table = PAGE[PAGE.index("## The functions") : PAGE.index("## What is different")]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"\b((?:open|close|CSB|DDR|HBM)_\w+)", row)}
    assert defined == listed
