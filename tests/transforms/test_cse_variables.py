"""Common subexpressions of which a script shows the second one under a name of its own."""

from __future__ import annotations

from pathlib import Path

from same_results import passed

from fleet.frontend.source import load
from fleet.ir.dialect import PrintOp
from fleet.transforms.edit import text_of

SCRIPT = "a = 3\nb = a * 2 - 1\nc = a * 2 - 1\nprint(b, c)\n"


def test_a_variable_keeps_its_operation_and_its_readers_take_the_first_one(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SCRIPT)
    before = load(str(tmp_path / "m.py"), {}, {})
    after = passed(before, "cse")
    named = {text_of(op, "var"): op for op in after.operations() if text_of(op, "var") is not None}
    assert {"b", "c"} <= set(named), "the program shows both"
    (shown,) = [op for op in after.operations() if isinstance(op, PrintOp)]
    assert [v.owner for v in shown.operands] == [named["b"], named["b"]], "one value serves for both"
    assert [op.name for op in after.operations()].count("fleet.mul") == 1
