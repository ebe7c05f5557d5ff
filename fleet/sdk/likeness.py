"""An instruction that begins as another one: its semantics, cases and lowering under a new name, until the author changes it.

`fleet isa add SET NAME --like INSTRUCTION` writes such parts; each is replaced by what is really different.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk.conformance import CycleRules, Draw, Place, Source
from fleet.sdk.coverage import CoverageHints
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Call, Instruction, Memory, Range, Write
from fleet.sdk.manifest import InstructionSet

if TYPE_CHECKING:
    from fleet.ir.dialect import FleetOp
    from fleet.ir.program import Program
    from fleet.sdk.lowering import AnyMatch, EmitContext, Match, Missed, Options

__all__ = ["LikeInstruction", "LikePattern", "LikeSource", "like_coverage", "like_sources"]


class LikeInstruction(Instruction):
    """Override what differs; all that is not overridden is the other instruction's.

    Attributes:
        like: the instruction of the base that it is like.
        start: (name of the start register, own value, the other one's value); optional: bits that may be set beside it.
        names: own name of an operand -> the other one's, where they differ.
    """

    like: ClassVar[str]
    start: ClassVar[tuple[str, int, int]]
    optional: ClassVar[int] = 0
    names: ClassVar[Mapping[str, str]] = {}
    below: ClassVar[InstructionSet]
    """The set that it extends, from when the two are put together."""

    @classmethod
    def bind(cls, base: InstructionSet) -> None:
        """Tells it its base. Raises DeviceError where that has no instruction `like`."""
        if cls.like not in base.instructions:
            what = f"instruction '{cls.name}' is like '{cls.like}', which {base.name} does not have"
            raise DeviceError(what, hint=f"it has {', '.join(base.instructions)}")
        cls.below = base
        if "uses" not in vars(cls):  # its author may say another
            cls.uses = base.instructions[cls.like].uses

    @classmethod
    def other(cls) -> type[Instruction]:
        """The class of the instruction that this one is like."""
        return cls.below.instructions[cls.like]

    @classmethod
    def theirs(cls, fields: Mapping[str, int]) -> dict[str, int]:
        """Fields under the other instruction's names and with its start value; a wrong start value stays wrong."""
        register, own, other = cls.start
        found = {cls.names.get(name, name): value for name, value in fields.items()}
        beside = fields[register] & cls.optional
        found[register] = other | beside if fields[register] == own | beside else ~other & 0xFFFFFFFF
        return found

    @classmethod
    def ours(cls, call: Call) -> Call:
        """A call of the other instruction as one of this."""
        back = {other: own for own, other in cls.names.items()}
        fields = {back.get(name, name): value for name, value in call.fields.items()}
        register, own, _ = cls.start
        return replace(call, instruction=cls.name, fields={**fields, register: own | call.fields[register] & cls.optional})

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Return the writes of the other instruction."""
        return cls.other().execute(device, cls.theirs(fields), memory)

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Return the other instruction's reasons against the call; the start value is its own."""
        return cls.other().legal(device, cls.theirs(fields))

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause and reason for which the other instruction is refused, or None."""
        return cls.other().refusal(device, cls.theirs(fields))

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges that the other instruction reads."""
        return cls.other().reads(device, cls.theirs(fields))

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges that the other instruction writes."""
        return cls.other().writes(device, cls.theirs(fields))

    @classmethod
    def destination(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges that the other instruction writes, as it groups them."""
        return cls.other().destination(device, cls.theirs(fields))

    @classmethod
    def configures(cls, device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
        """Return the state registers that the other instruction changes, with their values."""
        return cls.other().configures(device, cls.theirs(fields))

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Return the cycles of the other instruction."""
        return cls.other().cost(device, cls.theirs(fields))

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """Return the (useful, issued) multiply-accumulates of the other instruction."""
        return cls.other().macs(device, cls.theirs(fields))


def like_sources(instructions: Mapping[str, type[Instruction]]) -> dict[str, LikeSource]:
    """Name -> what the conformance suite draws, of every `LikeInstruction` among these."""
    return {name: LikeSource(cls) for name, cls in instructions.items() if issubclass(cls, LikeInstruction)}


def like_coverage(hints: CoverageHints, instructions: Mapping[str, type[Instruction]]) -> CoverageHints:
    """The hints with what they say of the instructions that these are like, for every `LikeInstruction` among these."""
    new = [cls for cls in instructions.values() if issubclass(cls, LikeInstruction)]
    if not new:
        return hints
    words = {own: other for cls in new for own, other in {cls.name: cls.like, **cls.names}.items()}
    fills = None if hints.fills is None else (*hints.fills, *(c.name for c in new if c.like in hints.fills))
    return replace(
        hints,
        dtypes={**{c.name: hints.dtypes[c.like] for c in new if c.like in hints.dtypes}, **hints.dtypes},
        fills=fills,
        alike={**hints.alike, **{own: hints.alike.get(other, other) for own, other in words.items()}},
    )


class LikeSource(Source):
    """Draws the other instruction, as calls of this."""

    def __init__(self, cls: type[LikeInstruction]) -> None:
        self._cls = cls

    @property
    def there(self) -> bool:
        """True if the base draws the other instruction."""
        return self._cls.like in self._cls.below.conformance

    @property
    def _source(self) -> Source:
        return self._cls.below.conformance[self._cls.like]

    def directed(self, device: Device) -> int:
        """As many as the other one has."""
        return self._source.directed(device)

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """The other one's."""
        return self._ours(self._source.draw_directed(device, number, rng))

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """The other one's."""
        return self._ours(self._source.draw(device, rng, place, small=small))

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """The other one's."""
        theirs = replace(call, instruction=self._cls.like, fields=self._cls.theirs(call.fields))
        return self._source.cycles(device, theirs)

    def _ours(self, draw: Draw) -> Draw:
        # A source may draw relatives of its instruction; those stay what they are.
        return replace(draw, call=self._cls.ours(draw.call)) if draw.call.instruction == self._cls.like else draw


class LikePattern:
    """Lowers to this instruction whatever the base's patterns lower to the other one; they do the matching."""

    def __init__(self, instruction: type[LikeInstruction]) -> None:
        """Args:
        instruction: what takes the place of the one that it is like.
        """
        self.name, self._instruction = instruction.name, instruction

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[AnyMatch] | Missed | None:
        """The first match of the base's patterns."""
        from fleet.sdk.lowering import Match

        missed: Missed | None = None
        for pattern in self._instruction.below.patterns:
            found = pattern.match(op, program, device, options)
            if isinstance(found, Match):
                return replace(found, pattern=self, data=found)
            missed = missed or found
        return missed

    def emit(self, match: Match[AnyMatch], context: EmitContext) -> None:
        """Through the base's pattern, with its calls renamed."""
        inner = match.data
        inner.pattern.emit(inner, cast("EmitContext", _Renaming(context, self._instruction)))


class _Renaming:
    """The compiler's context with one instruction's calls under another name."""

    def __init__(self, context: EmitContext, cls: type[LikeInstruction]) -> None:
        self._context, self._cls = context, cls

    def __getattr__(self, name: str) -> Any:  # whatever the context has
        return getattr(self._context, name)

    def emit(self, call: Call) -> None:
        """Appends the call, as one of the new instruction where it is of the other."""
        self._context.emit(self._cls.ours(call) if call.instruction == self._cls.like else call)
