"""Arguments of a block, many at a time.

xDSL's own `insert_arg` and `erase_arg` visit all later arguments, one Python step each: with a weight for each of
20,000 operations this would dominate the time.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, BlockArgument


def append_argument(block: Block, type_: Attribute) -> BlockArgument:
    """Append an argument to a block and return it."""
    value = BlockArgument(type_, block, len(block.args), UNKNOWN_LOC)
    block._args = (*block.args, value)  # pyright: ignore[reportPrivateUsage]
    return value


def erase_arguments(block: Block, erased: Collection[BlockArgument]) -> None:
    """Remove unused arguments. Raises ValueError if one is used."""
    gone = set(erased)
    kept = tuple(value for value in block.args if value not in gone)
    for value in gone:
        value.erase()
    for i, value in enumerate(kept):
        value.index = i
    block._args = kept  # pyright: ignore[reportPrivateUsage]
