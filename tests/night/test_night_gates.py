"""What figures may do from night to night: exact, by mean, by interval; accepted, expired, unexplained. Made-up runs."""

from __future__ import annotations

import datetime
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from nights_made import MEMORIES, changed, failed, judged, night_id, run, states

from fleet.core.exemption import Exemption
from fleet.errors import FleetError, ModelError
from fleet.night.baselines import Accepted, accept, load_baselines
from fleet.night.collect import collect
from fleet.night.gates import Before, exact_cycles, judge
from fleet.night.phases import LOSS, compare_means
from fleet.regress.night_records import Classes, NightRecord

DAY = datetime.date(2026, 1, 5)


def memories(day: int, fixed: float = 1500.0) -> list[NightRecord]:
    """One run a memory of one content; the fixed one's cycles as given."""
    rows = [changed(run(memory=m, day=day), str(fixed)) for m in MEMORIES]
    return [changed(r, str(fixed), cycles=fixed) if r.memory == "fixed" else r for r in rows]


def test_a_slower_fixed_memory_is_red_accepted_green_and_expired_red(tmp_path: Path) -> None:
    """The fixed latency grows from 64 to 256: what the issue asks for, without hardware."""
    assert judged(tmp_path, 0, memories(0)).exit_code == 0
    slow = judged(tmp_path, 1, memories(1, 3495.0))
    assert slow.exit_code == 1
    assert {m.key for m in slow.red} == {"digits[small-fixed-0]"}
    assert slow.red[0].said.startswith("2.33 times as many")
    assert "1 slower" in slow.headline
    again = judged(tmp_path, 2, memories(2, 3495.0))
    assert again.exit_code == 1, "what is not accepted stays red"
    assert again.red[0].before == 1500
    one = Accepted(
        "digits[small-fixed-0]", "cycles rtl", 3495.0, 1500.0, night_id(2),
        Exemption("ada", "answers later", datetime.date(2026, 1, 5)),
    )  # fmt: skip
    accept(tmp_path / "baselines.toml", [one])
    held = judged(tmp_path, 3, memories(3, 3495.0))
    assert held.exit_code == 0
    assert states(held) == {("digits[small-fixed-0]", "cycles rtl"): "accepted"}
    late = judged(tmp_path, 10, memories(10, 3495.0))
    assert (late.exit_code, states(late)) == (1, {("digits[small-fixed-0]", "cycles rtl"): "expired"})
    assert "baselines.toml" in late.red[0].place
    accept(tmp_path / "baselines.toml", [replace(one, exemption=Exemption("ada", "for good"))])
    assert judged(tmp_path, 11, memories(11, 3495.0)).exit_code == 0
    assert judged(tmp_path, 12, memories(12, 3600.0)).exit_code == 1, "another figure than the accepted one"


def test_a_night_that_is_collected_again_is_not_compared_with_itself(tmp_path: Path) -> None:
    judged(tmp_path, 0, memories(0))
    one = Accepted("digits[small-fixed-0]", "cycles rtl", 3495.0, 1500.0, night_id(1), Exemption("ada", "answers later"))
    accept(tmp_path / "baselines.toml", [one])
    assert judged(tmp_path, 1, memories(1, 3495.0)).exit_code == 0
    (tmp_path / "baselines.toml").unlink()
    again = collect(tmp_path / "night", tmp_path / "night" / "nights" / night_id(1), tmp_path / "baselines.toml")
    assert (again.exit_code, [m.before for m in again.red]) == (1, [1500.0]), "nobody accepts it any more"


def test_a_gain_is_accepted_too(tmp_path: Path) -> None:
    judged(tmp_path, 0, memories(0))
    found = judged(tmp_path, 1, memories(1, 900.0))
    assert found.exit_code == 1
    assert found.red[0].better
    assert "1 faster, not accepted" in found.headline


