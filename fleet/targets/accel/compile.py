"""Compiles IR to an accelerator's instructions, for any instruction set: match, place, plan memory, emit."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from xdsl.ir import SSAValue

from fleet.errors import DeviceError
from fleet.ir.calibration import calibration_of
from fleet.ir.dialect import op_id
from fleet.ir.lowering_options import USUAL, LoweringOptions
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.ir.weights import Weights
from fleet.isa.codec import words_of
from fleet.isa.codec_binary import BEAT, encode_binary
from fleet.isa.description import Description
from fleet.isa.issue import ISSUES, Binary, check_ways, runs
from fleet.isa.pattern_calls import emitted
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash
from fleet.isa.resolved import reset_state, resolved_call, state_after
from fleet.sdk import Call, Device, InstructionSet
from fleet.sdk.layout import Layout
from fleet.sdk.lowering import Match
from fleet.targets.accel.emission import set_parameter
from fleet.targets.accel.memory.lives import lifetimes
from fleet.targets.accel.memory.plan import AccelMemoryPlan, DdrTenant
from fleet.targets.accel.program import AccelProgram, HostStep, value_key
from fleet.targets.accel.raising import raised
from fleet.targets.accel.stream import CallGroup, DeviceSegment
from fleet.targets.liveness import Life
from fleet.targets.quantised import quantiser
from fleet.transforms.place import Node, place
from fleet.transforms.quantise import QuantiseOptions
from fleet.transforms.simplify.infer_shapes import check_known

LOADERS: tuple[str, ...] = ("host", "device")
"""Values of option "load": what fills the HBM, the host before the run or the stream's own instructions."""

_COMPILED: OrderedDict[str, AccelProgram] = OrderedDict()
_KEPT_PROGRAMS = 8


def compile_accel(
    program: Program, instruction_set: InstructionSet, device: Device, options: LoweringOptions = USUAL
) -> AccelProgram:
    """Compile a program for a device.

    Args:
        program: the model.
        instruction_set: provides the patterns and the layout.
        device: one of its devices.
        options: quantisation, and how instructions and constants are loaded into the device.

    Returns:
        The stream; the same object for the same content (program, description, device, options).

    Raises:
        DeviceError: the device cannot hold the weights, the tensors or one token.
        ModelError: weights are not finite or exceed the device's range.
    """
    check_known(program, "an accelerator")
    described = description_hash(instruction_set, device)
    key = json.dumps([program.hash, described, device.name, options.stated], sort_keys=True)
    if key in _COMPILED:
        _COMPILED.move_to_end(key)
        return _COMPILED[key]
    lowered = lowered_program(program, instruction_set)
    placement = place(lowered, instruction_set.patterns, device, options)
    context = _Context(lowered, instruction_set, device, options)
    context.plan.share(list(_tenants(lowered, placement.schedule, instruction_set.layout)))
    steps: list[DeviceSegment | HostStep] = []
    for on_device, nodes in groupby(placement.schedule, key=lambda node: isinstance(node, Match)):
        if on_device:
            context.restart()
            steps.append(context.segment([node for node in nodes if isinstance(node, Match)]))
        else:
            steps += [HostStep(node) for node in nodes if not isinstance(node, Match)]
    steps = context.issued(context.loaded(steps))
    rounded = replace(lowered, weights=Weights(lowered.weights).with_entries(context.rounded_weights))
    compiled = AccelProgram(
        program, lowered, rounded, instruction_set, device, options, described, placement.where(), tuple(steps), context.plan,
        context.parameters, placement.missed,
    )  # fmt: skip
    _COMPILED[key] = compiled
    while len(_COMPILED) > _KEPT_PROGRAMS:
        _COMPILED.popitem(last=False)
    return compiled


def lowered_program(program: Program, instruction_set: InstructionSet) -> Program:
    """Return the program to be placed: with the composites of the set's patterns raised. The same object if nothing changes."""
    s = instruction_set
    return raised(program, s.composites, s.head_channels, s.passes)


def rounded_program(program: Program, instruction_set: InstructionSet, device: Device, options: LoweringOptions = USUAL) -> Program:
    """Return the program of the rounded golden, with the weights as the device stores them (codes times scales, FP16 biases)."""
    return compile_accel(program, instruction_set, device, options).rounded


