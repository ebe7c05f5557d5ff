"""What the conformance suite draws for every instruction (`fleet.isa.conformance`)."""

from __future__ import annotations

from fleet.isa.conformance import Source
from fleet.isa.hbm0923.conformance.caches import AttentionSource, Dat2HbmSource, Wt2HbmSource
from fleet.isa.hbm0923.conformance.mvm import MvmSource
from fleet.isa.hbm0923.conformance.streaming import ActSource, ElementwiseSource, NormSource, PosEmbSource, SoftmaxSource

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
