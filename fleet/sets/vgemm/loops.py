"""GEMM and ALU: micro-operations in two loops; and FINISH."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Instruction, Memory, Range, Write
from fleet.sets.vgemm.legality import refusal
from fleet.sets.vgemm.operands import AluOp, AluOperands, FinishOperands, GemmOperands, MemoryType
from fleet.sets.vgemm.pads import pad, read_elements
from fleet.sets.vgemm.shapes import Loops, factors, iterations
from fleet.sets.vgemm.timing import FINISH_CYCLES, loop_cycles

_CHUNK = 1 << 14
"""Micro-operations processed at a time: bounds the memory for gathered operands."""


def _indices(device: Device, loops: Loops, memory: Memory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (acc, second, wgt) of every micro-operation in execution order, int64 [iterations]; fields of 11, 11 and 10 bits."""
    uops = read_elements(device, memory, MemoryType.UOP)[loops.uop_begin : loops.uop_end, 0].astype(np.int64)
    outer, inner = np.arange(loops.iter_out)[:, None, None], np.arange(loops.iter_in)[None, :, None]

    def index(low: int, width: int, factor: tuple[int, int]) -> np.ndarray:
        first = uops >> low & (1 << width) - 1
        return ((first + outer * factor[0] + inner * factor[1]) & (1 << width) - 1).reshape(-1)

    acc, second, wgt = factors(loops)
    return index(0, 11, acc), index(11, 11, second), index(22, 10, wgt)


def _written(device: Device, acc: np.ndarray, touched: np.ndarray) -> list[Write]:
    """Return the writes of the accumulators in `touched` (ascending), one block per run of consecutive ones."""
    p = pad(device, MemoryType.ACC)
    cuts = np.flatnonzero(np.diff(touched) != 1) + 1
    found: list[Write] = []
    for run in np.split(touched, cuts):
        data = np.ascontiguousarray(acc[run], "<i4").view(np.uint8).reshape(-1)
        found.append(Write(p.name, int(run[0]) * p.row_bytes, data, dtype="<i4"))
    return found


def _acc_range(device: Device) -> Range:
    p = pad(device, MemoryType.ACC)
    return Range(p.name, 0, p.size)


def _uop_range(device: Device, loops: Loops) -> Range:
    p = pad(device, MemoryType.UOP)
    return Range(p.name, p.row_bytes * loops.uop_begin, p.row_bytes * max(loops.uop_end - loops.uop_begin, 0))


