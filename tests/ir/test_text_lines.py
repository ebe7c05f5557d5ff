"""Reading IR from lines: xDSL's own parser is the judge of every module and of every error."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from fleet.frontend.source import load
from fleet.ir.accel.dialect import accel
from fleet.ir.dialect import FLEET
from fleet.ir.parsing.text_lines import LineParser
from fleet.ir.text import check_strings, print_ir

TEXTS = Path(__file__).parents[1] / "transforms" / "texts"
LOOPS = """import numpy as np


def forward(x: "float32[4, 8]", n: "int64"):
    total = np.zeros((4, 8), np.float32)
    i = 0
    while i < n:
        if total.sum() > 3:
            total = total + np.where(x > 0.5, x, -1.5)
        else:
            total = total + x.T.T * 2
        i = i + 1
    print(total.shape, "a \\"quoted\\" word, then {braces}>} and // no comment")
    return total
"""


def context() -> Context:
    made = Context()
    for dialect in (Builtin, Func, FLEET, accel()):
        made.load_dialect(dialect)
    return made


def read(parser: type[Parser], text: str) -> str:
    """The module as text, with its hints of names, or the error with its place."""
    try:
        check_strings(text, "m.mlir")  # the lexer of xDSL takes exponential time for a string without an end
        module = parser(context(), text, "m.mlir").parse_module()
    except ParseError as error:
        return f"{error.span.start}..{error.span.end}: {error.args[-1]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    hints = [r.name_hint for op in module.walk() for r in op.results]
    return f"{print_ir(module)}{hints}"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    parts = [part for path in sorted(TEXTS.glob("*.mlir")) for part in path.read_text().split("// ----- becomes -----\n")]
    path = tmp_path_factory.mktemp("loops") / "model.py"
    path.write_text(LOOPS)
    return [*parts, print_ir(load(f"{path}:forward", {}, {"x": np.ones((4, 8), np.float32), "n": np.array(3)}).module)]


def test_modules_are_those_of_xdsl(texts: list[str]) -> None:
    for text in texts:
        assert read(LineParser, text) == read(Parser, text)
        assert "builtin.module" in read(LineParser, text)


def test_lines_are_read_at_once(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to xDSL: operations of other dialects, those with regions, and strings that are escaped."""
    left: list[str] = []
    plain = Parser.parse_operation

    def noted(self: Parser) -> Operation:
        left.append(text[self.pos :].partition("\n")[0])
        return plain(self)

    monkeypatch.setattr(Parser, "parse_operation", noted)
    for text in texts:
        read(LineParser, text)
    assert sum(len(re.findall('"fleet.', text)) for text in texts) > 100
    for line in left:
        assert '"fleet.' not in line or line.endswith("({") or "\\" in line, line


WRONG = {
    "undefined": ('"fleet.tanh"(%x)', '"fleet.tanh"(%z)'),
    "later": ('"fleet.tanh"(%x)', '"fleet.tanh"(%1)'),
    "type": ("(tensor<4xf32>) -> tensor<4xf32>", "(tensor<5xf32>) -> tensor<4xf32>"),
    "types": ("(tensor<4xf32>) -> tensor<4xf32>", "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
    "no type": ("-> tensor<4xf32>\n    %1", "-> \n    %1"),
    "no such type": ("-> tensor<4xf32>\n    %1", "-> tensor<4xf31>\n    %1"),
    "rest": ("-> tensor<4xf32>\n    %1", "-> tensor<4xf32> 7\n    %1"),
    "location": ("-> tensor<4xf32>\n    %1", '-> tensor<4xf32>\n    loc("a.py":3:4)\n    %1'),
    "comment": ("-> tensor<4xf32>\n    %1", "-> tensor<4xf32> // words\n    %1"),
    "a comment in a value": ("axis = 0 : i64,", "axis = 0 // : i64, b = 1,\n : i64,"),
    "twice": ("%1 =", "%0 ="),
    "two results": ("%1 =", "%1, %2 ="),
    "a number of results": ("%1 =", "%1:1 ="),
    "no such operation": ("fleet.tanh", "fleet.than"),
    "no dialect": ("fleet.tanh", "tanh"),
    "a key twice": ('id = "t"', 'id = "t", id = "t"'),
    "an open string": ('id = "t"', 'id = "t'),
    "an escape": ('id = "t"', 'id = "\\74\\C3\\A9"'),
    "a bad escape": ('id = "t"', 'id = "\\q"'),
    "a unit": ('id = "t"', 'device, id = "t"'),
    "a quoted key": ('id = "t"', '"id" = "t"'),
    "a list": ('id = "t"', 'covers = ["a, b", "c", [1, 2]], id = "t"'),
    "a list of strings": ('id = "t"', 'covers = ["a, b = 1", "c", "}> : "], id = "t"'),
    "a list that ends in a string": ('id = "t"', 'covers = ["a], id = 1"], id = "t"'),
    "attributes": ("}> : (tensor<4xf32>) -> tensor<4xf32>\n    %1", "}> {a = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>\n    %1"),
    "none": (' <{id = "t"}>', ""),
    "empty": ('<{id = "t"}>', "<{}>"),
    "on two lines": ('id = "t"', 'id =\n "t"'),
    "a tuple's part": ("(%x)", "(%x#0)"),
    "no part of a tuple": ("(%x)", "(%x#1)"),
    "spaces": ('"fleet.tanh"(%x)', '"fleet.tanh" ( %x )'),
    "no end": ("    func.return %1 : tensor<i64>\n  }\n}\n", ""),
}
TEXT = """builtin.module {
  func.func @forward(%x: tensor<4xf32>) -> tensor<i64> {
    %0 = "fleet.tanh"(%x) <{id = "t"}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "fleet.argmax"(%0) <{axis = 0 : i64, id = "a"}> : (tensor<4xf32>) -> tensor<i64>
    func.return %1 : tensor<i64>
  }
}
"""


@pytest.mark.parametrize("name", WRONG)
def test_forms_and_faults_are_judged_as_xdsl_does(name: str) -> None:
    old, new = WRONG[name]
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    assert read(LineParser, text) == read(Parser, text)


def test_texts_that_are_damaged_at_random(texts: list[str]) -> None:
    draw = random.Random(5)
    short = [text for text in texts if len(text) < 3_000]
    different = 0
    for seed in range(400):
        text = draw.choice(short)
        at = draw.randrange(len(text))
        match draw.randrange(4):
            case 0:
                damaged = text[:at] + text[at + draw.randint(1, 3) :]
            case 1:
                damaged = text[:at] + draw.choice('%"{}<>()[]:,= \n/\\x?0-#!^@') + text[at:]
            case 2:
                lines = text.splitlines(keepends=True)
                i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                damaged = "".join(lines)
            case _:
                other = draw.randrange(len(text))
                damaged = text[:at] + text[other : other + draw.randint(1, 40)] + text[at:]
        found = read(LineParser, damaged)
        assert found == read(Parser, damaged), (seed, damaged)
        different += "builtin.module" not in found
    assert different > 100
