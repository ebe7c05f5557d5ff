"""Every promise of the seeds is tried, and the page that lists them is what was tried."""

from __future__ import annotations

import os

import pytest
from seed_listing import GROUPS, PAGE, tables
from seed_rows import Group, Row, left_to, run

from fleet.engines.registry import find_engine
from fleet.ir.tables import write_page

CASES = [
    pytest.param(group, row, id=f"{group.name}-{n}", marks=[pytest.mark.nightly] if row.nightly else [])
    for group in GROUPS
    for n, row in enumerate(group.rows, 1)
]


@pytest.mark.parametrize(("group", "row"), CASES)
def test_a_row_is_as_the_table_says(group: Group, row: Row) -> None:
    needs(row)
    if other := left_to(row):
        file, text = other
        assert text in file.read_text()
        return
    ended = run(group, row)
    assert bool(ended.code) == row.fails, ended.text
    assert row.gives in ended.text, ended.text


NEEDS = (('target="gpu"', "opencl", "FLEET_REQUIRE_OPENCL"), ("cvm-riscv", "cvm-riscv", "FLEET_REQUIRE_CROSS"))
"""Part of a command, the engine that it needs, the variable that demands that."""


def needs(row: Row) -> None:
    """Skip a row whose command needs an engine that cannot run here, if nobody demands it."""
    for part, engine, demanded in NEEDS:
        missing = find_engine(engine).engine.available() if part in row.command else None
        if missing and os.environ.get(demanded) != "1":
            pytest.skip(missing)


def test_the_page_is_that_of_the_rows() -> None:
    assert write_page(PAGE, tables(), check=True) == 0


def test_what_is_not_as_in_the_seeds_says_why() -> None:
    assert [row.feature for g in GROUPS for row in g.rows if (row.state == "works") == bool(row.why)] == []
    assert [row.feature for g in GROUPS for row in g.rows if not row.gives and not left_to(row) and "-o" not in row.command] == []
