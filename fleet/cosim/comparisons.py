"""The question and the bounds of each comparison: one method per row of the table in `campaign`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from xdsl.ir import Operation

from fleet.compare.bounds.bound import Bound
from fleet.compare.bounds.fates import FusedArithmetic, completed, fates_of, fused_groups
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.raised_bounds import raised_bounds
from fleet.compare.bounds.shared_steps import alone, hidden_steps, shared, stated
from fleet.compare.bounds.sides import NUMPY_ULP, GroupArithmetic, group_arithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds, local_bounds
from fleet.compare.compiled_stream import CompiledStream
from fleet.compare.diverged import Divergence
from fleet.compare.divergence import StreamEvidence, explain
from fleet.compare.freed_memory import keep_freed_memory
from fleet.compare.judges.condition import FunctionErrors
from fleet.compare.judges.local import LocalPairs, local_device_values, local_host_values, local_parts, pairs
from fleet.compare.judges.own_steps import own_steps
from fleet.compare.judges.third_judge import ThirdJudge
from fleet.compare.operand_values import operand_lines
from fleet.compare.operation_rows import text_of
from fleet.compare.settled import folded, settled
from fleet.compare.signal import Floors
from fleet.compare.traces import ValueComparison, compare_bits, compare_values, quiet
from fleet.compare.verdict import Comparison
from fleet.engines.base import Progress, RunOptions
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.streams.replay.explain import ReplayContext
from fleet.streams.replay.model import explain_model, explain_on_model, host_names
from fleet.transforms.simplify.infer_shapes import as_run

Compared = tuple[Comparison, dict[str, np.ndarray]]


@dataclass
class ComparisonSession:
    """The golden and the stream that comparisons share.

    folder: where engines left their files. options: as the engines ran. progress: called for each operation that is compared.
    """

    program: Program
    inputs: Mapping[str, np.ndarray]
    golden: Trace
    waivers: Mapping[str, Mapping[str, str]]
    folder: Path
    stream: CompiledStream | None = field(default=None)
    options: RunOptions | None = None
    progress: Progress = quiet
    _floors: dict[str, Floors] = field(default_factory=dict[str, Floors], init=False)

    def __post_init__(self) -> None:
        keep_freed_memory()
        self.program = as_run(self.program, self.golden.tensors)

    def against_source(self, reference: Trace, golden: Trace) -> Compared:
        """Compare the golden with an engine that runs the user's source."""
        question = "Is the golden what NumPy computes?"
        return self._float(f"{golden.engine}-vs-{reference.engine}", question, reference, golden, of_source=True)

    def against_golden(self, golden: Trace, other: Trace) -> Compared:
        """Compare an engine that computes in the program's own dtypes with the golden."""
        question = f"Does {other.engine} compute what the golden computes, within float rounding?"
        return self._float(f"{other.engine}-vs-{golden.engine}", question, golden, other, of_source=False)

    def mixture(self, golden: Trace, mixed: Trace) -> Compared:
        """Measure what a mixture with parts on accelerators loses: weights and arithmetic of all parts together."""
        question = "How far is the mixture from the model? (its parts are compared one by one)"
        shown = _with_outputs(mixed, self.program)
        spec = replace(
            self._spec("info", question, self.program, golden, shown, fates_of(self.program, mixed)), missing_is_failure=False
        )
        return compare_values(spec, golden, shown, self.program, same_program=False)

    def _float(self, name: str, question: str, reference: Trace, other: Trace, *, of_source: bool) -> Compared:
        """of_source: whether the reference runs the user's source: it prints the same, and shows its variables alone."""
        spec = ValueComparison(
            name, "bound", question, classes_must_agree=True, waivers=self._waived(name), missing_is_failure=not of_source,
            same_text=of_source, floors=self._floors_of(self.program, reference),
        )  # fmt: skip
        fates = fates_of(self.program, other)
        stating = reference if reference is not self.golden else other
        side = FusedArithmetic(
            {**NUMPY_ULP, **_stated(stating, "function_ulp")},
            _stated(stating, "function_absolute"),
            frozenset(map(str, unrounded)) if isinstance(unrounded := stating.meta.get("unrounded"), Sequence) else frozenset(),
            fused_groups(self.program, fates),
        )
        constant = {name: self.golden.tensors[name] for name in folded(self.program, fates) if name in self.golden.tensors}
        equal = settled(self.program, reference.tensors, {**constant, **other.tensors})
        other = _sharing(other, reference, equal)
        spec = replace(spec, inner=fates, progress=self.progress, inputs=self.inputs, settled=equal)
        try:
            values = Values(self.program, self.inputs, self.golden.tensors)
            spec = replace(spec, bounds=cumulative_bounds(values, side, equal=equal))
            if reference is self.golden:
                spec = self._alone(spec, other, side, constant)
        except FleetError as error:
            return _impossible(spec, reference, other, str(error)), {}
        a, b = (_with_outputs(t, self.program) for t in (reference, other))
        golden, shown = (a, b) if reference is self.golden else (b, a)
        own = {name: ulps for name, ulps in side.ulp.items() if ulps > NUMPY_ULP.get(name, 0.0)}
        functions = FunctionErrors(side.absolute, own)
        judge = ThirdJudge(self.program, self.inputs, golden.tensors, golden_is_reference=golden is a, functions=functions)
        spec = replace(spec, judge=judge, steps=partial(self._shown_steps, shown, side))
        return compare_values(spec, a, b, self.program, same_program=True)

    def _shown_steps(
        self, shown: Trace, side: FusedArithmetic, names: Sequence[str]
    ) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, Bound]]:
        """Bound operations of an engine that shows only some values, on those values; hidden steps between them count as one.

        Returns (operation id -> (reference, the engine's value), operation id -> bound).
        """
        own: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        bounds: dict[str, Bound] = {}
        for name, steps in hidden_steps(self.program, shown.tensors, names).items():
            try:
                found = alone(self.program, self.inputs, shown.tensors, {name: steps}, side)
            except FleetError:
                continue  # an operand has no shown value
            own[name], bounds[name] = (found[name][0], np.asarray(shown.tensors[name])), found[name][1]
        return own, bounds

    def _alone(
        self, spec: ValueComparison, other: Trace, side: FusedArithmetic, constant: Mapping[str, np.ndarray]
    ) -> ValueComparison:
        """Compare each operation of an engine with the golden's operator on that engine's own operands.

        The bound of one operation alone is far smaller than that of the accumulated errors, so a wrong operation shows even where
        the cumulative bound is wide. Operations that the engine fused count as one: the golden's operators on the values that enter
        them. Returns `spec` unchanged if the engine did not keep all tensors.

        constant: values that the engine computed of weights alone and does not show.
        """
        equal = spec.settled or frozenset()
        try:
            whole = replace(other, tensors=completed(self.program, self.inputs, {**constant, **other.tensors}, spec.inner))
            bounds = local_bounds(Values(self.program, self.inputs, whole.tensors), side, equal=equal)
        except FleetError:
            return spec
        references: dict[str, np.ndarray] = {}
        try:
            between = shared(self.program, stated(other), side.groups)
            composites = alone(self.program, self.inputs, whole.tensors, between, side)
            references = {name: reference for name, (reference, _) in composites.items()}
            bounds = bounds.but({name: bound for name, (_, bound) in composites.items()})
            found = raised_bounds(self.program, self.inputs, self.golden.tensors, whole.tensors, side, equal)
            if found:
                values = Values(self.program, self.inputs, self.golden.tensors)
                spec = replace(spec, bounds=cumulative_bounds(values, side, known=found, equal=equal))
        except FleetError:
            pass  # the bounds of single steps remain valid
        own = LocalPairs(self.program, whole, self.inputs, other.tensors, references)
        return replace(spec, local=own, local_bounds=bounds, own=own, own_bounds=bounds)

    def quantisation(self, golden: Trace, rounded: Trace) -> Compared:
        """Measure the cost of the weights as the device stores them."""
        assert self.stream is not None
        stored = self.stream.rounded
        local = local_host_values(stored, stored.weights, golden, self.inputs, ran=self.program)
        question = "What does storing the weights as the device does cost? (quantisation error)"
        spec = replace(
            self._spec("info", question, self.program, golden, rounded, self.stream.absorbed), local=pairs(golden.tensors, local)
        )
        return compare_values(spec, golden, rounded, self.program, same_program=False)

    def arithmetic(self, rounded: Trace, iss: Trace) -> Compared:
        """Compare the device's arithmetic with its derived bound, on the same weights."""
        assert self.stream is not None
        question = "What does the device's arithmetic cost, and is that within what its roundings allow? (arithmetic error)"
        spec = self._spec("bound", question, self.stream.rounded, rounded, iss, self.stream.inner)
        if not self.stream.groups:
            why = f"no operation of the model runs on {self.stream.compiled.device.name}: there is nothing of it to compare"
            return replace(_impossible(spec, rounded, iss, why), verdict="nothing compared"), {}
        try:
            side = self._device_side()
            values = Values(self.stream.rounded, self.inputs, rounded.tensors)
            device = local_device_values(self.stream, rounded, self.inputs, self.stream.rounded)
            on_device = {name for group in self.stream.groups for name in group}
            equal = settled(self.stream.rounded, rounded.tensors, iss.tensors) - on_device
            iss = _sharing(iss, rounded, equal)
            own, own_bounds = own_steps(self.stream, side, iss, self.inputs, equal)
            spec = replace(
                spec,
                settled=equal,
                bounds=cumulative_bounds(values, side, equal=equal),
                local_bounds=local_bounds(values, side, equal=equal),
                local=pairs(rounded.tensors, device),
                own=own,
                own_bounds=own_bounds,
                parts=local_parts(self.stream, side, rounded, self.inputs, device),
                causes={name: group.stated.causes for name, group in side.groups.items()},
                ulp_dtype=self._stored(side),
            )
        except FleetError as error:
            return _impossible(spec, rounded, iss, str(error)), {}
        return compare_values(spec, rounded, iss, self.stream.rounded, same_program=False)

    def total(self, golden: Trace, iss: Trace) -> Compared:
        """Measure both causes together."""
        assert self.stream is not None
        question = "How far is the device from the model? (quantisation and arithmetic error together)"
        spec = self._spec("info", question, self.program, golden, iss, self.stream.inner)
        try:
            local = local_device_values(self.stream, golden, self.inputs, self.program)
            spec = replace(spec, local=pairs(golden.tensors, local), ulp_dtype=self._stored(self._device_side()))
        except FleetError as error:
            return _impossible(spec, golden, iss, str(error)), {}
        return compare_values(spec, golden, iss, self.program, same_program=False)

    def bits(self, iss: Trace, other: Trace) -> Compared:
        """Compare hardware with the functional model, bit by bit."""
        assert self.stream is not None
        comparison = compare_bits(
            f"{other.engine}-vs-{iss.engine}", iss, other, self.program, self.stream.figures(str(other.meta.get("memory", "ideal")))
        )
        seen = Values(self.stream.rounded, self.inputs, iss.tensors)  # both sides agree on everything before
        evidence = self.stream.evidence(self.folder / other.engine, partial(operand_lines, seen))
        if evidence.damage:
            # A failure even if no result shows it: the run was requested with that memory.
            reasons = tuple(f"memory of {other.engine} does not hold what was loaded: {line}" for line in evidence.damage)
            comparison = replace(comparison, verdict="fail", reasons=comparison.reasons + reasons)
        found = comparison.divergence
        if found is not None and found.seq is not None:
            if comparison.sampled:  # behind a sample memory is the functional model's, and a replay has no run to go back in
                found = explain(found, iss, other, replace(evidence, memory=None, before=None))
                found = replace(found, what=f"{found.what}; for its elements and a replay run it without --rtl")
            else:
                found = self._explained(found, iss, other, evidence)
            comparison = replace(comparison, divergence=found)
        return comparison, {}

    def _explained(self, divergence: Divergence, iss: Trace, other: Trace, evidence: StreamEvidence) -> Divergence:
        """Explain a divergence by a replay from the last good commit; if that fails, by what the run itself left."""
        assert self.stream is not None
        folder, options = self.folder / "divergence", self.options or RunOptions()
        if not evidence.damage and other.engine == "rtl":
            known = ReplayContext(evidence.locate, evidence.operands, host_names(self.stream), self._source(divergence.ops))
            replayed = explain_model(
                divergence, self.stream, self.inputs, options, (iss, other), known, folder
            )  # fmt: skip
            if replayed is not None:
                return replayed
        return explain_on_model(divergence, self.stream, self.inputs, options, (iss, other), evidence, folder)

    def _source(self, ops: Sequence[str]) -> str:
        """Return the source line of a commit's last operation: "model.py:12: h = x @ w"."""
        names = {op_id(op): op for op in self.program.operations()}
        at = next((text_of(names[name], "at") for name in reversed(ops) if name in names), "")
        line = self.program.line_at(at)
        return f"{at}: {line}" if line else at

    def _device_side(self) -> GroupArithmetic:
        assert self.stream is not None
        compiled = self.stream.compiled
        return group_arithmetic(
            self.stream.rounded, self.stream.groups, compiled.instruction_set, compiled.device, compiled.options
        )

    def _stored(self, side: GroupArithmetic) -> dict[str, np.dtype]:
        """Return the operations that device memory holds in a dtype of its own."""
        assert self.stream is not None
        found: dict[str, np.dtype] = {}
        for op in self.stream.rounded.operations():
            store = side.arithmetic(op).store
            if store is not None:
                found[op_id(op)] = store
        return found

    def _spec(
        self, kind: str, question: str, program: Program, reference: Trace, other: Trace, inner: Mapping[str, str]
    ) -> ValueComparison:
        name = f"{other.engine}-vs-{reference.engine}"
        return ValueComparison(
            name, kind, question, waivers=self._waived(name), inner=inner, progress=self.progress, inputs=self.inputs,
            floors=self._floors_of(program, reference),
        )  # fmt: skip

    def _floors_of(self, program: Program, reference: Trace) -> Floors:
        """Return the floors of a reference's operations, the same ones for each comparison with it."""
        key = f"{reference.engine} {program.hash}"
        if key not in self._floors:
            self._floors[key] = Floors(program, self.inputs, reference.tensors)
        return self._floors[key]

    def _waived(self, comparison: str) -> Mapping[str, str]:
        return self.waivers.get(comparison, {})


def _stated(trace: Trace, key: str) -> dict[str, float]:
    """Return an engine's statement in `meta[key]`: "function_ulp" (if it differs from NumPy's) or "function_absolute"."""
    stated = trace.meta.get(key)
    if not isinstance(stated, Mapping):
        return {}
    return {name: float(value) for name, value in stated.items() if isinstance(value, int | float)}


def _sharing(other: Trace, reference: Trace, equal: Collection[str]) -> Trace:
    """Return the other trace with the reference's own arrays for operations that were found to be the same."""
    same = {name: reference.tensors[name] for name in equal if name in other.tensors}
    return replace(other, tensors={**other.tensors, **same})


def _with_outputs(trace: Trace, program: Program) -> Trace:
    """Return the trace with its outputs as tensors of the operations that made them, unless it has those tensors."""
    tensors = dict(trace.tensors)
    for name, value in zip(program.outputs, program.returned(), strict=True):
        owner = value.owner
        if name in trace.outputs and isinstance(owner, Operation) and "id" in owner.properties:
            tensors.setdefault(op_id(owner), trace.outputs[name])
    return replace(trace, tensors=tensors)


def _impossible(spec: ValueComparison, reference: Trace, other: Trace, why: str) -> Comparison:
    """Return the failure of a comparison that could not be made, with the reason."""
    kind: Literal["bound", "info"] = "bound" if spec.kind == "bound" else "info"
    return Comparison(spec.name, kind, reference.engine, other.engine, spec.question, "fail", (why,), 0, 0)