@pytest.mark.parametrize("memory", MEMORIES)
def test_what_moves_while_the_content_is_equal_is_unexplained(memory: str, tmp_path: Path) -> None:
    judged(tmp_path, 0, [run(memory=memory)])
    moved = run(memory=memory, day=1, figures={**run(memory=memory).figures, "cycles rtl": 1.0})
    found = judged(tmp_path, 1, [moved])
    assert states(found) == {(moved.key, "cycles rtl"): "unexplained"}
    assert found.exit_code == 1


def test_norms_of_a_case_are_an_acceptance(tmp_path: Path) -> None:
    judged(tmp_path, 0, memories(0))
    rows = [replace(r, held="the memory answers later") for r in memories(1, 3495.0)]
    assert [m.state for m in judged(tmp_path, 1, rows).moves] == ["accepted"]


@pytest.mark.parametrize("fresh", [True, False])
def test_norms_go_before_a_figure_that_was_accepted_earlier(tmp_path: Path, fresh: bool) -> None:
    """Two files hold the cycles of a case then, and the one that its run was held to is right."""
    if not fresh:
        judged(tmp_path, 0, memories(0))
    accept(
        tmp_path / "baselines.toml",
        [Accepted("digits[small-fixed-0]", "cycles rtl", 1500.0, 1400.0, night_id(0), Exemption("ada", "the first night"))],
    )
    rows = [replace(r, held="the memory answers later") for r in memories(1, 3495.0)]
    found = judged(tmp_path, 1, rows)
    assert (found.exit_code, [m.state for m in found.moves]) == (0, ["accepted"])


def test_cycles_that_norms_hold_are_not_accepted_a_second_time() -> None:
    fixed = next(r for r in memories(0) if r.memory == "fixed")
    assert exact_cycles(fixed) == {"cycles rtl": 1500.0}
    assert exact_cycles(replace(fixed, held="the memory answers later")) == {}


def before(record: NightRecord) -> Before:
    return Before("n", record.figures, record.classes, record.content, record.parts)


@pytest.mark.parametrize(
    ("figures", "red"),
    [
        ({"sqnr": 41.5}, False), ({"sqnr": 40.9}, True), ({"sqnr": 50.0}, False), ({"over": 0.9}, False), ({"over": 1.01}, True),
        ({"cycles": 1000.0}, False), ({"cycles": 1001.0}, True),
    ],
)  # fmt: skip
def test_limits_of_figures(figures: dict[str, float], red: bool) -> None:
    then = run()
    assert any(m.red for m in judge(changed(then, **figures), before(then), {}, DAY)) == red


def test_a_doubled_error_and_coverage_that_falls() -> None:
    then = run(figures={"over iss-vs-vm": 0.1, "coverage mvm": 0.9})
    for name, value, red in (
        ("over iss-vs-vm", 0.21, True),
        ("over iss-vs-vm", 0.19, False),
        ("coverage mvm", 0.8, True),
        ("coverage mvm", 1.0, False),
    ):
        now = changed(replace(then, figures={**then.figures, name: value}))
        assert any(m.red for m in judge(now, before(then), {}, DAY)) == red, (name, value)


def test_a_figure_that_is_gone_is_red_until_that_is_accepted(tmp_path: Path) -> None:
    """An engine that a case no longer runs, a coverage that nobody counts, a signal that became nothing: nothing left to move."""
    figures = {"cycles rtl": 1000.0, "cycles rtl y": 900.0, "over iss-vs-vm": 0.5, "sqnr iss-vs-vm y": 42.0, "coverage mvm": 0.9}
    full = run(figures=figures, classes={"rtl": Classes(100, 90)})
    gone = {"cycles rtl", "over iss-vs-vm", "sqnr iss-vs-vm", "coverage mvm", "accuracy rtl"}
    bare = changed(replace(full, figures={}, classes={}))
    assert judged(tmp_path, 0, [full]).exit_code == 0
    found = judged(tmp_path, 1, [bare])
    assert (found.exit_code, {m.figure for m in found.red}) == (1, gone)
    assert "unexplained" in {m.state for m in judge(replace(bare, content=full.content), before(full), {}, DAY)}
    assert not judge(failed(bare), before(full), {}, DAY), "a run that fails says that itself"
    assert all(m.red for m in judge(replace(bare, held="norms"), before(full), {}, DAY)), "norms hold no figure that is gone"
    chosen = [Accepted(m.key, m.figure, m.after, m.before, night_id(1), Exemption("ada", "without rtl")) for m in found.red]
    accept(tmp_path / "baselines.toml", chosen)
    held = judged(tmp_path, 2, [bare])
    assert (held.exit_code, set(states(held).values())) == (0, {"accepted"})
    assert judged(tmp_path, 3, [bare]).exit_code == 0
    back = judged(tmp_path, 4, [full])
    assert (back.exit_code, {m.figure for m in back.red}) == (1, {"cycles rtl"}), "another figure than the accepted one"


