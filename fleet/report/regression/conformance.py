"""The report of a conformance run: what each instruction covered, in which settings, and how good the cost model is.

`write_conformance` writes `account.json` (everything), `README.md` and `index.html` (the same tables; the page has the pictures).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from fleet.core.files import write_atomically
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.pictures.style import INK, MARKERS, PALETTE, canvas, plain_formatter, to_svg
from fleet.report.regression.page_table import PageTable, TablesPage, markdown
from fleet.verify.conformance.coverage import ConformanceCoverage, CostPoint

GATES: Mapping[str, tuple[float, float]] = {"ideal": (0.02, 0.05), "timed": (0.03, 0.08)}
"""Memory model -> largest error of the cost model in the median and at the 95th percentile, as fractions of the cycles. With ideal
memory, the errors are those of runs; with timed memory, those of means over refresh phases.
"""

SINGLE = 0.05
"""Largest error of a single run as a fraction of its cycles, unless its slack is larger."""

_MOST_SHOWN = 60.0  # percent, in the picture


@dataclass(frozen=True)
class Gate:
    """The cost model's errors with one memory model; an error is |cost / cycles - 1|.

    points: number of calls; with timed memory, of means. median, p95: of the errors. runs: number of single runs.
    outside: runs with an error above the larger of `SINGLE` and the cycles of one refresh and one row miss per memory.
    beyond: those of them that exceed even the sum of a refresh and a row miss of all ports (`refresh_slacks`).
    """

    memory: str
    points: int
    median: float
    p95: float
    runs: int
    outside: int
    beyond: int

    @property
    def passed(self) -> bool:
        """True if both percentiles are within their gates, for at least one call."""
        median, p95 = GATES[self.memory]
        return self.points > 0 and self.median <= median and self.p95 <= p95

    @property
    def runs_passed(self) -> bool:
        """True if no single run exceeds its bound. Ideal memory has no randomness: there the percentiles are the only gate."""
        return self.memory != "timed" or self.beyond == 0


def gate(account: ConformanceCoverage, memory: str, instruction: str | None = None) -> Gate | None:
    """Return the gate of one instruction, or of all; None if nothing ran with that memory model."""
    runs = [p for p in single_runs(account, memory) if instruction in {None, p.instruction}]
    if not runs:
        return None
    if memory == "timed":
        means = [m for m in account.means if instruction in {None, m.instruction}]
        errors = sorted(abs(m.cost / m.mean - 1) for m in means)
    else:
        errors = sorted(abs(p.cost / p.cycles - 1) for p in runs)
    outside = [p for p in runs if abs(p.cost - p.cycles) > max(SINGLE * p.cycles, p.slack)]
    beyond = sum(abs(p.cost - p.cycles) > max(SINGLE * p.cycles, p.port_slack) for p in outside)
    quantiles = (_quantile(errors, 0.5), _quantile(errors, 0.95)) if errors else (math.inf, math.inf)
    return Gate(memory, len(errors), *quantiles, len(runs), len(outside), beyond)


def single_runs(account: ConformanceCoverage, memory: str) -> list[CostPoint]:
    """Return one point per call and run: those of the suite, and with timed memory those that the means are taken over."""
    found = [p for p in account.costs if p.memory == memory and p.cycles]
    return [*found, *(run for m in account.means for run in m.runs)] if memory == "timed" else found


def _quantile(ascending: Sequence[float], q: float) -> float:
    return ascending[min(len(ascending) - 1, math.ceil(q * len(ascending)) - 1)]


def write_conformance(account: ConformanceCoverage, folder: Path) -> Path:
    """Write the files and return the page's path. Raises FleetError."""
    account.save(folder / "account.json")
    blocks = list(_blocks(account))
    title = "every run agreed" if not account.failures else f"{len(account.failures)} runs differ"
    write_atomically(folder / "README.md", markdown(f"Conformance: {title}", blocks).encode())
    page = folder / "index.html"
    pictures = [Markup(_scatter(account, memory)) for memory in GATES if gate(account, memory) is not None]
    shown = TablesPage("Conformance", title, "instruction-sets", bool(account.failures), blocks, pictures)
    verdict = "fail" if account.failures else "pass" if account.cases else "nothing compared"
    about = About("conformance", f"Conformance {folder.absolute().name}", verdict, f"{account.runs:,} runs")
    write_atomically(page, render("tables.html.j2", shown, frame_of(page, about)).encode())
    published(page)
    return page


