"""SystemRDL -> `Description`: the compiler's tree is walked once, checked, and not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
from systemrdl.node import AddrmapNode, FieldNode, Node, RegNode, RootNode
from systemrdl.source_ref import DetailedFileSourceRef, FileSourceRef, SourceRefBase

from fleet.isa.description import (
    KINDS,
    ROLES,
    UNIT_ROLES,
    Description,
    DescriptionError,
    EnumValue,
    Field,
    InstructionWord,
    Register,
    Unit,
)

__all__ = ["UDP_FILE", "compile_description", "elaborate"]

UDP_FILE = Path(__file__).parent / "rdl" / "fleet_udp.rdl"

_BEAT_WORDS = 16


def compile_description(path: Path) -> Description:
    """Compiles and checks one file; see `fleet.isa.description.load`."""
    maps = elaborate(path)
    top = maps["registers"]
    _check_name(top, top.inst_name)
    registers = _registers(top)
    units = _units(registers)
    return Description(
        name=top.inst_name,
        path=path,
        title=_text(top, "name") or top.inst_name,
        desc=_text(top, "desc"),
        registers=registers,
        units=units,
        instructions=_instructions(maps["instructions"], units),
        _by_name={r.name: r for r in registers},
    )


def elaborate(path: Path) -> Mapping[str, AddrmapNode]:
    """The two address maps of a description: "registers" and "instructions"."""
    printer = _FirstError(path)
    # A description is data: its preprocessor could run Perl, which is refused twice (no safe opcodes, no tags).
    compiler = RDLCompiler(message_printer=printer, perl_safe_opcodes=[])
    # The register block generator asks for its own properties even where a description does not use them.
    from peakrdl_regblock.udps import ALL_UDPS

    for definition in ALL_UDPS:
        compiler.register_udp(definition)
    _refuse_perl(path)
    maps: dict[str, AddrmapNode] = {}
    try:
        compiler.compile_file(str(UDP_FILE))
        compiler.compile_file(str(path))
        names = [name for name, d in compiler.root.comp_defs.items() if type(d).__name__ == "Addrmap"]
        for name in names:
            root: RootNode = compiler.elaborate(name)
            kind = root.top.get_property("fleet_map")
            if kind is None:
                continue
            if kind not in ("registers", "instructions"):
                raise _error(root.top, f'fleet_map is \'{kind}\', expected "registers" or "instructions"')
            if kind in maps:
                raise _error(root.top, f'a second address map with fleet_map = "{kind}"')
            maps[kind] = root.top
    except RDLCompileError as error:
        raise printer.first(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"the description cannot be read ({error})", where=str(path)) from error
    for kind in ("registers", "instructions"):
        if kind not in maps:
            raise DescriptionError(f'no addrmap with fleet_map = "{kind}"', where=f"{path}:1")
    return maps


class _FirstError(MessagePrinter):
    """Keeps the compiler's errors instead of printing them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._errors: list[tuple[str, str]] = []

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if severity >= Severity.ERROR:
            self._errors.append((_place(src_ref) or f"{self._path}:1", text))

    def first(self, fallback: str) -> DescriptionError:
        """The first error: later ones are mostly its consequences."""
        where, text = self._errors[0] if self._errors else (f"{self._path}:1", fallback)
        return DescriptionError(" ".join(text.split()), where=where)


