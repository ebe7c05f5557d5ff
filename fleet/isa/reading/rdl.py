"""SystemRDL -> `Description`: the compiler's tree is walked once, checked, and not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
from systemrdl.node import AddrmapNode, RegNode, RootNode
from systemrdl.parser import sa_systemrdl
from systemrdl.source_ref import SourceRefBase

from fleet.errors import FleetError
from fleet.isa.description import (
    FETCH_WORDS,
    MAPS,
    ROLES,
    SPACES,
    UNIT_ROLES,
    Description,
    DescriptionError,
    MemoryWord,
    Register,
    Unit,
)
from fleet.isa.reading.extends import compile_with_bases
from fleet.isa.reading.instructions import instructions_of
from fleet.isa.reading.nodes import check_access, check_name, error_at, fields_of, integer_of, place_of, text_of, where_of
from fleet.isa.reading.state import state_of
from fleet.sdk.hardware.state import REGISTERS

UDP_FILE = Path(__file__).parent / "fleet_udp.rdl"


def compile_description(path: Path) -> Description:
    """Compiles and checks one file and those that it extends; see `fleet.isa.reading.cache.load`."""
    try:
        return _described(path)
    except (FleetError, RecursionError):
        raise
    except Exception as error:  # the compiler hands out what a wrong text gave a property, a type for a number even
        what = f"the description cannot be read ({' '.join(f'{type(error).__name__}: {error}'.split())})"
        raise DescriptionError(what, where=f"{path}:1") from error


def _described(path: Path) -> Description:
    maps, bases = _elaborated(path)
    top = maps["registers"]
    check_name(top, top.inst_name)
    registers = _registers(top)
    units = _units(registers)
    instructions = instructions_of(maps["instructions"], registers, units)
    memories, state_registers = state_of(maps["state"]) if "state" in maps else ((), ())
    viewed = [r for i in instructions.values() for r in i.view or ()]
    _check_spaces((*registers, *viewed, *state_registers), [m.memory.name for m in memories])
    _check_unique((*registers, *viewed), (*state_registers, *memories))
    return Description(
        name=top.inst_name,
        path=path,
        title=text_of(top, "name") or top.inst_name,
        desc=text_of(top, "desc"),
        registers=registers,
        units=units,
        instructions=instructions,
        extends=bases[0][0] if bases else None,
        hardware=bases[-1][0] if bases else top.inst_name,
        files=(path, *(file for _, file in bases)),
        memories=memories,
        state_registers=state_registers,
        _by_name={r.name: r for r in (*registers, *viewed, *state_registers)},
    )


def _check_spaces(registers: Sequence[Register], memories: Sequence[str]) -> None:
    known = (*SPACES, *memories)
    for register in registers:
        for f in register.fields:
            if f.space is not None and f.space not in known:
                what = f"{register.name}.{f.name}: fleet_space is '{f.space}', expected one of {', '.join(known)}"
                raise DescriptionError(what, where=f.where)


def _check_unique(registers: Sequence[Register], state: Sequence[Register | MemoryWord]) -> None:
    """State registers stand among an instruction's fields, and memories are spaces: neither may have another's name."""
    taken = dict.fromkeys((*SPACES, "reg", REGISTERS), "") | {r.name: f" ({r.where})" for r in registers}
    for item in state:
        name = item.name if isinstance(item, Register) else item.memory.name
        if name in taken:
            raise DescriptionError(f"{name}: the name is taken{taken[name]}", where=item.where)


def elaborate(path: Path) -> Mapping[str, AddrmapNode]:
    """The address maps of a description by `fleet_map`, with those of the descriptions that it extends."""
    return _elaborated(path)[0]


def _elaborated(path: Path) -> tuple[Mapping[str, AddrmapNode], tuple[tuple[str, Path], ...]]:
    """The maps, and (set, file) of every description that it extends, nearest first."""
    printer = _FirstError(path)
    try:
        return _compiled(path, printer)
    except (FleetError, RecursionError):
        raise
    except Exception as error:  # the compiler's quick parser falls over some texts instead of saying what is wrong with them
        return _compiled_slowly(path, printer, error)


def _compiled_slowly(
    path: Path, printer: _FirstError, error: Exception
) -> tuple[Mapping[str, AddrmapNode], tuple[tuple[str, Path], ...]]:
    quick = sa_systemrdl.USE_CPP_IMPLEMENTATION
    sa_systemrdl.USE_CPP_IMPLEMENTATION = False
    try:
        return _compiled(path, printer)
    except (FleetError, RecursionError):
        raise
    except Exception as again:
        what = f"the SystemRDL compiler fails on it ({' '.join(f'{type(again).__name__}: {again}'.split())})"
        raise printer.first(what) from error
    finally:
        sa_systemrdl.USE_CPP_IMPLEMENTATION = quick


def _compiled(path: Path, printer: _FirstError) -> tuple[Mapping[str, AddrmapNode], tuple[tuple[str, Path], ...]]:
    # A description is data: its preprocessor could run Perl, which is refused twice (no safe opcodes, no tags).
    compiler = RDLCompiler(message_printer=printer, perl_safe_opcodes=[])
    # The register block generator asks for its own properties even where a description does not use them.
    from peakrdl_regblock.udps import ALL_UDPS

    for definition in ALL_UDPS:
        compiler.register_udp(definition, soft=False)  # usable without a declaration
    maps: dict[str, AddrmapNode] = {}
    try:
        compiler.compile_file(str(UDP_FILE))
        names, bases = compile_with_bases(compiler, path, _refuse_perl)
        for name in names:
            root: RootNode = compiler.elaborate(name)
            kind = root.top.get_property("fleet_map")
            if kind is None:
                continue
            if kind not in MAPS:
                raise error_at(root.top, f"fleet_map is '{kind}', expected one of {', '.join(MAPS)}")
            if kind in maps:
                raise error_at(root.top, f'a second address map with fleet_map = "{kind}"')
            maps[kind] = root.top
    except RDLCompileError as error:
        raise printer.first(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"the description cannot be read ({error})", where=str(path)) from error
    for kind in MAPS[:2]:
        if kind not in maps:
            raise DescriptionError(f'no addrmap with fleet_map = "{kind}"', where=f"{path}:1")
    return maps, bases


_NO_NAME = re.compile(r"mismatched input '(\w+)' expecting ID")
"""What the compiler says of a keyword where a name is expected."""


class _FirstError(MessagePrinter):
    """Keeps the compiler's errors instead of printing them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._errors: list[tuple[str, str]] = []

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if severity >= Severity.ERROR:
            self._errors.append((place_of(src_ref) or f"{self._path}:1", text))

    def first(self, fallback: str) -> DescriptionError:
        """The first error: later ones are mostly its consequences."""
        where, text = self._errors[0] if self._errors else (f"{self._path}:1", fallback)
        hint = ""
        if (found := _NO_NAME.match(text)) and found[1].isidentifier():
            hint = f"`{found[1]}` is a keyword of SystemRDL: choose another name"
        return DescriptionError(" ".join(text.split()), where=where, hint=hint)


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


