"""Lists the export's form of every operation, and the lowering's passes: the tables of docs/mlir.md.

`python -m fleet.targets.mlir.listing [--check]` writes them into the page, between its markers.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

from fleet.ir.dialect import OPERATIONS, CompositeOp, kind_of
from fleet.ir.tables import write_page
from fleet.targets.mlir._bodies import BODIES
from fleet.targets.mlir.export import RULES
from fleet.targets.mlir.lower import PIPELINE


def tables() -> str:
    """Return operations by the rule that exports them, composites, and the passes that lower the result."""
    by_rule: dict[str, list[str]] = {}
    for op, rule in {**RULES, **BODIES}.items():
        words = " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split())
        by_rule.setdefault(words, []).append(f"`{kind_of(op)}`")
    composites = [f"`{kind_of(op)}`" for op in OPERATIONS.values() if issubclass(op, CompositeOp)]
    lines = ["| operations of `fleet` | exported as |", "|---|---|"]
    lines += [f"| {', '.join(sorted(names))} | {words} |" for words, names in by_rule.items()]
    lines += [f"| {', '.join(sorted(composites))} | their textbook sequences (`fleet.ir.expand`), in one function each |"]
    lines += ["| `print` | its operands become results of the function |", "", "The passes, in order:", "", "```text"]
    return "\n".join([*lines, *PIPELINE, "```"]) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    return write_page(Path("docs/mlir.md"), {"mlir": tables()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
