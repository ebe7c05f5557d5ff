"""Rules of docs/architecture.md that no reader should have to check by eye."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

_BELOW_ENGINES = {"targets", "transforms", "frontend", "isa", "sdk", "ir", "symbols"}
_TO_ENGINES = {"engines", *_BELOW_ENGINES}

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
    "engines": _BELOW_ENGINES,
    "adopt": {"engines", "isa", "sdk"},
    "compare": _TO_ENGINES - {"frontend"},
    "streams": {"compare", "engines", "targets", "isa", "sdk"},
    "cosim": {"streams", "compare"} | _TO_ENGINES,
    "regress": {"cosim", "streams", "compare", "engines", "isa", "ir"},
    "verify": {"regress", "cosim", "streams", "compare", "adopt"} | _TO_ENGINES - {"symbols"},
    "night": {"regress", "cosim", "compare"},
    "sweep": {"llm", "regress", "cosim", "streams", "compare"} | _TO_ENGINES,
    "report": {"sweep", "night", "verify", "regress", "cosim", "streams", "compare", "adopt"},
    "llm": {"cosim", "streams", "compare"} | _TO_ENGINES,
    "compiler": {"report", "cosim"} | _TO_ENGINES,  # the API that the commands use
    "dlavm": {"llm", "cosim"} | _TO_ENGINES,  # only other names for these
    "cli": {"adopt", "dlavm", "llm", "sweep", "compiler", "report", "night", "verify", "regress", "cosim", "streams", "compare"}
    | _TO_ENGINES,
}


_EVERYONES: dict[str, tuple[str, ...]] = {"sets": ()}
"""What a room may import beside `ALLOWED`, where that is less than elsewhere."""


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
    assert files, f"no such room: {room}"
    wrong = [
        f"{path.relative_to(ROOT)} imports fleet.{target}"
        for path in files
        for target in sorted(imports(path) - {room, *_EVERYONES.get(room, ("errors", "core"))} - ALLOWED[room])
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
    own = ("fleet/sets/hbm0923/", "rtl_models/hbm0923/")
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


def modules() -> dict[str, Path]:
    """Name -> file of every module of fleet, packages by their `__init__`."""
    found = {str(p.relative_to(ROOT).with_suffix("")).replace("/", "."): p for p in sorted((ROOT / "fleet").rglob("*.py"))}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


def imported_modules(path: Path, known: Mapping[str, Path]) -> set[str]:
    """Modules of fleet that a file imports, wherever the import stands: in functions and for type checkers too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else node.module for name in inner}
    return found & known.keys()


def test_what_outsiders_import_is_there() -> None:
    """pyright reads fleet and the benchmarks alone; what is nightly is imported by no quick run."""
    known, wrong = modules(), list[str]()
    for path in tracked("sim/*.py", "tests/*.py", "scripts/*.py", "examples/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in known and not node.level:
                names = [a.name for a in node.names if f"{node.module}.{a.name}" not in known]
                there = importlib.import_module(node.module) if names else None
                wrong += [
                    f"{path.relative_to(ROOT)}:{node.lineno} {node.module}.{name}" for name in names if not hasattr(there, name)
                ]
    assert not wrong, "\n".join(wrong)


def circles(imports: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan 1972), each ascending."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in sorted(imports[name]):
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(imports):
        if name not in number:
            visit(name)
    return sorted(members for members in found if len(members) > 1)


LEVEL = 20
"""Modules that one level of a folder may hold."""

GENERATED_OPERANDS = {"ErrorCause", "Opcode"}
"""Names that the generator writes into the module of operands of every instruction set; no module meets those of two sets."""


def test_a_circle_is_found_by_its_members() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"], "e": ["f"], "f": ["e"]}) == [["a", "b", "c"], ["e", "f"]]
    assert circles({"a": ["b"], "b": ["c"], "c": []}) == []


def test_imports_make_no_circle() -> None:
    known = modules()
    found = circles({name: imported_modules(path, known) - {name} for name, path in known.items()})
    assert not found, "\n".join(map(", ".join, found))


INNER = {
    "frontend": {
        "reading": set(),
        "arrays": {"reading"},
        "python": {"arrays", "reading"},
        "onnx": set(),
        "mlir": {"live"},
        "live": {"python", "arrays", "reading"},
    },
    "report": {
        "frame": set(),
        "pictures": {"frame"},
        "run": {"pictures", "frame"},
        "regression": {"run", "pictures", "frame"},
    },
}
"""A room -> the rooms inside it -> those of them that each may import."""


@pytest.mark.parametrize(("outer", "room"), [(outer, room) for outer, rooms in INNER.items() for room in rooms])
def test_imports_inside_a_room_go_downwards(outer: str, room: str) -> None:
    known = modules()
    rooms = {f"fleet.{outer}.{other}" for other in INNER[outer].keys() - INNER[outer][room] - {room}}
    wrong = [
        f"{name} imports {other}"
        for name, path in known.items()
        if name.startswith(f"fleet.{outer}.{room}")
        for other in sorted(imported_modules(path, known))
        if any(other == r or other.startswith(f"{r}.") for r in rooms)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_level_of_a_folder_fits_on_a_screen() -> None:
    levels = Counter(str(p.parent.relative_to(ROOT)) for p in modules().values() if p.name != "__init__.py")
    assert {folder: n for folder, n in levels.items() if n > LEVEL} == {}


def test_only_public_packages_list_their_names() -> None:
    """Elsewhere a name without an underscore is public, and a list of them would repeat it. A star import needs one."""
    known = modules()
    starred = {
        node.module
        for path in known.values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    }
    public = ("fleet.sdk", "fleet.dlavm")
    listing = {name for name, path in known.items() if re.search(r"^__all__\b", path.read_text(encoding="utf-8"), re.M)}
    wrong = [n for n in listing - starred - {"fleet", "fleet.frontend.model_functions"} if not n.startswith(public)]
    assert not wrong, f"without __all__: {', '.join(sorted(wrong))}"


def public_names() -> dict[str, list[str]]:
    """Public class or type alias -> the modules that define it; without those that have Python's classes under Python's names."""
    found: dict[str, list[str]] = {}
    for module, path in modules().items():
        if module.startswith("fleet.frontend.written_"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.ClassDef(name=name):
                    pass
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                    pass
                case _:
                    continue
            if not name.startswith("_"):
                found.setdefault(name, []).append(module)
    return found


def test_a_name_means_one_thing_in_the_whole_project() -> None:
    twice = {n: where for n, where in public_names().items() if len(where) > 1 and n not in GENERATED_OPERANDS}
    assert not twice, "\n".join(f"{name}: {', '.join(where)}" for name, where in twice.items())
