"""One line of what is wrong, with its place."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache

from fleet.sdk import Instruction, Source


@dataclass(frozen=True)
class Finding:
    """where: `file:line`; what: one clause."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {' '.join(self.what.split())}"


def method_place(cls: type[Instruction | Source], method: str) -> str:
    """file:line of a method of an instruction's or source's class, wherever it is inherited from; else of the class."""
    function = inspect.unwrap(getattr(getattr(cls, method), "__func__", getattr(cls, method)))
    return _place(function) or class_place(cls)


def class_place(cls: type) -> str:
    """file:line of a class, its module's name where that cannot be told."""
    return _place(cls) or f"{cls.__module__}.{cls.__qualname__}"


@lru_cache(maxsize=256)
def _place(item: object) -> str | None:
    try:
        file, (_, line) = inspect.getsourcefile(item), inspect.getsourcelines(item)  # pyright: ignore[reportArgumentType]
    except (OSError, TypeError):
        return None
    return f"{file}:{line}" if file else None
