"""Which calls of a program nothing orders: scheduled programs have none, and every token that is taken away leaves some."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.sets.vgemm.legality import module_of
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.schedule import FINISH, synchronised
from fleet.sets.vgemm.operands import MemoryType
from fleet.sets.vgemm.order import unordered
from fleet.sets.vgemm.shapes import OPERANDS
from fleet.verify.conformance.suite import make_case

DEVICE = find_device("vgemm_small")[1]
PUSH, POP = 0x60, 0x18


def without(calls: list[Call], number: int, mask: int) -> list[Call]:
    call = calls[number]
    name = f"{call.instruction}_w0"
    return [*calls[:number], replace(call, fields={**call.fields, name: call.fields[name] & ~mask}), *calls[number + 1 :]]


def tile() -> list[Call]:
    """A product of one tile: both operands loaded, multiplied, stored."""
    uops = emit.Uops()
    steps = [
        FINISH,
        emit.load(DEVICE, MemoryType.INP, 0, 0, 1, 4),
        emit.load(DEVICE, MemoryType.WGT, 0, 0x1000, 1, 4),
        emit.gemm(DEVICE, uops, [(0, 0, 0)], (1, 4), (0, 1), (0, 1), (0, 0)),
        emit.store(DEVICE, MemoryType.OUT, 0, 0x2000, 1, 4),
        FINISH,
    ]
    return synchronised(steps)


def test_a_tile_is_ordered_and_each_token_of_it_is_needed() -> None:
    calls = tile()
    assert unordered(DEVICE, calls) == []
    names = [c.instruction for c in calls]
    gemm, weights = names.index("gemm"), names.index("load") + 1
    assert (weights, gemm) in unordered(DEVICE, without(calls, gemm, POP)), "the product waits for nothing"
    assert (weights, gemm) in unordered(DEVICE, without(calls, weights, PUSH)), "nobody gives the token"


def test_a_store_and_a_finish_wait_for_everything() -> None:
    calls = tile()
    store = next(i for i, c in enumerate(calls) if c.instruction == "store")
    assert not any(store in pair for pair in unordered(DEVICE, without(calls, store, POP)) if pair[1] == store)
    finished = [c for call in calls for c in (without([call], 0, PUSH | POP)[0], calls[0])]
    assert unordered(DEVICE, finished) == []


def test_calls_of_one_module_are_in_order_and_refused_ones_do_nothing() -> None:
    one = tile()[1]
    assert module_of(OPERANDS[one.instruction].decode(one.fields)) == "load"
    assert unordered(DEVICE, [one, one, one]) == []
    bad = replace(one, fields={**one.fields, "load_w2": 0})
    assert unordered(DEVICE, [bad, *without(tile()[3:4], 0, POP)]) == []


@pytest.mark.parametrize("seed", range(4))
def test_taking_flags_away_never_orders_more(seed: int) -> None:
    calls = list(make_case(f"vgemm_small/program/{seed}").calls)
    before = set(unordered(DEVICE, calls))
    bare = [without([c], 0, PUSH | POP)[0] if c.instruction != "finish" else c for c in calls]
    assert before <= set(unordered(DEVICE, bare))
