"""The report of a conformance run: what was met of every instruction, on which settings, and how good the cost model is.

`write_conformance` leaves `account.json` (everything), `README.md` and `index.html` (the same tables; the page has the pictures).
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.cosim.files import write_atomically
from fleet.cosim.streams.coverage import Account, CostPoint
from fleet.report._style import INK, MARKERS, PALETTE, canvas, plain_formatter, to_svg

__all__ = ["GATES", "Gate", "gate", "write_conformance"]

GATES: Mapping[str, tuple[float, float]] = {"ideal": (0.02, 0.05), "timed": (0.03, 0.08)}
"""Memory model -> largest error of the cost model in the median and at the 95th percentile, as fractions of the cycles."""

SINGLE = 0.05
"""How far a single run may be off, as a fraction of its cycles, where its slack is not larger."""

_MOST_SHOWN = 60.0  # percent, in the picture


@dataclass(frozen=True)
class Gate:
    """How the cost model stands on one memory model: errors are |cost / cycles - 1|. points: calls.

    outside: calls that are further off than the larger of `SINGLE` and their slack (one refresh and one row miss a memory).
    """

    memory: str
    points: int
    median: float
    p95: float
    outside: int

    @property
    def passed(self) -> bool:
        """Ideal memory: within both limits. Timed: no single run outside (`GATES` is for means: benchmarks/unit_cycles.py)."""
        if self.memory == "timed":
            return self.outside == 0
        median, p95 = GATES[self.memory]
        return self.median <= median and self.p95 <= p95


def gate(points: Sequence[CostPoint], memory: str) -> Gate | None:
    """None where nothing ran on that memory model."""
    errors = sorted(abs(p.cost / p.cycles - 1) for p in points if p.memory == memory and p.cycles)
    if not errors:
        return None
    mine = [p for p in points if p.memory == memory and p.cycles]
    outside = sum(abs(p.cost - p.cycles) > max(SINGLE * p.cycles, p.slack) for p in mine)
    return Gate(memory, len(errors), _quantile(errors, 0.5), _quantile(errors, 0.95), outside)


def _quantile(ascending: Sequence[float], q: float) -> float:
    return ascending[min(len(ascending) - 1, math.ceil(q * len(ascending)) - 1)]


def write_conformance(account: Account, folder: Path) -> Path:
    """Writes the files; returns the page's path. Raises FleetError."""
    account.save(folder / "account.json")
    blocks = list(_blocks(account))
    write_atomically(folder / "README.md", _markdown(account, blocks).encode())
    page = folder / "index.html"
    write_atomically(page, _page(account, blocks).encode())
    return page


@dataclass(frozen=True)
class _Table:
    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _blocks(a: Account) -> list[_Table]:
    blocks = [_summary(a)]
    if a.failures:
        rows = tuple((f.name, f.setting, f.reason, f.replay) for f in a.failures[:200])
        blocks.append(_Table("Failures", "Each is played again by its command.", ("case", "setting", "why", "again"), rows))
    rows = tuple(
        (name, f"{i.cases:,}", f"{i.executed:,}", f"{i.refused:,}", _counts(i.modes), _counts(i.causes))
        for name, i in sorted(a.instructions.items())
    )
    head = ("instruction", "cases", "executed", "refused", "modes (start register)", "causes of refusal")
    blocks.append(_Table("Instructions", "Calls; a case may hold many, and runs under several settings.", head, rows))
    blocks.append(_settings(a))
    for name, i in sorted(a.instructions.items()):
        if i.classes:
            rows = tuple((key, _counts(values)) for key, values in i.classes.items())
            blocks.append(_Table(f"{name}: what was crossed", "Cases by what they are about.", ("dimension", "values met"), rows))
        if i.fields:
            rows = tuple((key, _counts(values)) for key, values in i.fields.items())
            blocks.append(
                _Table(f"{name}: fields", "Executed calls by the class of each field's value.", ("field", "classes"), rows)
            )
    blocks.append(_gates(a))
    return blocks


def _summary(a: Account) -> _Table:
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
    return _Table(
        "What ran", "rtl against iss: every bit of every destination at every commit, then every byte of memory.", ("", ""), rows
    )


