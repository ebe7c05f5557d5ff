"""Code coverage of the hardware, counted by the simulator: lines, branches, toggles and assertions of the design's own files.

Counts come from builds of flavour "coverage" (`fleet.engines.rtl_sim.build`) in Verilator's format; `verilator_coverage` merges
those of several runs. Instances and parameter variants of a module are merged: a line is covered if one of them ran it.

line: has a coverage point of the simulator; covered if every point on it was met.
branch: one direction of an `if`, `case` or `?:`.
toggle: one direction of a bit of a signal (up to 256 bits wide).
assertion: an `assert` or `cover` of the source; met if it was evaluated once. With `--assert`, a failing one ends the job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fleet.core.files import RecordFile
from fleet.core.processes import run
from fleet.core.toml_file import read_toml
from fleet.engines.rtl_sim.build import copy_name
from fleet.engines.rtl_sim.tools import find_coverage_tool
from fleet.errors import FleetError, ModelError

CoverageKind = Literal["lines", "branches", "toggles", "assertions"]
_POINT = re.compile(r"^C '(.*)' (\d+)$")
_ASSERTION = re.compile(r"\b(?:assert|cover)\b\s*(?:property\b\s*|final\b\s*|#0\s*)?\(")


@dataclass(frozen=True)
class MissedLine:
    """A line or an assertion that was not reached. line: from 1; text: source text; reason: why it is excluded, else empty."""

    file: str
    line: int
    text: str
    kind: str
    reason: str = ""


@dataclass
class ModuleCoverage:
    """Coverage of one file: (met, total) of each kind, without excluded lines and assertions."""

    name: str
    lines: tuple[int, int] = (0, 0)
    branches: tuple[int, int] = (0, 0)
    toggles: tuple[int, int] = (0, 0)
    assertions: tuple[int, int] = (0, 0)

    def of(self, kind: CoverageKind) -> tuple[int, int]:
        """Return (met, total) of a kind."""
        return {"lines": self.lines, "branches": self.branches, "toggles": self.toggles, "assertions": self.assertions}[kind]


@dataclass(frozen=True)
class Exclusion:
    """A line that need not be met. file: its name; text: the line without surrounding blanks; reason: why."""

    file: str
    text: str
    reason: str


@dataclass
class RtlCoverage:
    """Code coverage of a device. runs: number of merged count files."""

    device: str
    description_hash: str
    runs: int = 0
    modules: list[ModuleCoverage] = field(default_factory=list[ModuleCoverage])
    missed: list[MissedLine] = field(default_factory=list[MissedLine])

    def total(self, kind: CoverageKind) -> tuple[int, int]:
        """Return (met, total) of "lines", "branches", "toggles" or "assertions"."""
        pairs = [m.of(kind) for m in self.modules]
        return sum(p[0] for p in pairs), sum(p[1] for p in pairs)

    def save(self, path: Path) -> None:
        """Write JSON. Raises FleetError."""
        _STORED.save(path, self)


def load_rtl(path: Path) -> RtlCoverage:
    """Read what `save` wrote. Raises ModelError for any other file."""
    return _STORED.load(path)


_STORED = RecordFile(RtlCoverage, 1, "no coverage of hardware", "coverage", indent=0)


def load_exclusions(path: Path | None) -> list[Exclusion]:
    """The `[[exclude]]` tables of a TOML file: file, text, reason. Raises ModelError naming file, line and key."""
    if path is None:
        return []
    table = read_toml(path)
    table.only("exclude")
    found: list[Exclusion] = []
    for entry in table.tables("exclude"):
        entry.need("file", "text", "reason")
        entry.only("file", "text", "reason")
        found.append(Exclusion(entry.text("file"), entry.text("text").strip(), entry.text("reason").strip()))
    return found


def merge_counts(files: Sequence[Path], target: Path) -> Path:
    """Merge the simulator's count files. Raises SetupError, or FleetError if the tool refuses them."""
    command = [str(find_coverage_tool()), "--write", str(target), *map(str, files)]
    done = run(command)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise FleetError(f"the simulator's counts do not merge: {lines[0] if lines else 'no message'}", where=str(target.parent))
    return target


