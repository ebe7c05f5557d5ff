"""A co-simulation: the golden first, then one engine after the other; each is compared as soon as both sides have run.

What is compared with what:
  vm-vs-cpython     bound   the golden against NumPy itself (each engine that runs the source); classes must agree
  <float>-vs-vm     bound   riscv and each other engine off the accelerator; classes must agree
  mixed-vs-vm       info    with parts on accelerators: what the mixture loses; each part is then compared as a model of its own
  vm-rounded-vs-vm  info    the cost of the device's weights: the quantisation error
  iss-vs-vm-rounded bound   the cost of the device's arithmetic
  iss-vs-vm         info    both together
  rtl-vs-iss        bits    every bit of every destination at every commit (each other engine on the accelerator)
These are failures: a requested engine that did not run, a comparison that compared nothing, a flip where classes must agree.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from fleet.compare.compiled_stream import CompiledStream, open_stream
from fleet.compare.tasks import class_scores, task_metric
from fleet.compare.verdict import Comparison, NotCompared, TaskMetric, Verdict
from fleet.core.blas_threads import one_thread
from fleet.core.scratch import Scratch
from fleet.core.version import __version__
from fleet.cosim.comparisons import ComparisonSession
from fleet.cosim.device_figures import device_figures, device_hash, hardware_hash
from fleet.cosim.identity import ContentHashes, arrays_hash, bench_hash, provenance, software_hash, text_hash
from fleet.cosim.mixed_parts import compare_parts, on_accelerators
from fleet.cosim.options import CosimOptions
from fleet.cosim.request import check_request, known_engines
from fleet.cosim.result import ROUNDED, CosimResult
from fleet.cosim.running import EngineOutcome, failed, run_engine
from fleet.cosim.what_ran import EngineRun, RunIdentity
from fleet.engines.base import Engine, Progress, RunOptions
from fleet.engines.legs.write_log import WriteLog
from fleet.engines.trace import Commit, Trace
from fleet.errors import ExitCode, FleetError
from fleet.ir.program import Program
from fleet.transforms.simplify.infer_shapes import bound

_FLIPPED = 256
"""Number of samples whose scores are kept."""
_NO_DIFFERENCE = frozenset({"pass", "not proved"})


def cosim(
    program: Program,
    inputs: Mapping[str, np.ndarray],
    labels: np.ndarray | None,
    engines: Sequence[str],
    options: CosimOptions,
) -> CosimResult:
    """Run the engines, compare them, decide the verdict.

    Args:
        program: the model with its weights.
        inputs: all inputs by name, of their shapes and dtypes.
        labels: one integer per input row, or None.
        engines: names of registered engines; the golden (vm) and, for the accelerator, the functional model run too, whether named
            or not.
        options: see `CosimOptions`.

    Returns:
        The complete outcome. An engine that fails does not lose the results of the others.

    Raises:
        FleetError: the run as a whole makes no sense (an unknown engine, labels that do not fit, no device).
    """
    program = bound(program, inputs)
    known = known_engines(options)
    check_request(program, labels, engines, options, known)
    with Scratch("cosim") as temporary:
        folder = options.workdir or temporary
        return _Run(program, inputs, labels, tuple(dict.fromkeys(engines)), options, known, folder).run()


class _Run:
    """A co-simulation in progress."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, np.ndarray],
        labels: np.ndarray | None,
        asked: tuple[str, ...],
        options: CosimOptions,
        known: Mapping[str, Engine],
        folder: Path,
    ) -> None:
        self.program, self.inputs, self.labels, self.asked = program, inputs, labels, asked
        self.options, self.known, self.folder = options, known, folder
        self.outcomes: dict[str, EngineOutcome] = {}
        self.comparisons: list[Comparison] = []
        self.tasks: list[TaskMetric] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.reasons: list[str] = []
        self.stream: CompiledStream | None = None
        self.session: ComparisonSession | None = None
        self.written = WriteLog() if options.rtl_jobs > 1 and "rtl" in asked else None

    def run(self) -> CosimResult:
        """Run golden, source engines, rounded golden, functional model and the rest, with comparisons in between."""
        self._engine("vm", "vm" in self.asked)
        golden = self._trace("vm")
        self.session = ComparisonSession(self.program, self.inputs, golden, self.options.waivers, self.folder) if golden else None
        source = [e for e in self.asked if self.known[e].target == "source"]
        accelerated = [e for e in self.asked if self.known[e].target == "accel"]
        others = [e for e in self.asked if e != "vm" and e not in source and e not in accelerated]
        for name in source:
            self._engine(name, True)
            self._compare("vm", name, lambda s, ref, other: s.against_source(ref, other))
        if accelerated:
            self._accelerator(accelerated)
        for name in others:
            self._engine(name, True)
            self._other(name)
        for name in accelerated:
            if name != "iss":
                self._engine(name, True)
                self._compare(name, "iss", lambda s, ref, other: s.bits(ref, other))
        return self._result()

    def _other(self, name: str) -> None:
        """Compare an engine off the accelerator with the golden; of parts on accelerators each by itself."""
        trace = self._trace(name)
        if trace is None or not trace.complete or self.known[name].target != "mixed" or not on_accelerators(self.program):
            self._compare(name, "vm", lambda s, ref, other: s.against_golden(ref, other))
            return
        self._compare(name, "vm", lambda s, ref, other: s.mixture(ref, other))
        found, reasons = compare_parts(self.program, self.inputs, trace, self._part)
        self.comparisons += found
        self.reasons += reasons
        for comparison in found:
            if self.options.on_comparison is not None:
                self.options.on_comparison(comparison)

    def _part(
        self, program: Program, inputs: Mapping[str, np.ndarray], engines: Sequence[str], device: str | None, number: int
    ) -> tuple[CosimResult, Mapping[str, Trace]]:
        """Co-simulate a part of the program."""
        traces: dict[str, Trace] = {}
        options = replace(
            self.options, device=device, metric=None, waivers={}, workdir=self.folder / "parts" / str(number), on_engine=None,
            on_comparison=None, on_trace=traces.__setitem__,
        )  # fmt: skip
        return cosim(program, inputs, None, engines, options), traces

    def _accelerator(self, accelerated: Sequence[str]) -> None:
        """Compile; run and compare the rounded golden and the functional model."""
        assert self.options.device is not None
        try:
            self.stream = open_stream(self.program, self.options.device, self.options.lowering)
        except FleetError as error:
            for name in accelerated:
                self._finished(failed(name, True, str(error), error.exit_code))
            return
        if self.session is not None:
            self.session.stream = self.stream
        self._engine(ROUNDED, False)
        self._compare(ROUNDED, "vm", lambda s, ref, other: s.quantisation(ref, other))
        self._engine("iss", "iss" in self.asked)
        self._compare("iss", ROUNDED, lambda s, ref, other: s.arithmetic(ref, other))
        self._compare("iss", "vm", lambda s, ref, other: s.total(ref, other))

    def _engine(self, name: str, required: bool) -> None:
        """Run an engine, once only, and record the outcome."""
        if name in self.outcomes:
            return
        kind = "vm" if name == ROUNDED else name
        if kind not in self.known:
            self._finished(failed(name, required, f"engine '{kind}' is not installed", ExitCode.BAD_INPUT))
            return
        program = self.stream.rounded if name == ROUNDED and self.stream else self.program
        accepted = {program.hash}
        if self.known[kind].target == "accel" and self.stream is not None:
            accepted.add(self.stream.rounded.hash)
        report = self.options.progress
        tell: Progress | None = None if report is None else partial(report, name)
        run_options = RunOptions(
            device=self.options.device if self.known[kind].target == "accel" else None,
            memory=self.options.memory,
            seed=self.options.seed,
            keep_tensors=True,
            workdir=self.folder / name,
            progress=tell,
            lowering=self.options.lowering,
            riscv=self.options.riscv,
            expected=self._expected(kind, name),
            rtl_jobs=self.options.rtl_jobs,
            rtl_sample=self.options.rtl_sample,
            rtl_build=self.options.rtl_build,
            written=self.written,
        )
        if self.session is not None and self.known[kind].target == "accel":
            self.session.options = run_options
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        golden = self._trace("vm")
        outcome = run_engine(self.known[kind], name, required, program, self.inputs, run_options, frozenset(accepted), golden)
        if outcome.trace is not None:
            outcome = EngineOutcome(outcome.run, replace(outcome.trace, engine=name))
        self._finished(outcome)

    def _expected(self, kind: str, name: str) -> Sequence[Commit]:
        """Return the commits that hardware must reproduce, those of the functional model; () to run to the end."""
        model = self._trace("iss")
        hardware = self.known[kind].target == "accel" and name != "iss"
        return model.commits if self.options.stop and hardware and model is not None and model.complete else ()

    def _finished(self, outcome: EngineOutcome) -> None:
        name = outcome.run.name
        if name in self.outcomes:
            return
        self.outcomes[name] = outcome
        golden, task = self._trace("vm"), None
        if golden is not None and outcome.trace is not None and outcome.trace.complete and outcome.run.evidence != "sample":
            must = name not in {"vm", ROUNDED} and self.known[name].target != "accel"
            task = task_metric(self.program, golden, outcome.trace, name, self.labels, must_agree=must)
        if task is not None:
            self.tasks.append(task)
            self._keep_flipped(task)
        if self.options.on_trace is not None and outcome.trace is not None:
            self.options.on_trace(name, outcome.trace)
        if self.options.on_engine is not None:
            self.options.on_engine(outcome.run, task)

    def _keep_flipped(self, task: TaskMetric) -> None:
        """Keep the inputs of the flipped samples, for the report's pictures."""
        if not task.flips or not self.program.inputs:
            return
        rows = np.asarray(self.inputs[self.program.inputs[0].name])
        if rows.ndim and rows.shape[0] == task.samples:
            self.arrays[f"inputs/flipped/{task.engine}"] = rows[[f.index for f in task.flips]]

    def _keep_scores(self) -> None:
        """Keep each engine's scores of the samples that flipped on any engine, so that a report can show why."""
        op = class_scores(self.program)
        indexes = sorted({f.index for task in self.tasks for f in task.flips})[:_FLIPPED]
        if op is None or not indexes:
            return
        self.arrays["flipped/index"] = np.asarray(indexes)
        for name in self.outcomes:
            trace = self._trace(name)
            found = trace.tensors.get(op) if trace is not None and trace.complete else None
            if found is not None and found.ndim == 2 and found.shape[0] > indexes[-1]:
                self.arrays[f"flipped/scores/{name}"] = np.asarray(found[indexes])

    def _trace(self, name: str) -> Trace | None:
        outcome = self.outcomes.get(name)
        return outcome.trace if outcome else None

    def _compare(
        self, other: str, reference: str, how: Callable[[ComparisonSession, Trace, Trace], tuple[Comparison, dict[str, np.ndarray]]]
    ) -> None:
        a, b = self._trace(reference), self._trace(other)
        if self.session is None or a is None or b is None:
            return
        if self.options.progress is not None:
            self.session.progress = partial(self.options.progress, f"{other} against {reference}")
        with one_thread():
            comparison, arrays = how(self.session, a, b)
        self.comparisons.append(comparison)
        self.arrays |= arrays
        if self.options.on_comparison is not None:
            self.options.on_comparison(comparison)

    def _result(self) -> CosimResult:
        runs = [o.run for o in self.outcomes.values()]
        runs += [EngineRun(name, "not asked", False) for name in sorted(self.known) if name not in self.outcomes]
        missing = [
            NotCompared(run.name, "not asked for" if run.status == "not asked" else f"did not run: {run.error}")
            for run in runs
            if run.status != "ran"
        ]
        verdict, reasons = self._verdict(runs)
        self._keep_scores()
        divergence = next((c.divergence for c in self.comparisons if c.kind == "bits" and c.divergence), None)
        divergence = divergence or next((c.divergence for c in self.comparisons if c.divergence), None)
        return CosimResult(
            self._identity(), self.options.data, tuple(runs), tuple(self.comparisons), tuple(self.tasks),
            tuple(missing), verdict, tuple(reasons), divergence, arrays=self.arrays,
        )  # fmt: skip

    def _verdict(self, runs: Sequence[EngineRun]) -> tuple[Verdict, list[str]]:
        reasons = [f"{run.name} did not run: {run.error}" for run in runs if run.status == "failed"] + self.reasons
        reasons += [f"{c.name}: {reason}" for c in self.comparisons if c.verdict not in _NO_DIFFERENCE for reason in c.reasons]
        for task in self.tasks:
            if task.must_agree and task.flips and not self._held(task):
                reasons.append(f"{task.engine}: {len(task.flips)} of {task.samples} predicted classes are not the golden's")
        if self.options.metric and not self.tasks:
            reasons.append(f"metric {self.options.metric}: no engine gave a predicted class")
        reasons += [f"{name} was asked for and did not run" for name in self.asked if name not in self.outcomes]
        # A measurement cannot fail, so it is no check of an engine; the golden is the reference of the others.
        involved = {"vm"} | {side for c in self.comparisons if c.kind != "info" for side in (c.reference, c.other)}
        ran = [run.name for run in runs if run.status == "ran"]
        if self.comparisons:
            unheld = [name for name in self.asked if name in ran and name not in involved]
            reasons += [f"{name} ran but was compared with nothing that could fail" for name in unheld]
        unproved = [f"{c.name}: {reason}" for c in self.comparisons if c.verdict == "not proved" for reason in c.reasons]
        if reasons:
            return "fail", [*reasons, *unproved]
        if unproved:
            return "not proved", unproved
        if not self.comparisons:
            return "nothing compared", [f"only {', '.join(ran)} ran: name at least two engines"]
        return "pass", [f"{run.name}: {run.cut}" for run in runs if run.evidence == "sample"]

    def _held(self, task: TaskMetric) -> bool:
        """True if the comparison of the classes found no difference because their values are too near to each other."""
        rows = [row for c in self.comparisons if task.engine in (c.reference, c.other) for row in c.operations if row.op == task.op]
        return any(row.ways is not None and row.ways.higher + row.ways.not_proved >= len(task.flips) for row in rows)

    def _identity(self) -> RunIdentity:
        o = self.options
        traces = [outcome.trace for outcome in self.outcomes.values() if outcome.trace is not None]
        described = next((t.description_hash for t in traces if t.description_hash), None)
        hardware = [t for t in traces if t.engine in self.known and t.engine != "iss" and self.known[t.engine].target == "accel"]
        rtl_hash = None
        if hardware and self.stream is not None:
            rtl_hash = hardware_hash(self.stream.compiled.instruction_set, self.stream.compiled.device)
        tools = _tools(traces)
        device = self.stream.compiled.device if self.stream is not None else None
        weights, inputs = arrays_hash(self.program.weights), arrays_hash(self.inputs)
        rounded = self.stream.rounded.hash if self.stream else None
        labels = None if self.labels is None else arrays_hash({"labels": self.labels})
        content = ContentHashes(
            model=text_hash(self.program.all_sources, self.program.hash, rounded),
            data=text_hash(weights, inputs, labels),
            description=described,
            hardware=rtl_hash,
            device=None if device is None else device_hash(device),
            bench=None if rtl_hash is None else bench_hash(),
            software=software_hash(),
            settings=repr(
                (o.memory, o.seed, o.data.samples, sorted(self.asked), sorted(o.lowering.stated.items()), sorted(o.riscv.items()))
                + ((f"rtl jobs {o.rtl_jobs}",) if o.rtl_jobs > 1 else ())
                + ((f"rtl {o.rtl_sample}",) if o.rtl_sample else ())
                + ((f"rtl build {o.rtl_build}",) if o.rtl_build else ())
            ),
            tools={name: version for name, version in tools.items() if name != "fleet"},
        )
        return RunIdentity(
            model=o.model,
            case=o.case,
            source_hash=hashlib.sha256(self.program.all_sources.encode()).hexdigest(),
            weights_hash=weights,
            inputs_hash=inputs,
            program_hash=self.program.hash,
            rounded_program_hash=rounded,
            description_hash=described,
            rtl_hash=rtl_hash,
            device=device_figures(o.device) if o.device and self.stream is not None else None,
            tools=tools,
            memory=o.memory,
            seed=o.seed,
            date=o.date,
            command="" if o.request is None else str(o.request),
            request=o.request,
            content=content,
            provenance=provenance(o.date),
        )


def _tools(traces: Sequence[Trace]) -> dict[str, str]:
    """Return tool versions: those used here, and those stated in `meta` ("tools": table; "emulator", "compiler": text)."""

    tools = {"fleet": __version__, "python": platform.python_version(), "numpy": np.__version__}
    for trace in traces:
        stated = trace.meta.get("tools")
        if isinstance(stated, Mapping):
            tools |= {str(k): str(v) for k, v in stated.items()}
        for key in ("emulator", "compiler"):
            if isinstance(version := trace.meta.get(key), str):
                tools[f"{trace.engine} {key}"] = version
        if trace.engine.partition("@")[0] == "rtl":
            from fleet.engines.rtl_sim.tools import find_toolchain

            with suppress(FleetError):
                found = find_toolchain()
                tools |= {"verilator": found.verilator_version, "C++ compiler": found.compiler_version}
    return tools
