"""What the conformance suite draws for every instruction (`fleet.isa.conformance`)."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device, Source
from fleet.sets.hbm0923.conformance.caches import AttentionSource, Dat2HbmSource, Wt2HbmSource
from fleet.sets.hbm0923.conformance.mvm import MvmSource
from fleet.sets.hbm0923.conformance.streaming import ActSource, ElementwiseSource, NormSource, PosEmbSource, SoftmaxSource
from fleet.sets.hbm0923.units.attention import F2wMvmTensors, TrpMvmTensors
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands

SOURCES: dict[str, Source] = {
    **{name: MvmSource(name) for name in ("mvm", "mvm_bn", "mvm_bn_res")},
    **{name: AttentionSource(name) for name in ("trp_mvm", "f2w_mvm")},
    "norm": NormSource(),
    "pos_emb": PosEmbSource(),
    "softmax": SoftmaxSource(),
    "act": ActSource(),
    "elementwise": ElementwiseSource(),
    "dat2hbm": Dat2HbmSource(),
    "wt2hbm": Wt2HbmSource(),
}

_SFU_START = "sfu_start"
_ATTENTION = {o.INSTRUCTION: dict(o.FIXED)[_SFU_START] for o in (TrpMvmTensors, F2wMvmTensors, Dat2HbmOperands)}
"""Instruction -> its start value."""
_IN_FLIGHT = 2
"""Instructions that are written to the registers and under way together."""


def ahead(_: Device, under_way: Sequence[Call], call: Call) -> bool:
    """Whether a call may be written while others are under way (`fleet.sdk.issue_rules.Ahead`): each in a unit of its own."""
    return len(under_way) < _IN_FLIGHT and all(_unit(c) != _unit(call) for c in under_way)


def _unit(call: Call) -> str:
    """The unit that takes a call. Attention takes its own start values only, the SFU all others of their common register."""
    for start in ("mvm_start", "elementwise_start", "aux_start"):
        if start in call.fields:
            return start
    return "attention" if call.fields[_SFU_START] == _ATTENTION.get(call.instruction) else "sfu"
