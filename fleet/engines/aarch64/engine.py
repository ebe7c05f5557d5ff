"""Engine `aarch64`: riscv's kernels as AArch64 code, run in an emulator. Counters are those of engine `riscv`."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from fleet.core.room import check_room
from fleet.engines.base import RunOptions
from fleet.engines.riscv import explained, fetch, place, printed_text
from fleet.engines.riscv_emulators.base import EmulationError, Execution
from fleet.engines.riscv_emulators.unicorn import AARCH64, UnicornEmulator, missing
from fleet.engines.riscv_host import HostSide, value_key
from fleet.engines.trace import Trace
from fleet.ir.dialect import PrintOp, op_id
from fleet.ir.program import Program
from fleet.targets.aarch64.compile import CPU, TRIPLE, Aarch64Program, compile_aarch64
from fleet.targets.riscv.arithmetic import MAX_ULP
from fleet.targets.riscv.plan import HELD

_LIMIT_FACTOR = 8
"""A run is stopped after this multiple of the instructions estimated for RISC-V."""


class Aarch64Engine:
    """Engine `aarch64`. The passes are those of `riscv`, too."""

    name = "aarch64"
    target = "aarch64"

    def available(self) -> str | None:
        """Return None if the emulator is installed, else what is missing."""
        return missing()

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile, run, return a complete trace.

        Raises DeviceError if the target cannot hold the program, ModelError for errors caused by the data, EmulationError if the
        program crashes.
        """
        from fleet.ir.operations.composite import entering
        from fleet.targets.riscv.prepare import prepared

        changed = prepared(program, "riscv")
        compiled = compile_aarch64(changed, keep=options.keep_tensors)
        machine = UnicornEmulator(AARCH64)
        try:
            trace = _Run(compiled, machine, inputs).trace(options)
        finally:
            machine.close()
        known = {op_id(op) for op in program.operations()}
        trace.engine, trace.program_hash = self.name, program.hash
        trace.tensors = {id_: tensor for id_, tensor in trace.tensors.items() if id_ in known}
        trace.meta |= {
            "numpy": np.__version__,
            "fates": dict(changed.fates),
            "composites": entering(changed.operations(), program.operations()),
        }
        trace.complete = True
        return trace


class _Run:
    """One run on a machine, which is loaded with the image, weights and inputs."""

    def __init__(self, compiled: Aarch64Program, machine: UnicornEmulator, inputs: Mapping[str, np.ndarray]) -> None:
        self._compiled, self._machine, self._module = compiled, machine, compiled.module
        plan, program = self._module.plan, compiled.program
        check_room(sum(region.size for region in plan.regions), "the memory of the program", where=program.source_name)
        machine.load(compiled.image)
        for region in plan.regions:
            machine.map(region.address, region.size, writable=region.writable)
        for buffer in plan.weights.values():
            place(machine, buffer, program.weights, "weight", "aarch64")
        for buffer in plan.inputs.values():
            place(machine, buffer, inputs, "input", "aarch64")
        self._host = HostSide(program, self._module.host_calls, machine, inputs, "aarch64")

    def trace(self, options: RunOptions) -> Trace:
        """Run; return the results, without names of the program before its passes."""
        begun = time.perf_counter()
        execution = self._execute()
        trace = Trace("aarch64", "", elapsed_s=time.perf_counter() - begun)
        module, host, program = self._module, self._host, self._compiled.program
        if options.keep_tensors:
            held = {k: v for k, v in host.values.items() if isinstance(v, np.ndarray) and k in module.plan.results}
            trace.tensors = held | {k: fetch(self._machine, b) for k, b in module.plan.tensors.items() if b.dtype != HELD}
        trace.outputs = {
            name: fetch(self._machine, buffer) if buffer.dtype != HELD else host.array(value_key(value, program))
            for (name, buffer), value in zip(module.plan.outputs, program.returned(), strict=True)
        }
        trace.counters = {"instructions": float(execution.instructions)}
        trace.counters |= {f"instructions.{o.id}": execution.by_symbol.get(o.symbol, 0) for o in module.operations}
        trace.counters |= {f"instructions.{id_}": 0 for id_ in module.views}
        prints = any(isinstance(call.op, PrintOp) for call in module.host_calls)
        trace.meta = {
            "emulator": f"{self._machine.name} {self._machine.version}",
            "compiler": f"{TRIPLE} {CPU}",
            "stdout": host.printed if prints else printed_text(self._machine, program, module.plan),
            "function_ulp": {name: max(t.get(name, 0.0) for t in MAX_ULP.values()) for t in MAX_ULP.values() for name in t},
        } | host.said
        trace.placement = host.placement(module.operations)
        if options.progress is not None:
            options.progress(1.0, "aarch64")
        return trace

    def _execute(self) -> Execution:
        limit = _LIMIT_FACTOR * sum(operation.work for operation in self._module.operations) + 8000
        stack = self._module.plan.stack[1]
        host = self._host.call if self._module.host_calls else None
        try:
            return self._machine.run(self._compiled.image.entry, stack, limit=limit, host=host)
        except EmulationError as error:
            symbols, program = self._compiled.symbols, self._compiled.program
            raise explained(error, self._machine, self._module.operations, symbols, program, "aarch64") from error


ENGINE = Aarch64Engine()
