"""A SystemRDL description of an instruction set as plain data: units, registers, fields, instructions.

`load` is the only way in; `fleet/isa/reading/fleet_udp.rdl` defines the user-defined properties that it reads.
Everything generated (codec, register block, SystemVerilog package, manual) starts from a `Description`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fleet.errors import FleetError
from fleet.sdk.hardware.state import OnChipMemory, State, StateRegister

MAPS: tuple[str, ...] = ("registers", "instructions", "state")
"""Kinds of address maps (`fleet_map`); a set without architectural state has no map of it."""

ROLES: tuple[str, ...] = (
    "operand",
    "start",
    "status",
    "result",
    "irq_enable",
    "irq_status",
    "error_cause",
    "error_instruction",
    "description_hash",
    "cycles",
    "cycles_class",
    "counter",
    "parameter",
)
"""Roles of a register of the register map; docs/instruction-sets.md explains them."""

KINDS: tuple[str, ...] = ("address", "size", "stride", "mode", "count", "constant", "value")
"""Kinds of a field's value."""

SPACES: tuple[str, ...] = ("ddr", "hbm")
"""Spaces of an address field, beside the set's on-chip memories."""

MAX_BEATS = 2
"""Beats of 64 bytes that a task takes in a binary, at most."""

UNIT_ROLES: tuple[str, ...] = ("operand", "start", "status", "result")
"""Roles of registers that belong to a unit; all others serve the whole device."""


FETCH_WORDS: tuple[str, ...] = ("address", "beats", "tasks")
"""Words of the registers that make the hardware fetch a binary (`fleet_fetch_word`)."""


class DescriptionError(FleetError):
    """A description is wrong; `where` is always `file:line`."""


@dataclass(frozen=True)
class EnumValue:
    """One named value of a field."""

    name: str
    value: int
    desc: str


@dataclass(frozen=True)
class Field:
    """Bits low..high of a register.

    Attributes:
        kind: one of `KINDS`; space: memory space of an address, else None.
        align: the value is a multiple of it; allowed: the values that may be written, None for all that fit.
        encode: named values; enumeration: what the description calls them together, "" without; title and desc: for people.
        signed: two's complement. scale: factor from the register's value to the operand's.
        operand: name of the operand, "" if it is the field's own; several fields may form one operand.
        operand_low: the operand's bit at the field's lowest.
        derived: the expression of other operands that gives its value; "" without.
        software: "rw", "r" or "w"; hardware the same or "na"; where: file:line.
    """

    name: str
    low: int
    high: int
    kind: str
    space: str | None
    align: int
    allowed: tuple[int, ...] | None
    reset: int
    encode: tuple[EnumValue, ...]
    software: str
    hardware: str
    title: str
    desc: str
    where: str
    enumeration: str = ""
    signed: bool = False
    scale: int = 1
    operand: str = ""
    operand_low: int = 0
    derived: str = ""

    @property
    def width(self) -> int:
        """Width in bits."""
        return self.high - self.low + 1

    @cached_property
    def mask(self) -> int:
        """The field's bits, in place."""
        return ((1 << self.width) - 1) << self.low

    def get(self, word: int) -> int:
        """The field's value in a register value."""
        return (word & self.mask) >> self.low


@dataclass(frozen=True)
class Register:
    """One 32-bit register, or what an instruction's view says of it. `number` is its index: the byte address is 4 * number.

    view: the instruction that calls it by this name (its view), None for the register itself.
    fetch_word: one of `FETCH_WORDS` for an operand by which the hardware fetches a binary, else None.
    """

    name: str
    address: int
    role: str
    unit: str | None
    order: int
    fields: tuple[Field, ...]
    title: str
    desc: str
    where: str
    view: str | None = None
    fetch_word: str | None = None

    @property
    def number(self) -> int:
        """Index of the register."""
        return self.address // 4

    @cached_property
    def mask(self) -> int:
        """All bits that fields cover."""
        return sum(f.mask for f in self.fields)

    @cached_property
    def checked(self) -> set[int]:
        """Values that were found to be allowed; a program has few."""
        return set()

    @property
    def reset(self) -> int:
        """The value after reset."""
        return sum(f.reset << f.low for f in self.fields)

    @property
    def local_name(self) -> str:
        """The name without the prefix of its view or unit ("mvm_chin" -> "chin")."""
        prefix = self.view or self.unit
        return self.name.removeprefix(f"{prefix}_") if prefix else self.name


@dataclass(frozen=True)
class Unit:
    """Registers that are written, started and waited for together.

    operands: in write order, without the start register; words: the same with the start register at the end.
    """

    name: str
    operands: tuple[Register, ...]
    start: Register
    status: Register | None
    result: Register | None

    @property
    def words(self) -> tuple[Register, ...]:
        """Registers that an instruction writes, in order: the operands, then start."""
        return (*self.operands, self.start)


@dataclass(frozen=True)
class MemoryWord:
    """An on-chip memory of the state map: what it is, for tools and for people. where: file:line."""

    memory: OnChipMemory
    title: str
    desc: str
    where: str


@dataclass(frozen=True)
class InstructionWord:
    """One opcode.

    Attributes:
        opcode: cfg_id of the binary form, 1 to 255 (0 is not a task).
        start: value of the unit's start register; start_optional: bits that may be set beside it.
        beats: 64-byte beats that the register data takes in the binary form; 0: the instruction has no binary form.
        view: the unit's operands under the instruction's own names, in write order; None: it uses the unit's names.
        fetch: it is not a task of a stream but makes the hardware fetch and run a binary.
    """

    name: str
    opcode: int
    unit: str
    start: int
    start_optional: int
    beats: int
    title: str
    desc: str
    where: str
    view: tuple[Register, ...] | None = None
    fetch: bool = False

    def accepts(self, value: int) -> bool:
        """Return whether the value of the start register means this instruction."""
        return value & ~self.start_optional == self.start


