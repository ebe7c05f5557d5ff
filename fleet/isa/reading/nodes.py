"""Nodes of the compiled SystemRDL tree: where they stand, what they are called, and a register's fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from systemrdl.node import FieldNode, Node, RegNode
from systemrdl.source_ref import DetailedFileSourceRef, FileSourceRef, SourceRefBase

from fleet.isa.description import KINDS, DescriptionError, EnumValue, Field


def place_of(src_ref: SourceRefBase | None) -> str | None:
    """file:line of a reference, the file alone, or None."""
    if isinstance(src_ref, DetailedFileSourceRef):
        return f"{src_ref.path}:{src_ref.line}"
    return src_ref.path if isinstance(src_ref, FileSourceRef) else None


def where_of(node: Node) -> str:
    """file:line of a component: of its instance name, or of its definition."""
    return place_of(node.inst_src_ref) or place_of(node.def_src_ref) or "<description>"


def error_at(node: Node, what: str, hint: str | None = None) -> DescriptionError:
    """The error (to be raised) that `what` is wrong with the node."""
    return DescriptionError(f"{node.inst_name}: {what}", where=where_of(node), hint=hint)


_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def check_name(node: Node, name: str) -> None:
    """Names become ports, structure members and constants of hardware and C, so they are plain and no keywords."""
    from peakrdl_regblock.identifier_filter import SV_KEYWORDS

    if not _NAME.fullmatch(name):
        raise error_at(node, f"name '{name}' is not lower case words joined by single underscores")
    if name in SV_KEYWORDS:
        raise error_at(node, f"name '{name}' is a keyword of SystemVerilog")


def text_of(node: Node, prop: str) -> str:
    """A string property as one line; '' where it is not set."""
    value: Any = node.get_property(prop)
    return " ".join(str(value).split()) if value else ""


def integer_of(node: Node, prop: str) -> int | None:
    """An integer property; None where it is not set. The compiler takes names of types for numbers."""
    value: Any = node.get_property(prop)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise error_at(node, f"{prop} is not an integer")
    return value


def fields_of(node: RegNode) -> tuple[Field, ...]:
    """The fields of a 32-bit register, ascending; name, width and overlaps are checked."""
    check_name(node, node.inst_name)
    if node.is_array:
        raise error_at(node, "arrays of registers are not supported", "write each register out")
    if node.get_property("regwidth") != 32:
        raise error_at(node, f"regwidth is {node.get_property('regwidth')}, expected 32")
    fields = tuple(sorted((_field(f) for f in node.fields()), key=lambda f: f.low))
    for a, b in pairwise(fields):
        if b.low <= a.high:
            raise DescriptionError(f"{node.inst_name}.{b.name}: overlaps field {a.name} ({a.where})", where=b.where)
    return fields


_ACCESS: Mapping[str, tuple[str, str]] = {
    "operand": ("rw", "r"),
    "start": ("rw", "r"),
    "parameter": ("rw", "r"),
    "irq_enable": ("rw", "r"),
    "irq_status": ("rw", "r"),
}
"""Role -> access by software and by hardware; every other role is read by software and written by hardware."""

_EXTRA: Mapping[str, tuple[str, ...]] = {"start": ("swmod",), "irq_status": ("hwset",)}
"""Role -> properties that its fields must have: what the generated wrapper relies on."""


def check_access(node: RegNode, role: str) -> None:
    """Raises DescriptionError for a field whose access or properties are not those of the register's role."""
    software, hardware = _ACCESS.get(role, ("r", "w"))
    for f in node.fields():
        if (f.get_property("sw").name, f.get_property("hw").name) != (software, hardware):
            raise error_at(f, f"a field of a register of role '{role}' has sw = {software}; hw = {hardware};")
        for prop in _EXTRA.get(role, ()):
            if not f.get_property(prop):
                raise error_at(f, f"a field of a register of role '{role}' has {prop};")
        if role == "irq_status" and getattr(f.get_property("onwrite"), "name", None) != "woclr":
            raise error_at(f, "a field of the interrupt status has onwrite = woclr;")


def _field(node: FieldNode) -> Field:
    check_name(node, node.inst_name)
    kind: str | None = node.get_property("fleet_kind")
    if kind not in KINDS:
        raise error_at(node, f"fleet_kind is {kind!r}, expected one of {', '.join(KINDS)}")
    space: str | None = node.get_property("fleet_space")
    if (kind == "address") != bool(space):
        raise error_at(
            node, "an address field needs fleet_space" if kind == "address" else "fleet_space belongs to address fields only"
        )
    stated = integer_of(node, "fleet_align")
    if stated is not None and not 0 < stated < 1 << 32:
        raise error_at(node, f"fleet_align is {stated}, expected 1 or more")
    allowed: list[int] | None = node.get_property("fleet_allowed")
    for value in allowed or ():
        if value >= 1 << node.width:
            raise error_at(node, f"allowed value {value} does not fit in {node.width} bits")
    reset: Any = node.get_property("reset")
    encode: Any = node.get_property("encode")
    members = [] if encode is None else list(encode.members.values())
    operand: str = node.get_property("fleet_operand") or ""
    if operand:
        check_name(node, operand)
    scale = integer_of(node, "fleet_scale")
    if scale is not None and not 0 < scale < 1 << 32:
        raise error_at(node, f"fleet_scale is {scale}, expected 1 or more")
    if not operand and node.get_property("fleet_operand_low") is not None:
        raise error_at(node, "fleet_operand_low needs fleet_operand")
    return Field(
        name=node.inst_name,
        low=node.low,
        high=node.high,
        kind=kind,
        space=space or None,
        align=stated or 1,
        allowed=tuple(sorted(allowed)) if allowed else None,
        reset=reset if isinstance(reset, int) else 0,
        encode=tuple(EnumValue(m.name, m.value, " ".join((m.rdl_desc or "").split())) for m in members),
        software=node.get_property("sw").name,
        hardware=node.get_property("hw").name,
        title=text_of(node, "name") or node.inst_name,
        desc=text_of(node, "desc"),
        where=where_of(node),
        enumeration="" if encode is None else str(encode.type_name),
        signed=bool(node.get_property("is_signed")),
        scale=scale or 1,
        operand=operand,
        operand_low=integer_of(node, "fleet_operand_low") or 0,
        derived=text_of(node, "fleet_derived"),
    )
