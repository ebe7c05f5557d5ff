"""The tables of docs/numpy.md, out of what the front end knows: `python -m fleet.frontend.listing [--check]`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fleet.frontend.arrays.signatures import FUNCTIONS, METHODS, Signature
from fleet.frontend.codes import table
from fleet.frontend.python.builtins import registry
from fleet.frontend.python.builtins.numbers import MATH
from fleet.frontend.python.complexes import CMATH
from fleet.frontend.python.containers import builtin
from fleet.frontend.python.expressions import EXPRESSIONS
from fleet.frontend.python.names import DRAWS
from fleet.frontend.python.statements import STATEMENTS
from fleet.ir.library.call import FAMILIES, callable_names
from fleet.ir.library.expand import has_sequence
from fleet.ir.tables import write_page
from fleet.ir.types import DTYPES
from fleet.ir.weights import draw_method


def tables() -> Mapping[str, str]:
    """Name of a table -> its Markdown."""
    return {
        "syntax": _rows("kind", "what is read", [("statements", _names(STATEMENTS)), ("expressions", _names(EXPRESSIONS))]),
        "called": "\n".join(_called()),
        "functions": _rows(
            "function", "arguments", [(f"np.{n.removeprefix('numpy.')}", _call(s)) for n, s in sorted(FUNCTIONS.items())]
        ),
        "methods": _rows("method", "arguments", [(f".{n}", _call(s, first=1)) for n, s in sorted(METHODS.items())]),
        "random": _rows("generator", "draws", [(_GENERATORS[g], _names(_draws(g))) for g in _GENERATORS]),
        "builtins": _rows(
            "kind",
            "names",
            [
                ("builtins", _names(sorted(registry.BUILTINS))),
                ("math", _names(sorted(MATH))),
                ("cmath", _names(sorted(CMATH))),
                *((f"methods of a {_KINDS.get(kind, kind)}", _names(sorted(methods))) for kind, methods in builtin.METHODS.items()),
                ("dtypes", _names(DTYPES)),
            ],
        ),
        "codes": table(),
    }


_KINDS = {"numbervalue": "number", "lazy": "generator"}


def _called() -> list[str]:
    rows = ["| what they do | with a sequence of operations for every target | on vm and interp |", "|---|---|---|"]
    ufuncs = [n for n in callable_names() if isinstance(getattr(np, n, None), np.ufunc)]
    listed = {n.removeprefix("numpy.") for n in FUNCTIONS}
    families = {**{k: sorted(v.split()) for k, v in FAMILIES.items()}, "ufuncs": ufuncs}
    for family, names in families.items():
        own = [n for n in names if n not in listed]
        known, others = ([n for n in own if has_sequence(n) is known] for known in (True, False))
        rows.append(f"| {family} | {_names(known)} | {_names(others)} |")
    return rows


_GENERATORS = {"RandomState": "`np.random.seed(n)`, `np.random.RandomState(n)`", "default_rng": "`np.random.default_rng(n)`"}


def _draws(generator: str) -> list[str]:
    known = {*DRAWS, "integers"}
    return [d for d in sorted(known) if draw_method(generator, d) is not None]


def _rows(left: str, right: str, rows: list[tuple[str, str]]) -> str:
    body = [f"| {a if ' ' in a or a.isalpha() else f'`{a}`'} | {b} |" for a, b in rows]
    return "\n".join([f"| {left} | {right} |", "|---|---|", *body])


def _names(names: object) -> str:
    assert isinstance(names, list | tuple)
    return ", ".join(f"`{n}`" for n in names)  # pyright: ignore[reportUnknownVariableType]


def _call(signature: Signature, first: int = 0) -> str:
    parts = [
        p if i < len(signature.required) or p.startswith("*") else f"{p}=" for i, p in enumerate(signature.positional) if i >= first
    ]
    keywords = [f"{k}=" for k in signature.keywords]
    return ", ".join(f"`{p}`" for p in [*parts, *keywords])


def main(arguments: Sequence[str]) -> int:
    """In the repository's root."""
    return write_page(Path("docs/numpy.md"), tables(), "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
