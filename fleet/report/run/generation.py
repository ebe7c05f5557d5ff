"""The page of a generation, and its summary, from a stored result; nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from fleet.core.files import write_together
from fleet.core.records.address_map import AddressMap
from fleet.cosim.generation import EngineFigures, GenerationResult, KindCost, LayerError, StepFigures
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.frame.text import SYMBOLS, markdown, number
from fleet.report.pictures.address_map import draw
from fleet.report.pictures.generation_pictures import critical_path, lines, sqnr_lines
from fleet.report.pictures.performance_pictures import RooflinePoint, bars, roofline, stacked_bars


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
    cycles = next((r.token_cycles for r in shown.rows if r.token_cycles and not r.estimate), None)
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
    "cvm": "cvm (VM in C)",
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
    written = [
        f"# {SYMBOLS[result.verdict]}: {markdown(result.model.name)}", "",
        f"**Prompt** {markdown(result.identity.prompt)}", "", f"**Answer** ({result.reference}) {markdown(result.text)}", "",
        "| engine | own tokens as the reference's | prompt, s | token, s | cycles a token |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for engine in result.engines:
        row = engine_row(result, engine)
        cycles = "" if row.token_cycles is None else f"{row.token_cycles:,.0f}{' (estimate)' if row.estimate else ''}"
        written.append(f"| {row.name} | {row.agreed} of {row.compared} | {row.prefill_s:.2f} | {number(row.token_s)} | {cycles} |")
    written += [
        "",
        *(f"- {c.name}: {SYMBOLS[c.verdict if c.kind != 'info' else 'info']}, {c.question}" for c in result.comparisons),
    ]
    written += [f"- {markdown(reason)}" for reason in result.reasons]
    return "\n".join(written) + "\n"


@dataclass(frozen=True)
class _Costs:
    """Cycles of one step by kind of operation, the costliest first. classes: of cycles, in the order of the counters."""

    rows: Sequence[KindCost]
    total: int
    classes: Sequence[str]
    macs: int


@dataclass(frozen=True)
class _Blocks:
    """SQNR after each block; (kind, number of nodes, the worst node, mean in dB); and every node."""

    after: Sequence[LayerError]
    kinds: Sequence[tuple[str, int, LayerError, float]]
    nodes: Sequence[LayerError]


@dataclass(frozen=True)
class _Pictures:
    """A picture is None if the result lacks its figures. blocks: of the memory plan, as (name, space, bytes). maps: by block."""

    cycles: Markup | None
    logits: Markup | None
    layers: Markup | None
    kinds: Markup | None
    classes: Markup | None
    roofline: Markup | None
    path: Markup | None
    blocks: Sequence[tuple[str, str, int]]
    maps: Sequence[tuple[str, Markup]]


@dataclass(frozen=True)
class GenerationPage:
    """The values of the page. answers: (engines, their answer, a note). measured: the row of rtl, if it has cycles."""

    result: GenerationResult
    rows: Sequence[EngineRow]
    names: Sequence[str]
    answers: Sequence[tuple[str, str, str]]
    measured: EngineRow | None
    pictures: _Pictures
    blocks: _Blocks | None
    costs: _Costs | None
    limits: Mapping[str, float]


def context(result: GenerationResult) -> GenerationPage:
    """Return the values of the page."""
    rows = [engine_row(result, e) for e in result.engines]
    return GenerationPage(
        result=result,
        rows=rows,
        names=[e.name for e in result.engines if e.status == "ran"],
        answers=_answers(result),
        measured=next((r for r in rows if r.name == "rtl" and r.token_cycles), None),
        pictures=_pictures(result),
        blocks=_blocks(result),
        costs=_costs(result),
        limits=result.identity.device.limits if result.identity.device else {},
    )


def _answers(result: GenerationResult) -> list[tuple[str, str, str]]:
    """Return (engines, their answer, a note), with one entry for all engines of the same answer."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for e in result.engines:
        if e.status == "ran" and (e.own_tokens or e.own_note):
            names, notes = found.setdefault(e.own_text, ([], []))
            names.append(e.name)
            notes += [e.own_note] if e.own_note else []
    return [(", ".join(names), text, "; ".join(notes)) for text, (names, notes) in found.items()]


def _costs(result: GenerationResult) -> _Costs | None:
    if not result.costs:
        return None
    total = sum(c.own for c in result.costs)
    ordered = sorted(result.costs, key=lambda c: -c.own)
    classes = list(dict.fromkeys(name for c in result.costs for name in c.classes))
    return _Costs(ordered, total, classes, sum(c.macs for c in ordered))


def _blocks(result: GenerationResult) -> _Blocks | None:
    last = [layer for layer in result.layers if layer.kind == "down"]
    if not last:
        return None
    kinds: dict[str, list[LayerError]] = {}
    for layer in result.layers:
        kinds.setdefault(layer.kind, []).append(layer)
    table = [
        (kind, len(found), min(found, key=lambda x: x.rounded_db), sum(x.rounded_db for x in found) / len(found))
        for kind, found in kinds.items()
    ]
    return _Blocks(last, sorted(table, key=lambda row: row[2].rounded_db), result.layers)


