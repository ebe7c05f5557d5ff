"""The instruction classes. Here: mvm, mvm_bn, mvm_bn_res, one idea in three modes; the arithmetic is docs/arithmetic.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from fleet.sdk import Device, Instruction, Memory, Range, Write
from fleet.sets.hbm0923.cycles.mvm import mvm_cycles, mvm_macs
from fleet.sets.hbm0923.cycles.mvm_timed import timed_cycles
from fleet.sets.hbm0923.legality import violations
from fleet.sets.hbm0923.mvm_operands import (
    MODE_ARGMAX,
    MODE_BN,
    MODE_MVM,
    MODE_RES,
    PIXEL_BYTES,
    PIXEL_LANES,
    RESULT_REGISTER,
    MvmFields,
)
from fleet.sets.hbm0923.numerics.mvm import F32, epilogue
from fleet.sets.hbm0923.product import feature, product
from fleet.sets.hbm0923.ranges import bn_bytes, read_ranges, write_ranges
from fleet.sets.hbm0923.units.act import Act
from fleet.sets.hbm0923.units.attention import F2wMvm, TrpMvm
from fleet.sets.hbm0923.units.dat2hbm import Dat2Hbm
from fleet.sets.hbm0923.units.elementwise import Elementwise
from fleet.sets.hbm0923.units.norm import Norm
from fleet.sets.hbm0923.units.pos_emb import PosEmb
from fleet.sets.hbm0923.units.refusals import first_refusal
from fleet.sets.hbm0923.units.softmax import Softmax
from fleet.sets.hbm0923.units.wt2hbm import Wt2Hbm


def _bn(memory: Memory, o: MvmFields) -> tuple[F32, F32] | None:
    if o.bn is None:
        return None
    halves = np.asarray(memory.view("ddr", o.bn, bn_bytes(o.chout))).view("<f2").reshape(-1, 2)[: o.chout].astype(np.float32)
    return halves[:, 1:], halves[:, :1]


class MvmInstruction(Instruction):
    """Base class of the three instructions; `modes` are the start values that select the instruction."""

    modes: ClassVar[tuple[int, ...]]

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Compute the results as docs/arithmetic.md has them. The fields must be legal."""
        o = MvmFields.decode(device, fields)
        acc = product(device, o, memory)
        residual = None
        if o.residual is not None:
            pixels = feature(memory, o.spaces[2], o.residual, o.out_surfaces, o.out_surface, o.tokens)
            residual = pixels[:, : o.chout].T.astype(np.float32)
        y = np.ascontiguousarray(epilogue(acc, _bn(memory, o), residual, mul=o.mul, relu=o.relu).T)
        writes = _feature_writes(y, o)
        if o.argmax is not None:
            indices = np.argmax(y.view(np.float16), axis=1).astype("<u4")
            writes.append(Write("ddr", o.argmax, indices.view(np.uint8), dtype="<u4"))
            writes.append(Write("reg", RESULT_REGISTER, indices[-1:].view(np.uint8)))
        return writes

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Constraints of docs/arithmetic.md and of the device's buffers and memories."""
        return [r.line for r in violations(device, fields, cls.modes)]

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the reported cause and its reasons, or None."""
        return first_refusal(violations(device, fields, cls.modes))

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges of features, weights of every port, BN words and residual."""
        return read_ranges(device, MvmFields.decode(device, fields))

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges of output pixels and argmax indices."""
        return write_ranges(MvmFields.decode(device, fields))

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Return the cycles with ideal memory (`fleet.sets.hbm0923.cycles.mvm`)."""
        return mvm_cycles(device, MvmFields.decode(device, fields))

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Return the cycles; with timed memory those of `fleet.sets.hbm0923.cycles.mvm_timed`."""
        if memory == "timed":
            return timed_cycles(device, MvmFields.decode(device, fields))
        return super().expected_cycles(device, fields, memory)

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """Return (useful, issued) multiply-accumulates; issued counts whole words of Tin and whole blocks of Tout."""
        return mvm_macs(device, MvmFields.decode(device, fields))


def _feature_writes(y: np.ndarray, o: MvmFields) -> list[Write]:
    """Return the writes of the output's pixels with +0 in the pad lanes: one block per surface, or one if surfaces are adjacent."""
    lanes = np.zeros((o.tokens, o.out_surfaces * PIXEL_LANES), "<u2")
    lanes[:, : o.chout] = y
    pixels = lanes.reshape(o.tokens, o.out_surfaces, PIXEL_LANES).transpose(1, 0, 2)
    data = np.ascontiguousarray(pixels).reshape(o.out_surfaces, -1).view(np.uint8)
    if o.out_surfaces == 1 or o.out_surface == o.tokens * PIXEL_BYTES:
        return [Write(o.spaces[1], o.output, data.reshape(-1))]
    return [Write(o.spaces[1], o.output + s * o.out_surface, data[s]) for s in range(o.out_surfaces)]


class Mvm(MvmInstruction):
    """Matrix-vector multiplication for every token."""

    name = "mvm"
    modes = (MODE_MVM,)


class MvmBn(MvmInstruction):
    """MVM, times the BN weight, plus the bias; argmax on demand."""

    name = "mvm_bn"
    modes = (MODE_MVM + MODE_BN, MODE_MVM + MODE_BN + MODE_ARGMAX)


class MvmBnRes(MvmInstruction):
    """MVM with BN, then plus or times the residual; argmax on demand."""

    name = "mvm_bn_res"
    modes = (MODE_MVM + MODE_BN + MODE_RES, MODE_MVM + MODE_BN + MODE_RES + MODE_ARGMAX)


INSTRUCTIONS: dict[str, type[Instruction]] = {
    c.name: c for c in (Mvm, MvmBn, MvmBnRes, Norm, PosEmb, Softmax, Act, TrpMvm, F2wMvm, Dat2Hbm, Elementwise, Wt2Hbm)
}
