"""What a class's own body binds, apart from what Python adds to dataclasses, named tuples and enumerations."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, EnumType, IntEnum, StrEnum
from reprlib import recursive_repr
from types import FunctionType
from typing import NamedTuple, TypeGuard, cast, get_type_hints


class _Fields(NamedTuple):
    one: int


_FieldOfTuple = type(vars(_Fields)["one"])
_BOOKKEEPING = frozenset(
    (
        "__module__",
        "__qualname__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__annotations__",
        "__firstlineno__",
        "__static_attributes__",
    )
)
"""What every class has without saying so."""
GENERATED = "<string>"
"""The file of methods that `dataclass` and others make."""
_MADE = frozenset(
    (
        "__dataclass_fields__",
        "__dataclass_params__",
        "__match_args__",
        "__hash__",
        "__replace__",
        "__slots__",
        "__orig_bases__",
        "_fields",
        "_field_defaults",
    )
)
"""What a class has besides methods because its fields are listed."""
_MAKERS = frozenset(
    (
        GENERATED,
        dataclass.__code__.co_filename,
        namedtuple.__code__.co_filename,
        recursive_repr.__code__.co_filename,
        get_type_hints.__code__.co_filename,
    )
)
"""The files of methods that such a class gets."""


_OTHERS = sys.stdlib_module_names | {"numpy", "fleet", "scipy", "torch", "jax", "cupy"}
"""Packages whose classes are no source of the user's."""


def is_of_others(kind: type) -> bool:
    """Return whether a class is of Python's library or of a package that is no source of the user's."""
    return kind.__module__.partition(".")[0] in _OTHERS


def fields_kind(kind: type) -> str:
    """Return "dataclass" or "namedtuple" for a class whose fields are listed, and which Python completes from the list; else ""."""
    own = vars(kind)
    if "__dataclass_params__" in own:
        return "dataclass"
    return "namedtuple" if kind.__bases__ == (tuple,) and "_field_defaults" in own else ""


def is_record(kind: type) -> bool:
    """Return whether a class is a dataclass, or inherits from one."""
    return any(fields_kind(k) == "dataclass" for k in kind.__mro__)


def own_names(kind: type) -> dict[str, object]:
    """Return what a class's own body binds."""
    found = {name: value for name, value in vars(kind).items() if name not in _BOOKKEEPING}
    if not fields_kind(kind):
        return found
    return {name: value for name, value in found.items() if name not in _MADE and not _is_made(value)}


def _is_made(value: object) -> bool:
    """Return whether a class got this because its fields are listed."""
    if isinstance(value, _FieldOfTuple):
        return True
    function = described(value)[0] if isinstance(value, staticmethod | classmethod | property) else value
    return type(function) is FunctionType and function.__code__.co_filename in _MAKERS


_ENUMERATIONS = ((Enum,), (IntEnum,), (StrEnum,), (str, Enum))
"""What an enumeration may inherit from."""


def is_enumeration(kind: object) -> TypeGuard[type[Enum]]:
    """Return whether a class is an enumeration of Python source whose members are numbers, texts and tuples of them."""
    if not isinstance(kind, EnumType) or is_of_others(kind) or kind.__bases__ not in _ENUMERATIONS:
        return False
    own = vars(kind)
    made_by_itself = any(_of_source(own.get(name)) for name in ("__init__", "__new__", "_missing_", "_generate_next_value_"))
    members = members_of(cast("type[Enum]", kind)).values()
    return not made_by_itself and all(_is_plain(member.value) for member in members)


def members_of(kind: type[Enum]) -> Mapping[str, Enum]:
    """Return the members of an enumeration by name; several names may be of one."""
    return kind.__members__


def methods_of(kind: type[Enum]) -> dict[str, object]:
    """Return the methods and properties of an enumeration's body."""
    return {name: value for name, value in vars(kind).items() if _of_source(value)}


def _of_source(value: object) -> bool:
    function = described(value)[0] if isinstance(value, staticmethod | classmethod | property) else value
    return type(function) is FunctionType and function.__code__.co_filename != EnumType.__call__.__code__.co_filename


def _is_plain(value: object) -> bool:
    return type(value) in (bool, int, float, str) or (type(value) is tuple and all(map(_is_plain, value)))


def described(value: object) -> tuple[object, object]:
    """Return the functions of a descriptor: the one that is called, and a property's setter."""
    if isinstance(value, property):
        return value.fget, value.fset
    return getattr(value, "__func__", None), None
