"""Prints with a format: text with numbered places for operands; nothing else is a place."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.targets.bytecode.hints import DispatchHintParser, DispatchInfo, print_hint
from fleet.targets.bytecode.printing import printer


def info(template: str, operands: int = 2) -> DispatchInfo:
    return DispatchInfo("python", "print", ["r" * operands], ["2xf64"] * operands, [], {"format": template})


def test_places_are_filled() -> None:
    shown: list[tuple] = []
    run = printer(info("a_b's {1!r} 100% {0:>6.2f}|{{}}\n"), lambda *v, end: shown.append((*v, end)))
    run(np.float64(1.5), np.float32(0.1))
    assert shown == [("a_b's np.float32(0.1) 100%   1.50|{}\n", "")]


@pytest.mark.parametrize("template", ["a_b\n'%5F", "{0!s}", "é {1:>3}", "", "{{_}}"])
def test_the_format_travels_in_the_hint(template: str) -> None:
    assert DispatchHintParser(print_hint(info(template))).parse().attrs == {"format": template}


@pytest.mark.parametrize(
    "template",
    ["{2}", "{}", "{x}", "{0.__class__}", "{0[0]}", "{0:1000000000}", "{0:{1}}", "{", "{0!z}x{", "{0:>9999}", "{-1}", "{1234567}"],
)
def test_other_places_are_refused(template: str) -> None:
    with pytest.raises(ModelError, match="print format"):
        printer(info(template), print)