def _blocks(a: ConformanceCoverage) -> list[PageTable]:
    blocks = [_summary(a)]
    if a.failures:
        rows = tuple((f.name, f.setting, f.reason, f.replay) for f in a.failures[:200])
        blocks.append(
            PageTable(
                "Failures",
                "Each is played again by its command.",
                ("case", "setting", "why", "again"),
                rows,
                commands=frozenset({3}),
            )
        )
    rows = tuple(
        (name, f"{i.cases:,}", f"{i.executed:,}", f"{i.refused:,}", _counts(i.modes), _counts(i.causes))
        for name, i in sorted(a.instructions.items())
    )
    head = ("instruction", "cases", "executed", "refused", "modes (start register)", "causes of refusal")
    blocks.append(PageTable("Instructions", "Calls; a case may hold many, and runs under several settings.", head, rows))
    blocks.append(_settings(a))
    for name, i in sorted(a.instructions.items()):
        if i.classes:
            rows = tuple((key, _counts(values)) for key, values in i.classes.items())
            title = f"{name}: what was crossed"
            blocks.append(PageTable(title, "Cases by what they are about.", ("dimension", "values met"), rows))
        if i.fields:
            rows = tuple((key, _counts(values)) for key, values in i.fields.items())
            blocks.append(
                PageTable(f"{name}: fields", "Executed calls by the class of each field's value.", ("field", "classes"), rows)
            )
    blocks.append(_gates(a))
    return blocks


def _summary(a: ConformanceCoverage) -> PageTable:
    speed = a.cycles / a.seconds if a.seconds else 0.0
    rows = (
        ("cases", f"{a.cases:,} ({', '.join(f'{n:,} {k}' for k, n in sorted(a.kinds.items()))})"),
        ("runs (case and setting)", f"{a.runs:,}"),
        ("bits of destinations compared", f"{a.bits:,}"),
        ("bytes of memory images compared", f"{a.image_bytes:,}"),
        ("mismatches", f"{len(a.failures):,} runs"),
        ("cycles simulated", f"{a.cycles:,} ({speed:,.0f} a second of wall time, all work included)"),
        ("time", f"{a.seconds:,.0f} s, summed over processes"),
    )
    return PageTable(
        "What ran", "rtl against iss: every bit of every destination at every commit, then every byte of memory.", ("", ""), rows
    )


def _gates(a: ConformanceCoverage) -> PageTable:
    """Return the table of gates: all instructions together, then each alone, so that a large error of one shows."""
    rows: list[tuple[str, ...]] = []
    for memory, (median, p95) in GATES.items():
        for name in (None, *sorted({p.instruction for p in single_runs(a, memory)})):
            g = gate(a, memory, name)
            if g is not None:
                cells = (
                    memory,
                    name or "all",
                    f"{g.points:,}",
                    _percent(g.median),
                    _percent(median),
                    _percent(g.p95),
                    _percent(p95),
                )
                held = "holds" if g.passed else "missed"
                rows.append((*cells, held, *_single(g)))
    head = (
        "memory", "instruction", "calls", "median error", "gate", "95th percentile", "gate", "",
        "single runs", "outside one refresh a memory", "outside their bound", "",
    )  # fmt: skip
    runs = single_runs(a, "timed")
    text = (
        "|expected / measured - 1| of the cycles from start to commit, written to the registers (not fetched as a binary). With "
        "timed memory measured is the mean over 16 refresh phases, of a fixed sample of the suite's legal calls. A single run "
        f"meets what it meets: it may be off by the larger of {100 * SINGLE:g} % and one refresh and one row miss a memory"
        f"{_slacks(runs)}. {_coupled(runs)}"
    )
    return PageTable("Cost model", text, head, tuple(rows))


def _single(g: Gate) -> tuple[str, str, str, str]:
    if g.memory != "timed":
        return (f"{g.runs:,}", "-", "-", "")
    return (f"{g.runs:,}", f"{g.outside:,}", f"{g.beyond:,}", "holds" if g.runs_passed else "missed")


def _slacks(runs: Sequence[CostPoint]) -> str:
    found = {p.device: p.slack for p in runs}
    return f" ({', '.join(f'{n:,.0f} cycles on {device}' for device, n in sorted(found.items()))})" if found else ""


