"""Lists the export's form of every operation: the table of docs/onnx-out.md.

`python -m fleet.targets.onnx.listing [--check]` writes it into the page, between its markers.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fleet.ir.dialect import OPERATIONS, CompositeOp, FleetOp, kind_of
from fleet.ir.tables import write_page
from fleet.targets.onnx import _elementwise, _reductions
from fleet.targets.onnx.export import BODIES, COMPOSITES, IR_VERSION, OPSET, RULES
from fleet.targets.onnx.types import STAND_INS

_ONE = {
    **_elementwise.BINARY, **_elementwise.COMPARISONS, **_elementwise.LOGICAL, **_elementwise.UNARY, **_reductions.REDUCTIONS,
}  # fmt: skip
"""Operations whose rule serves several: the operator of each."""


def tables() -> str:
    """Return opset; operations with their operators; composites; replaced types."""
    lines = [f"Opset {OPSET}, version {IR_VERSION} of the format.", "", "| operation of `fleet` | exported as |", "|---|---|"]
    composites = [op for op in OPERATIONS.values() if issubclass(op, CompositeOp)]
    whole = {op: COMPOSITES[op] for op in composites if op in COMPOSITES}
    lines += [f"| `{kind_of(op)}` | {_words(op, rule)} |" for op, rule in {**RULES, **BODIES, **whole}.items()]
    sequences = [f"`{kind_of(op)}`" for op in composites if op not in COMPOSITES]
    lines.append(f"| {', '.join(sequences)} | Their textbook sequences (`fleet.ir.expand`). |")
    lines.append("| `print` | Its operands become outputs. |")
    lines += ["", "| operator | types that it is not exported in, and what stands in for them |", "|---|---|"]
    for operator, pairs in sorted(STAND_INS.items()):
        lines.append(f"| `{operator}` | {', '.join(f'{a} as {b}' for a, b in pairs.items())} |")
    return "\n".join(lines) + "\n"


def _words(op: type[FleetOp], rule: Callable[..., Any]) -> str:
    """Return the first paragraph of a rule's docstring; in that of a rule for several operators, insert the operator's name."""
    words = " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split())
    return words.replace("One operator", f"`{_ONE.get(op, kind_of(op))}`", 1)


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    return write_page(Path("docs/onnx-out.md"), {"operations": tables()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
