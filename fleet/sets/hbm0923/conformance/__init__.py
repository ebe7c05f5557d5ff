"""The sources from which the conformance suite draws instructions (`fleet.isa.conformance`)."""

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
"""Instruction -> its value of the start register."""
_IN_FLIGHT = 2
"""Maximum number of instructions in progress when they are written to the registers."""


def ahead(_: Device, under_way: Sequence[Call], call: Call) -> bool:
    """Whether a call may be written while others are in progress (`fleet.sdk.issue_rules.Ahead`): each needs its own unit."""
    return len(under_way) < _IN_FLIGHT and all(_unit(c) != _unit(call) for c in under_way)


def _unit(call: Call) -> str:
    """Return the unit that runs a call. Attention has its own start values; the SFU takes all others of the common register."""
    for start in ("mvm_start", "elementwise_start", "aux_start"):
        if start in call.fields:
            return start
    return "attention" if call.fields[_SFU_START] == _ATTENTION.get(call.instruction) else "sfu"
