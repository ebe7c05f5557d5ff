"""The Pareto front against its definition, and the choice of points to build."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet.sweep.front import best, objectives, with_front
from fleet.sweep.records import EnergyShare, ModelRecord, Quality, QualityRecord, SweepPoint, SweptPoint


def swept(
    key: str,
    cycles: float,
    quality: float,
    energy: float,
    lut: float,
    *,
    memory: str = "ideal",
    higher: bool = True,
    name: str = "SQNR",
) -> SweptPoint:
    figures = QualityRecord((Quality(name, quality, "dB", higher),), "pass")
    model = ModelRecord(
        cycles=cycles, clock_mhz=100.0, energy=(EnergyShare("a MAC", 1, energy),), cells={"LUT": lut, "DSP": 1}, quality=figures
    )
    return SweptPoint(SweepPoint({"n": key}, f"dev@{key}", memory, {}), key, model)


FIGURES = st.tuples(*[st.integers(1, 4)] * 4)


@given(rows=st.lists(FIGURES, min_size=1, max_size=12), higher=st.booleans())
def test_the_front_has_the_points_that_none_beats_or_comes_before(rows: list[tuple[int, int, int, int]], higher: bool) -> None:
    points = [swept(str(i), *map(float, row), higher=higher) for i, row in enumerate(rows)]
    names = objectives(points)
    assert names == ("time", "SQNR", "energy", "LUT")

    def costs(row: tuple[int, int, int, int]) -> tuple[int, ...]:
        return (row[0], -row[1] if higher else row[1], row[2], row[3])

    def beaten(i: int) -> bool:
        mine = costs(rows[i])
        better = any(costs(o) != mine and all(a <= b for a, b in zip(costs(o), mine, strict=True)) for o in rows)
        return better or any(costs(o) == mine for o in rows[:i])

    assert [p.front for p in with_front(points, names)] == [not beaten(i) for i in range(len(rows))]


def test_memories_have_fronts_of_their_own() -> None:
    points = [swept("a", 10, 20, 5, 1), swept("b", 15, 20, 5, 1, memory="timed"), swept("c", 16, 20, 5, 1, memory="timed")]
    assert [p.front for p in with_front(points, objectives(points))] == [True, True, False]


def test_a_point_that_cannot_run_is_on_no_front_and_blocks_no_objective() -> None:
    refused = SweptPoint(SweepPoint({}, "dev", "ideal", {}), "r", ModelRecord(refused="too large"))
    points = [refused, swept("a", 10, 20, 5, 1)]
    assert objectives(points) == ("time", "SQNR", "energy", "LUT")
    assert [p.front for p in with_front(points, objectives(points))] == [False, True]
    assert objectives([refused]) == ()
    assert best([refused], 3) == ()


def test_the_best_are_of_the_front_of_the_memory_named_last() -> None:
    rows = [("a", 30, 30, 5, 1), ("b", 10, 20, 5, 1), ("c", 12, 20, 5, 1), ("d", 20, 25, 5, 1)]
    points = [swept(key, *map(float, row)) for key, *row in rows]
    points += [swept(key.upper(), *map(float, row), memory="timed") for key, *row in rows]
    made = with_front(points, objectives(points))
    assert [p.key for p in best(made, 3)] == ["B", "D", "A"]
    assert [p.key for p in best(made, 9)] == ["B", "D", "A", "C"]


def test_other_hardware_comes_before_other_options_of_the_same() -> None:
    points = [swept("a", 10, 20, 5, 1), swept("b", 11, 21, 5, 1), swept("c", 12, 22, 5, 1), swept("d", 13, 22, 5, 1)]
    points = [replace(p, point=replace(p.point, device="x" if p.key in "ab" else "y")) for p in points]
    made = with_front(points, objectives(points))
    assert [p.key for p in made if p.front] == ["a", "b", "c"]
    assert [p.key for p in best(made, 4)] == ["a", "c", "b", "d"]
