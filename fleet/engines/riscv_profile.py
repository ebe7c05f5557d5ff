"""Profile of a run: instructions by operation and kind, and the hottest blocks with their disassembly.

Everything is exact: it is derived from the execution count of every instruction while an operation was current.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fleet.core.records.code_profile import HotBlock, OperationInstructions, StoredProfile
from fleet.engines.riscv_emulators.base import Execution
from fleet.targets.riscv.compile import RiscvProgram
from fleet.targets.riscv.elf import PF_X
from fleet.targets.riscv.mix import KINDS, instructions_of, kind_of

_BLOCKS = 5
_TWO = ("call", "tail")
"""Pseudo-instructions of the assembly that expand to two instructions."""


@dataclass(frozen=True)
class _Block:
    """Instructions [first, last) of a function, which ran equally often. work: instructions retired."""

    id: str
    function: str
    first: int
    last: int
    runs: int

    @property
    def work(self) -> int:
        return self.runs * (self.last - self.first)


def profile_of(compiled: RiscvProgram, execution: Execution) -> StoredProfile | None:
    """Return the profile of a run; None if the emulator does not report execution counts."""
    if execution.profile is None:
        return None
    decoded = {o.body: instructions_of(_code(compiled, o.body)) for o in compiled.operations}
    kinds = {body: np.array([KINDS.index(kind_of(word)) for _, word in found]) for body, found in decoded.items()}
    operations: list[OperationInstructions] = []
    blocks: list[_Block] = []
    for o in compiled.operations:
        runs = execution.profile(o.symbol, o.body)
        stub = [KINDS.index(kind_of(word)) for _, word in instructions_of(_code(compiled, o.symbol))]
        counts = np.bincount(kinds[o.body], runs, len(KINDS)) + np.bincount(stub, execution.profile(o.symbol, o.symbol), len(KINDS))
        by_kind = {kind: int(n) for kind, n in zip(KINDS, counts, strict=True) if n}
        operations.append(OperationInstructions(o.id, execution.by_symbol.get(o.symbol, 0), o.macs, by_kind))
        edges = np.flatnonzero(np.diff(runs)) + 1
        ends = zip([0, *edges], [*edges, len(runs)], strict=True)
        found = (_Block(o.id, o.body, int(first), int(last), int(runs[first])) for first, last in ends)
        blocks += [block for block in found if block.work]
    hottest = sorted(blocks, key=lambda block: -block.work)[:_BLOCKS]
    functions = {block.function for block in hottest}
    texts = _assembly(compiled.asm(functions), functions) if hottest else {}
    shown = (_shown(compiled, block, decoded[block.function], texts, execution.instructions) for block in hottest)
    return StoredProfile(tuple(operations), tuple(shown))


def _code(compiled: RiscvProgram, name: str) -> bytes:
    symbol = compiled.symbols[name]
    segment = next(s for s in compiled.image.segments if s.flags & PF_X)
    begin = symbol.address - segment.address
    return segment.data[begin : begin + symbol.size]


def _shown(
    compiled: RiscvProgram, block: _Block, found: list[tuple[int, int]], texts: dict[str, list[str]], total: int
) -> HotBlock:
    base = compiled.symbols[block.function].address
    text = texts.get(block.function, [])
    if len(text) != len(found):  # the text expanded differently than expected: show the words
        text = [f"{word:#010x}" if word & 3 == 3 else f"{word:#06x}" for _, word in found]
    lines = tuple(f"{base + found[i][0]:x}  {text[i]}" for i in range(block.first, block.last))
    address = f"{base + found[block.first][0]:#x}"
    return HotBlock(block.id, block.function, address, block.runs, len(lines), block.work / max(1, total), lines)


def _assembly(text: str, functions: set[str]) -> dict[str, list[str]]:
    """Function -> its instructions as text, one entry per instruction."""
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
