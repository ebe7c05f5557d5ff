"""The words of a test's `send` steps and what is expected of them, as text that can lose some."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LIST = re.compile(r"^data\s*=\s*\[", re.M)
_COUNT = re.compile(r"^(count\s*=\s*)(\d+)", re.M)
_COMMENT = re.compile(r"#[^\n]*")
_KIND = re.compile(r"""^(send|receive|received)\s*=\s*["']([^"']+)["']""", re.M)


@dataclass(frozen=True)
class _Block:
    """A table with a list: head and tail are the text around its entries."""

    head: str
    entries: tuple[str, ...]
    tail: str


def kind_and_port(block: str) -> tuple[str, str]:
    """("send", "receive" or "received", port) of a table, else empty texts."""
    found = _KIND.search(block)
    return (found[1], found[2]) if found is not None else ("", "")


def sent(blocks: Sequence[str], port: str) -> int:
    """Return how many words the steps of a port send."""
    return sum(len(b.entries) for b in _of(blocks, "send", port))


def expected(blocks: Sequence[str], port: str) -> int:
    """Return how many words of a port are expected."""
    return sum(len(b.entries) for b in _of(blocks, "received", port))


def without(blocks: Sequence[str], port: str, kind: str, begin: int, end: int) -> list[str]:
    """Return the tables without words `begin` to `end` of a port; a step that has none left goes."""
    left: list[str] = []
    at = 0
    for block in blocks:
        found = _read(block) if kind_and_port(block) == (kind, port) else None
        if found is None:
            left.append(block)
            continue
        size = len(found.entries)
        kept = [e for n, e in enumerate(found.entries, at) if not begin <= n < end]
        at += size
        if len(kept) == size:
            left.append(block)
        elif kept:
            left.append(f"{found.head}{', '.join(kept)}{found.tail}")
    return left


def counting(blocks: Sequence[str], port: str, fewer: int) -> list[str]:
    """Return the tables with so many words fewer that `receive` waits for; a step that waits for none goes."""
    left: list[str] = []
    for block in blocks:
        found = _COUNT.search(block) if kind_and_port(block) == ("receive", port) else None
        if found is None:
            left.append(block)
        elif int(found[2]) > fewer:
            left.append(f"{block[: found.start()]}{found[1]}{int(found[2]) - fewer}{block[found.end() :]}")
    return left


def _of(blocks: Sequence[str], kind: str, port: str) -> Iterator[_Block]:
    for block in blocks:
        if kind_and_port(block) == (kind, port) and (found := _read(block)) is not None:
            yield found


def _read(block: str) -> _Block | None:
    """The entries of `data`, None if there is no list that this reads."""
    found = _LIST.search(block)
    if found is None:
        return None
    depth, at = 1, found.end()
    entries, entry = list[str](), ""
    text = _COMMENT.sub("", block[at:])
    for n, c in enumerate(text):
        depth += (c in "[{") - (c in "]}")
        if depth == 0:
            entries.append(entry)
            return _Block(block[:at], tuple(e.strip() for e in entries if e.strip()), text[n:])
        if c == "," and depth == 1:
            entries.append(entry)
            entry = ""
        else:
            entry += c
    return None
