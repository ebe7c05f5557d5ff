"""Common operands of the two kinds of instructions: transfers, and micro-operations in two loops."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.sets.vgemm.operands import AluOperands, FinishOperands, GemmOperands, LoadOperands, StoreOperands

Transfer = LoadOperands | StoreOperands
Loops = GemmOperands | AluOperands

FLAGS = ("pop_prev", "pop_next", "push_prev", "push_next")
"""Operands of all instructions except FINISH: tokens that an instruction takes before it begins, and gives at its end."""

OPERANDS: Mapping[str, type[Transfer | Loops | FinishOperands]] = {
    c.INSTRUCTION: c for c in (LoadOperands, StoreOperands, GemmOperands, AluOperands, FinishOperands)
}


def pads(t: Transfer) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the zeros (above, below) in rows and (left, right) in elements; a store has none."""
    if isinstance(t, StoreOperands):
        return (0, 0), (0, 0)
    return (t.y_pad_before, t.y_pad_after), (t.x_pad_before, t.x_pad_after)


def rows(t: Transfer) -> int:
    """Return the rows in the scratchpad."""
    return t.y_size + sum(pads(t)[0])


def columns(t: Transfer) -> int:
    """Return the columns in the scratchpad."""
    return t.x_size + sum(pads(t)[1])


def factors(loops: Loops) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Return the factors (outer loop, inner loop) of the written accumulator, of the second operand, and of the weights."""
    if isinstance(loops, AluOperands):
        return (loops.dst_out, loops.dst_in), (loops.src_out, loops.src_in), (0, 0)
    return (loops.acc_out, loops.acc_in), (loops.inp_out, loops.inp_in), (loops.wgt_out, loops.wgt_in)


def iterations(loops: Loops) -> int:
    """Return the number of executed micro-operations."""
    return max(loops.uop_end - loops.uop_begin, 0) * loops.iter_out * loops.iter_in
