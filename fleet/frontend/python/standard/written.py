"""Classes of libraries that are followed as if they stood in the user's file (`fleet.frontend.written_classes`)."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from fleet.frontend import written_abstract, written_classes
from fleet.frontend.arrays.functions import print_options
from fleet.frontend.reading.errors import as_call, expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import CallFrame, Class, Library, TracedArray, Value

WRITTEN: Mapping[str, str] = {
    "collections.ChainMap": "ChainMap",
    "numpy.polynomial.Polynomial": "Polynomial",
    "numpy.polynomial.polynomial.Polynomial": "Polynomial",
}
"""Path of a class -> its name in the file."""
_ABSTRACT = [s.name for s in ast.parse(inspect.getsource(written_abstract)).body if isinstance(s, ast.ClassDef)]
BASES: Mapping[str, str] = {f"{module}.{name}": name for module in ("collections.abc", "typing") for name in _ABSTRACT}
"""Path of an abstract class of `collections.abc` -> its name in the file: a class may inherit from it."""
_TEXT = "builtins.polynomial.text"


@cache
def _sources() -> Mapping[str, ast.ClassDef]:
    trees = [ast.parse(inspect.getsource(module)) for module in (written_classes, written_abstract)]
    return {s.name: s for tree in trees for s in tree.body if isinstance(s, ast.ClassDef)}


def class_of(ev: Evaluator, node: ast.AST, path: str) -> Class:
    """The class; made once for each source, with the place of its first use as that of its errors and operations."""
    name = WRITTEN.get(path) or BASES[path]
    if name not in ev.followed:
        definition = copy.deepcopy(_sources()[name])
        for part in ast.walk(definition):
            ast.copy_location(part, expression_at(node))
        frame = CallFrame("<module>", 1, ev.scope(definition))
        frame.variables.update({"np": Library("numpy"), "text_of": Library(_TEXT), "abstractmethod": Library("abc.abstractmethod")})
        others = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and n.id in _ABSTRACT and n.id != name}
        frame.variables.update({n: class_of(ev, node, f"collections.abc.{n}") for n in sorted(others)})
        inside, ev.inside = ev.inside, 0
        ev.run([definition], frame)
        ev.inside = inside
        made = frame.variables[name]
        assert isinstance(made, Class)
        made.strict = path in BASES
        made.module = "collections" if path in WRITTEN and name == "ChainMap" else "collections.abc" if path in BASES else ""
        ev.followed[name] = made
    return ev.followed[name]


def _text(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """What NumPy shows of a polynomial of known coefficients. args: coefficients, domain, window, whether it is `repr`."""
    plain = [ev.domain.elements_of(a) if isinstance(a, TracedArray) else None for a in args[:3]]
    if any(p is None for p in plain):
        ev.fail("F404", node, "the text of a polynomial whose coefficients only the run knows", "print its coefficients: p.coef")
    try:
        made = np.polynomial.Polynomial(*plain)  # pyright: ignore[reportArgumentType] -- arrays, all of them
    except ValueError as error:
        return ev.refuse("F703", node, str(error), error)
    with np.printoptions(**print_options.options(ev, node)):
        return repr(made) if ev.truth(as_call(expression_at(node)), args[3]) else str(made)


CALLS: Mapping[str, Callable[..., Value]] = {_TEXT: _text}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
