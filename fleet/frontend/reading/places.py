"""Places in several files: functions that call one another need not stand in one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from fleet.frontend.reading.errors import SourceText


class OpenedFile(Protocol):
    """A file that has been read: its text and name, and the ids of its nodes."""

    @property
    def source(self) -> SourceText:
        """Text and name."""
        ...

    @property
    def nodes(self) -> Container[int]:
        """The ids of its nodes, which somebody keeps."""
        ...


@dataclass(frozen=True)
class SourcePlaces(SourceText):
    """A source that knows which file a node is of.

    files: all that have been opened. present: the source of what is being read, for nodes that are in no file's tree.
    """

    files: dict[int, OpenedFile] = field(default_factory=dict[int, OpenedFile])
    present: Callable[[], SourceText | None] = field(default=lambda: None)

    def at(self, node: ast.AST) -> str:
        """The place in the file that the node is of."""
        return self._of(node).at(node)

    def fail(self, code: str, node: ast.AST, what: str, hint: str | None = None) -> NoReturn:
        """Raises the SourceError with a place in the file that the node is of."""
        self._of(node).fail(code, node, what, hint)

    def _of(self, node: ast.AST) -> SourceText:
        for file in self.files.values():
            if id(node) in file.nodes:
                return file.source
        return self.present() or SourceText(self.text, self.name, self.shown)
