"""Compare two traces: bit by bit for each commit, or value by value for each operation against derived bounds.

A comparison passes only if it has compared something. Traces that are incomplete, or that ran different programs or different
descriptions, and comparisons of zero elements never pass. They fail with a reason and never raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TypeAlias

import numpy as np

from fleet.compare.bounds.bound import Bound
from fleet.compare.diverged import CommitRow, Divergence
from fleet.compare.measured import OperationRow
from fleet.compare.metrics import same_numbers
from fleet.compare.operation_rows import Basis, Judgement, Measured, measured
from fleet.compare.rules.steps import Array
from fleet.compare.settled import settled
from fleet.compare.signal import Floors
from fleet.compare.verdict import Comparison, NotCompared, Verdict
from fleet.engines.base import Progress
from fleet.engines.trace import Commit, Trace
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program


@dataclass(frozen=True)
class CallFigures:
    """The instruction set's figures of one call: useful and issued MACs, model cycles, least traffic, hardware unit."""

    macs: int | None = None
    macs_issued: int | None = None
    model_cycles: int | None = None
    least_bytes: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str = ""


def quiet(_fraction: float, _words: str) -> None:
    """Ignore the progress."""


@dataclass(frozen=True)
class Doubt:
    """Values of an operation that no bound decides completely. undecided: boolean, in the shape of the values."""

    reference: Array
    other: Array
    undecided: Array


Judge: TypeAlias = Callable[[Mapping[str, Doubt]], Mapping[str, Judgement]]
"""Called once per comparison with all of its doubts by operation id. What it does not answer is not proved."""


@dataclass(frozen=True)
class ValueComparison:
    """A comparison of values, for `compare_values`.

    Attributes:
        name: "<other>-vs-<reference>". kind: "bound" or "info". question: what the comparison answers, in words.
        bounds, local_bounds: operation id -> bound (kind "bound").
        local: operation id -> (reference, other) of the operation alone, both on the same operands, if measured.
        own, own_bounds: likewise, on the other side's own operands (`own_step`); the same objects as `local` if those operands
            are the same.
        classes_must_agree: whether argmax must be equal without exception (both sides have the same arithmetic).
        parts: operation id -> part -> RMS of that part of its local error (`local.local_parts`).
        causes: operation id -> part -> cause of the error on the device, in words.
        ulp_dtype: operation id -> dtype in which ULPs are counted ("float16" if the device stores float16).
        waivers: operation id -> text of the waiver.
        inner: operation id -> why its value is not available (it is inside a device group).
        missing_is_failure: whether an operation fails that has neither a value on the other side nor an entry in `inner`.
        progress: called before each operation is compared.
        steps: returns (own, own_bounds) of the given operations; called for elements that the accumulated bound leaves undecided
            if `own` lacks the operation.
        inputs: of the model, by name, as far as they are known.
        settled: operations of weights alone that are the same on both sides (`settled.settled`); None: not looked for yet.
        floors: of the reference's operations, if another comparison with this reference made them; else None.
        judge: called for what all bounds leave undecided. If None, that is not proved.
        same_text: whether what both print must be the same, character by character.
    """

    name: str
    kind: str
    question: str
    bounds: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    local_bounds: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    local: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict[str, tuple[np.ndarray, np.ndarray]])
    own: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict[str, tuple[np.ndarray, np.ndarray]])
    own_bounds: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    causes: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    classes_must_agree: bool = False
    ulp_dtype: Mapping[str, np.dtype] = field(default_factory=dict[str, np.dtype])
    waivers: Mapping[str, str] = field(default_factory=dict[str, str])
    inner: Mapping[str, str] = field(default_factory=dict[str, str])
    missing_is_failure: bool = True
    progress: Progress = quiet
    steps: Callable[[Sequence[str]], tuple[Mapping[str, tuple[Array, Array]], Mapping[str, Bound]]] | None = None
    judge: Judge | None = None
    same_text: bool = False
    inputs: Mapping[str, Array] = field(default_factory=dict[str, Array])
    settled: frozenset[str] | None = None
    floors: Floors | None = None


