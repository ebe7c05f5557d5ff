"""What a set states of coverage holds for an instruction that is like another, unless it is stated for that one itself."""

from __future__ import annotations

from fleet.isa.registry import find_instruction_set
from fleet.sdk import CoverageHints, Device, Instruction, Limit
from fleet.sdk.likeness import LikeInstruction, like_coverage


def like(name: str, other: str, names: dict[str, str] | None = None) -> dict[str, type[Instruction]]:
    return {name: type(name, (LikeInstruction,), {"name": name, "like": other, "names": names or {}})}


def limits(_: Device) -> dict[str, Limit]:
    return {"move:*_rows": Limit(0, 63, "theirs"), "*:*_rows": Limit(1, 8, "all"), "own:b_rows": Limit(2, 2, "own")}


HINTS = CoverageHints(
    dtypes={"move": "<i4"}, fills=("move",), limits=limits,
    impossible=(("move:refused:busy", "never"), ("hazard:war:move:move", "waits"), ("move:field:a_rows:1", "two at least")),
)  # fmt: skip
DEVICE = next(iter(find_instruction_set("vgemm").devices.values()))


def test_limits_and_reasons_are_those_of_the_other() -> None:
    found = like_coverage(HINTS, like("far", "move", {"far_rows": "a_rows"}))
    assert found.limit(DEVICE, "far", "far_rows") == found.limit(DEVICE, "move", "a_rows") == Limit(0, 63, "theirs")
    assert found.limit(DEVICE, "sum", "a_rows") == Limit(1, 8, "all")
    assert (found.dtypes["far"], found.fills) == ("<i4", ("move", "far"))
    assert [found.reason(k) for k in ("far:refused:busy", "hazard:war:far:move", "far:field:far_rows:1", "far:refused:x")] == [
        "never", "waits", "two at least", None,
    ]  # fmt: skip


def test_what_is_stated_of_itself_counts() -> None:
    found = like_coverage(HINTS, like("own", "move"))
    assert found.limit(DEVICE, "own", "b_rows") == Limit(2, 2, "own")
    assert found.limit(DEVICE, "own", "c_rows") == Limit(0, 63, "theirs")


def test_one_like_one_that_is_like_another() -> None:
    found = like_coverage(like_coverage(HINTS, like("far", "move")), like("further", "far"))
    assert found.limit(DEVICE, "further", "a_rows") == Limit(0, 63, "theirs")
    assert found.reason("further:refused:busy") == "never"


def test_without_such_instructions_nothing_changes() -> None:
    assert like_coverage(HINTS, {}) is HINTS
