"""Python as fleet reads it: the language that an evaluator is given."""

from __future__ import annotations

from fleet.frontend.python import dispatch, expressions, statements
from fleet.frontend.python.builtins.registry import BUILTINS
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import iterables
from fleet.frontend.python.text import display
from fleet.frontend.reading.domain import Domain
from fleet.frontend.reading.evaluator import Evaluator, Language
from fleet.frontend.reading.module import SourceModule

PYTHON = Language(
    expression=expressions.evaluate,
    block=statements.block,
    iterate=iterables.iterate,
    collect=iterables.collect,
    call=dispatch.call,
    parts=lambda ev, value, node: display.parts(ev, value, node=node),
    special=objects.special,
    builtins=BUILTINS.keys(),
)


def reader(module: SourceModule, domain: Domain[Evaluator], *, main: str = "__main__") -> Evaluator:
    """An evaluator of Python for a parsed file; main: its `__name__`."""
    return Evaluator(module, domain, PYTHON, main=main)