def refusals(reference: Trace, other: Trace, *, same_program: bool, ended_early: bool = False) -> list[str]:
    """Return why these traces cannot be compared; empty if they can.

    ended_early: accept another trace that was stopped at its first unexpected commit; it is compared up to there.
    """
    unfinished = [t for t in (reference, other) if not t.complete and not (t is other and ended_early and t.stopped is not None)]
    reasons = [f"the trace of {t.engine} is not complete: its run did not end" for t in unfinished]
    if same_program and reference.program_hash != other.program_hash:
        first, second = reference.program_hash[:16], other.program_hash[:16]
        reasons.append(f"different programs: {reference.engine} ran {first}, {other.engine} ran {second}")
    hashes = (reference.description_hash, other.description_hash)
    if None not in hashes and hashes[0] != hashes[1]:
        first, second = (str(h)[:16] for h in hashes)
        reasons.append(f"different descriptions: {reference.engine} has {first}, {other.engine} has {second}")
    if None not in (reference.device, other.device) and reference.device != other.device:
        reasons.append(f"different devices: {reference.engine} ran {reference.device}, {other.engine} ran {other.device}")
    return reasons


def compare_bits(name: str, reference: Trace, other: Trace, program: Program, figures: Sequence[CallFigures] = ()) -> Comparison:
    """Compare every bit of commits and, if both traces kept them, of tensors and outputs. figures: one per commit, for the rows.

    Of a sampled trace the commits and tensors of the sample are compared, and nothing else.
    """
    question = "Is the hardware right? Every bit of every destination at every commit."
    sampled = other.evidence.kind == "sample"
    if sampled:
        drawn = {c.seq for c in other.commits}
        figures = [f for c, f in zip(reference.commits, figures, strict=False) if c.seq in drawn]
        reference = replace(reference, commits=[c for c in reference.commits if c.seq in drawn], outputs={})
        question = "Is the hardware right? Every bit of every destination at the commits of a sample."
    reasons = refusals(reference, other, same_program=True, ended_early=True)
    rows = () if reasons else _commit_rows(reference, other, figures)
    if other.stopped is not None:
        rows = rows[: len(other.commits)]
    operations: list[OperationRow] = []
    if not reasons:
        reasons += _commit_reasons(reference, other, rows)
        operations, differing = _bit_rows(reference, other, program)
        reasons += differing
    size = sum(c.bytes_written for c in reference.commits) if rows else 0
    elements = sum(row.cumulative.elements for row in operations)
    verdict: Verdict = "fail" if reasons else "pass"
    if not reasons and (not rows or size == 0):
        verdict, reasons = "nothing compared", ["no byte was compared: the run committed no instruction"]
    first = next((row for row in rows if not row.equal), None)
    divergence = None
    if first is not None:
        divergence = Divergence(name, first.seq, first.instruction, first.ops, _difference(reference, other, first.seq))
    elif reasons and operations and (bad := next((r for r in operations if r.verdict == "fail"), None)):
        divergence = Divergence(name, None, None, (bad.op,), f"{bad.op}: {bad.reason}")
    return Comparison(
        name, "bits", reference.engine, other.engine, question, verdict, tuple(reasons), elements, size, tuple(operations), rows,
        divergence, () if operations else (NotCompared("tensors", "one of the traces kept none"),), sampled=sampled,
    )  # fmt: skip