def _coupled(runs: Sequence[CostPoint]) -> str:
    """Return why the bound of a single run differs on some devices."""
    devices = sorted({p.device for p in runs if p.port_slack > p.slack})
    if not devices:
        return ""
    mine = [p for p in runs if p.device in devices]
    outside = sum(abs(p.cost - p.cycles) > max(SINGLE * p.cycles, p.slack) for p in mine)
    return (
        f"On {' and '.join(devices)} a port's FIFO is shorter than a refresh and a read's latency, so that the refreshes of all "
        f"ports add up instead of hiding behind each other: there {outside:,} of {len(mine):,} runs are outside one refresh a "
        f"memory, {outside / len(mine):.1%}, and the bound is one refresh and one row miss a port in each refresh period that the "
        f"call takes (at least {min(p.port_slack for p in mine):,.0f} cycles)."
    )


def _settings(a: ConformanceCoverage) -> PageTable:
    columns = sorted({tuple(k.split("/")[:3]) for k in a.settings})
    names = sorted({k.split("/")[3] for k in a.settings})
    rows: list[tuple[str, ...]] = []
    for name in names:
        cells = [name]
        for c in columns:
            s = a.settings.get("/".join((*c, name)))
            cells.append("-" if s is None else f"{s.calls:,}" + (f" ({s.mismatches} differ)" if s.mismatches else ""))
        rows.append(tuple(cells))
    head = ("instruction", *(", ".join(c) for c in columns))
    return PageTable("Settings", "Calls by device, memory model and way of issue.", head, tuple(rows))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{k}: {n:,}" for k, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))) or "-"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _scatter(account: ConformanceCoverage, memory: str) -> str:
    """Draw cost / cycles against cycles, the two gates as bands: one mark per call; with timed memory a mean, single runs faint."""
    runs, means = single_runs(account, memory), account.means if memory == "timed" else ()
    median, p95 = GATES[memory]
    found = gate(account, memory)
    assert found is not None
    names = sorted({p.instruction for p in runs})
    with canvas(9.0, 4.2) as (figure, axes):
        axes.axhspan(-100 * p95, 100 * p95, color=PALETTE[1], alpha=0.18, lw=0, label=f"95th percentile gate, {100 * p95:g} %")
        axes.axhspan(-100 * median, 100 * median, color=PALETTE[2], alpha=0.28, lw=0, label=f"median gate, {100 * median:g} %")
        axes.axhline(0, color=INK, lw=0.8)
        if means:
            x, y = [p.cycles for p in runs], [100 * (p.cost / p.cycles - 1) for p in runs]
            axes.plot(
                x, y, color=INK, marker=".", linestyle="none", markersize=2, alpha=0.12, markeredgewidth=0, label="a single run",
                rasterized=True,
            )  # fmt: skip
        for i, name in enumerate(names):
            if means:
                mine = [(m.mean, m.cost) for m in means if m.instruction == name]
            else:
                mine = [(p.cycles, p.cost) for p in runs if p.instruction == name]
            x, y = [cycles for cycles, _ in mine], [100 * (cost / cycles - 1) for cycles, cost in mine]
            colour, marker = PALETTE[i % len(PALETTE)], MARKERS[(i + i // len(PALETTE)) % len(MARKERS)]
            axes.plot(x, y, color=colour, marker=marker, linestyle="none", markersize=3.2, alpha=0.7, label=name, markeredgewidth=0)
        axes.set_xscale("log")
        errors = [abs(100 * (p.cost / p.cycles - 1)) for p in runs]
        limit = max(160 * p95, *(min(_MOST_SHOWN, e) for e in errors)) * 1.08
        beyond = sum(e > limit for e in errors)
        axes.set_ylim(-limit, limit)
        axes.set_xlim(0.8 * min(p.cycles for p in runs), 1.25 * max(p.cycles for p in runs))
        axes.xaxis.set_major_formatter(plain_formatter())
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("cycles from start to commit (rtl)" + (f"; {beyond} runs lie beyond the picture" if beyond else ""))
        axes.set_ylabel("cost model's error [%]")
        what = "means over refresh phases" if memory == "timed" else "calls"
        words = f"{memory} memory: {found.points:,} {what}, median {_percent(found.median)}, 95th percentile {_percent(found.p95)}"
        axes.set_title(f"{words}: {'within the gates' if found.passed else 'gates missed'}", loc="left")
        axes.grid(axis="y")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        return to_svg(figure, f"cost-{memory}", words)
