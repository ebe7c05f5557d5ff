"""Arguments of a block, many at a time; a body that uses values from outside gets arguments for them.

xDSL's own `insert_arg` and `erase_arg` visit all later arguments, one Python step each: with a weight for each of
20,000 operations this would dominate the time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from fleet.ir.dialect import ConstantOp


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


def is_own(value: SSAValue, block: Block) -> bool:
    """Return whether a value is an argument of this block or the result of one of its operations."""
    owner = value.owner
    return (owner.parent if isinstance(owner, Operation) else owner) is block


def isolate(blocks: Sequence[Block]) -> list[SSAValue]:
    """Append an argument to the bodies of an operation for every value from outside that they use. Returns these values.

    Constants are made again inside.
    """
    captured: dict[SSAValue, None] = {}
    for block in blocks:
        made: dict[SSAValue, SSAValue] = {}
        for op in list(block.ops):
            for i, value in enumerate(op.operands):
                if is_own(value, block):
                    continue
                if isinstance(value.owner, ConstantOp):
                    if value not in made:
                        copy = value.owner.clone()
                        assert block.first_op is not None
                        block.insert_op_before(copy, block.first_op)
                        made[value] = copy.results[0]
                    op.operands[i] = made[value]
                else:
                    captured[value] = None
    for block in blocks:
        arguments = {value: append_argument(block, value.type) for value in captured}
        for op in block.ops:
            for i, value in enumerate(op.operands):
                if value in arguments:
                    op.operands[i] = arguments[value]
    return list(captured)
