"""Walks through a page as a reader does: files are written, commands run in order, and what the page shows must be printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ROOT", "Walk", "blocks", "commands"]

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(sh|text|diff|python|toml|systemverilog|systemrdl)(?: (\S+))?\n(.*?)^```", re.M | re.S)
_EXIT = re.compile(r"\s+# exit code (\d)$")
_SECONDS = re.compile(r"\s+\d+\.\d+$")


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Language, second word (a file's name, or "nightly"), content of the blocks that a reader acts on."""
    return [(kind, word, content) for kind, word, content in _BLOCK.findall(text) if kind in {"sh", "text", "diff"} or word]


def commands(block: str) -> list[str]:
    """The commands of a block; one that goes on in the next line is one."""
    return block.replace("\\\n", " ").splitlines()


def _install(project: Path) -> None:
    """What `pip install -e` leaves, without a registry: entry points beside the project, which is put on the import path."""
    table = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    info = project / f"{table['name']}-{table['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {table['name']}\nVersion: {table['version']}\n")
    points = table["entry-points"]["fleet.instruction_sets"].items()
    (info / "entry_points.txt").write_text("[fleet.instruction_sets]\n" + "".join(f"{k} = {v}\n" for k, v in points))


@dataclass
class Walk:
    """A walk that begins in `folder`. bin: made there, `fleet`, `pytest` and `python` of this environment as a shell finds them.

    nightly: blocks marked so run too; else they are left out with what they print. ran: commands so far.
    """

    folder: Path
    bin: Path
    nightly: bool = True
    ran: int = 0
    _path: list[str] = field(default_factory=lambda: [str(ROOT)])

    def __post_init__(self) -> None:
        self.bin.mkdir()
        for name, arguments in (("fleet", "-m fleet.cli.main"), ("pytest", "-m pytest -p no:cacheprovider"), ("python", "")):
            script = self.bin / name
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
            script.chmod(0o755)

    def page(self, text: str) -> None:
        """Does what the page says. A command's exit code is 0, or the one behind it; blocks of text are of the commands above."""
        output, left_out = "", False
        for kind, word, block in blocks(text):
            if kind == "sh":
                left_out = word == "nightly" and not self.nightly
                output = "" if left_out else "".join(map(self.command, commands(block)))
            elif kind == "diff":
                subprocess.run(["patch", "-p1", "-d", str(self.folder / word)], input=block, text=True, check=True, timeout=60)
            elif kind == "text":
                known = {_SECONDS.sub("", line) for line in output.splitlines()} | {output}
                missing = [x for x in block.splitlines() if _SECONDS.sub("", x) not in known and x not in output]
                assert left_out or not missing, f"{missing}\nnot in\n{output[-6000:]}"
            else:
                with (self.folder / word).open("a") as file:
                    file.write(block)

    def command(self, line: str) -> str:
        """Runs one command; returns what it prints."""
        code = int(found[1]) if (found := _EXIT.search(line)) else 0
        command = _EXIT.sub("", line)
        words = shlex.split(command)
        self.ran += 1
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return ""
        if words[:3] == ["pip", "install", "-e"]:
            _install(self.folder / words[3])
            self._path.insert(0, str(self.folder / words[3]))
            return ""
        if words == ["source", ".venv/bin/activate"]:  # that `fleet` is found
            return ""
        if words == ["make", "demo"]:  # without the setup, which these tests have behind them
            recipe = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
            command = "python examples/digits/demo.py"
            assert command in recipe
        environment = {
            **os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(self._path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=900
        )
        output = done.stdout + done.stderr
        assert done.returncode == code, f"{line}\nexit code {done.returncode}\n{output[-6000:]}"
        assert "Traceback" not in output
        return output
