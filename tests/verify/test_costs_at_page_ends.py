"""What `fleet isa check` makes of operands across pages: a cost that knows nothing of them is found, small errors are not."""

from __future__ import annotations

import pytest

from fleet.isa.registry import find_device
from fleet.verify.conformance.costs import CostSample
from fleet.verify.conformance.pages import PAGE, at_pages
from fleet.verify.conformance.suite import make_case

Moved = list[tuple[int, int, int]]


@pytest.mark.parametrize(
    ("moved", "found"),
    [
        ([(0, 6, 42)], True),
        ([(0, 6, 42), (0, 2, 400), (0, 0, 9)], True),
        ([(6, 6, 42), (0, 0, 9)], False),
        ([(0, 2, 400)], False),  # nobody misses two cycles of 400
        ([(4, 6, 42)], False),
        ([(0, 0, 42)], False),
    ],
)
def test_an_estimate_that_ignores_pages_is_found(moved: Moved, found: bool) -> None:
    sample = CostSample(*find_device("vgemm_small"))
    sample.moved["load"] = moved
    said = [str(f) for f in sample.findings()]
    assert bool(said) == found
    assert all("load: an operand across a page" in s for s in said)


def test_operands_are_moved_to_a_page_and_across_it() -> None:
    case = make_case("vgemm_small/load/directed/10")
    ((at, across),) = at_pages(case)
    places = [c.calls[-1].fields["load_w1"] for c in (at, across)]
    size = find_device("vgemm_small")[1].memory["ddr"]
    assert places[0] % PAGE == 0
    assert size // 2 <= places[0] < size
    assert 0 < places[0] - places[1] < PAGE
    assert at.calls[:-1] == across.calls[:-1] == case.calls[:-1]
