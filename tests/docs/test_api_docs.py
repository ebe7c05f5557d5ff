"""The examples of docs/api.md, docs/jit.md and docs/gpu.md do what they show."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import fleet
from fleet.compiler.executables import TARGETS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("page", "least"), [("api.md", 10), ("jit.md", 10), ("gpu.md", 5)])
def test_examples_do_what_they_show(page: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, f"docs/{page}", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert len(test.examples) >= least
    assert not runner.failures, "".join(said)


def test_the_pages_name_everything() -> None:
    api, jit = ((ROOT / "docs" / page).read_text() for page in ("api.md", "jit.md"))
    for name in set(fleet.__all__) - {"__version__"}:
        assert f"`fleet.{name}" in api
    for target in TARGETS:
        assert f"`{target}`" in jit
