"""What the export makes of every operation, and the lowering's passes: the tables of docs/mlir.md.

`python -m fleet.targets.mlir.listing docs/mlir.md` writes them into the page, between its markers.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from fleet.ir.composite import CompositeOp
from fleet.ir.dialect import FLEET
from fleet.targets.mlir.export import RULES
from fleet.targets.mlir.lower import PIPELINE

__all__ = ["BEGIN", "END", "tables", "updated"]

BEGIN, END = "<!-- generated: mlir -->", "<!-- end of generated -->"


def tables() -> str:
    """Operations by the rule that exports them, composites, and the passes that lower the result."""
    by_rule: dict[str, list[str]] = {}
    for name, rule in RULES.items():
        words = " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split())
        by_rule.setdefault(words, []).append(f"`{name}`")
    composites = [f"`{op.name.removeprefix('fleet.')}`" for op in FLEET.operations if issubclass(op, CompositeOp)]
    lines = ["| operations of `fleet` | exported as |", "|---|---|"]
    lines += [f"| {', '.join(sorted(names))} | {words} |" for words, names in by_rule.items()]
    lines += [f"| {', '.join(sorted(composites))} | their textbook sequences (`fleet.ir.expand`), in one function each |"]
    lines += ["| `print` | its operands become results of the function |", "", "The passes, in order:", "", "```text"]
    return "\n".join([*lines, *PIPELINE, "```"]) + "\n"


def updated(page: str) -> str:
    """A page with the tables between its markers brought up to date. Raises ValueError for a page without them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n{tables()}{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(updated(path.read_text()))