def _tenants(program: Program, schedule: Sequence[Node], layout: Layout) -> Iterator[DdrTenant]:
    for value, (first, last) in lifetimes(program, schedule).items():
        shape, dtype = shape_of(value.type), numpy_dtype(value.type)
        yield DdrTenant(value_key(program, value), Life(layout.size(shape, dtype), first, last), shape, dtype)
    for at, node in enumerate(schedule):
        if isinstance(node, Match) and node.scratch:
            yield DdrTenant(_scratch(node), Life(node.scratch, at, at), (node.scratch,), np.dtype(np.uint8))


def _scratch(match: Match) -> str:
    return f"scratch of {op_id(match.ops[-1])}"


class _Context:
    """The context of a pattern (`fleet.sdk.lowering.EmitContext`)."""

    def __init__(self, program: Program, instruction_set: InstructionSet, device: Device, options: LoweringOptions) -> None:
        self.program, self.device = program, device
        self.plan = AccelMemoryPlan(device)
        self.rounded_weights: dict[str, np.ndarray] = {}
        self.parameters: dict[str, int] = {}
        self._set, self._options = instruction_set, QuantiseOptions.of(options.stated)
        self._calibration = calibration_of(options.stated)
        self._description = load(instruction_set.description)
        self._issue, self._loader = _ways(options, instruction_set, self._description)
        self._ops: tuple[str, ...] = ()
        self._calls: list[Call] = []
        self._loads: list[Call] = []
        self._state = reset_state(device)
        self._on_device: set[str] = set()
        self._match: Match | None = None

    def segment(self, matches: Sequence[Match]) -> DeviceSegment:
        """Emit groups that run without the host in between."""
        groups, uploads = list[CallGroup](), dict[str, None]()
        for match in matches:
            groups.append(group := self.group(match))
            uploads |= dict.fromkeys(key for key in group.activations if key not in self._on_device)
            self._on_device.update(group.activations, group.results)
        return DeviceSegment(tuple(groups), tuple(uploads))

    def group(self, match: Match) -> CallGroup:
        """Emit a matched group."""
        self._calls, self._match = [], match
        self._ops = tuple(value_key(self.program, op.results[0]) for op in match.ops)
        emitted(match, self)
        keys = [tuple(value_key(self.program, v) for v in values) for values in (match.activations, match.results)]
        for value in (*match.activations, *match.results):
            self.address(value)
        return CallGroup(self._ops, tuple(self._calls), *keys)

    def restart(self) -> None:
        """Start a segment: the hardware has been reset."""
        self._state = reset_state(self.device)

    def address(self, value: SSAValue) -> int:
        return self.plan.buffer(value_key(self.program, value)).offset

    def scratch(self) -> int:
        assert self._match is not None
        if not self._match.scratch:
            raise DeviceError(
                f"pattern '{self._match.pattern.name}' asks for scratch, which its match does not name",
                where=self.device.name,
                hint="give the match `scratch`, in bytes",
            )
        return self.plan.buffers[_scratch(self._match)].offset

    def view(self, value: SSAValue, source: SSAValue, skip: int) -> int:
        shape, dtype = shape_of(value.type), numpy_dtype(value.type)
        size = self._set.layout.size(shape, dtype)
        of = value_key(self.program, source)
        return self.plan.view(value_key(self.program, value), of, skip, size, shape, dtype).offset

    def reserve(self, key: str, space: str, size: int, *, align: int = 64) -> int:
        return self.plan.area(key, space, size, align).offset

    def weight(self, name: str) -> np.ndarray:
        return self.program.weights[name]

    def quantised(self, name: str, *, group: int, levels: int, kept: int = 0) -> tuple[np.ndarray, np.ndarray]:
        moments = None if self._calibration is None else self._calibration.moments.get(name)
        return quantiser(self._options, name, moments)(self.program.weights[name], group, levels, kept)

    def store(self, key: str, space: str, data: np.ndarray | Sequence[np.ndarray], *, align: int = 64) -> int:
        banks = (data,) if isinstance(data, np.ndarray) else tuple(data)
        known = key in self.plan.constants
        offset = self.plan.constant(key, space, banks, align).offset
        if space == "hbm" and self._loader == "device" and not known:
            self._load(key, offset, banks)
        return offset

    def _load(self, key: str, target: int, banks: Sequence[np.ndarray]) -> None:
        """Place HBM contents in DDR, and create the calls that copy them."""
        assert self._set.loader is not None
        for port, data in enumerate(banks):
            source = self.plan.constant(f"{key}, to port {port}", "ddr", (data,), 64).offset
            for call in self._set.loader(self.device, source, port, target, data.size):
                self._loads.append(replace(self._check(call), ops=self._ops))

    def loaded(self, steps: Sequence[DeviceSegment | HostStep]) -> list[DeviceSegment | HostStep]:
        """Return the steps with all copies to HBM before the first instruction of the model."""
        done = list(steps)
        at = next((i for i, s in enumerate(done) if isinstance(s, DeviceSegment)), None)
        if at is not None and self._loads:
            segment = done[at]
            assert isinstance(segment, DeviceSegment)
            first = segment.groups[0]
            done[at] = replace(segment, groups=(replace(first, calls=(*self._loads, *first.calls)), *segment.groups[1:]))
        return done

    def issued(self, steps: Sequence[DeviceSegment | HostStep]) -> list[DeviceSegment | HostStep]:
        """Return the steps, with the binary form of their calls in DDR if the stream is issued as binaries."""
        if self._issue == "regs":
            return list(steps)
        done: list[DeviceSegment | HostStep] = []
        for step in steps:
            done.append(replace(step, binaries=tuple(self._binaries(step.calls))) if isinstance(step, DeviceSegment) else step)
        return done

    def _binaries(self, calls: Sequence[Call]) -> Iterator[Binary]:
        fetch = self._description.fetch
        assert fetch is not None
        space = fetch.address.fields[0].space or "ddr"
        for first, count, has_form in runs(self._description, calls):
            if has_form:
                data = np.frombuffer(encode_binary(self._description, calls[first : first + count]), np.uint8)
                number = sum(key.startswith("insts ") for key in self.plan.constants)
                offset = self.plan.constant(f"insts {number}", space, (data,), BEAT).offset
                yield Binary(first, count, space, offset, data.size)

    def parameter(self, register: str, value: int) -> None:
        set_parameter(self.parameters, self._description, register, value)

    def rounded(self, name: str, values: np.ndarray) -> None:
        weight = self.program.weights[name]
        if values.shape != weight.shape or values.dtype != weight.dtype:
            raise DeviceError(
                f"rounded to {values.dtype} {list(values.shape)}, expected {weight.dtype} {list(weight.shape)}",
                where=f"weight '{name}'",
            )
        known = self.rounded_weights.get(name)
        if known is not None and not np.array_equal(known, values):
            raise DeviceError(
                "used in two ways that the device stores differently",
                where=f"weight '{name}'",
                hint="give the model a copy of it under another name",
            )
        self.rounded_weights[name] = values

    def emit(self, call: Call) -> None:
        if not isinstance(call, Call):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"emits {call!r}, expected a Call")
        self._calls.append(self._check(call))

    def _check(self, call: Call) -> Call:
        """Return the call with the state registers in effect."""
        cls = self._set.instructions.get(call.instruction)
        if cls is None:
            raise DeviceError(f"no instruction '{call.instruction}'", where=self._set.name)
        # The names first: `legal` may read every field of its unit.
        words_of(self._description, call, strict=False)
        call = resolved_call(cls, self.device, call, self._state)
        wrong = cls.legal(self.device, call.fields)
        if wrong:
            raise DeviceError(
                f"the compiler made an illegal {call.instruction}: " + "; ".join(wrong),
                where=f"{self.device.name}, operation {call.ops[-1] if call.ops else '?'}",
            )
        self._state = state_after(self._set, self.device, [call], self._state)
        return call


def _ways(options: LoweringOptions, instruction_set: InstructionSet, description: Description) -> tuple[str, str]:
    """Return options "issue" and "load". Raises DeviceError if a value is unknown, or not supported by this set."""
    issue, loader = options.issue, options.load
    where = instruction_set.name
    if issue not in ISSUES:
        raise DeviceError(f"no way in called {issue!r}", where=where, hint=f"choose among {', '.join(ISSUES)}")
    if loader not in LOADERS:
        raise DeviceError(f"nobody called {loader!r} fills the HBM", where=where, hint=f"choose among {', '.join(LOADERS)}")
    hints = "use --issue regs", "use --load host"
    check_ways(instruction_set, description, aux=issue == "aux", load=loader == "device", hints=hints)
    return issue, loader
