"""Faults in what holds an author's set to its contract: costs, limits, layouts, legality, commits, and the data that are drawn."""

from __future__ import annotations

from functools import partial

from planting import Edit, by_test

_check = partial(by_test, nightly=True)
_FILE = "tests/isa/test_isa_check.py"

FAULTS = (
    _check(
        "cost-not-measured",
        "isa check: whatever the hardware takes, a cost is right",
        _FILE,
        "test_a_cost_that_is_not_the_hardwares_is_found",
        Edit("fleet/verify/conformance/costs.py", "_GATE = 0.1", "_GATE = 1000.0"),
    ),
    _check(
        "macs-without-limit",
        "isa check: a call may multiply more than the device can in its cost",
        _FILE,
        "test_more_products_than_the_device_has_cells_are_found",
        Edit("fleet/isa/checking/calls.py", "if most and count > most * cycles:", "if most and count < 0:"),
    ),
    _check(
        "variants-not-executed",
        "isa check: variants that a class calls legal are never executed",
        _FILE,
        "test_a_limit_that_legality_lacks_shows_in_a_variant",
        Edit("fleet/isa/checking/calls.py", "_EXECUTED = 12", "_EXECUTED = 0"),
    ),
    _check(
        "layout-not-tried",
        "isa check: no tensor is packed",
        _FILE,
        "test_a_planted_wrong_is_one_line",
        Edit("fleet/isa/checking/whole.py", "    report.add(check_layout(instruction_set))\n", ""),
    ),
    _check(
        "commit-before-answer",
        "bench: an instruction may commit before its writes are answered",
        "tests/isa/test_systolic_template.py",
        "test_a_commit_before_the_answer_to_a_write_is_found",
        Edit("rtl_models/bench/bench.cpp", "starts_.empty() && error == 0", "starts_.empty() && error == 0xFFFFFFFF"),
    ),
    _check(
        "drawn-bits",
        "drawn data: int8 inputs are 0 and 1, of which no sum is negative",
        "tests/frontend/test_drawn.py",
        "test_integers_that_hold_data_come_from_their_whole_range",
        Edit("fleet/frontend/drawn.py", "if dtype not in _DATA:", "if dtype is not None:"),
    ),
)
