"""Headers whose comments say what a person reads in them: `// expect: PROTOCOL [ROLE]`, for the ports behind it; `-`: nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.ports import Top
from fleet.adopt.top import read_top

__all__ = ["Judged", "judged"]

_EXPECT = re.compile(r"//\s*expect:\s*(\S+)(?:\s+(manager|subordinate))?")


@dataclass(frozen=True)
class Judged:
    """A leaf of a header. found: protocol and role, "" where it is not mapped; noted: its group has notes."""

    path: str
    expected: str
    found: str
    noted: bool

    @property
    def counts(self) -> bool:
        """Whether there is something to map."""
        return self.expected != "-"

    @property
    def right(self) -> bool:
        """Whether it is mapped as a person maps it."""
        protocol, _, role = self.expected.partition(" ")
        return self.found == self.expected or (not role and self.found.partition(" ")[0] == protocol)

    @property
    def wrong_in_silence(self) -> bool:
        return bool(self.found) and not self.right and not self.noted


def judged(path: Path) -> Iterator[Judged]:
    """All leaves of a header, whose top is named like its file."""
    top = read_top(read_sources([path]), path.stem)
    said = _said(path, top)
    ports = classify(top)
    found = {p: (f"{g.protocol} {g.role}", bool(g.notes)) for g in ports.groups for p in g.paths()}
    for leaf in top.leaves():
        what, noted = found.get(leaf.path, ("", False))
        yield Judged(leaf.path, said[leaf.port], what, noted)


def _said(path: Path, top: Top) -> dict[str, str]:
    """Port -> what the last comment above the place where the header lists it says."""
    said: dict[str, str] = {}
    names = {p.name for p in top.ports}
    now = ""
    begun = False
    for line in path.read_text().splitlines():
        begun = begun or line.startswith(f"module {top.name}")
        if (match := _EXPECT.search(line)) is not None:
            now = " ".join(filter(None, match.groups()))
        elif begun and now:
            for word in re.findall(r"[A-Za-z_]\w*", line.partition("//")[0]):
                if word in names:
                    said.setdefault(word, now)
    return said
