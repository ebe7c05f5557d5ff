"""The memory plan: chains of blocks, alignment, ping-pong storages; nothing that is alive together overlaps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as s

from fleet.errors import DeviceError, FleetError, ModelError
from fleet.sdk.tasks import Space
from fleet.targets.graph.settings import BuildConfig
from fleet.targets.graph.storage import Planner, StoragePlan

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
            x, y = plan.storages[a.storage], plan.storages[b.storage]
            steps_a = set(range(a.first, (plan.steps if a.last is None else a.last) + 1))
            steps_b = set(range(b.first, (plan.steps if b.last is None else b.last) + 1))
            bytes_a, bytes_b = range(x.address, x.address + a.size), range(y.address, y.address + b.size)
            together = x.space == y.space and steps_a & steps_b
            if together and bytes_a.start < bytes_b.stop and bytes_b.start < bytes_a.stop:
                found.append((a.key, b.key))
    return found


@settings(max_examples=200, deadline=None)
@given(s.data())
def test_nothing_alive_overlaps(data: s.DataObject) -> None:
    p = planner(align=data.draw(s.sampled_from([1, 16, 64, 256])))
    alive: list[str] = []
    steps = data.draw(s.integers(1, 25))
    for step in range(steps):
        for n in range(data.draw(s.integers(0, 2))):
            block = data.draw(s.sampled_from(["runtime", "runtime", "runtime", "weight", "hbm_rt", "hbm_cache", "onchip"]))
            space = "hbm" if block.startswith("hbm") else "onchip" if block == "onchip" else "ddr"
            key = f"{step}.{n}"
            avoid = data.draw(s.sampled_from([[], [0], [1]])) if space == "onchip" else []
            size = data.draw(s.integers(1, 1000))
            try:
                storage = p.take(key, block, space, size, step, avoid=avoid)
            except DeviceError:
                assert space == "onchip"
                continue
            assert storage.startswith(block)
            assert p.part(key) not in avoid
            alive.append(key)
        for key in [k for k in alive if data.draw(s.booleans())]:
            alive.remove(key)
            p.free(key, step)
    plan = p.finish(steps)
    assert overlaps(plan) == []
    for t in plan.tenants:
        storage = plan.storages[t.storage]
        assert t.size <= storage.size
        space = SPACES[storage.space]
        assert storage.address % space.align == 0
        assert storage.end <= space.size
        half = space.size // space.parts
        assert storage.address // half == (storage.end - 1) // half  # within one part
    for block, (_, first, end) in plan.bases.items():
        assert 0 <= plan.peak(block) <= end - first


def test_overlap_is_found_by_the_checker() -> None:
    """The checker can fail: two tensors in one storage at once."""
    p = planner()
    p.take("a", "runtime", "ddr", 64, 0)
    p.free("a", 3)
    p.take("b", "runtime", "ddr", 64, 2)
    assert overlaps(p.finish(4)) == [("a", "b")]


def test_best_fit_takes_the_smallest_that_is_large_enough_else_the_largest_grows() -> None:
    p = planner(align=64)
    names = [p.take(f"t{i}", "runtime", "ddr", size, 0) for i, size in enumerate((640, 128, 320))]
    assert names == ["runtime0", "runtime1", "runtime2"]
    for i in range(3):
        p.free(f"t{i}", 0)
    assert p.take("x", "runtime", "ddr", 256, 1) == "runtime2"
    assert p.take("y", "runtime", "ddr", 1024, 1) == "runtime0"
    assert p.take("z", "runtime", "ddr", 64, 1) == "runtime1"
    plan = p.finish(2)
    assert [(n, st.address, st.size) for n, st in plan.storages.items()] == [
        ("runtime0", 0, 1024), ("runtime1", 1024, 128), ("runtime2", 1152, 320),
    ]  # fmt: skip
    assert plan.peak("runtime") == 256 + 1024 + 64
    assert plan.report()[1].split() == ["runtime", "ddr", "0x0", "1,472", "3", "1,344", "8.7%"]


def test_constants_are_never_given_away() -> None:
    p = planner()
    p.take("w", "weight", "ddr", 64, -1)
    p.free("w", 0)
    assert p.take("v", "weight", "ddr", 64, 1) == "weight1"


def test_chain_alignment_and_a_user_block_with_ping_pong() -> None:
    blocks = {**BLOCKS, "scratch": "insts", "weight": 0x1000}
    p = planner(blocks, align=0x400, pingpong=["scratch"])
    for key, block, space, size in (("w", "weight", "ddr", 1000), ("r", "runtime", "ddr", 1025), ("s", "scratch", "ddr", 64),
                                    ("k", "hbm", "hbm", 32), ("c", "hbm_cache", "hbm", 64)):  # fmt: skip
        p.take(key, block, space, size, 0)
    p.free("s", 0)
    assert p.take("s2", "scratch", "ddr", 32, 1) == "scratch0"
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
    p.take("x", "runtime", "ddr", 256, 0)
    p.take("i", "insts", "ddr", 64, 0)
    with pytest.raises(ModelError, match=r"blocks 'runtime' and 'insts' meet in ddr: \[0x0, 0x100\) and from 0x40 on"):
        p.finish(1)


def test_a_block_in_two_memories() -> None:
    p = planner()
    p.take("x", "runtime", "ddr", 256, 0)
    with pytest.raises(ModelError, match="block 'runtime' stands in ddr, 'y' wants hbm"):
        p.take("y", "runtime", "hbm", 64, 0)
    q = planner({**BLOCKS, "hbm": "runtime"})
    q.take("x", "runtime", "ddr", 256, 0)
    q.take("w", "hbm", "hbm", 64, 0)
    with pytest.raises(ModelError, match="block 'hbm' follows 'runtime', which stands in ddr, and stands in hbm"):
        q.finish(1)


def test_an_unknown_block() -> None:
    with pytest.raises(ModelError, match="'x': block 'nothing' has no base address"):
        planner().take("x", "nothing", "ddr", 1, 0)


def test_memory_that_does_not_fit() -> None:
    p = planner()
    p.take("x", "runtime", "ddr", 1 << 21, 0)
    with pytest.raises(
        DeviceError, match=r"block 'runtime': storage 'runtime0' of 2,097,152 bytes ends at 0x200000, a device has 0x100000"
    ):
        p.finish(1)


def test_onchip_halves() -> None:
    p = planner()
    p.take("a", "onchip", "onchip", 4096, 0)
    p.take("b", "onchip", "onchip", 4000, 1, avoid=[p.part("a")])
    assert {p.part("a"), p.part("b")} == {0, 1}
    with pytest.raises(DeviceError, match=r"block 'onchip', 'c': 128 bytes of onchip do not fit: a part has 4,096"):
        p.take("c", "onchip", "onchip", 128, 1)
    p.free("a", 1)
    with pytest.raises(DeviceError, match="its operands stand in all 2 parts of onchip"):
        p.take("d", "onchip", "onchip", 64, 2, avoid=[0, 1])
    assert p.take("e", "onchip", "onchip", 64, 2, avoid=[1]) == "onchip0"


@pytest.mark.parametrize("blocks", [{**BLOCKS, "onchip": 64}, {**BLOCKS, "onchip2": "onchip"}])
def test_onchip_is_one_block_from_zero(blocks: dict[str, int | str]) -> None:
    p = planner(blocks)
    p.take("a", "onchip", "onchip", 64, 0)
    if "onchip2" in blocks:
        p.take("b", "onchip2", "onchip", 64, 0)
    with pytest.raises(FleetError, match="does not have all of onchip from address 0 on"):
        p.finish(1)


def test_staging_uses_what_is_there() -> None:
    p = planner(align=64)
    p.take("x", "runtime", "ddr", 640, -1)
    p.take("y", "runtime", "ddr", 128, -1)
    assert p.stage("runtime", "ddr", 100) == "runtime1"
    assert p.stage("runtime", "ddr", 600) == "runtime0"
    assert p.stage("runtime", "ddr", 1000) == "runtime0"
    assert p.finish(1).storages["runtime1"].address == 1024


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
    p.take("w", "weight", "ddr", 64, -1)
    p.take("k", "hbm", "hbm", 32, -1)
    assert {n: st.address for n, st in p.finish(1).storages.items()} == {"weight0": 0x1040, "hbm0": 0x40}
