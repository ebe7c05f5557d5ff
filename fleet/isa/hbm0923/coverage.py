"""What coverage has to know beside the description: the dtype of results, and bins that no stream can meet."""

from __future__ import annotations

from fleet.isa.coverage import CoverageHints

__all__ = ["COVERAGE"]

_FP16 = (
    "mvm", "mvm_bn", "mvm_bn_res", "trp_mvm", "f2w_mvm", "norm", "pos_emb", "softmax", "act", "elementwise", "dat2hbm",
)  # fmt: skip

_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    ("*:refused:busy", "the bench waits for a unit before it starts it again; sim/slow_port starts a busy one"),
    ("*:refused:bus_error", "every address of a legal call is inside memory, which then does not answer with an error"),
    ("*:refused:bad_binary", "binaries are encoded from legal calls; tests/rtl_models feeds broken ones"),
)

COVERAGE = CoverageHints(dtypes=dict.fromkeys(_FP16, "<f2"), impossible=_IMPOSSIBLE)
