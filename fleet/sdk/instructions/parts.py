"""The parts of an instruction set that are one module each: a new instruction is a new file, and no list has to name it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from fleet.errors import DeviceError
from fleet.sdk.instructions.instruction import Instruction

if TYPE_CHECKING:
    from fleet.sdk.lowering import AnyPattern

__all__ = ["instructions_in", "patterns_in"]


def instructions_in(package: str) -> Mapping[str, type[Instruction]]:
    """Name -> class, of every module of a package: the classes defined there that have a `name`, ascending by module.

    Raises DeviceError for a module without one, and for two of one name.
    """
    found: dict[str, type[Instruction]] = {}
    for module in _modules(package):
        classes = [c for c in vars(module).values() if _is_instruction(c) and c.__module__ == module.__name__]
        if not classes:
            raise DeviceError("defines no instruction (a class with `name`)", where=_file(module))
        for cls in classes:
            if cls.name in found:
                raise DeviceError(f"instruction '{cls.name}' is also that of {found[cls.name].__module__}", where=_file(module))
            found[cls.name] = cls
    return found


def patterns_in(package: str) -> tuple[AnyPattern, ...]:
    """`PATTERN` of every module of a package, ascending by module; None stands for an instruction that the compiler does not use.

    Raises DeviceError if a module defines no `PATTERN`.
    """
    found: list[AnyPattern] = []
    for module in _modules(package):
        if not hasattr(module, "PATTERN"):
            what = "defines no PATTERN"
            raise DeviceError(what, where=_file(module), hint="set PATTERN = None if the compiler shall not use the instruction")
        if module.PATTERN is not None:
            found.append(module.PATTERN)
    return tuple(found)


def _modules(package: str) -> Iterator[ModuleType]:
    """The modules of a package, without those whose name begins with an underscore."""
    folder = importlib.import_module(package)
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda i: i.name):
        if not info.name.startswith("_"):
            yield importlib.import_module(f"{package}.{info.name}")


def _is_instruction(item: object) -> bool:
    return isinstance(item, type) and issubclass(item, Instruction) and isinstance(getattr(item, "name", None), str)


def _file(module: ModuleType) -> str:
    return module.__file__ or module.__name__
