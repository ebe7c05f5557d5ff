"""Installed engines: entry points of the group `fleet.engines`, loaded on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from fleet.core.plugins import PluginLoadError, installed, load_plugin
from fleet.errors import SetupError

if TYPE_CHECKING:  # listing the names must not import the IR
    from fleet.engines.base import Engine, EngineInfo

GROUP = "fleet.engines"


def _points() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in installed(GROUP):
        other = found.get(point.name)
        if other is not None and other.value != point.value:
            raise SetupError(f"two engines are called {point.name}: {other.value} and {point.value}", hint="uninstall one")
        found[point.name] = point
    return found


def engine_names() -> list[str]:
    """Return the names of the installed engines, without loading any."""
    return sorted(_points())


def find_engine(name: str) -> EngineInfo:
    """Load one engine. Raises SetupError if the name is unknown (listing the known ones) or the plug-in is broken."""
    points = _points()
    engine, at, simulator = name.partition("@")
    if at and engine in points:
        return _on(_load(points[engine]), simulator)
    if name not in points:
        raise SetupError(
            f"no engine is called {name}", hint=f"engines are {', '.join(sorted(points)) or 'none (is fleet installed?)'}"
        )
    return _load(points[name])


def _load(point: EntryPoint) -> EngineInfo:
    from fleet.engines.base import EngineInfo

    distribution = point.dist.name if point.dist is not None else "unknown"
    try:
        engine: Any = load_plugin(point, "engine")
    except PluginLoadError as error:
        raise SetupError(str(error)) from error
    missing = [m for m in ("name", "target", "available", "run") if not hasattr(engine, m)]
    if missing:
        raise SetupError(f"engine {point.name} ({point.value}, of {distribution}) lacks {', '.join(missing)}")
    loaded: Engine = engine
    return EngineInfo(point.name, loaded, distribution)


def _on(info: EngineInfo, simulator: str) -> EngineInfo:
    """The same engine in another simulator: "rtl@icarus"."""
    from fleet.engines.base import EngineInfo, SimulatedEngine

    if not isinstance(info.engine, SimulatedEngine):
        raise SetupError(f"engine {info.name} has no other simulator than its own", hint=f"name {info.name} alone")
    engine = info.engine.on(simulator)
    return EngineInfo(engine.name, engine, info.distribution)


class _Engines(Mapping[str, "EngineInfo"]):
    """Loads an engine on lookup; listing the names loads none."""

    def __init__(self) -> None:
        self._known = _points()
        self._loaded: dict[str, EngineInfo] = {}

    def __getitem__(self, name: str) -> EngineInfo:
        if name not in self._loaded:
            self._loaded[name] = (
                find_engine(name) if "@" in name and name.partition("@")[0] in self._known else _load(self._known[name])
            )
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._known))

    def __len__(self) -> int:
        return len(self._known)


def engines() -> Mapping[str, EngineInfo]:
    """Name -> engine, each loaded at its first lookup (SetupError for a broken plug-in, KeyError for an unknown name)."""
    return _Engines()
