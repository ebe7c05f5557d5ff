"""Places of syntax-tree nodes in a Python source, in characters.

Uses only the standard library: import hooks need it before the modules that they change.
"""

from __future__ import annotations

import ast
from itertools import accumulate


class SourceSpans:
    """Spans of the nodes of a source. `ast` counts columns in bytes of UTF-8, a span counts characters from the source's start."""

    def __init__(self, source: str) -> None:
        lines = source.splitlines(keepends=True)
        self._lines = [line.encode() for line in lines]
        self._starts = list(accumulate(map(len, lines), initial=0))

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the first character of a node and the one after its last."""
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())
