"""Designs in public styles, an engine on NVDLA's ports and a layer that high-level synthesis wrote, adopted as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import CELLS, ENGINE, NETWORK, workspace

from fleet.adopt.bench.library import part_files
from fleet.adopt.bench.plan import make_plan
from fleet.adopt.bench.text import TOP, bench_text
from fleet.adopt.filelist import read_sources
from fleet.adopt.top import read_top
from fleet.adopt.workspace import open_workspace
from fleet.verify.adopted.mutants import AdoptedMutants


def test_an_engine_with_two_clocks_and_cells_of_a_library(tmp_path: Path) -> None:
    models = ("substitutes = []", f'substitutes = ["{CELLS}"]')
    work = open_workspace(workspace(tmp_path / "w", ENGINE, edits=[models, ("cycles = 16", "cycles = 16\npulses = 2")]))
    found = {g.name: (g.protocol, g.role, len(list(g.paths()))) for g in work.ports.groups if g.name in work.settings.ports}
    assert found == {"csb2nvdla": ("csb", "subordinate", 9), "nvdla_core2dbb": ("axi4", "manager", 23)}
    assert {n: (p.clock, p.shift) for n, p in work.settings.ports.items()} == {
        "csb2nvdla": ("dla_csb_clk", 2), "nvdla_core2dbb": ("dla_core_clk", 0),
    }  # fmt: skip
    assert [g.low for g in work.ports.groups if g.protocol == "reset"] == [("reset",), ("reset",)]
    assert [u.path for u in work.ports.unmapped] == [
        "global_clk_ovr_on", "tmc2slcg_disable_clock_gating", "nvdla_pwrbus_ram_c_pd", "nvdla_pwrbus_ram_ma_pd",
    ]  # fmt: skip
    (tmp_path / "bench.sv").write_text(bench_text(work, make_plan(work)))
    include = [ENGINE.parent / "include"]
    assert (
        read_top(read_sources([*part_files(()), *work.top.files, tmp_path / "bench.sv"], include_dirs=include), TOP).missing == ()
    )


def test_a_layer_whose_weights_are_files(tmp_path: Path) -> None:
    work = open_workspace(workspace(tmp_path / "w", NETWORK))
    assert work.ports.unmapped == ()
    found = {g.name: (g.protocol, g.role) for g in work.ports.groups if g.name in work.settings.ports}
    assert found == {
        "input_1_v_data_v": ("axi4_stream", "subordinate"), "layer4_out_v_data_v": ("axi4_stream", "manager"),
        "const_size_in_1": ("stream", "manager"), "const_size_out_1": ("stream", "manager"),
    }  # fmt: skip
    assert dict(work.settings.ties) == {"ap_start": 0}
    weights = NETWORK.parent / "weights"
    assert {d.name: d.path for d in work.top.data} == {
        "./weights/b2_rom.dat": weights / "b2_rom.dat", "./weights/w2_rom.dat": weights / "w2_rom.dat",
    }  # fmt: skip


def test_models_of_cells_are_not_the_design_and_are_not_mutated(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w", ENGINE, edits=[("substitutes = []", f'substitutes = ["{CELLS}"]')])
    mutants = AdoptedMutants(open_workspace(folder), [folder / "smoke.toml"]).mutants
    assert len(mutants) > 300
    assert not [m for m in mutants if "cells.v" in m.describe()]
