"""Faults of a plug-in's own code: the place where it raised, and parts of its manifest of another kind than the contract's."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from fleet.sdk import CoverageHints, Device, Instruction, InstructionSet, IssueRules, Layout, Operands, RtlFiles

_PARTS: tuple[tuple[str, type, str], ...] = (
    ("layout", Layout, "a Layout"),
    ("conformance", Mapping, "a mapping from instructions to sources"),
    ("coverage", CoverageHints, "CoverageHints"),
    ("issue", IssueRules, "IssueRules"),
    ("wave_scopes", Mapping, "a mapping from units to paths"),
)
"""(part of the manifest, its type, in words)."""


def _folder(point: EntryPoint) -> Path | None:
    """The folder of the plug-in's package, found without importing it."""
    first, *rest = point.module.split(".")
    try:
        spec = find_spec(first)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return folder.joinpath(*rest) if rest else folder


def raised_at(point: EntryPoint, error: BaseException) -> str | None:
    """file:line of the plug-in's own line that an exception passed last; of a syntax error, where it stands; None: none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}"
    folder = _folder(point)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<")]
    own = [f for f in frames if folder is not None and Path(f.filename).is_relative_to(folder)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else None


def manifest_file(point: EntryPoint) -> tuple[Path, str] | None:
    """The module in which the entry point looks for its object, and the package that it is in; None: no file has it."""
    folder = _folder(point)
    if folder is None:
        return None
    if folder.is_dir():
        return folder / "__init__.py", point.module
    return folder.with_suffix(".py"), point.module.rpartition(".")[0]


def manifest_place(point: EntryPoint) -> str | None:
    """file:line of the module in which the entry point looks for its object: of the line that sets it, else the first one."""
    found = manifest_file(point)
    if found is None:
        return None
    path = found[0]
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    found = (n for n, line in enumerate(lines, 1) if point.attr and line.startswith(point.attr))
    return f"{path}:{next(found, 1)}"


def wrong_kinds(manifest: InstructionSet) -> Iterator[str]:
    """A clause for every part of a manifest that is not what the contract says."""
    m = cast("Any", manifest)
    if not isinstance(m.description, Path):
        yield f"description is {m.description!r}, expected a path"
    classes: Any = m.instructions
    if not isinstance(classes, Mapping):
        yield f"instructions is a {type(classes).__name__}, expected a mapping from names to classes"
    else:
        for name, cls in cast("Mapping[object, object]", classes).items():
            if not (isinstance(cls, type) and issubclass(cls, Instruction)):
                yield f"instructions[{name!r}] is {_short(cls)}, expected a subclass of Instruction"
            elif missing := sorted(getattr(cls, "__abstractmethods__", ())):
                yield f"class {cls.__name__} has no {', '.join(missing)}"
            else:
                yield from _operands(cls.__name__, cls.operands)
    yield from _patterns(m.patterns)
    if not isinstance(m.devices, Mapping) or not all(isinstance(d, Device) for d in cast("Mapping[Any, Any]", m.devices).values()):
        yield "devices is no mapping from names to devices"
    if m.rtl is not None and not isinstance(m.rtl, RtlFiles):
        yield f"rtl is {_short(m.rtl)}, expected RtlFiles or None"
    for part, kind, expected in _PARTS:
        if not isinstance(value := getattr(m, part), kind):
            yield f"{part} is {_short(value)}, expected {expected}"


def _operands(owner: str, found: object) -> Iterator[str]:
    if found is None:
        return
    if not (isinstance(found, type) and issubclass(found, Operands)):
        yield f"operands of class {owner} is {_short(found)}, expected a subclass of Operands, as `fleet isa generate` writes it"
    elif missing := [name for name in ("INSTRUCTION", "FIXED", "LAYOUT") if not hasattr(found, name)]:
        yield f"operands of class {owner} has no {', '.join(missing)}, as `fleet isa generate` writes them"


def _patterns(patterns: object) -> Iterator[str]:
    if not isinstance(patterns, Sequence):
        yield f"patterns is {_short(patterns)}, expected a sequence"
        return
    for n, pattern in enumerate(cast("Sequence[object]", patterns)):
        for method in ("match", "emit"):
            if not callable(getattr(pattern, method, None)):
                yield f"patterns[{n}] ({_short(pattern)}) has no {method}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"
