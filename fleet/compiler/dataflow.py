"""A program's text with its dataflow regions: runs of operations without effects, between prints and control flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from fleet.ir.dialect import FleetOp, RegionOp, has_effects
from fleet.ir.program import Program
from fleet.ir.text import print_ir


def dataflow_text(program: Program) -> str:
    """Return the IR with every such run of a function's body in `dataflow { ... }`, which ends with the values used after it."""
    functions = iter([op for op in program.module.ops if isinstance(op, FuncOp)])
    lines = print_ir(program.module).splitlines()
    found: list[str] = []
    while lines:
        line = lines.pop(0)
        found.append(line)
        if line.startswith("  func.func"):
            body: list[str] = []
            while not lines[0].startswith("  }"):
                body.append(lines.pop(0))
            found += _divided(list(next(functions).body.block.ops), list(_one_each(body)))
    return "\n".join(found) + "\n"


def _one_each(body: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of one operation after another: its first line is the least indented, and it may end with a brace."""
    lines: list[str] = []
    for line in body:
        begins = line.startswith("    ") and line[4] not in " })^"
        if begins and lines:
            yield lines
            lines = []
        lines.append(line)
    if lines:
        yield lines


def _divided(operations: Sequence[Operation], texts: Sequence[Sequence[str]]) -> Iterator[str]:
    pairs = zip(operations, texts, strict=True)
    for pure, run in groupby(pairs, key=lambda pair: _is_pure(pair[0])):
        group = list(run)
        lines = [line for _, text in group for line in text]
        if not pure:
            yield from lines
            continue
        inside = {op for op, _ in group}
        used = [text[0].split(" = ")[0].strip() for op, text in group if _leaves(op, inside)]
        yield "    dataflow {"
        yield from (f"  {line}" for line in lines)
        yield f"      output {', '.join(used)}"
        yield "    }"


def _is_pure(op: Operation) -> bool:
    return isinstance(op, FleetOp) and not isinstance(op, RegionOp) and not has_effects(op)


def _leaves(op: Operation, inside: set[Operation]) -> bool:
    """Return whether a result is used outside, also in a region there."""
    return any(use.operation not in inside for result in op.results for use in result.uses)
