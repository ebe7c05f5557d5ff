"""Functions and constants of Python's library, and of libraries that change no value, that the front end follows."""

from __future__ import annotations

import ast
import decimal
import string
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.python.builtins import identity
from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.standard import (
    arguments,
    aside,
    clock,
    contexts,
    copies,
    draws,
    files,
    functions,
    inherited,
    namespaces,
    plain_objects,
    progress,
    pure,
    single_dispatch,
    text,
    written,
)
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ForeignArray, Library, NumberValue, Text, Value
from fleet.frontend.reading.wording import words


def _nothing(*_given: object) -> Value:
    """Settings that change no value."""
    return None


def _exit(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """`sys.exit(code)`: the exception that ends the program where nothing catches it."""
    exceptions.throw(ev, "F701", node, "the source ends by sys.exit", exceptions.made(ev, "SystemExit", *args))


def _write(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    text = args[0] if len(args) == 1 else None
    if not isinstance(text, str | Text):
        ev.fail("F408", node, f"sys.stdout.write of {words(text)}", "it takes a text")
    ev.call(node, Library("builtins.print"), [text], {"end": ""})
    return NumberValue(len(text)) if isinstance(text, str) else None


CALLS: Mapping[str, Callable[..., Value]] = {
    **arguments.CALLS,
    **aside.CALLS,
    **clock.CALLS,
    **contexts.CALLS,
    **copies.CALLS,
    **draws.CALLS,
    **files.CALLS,
    **functions.CALLS,
    **identity.CALLS,
    **inherited.CALLS,
    **namespaces.CALLS,
    **plain_objects.CALLS,
    **progress.CALLS,
    **pure.CALLS,
    **single_dispatch.CALLS,
    **text.CALLS,
    **written.CALLS,
    "warnings.filterwarnings": _nothing,
    "sys.setrecursionlimit": _nothing,
    "warnings.simplefilter": _nothing,
    "sys.exit": _exit,
    "typing.TypeVar": lambda *_given: Library("typing.Any"),
    "typing.cast": lambda _ev, _node, args, _keywords: args[1],
    "sys.stdout.write": _write,
    **dict.fromkeys(("sys.stderr.write", "sys.stdout.flush", "sys.stderr.flush"), _nothing),
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
_LETTERS = "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace printable"
CONSTANTS: Mapping[str, Value] = {
    **{f"string.{n}": getattr(string, n) for n in _LETTERS.split()},
    **arguments.FORMATTERS,
    **{f"decimal.{n}": getattr(decimal, n) for n in dir(decimal) if n.startswith("ROUND_")},
    "typing.TYPE_CHECKING": NumberValue(False),
    "sys.maxsize": NumberValue(sys.maxsize),
    "sys.version_info": (*map(NumberValue, sys.version_info[:3]), "final", NumberValue(0)),
    **{f"sys.{n}": Library(f"sys.{n}") for n in ("stdout", "stderr")},
    "numpy.ma.masked": ForeignArray(np.ma.masked),
    "numpy.ma.nomask": NumberValue(False),
    "numpy.__version__": np.__version__,
}
"""Name -> its value."""
MODULES = frozenset({*aside.ROOTS, *(path.split(".", maxsplit=1)[0] for path in (*CALLS, *CONSTANTS))})
"""The modules that have any of them."""
