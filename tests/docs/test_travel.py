"""docs/how-a-model-travels.md shows what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-a-model-travels.md").read_text()
BLOCKS = [b.splitlines() for b in re.findall(r"```text\n\$ (.*?)```", TEXT, re.S)]


def in_order(wanted: list[list[str]], lines: list[str]) -> str | None:
    """The first line of the pieces (runs without `...` between) that does not follow the one before in `lines`."""
    position = 0
    for piece in wanted:
        for start in range(position, len(lines)):
            if lines[start : start + len(piece)] == piece:
                position = start + len(piece)
                break
        else:
            return piece[0]
    return None


@pytest.mark.parametrize("block", BLOCKS, ids=[shlex.split(b[0])[3] for b in BLOCKS])
def test_excerpts_are_what_the_command_prints(block: list[str]) -> None:
    command = shlex.split(block[0])
    assert command[0] == "fleet"
    done = subprocess.run(
        [sys.executable, "-m", "fleet.cli.main", *command[1:]], cwd=ROOT, capture_output=True, text=True, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    pieces: list[list[str]] = [[]]
    for line in block[1:]:
        if line == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    wanted = [p for p in pieces if p]
    assert wanted
    assert in_order(wanted, done.stdout.splitlines()) is None


def test_the_blocks_are_there() -> None:
    assert len(BLOCKS) == 4


def test_the_source_line_is_the_models() -> None:
    (line,) = re.findall(r"```python\n(.*?)\n```", TEXT, re.S)
    assert line in (ROOT / "examples" / "digits" / "model.py").read_text().splitlines()
