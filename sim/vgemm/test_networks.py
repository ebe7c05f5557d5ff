"""Convolutional networks on the INT8 device: every product there, every bit of the hardware, cycles beside the busiest module."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import networks
import pytest

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.cosim.result import CosimResult
from fleet.ir.dialect import MatmulOp, op_id
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.program import AccelProgram, DeviceSegment

DEVICE = "vgemm16"
OVERLAPS = 8
"""Cycles of an instruction's cost in the dispatcher, beside the module's work."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("networks")
    networks.write(made)
    return made


def compiled(folder: Path, name: str) -> AccelProgram:
    program = load_model(str(folder / f"{name}.onnx"), None, folder / "image.npz", 0, None).program
    return compile_accel(program, *find_device(DEVICE))


def busiest(found: AccelProgram) -> int:
    """Cycles of the busiest module alone, segment by segment, by the cost model."""
    total = 0
    for segment in (s for s in found.steps if isinstance(s, DeviceSegment)):
        busy: Counter[str] = Counter()
        for call in segment.calls:
            cls: Any = found.instruction_set.instructions[call.instruction]
            inputs = cls.name == "load" and call.fields["load_w0"] >> 7 & 7 in {1, 2}
            module = "load" if inputs else "store" if cls.name == "store" else "compute"
            busy[module] += cls.cost(found.device, call.fields) - OVERLAPS
        total += max(busy.values())
    return total


@pytest.mark.parametrize(("name", "convolutions"), [("mobile", 19), ("residual", 20)])
def test_every_product_is_on_the_device(name: str, convolutions: int, folder: Path) -> None:
    found = compiled(folder, name)
    products = [op_id(op) for op in found.program.operations() if isinstance(op, MatmulOp)]
    assert len({p.partition(".matmul")[0] for p in products if p.startswith("Conv")}) == convolutions
    assert [p for p in products if found.placement[p] != "device"] == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mobile", "residual"])
def test_a_network_on_the_hardware(name: str, folder: Path, tmp_path: Path) -> None:
    data = ["--input", str(folder / "image.npz"), "--engines", "iss,rtl", "--device", DEVICE, "--issue", "aux"]
    assert main(["cosim", str(folder / f"{name}.onnx"), *data, "--report", str(tmp_path / "report")]) == 0
    result = CosimResult.load(tmp_path / "report" / "result.json")
    assert {c.name: c.verdict for c in result.comparisons}["rtl-vs-iss"] == "pass"
    cycles = next(e.cycles for e in result.engines if e.name == "rtl")
    assert cycles is not None
    assert cycles <= 1.3 * busiest(compiled(folder, name))
