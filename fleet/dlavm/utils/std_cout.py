"""Lines that a script prints while it runs, and exports as one comment."""

from __future__ import annotations

import sys
from collections.abc import Iterable

__all__ = ["StdCout"]


class StdCout:
    """`cout += text` prints a line; `separator` separates two groups of lines."""

    def __init__(self) -> None:
        self._groups: list[tuple[str, list[str]]] = [("", [])]

    def __iadd__(self, text: object) -> StdCout:
        self.cout(text)
        return self

    def cout(self, text: object) -> None:
        """Print and store a line; a list is only stored."""
        if isinstance(text, list | tuple):
            texts: Iterable[object] = text
            self._groups[-1][1].extend(map(str, texts))
            return
        self._groups[-1][1].append(str(text))
        mark = "\033[1;32mINFO\033[0m" if sys.stdout.isatty() else "INFO"
        print(f"[{mark}]  {text}")

    def separator(self, text: str = "") -> None:
        """Begin a group with that name."""
        self._groups.append((str(text), []))
        print("-" * 50)

    def export(self) -> str:
        """Return all lines as a framed C comment."""
        width = max(len(line) for name, lines in self._groups for line in (name, *lines, "")) + 4
        body: list[str] = []
        for n, (name, lines) in enumerate(self._groups):
            if n:
                body.append(f"* {name:-^{width}} *")
            body += [f"* {line:<{width}} *" for line in lines]
        return "\n".join([f"/*{'*' * (width + 2)}", *body, f"{'*' * (width + 3)}/"])
