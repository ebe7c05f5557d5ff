"""`fleet why`: exit code 1 and a page where a comparison failed, 2 and one line where none did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from command_line import Fleet, Ran

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from synthetic_results import failing, passing


def test_nothing_stored_and_nothing_failed(refused: Callable[..., Ran], tmp_path: Path) -> None:
    refused("why", words=("nothing was compared yet", "reports"))
    passing().save(tmp_path / "reports" / "good")
    refused("why", words=("no comparison failed", "1 stored results"))
    refused("why", "unheard", words=("no stored result of that name",))
    refused("why", "reports/good", words=("no comparison failed",))
    (tmp_path / "reports" / "bad").mkdir()
    (tmp_path / "reports" / "bad" / "result.json").write_text("{")
    refused("why", "reports/bad", words=("result",))


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
