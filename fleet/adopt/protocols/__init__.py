"""The protocols of ports that are known: every module here has one, `PROTOCOL`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from fleet.adopt.protocol import Protocol

__all__ = ["PROTOCOLS"]


def _found() -> dict[str, Protocol]:
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    protocols: list[Protocol] = [module.PROTOCOL for module in modules]
    return {p.name: p for p in sorted(protocols, key=lambda p: p.rank)}


PROTOCOLS = _found()
"""By name, in the order of their rank."""