def _gates(a: Account) -> _Table:
    """All instructions together, then each alone: a large error of one must not hide in the median of many."""
    rows: list[tuple[str, ...]] = []
    for memory, (median, p95) in GATES.items():
        for name in ("all", *sorted({p.instruction for p in a.costs})):
            g = gate([p for p in a.costs if name in {"all", p.instruction}], memory)
            if g is not None:
                cells = (memory, name, f"{g.points:,}", _percent(g.median), _percent(median), _percent(g.p95), _percent(p95))
                rows.append((*cells, f"{g.outside:,}", "holds" if g.passed else "missed"))
    head = ("memory", "instruction", "calls", "median error", "gate", "95th percentile", "gate", "single runs outside", "")
    text = (
        "|expected / measured - 1| of the cycles from start to commit, written to the registers (not fetched as a binary). "
        "With timed memory a call meets one set of refresh phases and is judged alone: outside is what is further off than the "
        "larger of "
        f"{100 * SINGLE:g} % and one refresh and one row miss a memory; the percentiles' gates are for means over 16 phases."
    )
    return _Table("Cost model", text, head, tuple(rows))


def _settings(a: Account) -> _Table:
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
    return _Table("Settings", "Calls by device, memory model and way of issue.", head, tuple(rows))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{k}: {n:,}" for k, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))) or "-"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _markdown(a: Account, blocks: Sequence[_Table]) -> str:
    lines = [f"# Conformance: {'every run agreed' if not a.failures else f'{len(a.failures)} runs differ'}", ""]
    for b in blocks:
        lines += [f"## {b.title}", "", b.text, "", "| " + " | ".join(b.head) + " |", "|" + "---|" * len(b.head)]
        lines += ["| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in b.rows] + [""]
    return "\n".join(lines)


_STYLE = """:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.6rem 0 1.6rem}td,th{border-bottom:1px solid #8885;padding:.25rem .7rem;text-align:left;
vertical-align:top}h2{margin-top:2.2rem}.bad{color:#d33}svg{max-width:100%;height:auto}.wide{overflow-x:auto}"""


def _page(a: Account, blocks: Sequence[_Table]) -> str:
    e = html.escape
    title = "Conformance: " + ("every run agreed" if not a.failures else f"{len(a.failures)} runs differ")
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{e(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><body>',
        f"<h1{' class=bad' if a.failures else ''}>{e(title)}</h1>",
    ]
    for b in blocks:
        parts.append(f'<h2>{e(b.title)}</h2><p>{e(b.text)}</p><div class="wide"><table><tr>')
        parts += [f"<th>{e(h)}</th>" for h in b.head]
        parts += ["</tr>"] + ["<tr>" + "".join(f"<td>{e(c)}</td>" for c in row) + "</tr>" for row in b.rows] + ["</table></div>"]
    parts += [_scatter(a.costs, memory) for memory in GATES if any(p.memory == memory for p in a.costs)]
    return "\n".join(parts) + "\n</body></html>\n"


def _scatter(points: Sequence[CostPoint], memory: str) -> str:
    """cost / cycles against cycles, one mark a call, the two gates as bands."""
    points = [p for p in points if p.memory == memory and p.cycles]
    names = sorted({p.instruction for p in points})
    median, p95 = GATES[memory]
    found = gate(points, memory)
    assert found is not None
    with canvas(9.0, 4.2) as (figure, axes):
        axes.axhspan(-100 * p95, 100 * p95, color=PALETTE[1], alpha=0.18, lw=0, label=f"95th percentile gate, {100 * p95:g} %")
        axes.axhspan(-100 * median, 100 * median, color=PALETTE[2], alpha=0.28, lw=0, label=f"median gate, {100 * median:g} %")
        axes.axhline(0, color=INK, lw=0.8)
        for i, name in enumerate(names):
            mine = [p for p in points if p.instruction == name]
            x, y = [p.cycles for p in mine], [100 * (p.cost / p.cycles - 1) for p in mine]
            colour, marker = PALETTE[i % len(PALETTE)], MARKERS[(i + i // len(PALETTE)) % len(MARKERS)]
            axes.plot(
                x, y, color=colour, marker=marker, linestyle="none", markersize=3.2, alpha=0.55, label=name, markeredgewidth=0
            )
        axes.set_xscale("log")
        errors = [abs(100 * (p.cost / p.cycles - 1)) for p in points]
        limit = max(160 * p95, *(min(_MOST_SHOWN, e) for e in errors)) * 1.08
        beyond = sum(e > limit for e in errors)
        axes.set_ylim(-limit, limit)
        axes.set_xlim(0.8 * min(p.cycles for p in points), 1.25 * max(p.cycles for p in points))
        axes.xaxis.set_major_formatter(plain_formatter())
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("cycles from start to commit (rtl)" + (f"; {beyond} calls lie beyond the picture" if beyond else ""))
        axes.set_ylabel("cost model's error [%]")
        words = f"{memory} memory: {found.points:,} calls, median {_percent(found.median)}, 95th percentile {_percent(found.p95)}"
        axes.set_title(f"{words}: {'within the gates' if found.passed else 'gates missed'}", loc="left")
        axes.grid(axis="y")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        return to_svg(figure, f"cost-{memory}", words)
