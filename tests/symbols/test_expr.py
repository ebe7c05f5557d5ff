"""Number expressions: meaning, bounds, simplification, identity, errors."""

from __future__ import annotations

import copy
import pickle
import random
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_expressions import VARIABLES, bindings, expression, reference, value

from fleet.symbols.expr import (
    Expr,
    ExprError,
    If,
    Numb,
    Operation,
    Var,
    as_expr,
    cast_int,
    ceil_div,
    differ,
    dim,
    equal,
    evaluate,
    log2,
    maximum,
    minimum,
    post_order,
    upper,
)

token, last = Var("token", 2048), Var("last_token", 2048)
SEEDS = st.integers(0, 1 << 40)


@settings(max_examples=400, deadline=None)
@given(SEEDS, st.integers(0, 14))
def test_evaluate_simplify_and_bounds_of_random_expressions(seed: int, size: int) -> None:
    rng = random.Random(seed)
    e = expression(rng, size)
    simple = e.simplify()
    assert simple.simplify() is simple
    for _ in range(6):
        bound = bindings(rng)
        try:
            expected = reference(e, bound)
        except (ArithmeticError, ValueError):
            assert value(e, bound) is None
            continue
        if value(e, bound) is None:  # beyond the largest shift only
            assert any(x.op == "<<" for x in post_order((e,)))
            continue
        assert e.evaluate(bound) == expected
        assert simple.evaluate(bound) == expected, (str(e), str(simple), bound)
        low, high = _bounds(e)
        assert low <= expected <= high, (str(e), bound)
        some = {k: bound[k] for k in list(bound)[:2]}
        assert e.substitute(some).evaluate(bound) == expected
        assert {x.name for x in e.substitute(some).variables}.isdisjoint(some)


def _bounds(e: Expr) -> tuple[float, float]:
    from fleet.symbols.expr_bounds import bounds

    return bounds(e)


def test_small_expressions_one_by_one() -> None:
    """Rules apply to forms of two or three operators: those are drawn much more often than a long expression has them."""
    rng = random.Random(11)
    compared = 0
    for _ in range(6000):
        e = expression(rng, rng.randint(1, 4))
        simple = e.simplify()
        for _ in range(3):
            bound = bindings(rng)
            expected = value(e, bound)
            if expected is not None:
                assert simple.evaluate(bound) == expected == reference(e, bound), (str(e), str(simple), bound)
                compared += 1
    assert compared > 10_000


