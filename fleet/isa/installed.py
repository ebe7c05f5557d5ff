"""The manifests that are installed, as their packages give them: imported, not yet held to their descriptions."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from fleet.core.plugins import installed, raised_by_code
from fleet.errors import FleetError
from fleet.isa.manifest_check import manifest_place, raised_at
from fleet.sdk import Extension, InstructionSet
from fleet.sdk.version import VERSION, why_not

GROUP = "fleet.instruction_sets"
"""The entry point group; the name is the set's, the object an `InstructionSet`."""


class PluginError(FleetError):
    """An instruction set cannot be used; `where` is its entry point."""


_VERSION_1 = frozenset(f"fleet.isa.{name}" for name in ("contract", "devices", "extending", "likeness", "lowering", "parts"))
"""Modules of the contract's first version."""

_VERSIONS = "`fleet help instruction-sets`, Versions, says what changed"


def entry_point(name: str) -> EntryPoint:
    """The entry point of a set. Raises PluginError if none is installed."""
    for point in installed(GROUP, name):
        return point
    raise PluginError(f"no instruction set '{name}' is installed", where=name)


def manifest_of(point: EntryPoint) -> InstructionSet | Extension:
    """The manifest of an entry point. Raises PluginError where it cannot be imported, or is for another version of the contract."""
    if point.pattern.match(point.value) is None:
        raise PluginError("not of the form module:name", where=point_place(point), hint="mend it in that package, or uninstall it")
    try:
        manifest: object = point.load()
    except FleetError:
        raise
    except BaseException as error:  # a plug-in's import may raise anything; it must not take the others down
        if not raised_by_code(error):
            raise
        if isinstance(error, ModuleNotFoundError) and error.name in _VERSION_1:
            why = f"it is written for version 1 of the contract ({error.name}), this is fleet.sdk {VERSION}"
            raise PluginError(f"instruction set '{point.name}': {why}", where=set_place(point), hint=_VERSIONS) from error
        what = f"instruction set '{point.name}' cannot be imported ({reason_of(error)})"
        raise PluginError(what, where=raised_at(point, error) or set_place(point)) from error
    if not isinstance(manifest, InstructionSet | Extension):
        raise PluginError(f"{point.value} is a {type(manifest).__name__}, expected an InstructionSet", where=set_place(point))
    if (why := why_not(manifest.sdk)) is not None:
        raise PluginError(f"instruction set '{point.name}': {why}", where=set_place(point), hint=_VERSIONS)
    if manifest.name != point.name:
        raise PluginError(
            f"the instruction set calls itself '{manifest.name}', its entry point '{point.name}'", where=set_place(point)
        )
    return manifest


def reason_of(error: BaseException) -> str:
    """An exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def set_place(point: EntryPoint) -> str:
    """file:line of the manifest, else what `point_place` says."""
    return manifest_place(point) or point_place(point)


def point_place(point: EntryPoint) -> str:
    """The entry point and its distribution, for messages."""
    owner = f" of {point.dist.name}" if point.dist else ""
    return f"entry point {point.name} = {point.value}{owner}"
