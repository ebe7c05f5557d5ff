"""hbm0923 with its slow operators in stages, as synthesis reads them, runs as the simulations' view does, to the cycle.

The quick comparison of both views is tests/rtl_models/hbm0923/views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from both import run_alike

from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import names

STAGED = ("mvm", "mvm_bn", "mvm_bn_res", "trp_mvm", "f2w_mvm", "elementwise", "norm", "pos_emb", "act")


@pytest.mark.nightly
def test_both_views_run_the_same(runners: Callable[[str], StreamRunner], tmp_path: Path) -> None:
    device = "hbm_small"
    design = design_of(*find_device(device))
    (view,) = [path for path in design.sources if path.name == "fp_view_pkg.sv"]
    staged = tmp_path / view.name
    staged.write_text("`define FLEET_STAGES\n" + view.read_text())
    executable = build(replace(design, sources=tuple(staged if p == view else p for p in design.sources)))
    cases = [n for n in names(device, random=range(4), programs=range(24)) if n.split("/")[1] in (*STAGED, "program")]
    with StreamRunner(device, power_on=1, executable=executable) as other:
        assert run_alike(device, cases, runners(device), other) > 500
