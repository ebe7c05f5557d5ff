"""What is followed of Python's library: its functions and its constants."""

from __future__ import annotations

import string
import sys
from collections.abc import Callable, Mapping

import numpy as np

from fleet.frontend.python.standard import arguments, clock, contexts, copies, draws, text
from fleet.frontend.reading.values import ForeignArray, NumberValue, Value

__all__ = ["CALLS", "CONSTANTS", "MODULES"]


def _nothing(*_given: object) -> Value:
    """Settings that change no value."""
    return None


CALLS: Mapping[str, Callable[..., Value]] = {
    **arguments.CALLS,
    **clock.CALLS,
    **contexts.CALLS,
    **copies.CALLS,
    **draws.CALLS,
    **text.CALLS,
    "warnings.filterwarnings": _nothing,
    "warnings.simplefilter": _nothing,
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
_LETTERS = "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace printable"
CONSTANTS: Mapping[str, Value] = {
    **{f"string.{n}": getattr(string, n) for n in _LETTERS.split()},
    "sys.maxsize": NumberValue(sys.maxsize),
    "numpy.ma.masked": ForeignArray(np.ma.masked),
    "numpy.ma.nomask": NumberValue(False),
    "numpy.__version__": np.__version__,
}
"""Name -> its value."""
MODULES = frozenset({path.split(".", maxsplit=1)[0] for path in (*CALLS, *CONSTANTS)})
"""The modules that have any of them."""
