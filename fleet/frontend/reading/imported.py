"""Modules beside a model's file: where they lie, and what a reading has imported of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.module import source_text
from fleet.frontend.reading.values import CallFrame, Namespace
from fleet.ir.program import ModuleSource


@dataclass(frozen=True)
class ModuleFinder:
    """Finds modules beside a file, or among those that a program was made of.

    folders: searched in order. package: the dotted name of the package that the file is of, "" for none. known: modules that were
    read before, by their dotted names; None: the folders are searched.
    """

    folders: tuple[Path, ...] = ()
    package: str = ""
    known: Mapping[str, ModuleSource] | None = None

    @property
    def decides(self) -> bool:
        """True if what it does not find is not there for Python either."""
        return bool(self.folders) or self.known is not None

    @staticmethod
    def of(path: str) -> ModuleFinder:
        """Return the modules beside a model's file, and in the package that it is of."""
        folder = Path(path).parent
        root, names = folder, list[str]()
        while (root / "__init__.py").is_file() and root.resolve() != root.resolve().parent:
            root = root.resolve()
            names.insert(0, root.name)
            root = root.parent
        return ModuleFinder((folder, root) if names else (folder,), ".".join(names))

    def find(self, name: str) -> ModuleSource | None:
        """Return a module by its dotted name; its text is "" for a folder without an `__init__.py`. Raises SourceError."""
        if self.known is not None:
            return self.known.get(name)
        for folder in self.folders:
            place = folder.joinpath(*name.split("."))
            for path, package in ((place / "__init__.py", True), (place.with_name(f"{place.name}.py"), False)):
                if path.is_file():
                    return ModuleSource(str(path), source_text(str(path)), package, path.relative_to(folder).as_posix())
            if place.is_dir() and any(place.glob("*.py")):
                return ModuleSource(str(place), "", True, f"{place.relative_to(folder).as_posix()}/")
        return None


@dataclass
class ImportedModules:
    """What one reading has imported from beside the model's file.

    Attributes:
        finder: finds the modules.
        spaces: their names, by dotted name of the module. read: their sources, as far as they are read.
        texts: the source of a module, and packages: the dotted name of the package that it is in ("" for none), by its frame.
    """

    finder: ModuleFinder = field(default_factory=ModuleFinder)
    spaces: dict[str, Namespace] = field(default_factory=dict[str, Namespace])
    read: dict[str, ModuleSource] = field(default_factory=dict[str, ModuleSource])
    texts: dict[CallFrame, SourceText] = field(default_factory=dict[CallFrame, SourceText])
    packages: dict[CallFrame, str] = field(default_factory=dict[CallFrame, str])
