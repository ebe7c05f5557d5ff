"""Places of keys in a TOML file: its reader does not keep them, and an error should name the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")
_ONE_PART = re.compile(_PART)
_TOKEN = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|[\[\]{}]|#.*')


@dataclass(frozen=True)
class _Entry:
    """One key or header: its dotted name, and the lines (from 1) of it and its value, the last included."""

    key: str
    first: int
    last: int


class TomlPlaces:
    """The keys of one TOML text. A table of an array is "runs[1]", counted from 0."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._entries: dict[str, _Entry] = {}
        for entry in _entries(self._lines):
            self._entries.setdefault(entry.key, entry)

    def line(self, key: str, value: str | None = None) -> int:
        """The line (from 1) of a dotted key; of its table where the key is missing, else 1.

        value: a text of a list that the key has: then the line on which it stands in quotes, where there is one.
        """
        found = [self._entries[k] for k in (key, f"{key}[0]") if k in self._entries]
        if found:
            return self._of_value(min(found, key=lambda e: e.first), value)
        ends = (at for at in range(len(key) - 1, 0, -1) if key[at] in ".[")
        return next((self._entries[key[:at]].first for at in ends if key[:at] in self._entries), 1)

    def _of_value(self, entry: _Entry, value: str | None) -> int:
        quoted = () if value is None else (f'"{value}"', f"'{value}'")
        lines = range(entry.first, entry.last + 1)
        return next((n for n in lines if any(q in self._lines[n - 1] for q in quoted)), entry.first)


def place(path: Path, key: str) -> str:
    """file:line of a dotted key ("memory.ddr"); of its table where the key is missing, else of the first line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return f"{path}:1"
    return f"{path}:{TomlPlaces(text).line(key)}"


def _entries(lines: list[str]) -> Iterator[_Entry]:
    table, counts, number = "", dict[str, int](), 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
            table = _counted(table, counts)
            yield _Entry(table, number, number)
        elif found := _KEY.match(line):
            key, first, rest = _parts(found[1]), number, line[found.end() :]
            depth, quote = _open(rest, 0, "")
            while (depth > 0 or quote) and number < len(lines):
                depth, quote = _open(lines[number], depth, quote)
                number += 1
            yield _Entry(f"{table}.{key}" if table else key, first, number)


def _parts(dotted: str) -> str:
    return ".".join(part.strip("\"'") for part in _ONE_PART.findall(dotted))


def _counted(table: str, counts: dict[str, int]) -> str:
    """The name with the index of every array of tables in it."""
    name, made = "", ""
    for part in table.split("."):
        name = f"{name}.{part}" if name else part
        made = f"{made}.{part}" if made else part
        made += f"[{counts[name]}]" if name in counts else ""
    return made


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Return the number of open brackets behind a line, and the quote of an open multi-line string."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        token = _TOKEN.search(line, at)
        if token is None:
            break
        at = token.end()
        if token[0] in ('"""', "'''"):
            quote = token[0]
        elif token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
    return depth, quote