def _commit_rows(reference: Trace, other: Trace, figures: Sequence[CallFigures]) -> tuple[CommitRow, ...]:
    """Return one row per commit of either side. A commit that only one side has is unequal."""
    rows: list[CommitRow] = []
    for i in range(max(len(reference.commits), len(other.commits))):
        a = reference.commits[i] if i < len(reference.commits) else None
        b = other.commits[i] if i < len(other.commits) else None
        one = a or b
        assert one is not None
        clock = b if b is not None and b.end is not None else a
        f = figures[i] if i < len(figures) else CallFigures()
        rows.append(
            CommitRow(
                seq=one.seq,
                instruction=one.instruction,
                ops=one.ops,
                reference_digest=f"{a.digest:016x}" if a else "",
                other_digest=f"{b.digest:016x}" if b else "",
                bytes_written=one.bytes_written,
                result=one.result,
                start=clock.start if clock else None,
                end=clock.end if clock else None,
                cycles=dict(clock.cycles) if clock else {},
                macs=f.macs,
                macs_issued=f.macs_issued,
                model_cycles=f.model_cycles,
                token_range=one.token_range,
                equal=a is not None and b is not None and _architectural(a) == _architectural(b),
                least_bytes=f.least_bytes,
                unit=f.unit,
            )
        )
    return tuple(rows)


def _architectural(commit: Commit) -> tuple[object, ...]:
    """Return what must agree: everything except the clock."""
    c = commit
    return (c.seq, c.instruction, c.ops, c.digest, c.bytes_written, c.result, c.token_range)


def _difference(reference: Trace, other: Trace, seq: int) -> str:
    """Describe what differs at a commit, in one clause."""
    a = next((c for c in reference.commits if c.seq == seq), None)
    b = next((c for c in other.commits if c.seq == seq), None)
    if a is None or b is None:
        missing = reference.engine if a is None else other.engine
        return f"commit {seq} is missing from {missing}"
    parts: list[str] = []
    for label, x, y in (
        ("instruction", a.instruction, b.instruction),
        ("operations", ", ".join(a.ops), ", ".join(b.ops)),
        ("bytes written", a.bytes_written, b.bytes_written),
        ("digest", f"{a.digest:016x}", f"{b.digest:016x}"),
        ("result register", a.result, b.result),
        ("tokens", a.token_range, b.token_range),
    ):
        if x != y:
            parts.append(f"{label} expected {x}, found {y}")
    return f"commit {seq} ({a.instruction} of {a.ops[-1] if a.ops else 'no operation'}): " + "; ".join(parts)


def _commit_reasons(reference: Trace, other: Trace, rows: Sequence[CommitRow]) -> list[str]:
    reasons: list[str] = []
    if len(reference.commits) != len(other.commits) and other.stopped is None:
        reasons.append(f"{reference.engine} committed {len(reference.commits)} instructions, {other.engine} {len(other.commits)}")
    unequal = [row for row in rows if not row.equal]
    if unequal:
        total = max(len(reference.commits), len(other.commits))
        left = "; the run ended there" if other.stopped is not None else ""
        if left and other.evidence.kind != "sample":  # whose commits are those that ran
            left += f", {total - len(rows)} did not run"
        reasons.append(f"{len(unequal)} of {total} commits differ; first: {_difference(reference, other, unequal[0].seq)}{left}")
    elif other.stopped is not None:
        reasons.append(
            f"{other.engine} ended its run at commit {other.stopped}, which it judged to differ; compared here, nothing differs"
        )
    return reasons


