"""How a block of statements ends."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from fleet.frontend.reading.values import Value


@dataclass(frozen=True)
class Flow:
    """How a block ended: kind "" (at its end), "break", "continue", "raise", or "return" with the statement and its value.

    Attributes:
        flags: where the run decides how it ends, kind is "" and these say of each kind whether it is the one; statement and value
            are then those of a return among them.
        always: one of the flags holds, whatever the run decides.
    """

    kind: str = ""
    statement: ast.Return | None = None
    value: Value = None
    flags: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    always: bool = False

    @property
    def leaves(self) -> bool:
        """True if what follows the block is not reached from it."""
        return self.kind != "" or self.always

    @property
    def kinds(self) -> frozenset[str]:
        """The ways in which it may leave."""
        return frozenset([self.kind]) if self.kind else frozenset(self.flags)


class Raised(Exception):
    """Raised to skip what follows an exception of the source, in a part that only the run enters."""
