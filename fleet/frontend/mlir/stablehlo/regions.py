"""What lies in regions of StableHLO, and functions that are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.stablehlo.text import StableOperation

BY_ELEMENT = ("reduce", "reduce_window", "scatter", "sort", "map", "select_and_scatter")
"""Operations whose regions say what is done to one element."""
SAMPLES = (-2.0, -1.0, 0.0, 1.0, 3.0)
"""Numbers on which regions are tried, to tell what they do."""


LoopTest = Callable[[Sequence[MlirArray]], MlirArray]
"""Whether another round follows, of what the loop carries."""
LoopBody = Callable[[Sequence[MlirArray]], Sequence[MlirArray]]
"""What a round makes of what the loop carries."""
Branch = Callable[[], list[MlirArray]]


class StableRegions:
    """Reads what lies in regions, and functions that are called, into a build."""

    def __init__(
        self, build: MlirBuild, block: Callable[[Block, Sequence[MlirArray]], list[MlirArray]],
        call: Callable[[str, Sequence[MlirArray]], list[MlirArray]],
        roll: Callable[[Operation, Sequence[MlirArray], LoopTest, LoopBody], list[MlirArray]],
        choose: Callable[[Operation, MlirArray, Branch, Branch], list[MlirArray]], *, whole: bool = False,
    ) -> None:  # fmt: skip
        """Args:
        build: collects the program.
        block: reads a block with these arguments.
        call: reads a function of the file.
        roll: makes a loop of the run. Raises ModelError for a body that changes shapes.
        choose: chooses between two branches by a condition of the run.
        whole: the operation lies in a region, or in a function that one calls, that says what is done to one element, and is
            read on whole arrays: their shapes are not those of the text.
        """
        self.whole = whole
        self.b, self.block, self.call, self.roll, self.choose = build, block, call, roll, choose


def only(op: StableOperation) -> Block:
    """Return the block of an operation's first region."""
    return op.regions[0].block
