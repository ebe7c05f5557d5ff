"""The instruction map of a description: one register an opcode, and a register file for each instruction's view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from systemrdl.node import AddrmapNode, RegfileNode, RegNode

from fleet.isa.description import FETCH_WORDS, MAX_BEATS, DescriptionError, InstructionWord, Register, Unit
from fleet.isa.reading.nodes import check_access, check_name, error_at, fields_of, integer_of, text_of, where_of

_BEAT_WORDS = 16
_VIEW = "_view"


def instructions_of(top: AddrmapNode, registers: Sequence[Register], units: Mapping[str, Unit]) -> Mapping[str, InstructionWord]:
    """Name -> instruction, ascending by opcode. Raises DescriptionError for anything wrong in words and views."""
    found: list[InstructionWord] = []
    views: dict[str, RegfileNode] = {}
    for node in top.children(unroll=True):
        if isinstance(node, RegfileNode):
            views[node.inst_name.removesuffix(_VIEW)] = node
            continue
        if not isinstance(node, RegNode):
            raise error_at(node, "only registers (one an opcode) and register files (views) may stand in the instruction map")
        found.append(_instruction(node, units))
    names = {i.name for i in found}
    for name, node in views.items():
        if not node.inst_name.endswith(_VIEW):
            raise error_at(node, "a register file of the instruction map is called '<instruction>_view'")
        if name not in names:
            raise error_at(
                node, f"is the view of '{name}', and there is no such instruction", f"they are {', '.join(sorted(names))}"
            )
    taken = {r.name: r for r in registers}
    for n, word in enumerate(found):
        if word.name in views:
            found[n] = replace(word, view=_view(views[word.name], word, units, taken))
    found.sort(key=lambda i: i.opcode)
    for a, b in pairwise(found):
        if a.opcode == b.opcode:
            raise DescriptionError(f"{b.name}: opcode {b.opcode:#x} is also that of {a.name} ({a.where})", where=b.where)
    fetches = [i for i in found if i.fetch]
    if len(fetches) > 1:
        raise DescriptionError(f"{fetches[1].name}: {fetches[0].name} has fleet_fetch already", where=fetches[1].where)
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            # Two instructions are told apart by their start values when a register stream is read back.
            both = a.start_optional | b.start_optional
            if a.unit == b.unit and a.start & ~both == b.start & ~both:
                raise DescriptionError(f"{b.name}: its start values are also those of {a.name} ({a.where})", where=b.where)
    return {i.name: i for i in found}


def _instruction(node: RegNode, units: Mapping[str, Unit]) -> InstructionWord:
    opcode: int | None = integer_of(node, "fleet_opcode")
    start: int | None = integer_of(node, "fleet_start")
    unit_name: str | None = node.get_property("fleet_unit")
    if opcode is None or start is None or unit_name is None:
        raise error_at(node, "an instruction needs fleet_unit, fleet_opcode and fleet_start")
    if unit_name not in units:
        raise error_at(node, f"unit '{unit_name}' does not exist", f"units are {', '.join(units) or '(none)'}")
    if not 1 <= opcode <= 255:
        raise error_at(node, f"opcode {opcode} is outside 1 to 255 (0 is not a task)")
    check_name(node, node.inst_name)
    for f in node.fields():
        if f.inst_name == "cfg_id" and f.get_property("reset") != opcode:
            raise error_at(f, f"the word's cfg_id is {f.get_property('reset')}, fleet_opcode is {opcode}")
    unit = units[unit_name]
    optional: int = integer_of(node, "fleet_start_optional") or 0
    if start & optional:
        raise error_at(node, "fleet_start and fleet_start_optional have bits in common")
    if (start | optional) & ~unit.start.mask:
        raise error_at(node, f"fleet_start sets bits that {unit.start.name} does not have")
    given: int | None = integer_of(node, "fleet_beats")
    beats = -(-len(unit.words) // _BEAT_WORDS) if given is None else given
    fetch = bool(node.get_property("fleet_fetch"))
    if beats and len(unit.words) > beats * _BEAT_WORDS:
        raise error_at(node, f"{len(unit.words)} words do not fit in fleet_beats = {beats} beats of 64 bytes")
    if beats > MAX_BEATS:
        raise error_at(node, f"fleet_beats is {beats}, the binary form has {MAX_BEATS} a task", "0: no binary form")
    if fetch:
        _check_fetch(node, unit, beats)
    return InstructionWord(
        name=node.inst_name,
        opcode=opcode,
        unit=unit_name,
        start=start,
        start_optional=optional,
        beats=beats,
        title=text_of(node, "name") or node.inst_name,
        desc=text_of(node, "desc"),
        where=where_of(node),
        fetch=fetch,
    )


def _check_fetch(node: RegNode, unit: Unit, beats: int) -> None:
    for what in FETCH_WORDS:
        if [r.fetch_word for r in unit.operands].count(what) != 1:
            raise error_at(node, f"fleet_fetch needs one operand of unit '{unit.name}' with fleet_fetch_word = \"{what}\"")
    if beats:
        raise error_at(node, "fleet_fetch is not a task of a binary, it needs fleet_beats = 0")


def _view(node: RegfileNode, word: InstructionWord, units: Mapping[str, Unit], taken: dict[str, Register]) -> tuple[Register, ...]:
    """The operands under the view's names, in write order. `taken`: all names so far; the view's are added."""
    unit = units[word.unit]
    if word.name in units:
        raise error_at(node, f"instruction '{word.name}' is called like a unit, so it uses that unit's names")
    by_offset = {r.address: r for r in unit.operands}
    found: dict[str, Register] = {}
    for child in node.children(unroll=True):
        if not isinstance(child, RegNode):
            raise error_at(child, "only registers may stand in a view")
        operand = by_offset.get(child.address_offset)
        if operand is None:
            raise error_at(child, f"offset {child.address_offset:#x} is not an operand of unit '{unit.name}'")
        register = _renamed(child, operand, word)
        if register.name in taken:
            raise error_at(child, f"register '{register.name}' exists already ({taken[register.name].where})")
        taken[register.name] = found[operand.name] = register
    missing = [f"{r.name} at {r.address:#x}" for r in unit.operands if r.name not in found]
    if missing:
        raise error_at(node, f"no register for {', '.join(missing)}")
    return tuple(found[r.name] for r in unit.operands)


def _renamed(node: RegNode, operand: Register, word: InstructionWord) -> Register:
    fields = fields_of(node)
    if not node.inst_name.startswith(f"{word.name}_"):
        raise error_at(node, f"registers of this view are named '{word.name}_...'")
    check_name(node, node.inst_name.removeprefix(f"{word.name}_"))
    for prop in ("fleet_role", "fleet_unit", "fleet_order", "fleet_fetch_word"):
        if node.get_property(prop) is not None:
            raise error_at(node, f"{prop} is that of {operand.name}, a view does not give it")
    check_access(node, operand.role)
    mask = sum(f.mask for f in fields)
    if mask & ~operand.mask:
        raise error_at(node, f"has bits {mask & ~operand.mask:#x}, which {operand.name} has not")
    return replace(
        operand,
        name=node.inst_name,
        fields=fields,
        title=text_of(node, "name") or node.inst_name,
        desc=text_of(node, "desc"),
        where=where_of(node),
        view=word.name,
    )
