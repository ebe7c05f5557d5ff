"""Faults in what may hold an element where its accumulated bound does not: each lets a wrong result pass."""

from __future__ import annotations

from functools import partial

from planting import Edit, by_test

JUDGE, WAYS = "tests/compare/test_third_judge.py", "tests/compare/test_ways.py"
JUDGE_SOURCE, ROWS = "fleet/compare/judges/third_judge.py", "fleet/compare/operation_rows.py"


_fault = partial(by_test, nightly=True)

FAULTS = (
    _fault(
        "judge-factor", "third judge: an engine may be 4 million times as far off as the golden",
        JUDGE, "test_a_wrong_value_is_not_excused", Edit(JUDGE_SOURCE, "FACTOR = 4.0", "FACTOR = 4e6"), nightly=False,
    ),
    _fault(
        "judge-golden-is-reference", "third judge: the golden itself is the reference",
        JUDGE, "test_an_untrustworthy_golden_proves_nothing",
        Edit(
            JUDGE_SOURCE,
            "return self._floats(name, golden, engine, doubt.undecided, known[name], dtype, moves.get(name))",
            "return self._floats(name, golden, engine, doubt.undecided, "
            "Determined(golden.astype(dtype), known[name].condition, known[name].jumps), dtype, None)",
        ),
        nightly=False,
    ),
    _fault(
        "judge-trusts-any-golden", "third judge: the golden is believed however far off it is",
        JUDGE, "test_an_untrustworthy_golden_proves_nothing", Edit(JUDGE_SOURCE, "TRUSTED = 32.0", "TRUSTED = 1e30"),
    ),
    _fault(
        "judge-gap", "third judge: any two values are near enough to change places",
        JUDGE, "test_a_wrong_index_or_order_is_not_excused",
        Edit(JUDGE_SOURCE, "gap <= scale[rows, mine] + scale[rows, its]", "gap <= gap + 1"), nightly=False,
    ),
    _fault(
        "judge-index-twice", "third judge: an order may have an index twice",
        JUDGE, "test_an_order_with_an_index_twice_is_wrong",
        Edit(JUDGE_SOURCE, "single = exists & ~_repeated(rows, engine, golden)", "single = exists"),
    ),
    _fault(
        "judge-resolution", "third judge: what one ulp of the inputs changes altogether may be anything",
        JUDGE, "test_what_nothing_determines_is_not_proved", Edit(JUDGE_SOURCE, "RESOLUTION = 2.0**-7", "RESOLUTION = 2.0**70"),
    ),
    _fault(
        "judge-own-precision", "third judge: the program is evaluated in its own precision, not in a higher one",
        JUDGE, "test_widest",
        Edit("fleet/compare/judges/higher_precision.py", "return found if np.finfo(found).nmant >", "return dtype if 0 <"),
    ),
    _fault(
        "not-proved-exits-0", "a comparison that proves nothing leaves with 0",
        JUDGE, "test_an_untrustworthy_golden_proves_nothing",
        Edit("fleet/cosim/result.py", '"not proved": ExitCode.INCOMPLETE', '"not proved": ExitCode.AGREED'), nightly=False,
    ),
    _fault(
        "not-proved-is-held", "comparison: what nothing decides counts as held",
        WAYS, "test_each_element_is_held_in_its_own_way",
        Edit(ROWS, 'verdict = "not proved" if verdict == "pass" else verdict', "verdict = verdict"), nightly=False,
    ),
    _fault(
        "own-step-unasked", "comparison: a step on its own operands decides without being held against them",
        WAYS, "test_a_bound_that_holds_a_wrong_sign_decides_nothing",
        Edit(ROWS, "reasons += _violations(own_bound, \"on its own operands: \", size, classes)", "pass"),
    ),
    _fault(
        "own-step-unbounded", "comparison: a step on its own operands decides where it has no bound either",
        WAYS, "test_each_element_is_held_in_its_own_way",
        Edit(ROWS, "else step.decided\n", "else np.ones(shape, bool)\n"),
    ),
    _fault(
        "bound-says-nothing", "comparison: a bound that is wider than the values decides",
        WAYS, "test_a_bound_that_holds_a_wrong_sign_decides_nothing",
        Edit(ROWS, "(violating | ~_says_nothing(limit, reference))", "(violating | np.isfinite(limit))"),
    ),
    _fault(
        "composite-begins-early", "comparison: a composite whose operands raising makes is held to the bound of all before it",
        "tests/compare/test_shared_steps.py", "test_an_attention_over_heads_begins_at_what_its_heads_are_split_from",
        Edit("fleet/ir/operations/composite.py", "yield from [op_id(owner)] if op_id(owner) in known else _entering(owner, known)",
             "yield op_id(owner)"),
    ),
    _fault(
        "equal-when-near", "comparison: what differs by less than 1 counts as equal",
        WAYS, "test_each_element_is_held_in_its_own_way",
        Edit(ROWS, "equal = np.asarray(error == 0)", "equal = np.asarray(error < 1)"),
        nightly=False,
    ),
)  # fmt: skip
