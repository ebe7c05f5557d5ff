"""The scopes of the simulation in which an instruction runs, found in the text of the design: waves of these alone are small."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.isa.codec import description_of
from fleet.isa.hardware import hardware_of
from fleet.sdk import InstructionSet

_BENCH = "fleet_tb.u_bench"
_TOP = f"{_BENCH}.u_dut.u_top"
_ALL = 99
_MODULE = re.compile(r"^\s*module\s+(\w+)", re.MULTILINE)
_INSTANCE = re.compile(r"^\s*(\w+)\s+(?:#\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)?(u_\w+)\s*\(", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEEP = 4


def scopes_of(instruction_set: InstructionSet, instruction: str) -> tuple[tuple[int, str], ...]:
    """(levels, scope): the signals of the bench and of the top, and all of the units that the instruction runs in.

    A unit's instances are those that the manifest names (`wave_scopes`: unit -> paths below the top), else those whose
    instance or module is called like it; where none is, the whole design.
    """
    cls = instruction_set.instructions[instruction]
    names = {n for n in (cls.executes_in, description_of(instruction_set).instructions[instruction].unit) if n}
    paths = [p for n in sorted(names) for p in instruction_set.wave_scopes.get(n, ())] or [
        p for p, words in _instances(instruction_set) if words & names
    ]
    if not paths:
        return ((1, _BENCH), (_ALL, _TOP))
    return ((1, _BENCH), (1, _TOP), *((_ALL, f"{_TOP}.{p}") for p in dict.fromkeys(paths)))


def _instances(instruction_set: InstructionSet) -> Iterator[tuple[str, set[str]]]:
    """Path below the top and names of every instance that stands in no generate block, the shallowest of a branch first."""
    rtl = hardware_of(instruction_set)
    if rtl is None:
        return
    modules: dict[str, list[tuple[str, str]]] = {}
    for source in rtl.files:
        text = _COMMENT.sub("", source.read_text(encoding="utf-8", errors="replace"))
        starts = list(_MODULE.finditer(text))
        for i, m in enumerate(starts):
            body = text[m.end() : starts[i + 1].start() if i + 1 < len(starts) else len(text)]
            modules[m[1]] = [(kind, name) for kind, name in _INSTANCE.findall(body)]
    prefix = f"{instruction_set.name}_"
    level = [("", rtl.top)]
    for _ in range(_DEEP):
        deeper: list[tuple[str, str]] = []
        for path, module in level:
            for kind, name in modules.get(module, []):
                if kind in modules:
                    full = f"{path}.{name}" if path else name
                    yield full, {name.removeprefix("u_"), kind.removeprefix(prefix)}
                    deeper.append((full, kind))
        level = deeper
