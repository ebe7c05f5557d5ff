"""The page of coverage: what streams covered, what is left, what is impossible and why, and the hardware's lines.

`write_coverage` writes `index.html` and `summary.json` (the page's figures). Everything comes from an account; nothing runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from markupsafe import Markup

from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.frame.text import percent
from fleet.report.pictures.style import MARKERS, PALETTE, canvas, thousands_formatter, to_svg
from fleet.verify.coverage.account import CoverageAccount, Point
from fleet.verify.coverage.bins import DISTANCES, FAMILIES, NO_MODE, BinSpace, family
from fleet.verify.coverage.rtl import MissedLine, RtlCoverage
from fleet.verify.coverage.shapes import SHAPES, STRIDES

_SATURATION = ("ordinary", "saturated")
_FAMILY_TEXT = {
    "executed": "every instruction was executed",
    "refused": "every cause of refusal of every instruction",
    "start": "every value of the start register",
    "field": "every field by the class of its value",
    "remainder": "every size by its remainder by every natural block",
    "stride": "how the rows that are read and written lie",
    "result": "what stands in the results: zeros, extremes, infinities, NaN",
    "memory": "every memory model",
    "issue": "every way of issue",
    "hazard": "kind of hazard by distance, and by who waits for whom",
    "cross": "mode x remainder x stride x saturation x distance of the nearest hazard",
}
_MOST_HOLES = 60


@dataclass(frozen=True)
class Share:
    """The covered bins among those that count."""

    met: int
    every: int

    @property
    def fraction(self) -> float | None:
        """A fraction from 0 to 1; None without bins."""
        return self.met / self.every if self.every else None

    @property
    def level(self) -> str:
        """The class of a cell of a heat table: h0 to h10; "none" without bins."""
        return "none" if not self.every else f"h{10 * self.met // self.every}"


@dataclass(frozen=True)
class _Cross:
    """One instruction's crosses over all modes: a row per remainder and stride, a column per saturation and distance."""

    instruction: str
    modes: tuple[tuple[str, Share], ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, tuple[Share, ...]], ...]


@dataclass(frozen=True)
class _Hole:
    """A group of bins that nothing covered. tried: number of aimed draws that missed. why: the most common reason."""

    group: str
    keys: tuple[str, ...]
    tried: int
    why: str


@dataclass(frozen=True)
class _CoveragePage:
    """The values of the page.

    Attributes:
        instructions: (instruction, shares by family, share of all). hazards: names, and rows of (earlier instruction, shares).
        hole_count: bins that nothing covered. impossible: (reason, number of bins, first bin).
        curve: picture of the bins over time; None if a run has one point. rtl_files: (file, uncovered lines, excluded lines).
        blocks: the natural block sizes.
    """

    account: CoverageAccount
    device: str
    set_name: str
    verdict: str
    total: Share
    families: Mapping[str, Share]
    family_text: Mapping[str, str]
    instructions: Sequence[tuple[str, Sequence[Share], Share]]
    crosses: Sequence[_Cross]
    hazards: tuple[Sequence[str], Sequence[tuple[str, Sequence[Share]]]]
    holes: Sequence[_Hole]
    hole_count: int
    impossible: Sequence[tuple[str, int, str]]
    impossible_count: int
    curve: Markup | None
    rtl: RtlCoverage | None
    rtl_files: Sequence[tuple[str, Sequence[MissedLine], Sequence[MissedLine]]]
    blocks: Sequence[int]


def write_coverage(
    space: BinSpace,
    account: CoverageAccount,
    rtl: RtlCoverage | None,
    folder: Path,
    beside: Mapping[str, Sequence[Point]] | None = None,
) -> Path:
    """Write the page and its figures; return the page's path. beside: further curves, by name. Raises FleetError."""

    page = folder / "index.html"
    shown = _values(space, account, rtl, beside or {})
    figures = {
        "device": account.device,
        "description_hash": account.description_hash,
        "seeds": account.seeds,
        "steered": account.steered,
        "programs": account.programs,
        "instructions": account.instructions,
        "processor_seconds": round(account.cpu),
        "worker_seconds": round(account.seconds),
        "bins": {f: asdict(s) for f, s in shown.families.items()},
        "all": asdict(shown.total),
        "impossible": len(space.bins) - len(space.open),
        "failures": account.failures,
        "hardware": {k: rtl.total(k) for k in ("lines", "branches", "toggles", "assertions")} if rtl is not None else None,
    }
    title, figure = f"{shown.set_name} on {shown.device}", f"{percent(shown.total.fraction, 1)} of the bins"
    about = About("coverage", title, shown.verdict, figure)
    texts = {
        page: render("coverage.html.j2", shown, frame_of(page, about)),
        folder / "summary.json": json_text(figures),
    }
    write_together(texts)
    published(page)
    return page


def _values(
    space: BinSpace, account: CoverageAccount, rtl: RtlCoverage | None, beside: Mapping[str, Sequence[Point]]
) -> _CoveragePage:
    opened = space.open
    families = {f: _share(account, [k for k in opened if family(k) == f]) for f in FAMILIES}
    curves = {("steered" if account.steered else "unsteered"): account.curve, **beside}
    return _CoveragePage(
        account=account,
        device=space.device.name,
        set_name=space.instruction_set.name,
        verdict="fail" if account.failures else "pass",
        total=_share(account, opened),
        families={f: s for f, s in families.items() if s.every},
        family_text=_FAMILY_TEXT,
        instructions=_by_instruction(space, account),
        crosses=[_cross(space, account, name) for name in space.places],
        hazards=_hazards(space, account),
        holes=_hole_groups(space, account),
        hole_count=len(opened) - sum(k in account.met for k in opened),
        impossible=_impossible(space),
        impossible_count=len(space.bins) - len(opened),
        curve=Markup(_curve(curves, len(opened))) if any(len(c) > 1 for c in curves.values()) else None,
        rtl=rtl,
        rtl_files=_missed_by_file(rtl) if rtl is not None else (),
        blocks=space.blocks,
    )


