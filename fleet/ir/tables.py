"""`python -m fleet.ir.tables [--check]`: the tables of docs/ir.md, out of the dialect.

`write_page` is how every page with generated tables is written and checked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.irdl import OptOperandDef, VarOperandDef

from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir import elementwise, functions, movement, reductions, sized
from fleet.ir.promotion import BINARY, PYTHON_OPERATORS, UNARY

__all__ = ["operations_table", "write_page"]

_HIDDEN = frozenset({"id", "var", "at", "covers", "operandSegmentSizes"})
_RESULT: Mapping[str, str] = {
    "cast": "operand's shape; the dtype is the result's",
    "clip": "broadcast of all three; `numpy.clip`'s dtype",
    "nan_max": "axes removed, or 1 with keepdims; operand's dtype",
    "nan_min": "axes removed, or 1 with keepdims; operand's dtype",
    "where": "broadcast of all three; common dtype of lhs and rhs",
    "matmul": "leading dimensions broadcast, then rows of lhs, columns of rhs; `numpy.matmul`'s dtype",
    "einsum": "the letters behind `->`; common dtype",
    "mean": "axes removed, or 1 with keepdims; float64 of integers",
    "var": "axes removed, or 1 with keepdims; float64 of integers",
    "reduce_any": "axes removed, or 1 with keepdims; i1",
    "reduce_all": "axes removed, or 1 with keepdims; i1",
    "reduce_sum": "axes removed, or 1 with keepdims; int64 of integers",
    "reduce_prod": "axes removed, or 1 with keepdims; int64 of integers",
    "reduce_max": "axes removed, or 1 with keepdims; operand's dtype",
    "reduce_min": "axes removed, or 1 with keepdims; operand's dtype",
    "argmax": "axis removed; int64",
    "argmin": "axis removed; int64",
    "cumsum": "operand's shape; int64 of integers",
    "transpose": "dimensions in the permutation's order",
    "reshape": "as many elements; the shape is the result's",
    "broadcast_to": "the shape is the result's",
    "slice": "`size`",
    "gather": "the axis replaced by the shape of rhs",
    "scatter": "operand's",
    "argsort": "operand's shape; int64",
    "concat": "the axis summed; common dtype",
    "pad": "each dimension with `low` and `high` added; operand's dtype",
    "dim": "a Python integer",
    "dynamic_reshape": "as many elements; the shape is the result's",
    "dynamic_broadcast": "the shape is the result's",
    "dynamic_slice": "`axes` unknown, the others kept",
    "arange": "rank 1; int64",
    "tri": "rows x columns",
    "softmax": "operand's",
    "layer_norm": "operand's shape; common dtype",
    "rms_norm": "operand's shape; common dtype",
    "gelu": "operand's",
    "silu": "operand's",
    "sigmoid": "operand's",
    "rope": "operand's shape; common dtype",
    "linear": "of the matmul; common dtype",
    "attention": "[n, heads * d]; common dtype",
    "constant": "any; a tensor is filled with the number",
    "print": "none",
}


def operations_table() -> str:
    """Every operation with operands, properties, result and NumPy equivalent."""
    rows = ["| operation | operands | properties | result | computes |", "|---|---|---|---|---|"]
    groups = {
        "Elementwise": elementwise,
        "Reductions and products": reductions,
        "Movement": movement,
        "Sizes known in the run": sized,
        "NumPy's functions": functions,
    }
    placed: set[type[d.FleetOp]] = set()
    for title, module in groups.items():
        ops = [op for op in d.FLEET.operations if issubclass(op, d.FleetOp) and op.__module__ == module.__name__]
        placed.update(ops)
        rows += [f"| **{title}** | | | | |", *map(_row, ops)]
    rest = [op for op in d.FLEET.operations if issubclass(op, d.FleetOp) and op not in placed]
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
    name = op.name.removeprefix("fleet.")
    doc = " ".join((op.__doc__ or "").split()).replace("|", "\\|")
    return f"| `{name}` | {', '.join(operands)} | {', '.join(properties)} | {_result(name)} | {doc} |"


def _result(name: str) -> str:
    if name in _RESULT:
        return _RESULT[name]
    ufunc = (BINARY.get(name) or UNARY[name]).__name__
    shape = "broadcast" if name in BINARY else "operand's shape"
    number = "; a Python number of Python numbers" if name in PYTHON_OPERATORS else ""
    return f"{shape}; dtype of `numpy.{ufunc}`{number}"


def marked(text: str, name: str, body: str) -> str:
    """The page's text with `body` between its marks `name`. Raises FleetError where it has none."""
    pattern = re.compile(rf"(<!-- {re.escape(name)}: [^\n]*-->\n).*?(<!-- end of {re.escape(name)} -->)", re.S)
    if not pattern.search(text):
        raise FleetError(f"no marks for the table {name}", hint=f"write <!-- {name}: ... --> and <!-- end of {name} -->")
    return pattern.sub(lambda m: m[1] + "\n" + body + "\n" + m[2], text)


def write_page(path: Path, tables: Mapping[str, str], check: bool) -> int:
    """Writes the tables into the page; with `check` only compares. The exit code: 1 where the page is not current."""
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
    """In the repository's root."""
    return write_page(Path("docs/ir.md"), {"operations": operations_table()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
