"""Multiplications that a GEMM stands for: counted one by one."""

from __future__ import annotations

from itertools import product

import pytest

from fleet.isa.registry import find_device
from fleet.sets.vgemm.operands import GemmOperands
from fleet.verify.conformance.suite import make_case, names


@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
def test_every_micro_operation_multiplies_a_block_by_a_vector(device: str) -> None:
    instruction_set, chip = find_device(device)
    gemm, block = instruction_set.instructions["gemm"], chip.parameters["Block"]
    counted: set[int] = set()
    for name in (n for n in names(device) if "/gemm/directed/" in n):
        fields = make_case(name).calls[-1].fields
        loops = GemmOperands.decode(fields)
        steps = product(range(loops.iter_out), range(loops.iter_in), range(loops.uop_begin, loops.uop_end))
        expected = 0 if loops.reset else sum(1 for _ in product(steps, range(block), range(block)))
        assert gemm.macs(chip, fields) == (expected, expected), name
        counted.add(expected)
    assert len(counted) > 3
    assert 0 in counted
