"""docs/language-models.md: its table is that of the code, its example runs."""

from __future__ import annotations

import re
from pathlib import Path

from fleet.llm.files import listing
from fleet.llm.models.counts import PUBLISHED, main, table

PAGE = Path(__file__).parents[2] / "docs" / "language-models.md"


def test_the_table_is_current() -> None:
    assert main(["--check"]) == 0


def test_the_classic_sequence_has_the_published_counts() -> None:
    rows = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")] for line in table().splitlines()[2:]}
    for name, count in PUBLISHED.items():
        if count is not None:
            assert rows[name][4] == rows[name][3] == str(count)


def test_the_python_example_runs(capsys: object) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code.replace("print(", "said = ("), str(PAGE), "exec"), names)
    assert names["said"] == ("cabc", "pass")


def test_the_families_are_current() -> None:
    assert listing.main(["--check"]) == 0
