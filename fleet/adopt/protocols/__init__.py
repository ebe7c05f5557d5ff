"""The protocols of ports that are known: every module below has one, `PROTOCOL`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from fleet.sdk.ports import Protocol


def _found() -> dict[str, Protocol]:
    modules = (import_module(m.name) for m in walk_packages(__path__, f"{__name__}.") if not m.ispkg)
    protocols: list[Protocol] = [module.PROTOCOL for module in modules]
    return {p.name: p for p in sorted(protocols, key=lambda p: p.rank)}


PROTOCOLS = _found()
"""By name, in the order of their rank."""
