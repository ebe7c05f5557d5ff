"""Runs a compiled stream: everything that `iss` and `rtl` share, so that they cannot diverge there.

A run: compile, write the constants into the memory images, then step by step either pass a device segment to the
backend or let the host run an operation with the VM's operators. Tensors are packed when the device needs a value of
the host, and unpacked when the host (or the trace) needs a value of the device.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.core.codec import Json
from fleet.core.scratch import Scratch
from fleet.engines.accel_counters import matmul_macs, static_counters
from fleet.engines.backend import Backend, Snapshot
from fleet.engines.base import RunOptions
from fleet.engines.execute import execute_calls
from fleet.engines.trace import Commit, Trace
from fleet.errors import ComparisonFailure, DeviceError
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, RegionOp, op_id
from fleet.ir.program import Program
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import description_hash, find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.program import AccelProgram, HostStep, value_key
from fleet.targets.accel.stream import CallGroup, DeviceSegment
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.printed import show


def run_accel(
    program: Program,
    inputs: Mapping[str, np.ndarray],
    options: RunOptions,
    backend: Backend,
) -> Trace:
    """Compile a program, or take it from the cache, and run it (`run_compiled`).

    Raises DeviceError if the device is unknown, or runs no operation of the model.
    """
    if options.device is None:
        raise DeviceError("no device given", where=f"engine {backend.name}", hint="name one with --device")
    instruction_set, device = find_device(options.device)
    compiled = compile_accel(program, instruction_set, device, options.lowering)
    check_work(compiled)
    return run_compiled(compiled, inputs, options, backend)


def check_work(compiled: AccelProgram) -> None:
    """Raises DeviceError, with the two reasons that account for most of the work, if the device runs no operation of the model."""
    if any(True for _ in compiled.groups):
        return
    reasons = Counter(compiled.missed.values())
    work = Counter[str]()
    for op in compiled.program.operations():
        work[compiled.missed.get(op_id(op), "")] += abs(matmul_macs(op))  # negative if a size is unknown
    first = sorted(reasons, key=lambda why: (work[why], reasons[why]), reverse=True)[:2]
    told = "; ".join(f"{reasons[why]} of {reasons.total()}: {why}" for why in first)
    raise DeviceError(
        f"no operation of the model runs on {compiled.device.name}{f' ({told})' if told else ''}",
        where=compiled.program.source_name,
        hint="leave out the engines on the device, or give a model with an operation that it has",
    )


def check_description(compiled: AccelProgram) -> str:
    """Return the common hash. Raises DeviceError naming both if the stream was made for another description."""
    now = description_hash(compiled.instruction_set, compiled.device)
    if compiled.description_hash != now:
        raise DeviceError(
            f"the stream was compiled for description {compiled.description_hash[:16]}, the installed one is {now[:16]}",
            where=f"{compiled.instruction_set.name}, device {compiled.device.name}",
            hint="compile it again",
        )
    return now


def run_compiled(compiled: AccelProgram, inputs: Mapping[str, np.ndarray], options: RunOptions, backend: Backend) -> Trace:
    """Run a stream on a backend.

    Args:
        compiled: what to run; refused if its description is not the installed one.
        inputs: every input of the program, of its shape and dtype.
        options: with `keep_tensors` False only outputs are kept; images are under `workdir`.
        backend: executes the instructions.

    Returns:
        A complete trace. Tensors in device memory keep the device's form (real ones in the layout's dtype,
        indices in the model's dtype); values inside a fused group have none. Counters: "macs", "macs_issued", "host_macs",
        "host_share" (of all MACs), "device_ops", "host_ops", "hbm_read_bytes", "ddr_read_bytes", "ddr_write_bytes" (the
        least that the instructions need), "hbm_port_bytes.<p>", "cycles_estimate" (with the run's memory
        model if the set has an estimate for it, else with ideal memory), most of them also per
        operation ("macs.<op id>"), and the backend's counters.

    Raises:
        DeviceError: an instruction is illegal. ComparisonFailure: a write is outside its destination. FleetError: the disk is full.
    """
    check_description(compiled)
    with _workdir(options.workdir) as folder:
        return _Run(compiled, inputs, options, backend, folder).run()


@contextmanager
def _workdir(given: Path | None) -> Generator[Path]:
    if given is not None:
        yield given
        return
    with Scratch("accel") as folder:
        yield folder


def _store(compiled: AccelProgram, memory: MappedMemory, key: str, array: np.ndarray) -> None:
    buffer = compiled.plan.buffers[key]
    memory.view("ddr", buffer.offset, buffer.size)[:] = compiled.instruction_set.layout.pack(np.asarray(array))


def _load(compiled: AccelProgram, memory: MappedMemory, key: str, dtype: np.dtype | None = None) -> np.ndarray:
    """Return the tensor of a buffer from memory as it is now (`_unpack`)."""
    buffer = compiled.plan.buffers[key]
    return _unpack(compiled, key, memory.view("ddr", buffer.offset, buffer.size), dtype)


def _unpack(compiled: AccelProgram, key: str, data: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """Unpack a tensor's bytes as `dtype`; by default the device's: the layout's for reals, the model's for integers."""
    buffer = compiled.plan.buffers[key]
    layout = compiled.instruction_set.layout
    native: np.dtype = layout.real if buffer.dtype.kind == "f" else buffer.dtype
    return layout.unpack(data, buffer.shape, dtype or native)


def options_expect(options: RunOptions, seq: int) -> bool:
    """Return whether the commit of that number was compared with an expected one."""
    return any(c.seq == seq for c in options.expected)


class _Run:
    """A run of a stream."""

    def __init__(
        self, compiled: AccelProgram, inputs: Mapping[str, np.ndarray], options: RunOptions, backend: Backend, folder: Path
    ) -> None:
        self.compiled, self.options, self.backend, self.folder = compiled, options, backend, folder
        self.sampled = bool(options.rtl_sample) and backend.name == "rtl"
        program = compiled.rounded
        self.host: dict[str, np.ndarray] = {"%" + a.name: inputs[a.name] for a in program.inputs}
        self.host |= {"%" + name: w for name, w in program.weights.items()}
        self.constants = {op_id(op): op for op in compiled.program.operations() if isinstance(op, ConstantOp)}
        self.on_device: set[str] = set()
        self.tensors: dict[str, np.ndarray] = {}
        self.host_seconds = 0.0
        self.printed = io.StringIO()
        self.saturated = 0
        self.memory: MappedMemory

    def run(self) -> Trace:
        c, options = self.compiled, self.options
        trace = Trace(
            engine=self.backend.name,
            program_hash=c.rounded.hash,
            device=c.device.name,
            description_hash=c.description_hash,
            placement=dict(c.placement),
        )
        total = max(len(c.steps), 1)
        position = started = 0

        def progress(fraction: float, words: str) -> None:
            if options.progress is not None:
                options.progress(min((position + fraction) / total, 1.0), words)

        self.memory = MappedMemory.fresh(c.device, self.folder / "memory", c.images(), c.registers)
        try:
            self.backend.open(c.instruction_set, c.device, self.memory, replace(options, progress=progress, workdir=self.folder))
            start = time.perf_counter()
            for step in c.steps:
                if trace.stopped is not None:
                    break
                if isinstance(step, HostStep):
                    progress(0.0, f"host {op_id(step.op)}")
                    self._host(step.op)
                else:
                    progress(0.0, step.calls[0].ops[-1] if step.calls and step.calls[0].ops else "device")
                    commits = self._device(step, started)
                    trace.commits.extend(commits)
                    started += len(step.calls)
                    if self._unexpected(commits[-1]) if self.sampled and commits else len(commits) < len(step.calls):
                        trace.stopped = trace.commits[-1].seq
                position += 1
            returned = c.program.returned()
            names = c.program.outputs
            if trace.stopped is None and not self.sampled:
                trace.outputs = {name: self._value(v) for name, v in zip(names, returned, strict=True)}
            trace.elapsed_s = time.perf_counter() - start
            trace.counters = static_counters(c, options.memory) | dict(self.backend.counters())
            trace.evidence = evidence = self.backend.evidence()
        finally:
            self.backend.close()
            self.memory.close()
        trace.tensors = self.tensors
        trace.meta = self._meta() | ({"cut": evidence.cut} if evidence.cut else {})
        position = total
        progress(0.0, "done")
        trace.complete = trace.stopped is None
        return trace

    def _device(self, segment: DeviceSegment, first_seq: int) -> Sequence[Commit]:
        for key in segment.uploads:
            self._upload(key)
        wanted = list(self._snapshots(segment, first_seq)) if self.options.keep_tensors else []
        for _, early in wanted:
            if early.seq < first_seq:  # a view of the memory before the segment
                early.take(self.memory)
        later = [(key, s) for key, s in wanted if s.data is None]
        # A segment that consists only of views has no instruction.
        snapshots = [s for _, s in later]
        commits = self.backend.execute(segment.calls, first_seq, segment.binaries, snapshots) if segment.calls else ()
        if 0 < len(commits) < len(segment.calls) and options_expect(self.options, first_seq + len(commits) - 1):
            return commits  # ended at the commit that differs from the expected one
        if len(commits) != len(segment.calls) and not self.sampled:
            raise ComparisonFailure(
                f"{len(segment.calls)} instructions, {len(commits)} commits", where=f"engine {self.backend.name}"
            )
        for key, snapshot in later if self.sampled else wanted:
            if snapshot.data is None and self.sampled:
                continue
            if snapshot.data is None:
                raise ComparisonFailure(f"tensor '{key}' was not read at its commit", where=f"engine {self.backend.name}")
            self.tensors[key] = _unpack(self.compiled, key, snapshot.data)
        self.on_device.update(*(group.results for group in segment.groups))
        return commits

    def _unexpected(self, commit: Commit) -> bool:
        """Return whether a commit of a sample differs from the expected one, which ended the run."""
        wanted = next((c for c in self.options.expected if c.seq == commit.seq), commit)
        return (commit.digest, commit.bytes_written, commit.result) != (wanted.digest, wanted.bytes_written, wanted.result)

    def _snapshots(self, segment: DeviceSegment, first_seq: int) -> Iterator[tuple[str, Snapshot]]:
        """Return the outputs of groups, each at the commit of its last instruction."""
        last = first_seq - 1
        for group in segment.groups:
            last += len(group.calls)
            for key in group.results:
                buffer = self.compiled.plan.buffers[key]
                yield key, Snapshot(last, buffer.offset, buffer.size)

    def _upload(self, key: str) -> None:
        array = self._kept(key)
        _store(self.compiled, self.memory, key, array)
        if array.dtype.kind == "f":
            stored = _load(self.compiled, self.memory, key)
            self.saturated += int((np.isinf(stored) & np.isfinite(array)).sum())
        self.on_device.add(key)

    def _value(self, value: SSAValue) -> np.ndarray:
        """Return a value for the host, in the model's dtype."""
        key = value_key(self.compiled.program, value)
        if key not in self.host and key in self.on_device:
            self.host[key] = _load(self.compiled, self.memory, key, self.compiled.plan.buffers[key].dtype)
        return self._kept(key)

    def _kept(self, key: str) -> np.ndarray:
        """Return a value that the host has; a constant is computed when it is first needed."""
        if key not in self.host:
            self.host[key] = apply(self.constants[key], [])
        return self.host[key]

    def _print(self, op: PrintOp, operands: Sequence[Any]) -> None:
        show(op, operands, partial(print, file=self.printed))

    def _host(self, op: FleetOp) -> None:
        operands = [self._value(v) for v in op.operands]
        if isinstance(op, PrintOp):
            self._print(op, operands)
            return
        start = time.perf_counter()
        result = apply(op, operands, self._print)
        if op.results:
            key = value_key(self.compiled.program, op.results[0])
            self.host[key] = result
            if self.options.keep_tensors and not isinstance(op, RegionOp):
                self.tensors[key] = np.asarray(result)
        self.host_seconds += time.perf_counter() - start

    def _meta(self) -> dict[str, Json]:
        c = self.compiled
        return {
            "stream_hash": c.stream_hash,
            "model_hash": c.model.hash,
            "quantisation": c.options.stated,
            "memory": self.options.memory,
            "seed": self.options.seed,
            "numpy": np.__version__,
            "host_steps": [op_id(s.op) for s in c.steps if isinstance(s, HostStep)],
            "host_reasons": dict(c.missed),
            "host_seconds": self.host_seconds,
            "stdout": self.printed.getvalue(),
            "inputs_saturated": self.saturated,
            "groups": [{"ops": list(g.ops), "calls": len(g.calls), "results": list(g.results)} for g in c.groups],
            "memory_used": dict(c.plan.used),
        }


def run_group_locally(
    compiled: AccelProgram, group: CallGroup, values: Mapping[str, np.ndarray], memory: MappedMemory
) -> dict[str, np.ndarray]:
    """Run one group on given operands by the functional model; its local error is the difference to the golden's result.

    Args:
        compiled: the stream.
        group: one of `compiled.groups`.
        values: operation id -> array and "%input" -> array, from the golden; the group's activations are taken
            from it (rounded to FP16 as the device stores them).
        memory: holds the constants (`AccelProgram.images`); the group's buffers are overwritten.

    Returns:
        Operation id -> array (float16; indices in the model's dtype) for every result of the group.

    Raises:
        DeviceError: `values` lacks an activation.
    """
    for key in group.activations:
        if key not in values:
            raise DeviceError(f"the golden has no tensor '{key}'", where=f"local error of {group.ops[-1]}")
        _store(compiled, memory, key, values[key])
    for _ in execute_calls(compiled.instruction_set, compiled.device, memory, group.calls, 0):
        pass
    return {key: _load(compiled, memory, key) for key in group.results}


def run_groups_locally(
    compiled: AccelProgram, tensors: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Run `run_group_locally` for every group whose operands the golden has, in a temporary folder.

    Args:
        compiled: the stream.
        tensors: the golden's, operation id -> array (`Trace.tensors`).
        inputs: the model's inputs by name.
    """
    values = {**tensors, **{"%" + name: array for name, array in inputs.items()}}
    needed = {key for group in compiled.groups for key in group.activations}
    constants = (op for op in compiled.program.operations() if isinstance(op, ConstantOp) and op_id(op) in needed)
    values |= {op_id(op): apply(op, []) for op in constants}
    found: dict[str, np.ndarray] = {}
    with _workdir(None) as folder:
        images = compiled.images(hbm=True)
        memory = MappedMemory.fresh(compiled.device, folder / "memory", images, compiled.registers)
        try:
            for group in compiled.groups:
                if all(key in values for key in group.activations):
                    found |= run_group_locally(compiled, group, values, memory)
        finally:
            memory.close()
    return found
