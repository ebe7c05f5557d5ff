"""The page of a generation, and its summary, from a stored result; nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet.core.address_map import AddressMap
from fleet.core.files import write_together
from fleet.cosim.generation import EngineFigures, GenerationResult, KindCost, StepFigures
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.run.address_map import draw

__all__ = ["engine_row", "store_generation", "summary", "write_generation"]


def write_generation(result: GenerationResult | Path | str, folder: Path | str) -> Path:
    """Write index.html and summary.md of a result (or of the folder that holds one); return the page's path.

    Raises ModelError if the result is damaged, FleetError if the folder cannot be written.
    """
    found = result if isinstance(result, GenerationResult) else GenerationResult.load(Path(result))
    texts = _texts(found, Path(folder))
    write_together(texts)
    page = Path(folder) / "index.html"
    published(page)
    return page


def store_generation(result: GenerationResult, folder: Path | str) -> tuple[Path, Path]:
    """Write the result and its page together: both replace the old ones, or nothing does. Returns both paths."""
    stored, page = result.save(Path(folder), _texts(result, Path(folder))), Path(folder) / "index.html"
    published(page)
    return stored, page


def _texts(result: GenerationResult, folder: Path) -> dict[Path, str]:

    shown, page = context(result), folder / "index.html"
    cycles = next((r.token_cycles for r in shown["rows"] if r.token_cycles and not r.estimate), None)
    about = About(
        "language model", result.model.name, result.verdict, f"{cycles:,} cycles a token" if cycles else "", result.identity.date
    )
    return {page: render("generation.html.j2", shown, frame_of(page, about)), folder / "summary.md": summary(result)}


@dataclass(frozen=True)
class EngineRow:
    """An engine in the table.

    prefill_s, token_s: wall time of the prompt and of a generated token. prefill_cycles, token_cycles: likewise; None without a
    clock.
    estimate: whether the cycles are the cost model's. token_ms: time of a token on the device. agreed: own tokens that are the
    reference's, of `compared`.
    """

    name: str
    title: str
    figures: EngineFigures
    prefill_s: float
    token_s: float | None
    prefill_cycles: int | None
    token_cycles: float | None
    estimate: bool
    token_ms: float | None
    agreed: int
    compared: int


TITLES: Mapping[str, str] = {
    "vm": "vm (golden, float32)",
    "vm-rounded": "vm-rounded (golden, weights as stored)",
    "iss": "iss (functional model)",
    "rtl": "rtl (simulated hardware)",
    "riscv": "riscv (emulated)",
}


def _cycles(steps: Sequence[StepFigures]) -> tuple[list[int], bool]:
    """Return the cycles of the steps, and whether they are estimates."""
    measured = [s.cycles for s in steps if s.cycles is not None]
    if measured:
        return measured, False
    return [s.estimate for s in steps if s.estimate is not None], True


def engine_row(result: GenerationResult, engine: EngineFigures) -> EngineRow:
    """Return the table's figures of an engine."""
    prefill, estimated = _cycles(engine.prefill)
    decode, _ = _cycles(engine.decode)
    clock = result.identity.device.clock_mhz if result.identity.device else None
    mean = sum(decode) / len(decode) if decode else None
    own = [(row.own[engine.name], row.token) for row in result.tokens if engine.name in row.own]
    return EngineRow(
        engine.name, TITLES.get(engine.name, engine.name), engine, sum(s.seconds for s in engine.prefill),
        sum(s.seconds for s in engine.decode) / len(engine.decode) if engine.decode else None,
        sum(prefill) if prefill else None, mean, estimated and bool(prefill or decode),
        mean / clock / 1e3 if mean is not None and clock else None, sum(a == b for a, b in own), len(own),
    )  # fmt: skip


