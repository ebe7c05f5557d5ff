"""The memory plan of graphs: chains of blocks, alignment, shared storages, halves; nothing that is alive together overlaps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as s

from fleet.errors import DeviceError, FleetError, ModelError
from fleet.sdk.tasks import Space
from fleet.targets.accel.memory.storage import Planner, StoragePlan
from fleet.targets.accel.settings import BuildConfig
from fleet.targets.liveness import FOREVER

SPACES = {"ddr": Space(1 << 20, 64), "hbm": Space(1 << 16, 32), "onchip": Space(1 << 13, 64, parts=2)}
BLOCKS: dict[str, int | str] = {
    "global": 0, "weight": "global", "runtime": "weight", "insts": "runtime", "hbm": 0, "hbm_cache": "hbm", "hbm_rt": "hbm_cache",
    "onchip": 0,
}  # fmt: skip


def planner(blocks: dict[str, Any] | None = None, **config: Any) -> Planner:
    return Planner(BLOCKS if blocks is None else blocks, BuildConfig.of(config), SPACES, "a device")


def overlaps(plan: StoragePlan) -> list[tuple[str, str]]:
    """Brute force: every pair of tenants that are alive in one step and share a byte."""
    found: list[tuple[str, str]] = []
    for i, a in enumerate(plan.tenants):
        for b in plan.tenants[i + 1 :]:
            x, y = a.storage, b.storage
            steps_a, steps_b = (set(range(t.life.first, min(t.life.last, plan.steps) + 1)) for t in (a, b))
            bytes_a, bytes_b = range(x.address, x.address + a.life.size), range(y.address, y.address + b.life.size)
            together = x.space == y.space and steps_a & steps_b
            if together and bytes_a.start < bytes_b.stop and bytes_b.start < bytes_a.stop:
                found.append((a.key, b.key))
    return found


@settings(max_examples=200, deadline=None)
@given(s.data())
def test_nothing_alive_overlaps(data: s.DataObject) -> None:
    p = planner(align=data.draw(s.sampled_from([1, 16, 64, 256])))
    steps, placed = data.draw(s.integers(1, 25)), list[str]()
    for step in range(-1, steps):
        for n in range(data.draw(s.integers(0, 2))):
            block = data.draw(s.sampled_from(["runtime", "runtime", "runtime", "weight", "hbm_rt", "hbm_cache", "onchip"]))
            space = "hbm" if block.startswith("hbm") else "onchip" if block == "onchip" else "ddr"
            avoid = data.draw(s.sampled_from([[], [0], [1]])) if space == "onchip" else []
            last = data.draw(s.one_of(s.integers(step, steps), s.just(FOREVER)))
            prefer = data.draw(s.sampled_from([None, 0, 1]))
            try:
                p.place(f"{step}.{n}", block, space, data.draw(s.integers(1, 1000)), step, last, avoid=avoid, prefer=prefer)
            except DeviceError:
                assert space == "onchip"
                continue
            placed.append(f"{step}.{n}")
            if space == "onchip":
                assert p.part(f"{step}.{n}") not in avoid
    p.settle()
    for n in range(data.draw(s.integers(0, 3))):
        p.take(f"constant {n}", data.draw(s.sampled_from(["runtime", "weight"])), "ddr", data.draw(s.integers(1, 1000)))
    if data.draw(s.booleans()):
        p.stage("runtime", "ddr", data.draw(s.integers(1, 2000)))
    plan = p.finish(steps)
    assert overlaps(plan) == []
    assert {t.key: t.storage.name for t in plan.tenants if t.key in placed} == {key: p.storage(key) for key in placed}
    for t in plan.tenants:
        storage = t.storage
        assert t.life.size <= storage.size
        space = SPACES[storage.space]
        assert storage.address % space.align == 0
        assert storage.end <= space.size
        half = space.size // space.parts
        assert storage.address // half == (storage.end - 1) // half  # within one part
    for block, (_, first, end) in plan.bases.items():
        assert 0 <= plan.peak(block) <= end - first
        names = [n for n, storage in plan.storages.items() if storage.block == block]
        assert names == [f"{block}{n}" for n in range(len(names))]


def test_overlap_is_found_by_the_checker() -> None:
    """The checker can fail: two tensors in one storage at once."""
    p = planner()
    p.place("a", "runtime", "ddr", 64, 0, 1)
    p.place("b", "runtime", "ddr", 64, 2, 3)
    p.settle()
    plan = p.finish(4)
    assert overlaps(plan) == []
    late = tuple(replace(t, life=t.life._replace(last=3)) for t in plan.tenants)
    assert overlaps(replace(plan, tenants=late)) == [("a", "b")]


def test_the_largest_come_first_and_what_is_dead_makes_room() -> None:
    p = planner(align=64)
    for key, size, first, last in (("a", 640, 0, 0), ("b", 128, 0, 0), ("c", 320, 0, 1), ("x", 256, 1, 2), ("y", 1024, 1, 2)):
        p.place(key, "runtime", "ddr", size, first, last)
    p.settle()
    plan = p.finish(3)
    assert {t.key: t.storage.address for t in plan.tenants} == {"y": 0, "a": 0, "c": 1024, "x": 1344, "b": 640}
    assert list(plan.storages) == [f"runtime{n}" for n in range(4)]
    assert plan.peak("runtime") == 320 + 256 + 1024
    assert plan.report()[1].split() == ["runtime", "ddr", "0x0", "1,600", "4", "1,600", "0.0%"]


def test_a_block_without_ping_pong_gives_nothing_away() -> None:
    p = planner()
    p.place("w", "hbm_cache", "hbm", 64, 0, 0)
    p.place("v", "hbm_cache", "hbm", 64, 1, 1)
    p.settle()
    assert [p.storage(key) for key in "wv"] == ["hbm_cache0", "hbm_cache1"]
    assert p.take("c", "hbm_cache", "hbm", 64) == "hbm_cache2"


def test_chain_alignment_and_a_user_block_with_ping_pong() -> None:
    blocks = {**BLOCKS, "scratch": "insts", "weight": 0x1000}
    p = planner(blocks, align=0x400, pingpong=["scratch"])
    for key, block, space, size in (("w", "weight", "ddr", 1000), ("r", "runtime", "ddr", 1025), ("s", "scratch", "ddr", 64),
                                    ("k", "hbm", "hbm", 32), ("c", "hbm_cache", "hbm", 64)):  # fmt: skip
        p.place(key, block, space, size, 0, 0)
    p.place("s2", "scratch", "ddr", 32, 1, 1)
    p.settle()
    assert p.storage("s2") == "scratch0"
    at = {n: (st.address, st.size) for n, st in p.finish(2).storages.items()}
    # The runtime follows the weights, the scratch block the empty instructions behind the runtime.
    assert at == {"weight0": (0x1000, 0x400), "runtime0": (0x1400, 0x800), "scratch0": (0x1C00, 0x400), "hbm0": (0, 0x400),
                  "hbm_cache0": (0x400, 0x400)}  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ({**BLOCKS, "weight": "runtime"}, r"the blocks go in a circle: 'weight' follows 'runtime' follows 'weight'"),
        ({**BLOCKS, "runtime": "runtime"}, "circle: 'runtime' follows 'runtime'"),
        ({**BLOCKS, "insts": "nowhere"}, "block 'insts' follows 'nowhere', which is no block"),
        ({k: v for k, v in BLOCKS.items() if k != "weight"} | {"runtime": 0}, "no base for block 'weight'"),
        ({**BLOCKS, "weight": -1}, "the base of block 'weight' is -1"),
        ({**BLOCKS, "weight": True}, "the base of block 'weight' is True"),
        ({**BLOCKS, "my block": 0}, "expected a name of letters"),
    ],
)
def test_wrong_chains(blocks: dict[str, Any], error: str) -> None:
    with pytest.raises(ModelError, match=error):
        planner(blocks)


def test_blocks_that_meet() -> None:
    p = planner({**BLOCKS, "insts": 0x40})
    p.take("x", "runtime", "ddr", 256)
    p.take("i", "insts", "ddr", 64)
    with pytest.raises(ModelError, match=r"blocks 'runtime' and 'insts' meet in ddr: \[0x0, 0x100\) and from 0x40 on"):
        p.finish(1)


def test_a_block_in_two_memories() -> None:
    p = planner()
    p.place("x", "runtime", "ddr", 256, 0, 0)
    with pytest.raises(ModelError, match="block 'runtime' stands in ddr, 'y' wants hbm"):
        p.place("y", "runtime", "hbm", 64, 0, 0)
    q = planner({**BLOCKS, "hbm": "runtime"})
    q.take("x", "runtime", "ddr", 256)
    q.take("w", "hbm", "hbm", 64)
    with pytest.raises(ModelError, match="block 'hbm' follows 'runtime', which stands in ddr, and stands in hbm"):
        q.finish(1)


def test_an_unknown_block() -> None:
    with pytest.raises(ModelError, match="'x': block 'nothing' has no base address"):
        planner().place("x", "nothing", "ddr", 1, 0, 0)


def test_memory_that_does_not_fit() -> None:
    p = planner()
    p.place("x", "runtime", "ddr", 1 << 21, 0, 0)
    p.settle()
    with pytest.raises(
        DeviceError, match=r"block 'runtime': storage 'runtime0' of 2,097,152 bytes ends at 0x200000, a device has 0x100000"
    ):
        p.finish(1)


def test_onchip_halves() -> None:
    p = planner()
    p.place("a", "onchip", "onchip", 4096, 0, 1)
    p.place("b", "onchip", "onchip", 4000, 1, 2, avoid=[p.part("a")])
    assert {p.part("a"), p.part("b")} == {0, 1}
    with pytest.raises(
        DeviceError,
        match=r"block 'onchip', 'c': 128 bytes of onchip do not fit: a part has 4,096, beside what lives meanwhile",
    ):
        p.place("c", "onchip", "onchip", 128, 1, 2)
    with pytest.raises(DeviceError, match="its operands stand in all 2 parts of onchip"):
        p.place("d", "onchip", "onchip", 64, 2, 2, avoid=[0, 1])
    p.place("e", "onchip", "onchip", 64, 2, 2, avoid=[1])
    p.settle()
    assert p.storage("e") == p.storage("a") == "onchip0"


def test_a_half_is_chosen_where_it_is_wanted() -> None:
    p = planner()
    p.place("a", "onchip", "onchip", 64, 0, 1, prefer=1)
    p.place("b", "onchip", "onchip", 4096, 0, 1, prefer=1)
    assert [p.part(key) for key in "ab"] == [1, 0]


@pytest.mark.parametrize("blocks", [{**BLOCKS, "onchip": 64}, {**BLOCKS, "onchip2": "onchip"}])
def test_onchip_is_one_block_from_zero(blocks: dict[str, int | str]) -> None:
    p = planner(blocks)
    p.place("a", "onchip", "onchip", 64, 0, 0)
    if "onchip2" in blocks:
        p.place("b", "onchip2", "onchip", 64, 0, 0)
    p.settle()
    with pytest.raises(FleetError, match="does not have all of onchip from address 0 on"):
        p.finish(1)


@pytest.mark.parametrize(
    ("constant", "size", "at", "end"), [(0, 700, 0, 768), (0, 2000, 0, 2048), (64, 700, 0, 832), (64, 1000, 832, 1856)]
)
def test_staging_lies_where_nothing_is_before_the_first_step(constant: int, size: int, at: int, end: int) -> None:
    p = planner(align=64)
    p.place("x", "runtime", "ddr", 640, -1, 0)
    p.place("y", "runtime", "ddr", 128, -1, 0)
    p.settle()
    if constant:
        p.take("c", "runtime", "ddr", constant)
    name = p.stage("runtime", "ddr", size)
    plan = p.finish(1)
    assert (plan.storages[name].address, plan.bases["runtime"][2]) == (at, end)
    assert overlaps(plan) == []


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"speed": 1}, "no build setting 'speed'"),
        ({"align": 24}, "setting 'align' is 0x18, expected a power of two"),
        ({"align": 0}, "setting 'align' is 0x0"),
        ({"ddr_base": -1}, "setting 'ddr_base' is -1, expected an address"),
        ({"lite": "yes"}, "setting 'lite' is 'yes', expected True or False"),
    ],
)
def test_wrong_settings(config: dict[str, Any], error: str) -> None:
    with pytest.raises(ModelError, match=error):
        BuildConfig.of(config)


def test_a_base_between_two_multiples_is_rounded_up() -> None:
    p = planner({**BLOCKS, "weight": 0x1010, "hbm": 8}, align=0x40)
    p.take("w", "weight", "ddr", 64)
    p.take("k", "hbm", "hbm", 32)
    assert {n: st.address for n, st in p.finish(1).storages.items()} == {"weight0": 0x1040, "hbm0": 0x40}
