"""A pattern that fails, or answers nonsense, is one error with its line; the commands then end with exit code 2."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.cli.main import main

ImportFrom = Callable[[Path], None]

EMIT = 'context.emit(Call("vadd", fields, ops=(op_id(op),)))'
WRONG: list[tuple[str, str, str]] = [
    (
        "        return Match(",
        "        return 'yes' or Match(",
        r"lowering\.py:\d+: pattern vadd.*: match answers 'yes', expected a Match",
    ),
    (
        "        return Match(",
        "        1 // 0\n        return Match(",
        r"lowering\.py:\d+: pattern vadd.*: match fails: ZeroDivisionError",
    ),
    ("ops=(op,),", "ops=(),", r"lowering\.py:\d+: pattern vadd.*: match has `ops`"),
    ("results=(op.result,),", "results=(),", r"lowering\.py:\d+: pattern vadd.*: match has no `results`"),
    ("results=(op.result,),", "results=5,", r"lowering\.py:\d+: pattern vadd.*: match has `results`"),
    (EMIT, "context.emit(5)", r"lowering\.py:\d+: pattern vadd.*: emit fails: TypeError: emits 5, expected a Call"),
    (EMIT, "raise SystemExit(0)", r"lowering\.py:\d+: pattern vadd.*: emit fails: SystemExit"),
    ('"vadd_b": b + at,', '"vadd_b": "b",', r"vadd\.vadd_b: is 'b', expected an integer"),
    ('"vadd_b": b + at,', "", r"vadd: fields: missing vadd_b"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_one_line(
    installed_set: Path, import_from: ImportFrom, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = installed_set / "vector_add" / "lowering.py"
    text = path.read_text()
    assert text.count(old) == 1, (old, text.count(old))
    path.write_text(text.replace(old, new))
    import_from(installed_set)
    model = Path(__file__).parents[1] / "fixtures" / "one_instruction_set" / "model.py"
    assert main(["compile", "--emit", "accel-regs", f"{model}:forward", "--device", "vector_tiny"]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert len([line for line in error.splitlines() if "seeded random data" not in line]) == 1