def summary(result: GenerationResult) -> str:
    """Return the summary, a few lines of Markdown."""
    from fleet.report.frame.text import SYMBOLS, markdown, number

    lines = [
        f"# {SYMBOLS[result.verdict]}: {markdown(result.model.name)}", "",
        f"**Prompt** {markdown(result.identity.prompt)}", "", f"**Answer** ({result.reference}) {markdown(result.text)}", "",
        "| engine | own tokens as the reference's | prompt, s | token, s | cycles a token |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for engine in result.engines:
        row = engine_row(result, engine)
        cycles = "" if row.token_cycles is None else f"{row.token_cycles:,.0f}{' (estimate)' if row.estimate else ''}"
        lines.append(f"| {row.name} | {row.agreed} of {row.compared} | {row.prefill_s:.2f} | {number(row.token_s)} | {cycles} |")
    lines += ["", *(f"- {c.name}: {SYMBOLS[c.verdict if c.kind != 'info' else 'info']}, {c.question}" for c in result.comparisons)]
    lines += [f"- {markdown(reason)}" for reason in result.reasons]
    return "\n".join(lines) + "\n"


def context(result: GenerationResult) -> dict[str, Any]:
    """Return the values of the template."""
    rows = [engine_row(result, e) for e in result.engines]
    return {
        "result": result,
        "rows": rows,
        "names": [e.name for e in result.engines if e.status == "ran"],
        "answers": _answers(result),
        "measured": next((r for r in rows if r.name == "rtl" and r.token_cycles), None),
        "pictures": _pictures(result),
        "blocks": _blocks(result),
        "costs": _costs(result),
        "limits": result.identity.device.limits if result.identity.device else {},
    }


def _answers(result: GenerationResult) -> list[tuple[str, str, str]]:
    """Return (engines, their answer, a note), with one entry for all engines of the same answer."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for e in result.engines:
        if e.status == "ran" and (e.own_tokens or e.own_note):
            names, notes = found.setdefault(e.own_text, ([], []))
            names.append(e.name)
            notes += [e.own_note] if e.own_note else []
    return [(", ".join(names), text, "; ".join(notes)) for text, (names, notes) in found.items()]


def _costs(result: GenerationResult) -> dict[str, Any] | None:
    if not result.costs:
        return None
    total = sum(c.own for c in result.costs)
    ordered = sorted(result.costs, key=lambda c: -c.own)
    classes = list(dict.fromkeys(name for c in result.costs for name in c.classes))
    return {"rows": ordered, "total": total, "classes": classes, "macs": sum(c.macs for c in ordered)}


def _blocks(result: GenerationResult) -> dict[str, Any] | None:
    """Return the SQNR after each block, and the worst kinds of nodes."""
    last = [layer for layer in result.layers if layer.kind == "down"]
    if not last:
        return None
    kinds: dict[str, list[Any]] = {}
    for layer in result.layers:
        kinds.setdefault(layer.kind, []).append(layer)
    table = [
        (kind, len(found), min(found, key=lambda x: x.rounded_db), sum(x.rounded_db for x in found) / len(found))
        for kind, found in kinds.items()
    ]
    return {"after": last, "kinds": sorted(table, key=lambda row: row[2].rounded_db), "nodes": result.layers}


_PICTURES = ("cycles", "logits", "layers", "kinds", "classes", "roofline", "path", "maps")


def _pictures(result: GenerationResult) -> dict[str, Any]:
    from markupsafe import Markup

    from fleet.report.run import generation_pictures as pictures
    from fleet.report.run.performance_pictures import RooflinePoint, bars, roofline, stacked_bars

    found: dict[str, Any] = dict.fromkeys(_PICTURES)
    measured: dict[str, list[tuple[float, float]]] = {}
    rtl = result.engine("rtl")
    for text, engine, key in (("rtl, measured", rtl, "cycles"), ("cost model", rtl or result.engine("iss"), "estimate")):
        points = [] if engine is None else [(s.position, getattr(s, key)) for s in engine.decode if getattr(s, key) is not None]
        if points:
            measured[text] = [(float(x), float(y)) for x, y in points]
    if measured:
        found["cycles"] = Markup(
            pictures.lines(measured, "position of the token", "cycles", "cycles", "Cycles a token against its position.")
        )
    errors = {c.name: [(s.index + 1, s.sqnr_db) for s in c.steps if abs(s.sqnr_db) < 1e9] for c in result.comparisons if c.steps}
    errors = {name: values for name, values in errors.items() if values}
    if errors:
        found["logits"] = Markup(
            pictures.lines(
                errors, "generated token", "SQNR of the logits (dB)", "logits", "SQNR of the logits, token by token.", zero=False
            )
        )
    after = [layer for layer in result.layers if layer.kind == "down"]
    if after:
        series = {
            "the device's arithmetic: iss against the rounded golden": [x.rounded_db for x in after],
            "the weights' quantisation: rounded golden against golden": [x.quantisation_db for x in after],
            "both: iss against golden": [x.golden_db for x in after],
        }
        found["layers"] = Markup(
            pictures.sqnr_lines(series, [str(x.block) for x in after], "layers", "SQNR of the residual stream after every block.")
        )
    if result.costs:
        costs = sorted(result.costs, key=lambda c: -c.own)
        names = [f"{c.kind} ({c.instruction})" for c in costs]
        found["kinds"] = Markup(
            bars(names, [c.own for c in costs], "cycles of the step, each counted once", "kinds", "Cycles by kind of operation.")
        )
        classes = list(dict.fromkeys(name for c in costs for name in c.classes))
        if classes:
            parts = {name.replace("_", " "): [c.classes.get(name, 0) for c in costs] for name in classes}
            found["classes"] = Markup(
                stacked_bars(names, parts, "cycles inside instructions, overlaps counted twice", "classes", "Cycle classes.")
            )
        device = result.identity.device
        if device is not None and "macs_per_cycle" in device.limits:
            limits = {
                key.removesuffix("_bytes_per_cycle").upper(): value
                for key, value in device.limits.items() if key.endswith("_bytes_per_cycle")
            }  # fmt: skip
            points = [RooflinePoint(i, c.macs, c.own, _by_memory(c)) for i, c in enumerate(costs, 1) if c.macs and c.own]
            found["roofline"] = Markup(roofline(points, device.limits["macs_per_cycle"], limits))
    if result.timeline:
        found["path"] = Markup(_path(result))
    stored = AddressMap.of({"steps": 0, "tenants": [], **result.memory_plan})
    found["blocks"] = stored.blocks
    for block in ("runtime", "onchip"):
        mine = stored.within(block=block)
        if mine.pieces:
            found["maps"] = found["maps"] or []
            found["maps"].append((block, Markup(draw(mine, mine.pieces[0].space, f"map-{block}"))))
    return found


def _by_memory(cost: KindCost) -> dict[str, float]:
    moved: dict[str, float] = {}
    for key, value in cost.bytes.items():
        space = key.partition("_")[0].upper()
        moved[space] = moved.get(space, 0) + value
    return moved


def _path(result: GenerationResult) -> str:
    """Draw the last block only: a whole step would be unreadable."""
    from fleet.report.run.generation_pictures import critical_path

    last = max((int(c.node.split(".")[1]) for c in result.timeline if c.node.startswith("blocks.")), default=0)
    shown = [c for c in result.timeline if not c.node.startswith("blocks.") or int(c.node.split(".")[1]) == last]
    shown = [c for c in shown if c.node.startswith("blocks.")] or shown
    first = min(c.end - c.own for c in shown)
    rows = [(c.node, c.unit or c.instruction, c.start - first, c.end - first, c.own) for c in shown]
    return critical_path(rows, "path", f"Instructions of block {last} on the clock, a line a unit.")
