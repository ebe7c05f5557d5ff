"""Engine `riscv`: the model compiled for RV64GC or RV64GCV, run in an emulator.

Same program, same image, same bits and same instruction counts on every run and every emulator. Counters: "instructions"
(retired, from the entry to its return) and "instructions.<op id>" for every operation; the difference is the entry function's
calls. An emulator that models a core adds "estimated_cycles" (starting the machine included). With "riscv" of the run's options
the instruction set, the emulator and the passes are chosen.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from fleet.core.codec import Json, encode_record
from fleet.core.room import check_room
from fleet.engines.base import RunOptions
from fleet.engines.riscv_emulators.base import EmulationError, Emulator, Execution
from fleet.engines.riscv_emulators.registry import EmulatorInfo, default_emulator, find_emulator
from fleet.engines.riscv_emulators.unicorn import missing
from fleet.engines.riscv_host import HostSide, read_array, value_key
from fleet.engines.riscv_profile import profile_of
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, ModelError
from fleet.ir.dialect import FleetOp, PrintOp, op_id
from fleet.ir.program import Program
from fleet.isa.memory import as_bytes
from fleet.targets.printed import printed
from fleet.targets.riscv.arithmetic import MAX_ULP
from fleet.targets.riscv.elf import Symbol, read_image
from fleet.targets.riscv.faults import FAULT_SYMBOL, RuntimeFault, checks_of
from fleet.targets.riscv.isa import Isa, find_isa
from fleet.targets.riscv.plan import HELD, Buffer, MemoryPlan

if TYPE_CHECKING:
    from fleet.targets.riscv.codegen import OperationCode
    from fleet.targets.riscv.compile import RiscvProgram

_LIMIT_FACTOR = 8
"""A run is stopped after this multiple of the estimated instructions, which only a damaged image reaches."""


class RiscvEngine:
    """Engine `riscv`."""

    name = "riscv"
    target = "riscv"

    def available(self) -> str | None:
        """Return None if the default emulator is installed, else what is missing."""
        return missing()

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Run the passes, compile and run; see `run_image` for the trace and the errors.

        Operations that the passes removed have no tensor; `meta["fates"]` says what became of each.
        """
        from fleet.ir.operations.composite import entering
        from fleet.targets.riscv.prepare import prepared

        isa = find_isa(options.riscv.get("isa", "rv64gc"))
        name = options.riscv.get("emulator")
        chosen = find_emulator(name) if name else default_emulator(isa)
        chosen.check(isa)
        pipeline = options.riscv.get("pipeline", "riscv")
        changed = prepared(program, pipeline)
        compiled = _compiled(changed, isa, chosen, options)  # report what this emulator can never run before what is not installed
        emulator = chosen.make(isa)
        try:
            trace = run_image(compiled, compiled.elf, inputs, options, emulator)
            known = {op_id(op) for op in program.operations()}
            trace.program_hash = program.hash
            trace.tensors = {id_: tensor for id_, tensor in trace.tensors.items() if id_ in known}
            trace.meta |= {
                "fates": dict(changed.fates),
                "composites": entering(changed.operations(), program.operations()),
                "pipeline": pipeline,
            }
            return trace
        finally:
            emulator.close()


def _compiled(program: Program, isa: Isa, chosen: EmulatorInfo, options: RunOptions) -> RiscvProgram:
    from fleet.targets.riscv.compile import compile_riscv

    try:
        return compile_riscv(program, isa=isa, keep_tensors=options.keep_tensors, host=chosen.host_calls)
    except DeviceError as error:
        if chosen.host_calls or error.hint:
            raise
        hint = "with --riscv-emulator unicorn the host computes it"
        raise DeviceError(error.what, where=error.where, hint=hint) from error


ENGINE = RiscvEngine()


def run_image(
    compiled: RiscvProgram,
    image: bytes,
    inputs: Mapping[str, np.ndarray],
    options: RunOptions | None = None,
    emulator: Emulator | None = None,
) -> Trace:
    """Run an ELF image of a compiled program: its own (`compiled.elf`) or one that was changed to plant a fault.

    Args:
        compiled: provides the memory plan, the operations and the weights.
        image: an ELF64 RISC-V executable with the functions that `compiled` names.
        inputs: input name -> array, of the declared shape and dtype.
        options: `keep_tensors` and `progress` are honoured.
        emulator: a fresh one; None: the default of the instruction set.

    Returns:
        A complete trace: tensors of all operations, outputs, counters (see the module), meta with "emulator", "compiler",
        "image_hash", "code_bytes", and "stdout": the text of the program's `print`s.

    Raises:
        ModelError: an input is missing or has another shape or dtype; a bad index or exponent in the data.
        EmulationError: the program crashed; names pc, function, operation and address.
        ElfError: `image` is not an ELF64 RISC-V executable.
    """
    loaded = LoadedImage(compiled, image, emulator)
    try:
        return loaded.run(inputs, options)
    finally:
        loaded.close()


class LoadedImage:
    """An image in an emulator with its weights loaded: loaded once, run for any number of inputs.

    A run does not see results of an earlier one: every operation writes its whole result before another reads it.
    """

    def __init__(self, compiled: RiscvProgram, image: bytes | None = None, emulator: Emulator | None = None) -> None:
        """Load an image (None: the program's own) into an emulator (None: the default). Raises as `run_image` does."""
        self.compiled, self._image = compiled, compiled.elf if image is None else image
        loaded = read_image(self._image)
        self._entry = loaded.entry
        check_room(sum(r.size for r in compiled.plan.regions), "the memory of the program", where=compiled.program.source_name)
        self._machine = emulator or default_emulator(compiled.isa).make(compiled.isa)
        try:
            self._machine.load(loaded)
            for region in compiled.plan.regions:
                self._machine.map(region.address, region.size, writable=region.writable)
            for buffer in compiled.plan.weights.values():
                place(self._machine, buffer, compiled.program.weights, "weight")
        except BaseException:
            self._machine.close()
            raise

    def run(self, inputs: Mapping[str, np.ndarray], options: RunOptions | None = None) -> Trace:
        """One run; see `run_image`."""
        options = options or RunOptions()
        compiled, machine, program = self.compiled, self._machine, self.compiled.program
        for buffer in compiled.plan.inputs.values():
            place(machine, buffer, inputs, "input")
        begun = time.perf_counter()
        host = HostSide(compiled.program, compiled.host_calls, machine, inputs)
        execution = _execute(machine, compiled, self._entry, options, host)
        elapsed = time.perf_counter() - begun
        trace = Trace("riscv", program.hash, elapsed_s=elapsed)
        if options.keep_tensors:
            held = {
                id_: value for id_, value in host.values.items() if isinstance(value, np.ndarray) and id_ in compiled.plan.results
            }
            trace.tensors = held | {id_: fetch(machine, b) for id_, b in compiled.plan.tensors.items() if b.dtype != HELD}
        trace.outputs = {
            name: fetch(machine, buffer) if buffer.dtype != HELD else host.array(value_key(value, program))
            for (name, buffer), value in zip(compiled.plan.outputs, program.returned(), strict=True)
        }
        trace.counters["instructions"] = execution.instructions
        if execution.cycles is not None:
            trace.counters["estimated_cycles"] = execution.cycles
        for operation in compiled.operations:
            trace.counters[f"instructions.{operation.id}"] = execution.by_symbol.get(operation.symbol, 0)
        trace.counters |= {f"instructions.{id_}": 0 for id_ in compiled.views}
        printed = host.printed if any(isinstance(call.op, PrintOp) for call in compiled.host_calls) else None
        trace.meta = (
            _meta(compiled, machine, self._image)
            | {
                "stdout": printed_text(machine, program, compiled.plan) if printed is None else printed,
            }
            | host.said
        )
        trace.placement = host.placement(compiled.operations)
        profile = profile_of(compiled, execution) if options.keep_tensors and self._image == compiled.elf else None
        if profile is not None:
            trace.meta["riscv_profile"] = encode_record(profile)
        trace.complete = True
        return trace

    def close(self) -> None:
        """End the emulator; may be called twice."""
        self._machine.close()


