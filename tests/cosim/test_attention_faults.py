"""Faults of attention on the accelerator's path: planted in the lowering, found by the comparison with the golden."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "targets" / "accel"))
from blocks import gpt2_block, inputs

from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.sets.hbm0923.operators import attention
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors
from fleet.targets.accel import compile as accel


def run(scale: float | None = None) -> CosimResult:
    accel._COMPILED.clear()
    options = CosimOptions(model="block", data=DataProvenance("random", 8, None, None, None), device="hbm_small")
    return cosim(gpt2_block(scale=scale), inputs(), None, ["vm", "iss"], options)


def softmax(**changed: Callable[[Any], Any]) -> Callable[..., SoftmaxTensors]:
    """Operands as the lowering gives them, but for these."""
    return lambda **given: SoftmaxTensors(**{k: changed[k](v) if k in changed else v for k, v in given.items()})


SCALE_WORD = attention.scale_word
FAULTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "the mask is dropped": ("SoftmaxTensors", softmax(mask=lambda _: False)),
    "attention is uniform": ("scale_word", lambda device, scale: SCALE_WORD(device, 0 if scale != 1 else 1)),
    "1 / sqrt(d) is missing": ("scale_word", lambda device, _scale: SCALE_WORD(device, 1)),
    "the mask is off by one": ("SoftmaxTensors", softmax(last=lambda n: n + 1)),
}


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    yield
    accel._COMPILED.clear()


def test_without_a_fault() -> None:
    assert run().verdict == "pass"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_at_the_attention(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, *FAULTS[fault])
    result = run()
    assert result.verdict == "fail"
    found = next(c for c in result.comparisons if c.name == "iss-vs-vm-rounded")
    failing = [row.op for row in found.operations if row.verdict == "fail"]
    assert failing[0] == "mix"
    row = next(row for row in found.operations if row.op == "mix")
    assert row.local_bound is not None
    assert row.local_bound.violations > 0.1 * 8 * 128
    # What follows is right on its own operands: the fault is named where it is.
    after = [r for r in found.operations if r.op in {"attn", "ln2", "fc", "act", "out"}]
    assert all(r.local_bound is not None and r.local_bound.violations == 0 for r in after)
