"""docs/bring-your-own.md: every command is run, in order, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "bring-your-own.md").read_text()
BLOCKS = re.findall(r"^```(sh|text|diff)\n(.*?)^```", TEXT, re.M | re.S)
EXIT = re.compile(r"\s+# exit code (\d)$")


def install(project: Path) -> None:
    """What `pip install -e` leaves, without a registry: entry points beside the project, which is put on the import path."""
    table = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    info = project / f"{table['name']}-{table['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {table['name']}\nVersion: {table['version']}\n")
    points = table["entry-points"]["fleet.instruction_sets"].items()
    (info / "entry_points.txt").write_text("[fleet.instruction_sets]\n" + "".join(f"{k} = {v}\n" for k, v in points))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """`fleet`, `pytest` and `python` of this environment and this checkout, as a shell finds them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, arguments in (("fleet", "-m fleet.cli.main"), ("pytest", "-m pytest -p no:cacheprovider"), ("python", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
        script.chmod(0o755)
    return folder


def test_every_command_runs_and_prints_what_the_page_shows(tmp_path: Path, programs: Path) -> None:
    folder, path, output, ran = tmp_path, [str(ROOT)], "", 0
    for kind, block in BLOCKS:
        if kind == "diff":
            subprocess.run(["patch", "-p1", "-d", str(folder / "sets" / "cube")], input=block, text=True, check=True, timeout=60)
            continue
        if kind == "text":
            missing = [line for line in block.splitlines() if line not in output]
            assert not missing, f"{missing}\nnot in\n{output[-6000:]}"
            continue
        output = ""
        for line in block.splitlines():
            code = int(found[1]) if (found := EXIT.search(line)) else 0
            command = EXIT.sub("", line)
            words = shlex.split(command)
            ran += 1
            if words[0] == "cd":
                folder = folder / words[1]
                continue
            if words[:3] == ["pip", "install", "-e"]:
                install(folder / words[3])
                path.insert(0, str(folder / words[3]))
                continue
            environment = {
                **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(path),
                "PYTHONDONTWRITEBYTECODE": "1",
            }  # fmt: skip
            done = subprocess.run(
                ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
            )
            output += done.stdout + done.stderr
            assert done.returncode == code, f"{line}\n{output[-6000:]}"
            assert "Traceback" not in output
    assert ran == len([line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]) >= 25


def test_every_command_of_the_group_is_on_the_page() -> None:
    from fleet.cli.isa import command

    assert {n for n in command.commands if f"fleet isa {n}" not in TEXT} == set()
