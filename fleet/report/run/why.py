"""Explain a failed comparison on one page of text, from stored results: nothing runs.

operation -> instruction -> field -> address -> register writes -> values expected and found -> what produced the inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.record import RECORD, ReplayRecord
from fleet.compare.account import DivergenceAccount
from fleet.compare.diverged import Divergence
from fleet.core.codec import is_table
from fleet.core.json_text import read_json
from fleet.cosim.generation import FILE as GENERATION
from fleet.cosim.generation import GenerationResult
from fleet.cosim.result import CosimResult
from fleet.cosim.run_request import RunRequest
from fleet.errors import FleetError, ModelError
from fleet.report.frame.text import operations
from fleet.report.run.why_lines import beat_lines, chain_lines, replay_lines, tile_lines
from fleet.streams.bundle import NAME as STREAM
from fleet.streams.bundle import load_bundle

RESULT = "result.json"
_VALUES, _REASONS, _OPERANDS, _FIELDS, _CHAIN, _REGISTERS = 4, 3, 6, 3, 9, 18
_WIDTH = 112
_FIELD = re.compile(r"\s+\[ *[0-9:]+\] (\w+) += (\S+)")
"""A field of a register, as `fleet.isa.codec.disassemble` lists it."""


@dataclass(frozen=True)
class StoredFailure:
    """A failed comparison as it is stored.

    title: what ran and in which setting. when: ISO 8601 or empty. command: runs it again. request: the same as data; None of a
    stream and of an older result. parts: of the page, of hardware that was adopted; wave: its file.
    """

    path: Path
    title: str
    when: str
    command: str
    reasons: tuple[str, ...]
    divergence: Divergence | None
    request: RunRequest | None = None
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wave: str = ""


def find_failure(name: str | None, root: Path, *others: Path) -> StoredFailure:
    """Return the last failed comparison below `root` and `others`, or the one that `name` means.

    name: a path, or the name of a case or a stream. Raises ModelError if there is none; it states whether anything was compared.
    """
    if name is not None and (path := Path(name)).exists():
        files = [path] if path.is_file() else list(_stored(path))
        if not files:
            raise ModelError("holds no stored result", where=name, hint=f"expected {RESULT} or {STREAM}")
    else:
        files = list(_stored(root, *others))
        if not files and (agreed := last_agreed(root)) is not None:
            raise ModelError(f"no comparison failed: {agreed}", where=name or str(root))
        if not files:
            raise ModelError(
                "nothing was compared yet: no stored result", where=str(root), hint="run `fleet cosim` or `pytest sim/`"
            )
    broken: FleetError | None = None
    seen = 0
    for path in files:
        try:
            failure, titles = _load(path)
        except FleetError as error:
            broken = broken or error
            continue
        if name is not None and not Path(name).exists() and name not in titles:
            continue
        seen += 1
        if failure is not None:
            return failure
    if name is not None and not seen:
        raise broken if broken is not None and len(files) == 1 else ModelError("no stored result of that name", where=name)
    if not seen and broken is not None:
        raise broken
    last = "" if name is not None else f"; {agreed}" if (agreed := last_agreed(root, *others)) else ""
    raise ModelError(f"no comparison failed: {seen} stored results, all passed{last}", where=name or str(root))


def last_agreed(*roots: Path) -> str | None:
    """Describe the last run below some folders that agreed, runs of random programs included, and where it is stored; or None."""
    runs = [*_stored(*roots), *(p for root in roots if root.is_dir() for p in root.rglob("*-[0-9]*.json"))]
    for path in sorted(runs, key=lambda p: p.stat().st_mtime, reverse=True):
        try:
            what = _fuzzed(path) if path.name not in (RESULT, STREAM, GENERATION, RECORD) else _passed(path)
        except (FleetError, OSError, ValueError):
            continue
        if what:
            return f"the last run, {what}, agreed; it is stored in {path}"
    return None


def _passed(path: Path) -> str:
    failure, names = _load(path)
    return "" if failure is not None else min(names, key=len, default="")


def _fuzzed(path: Path) -> str:
    """Describe the stored state of a run of random programs; "" for another file, or if one of them failed."""
    table = read_json(path)
    if not is_table(table) or not {"device", "seed", "programs", "executed", "refused", "failures"} <= table.keys():
        return ""
    if table["failures"] or not table["programs"]:
        return ""
    count = f"{table['programs']} programs with {table['executed']} instructions executed and {table['refused']} refused"
    return f"fleet isa fuzz on {table['device']}, seed {table['seed']}: {count}"


def _stored(*folders: Path) -> Iterator[Path]:
    """Return results and streams below some folders, the newest first."""
    found = (f for f in folders if f.is_dir())
    files = [p for folder in found for pattern in (RESULT, STREAM, GENERATION, RECORD) for p in folder.rglob(pattern)]
    return iter(sorted(files, key=lambda p: p.stat().st_mtime, reverse=True))


def _load(path: Path) -> tuple[StoredFailure | None, set[str]]:
    """Return the failure in a file (None if it passed), and its names."""
    table = read_json(path, "not a stored result")
    if not is_table(table):
        raise ModelError("not a stored result (it holds no table)", where=str(path))
    verdict = table.get("verdict")
    folder = path.parent.name
    if path.name == STREAM:
        bundle, _ = load_bundle(path)
        title = f"{bundle.name} on {bundle.device}, memory {bundle.setting.memory}, issued by {bundle.setting.issue}"
        failure = StoredFailure(path, title, "", bundle.command, bundle.reasons, bundle.divergence)
        return (failure if verdict == "fail" else None), {bundle.name, folder}
    if path.name == GENERATION:
        return _of_generation(path)
    if path.name == RECORD:
        return _of_replay(path)
    result = CosimResult.load(path)
    i = result.identity
    title = f"{i.case or i.model}" + (f" on {i.device.name}, memory {i.memory}, seed {i.seed}" if i.device else "")
    failure = StoredFailure(path, title, i.date, i.command, result.reasons, result.divergence, i.request)
    names = {n for n in (i.case, i.model, folder, path.parent.parent.name) if n}
    return (failure if result.verdict != "pass" else None), names


def _of_generation(path: Path) -> tuple[StoredFailure | None, set[str]]:
    result = GenerationResult.load(path)
    i = result.identity
    title = result.model.name + (f" on {i.device.name}, memory {i.memory}, seed {i.seed}" if i.device else "")
    failure = StoredFailure(path, title, i.date, i.command, result.reasons, result.divergence, i.request)
    return (failure if result.verdict != "pass" else None), {result.model.name, path.parent.name}


def _of_replay(path: Path) -> tuple[StoredFailure | None, set[str]]:
    found = ReplayRecord.load(path)
    request = RunRequest("fleet", found.arguments)
    failure = StoredFailure(path, found.title, "", str(request), found.reasons, None, request, found.parts, found.wave)
    return (failure if found.verdict != "pass" else None), {found.title.partition(" of ")[2], found.title, path.parent.name}


def page(failure: StoredFailure) -> str:
    """Return the page."""
    d = failure.divergence
    lines = [
        f"{d.comparison + ' differs' if d else 'failed'}: {failure.title}",
        f"stored in {failure.path} {failure.when}".rstrip(),
        "",
    ]
    if failure.parts:
        for title, part in failure.parts:
            lines += _section(title, [line for text in part for line in _wrapped(text)])
        others = [r for r in failure.reasons if r not in failure.parts[0][1]]
        lines += _section("also", [line for text in others[:_REASONS] for line in _wrapped(text)])
        lines += _section("wave", [failure.wave] if failure.wave else [])
        return "\n".join([*lines, *_again(failure)]) + "\n"
    if d is None:
        lines += [f"  {reason}" for reason in failure.reasons[:_REASONS]] or ["  no reason is stored"]
        named = "No instruction or operation is named: see the reasons above."
        lines += [f"  wave: {failure.wave}"] if failure.wave else []
        lines += ["", *([] if failure.path.name == RECORD else [named]), *_again(failure)]
        return "\n".join(lines) + "\n"
    for title, part in sections(failure):
        lines += _section(title, part)
    return "\n".join([*lines, *_again(failure)]) + "\n"


def sections(failure: StoredFailure) -> list[tuple[str, list[str]]]:
    """Return the parts of the page in reading order, each with title and lines; empty for a failure without a divergence."""
    d = failure.divergence
    if d is None:
        return []
    account = d.account or DivergenceAccount()
    found: list[tuple[str, list[str]]] = []

    found.append(("what differs", _wrapped(d.what)))
    if d.ops or account.source:
        found.append(("operation", _wrapped("  ".join(x for x in (operations(d.ops), account.source) if x))))
    if d.seq is not None:
        short = d.disassembly[0] if d.disassembly else d.instruction or "?"
        found.append(("instruction", _wrapped(f"{d.seq}: {short}")))
    if d.differences:
        e = d.differences[0]
        element = f", element {list(e.element)} of the operation" if e.element is not None else ""
        found.append(("address", _wrapped(f"{e.where}{element}")))
    found.append(("field", [*account.address[:_FIELDS], *account.supposed[:_FIELDS]]))
    if d.registers:
        found.append(("register writes", _writes(d)))
    found.append(("state", _state(d)))
    if d.differences:
        rows = [
            f"{e.where}{' ' + str(list(e.element)) if e.element is not None else ''}: expected {e.expected}, found {e.found}"
            for e in d.differences[:_VALUES]
        ]
        if d.total_differences is not None and d.total_differences > len(rows):
            rows.append(f"... {d.total_differences:,} elements differ there")
        found.append(("values", rows))
    found.append(("pattern", [*account.pattern]))
    found.append(("first tile", tile_lines(account)))
    found.append(("first beat", beat_lines(account)))
    found.append(("chain", chain_lines(account.chain, _CHAIN)))
    if d.inputs:
        shown = [*d.inputs[:_OPERANDS], *([f"... {len(d.inputs) - _OPERANDS} more"] if len(d.inputs) > _OPERANDS else [])]
        found.append(("operands", [_cut(line) for line in shown]))
    found.append(("replay", [line for text in replay_lines(account) for line in _wrapped(text)]))
    others = [r for r in failure.reasons if r not in d.what and d.what not in r]
    if others:
        found.append(("also", [line for r in others[:_REASONS] for line in _wrapped(r)]))
    return [(title, part) for title, part in found if part]


def _writes(d: Divergence) -> list[str]:
    """Return the register writes in order, with names, fields and meaning if known; long lists three per line, zeros together."""
    meaning, fields = _explained(d, "reg")
    texts = [meaning.get(address, f"reg {address // 4:3} = {value:#010x}") for address, value in d.registers]
    if len(texts) <= _REGISTERS:
        return [line for (address, _), text in zip(d.registers, texts, strict=True) for line in (text, *fields.get(address, ()))]
    short: list[str] = []
    zeros: list[str] = []
    for (address, value), text in zip(d.registers, texts, strict=True):
        words = text.split()
        name = words[2] if address in meaning else f"reg {address // 4}"
        if value or address == d.registers[-1][0]:
            short.append(f"{address // 4:3} {name} = {value:#x}")
        else:
            zeros.append(name)
    lines = ["".join(f"{s:<38}" for s in short[i : i + 3]).rstrip() for i in range(0, len(short), 3)]
    return [*lines, *(_wrapped(f"0 in {', '.join(zeros)}") if zeros else [])]


def _state(d: Divergence) -> list[str]:
    """Return the state registers that the instruction found, with their fields."""
    meaning, fields = _explained(d, "state")
    return [line for n, text in meaning.items() for line in (text, *fields.get(n, ()))]


def _explained(d: Divergence, kind: str) -> tuple[dict[int, str], dict[int, list[str]]]:
    """Return what the disassembly says of registers: address -> its line, and address -> the lines of its fields.

    kind: "reg" (by byte address) or "state" (by index).
    """
    meaning: dict[int, str] = {}
    fields: dict[int, list[str]] = {}
    at: int | None = None
    for line in d.disassembly[1:]:
        words = line.split()
        if len(words) > 3 and words[0] in ("reg", "state"):
            at = None
            if words[0] == kind:
                at = 4 * int(words[1]) if kind == "reg" else len(meaning)
                meaning[at] = line.strip()
        elif at is not None and (found := _FIELD.match(line)):
            fields.setdefault(at, []).append(f"{found[1]} {found[2]}")
    return meaning, {n: [f"{'':8}{text}" for text in _wrapped(", ".join(parts))] for n, parts in fields.items()}


def _again(failure: StoredFailure) -> list[str]:
    return ["", "Run it again:", f"  {' '.join(failure.command.split())}"] if failure.command else []


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title if i == 0 else '':16}{line}" for i, line in enumerate(lines)]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 4] + " ..."


def _wrapped(text: str, width: int = _WIDTH) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("  " + word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines
