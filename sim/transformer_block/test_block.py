"""A transformer block of seventeen instructions: rtl = iss at every commit and in all of memory, and it means what it should.

The quick part runs a small block on every memory and both ways in; `--nightly` one of ChatGLM2's shape on the big devices.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "transformer_block"))

from block import Block, build
from run import LEAST_SQNR_DB, MEMORIES, accuracy, simulate
from shapes import CHATGLM2, SMALL, Shape

from fleet.engines.iss import execute_calls
from fleet.isa.description import load, parameter_values
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.report.streams import write_stream_report

COMMITS = 17


@pytest.mark.parametrize(
    ("device", "shape", "tokens", "last", "onchip"),
    [
        ("hbm_small", SMALL, 1, 40, False),
        ("hbm_small", SMALL, 17, 0, True),
        pytest.param("hbm0923", CHATGLM2, 1, 127, False, marks=pytest.mark.nightly),
        pytest.param("hbm0923", CHATGLM2, 17, 0, True, marks=pytest.mark.nightly),
        pytest.param("hbm1128", CHATGLM2, 1, 127, True, marks=pytest.mark.nightly),
    ],
    ids=lambda value: value.name if isinstance(value, Shape) else str(value),
)
def test_every_memory_and_both_ways_in(
    device: str, shape: Shape, tokens: int, last: int, onchip: bool, request: pytest.FixtureRequest
) -> None:
    report, sqnr = simulate(
        shape, device, tokens=tokens, last=last, memories=MEMORIES, issues=("regs", "aux"), onchip=onchip,
        command=f"pytest sim/transformer_block -k '{request.node.callspec.id}' --nightly",
    )  # fmt: skip
    folder = Path(str(request.config.getoption("--fleet-report", "reports/sim"))).parent / "transformer_block"
    write_stream_report(report, folder / f"{device}_{shape.name}_{tokens}")
    assert len(report.runs) == 2 * len(MEMORIES)
    assert [run.reasons for run in report.runs if run.verdict != "pass"] == []
    assert {len(run.rows) for run in report.runs} == {COMMITS}
    assert sqnr >= LEAST_SQNR_DB
    # A binary overlaps instructions; register writes wait for each.
    cycles = {run.name: run.cycles for run in report.runs}
    assert cycles["aux, ideal"] < cycles["regs, ideal"]


@pytest.fixture
def modelled(tmp_path: Path) -> Callable[[Block], float]:
    """The SQNR of a block by the functional model alone."""

    def run(block: Block) -> float:
        chosen, device = find_device("hbm_small")
        memory = MappedMemory(device, tmp_path)
        memory.set_registers(parameter_values(load(chosen.description)))
        block.place(memory)
        for _ in execute_calls(chosen, device, memory, block.calls, 0):
            pass
        found = accuracy(block, block.result(memory))
        memory.close()
        return found

    return run


def change(block: Block, name: str, field: str, value: int) -> None:
    """Edits one field of one instruction."""
    i = next(i for i, call in enumerate(block.calls) if call.ops == (name,))
    assert block.calls[i].fields[field] != value
    block.calls[i] = replace(block.calls[i], fields={**block.calls[i].fields, field: value})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("softmax", "softmax_mask", 0),  # tokens see what comes after them
        ("scores", "trp_mvm_scale", (28 << 16) + int(np.float16(1.0).view(np.uint16))),  # 1 / sqrt(head) is missing
        ("scores", "trp_mvm_heads", (3 << 16) + (4 << 8) + 1),  # all four query heads read the first key head
        ("mix", "f2w_mvm_heads", (3 << 16) + (4 << 8) + 1),
        ("norm2", "norm_layer", 1),
        ("up", "mvm_res_mode", 0),  # gate added instead of multiplied
    ],
)
def test_the_reference_sees_what_is_wrong(modelled: Callable[[Block], float], name: str, field: str, value: int) -> None:
    device = find_device("hbm_small")[1]
    assert modelled(build(SMALL, device, tokens=5, last=9)) >= LEAST_SQNR_DB
    block = build(SMALL, device, tokens=5, last=9)
    change(block, name, field, value)
    assert modelled(block) < LEAST_SQNR_DB - 10
