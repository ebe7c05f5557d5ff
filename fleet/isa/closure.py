"""Imports of Python files, file by file, read from their text: the closure over which a hash is taken.

Static: every `import` of a file counts, wherever it stands, but for those below `if TYPE_CHECKING:`, which never run. Followed are
the modules of the files' own packages and of fleet; other distributions are known by their versions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from fleet.errors import ModelError
from fleet.sdk import InstructionSet

NOT_SEMANTICS: Mapping[str, str] = {
    "fleet.errors": "the classes and texts of errors: no value passes through them",
    "fleet.core.toml_places": "the line of a key in a device file, for messages",
}
"""Modules that are left out of the closure of an instruction set's semantics, and why.

Left out too:
- a package's `__init__` from which no name is taken (the manifest: it lists classes, patterns, layouts and devices, and the
  description says which class is which instruction), and that of `fleet.sdk`, which only hands names on;
- imports for type checkers alone;
- modules whose name is computed (a manifest lists them in `sources`, like data that the semantics read);
- distributions other than the set's own and fleet.
The compiler, the engine and the comparison are not semantics.
"""

Imports = tuple[tuple[str, tuple[str, ...]], ...]
"""(module, names taken from it) of every import; no names for `import module`; "package.*" for any module of a package."""

_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class ClosureMember:
    """One file of a closure. name: the module's dotted name; of a file that is no module its path below its package's folder."""

    name: str
    path: Path

    def read(self) -> bytes:
        """The file's bytes. Raises ModelError if it cannot be read."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror})", where=str(self.path)) from error


@dataclass
class _Places:
    """Folders of absolute imports. tops: first part of a name -> its folder; folders: all of whose names count."""

    tops: dict[str, Path] = field(default_factory=lambda: {"fleet": Path(__file__).resolve().parents[2]})
    folders: list[Path] = field(default_factory=list[Path])
    _files: dict[str, Path | None] = field(default_factory=dict[str, "Path | None"])

    def add(self, folder: Path, top: str) -> None:
        self.tops[top] = folder
        if folder.name not in _INSTALLED and folder not in self.folders:
            self.folders.append(folder)

    def member(self, path: Path) -> ClosureMember:
        """A file under the name by which it is imported."""
        for folder in sorted({*self.folders, *self.tops.values()}, key=lambda f: -len(f.parts)):
            if path.is_relative_to(folder):
                return ClosureMember(_dotted(path.relative_to(folder)), path)
        raise AssertionError(path)

    def file(self, name: str) -> Path | None:
        """The file of a module, None if it is in none of the places or has none (a folder without `__init__.py`)."""
        if name not in self._files:
            self._files[name] = self._look_for(name)
        return self._files[name]

    def folder(self, package: str) -> list[Path]:
        """The modules of a package and of the packages in it."""
        init = self.file(package)
        return sorted(init.parent.rglob("*.py")) if init is not None and init.name == "__init__.py" else []

    def _look_for(self, name: str) -> Path | None:
        top = name.partition(".")[0]
        for folder in (self.tops[top],) if top in self.tops else () if top in sys.stdlib_module_names else self.folders:
            base = folder.joinpath(*name.split("."))
            for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
                if path.is_file():
                    return path
        return None