def test_python_operators_on_both_sides() -> None:
    bound = {"token": 37}
    for op in ("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "<", "<=", ">", ">=", "/"):
        python = op if op != "/" else "//"
        for left, right in (("token", "5"), ("70", "token"), ("token", "token")):
            built: Any = eval(f"{left} {op} {right}", {"token": token})
            assert isinstance(built, Expr)
            assert built.evaluate(bound) == int(eval(f"{left} {python} {right}", {"token": 37}))
    assert (-token).evaluate(bound) == -37
    assert (+token) is token
    assert cast_int(token) is token


def test_zero_minus_x_is_minus_x() -> None:
    assert (0 - token).simplify().evaluate(token=5) == -5
    assert str((0 - token).simplify()) == "-token"


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (token * 1, "token"),
        (token + 0, "token"),
        ((token + last) * 4096 - token * 4096, "last_token * 4096"),
        ((token * 64 + 128) // 64, "token + 2"),
        ((token * 64 + 5) % 64, "5"),
        ((token + 31) // 32 * 32 * 64, "(token + 31) // 32 * 2048"),
        (token // 4 // 8, "token // 32"),
        (token // 4096, "0"),
        (token % 4096, "token"),
        (token << 5 >> 5, "token"),
        (token & 2047, "token % 2048"),
        (token - token, "0"),
        (3 - token, "3 - token"),
        (-(token - 3), "3 - token"),
        (If(token < 4000, 7, token // 0), "7"),
        (minimum(token, 5000), "token"),
        (maximum(token, -3), "token"),
        (maximum(token + 1, token), "token + 1"),
        (minimum(token, token), "token"),
        (token + 3 > token, "1"),
        (token * last - last * token, "0"),
        (log2(as_expr(2048)), "11"),
    ],
)
def test_simplified_forms(e: Expr, text: str) -> None:
    assert str(e.simplify()) == text


def test_bounds_of_what_compilers_write() -> None:
    assert ceil_div(token, 32).upper() == 64
    assert (token + last).upper() == 4096
    assert minimum(token + last, 2048).upper() == 2048
    assert (token * 64 * 32).upper() == 2048 * 2048
    assert Var("n", 7, 1).lower() == 1
    assert (token - last).lower() == -2048
    assert (-7 // Var("n", 3, 1)).lower() == -7
    assert (Var("b", 5, -5) % 3).upper() == 2
    assert (Var("b", 5, -5) % -3).lower() == -2
    assert upper(17) == 17


def test_a_variable_without_a_bound_is_named() -> None:
    base = Var("runtime0")
    assert Var("runtime0", -1) is base
    assert (base + 8589934592).evaluate(runtime0=1) == 8589934593
    with pytest.raises(ExprError, match=r"variable runtime0 has no max_data.*Var\(\"runtime0\", max_data=\.\.\.\)"):
        (token + base).upper()
    assert (base % 64).upper() == 63


def test_values_out_of_bounds_and_missing_ones_are_named() -> None:
    with pytest.raises(ExprError, match="token is 2049, expected 0 to 2048"):
        (token + 1).evaluate(token=2049)
    with pytest.raises(ExprError, match="token is -1, expected at least 0"):
        (token + 1).evaluate(token=-1)
    with pytest.raises(ExprError, match="token is 3000"):
        (token + 1).substitute(token=3000)
    with pytest.raises(ExprError, match="no value for last_token; given are token"):
        (token + last).evaluate(token=1)
    with pytest.raises(ExprError, match=r"division by zero in \(4 // token\)"):
        (4 // token).evaluate(token=0)


def test_if_evaluates_the_branch_that_it_takes_only() -> None:
    e = If(equal(token, 0), 0, 100 // token)
    assert [e.evaluate(token=t) for t in (0, 3)] == [0, 33]
    assert If(token, 1, last).evaluate(token=2) == 1  # without a value for last_token
    assert differ(token, 3).evaluate(token=3) == 0


def test_equality_is_structure_and_safe_in_containers() -> None:
    again = Var("token", 2048)
    assert again is token
    assert token + 1 == again + 1
    assert (token + 1).same(again + 1)
    assert hash(token + 1) == hash(again + 1)
    assert token != last
    assert (token + 1 == 1 + token) is False  # structure, not value
    assert token in [last, token]
    assert {token + 1: "x"}[again + 1] == "x"
    assert len({token, again, last}) == 2
    assert Var("token", 128) is not token
    assert token.equals(3).evaluate(token=3) == 1


def test_a_truth_value_only_where_bounds_decide_it() -> None:
    assert bool(token < 5000) is True
    assert bool(token > 5000) is False
    with pytest.raises(ExprError, match="no truth value"):
        bool(token < 5)
    with pytest.raises(ExprError, match="no truth value"):
        sorted([token, last], key=lambda e: e)  # type: ignore[arg-type]


def test_what_is_no_number_is_refused() -> None:
    for wrong in (1.5, "token", None):
        with pytest.raises(ExprError, match="neither an integer"):
            _ = token + wrong  # type: ignore[operator]
    with pytest.raises(ExprError, match="not the name of a variable"):
        Var("two words")
    with pytest.raises(ExprError, match="below min_data"):
        Var("n", 3, 4)
    with pytest.raises(ExprError, match=r"no operator '\^'"):
        Operation("^", token, 1)
    with pytest.raises(ExprError, match="ceil_div by 0"):
        ceil_div(token, 0)
    with pytest.raises(ExprError, match="shift by"):
        (as_expr(1) << (token * 4)).evaluate(token=2048)


def test_copies_and_pickles_are_the_same_expression() -> None:
    e = If(token < 3, (token + 1) * (token + 1), log2(last + 1))
    assert copy.copy(e) is e
    assert copy.deepcopy([e])[0] is e
    assert pickle.loads(pickle.dumps(e)) is e


def test_dim_gives_plain_ints() -> None:
    assert dim(as_expr(3) * 4) == 12
    assert type(dim(as_expr(3) * 4)) is int
    assert dim(token * 1) is token
    assert int(Numb(5) + 1) == 6


def test_depth_is_not_bounded_by_recursion() -> None:
    limit = sys.getrecursionlimit()
    e: Expr = token
    for i in range(20_000):
        e = (e + 1, e // 2, maximum(e, i))[i % 3]
    assert e.upper() >= e.evaluate(token=2048)
    assert e.evaluate(token=2048) == e.simplify().evaluate(token=2048)
    assert e.substitute(token=last) is not e
    assert "operations on token" in str(e)
    assert pickle.loads(pickle.dumps(e)) is e
    del e
    assert sys.getrecursionlimit() == limit


def test_shared_parts_are_worked_on_once() -> None:
    e: Expr = token
    for _ in range(200):
        e = e + e * 2 // 2  # 2 ** 200 paths
    assert e.evaluate(token=1) == 2**200
    assert e.variables == (token,)
    assert evaluate([e, e + 1], {"token": 1}) == [2**200, 2**200 + 1]
    assert str(e.simplify()) == f"token * {2**200}"


def test_every_variable_of_the_generator_is_used() -> None:
    rng = random.Random(1)
    seen = {v for _ in range(50) for v in expression(rng, 8).variables}
    assert seen == set(VARIABLES)
