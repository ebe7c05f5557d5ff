"""`python -m fleet.ir.tables [--check]`: the tables of docs/ir.md, from the dialect.

`write_page` writes and checks every page with generated tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.irdl import OptOperandDef, VarOperandDef

from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir.library import record
from fleet.ir.operations import elementwise, functions, movement, reductions, sized

_HIDDEN = frozenset({"id", "var", "at", "covers", "operandSegmentSizes"})


def operations_table() -> str:
    """Return a Markdown table of the operations with operands, properties, result and NumPy equivalent."""
    rows = ["| operation | operands | properties | result | computes |", "|---|---|---|---|---|"]
    groups = {
        "Elementwise": elementwise,
        "Reductions and products": reductions,
        "Movement": movement,
        "Sizes known in the run": sized,
        "NumPy's functions": functions,
        "Calls of NumPy": record,
    }
    placed: set[type[d.FleetOp]] = set()
    for title, module in groups.items():
        ops = [op for op in d.OPERATIONS.values() if op.__module__ == module.__name__]
        placed.update(ops)
        rows += [f"| **{title}** | | | | |", *map(_row, ops)]
    rest = [op for op in d.OPERATIONS.values() if op not in placed]
    composites = [op for op in rest if issubclass(op, d.CompositeOp)]
    rows += ["| **Composites** | | | | |", *map(_row, composites)]
    rows += ["| **Others** | | | | |", *(_row(op) for op in rest if op not in composites)]
    return "\n".join(rows) + "\n"


def _row(op: type[d.FleetOp]) -> str:
    definition = op.get_irdl_definition()
    operands: list[str] = []
    for name, kind in definition.operands:
        operands.append(
            f"[{name}]" if isinstance(kind, OptOperandDef) else f"{name}..." if isinstance(kind, VarOperandDef) else name
        )
    properties = [name for name in definition.properties if name not in _HIDDEN]
    doc = " ".join((op.__doc__ or "").split()).replace("|", "\\|")
    return f"| `{d.kind_of(op)}` | {', '.join(operands)} | {', '.join(properties)} | {op.result_words()} | {doc} |"


def marked(text: str, name: str, body: str) -> str:
    """Return the page's text with `body` between its marks `name`. Raises FleetError if it has no such marks."""
    pattern = re.compile(rf"(<!-- {re.escape(name)}: [^\n]*-->\n).*?(<!-- end of {re.escape(name)} -->)", re.S)
    if not pattern.search(text):
        raise FleetError(f"no marks for the table {name}", hint=f"write <!-- {name}: ... --> and <!-- end of {name} -->")
    return pattern.sub(lambda m: m[1] + "\n" + body + "\n" + m[2], text)


def write_page(path: Path, tables: Mapping[str, str], check: bool) -> int:
    """Write the tables into the page; with `check` only compare. Return the exit code: 1 if the page is not current."""
    text = path.read_text()
    new = text
    for name, body in tables.items():
        new = marked(new, name, body)
    if check and new != text:
        print(f"{path}: its tables are not those of the sources; run this without --check", file=sys.stderr)
        return 1
    if new != text:
        path.write_text(new)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Write docs/ir.md's table, or check it with `--check`, in the repository's root. Returns the exit code."""
    return write_page(Path("docs/ir.md"), {"operations": operations_table()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