def _refuse_perl(path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DescriptionError("the description is not UTF-8 text", where=f"{path}:1") from error
    except OSError as error:
        raise DescriptionError(f"the description cannot be read ({error.strerror})", where=str(path)) from error
    for number, line in enumerate(text.splitlines(), 1):
        if "<%" in line:
            raise DescriptionError("embedded Perl (<% ... %>) is refused; a description is data", where=f"{path}:{number}")


def _place(src_ref: SourceRefBase | None) -> str | None:
    if isinstance(src_ref, DetailedFileSourceRef):
        return f"{src_ref.path}:{src_ref.line}"
    return src_ref.path if isinstance(src_ref, FileSourceRef) else None


def _where(node: Node) -> str:
    """file:line of a component: of its instance name, or of its definition."""
    return _place(node.inst_src_ref) or _place(node.def_src_ref) or "<description>"


def _error(node: Node, what: str, hint: str | None = None) -> DescriptionError:
    return DescriptionError(f"{node.inst_name}: {what}", where=_where(node), hint=hint)


_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def _check_name(node: Node, name: str) -> None:
    """Names become ports, structure members and constants of hardware and C, so they are plain and no keywords."""
    from peakrdl_regblock.identifier_filter import SV_KEYWORDS

    if not _NAME.fullmatch(name):
        raise _error(node, f"name '{name}' is not lower case words joined by single underscores")
    if name in SV_KEYWORDS:
        raise _error(node, f"name '{name}' is a keyword of SystemVerilog")


def _text(node: Node, prop: str) -> str:
    """A string property as one line; '' where it is not set."""
    value: Any = node.get_property(prop)
    return " ".join(str(value).split()) if value else ""


def _registers(top: AddrmapNode) -> tuple[Register, ...]:
    found: list[Register] = []
    for node in top.children(unroll=True):
        if not isinstance(node, RegNode):
            raise _error(node, "only registers may stand in the register map", "write each register out")
        found.append(_register(node))
    found.sort(key=lambda r: r.address)
    for a, b in pairwise(found):
        if b.address < a.address + 4:
            raise DescriptionError(f"{b.name}: overlaps register {a.name} ({a.where})", where=b.where)
    return tuple(found)


def _register(node: RegNode) -> Register:
    name = node.inst_name
    _check_name(node, name)
    if node.is_array:
        raise _error(node, "arrays of registers are not supported", "write each register out")
    if node.get_property("regwidth") != 32:
        raise _error(node, f"regwidth is {node.get_property('regwidth')}, expected 32")
    if node.absolute_address % 4:
        raise _error(node, f"address {node.absolute_address:#x} is not a multiple of 4")
    if node.absolute_address >= 1 << 16:
        raise _error(node, f"address {node.absolute_address:#x} is beyond the 16 address bits of the register port")
    role: str | None = node.get_property("fleet_role")
    if role not in ROLES:
        raise _error(node, f"fleet_role is {role!r}, expected one of {', '.join(ROLES)}")
    unit: str | None = node.get_property("fleet_unit")
    if (unit is not None) != (role in UNIT_ROLES):
        raise _error(node, f"a register of role '{role}' {'needs a' if unit is None else 'has no'} fleet_unit")
    if unit is not None and not name.startswith(f"{unit}_"):
        raise _error(node, f"registers of unit '{unit}' are named '{unit}_...'")
    if unit is not None:
        _check_name(node, name.removeprefix(f"{unit}_"))
    fields = tuple(sorted((_field(f) for f in node.fields()), key=lambda f: f.low))
    for a, b in pairwise(fields):
        if b.low <= a.high:
            raise DescriptionError(f"{name}.{b.name}: overlaps field {a.name} ({a.where})", where=b.where)
    if role in ("irq_enable", "irq_status") and {"done", "error"} - {f.name for f in fields if f.width == 1}:
        raise _error(node, f"a register of role '{role}' has one-bit fields `done` and `error`")
    _check_access(node, role)
    order: int | None = node.get_property("fleet_order")
    return Register(
        name=name,
        address=node.absolute_address,
        role=role,
        unit=unit,
        order=node.absolute_address // 4 if order is None else order,
        fields=fields,
        title=_text(node, "name") or name,
        desc=_text(node, "desc"),
        where=_where(node),
    )


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


def _check_access(node: RegNode, role: str) -> None:
    software, hardware = _ACCESS.get(role, ("r", "w"))
    for f in node.fields():
        if (f.get_property("sw").name, f.get_property("hw").name) != (software, hardware):
            raise _error(f, f"a field of a register of role '{role}' has sw = {software}; hw = {hardware};")
        for prop in _EXTRA.get(role, ()):
            if not f.get_property(prop):
                raise _error(f, f"a field of a register of role '{role}' has {prop};")
        if role == "irq_status" and getattr(f.get_property("onwrite"), "name", None) != "woclr":
            raise _error(f, "a field of the interrupt status has onwrite = woclr;")


def _field(node: FieldNode) -> Field:
    _check_name(node, node.inst_name)
    kind: str | None = node.get_property("fleet_kind")
    if kind not in KINDS:
        raise _error(node, f"fleet_kind is {kind!r}, expected one of {', '.join(KINDS)}")
    space: str | None = node.get_property("fleet_space")
    if (kind == "address") != bool(space):
        raise _error(
            node, "an address field needs fleet_space" if kind == "address" else "fleet_space belongs to address fields only"
        )
    allowed: list[int] | None = node.get_property("fleet_allowed")
    for value in allowed or ():
        if value >= 1 << node.width:
            raise _error(node, f"allowed value {value} does not fit in {node.width} bits")
    align: int = node.get_property("fleet_align") or 1
    reset: Any = node.get_property("reset")
    encode: Any = node.get_property("encode")
    members = [] if encode is None else list(encode.members.values())
    return Field(
        name=node.inst_name,
        low=node.low,
        high=node.high,
        kind=kind,
        space=space or None,
        align=align,
        allowed=tuple(sorted(allowed)) if allowed else None,
        reset=reset if isinstance(reset, int) else 0,
        encode=tuple(EnumValue(m.name, m.value, " ".join((m.rdl_desc or "").split())) for m in members),
        software=node.get_property("sw").name,
        hardware=node.get_property("hw").name,
        title=_text(node, "name") or node.inst_name,
        desc=_text(node, "desc"),
        where=_where(node),
    )


def _units(registers: tuple[Register, ...]) -> Mapping[str, Unit]:
    units: dict[str, Unit] = {}
    for name in sorted({r.unit for r in registers if r.unit is not None}):
        mine = [r for r in registers if r.unit == name]
        roles = {role: [r for r in mine if r.role == role] for role in UNIT_ROLES}
        for role in ("start", "status", "result"):
            if len(roles[role]) > 1:
                second = roles[role][1]
                raise DescriptionError(f"{second.name}: unit '{name}' already has a {role} register", where=second.where)
        if not roles["start"]:
            raise DescriptionError(f"unit '{name}' has no register with fleet_role = \"start\"", where=mine[0].where)
        operands = sorted(roles["operand"], key=lambda r: (r.order, r.number))
        for a, b in pairwise(operands):
            if a.order == b.order:
                raise DescriptionError(f"{b.name}: fleet_order {b.order} is also that of {a.name}", where=b.where)
        for register in (*operands, roles["start"][0]):
            if any(f.software != "rw" for f in register.fields):
                raise DescriptionError(
                    f"{register.name}: {register.role} registers are read and written by software", where=register.where
                )
        units[name] = Unit(
            name=name,
            operands=tuple(operands),
            start=roles["start"][0],
            status=next(iter(roles["status"]), None),
            result=next(iter(roles["result"]), None),
        )
    return units


def _instructions(top: AddrmapNode, units: Mapping[str, Unit]) -> Mapping[str, InstructionWord]:
    found: list[InstructionWord] = []
    for node in top.children(unroll=True):
        if not isinstance(node, RegNode):
            raise _error(node, "only registers (one an opcode) may stand in the instruction map")
        found.append(_instruction(node, units))
    found.sort(key=lambda i: i.opcode)
    for a, b in pairwise(found):
        if a.opcode == b.opcode:
            raise DescriptionError(f"{b.name}: opcode {b.opcode:#x} is also that of {a.name} ({a.where})", where=b.where)
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            # Two instructions are told apart by their start values when a register stream is read back.
            both = a.start_optional | b.start_optional
            if a.unit == b.unit and a.start & ~both == b.start & ~both:
                raise DescriptionError(f"{b.name}: its start values are also those of {a.name} ({a.where})", where=b.where)
    return {i.name: i for i in found}


def _instruction(node: RegNode, units: Mapping[str, Unit]) -> InstructionWord:
    opcode: int | None = node.get_property("fleet_opcode")
    start: int | None = node.get_property("fleet_start")
    unit_name: str | None = node.get_property("fleet_unit")
    if opcode is None or start is None or unit_name is None:
        raise _error(node, "an instruction needs fleet_unit, fleet_opcode and fleet_start")
    if unit_name not in units:
        raise _error(node, f"unit '{unit_name}' does not exist", f"units are {', '.join(units) or '(none)'}")
    if not 1 <= opcode <= 255:
        raise _error(node, f"opcode {opcode} is outside 1 to 255 (0 is no task)")
    _check_name(node, node.inst_name)
    for f in node.fields():
        if f.inst_name == "cfg_id" and f.get_property("reset") != opcode:
            raise _error(f, f"the word's cfg_id is {f.get_property('reset')}, fleet_opcode is {opcode}")
    unit = units[unit_name]
    optional: int = node.get_property("fleet_start_optional") or 0
    if start & optional:
        raise _error(node, "fleet_start and fleet_start_optional have bits in common")
    if (start | optional) & ~unit.start.mask:
        raise _error(node, f"fleet_start sets bits that {unit.start.name} does not have")
    beats: int = node.get_property("fleet_beats") or -(-len(unit.words) // _BEAT_WORDS)
    if len(unit.words) > beats * _BEAT_WORDS:
        raise _error(node, f"{len(unit.words)} words do not fit in fleet_beats = {beats} beats of 64 bytes")
    return InstructionWord(
        name=node.inst_name,
        opcode=opcode,
        unit=unit_name,
        start=start,
        start_optional=optional,
        beats=beats,
        title=_text(node, "name") or node.inst_name,
        desc=_text(node, "desc"),
        where=_where(node),
    )