@dataclass(frozen=True)
class Fetch:
    """The order to fetch and run a binary (Aux mode): the word, its unit, and the registers with its place and size.

    address: of the first block (an offset in the register's space); beats: 64-byte beats of all blocks; tasks: of all blocks.
    """

    word: InstructionWord
    unit: Unit
    address: Register
    beats: Register
    tasks: Register


@dataclass(frozen=True)
class Description:
    """A checked description. `registers` are ascending by address, `instructions` by opcode.

    extends: name of the set whose description this one adds to, else None; hardware: the name that generated modules and
    packages carry: its own, or that of the set at the bottom, so that hardware of that set finds them; files: all that was read,
    its own first. memories, state_registers: the architectural state, in the order of the state map.
    """

    name: str
    path: Path
    title: str
    desc: str
    registers: tuple[Register, ...]
    units: Mapping[str, Unit]
    instructions: Mapping[str, InstructionWord]
    extends: str | None = None
    hardware: str = ""
    files: tuple[Path, ...] = ()
    memories: tuple[MemoryWord, ...] = ()
    state_registers: tuple[Register, ...] = ()
    _by_name: Mapping[str, Register] = field(default_factory=dict, repr=False, compare=False)

    def register(self, name: str) -> Register:
        """The register of that name (also a view's). Raises KeyError."""
        return self._by_name[name]

    def operands(self, instruction: str) -> tuple[Register, ...]:
        """The operands of an instruction in write order, under the names that its calls use. Raises KeyError."""
        word = self.instructions[instruction]
        return self.units[word.unit].operands if word.view is None else word.view

    def words(self, instruction: str) -> tuple[Register, ...]:
        """Return the registers that an instruction writes, in order: its operands, then the unit's start. Raises KeyError."""
        return (*self.operands(instruction), self.units[self.instructions[instruction].unit].start)

    @cached_property
    def state(self) -> State:
        """The architectural state, as devices are loaded with."""
        return State(tuple(m.memory for m in self.memories), tuple(StateRegister(r.name, r.reset) for r in self.state_registers))

    @cached_property
    def fetch(self) -> Fetch | None:
        """The order to run a binary; None if the hardware cannot fetch one."""
        for word in self.instructions.values():
            if word.fetch:
                unit = self.units[word.unit]
                by_word = {r.fetch_word: r for r in unit.operands}
                return Fetch(word, unit, *(by_word[w] for w in FETCH_WORDS))
        return None

    def with_role(self, role: str) -> tuple[Register, ...]:
        """All registers of a role, ascending."""
        return tuple(r for r in self.registers if r.role == role)

    def canonical(self) -> str:
        """Text that changes exactly when the meaning does: no titles, no prose, no file names, no order in the file."""
        return "\n".join(self._canonical_lines()) + "\n"

    def _canonical_lines(self) -> Iterator[str]:
        yield f"set {self.name}"
        for m in self.state.memories:
            yield f"memory {m.name} {m.dtype} columns={m.columns} banks={m.banks} undefined={m.undefined}"
        for r in self.state_registers:
            yield f"state {r.number} {r.name}"
            yield from _canonical_fields(r)
        for r in self.registers:
            fetch = f" fetch={r.fetch_word}" if r.fetch_word else ""
            yield f"register {r.number} {r.name} unit={r.unit} role={r.role} order={r.order}{fetch}"
            yield from _canonical_fields(r)
        for i in self.instructions.values():
            start = f"start={i.start:#x} optional={i.start_optional:#x}"
            fetch = " fetch" if i.fetch else ""
            yield f"instruction {i.opcode:#x} {i.name} unit={i.unit} {start} beats={i.beats}{fetch}"
            for r in i.view or ():
                yield f" view {r.number} {r.name}"
                yield from _canonical_fields(r)

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of `canonical()`."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def parameter_values(description: Description, given: Mapping[str, int] | None = None) -> dict[int, int]:
    """Byte address -> value of every register whose role is `parameter`: what is given, else its value after reset.

    given: register name -> value. Raises DescriptionError for a name that is no parameter, or a value that does not fit.
    """
    registers = {r.name: r for r in description.with_role("parameter")}
    for name, value in (given or {}).items():
        if name not in registers:
            raise DescriptionError(f"no parameter register '{name}'", where=str(description.path))
        if value & ~registers[name].mask:
            raise DescriptionError(f"{value:#x} does not fit in parameter register '{name}'", where=str(description.path))
    return {r.address: (given or {}).get(name, r.reset) for name, r in registers.items()}


def _canonical_fields(r: Register) -> Iterator[str]:
    for f in r.fields:
        named = ",".join(f"{e.name}={e.value}" for e in f.encode)
        if f.signed or f.scale > 1 or f.operand:
            named += f" signed={f.signed} scale={f.scale} operand={f.operand}[{f.operand_low}]"
        if f.derived:
            named += f" derived={f.derived}"
        yield (
            f"  field {f.name} [{f.high}:{f.low}] kind={f.kind} space={f.space} align={f.align} "
            f"allowed={f.allowed} reset={f.reset} sw={f.software} hw={f.hardware} encode={named}"
        )
