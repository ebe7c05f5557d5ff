"""A transformer block of up to seventeen instructions: rtl = iss at every commit and in all of memory, and it means what it should.

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

from block import PLAIN, SHORTEST, Block, Order, build
from run import LEAST_SQNR_DB, MEMORIES, accuracy, simulate
from shapes import CHATGLM2, SMALL, SMOLLM2, Shape

from fleet.engines.execute import execute_calls
from fleet.isa.description import parameter_values
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.report.regression.streams import write_stream_report

ON_CHIP = Order(onchip=True)
ALL_FUSED = Order(fuse_qkv=True, join_rope=True, fuse_gate=True)
NAMES = {PLAIN: "plain", ON_CHIP: "on chip", SHORTEST: "shortest", ALL_FUSED: "all fused"}


def _id(value: object) -> str:
    return value.name if isinstance(value, Shape) else NAMES[value] if isinstance(value, Order) else str(value)


@pytest.mark.parametrize(
    ("device", "shape", "tokens", "last", "order"),
    [
        ("hbm_small", SMALL, 1, 40, PLAIN),
        ("hbm_small", SMALL, 17, 0, ON_CHIP),
        ("hbm_small", SMALL, 1, 40, SHORTEST),
        ("hbm_small", SMALL, 5, 30, ALL_FUSED),
        pytest.param("hbm0923", CHATGLM2, 1, 127, PLAIN, marks=pytest.mark.nightly),
        pytest.param("hbm0923", CHATGLM2, 17, 0, ON_CHIP, marks=pytest.mark.nightly),
        pytest.param("hbm1128", CHATGLM2, 1, 127, ON_CHIP, marks=pytest.mark.nightly),
        pytest.param("hbm0923", SMOLLM2, 1, 200, SHORTEST, marks=pytest.mark.nightly),
        pytest.param("hbm0923", SMOLLM2, 17, 3, SHORTEST, marks=pytest.mark.nightly),
    ],
    ids=_id,
)
def test_every_memory_and_both_ways_in(
    device: str, shape: Shape, tokens: int, last: int, order: Order, request: pytest.FixtureRequest
) -> None:
    report, sqnr = simulate(
        shape, device, tokens=tokens, last=last, memories=MEMORIES, issues=("regs", "aux"), order=order,
        command=f"pytest sim/transformer_block -k '{request.node.callspec.id}' --nightly",
    )  # fmt: skip
    folder = Path(str(request.config.getoption("--fleet-report", "reports/sim"))).parent / "transformer_block"
    write_stream_report(report, folder / f"{device}_{shape.name}_{tokens}_{NAMES[order].replace(' ', '_')}")
    assert len(report.runs) == 2 * len(MEMORIES)
    assert [run.reasons for run in report.runs if run.verdict != "pass"] == []
    assert {len(run.rows) for run in report.runs} == {order.commits}
    assert sqnr >= LEAST_SQNR_DB
    # A binary overlaps instructions; register writes wait for each.
    cycles = {run.name: run.cycles for run in report.runs}
    assert cycles["aux, ideal"] < cycles["regs, ideal"]


def test_blocks_follow_each_other(modelled: Callable[[Block], float]) -> None:
    device = find_device("hbm_small")[1]
    block = build(SMALL, device, tokens=3, last=4, order=SHORTEST, layers=3, vocabulary=100)
    assert len(block.calls) == 3 * SHORTEST.commits + 2
    assert modelled(block) >= LEAST_SQNR_DB


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
