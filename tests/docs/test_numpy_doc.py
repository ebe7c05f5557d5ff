"""docs/numpy.md: its tables are current, and its example is a model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fleet.frontend.listing import main, tables
from fleet.frontend.source import load

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"


def test_the_tables_are_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- (\w+): python", text)) == set(tables())
    assert main(["--check"]) == 0


def test_the_example_is_a_model(tmp_path) -> None:
    code, *more = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (tmp_path / "m.py").write_text(code)
    program = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones((2, 64))})
    assert [a.name for a in program.arguments] == ["x", *(f"blocks.{i}.w" for i in range(4))]
    assert more
    for part in more:
        (tmp_path / "m.py").write_text(part if "import numpy" in part else f"import numpy as np\n{part}")
        assert list(load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones((2, 64))}).operations())
