"""Programs as users write them, of kinds whose error bounds are soon infinite: sorts, beam search, Llama, routers, recurrences.

Each passes under vm, cpython and riscv, and a wrong sign in one element of what riscv gives fails.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.campaign import cosim
from fleet.cosim.models.loaded import load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM

MODELS = Path(__file__).parent
QUICK = ("sorts.py:argsort_of_tanh", "beam_search.py:step", "llama.py:two_blocks", "router.py:top_two", "gru.py:last_state")


def programs() -> list[str]:
    """Every function whose arguments all have a type of their own."""
    found: list[str] = []
    for path in sorted(MODELS.glob("[!t]*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and all(a.annotation for a in node.args.args):
                found.append(f"{path.name}:{node.name}")
    return found


class Wrong:
    """riscv; of the last float output one element has the wrong sign."""

    name, target = RISCV.name, RISCV.target

    def available(self) -> str | None:
        return RISCV.available()

    def run(self, *args, **kwargs) -> Trace:
        trace = RISCV.run(*args, **kwargs)
        name = [n for n, a in trace.outputs.items() if a.dtype.kind == "f"][-1:]
        outputs = {n: np.array(a) for n, a in trace.outputs.items()}
        for n in name:
            at = np.unravel_index(int(np.argmax(np.abs(outputs[n]))), outputs[n].shape)
            outputs[n][at] = -outputs[n][at]
        same = {op: outputs[n] for op, t in trace.tensors.items() for n in name if t is trace.outputs[n]}
        return replace(trace, outputs=outputs, tensors={**trace.tensors, **same})


def run(program: str, riscv=RISCV) -> CosimResult:
    loaded = load_model(f"{MODELS / program}", None, None, 0, None)
    engines = {"vm": VM, "cpython": CPYTHON, "riscv": riscv}
    options = CosimOptions(program, DataProvenance("random", 1, None, None, None), engines=engines)
    return cosim(loaded.program, loaded.inputs, None, ("vm", "cpython", "riscv"), options)


@pytest.mark.parametrize("program", [pytest.param(p, marks=[] if p in QUICK else pytest.mark.nightly) for p in programs()])
def test_it_passes(program: str) -> None:
    result = run(program)
    assert result.verdict == "pass", result.reasons
    assert {c.name: c.verdict for c in result.comparisons} == {"vm-vs-cpython": "pass", "riscv-vs-vm": "pass"}
    assert result.comparison("riscv-vs-vm").ways.beyond == 0


def test_there_are_several_of_each_kind() -> None:
    kinds = [p.split(":")[0] for p in programs()]
    assert {kind: kinds.count(kind) >= 2 for kind in kinds} == dict.fromkeys(
        ("sorts.py", "beam_search.py", "llama.py", "router.py", "gru.py"), True
    )


@pytest.mark.parametrize("program", ["llama.py:two_blocks", "router.py:top_two"])
def test_a_wrong_sign_in_an_output_fails(program: str) -> None:
    assert run(program, Wrong()).verdict == "fail"
