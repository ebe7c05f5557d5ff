"""Reading TOML files: every message names file, line, what was found and what was expected."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeGuard, TypeVar, overload

from fleet.core.toml_places import TomlPlaces
from fleet.errors import FleetError, ModelError

_LINE = re.compile(r"at line (\d+)")

TomlValue: TypeAlias = "str | int | float | bool | datetime.date | datetime.time | list[TomlValue] | dict[str, TomlValue]"
"""What tomllib gives."""

_T = TypeVar("_T")

ErrorKind = Callable[..., FleetError]
"""The class of error that a file's mistakes are: `FleetError` or one of its subclasses."""


@dataclass(frozen=True)
class TomlTable:
    """One table of a file. Every getter checks the type, and raises the file's kind of error at the key's line.

    path: the file; name: of the table ("", "memory", "runs[1]"); values: as tomllib gave them; defaults: a table whose keys count
    where this one has none (their lines are named).
    """

    path: Path
    name: str
    values: Mapping[str, TomlValue]
    error: ErrorKind = ModelError
    places: TomlPlaces = field(default_factory=lambda: TomlPlaces(""), repr=False, compare=False)
    defaults: TomlTable | None = field(default=None, repr=False, compare=False)

    def __contains__(self, key: str) -> bool:
        return key in self.values or (self.defaults is not None and key in self.defaults)

    def at(self, key: str = "", value: str | None = None) -> str:
        """file:line of a key, of the table without one; value: of a text in the key's list."""
        if self.defaults is not None and key not in self.values and key in self.defaults:
            return self.defaults.at(key, value)
        return f"{self.path}:{self.places.line(self._dotted(key), value)}"

    def wrong(self, key: str, what: str, *, hint: str | None = None, value: str | None = None) -> FleetError:
        """The error to raise: `what` is wrong at a key."""
        return self.error(what, where=self.at(key, value), hint=hint)

    def only(self, *known: str) -> None:
        """Raise FleetError if the table has a key that is not among these."""
        for key in self.values:
            if key not in known:
                raise self.wrong(key, f"unknown key {self._dotted(key)}", hint=f"known are {', '.join(known)}")

    def need(self, *keys: str) -> None:
        """Raise FleetError if one of these keys is missing."""
        for key in keys:
            if key not in self:
                raise self.wrong(key, f"{self._dotted(key)} is missing")

    @overload
    def get(self, key: str, expected: str, fits: Callable[[TomlValue], TypeGuard[_T]]) -> _T: ...
    @overload
    def get(self, key: str, expected: str, fits: Callable[[TomlValue], bool]) -> object: ...
    def get(self, key: str, expected: str, fits: Callable[[TomlValue], bool]) -> object:
        """A value that `fits`; expected: what fits, in words. Raises if the key is missing or its value does not fit."""
        if key not in self.values and self.defaults is not None and key in self.defaults:
            return self.defaults.get(key, expected, fits)
        self.need(key)
        value = self.values[key]
        if not fits(value):
            raise self.wrong(key, f"{self._dotted(key)} is {_shown(value)}, expected {expected}")
        return value

    def text(self, key: str) -> str:
        """A text that is not empty."""
        return self.get(key, "a text", _is_text)

    def optional_text(self, key: str) -> str | None:
        """The text of a key, or None if the key is missing."""
        return self.text(key) if key in self else None

    def chosen(self, key: str, known: Collection[str], default: str) -> str:
        """Return the key's text, one of `known`; `default` if the key is missing."""
        expected = " or ".join(known) if len(known) < 3 else f"one of {', '.join(known)}"
        return str(self.get(key, expected, lambda v: isinstance(v, str) and v in known)) if key in self else default

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of different texts, at least one."""
        return tuple(self.get(key, "a list of different names", _are_names)) if key in self else default

    def boolean(self, key: str, default: bool) -> bool:
        """Return the key's boolean; `default` if the key is missing."""
        return self.get(key, "true or false", _is_boolean) if key in self else default

    def integer(self, key: str, least: int) -> int:
        """An integer of at least `least`."""
        expected = "an integer above 0" if least == 1 else f"an integer of at least {least}"
        return self.get(key, expected, _IntegersFrom(least).one)

    def integers(self, key: str, least: int, default: tuple[int, ...]) -> tuple[int, ...]:
        """A list of integers of at least `least`, at least one."""
        expected = f"a list of integers of at least {least}"
        return tuple(self.get(key, expected, _IntegersFrom(least).several)) if key in self else default

    def number(self, key: str, *, zero: bool = False) -> float:
        """A finite number above 0 (or from 0 up)."""
        return float(self.get(key, "a number above 0", _is_number_from_0 if zero else _is_number_above_0))

    def date(self, key: str) -> datetime.date:
        """Return the key's date (without a time)."""
        return self.get(key, "a date like 2026-01-31", _is_date)

    def table(self, key: str) -> TomlTable:
        """Return the key's table; that of the defaults if it is missing."""
        if key not in self.values and self.defaults is not None and key in self.defaults:
            return self.defaults.table(key)
        return self._below(key, self.get(key, f"a table [{self._dotted(key)}]", _is_table))

    def tables(self, key: str) -> tuple[TomlTable, ...]:
        """An array of tables, empty where the key is missing."""
        found = self.get(key, f"tables [[{self._dotted(key)}]]", _are_tables) if key in self else []
        return tuple(self._below(f"{key}[{i}]", values) for i, values in enumerate(found))

    def _below(self, key: str, values: Mapping[str, TomlValue]) -> TomlTable:
        return TomlTable(self.path, self._dotted(key), values, self.error, self.places)

    def _dotted(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name and key else self.name or key


def read_toml(path: Path, error: ErrorKind = ModelError) -> TomlTable:
    """The whole of a file. Raises `error` if it cannot be read or is not TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else "not UTF-8"
        raise error(f"cannot be read ({reason})", where=str(path)) from problem
    return parse_toml(text, path, error)


def parse_toml(text: str, path: Path, error: ErrorKind = ModelError) -> TomlTable:
    """The table of a text; path: the file, for messages. Raises `error` if it is not TOML."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        line = _LINE.search(str(problem))
        last = len(text.splitlines()) or 1
        raise error(f"not TOML: {problem}", where=f"{path}:{line[1] if line else last}") from problem
    return TomlTable(path, "", values, error, TomlPlaces(text))


def toml_value(value: object) -> str:
    """Write a text, a number, a boolean or a list of these as TOML (JSON's strings are TOML's basic strings)."""
    return json.dumps(value, ensure_ascii=False)


def is_number(value: TomlValue) -> TypeGuard[int | float]:
    """Whether it is a number; true and false are not."""
    return type(value) in (int, float)


def is_list(value: TomlValue) -> TypeGuard[list[TomlValue]]:
    """Whether it is a list of at least one element."""
    return isinstance(value, list) and bool(value)


def _shown(value: TomlValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _is_text(value: TomlValue) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _is_boolean(value: TomlValue) -> TypeGuard[bool]:
    return isinstance(value, bool)


def _is_date(value: TomlValue) -> TypeGuard[datetime.date]:
    return type(value) is datetime.date


def _is_table(value: TomlValue) -> TypeGuard[dict[str, TomlValue]]:
    return isinstance(value, dict)


def _is_number_above_0(value: TomlValue) -> TypeGuard[int | float]:
    return is_number(value) and 0 < value < float("inf")


def _is_number_from_0(value: TomlValue) -> TypeGuard[int | float]:
    return is_number(value) and 0 <= value < float("inf")


@dataclass(frozen=True)
class _IntegersFrom:
    """Predicates for integers of at least `least`."""

    least: int

    def one(self, value: TomlValue) -> TypeGuard[int]:
        return type(value) is int and value >= self.least

    def several(self, value: TomlValue) -> TypeGuard[list[int]]:
        return is_list(value) and all(map(self.one, value))


def _are_names(value: TomlValue) -> TypeGuard[list[str]]:
    return is_list(value) and all(map(_is_text, value)) and len({str(item) for item in value}) == len(value)


def _are_tables(value: TomlValue) -> TypeGuard[list[dict[str, TomlValue]]]:
    return isinstance(value, list) and all(map(_is_table, value))
