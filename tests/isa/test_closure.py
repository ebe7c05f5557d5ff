"""The hash of an instruction set covers all that its semantics import."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import fleet
import fleet.sdk
from fleet.errors import ModelError
from fleet.isa.closure import NOT_SEMANTICS, ClosureMember, closure, semantics_files
from fleet.isa.registry import PluginError, description_hash, find_device, instruction_sets
from fleet.sdk import InstructionSet

ROOT = Path(fleet.__file__).resolve().parents[1]
SETS = sorted(instruction_sets())


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of fleet's Python files."""
    folder = tmp_path_factory.mktemp("copy")
    for path in (ROOT / "fleet").rglob("*.py"):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return folder


def moved(name: str, folder: Path) -> InstructionSet:
    """The installed set with its semantics in the copy."""
    found = instruction_sets()[name]
    return replace(found, sources=tuple(folder / m.path.relative_to(ROOT) for m in semantics_files(found)), instructions={})


@pytest.mark.parametrize("name", SETS)
def test_one_character_in_any_file_of_the_closure_is_another_hash(name: str, copied: Path) -> None:
    original, copy = instruction_sets()[name], moved(name, copied)
    device = next(iter(original.devices.values()))
    before = description_hash(original, device)
    assert description_hash(copy, device) == before
    for member in semantics_files(copy):
        text = member.path.read_bytes()
        at = text.index(b'"""') + 3  # of the module's first sentence
        member.path.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        assert description_hash(copy, device) != before, member.name
        member.path.write_bytes(text)
    assert description_hash(copy, device) == before


def test_the_closure_holds_what_makes_the_compiled_kernels() -> None:
    names = {m.name for m in semantics_files(instruction_sets()["hbm0923"])}
    assert names >= {"fleet.sdk.native_ir", "fleet.sdk.native", "fleet.sdk.instructions.instruction", "fleet.sets.hbm0923.kernel"}
    assert not names & NOT_SEMANTICS.keys()
    assert not {
        n
        for n in names
        if n.startswith(("fleet.compare", "fleet.cosim", "fleet.streams", "fleet.engines", "fleet.ir", "fleet.sets.hbm0923.lower"))
    }


STUB = """
import ast, importlib, sys, types
from pathlib import Path

def stub(name, folder):
    found = sys.modules[name] = types.ModuleType(name)
    found.__path__ = [folder]
    return found

stub({package!r}, {folder!r})
door = Path({sdk!r})
where = {{
    alias.name: node.module
    for node in ast.parse(door.read_text()).body if isinstance(node, ast.ImportFrom) for alias in node.names
}}
stub("fleet.sdk", str(door.parent)).__getattr__ = lambda name: getattr(importlib.import_module(where[name]), name)
"""
"""The manifest and `fleet.sdk` without what they import: a name is looked up when it is asked for."""


@pytest.mark.parametrize("name", SETS)
def test_nothing_of_the_package_that_is_loaded_with_the_semantics_is_missing(name: str) -> None:
    """Held against Python's own import of the same files, in a process of its own, without the manifest."""
    found = instruction_sets()[name]
    package = f"fleet.sets.{name}"
    members = {m.name for m in semantics_files(found)}
    stub = STUB.format(package=package, folder=str(found.description.parent), sdk=str(Path(fleet.sdk.__file__)))
    imports = "".join(f"import {m.name}\n" for m in semantics_files(found) if m.name != package)
    show = "print(*[m for m, o in sys.modules.items() if m.startswith('fleet.') and not hasattr(o, '__path__')])"
    done = subprocess.run([sys.executable, "-c", stub + imports + show], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded - {package} <= members | NOT_SEMANTICS.keys()
    assert len(loaded) > 5


def test_a_new_import_enters_by_itself(copied: Path) -> None:
    copy, device = moved("vgemm", copied), find_device("vgemm_small")[1]
    words, memory = copied / "fleet/sets/vgemm/operands.py", copied / "fleet/isa/memory.py"
    text, other = words.read_text(), memory.read_text()
    words.write_text(text + "\n\ndef late() -> object:\n    from fleet.isa import memory\n\n    return memory\n")
    assert "fleet.isa.memory" in {m.name for m in semantics_files(copy)}
    before = description_hash(copy, device)
    memory.write_text(other + "\n")
    assert description_hash(copy, device) != before
    words.write_text(text)
    memory.write_text(other)


def tree(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(members: tuple[ClosureMember, ...]) -> list[str]:
    return [m.name for m in members]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("from plug.b import B", ["plug.b"]),
        ("from plug import b", ["plug.b"]),
        ("from . import b", ["plug.b"]),
        ("from .b import B", ["plug.b"]),
        ("from .low.c import C", ["plug.low.c"]),
        ("from .low import NAME", ["plug.low"]),
        ("from .low import *", ["plug.low"]),
        ("from .low import c, NAME", ["plug.low", "plug.low.c"]),
        ("import plug.b", ["plug.b"]),
        ("import plug.b as x, plug.low.c", ["plug.b", "plug.low.c"]),
        ("from plug import NAME", ["plug"]),
        ("import beside", ["beside"]),
        ("import beside_folder.inner", ["beside_folder.inner"]),
        ("def f():\n    from plug import b", ["plug.b"]),
        ("class C:\n    if True:\n        import plug.b", ["plug.b"]),
        ("try:\n    import plug.b\nexcept ImportError:\n    from plug.low import c", ["plug.b", "plug.low.c"]),
        ("match 1:\n    case 1:\n        import plug.b", ["plug.b"]),
        ("import importlib\nm = importlib.import_module('plug.b')", ["plug.b"]),
        ("m = __import__('plug.b')", ["plug.b"]),
        ("def f(n):\n    import importlib\n    return importlib.import_module(f'plug.low.{n}')", ["plug.low", "plug.low.c"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import plug.b", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import plug.b", ["plug.b"]),
        ("import numpy, json, os.path", []),
        ("text = 'import plug.b'", []),
    ],
)
def test_every_form_of_an_import_counts(statement: str, found: list[str], tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "plug/__init__.py": "NAME = 1\n", "plug/a.py": statement + "\n", "plug/b.py": "B = 1\n",
            "plug/low/__init__.py": "NAME = 1\n", "plug/low/c.py": "C = 1\n", "beside.py": "", "beside_folder/inner.py": "",
        },
    )  # fmt: skip
    assert names(closure([tmp_path / "plug/a.py"])) == sorted(["plug.a", *found])


def test_a_circle_ends_and_names_do_not_depend_on_the_folder(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        tree(
            tmp_path / folder,
            {"plug/__init__.py": "", "plug/a.py": "from plug import b", "plug/b.py": "import plug.a", "plug/t.csv": "1"},
        )
    one, two = (closure([tmp_path / f / "plug/a.py", tmp_path / f / "plug/t.csv"]) for f in ("one", "two"))
    assert names(one) == names(two) == ["plug.a", "plug.b", "plug/t.csv"]


def test_what_is_installed_beside_a_plugin_is_not_followed(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    tree(site, {"plug/__init__.py": "", "plug/a.py": "import other\nfrom plug import b", "plug/b.py": "", "other.py": ""})
    assert names(closure([site / "plug/a.py"])) == ["plug.a", "plug.b"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": "import b\n", "b.py": "x = 1\ndef f(:\n"})
    with pytest.raises(ModelError, match=r"b\.py:2: is not Python"):
        closure([tmp_path / "a.py"])
    found, device = find_device("vgemm_small")
    with pytest.raises(PluginError, match=r"gone\.py: cannot be read .*'vgemm'"):
        description_hash(replace(found, sources=(tmp_path / "gone.py",)), device)
