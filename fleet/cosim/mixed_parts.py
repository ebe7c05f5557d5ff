"""Engine `mixed` on accelerators: each part is a co-simulation of its own, on the values that the mixture gave it.

So an accelerator's part is held to the golden with the device's weights, its hardware to its functional model bit by bit, and every
other part to the golden; what the mixture as a whole loses is measured, not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fleet.compare.verdict import Comparison
from fleet.cosim.result import CosimResult
from fleet.engines.mixed.places import place_of
from fleet.engines.trace import Trace
from fleet.ir.program import Program
from fleet.transforms.sections import is_placed, sections_of

PartRun = Callable[[Program, Mapping[str, np.ndarray], Sequence[str], "str | None", int], "tuple[CosimResult, Mapping[str, Trace]]"]
"""Co-simulates (part, inputs, engines, device, number); returns the outcome and the traces by engine."""

_NO_DIFFERENCE = frozenset({"pass", "not proved"})


def on_accelerators(program: Program) -> bool:
    """Return whether the source places a part of the program on an accelerator that is installed."""
    return is_placed(program) and any(place_of(s.device, program).device is not None for s in sections_of(program).sections)


def compare_parts(
    program: Program, inputs: Mapping[str, np.ndarray], mixed: Trace, run: PartRun
) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons of all parts, and the reasons for which the mixture fails beside them."""
    comparisons: list[Comparison] = []
    reasons: list[str] = []
    for n, section in enumerate(sections_of(program).sections):
        place, part = place_of(section.device, program), section.part
        given = {
            a.name: mixed.tensors[part.sources[a.name]] if a.name in part.sources else np.asarray(inputs[a.name])
            for a in part.program.inputs
        }
        engines = ["vm", *(["iss"] if place.engine == "rtl" else []), place.engine]
        if place.engine == "vm":
            continue  # the golden itself
        name = f"mixed part {n + 1} on {section.device}"
        result, traces = run(part.program, given, engines, place.device, n)
        comparisons += [replace(c, name=f"{name}: {c.name}", reference="vm", other=mixed.engine) for c in result.comparisons]
        failing = [c for c in result.comparisons if c.verdict not in _NO_DIFFERENCE]
        if result.verdict not in _NO_DIFFERENCE and not failing:
            reasons += [f"{name}: {reason}" for reason in result.reasons] or [f"{name}: {result.verdict}"]
        again = traces.get(place.engine)
        for output in part.program.outputs:
            if again is None or not _same(again.outputs[output], mixed.tensors[output]):
                reasons.append(f"{name}: {output} is not what {place.engine} computes of the same values")
    return comparisons, reasons


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