def test_accuracy_is_paired_where_the_golden_is_the_same() -> None:
    """As many are right, but of other rows; and 40 rows that all fell the same way."""
    then = run(classes={"rtl": Classes(1000, 900, lost=tuple(range(20)))})
    swapped = changed(replace(then, classes={"rtl": Classes(1000, 900, lost=tuple(range(20, 40)))}))
    assert not judge(swapped, before(then), {}, DAY)
    fell = changed(replace(then, classes={"rtl": Classes(1000, 880, lost=tuple(range(40)))}))
    (move,) = judge(fell, before(then), {}, DAY)
    assert (move.figure, move.better, move.red) == ("accuracy rtl", False, True)
    assert "paired" in move.said
    unpaired = replace(fell, parts={**fell.parts, "data": "others"})
    assert not judge(unpaired, before(then), {}, DAY), "20 of 1000 is within the scatter of other rows"


def test_processor_time_warns_and_is_never_red() -> None:
    slow = run(processor=20.0)
    (move,) = judge(slow, before(slow), {}, DAY, [5.0] * 7)
    assert (move.state, move.red) == ("warning", False)
    assert not judge(slow, before(slow), {}, DAY, [15.0] * 7)


def timed(base: float, n: int, noise: float, seed: int) -> dict[int, float]:
    """Cycles over phases: single ones scatter by 2.4 %, most of it the phase's own and the same in every night."""
    own, rng = random.Random(0), random.Random(seed)
    return {i: base * math.exp(own.gauss(0, 0.024) + rng.gauss(0, noise)) for i in range(n)}


def test_a_loss_of_one_percent_is_found_under_one_false_alarm_in_a_hundred_nights() -> None:
    """Paired phases: eight are enough where nights differ little in a phase; the statement of power is what happens."""
    tries, noise, n = 400, 0.004, 8
    pairs = [(timed(1000, n, noise, 2 * k + 1), timed(1000, n, noise, 2 * k + 2)) for k in range(tries)]
    quiet = [compare_means(a, b) for a, b in pairs]
    lost = [compare_means(a, {s: v * (1 + LOSS) for s, v in b.items()}) for a, b in pairs]
    assert sum(found.moved for found in quiet if found) <= 0.02 * tries
    found = sum(move.moved for move in lost if move) / tries
    promised = sum(move.finds <= LOSS for move in lost if move) / tries
    assert found > 0.6
    assert promised < found + 0.1, "it promises no more than it does"


def test_phases_that_scatter_independently_need_more_and_it_is_said() -> None:
    rng = random.Random(1)

    def night(n: int, loss: float = 0.0) -> dict[int, float]:
        return {i: 1000 * (1 + loss) * math.exp(rng.gauss(0, 0.024)) for i in range(n)}

    few = compare_means(night(8), night(8))
    assert few is not None
    assert few.finds > LOSS
    assert "1 % would need" in str(few)
    enough = 260

    def moves(loss: float) -> int:
        found = [compare_means(night(enough), night(enough, loss)) for _ in range(300)]
        return sum(move is not None and move.moved for move in found)

    quiet, found = moves(0.0), moves(LOSS)
    assert quiet <= 7  # 3 are expected; more than 7 come once in a hundred
    assert found >= 0.9 * 300
    assert compare_means(night(7), night(7)) is None