class _Inside(Instruction):
    """Base class of instructions that do not access DDR."""

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Return the cycles, the same with ideal and timed memory."""
        return cls.cost(device, fields) if memory in {"ideal", "timed"} else None


class Gemm(_Inside):
    """acc[a][o] += sum over i of inp[s][i] * wgt[w][o][i], modulo 2^32; with `reset` acc[a] = 0."""

    name = "gemm"
    operands = GemmOperands
    executes_in = "compute"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """The last value of every accumulator that is written."""
        loops, p = GemmOperands.decode(fields), device.parameters
        a, s, w = _indices(device, loops, memory)
        a, s, w = a % p["AccDepth"], s % p["InpDepth"], w % p["WgtDepth"]
        acc = read_elements(device, memory, MemoryType.ACC).copy()
        if loops.reset:
            acc[a] = 0
            return _written(device, acc, np.unique(a))
        inp = read_elements(device, memory, MemoryType.INP).astype(np.int32)
        wgt = read_elements(device, memory, MemoryType.WGT).reshape(p["WgtDepth"], p["Block"], p["Block"]).astype(np.int32)
        with np.errstate(over="ignore"):
            for at in range(0, a.size, _CHUNK):
                part = slice(at, at + _CHUNK)
                np.add.at(acc, a[part], np.einsum("ti,toi->to", inp[s[part]], wgt[w[part]]))
        return _written(device, acc, np.unique(a))

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Return the first reason for a refusal (`fleet.sets.vgemm.legality`), if any."""
        found = refusal("gemm", device, fields)
        return [found[1]] if found else []

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause of a refusal with its reason, or None."""
        return refusal("gemm", device, fields)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges: micro-operations, and all other scratchpads, because micro-operations decide what is read."""
        loops = GemmOperands.decode(fields)
        found = [_uop_range(device, loops)]
        for kind in () if loops.reset else (MemoryType.INP, MemoryType.WGT, MemoryType.ACC):
            p = pad(device, kind)
            found.append(Range(p.name, 0, p.size))
        return found

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the range of the accumulators; micro-operations decide which are written."""
        return [_acc_range(device)]

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """A micro-operation a cycle."""
        return loop_cycles(GemmOperands.decode(fields))

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """Return the multiply-accumulates: a block by a block per micro-operation. Only the compiler knows the padding in them."""
        loops = GemmOperands.decode(fields)
        count = 0 if loops.reset else iterations(loops) * device.parameters["Block"] ** 2
        return count, count


def alu(op: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Apply one operation to int32 arrays; shifts by 32 and more leave the sign, to the left 0."""
    with np.errstate(over="ignore"):
        if op == AluOp.MIN:
            return np.minimum(a, b)
        if op == AluOp.MAX:
            return np.maximum(a, b)
        if op == AluOp.ADD:
            return a + b
        if op == AluOp.MUL:
            return a * b
        right = a >> np.clip(b, 0, 31)
        by = -b.astype(np.int64)
        left = np.where(by > 31, 0, a.astype(np.int64) << np.clip(by, 0, 31)).astype(np.uint64).astype(np.uint32).view(np.int32)
        return np.where(b < 0, left, right)


class Alu(_Inside):
    """acc[a] = op(acc[a], acc[s] or the immediate), one micro-operation after the other."""

    name = "alu"
    operands = AluOperands
    executes_in = "compute"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """The last value of every accumulator that is written."""
        loops, depth = AluOperands.decode(fields), device.parameters["AccDepth"]
        a, s, _ = _indices(device, loops, memory)
        a, s = a % depth, s % depth
        acc = read_elements(device, memory, MemoryType.ACC).copy()
        touched = np.unique(a)
        immediate = np.full(acc.shape[1], loops.imm, np.int32)
        apart = touched.size == a.size and (loops.use_imm or np.array_equal(a, s) or np.intersect1d(touched, s).size == 0)
        if apart:
            acc[a] = alu(loops.op, acc[a], np.broadcast_to(immediate, (a.size, acc.shape[1])) if loops.use_imm else acc[s])
        else:  # a later one reads what an earlier one wrote
            for i, j in zip(a, s, strict=True):
                acc[i] = alu(loops.op, acc[i], immediate if loops.use_imm else acc[j])
        return _written(device, acc, touched)

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Return the first reason for a refusal (`fleet.sets.vgemm.legality`), if any."""
        found = refusal("alu", device, fields)
        return [found[1]] if found else []

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause of a refusal with its reason, or None."""
        return refusal("alu", device, fields)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges of micro-operations and accumulators."""
        return [_uop_range(device, AluOperands.decode(fields)), _acc_range(device)]

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the range of the accumulators; micro-operations decide which are written."""
        return [_acc_range(device)]

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """A micro-operation a cycle."""
        return loop_cycles(AluOperands.decode(fields))


class Finish(_Inside):
    """Nothing but order: what comes before it has committed, what comes after it has not begun."""

    name = "finish"
    operands = FinishOperands
    executes_in = "compute"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Write nothing."""
        return []

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """All other bits are 0."""
        found = refusal("finish", device, fields)
        return [found[1]] if found else []

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the cause of a refusal with its reason, or None."""
        return refusal("finish", device, fields)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return no ranges."""
        return []

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return no ranges."""
        return []

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """From the start to the commit."""
        return FINISH_CYCLES
