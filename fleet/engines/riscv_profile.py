"""Where a run's instructions went: by operation and kind, and the hottest blocks with their disassembly.

Everything is exact: it is made of how often every instruction ran while an operation was current.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fleet.engines.riscv_emulators.base import Execution
from fleet.targets.riscv.compile import RiscvProgram
from fleet.targets.riscv.elf import PF_X
from fleet.targets.riscv.mix import KINDS, instructions_of, kind_of

__all__ = ["profile_of"]

_BLOCKS = 5
_TWO = ("call", "tail")
"""Words of the assembly that stand for two instructions."""


def profile_of(compiled: RiscvProgram, execution: Execution) -> dict[str, Any]:
    """JSON values: "operations" (id, instructions, macs, kinds) and "blocks", the hottest first (id, function, address, runs,
    instructions, share, lines). {} where the emulator does not tell how often an instruction ran.
    """
    if execution.profile is None:
        return {}
    decoded = {o.body: instructions_of(_code(compiled, o.body)) for o in compiled.operations}
    kinds = {body: np.array([KINDS.index(kind_of(word)) for _, word in found]) for body, found in decoded.items()}
    operations: list[dict[str, Any]] = []
    blocks: list[dict[str, Any]] = []
    for o in compiled.operations:
        runs = execution.profile(o.symbol, o.body)
        stub = [KINDS.index(kind_of(word)) for _, word in instructions_of(_code(compiled, o.symbol))]
        counts = np.bincount(kinds[o.body], runs, len(KINDS)) + np.bincount(stub, execution.profile(o.symbol, o.symbol), len(KINDS))
        total = execution.by_symbol.get(o.symbol, 0)
        operations.append(
            {
                "id": o.id,
                "instructions": total,
                "macs": o.macs,
                "kinds": {kind: int(n) for kind, n in zip(KINDS, counts, strict=True) if n},
            }
        )
        edges = np.flatnonzero(np.diff(runs)) + 1
        for first, last in zip([0, *edges], [*edges, len(runs)], strict=True):
            work = int(runs[first]) * int(last - first)
            if work:
                blocks.append(
                    {"id": o.id, "function": o.body, "first": int(first), "last": int(last), "runs": int(runs[first]), "work": work}
                )
    hottest = sorted(blocks, key=lambda block: -block["work"])[:_BLOCKS]
    texts = _assembly(compiled.asm(), {o.body for o in compiled.operations}) if hottest else {}
    return {
        "operations": operations,
        "blocks": [_block(compiled, block, decoded[block["function"]], texts, execution.instructions) for block in hottest],
    }


def _code(compiled: RiscvProgram, name: str) -> bytes:
    symbol = compiled.symbols[name]
    segment = next(s for s in compiled.image.segments if s.flags & PF_X)
    begin = symbol.address - segment.address
    return segment.data[begin : begin + symbol.size]


def _block(
    compiled: RiscvProgram, block: dict[str, Any], found: list[tuple[int, int]], texts: dict[str, list[str]], total: int
) -> dict[str, Any]:
    base = compiled.symbols[block["function"]].address
    first, last = block["first"], block["last"]
    text = texts.get(block["function"], [])
    if len(text) != len(found):  # the text expanded otherwise than expected: show the words
        text = [f"{word:#010x}" if word & 3 == 3 else f"{word:#06x}" for _, word in found]
    lines = [f"{base + found[i][0]:x}  {text[i]}" for i in range(first, last)]
    return {
        "id": block["id"],
        "function": block["function"],
        "address": f"{base + found[first][0]:#x}",
        "runs": block["runs"],
        "instructions": last - first,
        "share": block["work"] / max(1, total),
        "lines": lines,
    }


def _assembly(text: str, functions: set[str]) -> dict[str, list[str]]:
    """Function -> its instructions as text, one entry an instruction."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        label = re.match(r'"?([^\s":]+)"?:', line)
        if label and not label[1].startswith("."):
            current = found.setdefault(label[1], []) if label[1] in functions else None
        elif current is not None and line.startswith("\t") and not line.startswith(("\t.", "\t#")):
            words = " ".join(line.split("#")[0].split())
            current += [words, "  (second half)"] if words.startswith(_TWO) else [words]
    return found