@dataclass
class _Counts:
    """Counts of one file: line -> counts of its points; branches and toggles: one count each, summed over instances."""

    lines: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    branches: dict[str, int] = field(default_factory=dict[str, int])
    toggles: dict[str, int] = field(default_factory=dict[str, int])


def _read(path: Path) -> dict[str, _Counts]:
    """Return name of the copied file -> its counts."""
    found: dict[str, _Counts] = {}
    try:
        with path.open(encoding="utf-8", errors="replace") as f:
            for text in f:
                match = _POINT.match(text)
                if match is None:
                    continue
                keys = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
                _add(found.setdefault(keys.get("f", ""), _Counts()), keys, int(match[2]))
    except (OSError, ValueError) as error:
        raise ModelError(f"no counts of the simulator ({error})", where=str(path)) from error
    return found


def _add(counts: _Counts, keys: dict[str, str], count: int) -> None:
    page, comment = keys.get("page", "").partition("/")[0], keys.get("o", "")
    point = f"{keys.get('l', '')}.{keys.get('n', '')}.{comment}"
    if page == "v_toggle":
        counts.toggles[point] = counts.toggles.get(point, 0) + count
        return
    if page == "v_branch":
        counts.branches[point] = counts.branches.get(point, 0) + count
    for part in keys.get("S", keys.get("l", "") if page == "v_user" else "").split(","):
        first, _, last = part.partition("-")
        for line in range(int(first), int(last or first) + 1) if first else ():
            row = counts.lines.setdefault(line, {})
            row[point] = row.get(point, 0) + count


def measure(
    device: str,
    description_hash: str,
    files: Sequence[Path],
    sources: Iterable[Path],
    exclusions: Sequence[Exclusion],
    folder: Path,
) -> RtlCoverage:
    """Return the coverage of a design's sources by some runs. folder: for the merged counts.

    Raises ModelError if an excluded line is not (or no longer) in its file, FleetError if there are no counts.
    """
    if not files:
        raise FleetError("the simulation left no counts", where=str(folder))
    counts = _read(merge_counts(files, folder / "merged.dat"))
    found = RtlCoverage(device, description_hash, len(files))
    used: set[Exclusion] = set()
    for path in sources:
        mine = counts.get(copy_name(path))
        if mine is not None and (mine.lines or mine.toggles):
            module, missed = _module(path, mine, exclusions, used)
            found.modules.append(module)
            found.missed += missed
    names = {p.name for p in sources}
    stale = [e for e in exclusions if e not in used and e.file in names]
    if stale:
        raise ModelError(f"{stale[0].file} has no line `{stale[0].text}` that counts", hint="take the exclusion out")
    return found


def _module(
    path: Path, counts: _Counts, exclusions: Sequence[Exclusion], used: set[Exclusion]
) -> tuple[ModuleCoverage, list[MissedLine]]:  # fmt: skip
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    mine = {e.text: e for e in exclusions if e.file == path.name}
    met = {"line": 0, "assertion": 0}
    every = {"line": 0, "assertion": 0}
    missed: list[MissedLine] = []
    for line, points in sorted(counts.lines.items()):
        code = text[line - 1].strip() if line <= len(text) else ""
        excluded = mine.get(code)
        if excluded is not None:
            used.add(excluded)
        hit = min(points.values()) > 0
        for kind in ("line", "assertion") if _ASSERTION.search(code.partition("//")[0]) else ("line",):
            if not hit:
                missed.append(MissedLine(path.name, line, code, kind, excluded.reason if excluded else ""))
            if hit or excluded is None:
                every[kind] += 1
                met[kind] += hit

    def share(points: dict[str, int]) -> tuple[int, int]:
        return sum(n > 0 for n in points.values()), len(points)

    module = ModuleCoverage(
        path.stem,
        (met["line"], every["line"]),
        share(counts.branches),
        share(counts.toggles),
        (met["assertion"], every["assertion"]),
    )
    return module, missed
