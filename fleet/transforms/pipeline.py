"""Pipelines of passes for the targets, with verification, dumps and a table of each pass's effect."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.utils.exceptions import VerifyException

from fleet.errors import FleetError, ModelError
from fleet.ir.dialect import kind_of
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.transforms.edit import Edit
from fleet.transforms.passes import Pass, find_pass

_RAISING = ("raise-softmax", "raise-norm", "raise-activation", "raise-rope", "raise-attention")
_CLIP = "expand-functions{only=clip}"
_EXACT = ("canonicalise", "fold-constants", "cse", "dce")
_FUSING = ("fold-weights", *_RAISING, "fuse-linear", "dce", "drop-weights")

PIPELINES: Mapping[str, tuple[str, ...]] = {
    "vm": _EXACT,
    "raise": ("canonicalise", "fold-constants", "cse", *_RAISING, "dce"),
    "riscv": ("canonicalise", "fold-constants", "cse", "expand-functions", "widen-halves", *_FUSING),
    "accel": ("canonicalise", "fold-constants", "cse", _CLIP, "split-groups", "turn-products", *_FUSING),
}
"""Name -> passes. "vm" keeps every bit of every result; the others may change results within float rounding."""


@dataclass(frozen=True)
class PassHooks:
    """Callbacks before and after every pass.

    Attributes:
        verify_each: run the IR's verifier after every pass and name a pass that leaves invalid IR.
        dump: folder for the IR as numbered files ("03-cse-before.mlir"); None: no files.
        dump_before, dump_after: which of the two.
        after: called with the pass and the program after it.
    """

    verify_each: bool = False
    dump: Path | None = None
    dump_before: bool = True
    dump_after: bool = True
    after: Callable[[Pass, Program], None] | None = None


@dataclass(frozen=True)
class PassRecord:
    """The effect of one pass: seconds, operations before and after, and the change of each kind of operation."""

    name: str
    seconds: float
    before: int
    after: int
    changed: Mapping[str, int]


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes; deterministic."""

    name: str
    passes: tuple[Pass, ...]

    def run(self, program: Program, hooks: PassHooks | None = None) -> tuple[Program, tuple[PassRecord, ...]]:
        """Return the program after all passes, and one record per pass. Raises ModelError if verification fails."""
        hooks = hooks or PassHooks()
        edit = Edit(program)
        counts = _counts(edit)
        records: list[PassRecord] = []
        for index, one in enumerate(self.passes, 1):
            if hooks.dump is not None and hooks.dump_before:
                _dump(hooks.dump, f"{index:02d}-{one.name}-before", edit)
            start = time.perf_counter()
            one.everywhere(edit)
            seconds = time.perf_counter() - start
            before, counts = counts, _counts(edit)
            difference = {k: counts[k] - before[k] for k in sorted(counts.keys() | before.keys()) if counts[k] != before[k]}
            records.append(PassRecord(one.name, seconds, before.total(), counts.total(), difference))
            if hooks.dump is not None and hooks.dump_after:
                _dump(hooks.dump, f"{index:02d}-{one.name}-after", edit)
            if hooks.verify_each:
                _verify(one, edit)
            if hooks.after is not None:
                hooks.after(one, edit.snapshot())
        return edit.program(), tuple(records)


def parse_passes(text: str) -> tuple[Pass, ...]:
    """Parse passes separated by commas, options in braces: "cse,infer-shapes{x=8x64},dce". Raises FleetError."""
    parts: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return tuple(find_pass(part) for part in parts if part.strip())


def pipeline(name: str) -> Pipeline:
    """Return a target's pipeline. Raises FleetError for an unknown name."""
    if name not in PIPELINES:
        raise FleetError(f"no pipeline is called {name}", hint=f"pipelines are {', '.join(PIPELINES)}")
    return Pipeline(name, tuple(find_pass(p) for p in PIPELINES[name]))


def run_pipeline(program: Program, name: str) -> Program:
    """Return the program after a target's pipeline."""
    return pipeline(name).run(program)[0]


def prepared(program: Program, options: LoweringOptions) -> Program:
    """Return the program after the pipeline or the passes that the options name; the program itself if they name none.

    Raises FleetError for an unknown name.
    """
    if options.pipeline is not None:
        return run_pipeline(program, options.pipeline)
    if options.passes is not None:
        return Pipeline("asked", parse_passes(options.passes)).run(program)[0]
    return program


def record_table(records: Sequence[PassRecord]) -> str:
    """Format the records as an aligned text table with a line of totals."""
    rows = [("pass", "ms", "before", "after", "changed")]
    for r in records:
        changed = " ".join(f"{kind}{n:+d}" for kind, n in sorted(r.changed.items(), key=lambda c: (c[1], c[0])))
        rows.append((r.name, f"{1e3 * r.seconds:.1f}", str(r.before), str(r.after), changed or "-"))
    if records:
        total = f"{1e3 * sum(r.seconds for r in records):.1f}"
        rows.append(("all", total, str(records[0].before), str(records[-1].after), ""))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _counts(edit: Edit) -> Counter[str]:
    return Counter(kind_of(op) for op in edit.operations())


def _dump(folder: Path, name: str, edit: Edit) -> None:
    from fleet.ir.text import print_ir

    path = folder / f"{name}.mlir"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(print_ir(edit.module))
    except OSError as error:
        raise FleetError(f"cannot be written ({error.strerror or error})", where=str(path)) from error


def _verify(one: Pass, edit: Edit) -> None:
    try:
        edit.module.verify()
        edit.check()
    except (VerifyException, ValueError) as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise ModelError(f"leaves IR that does not verify: {reason}", where=f"pass {one.name}") from error