def test_means_are_held_where_the_content_changed(tmp_path: Path) -> None:
    rng = random.Random(3)

    def rows(day: int, loss: float) -> list[NightRecord]:
        own = timed(2500, 8, 0.0, 0)
        made = [run(memory="timed", seed=s, day=day) for s in own]
        return [changed(r, str(day), cycles=own[r.seed or 0] * (1 + loss) * math.exp(rng.gauss(0, 0.001))) for r in made]

    assert judged(tmp_path, 0, rows(0, 0.0)).exit_code == 0
    quiet = judged(tmp_path, 1, rows(1, 0.0))
    assert quiet.exit_code == 0
    assert "finds a loss of" in quiet.means[0]
    slow = judged(tmp_path, 2, rows(2, 0.01))
    assert states(slow) == {("digits[small-timed]", "mean cycles rtl"): "moved"}
    entry = Accepted("digits[small-timed]", "mean cycles rtl", slow.red[0].after, None, night_id(2), Exemption("o", "r"))
    accept(tmp_path / "baselines.toml", [entry])
    assert judged(tmp_path, 3, rows(3, 0.01)).exit_code == 0


def test_the_file_of_accepted_figures(tmp_path: Path) -> None:
    path = tmp_path / "baselines.toml"
    one = Accepted('a["x"]', "cycles rtl", 12345678.0, None, "n", Exemption("ada", "a \n reason", datetime.date(2026, 2, 3)))
    accept(path, [one])
    accept(path, [replace(one, key="b", exemption=Exemption("ada", "for good"), before=2.5)])
    found = load_baselines(path)
    assert found['a["x"]', "cycles rtl"] == one
    assert found["b", "cycles rtl"].before == 2.5
    with pytest.raises(FleetError, match="needs an owner and a reason"):
        Exemption("ada", " ")
    path.write_text(path.read_text().replace("value", "valeu", 1))
    with pytest.raises(ModelError, match=r"baselines\.toml:\d+: accepted\[0\]\.value is missing"):
        load_baselines(path)
    path.write_text("".join([path.read_text().replace("valeu", "value")] * 2))
    with pytest.raises(ModelError, match="is accepted twice"):
        load_baselines(path)


def test_a_failing_run_is_no_baseline(tmp_path: Path) -> None:
    judged(tmp_path, 0, memories(0))
    judged(tmp_path, 1, [failed(r) for r in memories(1, 3495.0)])
    assert {m.before for m in judged(tmp_path, 2, memories(2, 3495.0)).red} == {1500}


def creeping(folder: Path, nights: int, step: float, accepted_at: int | None = None) -> list[list[str]]:
    """The red figures of each night while the cycles of 12 phases grow by `step` a night; phases scatter by 0.5 %."""
    draw = random.Random(3)
    red: list[list[str]] = []
    for day in range(nights):
        rows = []
        for seed in range(12):
            cycles = round(100_000 * (1 + step) ** day * draw.gauss(1, 0.005))
            rows.append(changed(run(memory="timed", seed=seed, day=day), str(day), cycles=cycles))
        found = judged(folder, day, rows)
        red.append([move.figure for move in found.red])
        if day == accepted_at:
            (move,) = found.red
            why = Exemption("ada", "a new prefetcher")
            accept(folder / "baselines.toml", [Accepted(move.key, move.figure, move.after, move.before, found.night.id, why)])
    return red


def test_steps_that_are_too_small_for_one_night_are_found_as_drift(tmp_path: Path) -> None:
    red = creeping(tmp_path, 14, 0.0015)
    first = next(day for day, figures in enumerate(red) if figures)
    assert red[first] == ["drift cycles rtl"]
    assert 3 <= first <= 10
    again = creeping(tmp_path / "accepted", first + 3, 0.0015, accepted_at=first)
    assert again[first:] == [["drift cycles rtl"], [], []]


def test_without_a_drift_none_is_found(tmp_path: Path) -> None:
    assert "drift cycles rtl" not in [figure for figures in creeping(tmp_path, 25, 0.0) for figure in figures]