def closure(
    roots: Iterable[Path], left_out: Collection[str] = (), named: Mapping[Path, str] | None = None,
    imports: Callable[[bytes, str], Imports] | None = None, through: Collection[str] = (),
) -> tuple[ClosureMember, ...]:  # fmt: skip
    """The files and all that they import of their own packages and of fleet, ascending by name.

    Args:
        roots: files; those that are not Python are members, and import nothing.
        left_out: modules that are neither members nor followed.
        named: file -> the dotted name by which it was imported, where that is known: it says where the file's package begins
            (also where a folder has no `__init__.py`).
        imports: instead of `imports_of` (one that remembers).
        through: packages whose `__init__` only hands names on: a name of theirs is taken from the module that defines it.

    Raises:
        ModelError: a file cannot be read, or is not Python (file:line).
    """
    imports = imports or imports_of
    places = _Places()
    todo = [path.resolve() for path in roots]
    known = {path.resolve(): name for path, name in (named or {}).items()}
    for path in (*known, *todo):
        folder = _import_folder(path, known.get(path))
        if not any(path.is_relative_to(f) for f in places.folders):
            places.add(folder, path.relative_to(folder).parts[0].removesuffix(".py"))
    found: dict[Path, ClosureMember] = {}
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found[path] = member = places.member(path)
        if path.suffix != ".py":
            continue
        package = member.name if path.name == "__init__.py" else member.name.rpartition(".")[0]
        try:
            imported = imports(member.read(), package)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            raise ModelError(f"is not Python ({error})", where=f"{path}:{line}") from error
        for module, names in imported:
            if module.endswith(".*"):
                todo += [p for p in places.folder(module.removesuffix(".*")) if places.member(p).name not in left_out]
                continue
            todo += [p for name in _modules(places, module, names, through) if name not in left_out and (p := places.file(name))]
    return tuple(sorted(found.values(), key=lambda m: m.name))


def semantics_files(instruction_set: InstructionSet) -> tuple[ClosureMember, ...]:
    """Return the files that decide an instruction set's bits: its sources, its classes' files and the closure of their imports.

    Without `NOT_SEMANTICS`. Raises ModelError as `closure` does.
    """
    classes = {cls.__module__ for cls in instruction_set.instructions.values()}
    named = {Path(file): name for name in classes if (file := getattr(sys.modules.get(name), "__file__", None))}
    return closure([*instruction_set.sources, *named], NOT_SEMANTICS.keys(), named, through=("fleet.sdk",))


def _modules(places: _Places, module: str, names: tuple[str, ...], through: Collection[str]) -> Iterator[str]:
    """The modules that `from module import names` takes from: submodules, and the module itself if any name is its own."""
    handed_on = _handed_on(module, places.file(module)) if module in through else {}
    own = not names
    for name in names:
        if places.file(f"{module}.{name}") is not None:
            yield f"{module}.{name}"
        elif name in handed_on:
            yield handed_on[name]
        else:
            own = True
    if own:
        yield module


@lru_cache
def _handed_on(package: str, path: Path | None) -> Mapping[str, str]:
    """Name -> the module that the package takes it from."""
    text = b"" if path is None else path.read_bytes()
    return {name: module for module, names in imports_of(text, package) for name in names}


@lru_cache(maxsize=1024)
def imports_of(text: bytes, package: str) -> Imports:
    """(module, names taken from it) of every import that can run; no names for `import module`."""
    found: list[tuple[str, tuple[str, ...]]] = []
    tree = ast.parse(text)
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            found += [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found.append((module, tuple(alias.name for alias in node.names)))
    if b"import_module" in text or b"__import__" in text:
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        found += [(name, ()) for call in calls if (name := _imported_by_name(call))]
    return tuple(found)


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements that can run, in functions, classes and branches too."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and _type_checking(node.test):
            yield from _statements(node.orelse)
            continue
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, part, ()))


def _type_checking(test: ast.expr) -> bool:
    return _last_name(test) == "TYPE_CHECKING"


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _imported_by_name(call: ast.Call) -> str | None:
    """The module of `import_module("a.b")` or `__import__("a.b")`, "a.*" of `import_module(f"a.{name}")`, None of another name."""
    if _last_name(call.func) not in ("import_module", "__import__") or not call.args:
        return None
    named = call.args[0]
    if isinstance(named, ast.JoinedStr) and named.values and isinstance(named.values[0], ast.Constant):
        package, dot, _ = str(named.values[0].value).rpartition(".")
        return f"{package}.*" if package and dot else None
    if isinstance(named, ast.Constant) and isinstance(named.value, str):
        return None if named.value.startswith(".") else named.value
    return None


def _import_folder(path: Path, name: str | None) -> Path:
    """The folder on the import path below which a file lies."""
    if name is not None:
        return path.parents[name.count(".") + (path.name == "__init__.py")]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _dotted(relative: Path) -> str:
    if relative.suffix != ".py":
        return relative.as_posix()
    parts = relative.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