def _pictures(result: GenerationResult) -> _Pictures:
    costs = sorted(result.costs, key=lambda c: -c.own)
    names = [f"{c.kind} ({c.instruction})" for c in costs]
    text = "Cycles by kind of operation."
    kinds = Markup(bars(names, [c.own for c in costs], "cycles of the step, each counted once", "kinds", text)) if costs else None
    plan = AddressMap.of({"steps": 0, "tenants": [], **result.memory_plan})
    planned = [(block, plan.within(block=block)) for block in ("runtime", "onchip")]
    return _Pictures(
        cycles=_cycles_picture(result),
        logits=_logits(result),
        layers=_layers(result),
        kinds=kinds,
        classes=_classes(costs, names),
        roofline=_roofline(result, costs) if costs else None,
        path=Markup(_path(result)) if result.timeline else None,
        blocks=plan.blocks,
        maps=[(name, Markup(draw(mine, mine.pieces[0].space, f"map-{name}"))) for name, mine in planned if mine.pieces],
    )


def _cycles_picture(result: GenerationResult) -> Markup | None:
    measured: dict[str, list[tuple[float, float]]] = {}
    rtl = result.engine("rtl")
    for text, engine, key in (("rtl, measured", rtl, "cycles"), ("cost model", rtl or result.engine("iss"), "estimate")):
        points = [] if engine is None else [(s.position, getattr(s, key)) for s in engine.decode if getattr(s, key) is not None]
        if points:
            measured[text] = [(float(x), float(y)) for x, y in points]
    if not measured:
        return None
    return Markup(lines(measured, "position of the token", "cycles", "cycles", "Cycles a token against its position."))


def _logits(result: GenerationResult) -> Markup | None:
    errors = {c.name: [(s.index + 1, s.sqnr_db) for s in c.steps if abs(s.sqnr_db) < 1e9] for c in result.comparisons if c.steps}
    errors = {name: values for name, values in errors.items() if values}
    if not errors:
        return None
    text = "SQNR of the logits, token by token."
    return Markup(lines(errors, "generated token", "SQNR of the logits (dB)", "logits", text, zero=False))


def _layers(result: GenerationResult) -> Markup | None:
    after = [layer for layer in result.layers if layer.kind == "down"]
    if not after:
        return None
    series = {
        "the device's arithmetic: iss against the rounded golden": [x.rounded_db for x in after],
        "the weights' quantisation: rounded golden against golden": [x.quantisation_db for x in after],
        "both: iss against golden": [x.golden_db for x in after],
    }
    text = "SQNR of the residual stream after every block."
    return Markup(sqnr_lines(series, [str(x.block) for x in after], "layers", text))


def _classes(costs: Sequence[KindCost], names: Sequence[str]) -> Markup | None:
    classes = tuple(dict.fromkeys(name for c in costs for name in c.classes))
    if not classes:
        return None
    parts = {name.replace("_", " "): [c.classes.get(name, 0) for c in costs] for name in classes}
    return Markup(stacked_bars(names, parts, "cycles inside instructions, overlaps counted twice", "classes", "Cycle classes."))


def _roofline(result: GenerationResult, costs: Sequence[KindCost]) -> Markup | None:
    device = result.identity.device
    if device is None or "macs_per_cycle" not in device.limits:
        return None
    suffix = "_bytes_per_cycle"
    limits = {key.removesuffix(suffix).upper(): value for key, value in device.limits.items() if key.endswith(suffix)}
    points = [RooflinePoint(i, c.macs, c.own, _by_memory(c)) for i, c in enumerate(costs, 1) if c.macs and c.own]
    return Markup(roofline(points, device.limits["macs_per_cycle"], limits))


def _by_memory(cost: KindCost) -> dict[str, float]:
    moved: dict[str, float] = {}
    for key, value in cost.bytes.items():
        space = key.partition("_")[0].upper()
        moved[space] = moved.get(space, 0) + value
    return moved


def _path(result: GenerationResult) -> str:
    """Draw the last block only: a whole step would be unreadable."""
    last = max((int(c.node.split(".")[1]) for c in result.timeline if c.node.startswith("blocks.")), default=0)
    shown = [c for c in result.timeline if not c.node.startswith("blocks.") or int(c.node.split(".")[1]) == last]
    shown = [c for c in shown if c.node.startswith("blocks.")] or shown
    first = min(c.end - c.own for c in shown)
    rows = [(c.node, c.unit or c.instruction, c.start - first, c.end - first, c.own) for c in shown]
    return critical_path(rows, "path", f"Instructions of block {last} on the clock, a line a unit.")
