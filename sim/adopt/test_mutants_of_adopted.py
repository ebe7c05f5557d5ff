"""Mutants drawn in the small foreign designs: their tests, monitors and functional models find them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, ENGINE, MESH, NETWORK, PAIRER, RELAY, SCALER, VAULT, modelled
from owner_tests import TESTS, edits

from fleet.adopt.workspace import open_workspace
from fleet.verify.adopted import mutants as adopted_mutants

pytestmark = pytest.mark.nightly

COUNT, SEED, LEFT = 20, 0, 2
PLANTED = re.compile(
    r"fault|former|packets|wave_of_doubt|more_q|last_b|\bover\b|again|stale|twice|LATE|last_to|\bused\b|moved|unasked|hbad|begun"
)
"""Lines of the planted faults, which nothing uses while none is chosen."""
EQUIVALENT = {
    COPIER: r"m_awid, m_arid|m_rready =|slow_count_o|psel && penable|pslverr",
    ENGINE: r"p\[31\]|32'sd127|st <= IDLE;|left <= 14'b0|4'b0;|r[012] <=|_id =|\? direct_reset_|resp_pend <= 1'b0;",
    NETWORK: r"out <= 3'd0;",
    # Any ID may be used; data are taken in TAKE alone; no model tells the count; a word may be written in both phases of APB's; of
    # addresses only multiples of 4 are used. A product has 24 bits, and what is
    # above 126 and no more than 127 is 127; a state that the engine does not have leads to IDLE, which sets what is left; a reset
    # may be a cycle shorter; any ID may be used; an answer of no kind is none. What comes before the outputs sets their number.
}
"""Lines of which no change shows in what the design does."""


@pytest.mark.parametrize("files", [COPIER, SCALER, VAULT, PAIRER, RELAY, MESH, ENGINE, NETWORK], ids=lambda p: p.stem)
def test_nine_of_ten_mutants_drawn_are_found(tmp_path: Path, files: Path) -> None:
    folder = modelled(tmp_path / files.stem, files, edits=edits(files))
    (folder / "owner.toml").write_text(TESTS[files].replace("FAULT", "0"))
    work = open_workspace(folder)
    unseen = re.compile("|".join(filter(None, (PLANTED.pattern, EQUIVALENT.get(files)))))
    mutants = adopted_mutants.AdoptedMutants(work, adopted_mutants.tests_of(work))
    drawn = mutants.draw(COUNT, SEED, lambda m: not unseen.search(m.context + m.before))
    results = list(mutants.look(drawn, tmp_path / "mutants"))
    assert len(results) == COUNT
    survived = [r.mutant.describe() for r in results if r.verdict == "survived"]
    assert len(survived) <= LEFT, "\n".join(survived)
