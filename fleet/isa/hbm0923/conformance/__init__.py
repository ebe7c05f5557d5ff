"""What the conformance suite draws for every instruction (`fleet.isa.conformance`)."""

from __future__ import annotations

from fleet.isa.conformance import Source
from fleet.isa.hbm0923.conformance.mvm import MvmSource

SOURCES: dict[str, Source] = {name: MvmSource(name) for name in ("mvm", "mvm_bn", "mvm_bn_res")}