def place(machine: Emulator, buffer: Buffer, arrays: Mapping[str, np.ndarray], kind: str, engine: str = "riscv") -> None:
    """Write a weight or input into its buffer. Raises ModelError if it is missing, or has another shape or dtype."""
    array = arrays.get(buffer.name)
    if array is None:
        raise ModelError(f"{kind} {buffer.name!r} is missing", where=f"engine {engine}")
    if buffer.dtype == HELD:
        return
    if array.shape != buffer.shape or array.dtype != buffer.dtype:
        have, want = f"{array.dtype}{list(array.shape)}", f"{buffer.dtype}{list(buffer.shape)}"
        raise ModelError(f"{kind} {buffer.name!r} is {have}; expected {want}", where=f"engine {engine}")
    machine.write(buffer.address, as_bytes(array).data)


def fetch(machine: Emulator, buffer: Buffer) -> np.ndarray:
    """Return a copy of a buffer's array."""
    return read_array(machine, buffer.address, buffer.shape, buffer.steps, buffer.dtype)


def _execute(machine: Emulator, compiled: RiscvProgram, entry: int, options: RunOptions, host: HostSide) -> Execution:
    estimate = sum(operation.work for operation in compiled.operations) + 1000

    def watch(counts: Mapping[str, int]) -> None:
        if options.progress is not None:
            begun = [operation for operation in compiled.operations if counts.get(operation.symbol)]
            # Estimates are upper bounds: operations before the current one are done, whatever they took.
            done = sum(operation.work for operation in begun[:-1]) + sum(min(o.work, counts[o.symbol]) for o in begun[-1:])
            options.progress(min(1.0, done / estimate), f"riscv {begun[-1].id}" if begun else "riscv")

    try:
        return machine.run(
            entry,
            compiled.plan.stack[1],
            limit=_LIMIT_FACTOR * estimate,
            watch=watch,
            host=host.call if compiled.host_calls else None,
        )
    except EmulationError as error:
        raise explained(error, machine, compiled.operations, compiled.symbols, compiled.program) from error


def explained(
    error: EmulationError, machine: Emulator, operations: Sequence[OperationCode], symbols: Mapping[str, Symbol], program: Program,
    engine: str = "riscv",
) -> ModelError | EmulationError:  # fmt: skip
    """Translate an error to the model's terms: the operation, its place, and the reason if the code stopped itself."""
    operation = next((o for o in operations if o.symbol == error.symbol), None)
    name = f"operation {operation.id}" if operation else f"function {error.symbol}"
    where = (operation.at if operation else None) or program.source_name
    fault = symbols[FAULT_SYMBOL].address
    code, value, bound = (int(word) for word in np.frombuffer(machine.read(fault, 24), "<i8"))
    if error.trapped and code in {int(f) for f in RuntimeFault if f}:
        return ModelError(
            f"{name}: {RuntimeFault(code).message(value, bound, checks_of(program))}", where=where, hint="check the input data"
        )
    return EmulationError(
        f"{name} crashed on {engine}: {error.what}",
        where=where,
        hint="the image is damaged or the compiler is wrong",
        pc=error.pc,
        symbol=error.symbol,
        address=error.address,
        trapped=error.trapped,
    )


def printed_text(machine: Emulator, program: Program, plan: MemoryPlan) -> str:
    """Return what the program's `print`s show, in order: as Python prints the arrays."""
    block = program.function.body.block
    names: dict[SSAValue, str] = {value: a.name for value, a in zip(block.args, program.arguments, strict=True)}

    def value(source: SSAValue) -> np.ndarray:
        if isinstance(source.owner, FleetOp):
            return fetch(machine, plan.results[op_id(source.owner)])
        name = names[source]
        return fetch(machine, plan.weights.get(name) or plan.inputs[name])

    return printed(program, value)


def _meta(compiled: RiscvProgram, machine: Emulator, image: bytes) -> dict[str, Json]:
    from fleet.targets.riscv.compile import ABI, tools

    return {
        "emulator": f"{machine.name} {machine.version}",
        "compiler": tools(compiled.isa),
        "isa": f"{compiled.isa.name} {ABI}",
        "image_hash": hashlib.sha256(image).hexdigest(),
        "code_hash": compiled.code_hash,
        "function_ulp": {name: max(t.get(name, 0.0) for t in MAX_ULP.values()) for t in MAX_ULP.values() for name in t},
        "result_bytes": {"shared": compiled.plan.result_bytes, "side by side": compiled.plan.unshared_bytes},
        "code_bytes": sum(symbol.size for symbol in compiled.image.symbols if symbol.function),
        "numpy": np.__version__,
    }
