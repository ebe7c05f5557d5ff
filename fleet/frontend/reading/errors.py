"""Places in a source text, and errors that show them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import NoReturn

from fleet.errors import SourceError


@dataclass(frozen=True)
class SourceText:
    """A source text under the name that the user gave it.

    shown: the file's name in places; "" for its own name without the folder. Two files of one name have different ones.
    """

    text: str
    name: str
    shown: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them."""
        return self.text.splitlines() if "\f" not in self.text else self.text.split("\n")

    @cached_property
    def file(self) -> str:
        """The file's name in places."""
        return self.shown or PurePath(self.name).name

    def column(self, line: int, offset: int) -> int:
        """One-based column of a UTF-8 byte offset, which is what `ast` gives."""
        if not 1 <= line <= len(self.lines):
            return offset + 1
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1

    def at(self, node: ast.AST) -> str:
        """ "model.py:12:5": the file's own name, so that the same source is the same program in any folder."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return f"{self.file}:{line}:{self.column(line, offset)}"

    def error(self, line: int, column: int, what: str, hint: str | None = None, *, code: str) -> SourceError:
        """The error with the source line and a caret below the (one-based) column."""
        detail = None
        if 1 <= line <= len(self.lines):
            text = self.lines[line - 1]
            shown, caret = text[:200], max(0, min(column, 200) - 1)
            detail = f"    {shown.replace(chr(9), ' ')}\n    {' ' * caret}^"
        return SourceError(what, where=f"{self.name}:{line}:{column}", hint=hint, detail=detail, code=code)

    def fail(self, code: str, node: ast.AST, what: str, hint: str | None = None) -> NoReturn:
        """Raises the SourceError for a node; `code` is a key of `fleet.frontend.codes.CODES`."""
        line = getattr(node, "lineno", 1)
        raise self.error(line, self.column(line, getattr(node, "col_offset", 0)), what, hint, code=code)


def combined(errors: Sequence[SourceError]) -> SourceError:
    """The first error, with the others below it."""
    first = errors[0]
    if len(errors) == 1:
        return first
    below = "\n".join(str(e) for e in errors[1:])
    detail = f"{first.detail}\n{below}" if first.detail else below
    return SourceError(first.what, where=first.where, hint=first.hint, detail=detail, code=first.code)


def expression_at(node: ast.AST) -> ast.expr:
    """The node itself, or an expression at its place."""
    return node if isinstance(node, ast.expr) else ast.copy_location(ast.Name("x"), node)


def as_call(node: ast.expr) -> ast.Call:
    """The node itself, or a call at its place."""
    return node if isinstance(node, ast.Call) else ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)
