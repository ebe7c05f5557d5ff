"""Names that are given once: `h`, `h.1`, `h.2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Taken(set[str]):
    """Names in use.

    Who asks for one name ten thousand times is answered at once: the search goes on behind the last number that was given.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__(names)
        self._last: Counter[str] = Counter()

    def unique(self, wanted: str, separator: str = ".") -> str:
        """`wanted`, with the first free number behind it where it is taken; in use from now on."""
        name = wanted
        while name in self:
            self._last[wanted] += 1
            name = f"{wanted}{separator}{self._last[wanted]}"
        self.add(name)
        return name
