"""Rules of docs/architecture.md that no reader should have to check by eye."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# A room may import the rooms named here (and itself); `errors` and `core` are everyone's.
ALLOWED = {
    "errors": set(),
    "core": set(),
    "symbols": set(),
    "ir": {"symbols"},
    "sdk": {"ir", "symbols"},
    "sets": {"sdk"},  # found by their entry points: no room imports them
    "isa": {"sdk", "ir", "symbols"},
    "frontend": {"transforms", "ir", "symbols"},  # hands over canonical IR
    "transforms": {"ir", "symbols", "isa", "sdk"},
    "targets": {"transforms", "isa", "sdk", "ir", "symbols"},
    "engines": {"targets", "transforms", "frontend", "isa", "sdk", "ir", "symbols"},
    "compare": {"engines", "targets", "transforms", "isa", "sdk", "ir", "symbols"},
    "streams": {"compare", "engines", "targets", "isa", "sdk"},
    "cosim": {"streams", "compare", "engines", "targets", "transforms", "frontend", "isa", "sdk", "ir", "symbols"},
    "regress": {"cosim", "streams", "compare", "engines", "isa", "ir"},
    "verify": {"regress", "cosim", "streams", "compare", "engines", "targets", "transforms", "frontend", "isa", "sdk", "ir"},
    "night": {"regress", "cosim", "compare"},
    "report": {"night", "verify", "regress", "cosim", "streams", "compare"},
    "llm": {"cosim", "streams", "compare", "engines", "targets", "transforms", "frontend", "isa", "sdk", "ir", "symbols"},
    "compiler": {
        "report",
        "cosim",
        "engines",
        "targets",
        "transforms",
        "frontend",
        "isa",
        "sdk",
        "ir",
        "symbols",
    },  # the API that the commands use
    "dlavm": {
        "llm",
        "cosim",
        "engines",
        "targets",
        "transforms",
        "frontend",
        "isa",
        "sdk",
        "ir",
        "symbols",
    },  # only other names for these
    "cli": {
        "dlavm",
        "llm",
        "compiler",
        "report",
        "night",
        "verify",
        "regress",
        "cosim",
        "streams",
        "compare",
        "engines",
        "targets",
        "transforms",
        "frontend",
        "isa",
        "sdk",
        "ir",
        "symbols",
    },
}


_EVERYONES: dict[str, tuple[str, ...]] = {"sets": ()}
"""What a room may import beside `ALLOWED`, where that is less than elsewhere."""

_OLD_NAMES = {"fleet/cosim/pytest_plugin.py"}
"""Stand for their successor where an installation still has the old name; they go when none does."""


def imports(path: Path) -> set[str]:
    """Rooms of fleet that a file imports, wherever in the file the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "fleet" else [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("fleet.")}
    return found


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_go_downwards(room: str) -> None:
    folder = ROOT / "fleet" / room
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    files = [path for path in files if str(path.relative_to(ROOT)) not in _OLD_NAMES]
    assert files, f"no such room: {room}"
    wrong = [
        f"{path.relative_to(ROOT)} imports fleet.{target}"
        for path in files
        for target in sorted(imports(path) - {room, *_EVERYONES.get(room, ("errors", "core", "__version__"))} - ALLOWED[room])
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_is_listed() -> None:
    rooms = {p.name for p in (ROOT / "fleet").iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms <= ALLOWED.keys()


def tracked(*patterns: str) -> list[Path]:
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return [ROOT / line for line in out.splitlines() if (ROOT / line).is_file()]


def test_no_file_outside_the_sets_folders_names_it() -> None:
    files = [p for p in tracked("fleet", "rtl_models") if p.suffix in {".py", ".sv", ".svh", ".cpp", ".h", ".j2"}]
    if not files:
        pytest.fail("git ls-files found nothing: run the tests in a checkout")
    own = ("fleet/sets/hbm0923/", "rtl_models/hbm0923/", "rtl_models/generated/")
    wrong = [
        str(p.relative_to(ROOT))
        for p in files
        if not str(p.relative_to(ROOT)).startswith(own) and "hbm0923" in p.read_text().lower()
    ]
    assert not wrong, wrong


def test_every_module_of_the_tests_has_a_name_of_its_own() -> None:
    """pytest puts their folders on the path: of two modules of one name only the first would be found."""
    places: dict[str, list[str]] = {}
    for path in tracked("tests", "sim"):
        if path.suffix == ".py" and path.name not in ("conftest.py", "__init__.py") and not (path.parent / "__init__.py").exists():
            places.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    assert places
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_no_module_of_the_tests_is_taken_from_a_conftest() -> None:
    """Every folder has one, so that name means the one that was loaded last."""
    imported = re.compile(r"^\s*(?:from|import) conftest\b", re.M)
    assert not [str(p.relative_to(ROOT)) for p in tracked("tests", "sim") if p.suffix == ".py" and imported.search(p.read_text())]