def _bit_rows(reference: Trace, other: Trace, program: Program) -> tuple[list[OperationRow], list[str]]:
    """Compare the tensors that both kept, and the outputs, as bytes (so NaN payloads and signs of zero count)."""
    rows: list[OperationRow] = []
    reasons: list[str] = []
    for index, op in enumerate(program.operations()):
        name = op_id(op)
        if name not in reference.tensors or name not in other.tensors:
            continue
        a, b = np.asarray(reference.tensors[name]), np.asarray(other.tensors[name])
        place = reference.placement.get(name, "")
        row = measured(Basis(op, index, place), a, b, kind="info").decided(None)
        if not _same_bits(a, b):
            reason = f"{row.cumulative.mismatches or 'some'} of {a.size} elements differ in their bits"
            row = replace(row, verdict="fail", reason=reason)
            reasons.append(f"{name}: {reason}")
        elif row.verdict != "fail":
            row = replace(row, verdict="pass")
        rows.append(row)
    if other.stopped is not None:
        return rows, []  # a stopped run has no outputs of the whole program
    if reference.outputs.keys() != other.outputs.keys():
        reasons.append(f"outputs {sorted(reference.outputs)} against {sorted(other.outputs)}")
    for name, output in reference.outputs.items():
        if name in other.outputs and not _same_bits(np.asarray(output), np.asarray(other.outputs[name])):
            reasons.append(f"output '{name}' differs in its bits")
    return rows, reasons


_SHOWN_TEXT = 100
"""Characters of a printed line that a difference shows."""
_FIRST = 8
"""First elements that every comparison stores, however many others: engines' outputs are printed side by side."""
_LITTLE = 1 / 16
"""Share of a program's operations. Bounds of equal values are shown beside them while they cost little more than those values."""
_SHOWN = 1 << 19
"""Values of all operations of a comparison together that are stored for pictures."""


