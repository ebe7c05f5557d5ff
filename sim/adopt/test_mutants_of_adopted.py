"""Mutants drawn in the small foreign designs: their tests, monitors and functional models find them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, ENGINE, FIR, GATHER, KERNEL, MESH, NETWORK, PAIRER, RELAY, SCALER, VAULT, modelled
from owner_tests import TESTS, edits

from fleet.adopt.workspace import open_workspace
from fleet.verify.adopted import mutants as adopted_mutants
from fleet.verify.mutation.survivors import load_survivors

pytestmark = pytest.mark.nightly

COUNT, SEED, LEFT = 20, 0, 2
PLANTED = re.compile(
    r"fault|old_mask|n381_data|former|packets|wave_of_doubt|more_q|last_b|\bover\b|again|stale|twice|LATE|last_to|\bused\b|moved|unasked|hbad|begun"
)
"""Lines of the planted faults, which nothing uses while none is chosen; n381_data is a name of ghdl's."""


DESIGNS = [COPIER, SCALER, VAULT, PAIRER, RELAY, MESH, ENGINE, NETWORK, KERNEL, FIR]
NO_GHDL = pytest.mark.skipif(shutil.which("ghdl") is None and os.environ.get("FLEET_REQUIRE_GHDL") != "1", reason="no ghdl")


@pytest.mark.parametrize("files", [*DESIGNS, pytest.param(GATHER, marks=NO_GHDL)], ids=lambda p: p.stem)
def test_nine_of_ten_mutants_drawn_are_found(tmp_path: Path, files: Path) -> None:
    folder = modelled(tmp_path / files.stem, files, edits=edits(files))
    (folder / "owner.toml").write_text(TESTS[files].replace("FAULT", "0"))
    work = open_workspace(folder)
    equivalent = load_survivors(files.parent / "survivors.toml")  # by their ids: each was judged alone
    mutants = adopted_mutants.AdoptedMutants(work, adopted_mutants.tests_of(work))
    assert equivalent.keys() <= {m.id for m in mutants.mutants}, "the list is of another text of the design"
    drawn = mutants.draw(COUNT, SEED, lambda m: m.id not in equivalent and not PLANTED.search(m.context + m.before))
    results = list(mutants.look(drawn, tmp_path / "mutants"))
    assert len(results) == COUNT
    survived = [r.mutant.describe() for r in results if r.verdict == "survived"]
    assert len(survived) <= LEFT, "\n".join(survived)
