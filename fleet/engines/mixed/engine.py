"""Engine `mixed`: executes `with fleet.device(...)`: parts run on engines and accelerators, with tensors copied in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.mixed.places import place_of
from fleet.engines.registry import find_engine
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, SetupError
from fleet.ir.program import Program


class MixedEngine:
    """Engine `mixed`."""

    name = "mixed"
    target = "mixed"

    def available(self) -> str | None:
        """Return None: the engine of a part reports itself what is missing."""
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Run every part on its engine, return one complete trace.

        Raises DeviceError if a device is unknown, SetupError if its engine cannot run here, and what engines raise.
        """
        from fleet.targets.printed import printed
        from fleet.transforms.sections import sections_of

        divided = sections_of(program)
        traces: list[Trace] = []

        def run(n: int, given: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
            section = divided.sections[n]
            trace = _run(section.device, section.part.program, given, options)
            traces.append(trace)
            return trace.outputs

        outputs, values = divided.run(inputs, run)
        trace = Trace(self.name, program.hash, outputs, elapsed_s=sum(t.elapsed_s for t in traces))
        for part in traces:
            trace.tensors |= part.tensors
        trace.tensors |= values  # as passed from part to part: an accelerator keeps its own dtype
        trace.counters = {"operations": float(sum(1 for _ in program.operations())), "parts": float(len(traces))}
        fates: dict[str, Any] = {}
        composites: list[Any] = []
        for part in traces:
            said: dict[str, Any] = dict(part.meta)
            fates |= said.get("fates") or {}
            composites += said.get("composites") or []
        trace.meta = {
            "numpy": np.__version__,
            "stdout": printed(program, lambda value: divided.value(value, inputs, values)),
            "fates": fates,
            "composites": composites,
        }
        trace.complete = all(part.complete for part in traces)
        return trace


def _run(device: str, program: Program, given: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
    place = place_of(device, program)
    engine = find_engine(place.engine).engine
    if missing := engine.available():
        raise SetupError(missing, where=f"device {device}")
    if place.device is not None:
        return engine.run(program, given, replace(options, device=place.device, workdir=None))
    try:
        return engine.run(program, given, options)
    except DeviceError:
        if engine.name != "llvm-cpu":
            raise
        return find_engine("vm").engine.run(program, given, options)


ENGINE = MixedEngine()
