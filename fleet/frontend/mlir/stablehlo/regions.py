"""What lies in regions of StableHLO, and functions that are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from xdsl.ir import Block, Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.stablehlo.text import StableOperation

SAMPLES = (-2.0, -1.0, 0.0, 1.0, 3.0)
"""Numbers on which regions are tried, to tell what they do."""


class RollLoop(Protocol):
    """Makes a loop of the run of an operation, a start, a test and a body. Raises ModelError for a body that changes shapes."""

    def __call__(
        self,
        op: Operation,
        state: Sequence[MlirArray],
        test: Callable[[Sequence[MlirArray]], MlirArray],
        body: Callable[[Sequence[MlirArray]], Sequence[MlirArray]],
    ) -> list[MlirArray]:
        """Return what the last round carried."""
        ...


class StableRegions:
    """Reads what lies in regions, and functions that are called, into a build."""

    def __init__(
        self, build: MlirBuild, block: Callable[[Block, Sequence[MlirArray]], list[MlirArray]],
        call: Callable[[str, Sequence[MlirArray]], list[MlirArray]], roll: RollLoop,
    ) -> None:  # fmt: skip
        """Args:
        build: collects the program.
        block: reads a block with these arguments.
        call: reads a function of the file.
        roll: makes a loop of the run.
        """
        self.b, self.block, self.call, self.roll = build, block, call, roll


def only(op: StableOperation) -> Block:
    """Return the block of an operation's first region."""
    return op.regions[0].block
