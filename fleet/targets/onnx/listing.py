"""What the export makes of every operation: the table of docs/onnx-out.md.

`python -m fleet.targets.onnx.listing [--check]` writes it into the page, between its markers.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fleet.ir.composite import CompositeOp
from fleet.ir.dialect import FLEET
from fleet.ir.tables import write_page
from fleet.targets.onnx import _elementwise, _reductions
from fleet.targets.onnx.export import COMPOSITES, IR_VERSION, OPSET, RULES
from fleet.targets.onnx.types import STAND_INS

__all__ = ["tables"]

_ONE = {
    **_elementwise.BINARY, **_elementwise.COMPARISONS, **_elementwise.LOGICAL, **_elementwise.UNARY, **_reductions.REDUCTIONS,
}  # fmt: skip
"""Operations of which a rule serves several: the operator of each."""


def tables() -> str:
    """Opset; operations with their operators; composites; types that another stands in for."""
    lines = [f"Opset {OPSET}, version {IR_VERSION} of the format.", "", "| operation of `fleet` | exported as |", "|---|---|"]
    for name, rule in RULES.items():
        lines.append(f"| `{name}` | {_words(name, rule)} |")
    sequences: list[str] = []
    for op in FLEET.operations:
        name = op.name.removeprefix("fleet.")
        if not issubclass(op, CompositeOp):
            continue
        if name in COMPOSITES:
            lines.append(f"| `{name}` | {_words(name, COMPOSITES[name])} |")
        else:
            sequences.append(f"`{name}`")
    lines.append(f"| {', '.join(sequences)} | Their textbook sequences (`fleet.ir.expand`). |")
    lines.append("| `print` | Its operands become outputs. |")
    lines += ["", "| operator | types that it is not exported in, and what stands in for them |", "|---|---|"]
    for operator, pairs in sorted(STAND_INS.items()):
        lines.append(f"| `{operator}` | {', '.join(f'{a} as {b}' for a, b in pairs.items())} |")
    return "\n".join(lines) + "\n"


def _words(name: str, rule: Callable[..., Any]) -> str:
    """The first paragraph of a rule's docstring; in that of a rule for several operators, the operator's name."""
    words = " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split())
    return words.replace("One operator", f"`{_ONE.get(name, name)}`", 1)


def main(arguments: Sequence[str]) -> int:
    """In the repository's root."""
    return write_page(Path("docs/onnx-out.md"), {"operations": tables()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
