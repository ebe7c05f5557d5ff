"""What lies in regions of StableHLO, and functions that are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.stablehlo.text import StableOperation

SAMPLES = (-2.0, -1.0, 0.0, 1.0, 3.0)
"""Numbers on which regions are tried, to tell what they do."""


class StableRegions:
    """Reads what lies in regions, and functions that are called, into a build."""

    def __init__(
        self, build: MlirBuild, block: Callable[[Block, Sequence[MlirArray]], list[MlirArray]],
        call: Callable[[str, Sequence[MlirArray]], list[MlirArray]],
    ) -> None:  # fmt: skip
        """Args:
        build: collects the program.
        block: reads a block with these arguments.
        call: reads a function of the file.
        """
        self.b, self.block, self.call = build, block, call


def only(op: StableOperation) -> Block:
    """Return the block of an operation's first region."""
    return op.regions[0].block
