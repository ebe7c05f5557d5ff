"""Axes as a user writes them, and the points that they span."""

from __future__ import annotations

import pytest

from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.sweep.axes import read_axes, spanned
from fleet.sweep.records import SweepAxis

_, SMALL = find_device("hbm_small")


def test_other_names_become_the_parameters_own() -> None:
    axes = read_axes(["ports=4,8", "group=32,64", "memory=ideal,timed"], SMALL)
    assert axes == (SweepAxis("HbmPorts", ("4", "8")), SweepAxis("group", ("32", "64")), SweepAxis("memory", ("ideal", "timed")))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no axis was given"),
        (["Tin"], "'Tin' is no axis"),
        (["Tin="], "'Tin=' is no axis"),
        (["Tin=64,,128"], "is no axis"),
        (["colour=1"], "hbm_small has no axis 'colour'; axes of hbm_small are Tin, Tout"),
        (["Tin=64", "Tin=128"], "axis Tin is given twice"),
        (["ports=8", "HbmPorts=4"], "axis HbmPorts is given twice"),
        (["Tin=64,64"], "axis Tin has a value twice"),
        (["Tin=wide"], "Tin=wide: expected an integer"),
        (["group=48"], "group=48: hbm0923 has 32, 64, 128"),
        (["memory=slow"], "no memory model 'slow'"),
    ],
)
def test_every_mistake_is_named(texts: list[str], message: str) -> None:
    with pytest.raises(FleetError) as caught:
        read_axes(texts, SMALL)
    assert message in str(caught.value)


def test_points_are_the_product_without_what_the_hardware_cannot_have() -> None:
    points, left_out = spanned(SMALL, read_axes(["Tout=8,16", "ports=8,16", "group=32,64", "memory=ideal,timed"], SMALL))
    assert len(points) == 2 * 2 * 2
    assert [dict(out.values) for out in left_out] == [{"Tout": "8", "HbmPorts": "16"}, {"Tout": "16", "HbmPorts": "8"}]
    assert all("every HBM port feeds one output channel" in out.rule for out in left_out)
    first, last = points[0], points[-1]
    assert (first.device, first.memory, dict(first.options)) == ("hbm_small", "ideal", {"group": 32})
    assert (last.device, last.memory, dict(last.options)) == ("hbm_small@Tout=16,HbmPorts=16", "timed", {"group": 64})
    assert last.label == "Tout=16 HbmPorts=16 group=64 memory=timed"
    assert len({p.label for p in points}) == len(points)


def test_a_value_that_no_combination_can_have_is_refused_by_name() -> None:
    with pytest.raises(FleetError, match=r"Tin=96: the hardware cannot have Tin=96"):
        spanned(SMALL, read_axes(["Tin=64,96"], SMALL))
    with pytest.raises(FleetError, match=r"HbmPorts=16: .*every HBM port feeds one output channel"):
        spanned(SMALL, read_axes(["ports=8,16"], SMALL))


def test_without_a_memory_axis_memory_is_ideal() -> None:
    points, _ = spanned(SMALL, read_axes(["Tin=64,128"], SMALL))
    assert [(p.device, p.memory) for p in points] == [("hbm_small", "ideal"), ("hbm_small@Tin=128", "ideal")]


def test_too_many_combinations_are_refused_before_any_is_made() -> None:
    many = ",".join(str(n) for n in range(1, 400))
    with pytest.raises(FleetError, match="combinations, expected at most 100,000"):
        spanned(SMALL, read_axes([f"DatDepth={many}", f"WtDepth={many}"], SMALL))