def _same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(_bytes_of(a), _bytes_of(b))


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def compare_values(
    spec: ValueComparison, reference: Trace, other: Trace, program: Program, *, same_program: bool
) -> tuple[Comparison, dict[str, np.ndarray]]:
    """Compare operations, aligned by id. Returns the comparison and the arrays for pictures (`CosimResult.arrays`)."""
    reasons = refusals(reference, other, same_program=same_program)
    rows: tuple[OperationRow, ...] = ()
    skipped: list[NotCompared] = []
    arrays: dict[str, np.ndarray] = {}
    if not reasons:
        measurements: list[Measured] = []
        operations = list(program.operations())
        compared = [op for op in operations if not isinstance(op, d.ConstantOp | d.PrintOp | d.RegionOp)]
        equal = spec.settled
        if equal is None:
            equal = settled(program, reference.tensors, other.tensors) if spec.kind == "bound" else frozenset[str]()
        why_not = {op_id(op): _why_not(spec, reference, other, op_id(op)) for op in compared}
        most = max(256, min(4096, _SHOWN // max(1, sum(why is None for why in why_not.values()))))
        if _outputs_agree(reference, other, why_not):
            equal = frozenset(why_not)
        finite: dict[str, Array] = {}
        ordered = _ordered(spec, operations) - equal
        floors = spec.floors or Floors(program, spec.inputs, reference.tensors)
        for index, op in enumerate(operations):
            name = op_id(op)
            if name not in why_not:
                continue
            spec.progress(index / len(operations), f"comparing {name}")
            floor = floors.of(op)
            if name in ordered and (bound := spec.bounds.get(name)) is not None:
                finite[name] = np.isfinite(bound.array)
            if why := why_not[name]:
                skipped.append(NotCompared(name, why))
                if name not in spec.inner and spec.missing_is_failure:
                    reasons.append(f"{name}: {why}")
                continue
            asked = _without_bounds(spec, name) if name in equal else spec
            measurements.append(_measured(asked, reference, other, op, index, finite, floor))
            arrays |= _samples(asked, reference, other, name, most)  # here: bounds are derived once, in program order
        rows = _decided(spec, reference, other, measurements)
    printed, difference = _printed(reference, other) if not reasons else (0, "")
    if difference and spec.same_text:
        reasons.append(difference)
    reasons += [f"{row.op}: {row.reason}" for row in rows if row.verdict == "fail"]
    elements = sum(row.cumulative.elements for row in rows)
    verdict: Verdict = "fail" if reasons else "pass"
    if unproved := [f"{row.op}: {row.reason}" for row in rows if row.verdict == "not proved"]:
        verdict = "fail" if reasons else "not proved"
        reasons += unproved
    elif not reasons and not elements and not printed:
        verdict, reasons = "nothing compared", ["no element was compared: the traces have no operation in common"]
    divergence = None
    if bad := next((row for row in rows if row.verdict == "fail"), None):
        worst = bad.worst if bad.worst is not None else bad.local_worst
        found = f", element {list(worst.index)}: expected {worst.reference!r}, found {worst.other!r}" if worst else ""
        divergence = Divergence(spec.name, None, None, (bad.op,), f"{bad.op} ({bad.at or bad.name}): {bad.reason}{found}")
    kind = "bound" if spec.kind == "bound" else "info"
    comparison = Comparison(
        spec.name, kind, reference.engine, other.engine, spec.question, verdict, tuple(reasons), elements, 0, rows, (),
        divergence, tuple(skipped), printed,
    )  # fmt: skip
    return comparison, arrays


def _outputs_agree(reference: Trace, other: Trace, why_not: Mapping[str, str | None]) -> bool:
    """Return whether the engines agree in all that they show, and that is a small part of the program (`_LITTLE`).

    Then no bound is derived: it decides nothing, and takes a value of each operation on the way.
    """
    shown = [name for name, why in why_not.items() if why is None]
    return len(shown) < _LITTLE * len(why_not) and all(
        same_numbers(np.asarray(reference.tensors[name]), np.asarray(other.tensors[name])) for name in shown
    )


def _without_bounds(spec: ValueComparison, name: str) -> ValueComparison:
    """Return the comparison of a settled operation without bounds: equal elements pass before any applies (`measured`).

    On a device the operation alone, on the reference's operands, may still differ; then it is compared as any other.
    """
    alone = None if spec.local is spec.own else spec.local.get(name)
    if alone is not None and not same_numbers(*alone):
        return spec
    return replace(spec, bounds={}, local_bounds={}, own_bounds={}, local={}, own={})


def _printed(reference: Trace, other: Trace) -> tuple[int, str]:
    """Return the number of lines that both engines printed, all alike; or 0 and the first difference in words.

    Of a text that an engine did not keep whole, the whole lines that it kept are compared.
    """
    texts = [t.meta.get("stdout") for t in (reference, other)]
    a, b = (text.splitlines(keepends=True) if isinstance(text, str) else None for text in texts)
    if a is None or b is None:
        return 0, ""
    kept = [len(lines) - 1 for t, lines in ((reference, a), (other, b)) if t.meta.get("stdout_cut")]
    if kept:
        a, b = a[: min(kept)], b[: min(kept)]
    for number, (x, y) in enumerate(zip_longest(a, b, fillvalue=""), 1):
        if x != y:
            ends = x.rstrip("\n") == y.rstrip("\n")  # only then the end of the line is what differs
            found = [f"{t.engine} {_shown_line(line, ends=ends)}" for t, line in ((reference, x), (other, y))]
            return 0, f"line {number} of what is printed differs: {found[0]}, {found[1]}"
    return len(a), ""


def _shown_line(line: str, *, ends: bool) -> str:
    return repr((line if ends else line.rstrip("\n"))[:_SHOWN_TEXT]) if line else "no line"


def _why_not(spec: ValueComparison, reference: Trace, other: Trace, name: str) -> str | None:
    if name in reference.tensors and name in other.tensors:
        return None
    if name in spec.inner:
        return spec.inner[name]
    missing = [t.engine for t in (reference, other) if name not in t.tensors]
    return f"{' and '.join(missing)} kept no value of it"


def _ordered(spec: ValueComparison, operations: Sequence[FleetOp]) -> set[str]:
    """Return the operations whose argmax must be the same on both sides."""
    argmax = [op for op in operations if isinstance(op, d.ArgmaxOp | d.ArgminOp)] if spec.classes_must_agree else []
    return {op_id(owner) for op in argmax if isinstance(owner := op.operands[0].owner, FleetOp)}


def _decided(spec: ValueComparison, reference: Trace, other: Trace, found: Sequence[Measured]) -> tuple[OperationRow, ...]:
    """Return the rows with their verdicts; the judge decides what their bounds leave undecided."""
    doubts = {
        m.row.op: Doubt(np.asarray(reference.tensors[m.row.op]), np.asarray(other.tensors[m.row.op]), m.undecided)
        for m in found
        if m.undecided.any()
    }
    if doubts:
        spec.progress(1.0, f"{len(doubts)} operations in higher precision")
    judged = spec.judge(doubts) if doubts and spec.judge is not None else {}
    return tuple(_waived(spec, m.decided(judged.get(m.row.op))) for m in found)


def _waived(spec: ValueComparison, row: OperationRow) -> OperationRow:
    if row.verdict in {"fail", "not proved"} and row.op in spec.waivers:
        return replace(row, verdict="pass", waiver=spec.waivers[row.op])
    return row


def _measured(
    spec: ValueComparison, reference: Trace, other: Trace, op: FleetOp, index: int, finite: Mapping[str, Array], floor: float
) -> Measured:
    """Measure one operation. finite: whether bounds are finite, by operations whose argmax must be the same on both sides."""
    name = op_id(op)
    a, b = np.asarray(reference.tensors[name]), np.asarray(other.tensors[name])
    local, own = spec.local.get(name), spec.own.get(name)
    basis = Basis(
        op, index, other.placement.get(name, "") if other.device is not None else "",
        bound=spec.bounds.get(name), local_bound=spec.local_bounds.get(name), own_bound=spec.own_bounds.get(name),
        classes_must_agree=spec.classes_must_agree, ulp_dtype=spec.ulp_dtype.get(name),
        floor=floor, unbounded_rows=_unbounded_rows(op, finite),
    )  # fmt: skip
    made = measured(basis, a, b, local=local, own=own, kind=spec.kind)
    if own is None and spec.steps is not None and made.undecided.any():
        pairs, bounds = spec.steps((name,))
        if name in pairs and name in bounds:
            made = measured(replace(basis, own_bound=bounds[name]), a, b, local=local, own=pairs[name], kind=spec.kind)
    row = replace(made.row, parts=dict(spec.parts.get(name, {})), causes=dict(spec.causes.get(name, {})))
    return replace(made, row=row)


def _unbounded_rows(op: FleetOp, finite: Mapping[str, Array]) -> Array | None:
    """Return the rows of an argmax whose operand has no finite bound; None unless its class must agree."""
    if not isinstance(op, d.ArgmaxOp | d.ArgminOp):
        return None
    owner = op.operands[0].owner
    known = finite.get(op_id(owner)) if isinstance(owner, FleetOp) else None
    return None if known is None else np.asarray(~known.all(axis=int(op.axis.value.data)))


def _samples(spec: ValueComparison, reference: Trace, other: Trace, name: str, most: int) -> dict[str, np.ndarray]:
    """Return the arrays that pictures of an operation need (`CosimResult.arrays`), of at most so many values."""
    a, b = np.asarray(reference.tensors[name]), np.asarray(other.tensors[name])
    if a.shape != b.shape or not a.size:
        return {}
    bound = spec.bounds.get(name)
    pick = np.arange(min(a.size, most))
    if a.size > most:
        pick = np.concatenate([pick[:_FIRST], np.linspace(_FIRST, a.size - 1, most - _FIRST).astype(np.int64)])
    a, b = (np.abs(v) if v.dtype.kind == "c" else v for v in (a, b))  # pictures show magnitudes
    flat = a.reshape(-1)[pick].astype(np.float64)
    arrays = {f"{spec.name}/{name}/reference": flat, f"{spec.name}/{name}/other": b.reshape(-1)[pick].astype(np.float64)}
    if bound is not None:
        arrays[f"{spec.name}/{name}/bound"] = bound.array.reshape(-1)[pick]
    return arrays
