"""A workspace as a user has it: made by the commands, with sets installed as an installer leaves them, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import warm

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Workspace:
    """folder: its root; installed: projects on the import path."""

    folder: Path
    installed: list[Path] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([*map(str, self.installed), str(ROOT)])
        return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def _run(self, *command: str) -> tuple[int, str]:
        done = warm.run(command, cwd=self.folder, env=self.environment)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    def fleet(self, *arguments: str, code: int = 0) -> str:
        """Output of a `fleet` command that ends with `code`; it never shows a traceback."""
        ended, text = self._run(sys.executable, "-m", "fleet.cli.main", *arguments)
        assert ended == code, f"fleet {' '.join(arguments)}: {ended}\n{text[-4000:]}"
        assert "Traceback" not in text
        return text

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A `fleet` command that goes on beside the test, which ends it."""
        command = (sys.executable, "-m", "fleet.cli.main", *arguments)
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def python(self, *arguments: str, code: int = 0) -> str:
        ended, text = self._run(sys.executable, *arguments)
        assert ended == code, text[-8000:]
        return text

    def pytest(self, *arguments: str, code: int = 0) -> str:
        from importlib.metadata import entry_points

        known = any(e.name == "fleet" for e in entry_points(group="pytest11"))
        plugin = [] if known else ["-p", "fleet.regress.pytest_plugin"]
        without = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")  # the latter imports Hypothesis into every session
        return self.python("-m", "pytest", *without, *plugin, *arguments, code=code)

    def install(self, project: Path) -> None:
        """What `pip install -e` leaves: the project on the import path, its entry points beside it."""
        table = tomllib.loads((project / "pyproject.toml").read_text())["project"]
        info = project / f"{table['name'].replace('-', '_')}-{table['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {table['name']}\nVersion: {table['version']}\n")
        points = table["entry-points"]["fleet.instruction_sets"]
        lines = [f"{name} = {value}\n" for name, value in points.items()]
        (info / "entry_points.txt").write_text("[fleet.instruction_sets]\n" + "".join(lines))
        self.installed.append(project)

    def new_set(self, name: str, *options: str) -> Path:
        """Make a set by `fleet isa new` and install it; returns its project's folder."""
        self.fleet("isa", "new", name, *options)
        project = self.folder / "sets" / name
        self.install(project)
        return project


def make_workspace(folder: Path) -> Workspace:
    """A fresh one below `folder` (with a blank in its name)."""
    made = Workspace(folder)
    made.fleet("init", "my work")
    made.folder = folder / "my work"
    return made
