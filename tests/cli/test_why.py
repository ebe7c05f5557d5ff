"""`fleet why`: exit code 1 and a page where a comparison failed, 2 and one line where none did."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from command_line import Fleet, Ran

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from synthetic_results import failing, passing

from fleet.report.run.page import write_report


def test_nothing_stored_and_nothing_failed(refused: Callable[..., Ran], tmp_path: Path) -> None:
    refused("why", words=("nothing was compared yet", "reports"))
    passing().save(tmp_path / "reports" / "good")
    refused("why", words=("no comparison failed", "1 stored results", "agreed; it is stored in reports/good/result.json"))
    refused("why", "unheard", words=("no stored result of that name",))
    refused("why", "reports/good", words=("no comparison failed",))
    (tmp_path / "reports" / "bad").mkdir()
    (tmp_path / "reports" / "bad" / "result.json").write_text("{")
    refused("why", "reports/bad", words=("result",))


def test_after_random_programs_that_agreed_it_says_so(refused: Callable[..., Ran], tmp_path: Path) -> None:
    state = {"device": "vgemm_small", "seed": 3, "programs": 7, "executed": 90, "refused": 4, "failures": []}
    path = tmp_path / "reports" / "fuzz" / "vgemm_small-3.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(state | {"failures": ["0: x"]}))
    refused("why", words=("nothing was compared yet",))  # the stream that failed is gone
    path.write_text(json.dumps(state))
    (path.parent / "vgemm_small-4.json").write_text("[1]")
    (path.parent / "vgemm_small-5.json").write_text("{")
    said = ("no comparison failed", "fleet isa fuzz on vgemm_small, seed 3: 7 programs with 90 instructions executed and 4 refused")
    refused("why", words=(*said, "agreed; it is stored in reports/fuzz/vgemm_small-3.json"))


def test_the_last_failure_or_the_named_one(fleet: Fleet, tmp_path: Path) -> None:
    first = failing()
    first.save(tmp_path / "reports" / "first")
    second = replace(first, identity=replace(first.identity, case="second"))
    second.save(tmp_path / "reports" / "second")
    passing().save(tmp_path / "reports" / "third")
    ran = fleet("why")
    assert ran.code == 1
    assert "second" in ran.out
    assert fleet("why", "second").code == 1
    ran = fleet("why", "reports/first")
    assert ran.code == 1
    d = first.divergence
    assert d is not None
    for words in (d.what, d.differences[0].expected, d.differences[0].found, f"{d.differences[0].address:#x}", *d.ops):
        assert words in ran.out, (words, ran.out)


def test_the_operations_of_a_fused_chain_are_said_once(fleet: Fleet, tmp_path: Path) -> None:
    """Nine operations in one group, which several instructions compute: ends and number, on the terminal and on the page."""
    found = failing()
    chain = ("matmul.0", *(f"inner.{i}" for i in range(7)), "h9")
    assert found.divergence is not None
    divergence = replace(found.divergence, ops=chain)
    comparisons = tuple(
        replace(c, commits=tuple(replace(row, ops=chain) for row in c.commits), divergence=divergence if c.divergence else None)
        if c.name == "rtl-vs-iss"
        else c
        for c in found.comparisons
    )
    folder = tmp_path / "reports" / "chain"
    result = replace(found, comparisons=comparisons, divergence=divergence)
    result.save(folder)
    ran = fleet("why", "reports/chain")
    assert ran.out.count("matmul.0 .. h9 (9 operations)") == 1
    assert "inner." not in ran.out
    page = write_report(result, folder).html.read_text()
    bits = page[page.index('id="bits"') : page.index('id="divergence"')]
    rows = len(next(c for c in comparisons if c.name == "rtl-vs-iss").commits)
    assert rows > 1
    assert bits.count("matmul.0 .. h9 (9 operations)") == 1
    assert bits.count("″") == rows - 1
    assert "inner.3" not in bits
