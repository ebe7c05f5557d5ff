"""Tokens and syntax tree as text, for `--emit token` and `--emit ast`."""

from __future__ import annotations

import ast

import pytest

from fleet.errors import SourceError
from fleet.frontend.dump import tokens, tree

TEXT = "import numpy as np\n\ndef f(x, *, k=2):\n    return x @ [1, k]  # é\n"


def test_tokens_have_place_kind_and_text() -> None:
    lines = tokens(TEXT, "m.py").splitlines()
    assert lines[0] == "1:1 NAME 'import'"
    assert "4:14 AT '@'" in lines
    assert any(line.endswith("COMMENT '# é'") for line in lines)
    assert lines[-1] == "5:1 ENDMARKER"


def test_the_tree_has_every_node_of_pythons_own() -> None:
    shown = tree(TEXT, "m.py")
    for node in ast.walk(ast.parse(TEXT)):
        if not isinstance(node, ast.expr_context):
            assert f"{type(node).__name__}(" in shown
    assert "value: BinOp() @4:12" in shown
    assert "op: MatMult()" in shown


@pytest.mark.parametrize("text", ["x = (\n", "x = '''abc\n", "  x = 1\n y = 2\n", "x = 1 +* 2\n", "a\0b\n"])
def test_what_is_not_python_has_its_place(text: str) -> None:
    with pytest.raises(SourceError, match=r"m\.py.*F101") as caught:
        tree(text, "m.py")
    assert caught.value.code == "F101"


def test_the_tokenizer_stops_with_a_place() -> None:
    with pytest.raises(SourceError, match=r"m\.py:\d+:\d+: F101"):
        tokens("x = '''abc\n", "m.py")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(SourceError, match="F602"):
        tree("x = " + "-" * 20000 + "1", "m.py")
    with pytest.raises(SourceError, match="F602"):
        tree("x = 1" + " + 1" * 3000, "m.py")
