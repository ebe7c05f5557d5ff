"""Other people's code inside fleet: found by entry points, loaded and called so that no exception of it ends fleet.

A plug-in may raise anything, SystemExit and KeyboardInterrupt included. Only `os._exit`, a signal that it sends, and a crash of the
interpreter cannot be caught.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, TypeGuard, TypeVar, cast

from fleet.core.signals import signals_told
from fleet.errors import FleetError

_T = TypeVar("_T")


_PathState: TypeAlias = tuple[tuple[str, tuple[int, int, int] | None], ...]
"""Entries of `sys.path`, each with (st_dev, st_ino, st_mtime_ns) of its folder, or None if the folder does not exist."""


def installed(group: str, name: str | None = None) -> EntryPoints:
    """Return the entry points of a group, or those of one name, as `importlib.metadata.entry_points` does.

    It reads every distribution's metadata at each call. Here that is done again only when the import path, or a folder on it, has
    changed: installing and uninstalling change the folder.
    """
    return _selected(_path_state(), group, name)


def _path_state() -> _PathState:
    return tuple((path, _changed(path)) for path in sys.path)


@lru_cache(maxsize=4)
def _read(_: _PathState) -> EntryPoints:
    found = entry_points()
    return EntryPoints(point for group in found.groups for point in found.select(group=group))


@lru_cache(maxsize=256)
def _selected(state: _PathState, group: str, name: str | None) -> EntryPoints:
    every = _read(state)
    return every.select(group=group) if name is None else every.select(group=group, name=name)


def _changed(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path or ".")  # "": the current folder, which may be another one later
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


class PluginLoadError(FleetError):
    """A plug-in was asked for and cannot be loaded; `where` is its entry point."""


def load_plugin(point: EntryPoint, kind: str) -> object:
    """The object of an entry point; `kind` for the message ("engine").

    Raises PluginLoadError naming the entry point, its distribution and the exception, whatever the import raised.
    """
    if point.pattern.match(point.value) is None:
        raise PluginLoadError(f"{kind} {_named(point)} cannot be loaded: not of the form module:name")
    try:
        return point.load()
    except FleetError:
        raise
    except BaseException as error:
        if not raised_by_code(error):
            raise
        raise PluginLoadError(f"{kind} {_named(point)} cannot be loaded: {reason(error)}") from error


def module_of(path: Path, name: str, error_kind: Callable[..., FleetError]) -> ModuleType:
    """Run a Python file as a module of that name. Its text is read each time: a file that was just edited counts.

    Raises `error_kind` if it cannot be read or raises.
    """
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except BaseException as error:
        if not raised_by_code(error):
            raise
        raise error_kind(f"cannot be run: {reason(error)}", where=str(path)) from error
    return module


def raised_by_code(error: BaseException) -> bool:
    """Return whether a program's code raised it: anything but Ctrl-C and what ends a generator.

    KeyboardInterrupt counts where fleet handles the signals itself and none came; elsewhere nobody can tell.
    """
    if isinstance(error, KeyboardInterrupt):
        told = signals_told()
        return told is not None and told.first is None
    return isinstance(error, Exception | SystemExit)


def reason(error: BaseException) -> str:
    """One line: the exception's type and its words."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def blamed(error: BaseException) -> str | None:
    """The plug-in whose code an exception passed last, named for a message; None where all of it is fleet's and Python's own."""
    files = [Path(f.filename) for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<")]
    folders = [(folder, point) for point in foreign_points() for folder in _folders(point)]
    for file in reversed(files):
        for folder, point in folders:
            if file.is_relative_to(folder) or file == folder.with_suffix(".py"):
                return f"{point.group} {_named(point)}"
    return None


def foreign_points() -> Iterator[EntryPoint]:
    """Entry points of every group of fleet, less fleet's own."""
    points = _read(_path_state())
    for point in (p for p in points if p.group.startswith("fleet.")):
        if point.value.partition(":")[0].partition(".")[0] != "fleet":
            yield point


def _folders(point: EntryPoint) -> Iterator[Path]:
    """The folders of the top package of an entry point's module; none if it cannot be found."""
    try:
        spec = importlib.util.find_spec(point.value.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    elif spec.origin:
        yield Path(spec.origin).with_suffix("")


def _named(point: EntryPoint) -> str:
    return f"{point.name} ({point.value}, of {point.dist.name if point.dist is not None else 'unknown'})"


def all_of(answer: object, kind: type[_T], shape: type[Sequence[object]] = Sequence) -> TypeGuard[Sequence[_T]]:
    """Whether a plug-in's answer is a sequence (of class `shape`) of objects of one class; a text is not one."""
    parts = cast("Sequence[object]", answer)
    return isinstance(answer, shape) and not isinstance(answer, str) and all(isinstance(part, kind) for part in parts)
