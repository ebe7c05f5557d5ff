"""Names that a module forwards from other modules, imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["handing_on"]


def handing_on(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__`. names: name -> its module, or "module:other_name" if the name differs there."""

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module} has no attribute {name}; it has {', '.join(sorted(names))}")
        place, _, other = names[name].partition(":")
        found = import_module(place)
        return found if other == "*" else getattr(found, other or name)

    return get
