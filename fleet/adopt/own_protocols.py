"""Protocols of ports that a user adds: a file with a `Protocol` (`fleet.sdk.ports`), or an entry point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.adopt.protocols import PROTOCOLS
from fleet.core.plugins import PluginLoadError, installed, load_plugin, module_of
from fleet.errors import DeviceError, SetupError
from fleet.sdk.ports import Protocol

GROUP = "fleet.port_protocols"
"""Entry points whose objects are protocols."""


def known_protocols(files: Sequence[Path] = ()) -> Mapping[str, Protocol]:
    """Return all protocols by name, by rank: fleet's, those of installed packages, those of Python files.

    A file is run. Every `Protocol` among its global names counts. Raises DeviceError for a file that cannot be read, raises, has no
    protocol or a wrong one; SetupError for an entry point that cannot be loaded.
    """
    found = dict(PROTOCOLS)
    for point in installed(GROUP):
        try:
            loaded = load_plugin(point, "port protocol")
        except PluginLoadError as error:
            raise SetupError(str(error)) from error
        if not isinstance(loaded, Protocol):
            raise SetupError(f"the entry point {point.name} of {GROUP} is not a Protocol", hint="see fleet.sdk.ports")
        _add(found, loaded, point.value)
    for path in files:
        for protocol in _of_file(path):
            _add(found, protocol, str(path))
    return {p.name: p for p in sorted(found.values(), key=lambda p: p.rank)}


def _add(found: dict[str, Protocol], protocol: Protocol, where: str) -> None:
    faults = list(protocol.faults())
    if protocol.name in found:
        faults.insert(0, f"there is a protocol {protocol.name} already")
    if faults:
        raise DeviceError(faults[0], where=where, hint="`fleet help adopting`, A protocol of your own, has an example")
    found[protocol.name] = protocol


def _of_file(path: Path) -> tuple[Protocol, ...]:
    if not path.is_file():
        raise DeviceError("there is no such file", where=str(path))
    module = module_of(path, f"fleet_port_protocol_{path.stem}", DeviceError)
    protocols = tuple(dict.fromkeys(v for v in vars(module).values() if isinstance(v, Protocol)))
    if not protocols:
        raise DeviceError("has no Protocol", where=str(path), hint="`fleet help adopting`, A protocol of your own, has an example")
    return protocols
