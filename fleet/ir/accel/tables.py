"""`python -m fleet.ir.accel.tables [--check]`: the tables of docs/dlavm.md, from the registry and the builder functions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.dialect import operators
from fleet.ir.accel.nodes import OperatorCall
from fleet.ir.tables import write_page

_FUNCTIONS: Sequence[tuple[str, ModuleType]] = (
    ("Leaves and products (`adr.hbm`)", products),
    ("Attention (`adr.hbm`)", attention),
    ("Every token or element (`adr.hbm`)", pointwise),
    ("Views (`adr`)", views),
)
_INNER = frozenset({"coefficients", "pair", "table"})
"""Functions of these modules that dlavm does not have: the operators and the compiler of graphs use them."""


def operators_table() -> str:
    """Return a Markdown table of the operators that fleet registers."""
    rows = ["| operator | arguments | attributes | computes |", "|---|---|---|---|"]
    ordered = sorted(operators().values(), key=lambda o: (o.VIEW, o.name))  # registered in the order of imports
    return "\n".join([*rows, *map(_row, ordered)]) + "\n"


def _row(operator: type[OperatorCall]) -> str:
    attrs = "; ".join(f"`{name}` {text}" for name, text in operator.ATTRS.items())
    arguments = ", ".join(operator.roles()) + (", ..." if operator.many() else "")
    doc = operator.doc() + (" (view)" if operator.VIEW else "")
    return f"| `{operator.name}` | {arguments} | {attrs} | {doc} |"


def functions_table() -> str:
    """Return a Markdown table of the functions that build a node."""
    rows = ["| function | builds |", "|---|---|"]
    for title, module in _FUNCTIONS:
        rows.append(f"| **{title}** | |")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_") and name not in _INNER:
                first = (function.__doc__ or "").strip().splitlines()[0]
                rows.append(f"| `{name}({', '.join(_parameters(function))})` | {first} |")
    return "\n".join(rows) + "\n"


def _parameters(function: Callable[..., object]) -> list[str]:
    found: list[str] = []
    keyword_only = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            found += [] if any(f.startswith("*") for f in found) else ["*"]
        default = "" if p.default is p.empty else f"={getattr(p.default, 'kind', p.default)!r}"
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        found.append(f"{stars}{p.name}{default}")
    return found


def main(arguments: Sequence[str]) -> int:
    """Write docs/dlavm.md's tables, or check them with `--check`, in the repository's root. Returns the exit code."""
    tables = {"functions": functions_table(), "operators": operators_table()}
    return write_page(Path("docs/dlavm.md"), tables, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
