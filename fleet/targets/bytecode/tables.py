"""`python -m fleet.targets.bytecode.tables [--check]`: writes the tables of docs/bytecode.md from the opcodes and operators."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fleet.ir.tables import write_page
from fleet.targets.bytecode.instructions import Form, form_of
from fleet.targets.bytecode.opcodes import ELEMENT_CODES, OpCode, TypeCode
from fleet.targets.bytecode.operators import OPERATORS

_WORDS = {
    Form.push: "",
    Form.ldc: "`1, constant`, or `2, rank, dims ..., element, constant`",
    Form.invoke: "`constant` (the hint)",
    Form.load: "`slot`",
    Form.store: "`slot`",
    Form.jump: "`offset`",
    Form.branch: "`offset`",
}
_ONLY_SEEDS = ("max", "splat")


def opcodes_table() -> str:
    """Return the table of code, name, following words and meaning."""
    rows = ["| code | opcode | words that follow | meaning |", "|---|---|---|---|"]
    for op in OpCode:
        form, slot = form_of(op)
        meaning = form.value if slot is None else f"{form.value} ({slot})"
        rows.append(f"| {int(op)} | `{op.name}` | {_WORDS[form] if slot is None else ''} | {meaning} |")
    return "\n".join(rows) + "\n"


def types_table() -> str:
    """Return the table of type codes."""
    rows = ["| code | type | where |", "|---|---|---|"]
    elements = set(ELEMENT_CODES.values())
    for code in TypeCode:
        where = "elements of an `ldc` of a tensor" if code in elements else "what `ldc` loads"
        rows.append(f"| {int(code)} | {code.name} | {where} |")
    return "\n".join(rows) + "\n"


def operators_table() -> str:
    """Return the sentence that lists the VM's operators."""
    ours = ", ".join(f"`{n}`" for n in sorted(OPERATORS) if n not in _ONLY_SEEDS)
    seeds = ", ".join(f"`{n}`" for n in _ONLY_SEEDS)
    return f"{ours}; and for bytecode of others, as our converter does not emit them: {seeds}.\n"


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    tables = {"opcodes": opcodes_table(), "type codes": types_table(), "operators": operators_table()}
    return write_page(Path("docs/bytecode.md"), tables, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