def _share(account: CoverageAccount, keys: Sequence[str]) -> Share:
    return Share(sum(k in account.met for k in keys), len(keys))


def _by_instruction(space: BinSpace, account: CoverageAccount) -> list[tuple[str, list[Share], Share]]:
    kinds = [f for f in FAMILIES if f != "hazard"]
    groups: dict[tuple[str, str], list[str]] = {}
    for key in space.open:
        groups.setdefault((key.split(":", 1)[0], family(key)), []).append(key)
    found: list[tuple[str, list[Share], Share]] = []
    for name in space.places:
        cells = [_share(account, groups.get((name, f), [])) for f in kinds]
        found.append((name, cells, Share(sum(c.met for c in cells), sum(c.every for c in cells))))
    return found


def _cross(space: BinSpace, account: CoverageAccount, name: str) -> _Cross:
    cells: dict[tuple[str, ...], list[bool]] = {}
    modes: dict[str, list[bool]] = {}
    for key in space.open:
        parts = key.split(":")
        if parts[0] == name and parts[1] == "cross":
            hit = key in account.met
            cells.setdefault(tuple(parts[3:]), []).append(hit)
            modes.setdefault(parts[2], []).append(hit)
    columns = tuple((s, d) for s in _SATURATION for d in DISTANCES if any(c[2:] == (s, d) for c in cells))
    rows = tuple(
        (shape, stride, tuple(_of(cells.get((shape, stride, *c), [])) for c in columns))
        for shape in SHAPES
        for stride in STRIDES
        if any(c[:2] == (shape, stride) for c in cells)
    )
    return _Cross(name, tuple((m, _of(hits)) for m, hits in modes.items() if m != NO_MODE), columns, rows)


def _of(hits: Sequence[bool]) -> Share:
    return Share(sum(hits), len(hits))


def _hazards(space: BinSpace, account: CoverageAccount) -> tuple[list[str], list[tuple[str, list[Share]]]]:
    """Return names and rows: a row per earlier instruction, a column per waiting one; cells count the kinds of hazards."""
    names = list(space.places)
    cells: dict[tuple[str, str], list[bool]] = {}
    for key in space.open:
        parts = key.split(":")
        if parts[0] == "hazard" and len(parts) == 4:
            cells.setdefault((parts[2], parts[3]), []).append(key in account.met)
    return names, [(a, [_of(cells.get((a, b), [])) for b in names]) for a in names]


def _hole_groups(space: BinSpace, account: CoverageAccount) -> list[_Hole]:
    """Return the groups of uncovered bins, the largest first: single bins, and crosses by instruction and mode."""
    groups: dict[str, list[str]] = {}
    for key in space.open:
        if key not in account.met:
            group = ":".join(key.split(":")[:3]) if family(key) == "cross" else key.rpartition(":")[0]
            groups.setdefault(group, []).append(key)
    found: list[_Hole] = []
    for group, keys in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0])):
        tried = [account.tried[k] for k in keys if k in account.tried]
        why = Counter(t.why for t in tried if t.why).most_common(1)
        found.append(_Hole(group, tuple(keys), sum(t.draws for t in tried), why[0][0] if why else ""))
    return found


def _impossible(space: BinSpace) -> list[tuple[str, int, str]]:
    """Return (reason, number of bins, first bin), the most frequent reason first."""
    reasons: dict[str, list[str]] = {}
    for key, why in space.bins.items():
        if why is not None:
            reasons.setdefault(why, []).append(key)
    return sorted(((why, len(keys), keys[0]) for why, keys in reasons.items()), key=lambda r: (-r[1], r[0]))


def _missed_by_file(rtl: RtlCoverage) -> list[tuple[str, list[MissedLine], list[MissedLine]]]:
    """Return (file, uncovered lines that count, excluded lines)."""
    files: dict[str, list[MissedLine]] = {}
    for m in rtl.missed:
        files.setdefault(m.file, []).append(m)
    return [(name, [m for m in rows if not m.reason][:_MOST_HOLES], [m for m in rows if m.reason]) for name, rows in files.items()]


def _curve(curves: Mapping[str, Sequence[Point]], every: int) -> str:
    """Draw the covered bins over time, a line per run."""
    with canvas(8.0, 3.4) as (figure, axes):
        for i, (name, points) in enumerate(curves.items()):
            if points:
                x = [0.0, *(p.cpu / 60 for p in points)]
                y = [0.0, *(100 * min(p.bins, every) / every for p in points)]
                axes.plot(
                    x, y, color=PALETTE[i], marker=MARKERS[i], markevery=max(1, len(x) // 12), markersize=4, lw=1.4, label=name
                )
        axes.axhline(95, color=PALETTE[5], lw=1, ls="--", label="95 %")
        axes.set_xlabel("minutes of processor time, simulations included")
        axes.set_ylabel("bins met [%]")
        axes.set_ylim(0, 101)
        axes.set_xlim(left=0)
        axes.grid(axis="y")
        axes.legend(loc="lower right")
        axes.xaxis.set_major_formatter(thousands_formatter())
        return to_svg(figure, "curve", "Bins met over time")