def _registers(top: AddrmapNode) -> tuple[Register, ...]:
    found: list[Register] = []
    for node in top.children(unroll=True):
        if not isinstance(node, RegNode):
            raise error_at(node, "only registers may stand in the register map", "write each register out")
        found.append(_register(node))
    found.sort(key=lambda r: r.address)
    for a, b in pairwise(found):
        if b.address < a.address + 4:
            raise DescriptionError(f"{b.name}: overlaps register {a.name} ({a.where})", where=b.where)
    return tuple(found)


def _register(node: RegNode) -> Register:
    name = node.inst_name
    fields = fields_of(node)
    if node.absolute_address % 4:
        raise error_at(node, f"address {node.absolute_address:#x} is not a multiple of 4")
    if node.absolute_address >= 1 << 16:
        raise error_at(node, f"address {node.absolute_address:#x} is beyond the 16 address bits of the register port")
    role: str | None = node.get_property("fleet_role")
    if role not in ROLES:
        raise error_at(node, f"fleet_role is {role!r}, expected one of {', '.join(ROLES)}")
    unit: str | None = node.get_property("fleet_unit")
    if (unit is not None) != (role in UNIT_ROLES):
        raise error_at(node, f"a register of role '{role}' {'needs a' if unit is None else 'has no'} fleet_unit")
    if unit is not None and not name.startswith(f"{unit}_"):
        raise error_at(node, f"registers of unit '{unit}' are named '{unit}_...'")
    if unit is not None:
        check_name(node, name.removeprefix(f"{unit}_"))
    fetch_word: str | None = node.get_property("fleet_fetch_word")
    if fetch_word is not None and (fetch_word not in FETCH_WORDS or role != "operand"):
        raise error_at(node, f"fleet_fetch_word is '{fetch_word}', expected one of {', '.join(FETCH_WORDS)} on an operand")
    if role in ("irq_enable", "irq_status") and {"done", "error"} - {f.name for f in fields if f.width == 1}:
        raise error_at(node, f"a register of role '{role}' has one-bit fields `done` and `error`")
    check_access(node, role)
    order = integer_of(node, "fleet_order")
    return Register(
        name=name,
        address=node.absolute_address,
        role=role,
        unit=unit,
        order=node.absolute_address // 4 if order is None else order,
        fields=fields,
        title=text_of(node, "name") or name,
        desc=text_of(node, "desc"),
        where=where_of(node),
        fetch_word=fetch_word,
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
