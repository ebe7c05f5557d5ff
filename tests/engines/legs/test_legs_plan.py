"""Where a run is cut, what a cut's account says, and pages on their way to and from the bench. Nothing is simulated."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.legs.pages import Pages, Stray, WrittenPages, load_overlay, save_overlay, strays
from fleet.engines.legs.plan import WARM_UP, Leg, plan_legs
from fleet.errors import DeviceError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Write


def everywhere(count: int) -> tuple[set[int], set[int]]:
    return set(range(count)), set(range(1, count))


def test_legs_have_every_call_once_and_repeat_what_is_before_them() -> None:
    costs = [2_000 + 37 * (n % 5) for n in range(400)]
    legs = plan_legs(costs, 2, *everywhere(400), shortest=20_000)
    assert len(legs) > 1
    assert [n for leg in legs for n in range(leg.own, leg.end)] == [*range(400)]
    assert legs[0].first == 0
    assert all(leg.warm_up == WARM_UP for leg in legs[1:])
    assert sum(sum(costs[leg.first : leg.own]) for leg in legs) < 0.1 * sum(costs)
    lanes = [sum(sum(costs[leg.first : leg.end]) for leg in legs[n::2]) for n in range(2)]
    assert max(lanes) < 0.55 * sum(costs)


def test_many_processes_and_instructions_are_planned() -> None:
    draw = random.Random(0)
    costs = [draw.choice((500, 2_000, 20_000)) for _ in range(6_000)]
    legs = plan_legs(costs, 64, *everywhere(6_000))
    assert [n for leg in legs for n in range(leg.own, leg.end)] == [*range(6_000)]
    assert max(sum(costs[leg.first : leg.end]) for leg in legs) < 1.1 * sum(costs) / 64
    assert sum(sum(costs[leg.first : leg.own]) for leg in legs) < 0.08 * sum(costs)


def test_a_cut_is_made_where_little_is_repeated() -> None:
    costs = [5_000] * 40
    costs[18] = costs[19] = costs[20] = 1_500  # not in the middle, and cheap to run twice
    assert plan_legs(costs, 2, *everywhere(40), shortest=90_000) == (Leg(0, 0, 21), Leg(18, 21, 40))
    assert plan_legs([5_000] * 40, 2, *everywhere(40), shortest=90_000)[1] == Leg(18, 21, 40), "as long as the first"


def test_small_instructions_warm_up_for_longer() -> None:
    (_, second) = plan_legs([20] * 2_000, 2, *everywhere(2_000), shortest=20_000)
    assert second.warm_up == 50


def test_a_binary_starts_at_its_blocks_alone() -> None:
    starts = {n for n in range(300) if n % 32 == 0}
    legs = plan_legs([1_000] * 300, 2, starts, set(range(1, 300)), shortest=100_000)
    assert len(legs) > 1
    assert {leg.first for leg in legs} <= starts
    assert all(leg.warm_up == WARM_UP for leg in legs[1:])


def test_what_cannot_be_cut_is_one_leg() -> None:
    whole = (Leg(0, 0, 50),)
    assert plan_legs([1_000] * 50, 1, *everywhere(50), shortest=1) == whole
    assert plan_legs([1_000] * 50, 8, *everywhere(50), shortest=50_001) == whole
    assert plan_legs([1_000] * 50, 8, {0}, {30, 40}, shortest=5_000) == whole, "most of the run would run twice"
    assert plan_legs([1_000] * 50, 8, *everywhere(1), shortest=5_000) == whole


@pytest.fixture
def memory(tmp_path: Path) -> MappedMemory:
    return MappedMemory(find_device("hbm_small")[1], tmp_path)


def test_a_memory_apart_leaves_the_files(memory: MappedMemory) -> None:
    memory.view("ddr", 100, 3)[:] = 1, 2, 3
    memory.view("onchip", 8, 1)[:] = 9
    other = memory.apart()
    assert other.view("ddr", 100, 3).tolist() == [1, 2, 3]
    assert other.view("onchip", 8, 1)[0] == 9
    other.view("ddr", 101, 1)[:] = 77
    other.view("onchip", 8, 1)[:] = 7
    assert memory.view("ddr", 100, 3).tolist() == [1, 2, 3]
    assert memory.view("onchip", 8, 1)[0] == 9


def test_pages_come_back_as_they_were(memory: MappedMemory, tmp_path: Path) -> None:
    touched = WrittenPages(memory)
    writes = [Write("ddr", 4000, np.arange(200, dtype=np.uint8)), Write("hbm", 1 << 20, np.full(5, 3, np.uint8), 6)]
    for w in writes:
        memory.view(w.space, w.offset, w.data.size, w.bank)[:] = w.data
    touched.mark([*writes, Write("reg", 0, np.zeros(4, np.uint8)), Write("ddr", 0, np.zeros(0, np.uint8))])
    save_overlay(tmp_path / "overlay", memory, touched.contents())
    assert (tmp_path / "overlay").stat().st_size == 2 * 24 + 3 * 4096
    found = load_overlay(tmp_path / "overlay", memory)
    assert {key: numbers.tolist() for key, (numbers, _) in found.parts.items()} == {("ddr", 0): [0, 1], ("hbm", 6): [256]}
    empty = MappedMemory(memory.device, tmp_path / "empty")
    found.put(empty)
    assert np.array_equal(empty.view("ddr", 0, 1 << 14), memory.view("ddr", 0, 1 << 14))
    assert empty.view("hbm", 1 << 20, 6, 6).tolist() == [3, 3, 3, 3, 3, 0]


@pytest.mark.parametrize("size", [10, 24, 100])
def test_half_an_overlay_is_refused(memory: MappedMemory, tmp_path: Path, size: int) -> None:
    touched = WrittenPages(memory)
    touched.mark([Write("ddr", 0, np.zeros(1, np.uint8))])
    save_overlay(tmp_path / "overlay", memory, touched.contents())
    (tmp_path / "overlay").write_bytes((tmp_path / "overlay").read_bytes()[:size])
    with pytest.raises(DeviceError, match="no whole pages"):
        load_overlay(tmp_path / "overlay", memory)
    with pytest.raises(DeviceError, match="no whole pages"):
        load_overlay(tmp_path / "missing", memory)


def test_every_byte_that_is_another_one_is_found(memory: MappedMemory) -> None:
    model = memory.apart()
    touched = WrittenPages(model)

    def write(offset: int, value: int) -> None:
        model.view("ddr", offset, 1)[:] = value
        touched.mark([Write("ddr", offset, np.zeros(1, np.uint8))])

    write(5, 1)
    start = touched.contents()
    write(10_000, 2)
    end = touched.contents()
    page = np.zeros((1, 4096), np.uint8)
    page[0, 10_000 - 8192] = 2
    right = Pages({("ddr", 0): (np.array([2]), page)})
    assert strays(memory, start, touched, end, right) == []
    assert strays(memory, start, touched, end, Pages()) == [Stray("ddr", 0, 10_000, 2, 0)], "it was not written"
    more = Pages({("ddr", 0): (np.array([2, 7]), np.concatenate([page, page]))})
    assert strays(memory, start, touched, end, more) == [Stray("ddr", 0, 7 * 4096 + 10_000 - 8192, 0, 2)], "where the model is not"
    lost = Pages({("ddr", 0): (np.array([0, 2]), np.concatenate([0 * page, page]))})
    assert strays(memory, start, touched, end, lost) == [Stray("ddr", 0, 5, 1, 0)], "what an earlier leg left is gone"
