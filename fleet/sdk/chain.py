"""Chains of operations as data: what a device computes at once, and why something nearly is such a chain.

A chain has a start, which its author finds in Python (a product by a weight with its casts), and stages: one link, or several in
any order. A product with a bias, a ReLU or none:

    BIAS = Link("bias", d.AddOp, when=lambda site: site.weight is not None)
    RELU = Link("relu", d.MaximumOp, when=lambda site: site.number == 0)
    LAYER = ChainRule(product, BIAS, RELU)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from xdsl.ir import Block, Operation, SSAValue

from fleet.sdk.ir import Program, constant_value, weight_name
from fleet.sdk.ir import dialect as d

__all__ = ["ChainRule", "Covered", "Link", "Site", "Start"]

Data = TypeVar("Data")
_COMMUTATIVE = (d.AddOp, d.MulOp, d.MaximumOp, d.MinimumOp, d.BitwiseAndOp, d.BitwiseOrOp, d.BitwiseXorOp)


@dataclass(frozen=True)
class Site:
    """A link in a program: its operation, the operand through which the chain comes, and the other one of two."""

    op: d.FleetOp
    value: SSAValue
    other: SSAValue | None
    program: Program

    @property
    def weight(self) -> str | None:
        """Name of the weight that the other operand is."""
        return None if self.other is None else weight_name(self.other, self.program)

    @property
    def number(self) -> bool | int | float | None:
        """The number that the other operand holds in all its elements, where it is a constant."""
        owner = None if self.other is None else self.other.owner
        return constant_value(owner) if isinstance(owner, d.ConstantOp) else None

    @property
    def used_once(self) -> bool:
        """True if nothing else uses the chain's present value."""
        return len(list(self.value.uses)) == 1


@dataclass(frozen=True)
class Link:
    """Operations of these classes, where `when` says True; a text says why the device cannot take what it could otherwise.

    name: unique in a chain. The chain comes in at the first operand, or at either one of a commutative operation.
    most: how often it stands in its stage, None: any number; needed: once at least.
    """

    name: str
    ops: type[d.FleetOp] | tuple[type[d.FleetOp], ...]
    when: Callable[[Site], bool | str] = lambda _: True
    most: int | None = 1
    needed: bool = False


class Start(NamedTuple, Generic[Data]):
    """Start of a chain. data: for its author; ops: in any order; without: names of links that may not follow."""

    data: Data
    ops: tuple[d.FleetOp, ...]
    without: tuple[str, ...] = ()


class Covered(NamedTuple, Generic[Data]):
    """A chain that was found: the data of its start, its operations and (name of the link, site), both in program order."""

    start: Data
    ops: tuple[d.FleetOp, ...]
    sites: tuple[tuple[str, Site], ...]

    def site(self, name: str) -> Site | None:
        """The first site of a link, or None."""
        return next((site for link, site in self.sites if link == name), None)


class _Way(NamedTuple):
    """A state of the search: the operation that is next, its stage, links that are counted, what lies behind it."""

    op: Operation | Block
    stage: int
    used: tuple[str, ...] = ()
    sites: tuple[tuple[str, Site], ...] = ()
    reason: str | None = None


class ChainRule(Generic[Data]):
    """A start and stages. Operations rather belong to late stages than to early ones; operands are tried from the left."""

    def __init__(self, start: Callable[[d.FleetOp, Program], Start[Data] | str | None], *stages: Link | tuple[Link, ...]) -> None:
        """start: what an operation begins; a text for one that nearly does, None for any other."""
        self._start = start
        self._stages = [s if isinstance(s, tuple) else (s,) for s in stages]

    def find(self, op: Operation, program: Program) -> Covered[Data] | str | None:
        """The chain that ends with `op`; why there is none, where but one thing is missing; None for anything else."""
        reason: str | None = None
        waiting = [_Way(op, len(self._stages) - 1)]
        seen: set[tuple[Operation, int, tuple[str, ...]]] = set()
        while waiting:
            way = waiting.pop()
            if not isinstance(way.op, d.FleetOp) or way[:3] in seen:
                continue
            seen.add((way.op, way.stage, way.used))
            if way.stage >= 0:
                waiting += reversed([*self._before(way.op, way, program)])
                continue
            found = self._start(way.op, program)
            if isinstance(found, Start) and isinstance(found := _covered(found, way, program), Covered):
                return found
            reason = reason or found
        return reason

    def _before(self, op: d.FleetOp, way: _Way, program: Program) -> Iterator[_Way]:
        """The ways on, best first: the operation is a link of its stage, or of an earlier one."""
        stage = self._stages[way.stage]
        sides = [(op.operands[0], op.operands[1] if len(op.operands) == 2 else None)] if op.operands else []
        for value, other in [*sides, *([(op.operands[1], op.operands[0])] if isinstance(op, _COMMUTATIVE) else [])]:
            site = Site(op, value, other, program)
            for link in (s for s in stage if isinstance(op, s.ops) and (s.most is None or way.used.count(s.name) < s.most)):
                if verdict := link.when(site):
                    counted = link.most is not None or (link.needed and link.name not in way.used)
                    used = (*way.used, link.name) if counted else way.used
                    reason = way.reason or (verdict if isinstance(verdict, str) else None)
                    yield _Way(value.owner, way.stage, used, ((link.name, site), *way.sites), reason)
        if all(link.name in way.used for link in stage if link.needed):
            yield way._replace(stage=way.stage - 1)


def _covered(start: Start[Data], way: _Way, program: Program) -> Covered[Data] | str | None:
    """The chain; why a link of it cannot be taken; None where one may not follow, or needs what the chain computes."""
    inside = {*start.ops, *(ops := [site.op for _, site in way.sites])}
    if any(name in start.without or (site.other is not None and site.other.owner in inside) for name, site in way.sites):
        return None
    first = [op for op in program.operations() if op in start.ops] if len(start.ops) > 1 else start.ops
    return way.reason or Covered(start.data, (*first, *ops), way.sites)
