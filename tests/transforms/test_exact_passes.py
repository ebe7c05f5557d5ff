"""Canonicalisation, constants, common subexpressions, dead code: every bit of every result stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_same_bits, outputs, passed
from spelled import data, kinds, trace

from fleet.frontend.source import load
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, kind_of
from fleet.ir.text import parse_ir, print_ir
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.transforms.pipeline import run_pipeline

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1e-40, 65504.0, 1e30, 0.1, -3.7])


def special(program):
    found = data(program)
    for a in program.inputs:
        if a.dtype.kind == "f":
            with np.errstate(all="ignore"):
                found[a.name] = np.resize(SPECIAL.astype(a.dtype), a.shape)
    return found


GONE = {
    "x * 1": lambda m, x: x * 1,
    "1.0 * x": lambda m, x: 1.0 * x,
    "x / 1": lambda m, x: x / 1,
    "x ** 1": lambda m, x: x**1,
    "x - 0": lambda m, x: x - 0.0,
    "x + -0.0": lambda m, x: x + -0.0,
    "minus twice": lambda m, x: m.call("neg", -x),
    "transposed twice": lambda m, x: x.T.T,
    "reshaped and back": lambda m, x: x.reshape(-1).reshape(4, 6),
    "all of it": lambda m, x: m.call("slice", x, start=[0, 0], size=[4, 6]),
    "split and put together": lambda m, x: m.hstack(m.split(x, 3, axis=1)),
    "split by rows": lambda m, x: m.concatenate(m.split(x, 2, axis=0), axis=0),
    "one part": lambda m, x: m.concatenate([x], axis=0),
    "broadcast to itself": lambda m, x: m.call("broadcast_to", x, shape=[4, 6]),
    "cast to itself": lambda m, x: x.astype(x.dtype),
    "widened and back": lambda m, x: x.astype(np.float64).astype(x.dtype),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", GONE)
def test_identities_go_and_keep_every_bit(name: str, dtype: str) -> None:
    before = trace(lambda m, x: m.call("abs", GONE[name](m, x)), x=(4, 6), dtype=dtype)
    after = passed(before, "canonicalise")
    assert kinds(after) == ["abs"]
    assert_same_bits(before, after, special(before))
    whole = trace(GONE[name], x=(4, 6), dtype=dtype)
    for a, b in zip(outputs(whole, special(whole)), special(whole).values(), strict=True):
        assert np.array_equal(a, b, equal_nan=True)
        assert np.array_equal(np.signbit(a)[~np.isnan(b)], np.signbit(b)[~np.isnan(b)])


STAYS = {
    "x + 0.0": lambda m, x: x + 0.0,  # -0.0 becomes 0.0
    "0.0 - x": lambda m, x: 0.0 - x,
    "x * -1": lambda m, x: x * -1,
    "x * 1.0000001": lambda m, x: x * 1.0000001,
    "x - x": lambda m, x: x - x,  # NaN and infinity give NaN
    "x * 0": lambda m, x: x * 0,
    "x ** 2": lambda m, x: x**2,
    "1 / x": lambda m, x: 1 / x,
    "narrowed and back": lambda m, x: x.astype(np.float16).astype(x.dtype),
    "parts in another order": lambda m, x: m.hstack(m.split(x, 2, axis=1)[::-1]),
    "not all parts": lambda m, x: m.hstack(m.split(x, 3, axis=1)[:2]),
    "a part twice": lambda m, x: m.hstack([m.split(x, 3, axis=1)[i] for i in (0, 1, 1)]),
    "parts of two values": lambda m, x: m.hstack([m.split(x, 2, axis=1)[0], m.split(-x, 2, axis=1)[1]]),
    "reversed": lambda m, x: x[::-1],
    "transposed": lambda m, x: x.T,
}


@pytest.mark.parametrize("name", STAYS)
def test_what_changes_a_bit_stays(name: str) -> None:
    before = trace(STAYS[name], x=(4, 6))
    after = passed(before, "canonicalise,cse")
    assert kinds(after), name
    assert_same_bits(before, after, special(before))


def test_what_stood_between_does_not_hold_up_the_rest() -> None:
    before = trace(lambda m, x: x.reshape(-1, 1).T.T.reshape(-1), x=(4, 2))
    after = passed(before, "canonicalise")
    assert kinds(after) == ["reshape"]
    assert_same_bits(before, after, data(before))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_movements_of_movements_become_one(draw: st.DataObject) -> None:
    def model(m, x):
        for _ in range(draw.draw(st.integers(1, 4))):
            kind = draw.draw(st.sampled_from(["transpose", "slice", "reshape"]))
            if kind == "transpose":
                x = x.transpose(*draw.draw(st.permutations(range(x.ndim))))
            elif kind == "reshape":
                x = x.reshape(*draw.draw(st.sampled_from([(-1,), (-1, 1), (1, -1), x.shape])))
            else:
                window = []
                for size in x.shape:
                    step = draw.draw(st.sampled_from([1, 2, -1]))
                    first = draw.draw(st.integers(0, size - 1))
                    window.append(slice(first, None, step))
                x = x[tuple(window)]
        return x

    before = trace(model, x=(3, 4, 2))
    after = passed(before, "canonicalise")
    assert len(kinds(after)) <= len(kinds(before))
    runs = [k for i, k in enumerate(kinds(after)) if i and kinds(after)[i - 1] == k]
    assert not runs
    assert_same_bits(before, after, data(before))


def test_a_window_that_others_use_too_stays() -> None:
    def model(m, x):
        part = x[:, :4]
        return part[:, :2] + part[:, 2:]

    assert kinds(passed(trace(model, x=(4, 6)), "canonicalise")) == ["slice", "slice", "slice", "add"]


def test_where_with_a_known_condition() -> None:
    from spelled import Array

    from fleet.ir.constants import constant
    from fleet.ir.types import tensor_type

    for known, kept in ((1, "exp"), (0, "tanh")):

        def model(m, x, known=known):
            condition = Array(m, m.emit(constant(known, tensor_type((4, 6), bool))))
            return m.where(condition, m.exp(x), m.tanh(x))

        before = trace(model, x=(4, 6))
        after = passed(before, "canonicalise")
        assert kinds(after) == [kept]
        assert_same_bits(before, after, data(before))


def test_common_subexpressions_are_computed_once() -> None:
    def model(m, x, y):
        return m.exp(x) + m.exp(x), m.tanh(x * y), m.tanh(x * y), m.tanh(y * x)

    before = trace(model, x=(4, 6), y=(4, 6))
    after = passed(before, "cse,dce")
    assert kinds(after).count("exp") == 1
    assert kinds(after).count("tanh") == 2  # of two NaNs, which one comes out depends on the order
    assert_same_bits(before, after, special(before))
    whole = trace(lambda m, x, y: (x * y) - (y * x), x=((3,), "int64"), y=((3,), "int64"))
    assert kinds(passed(whole, "cse,dce")) == ["mul", "sub"]


def test_attributes_keep_operations_apart() -> None:
    def model(m, x):
        return x.sum(0) + x.sum(1), x.sum(0, keepdims=True), x.sum(1, keepdims=True)

    assert kinds(passed(trace(model, x=(4, 4)), "cse,dce")).count("reduce_sum") == 4


def test_dead_code_goes_and_prints_stay() -> None:
    def model(m, x):
        m.exp(x)
        m.print(m.tanh(x))
        return x * 2

    after = passed(trace(model, x=(4, 6)), "dce")
    assert kinds(after) == ["tanh", "print", "mul"]


SCRIPTS = {
    "a = 3\nb = 40\nc = a + b\nprint(c)\n": ["constant", "constant", "add", "print"],
    "a = 3\nb = a * 2 - 1\nprint(7)\n": ["constant", "print"],
    "print(2 ** 10 - 24)\n": ["constant", "print"],
    "print(1 / 0)\n": ["constant", "constant", "div", "print"],
}


@pytest.mark.parametrize("text", list(SCRIPTS)[:3])
def test_numbers_fold_but_for_what_a_variable_shows(text: str, tmp_path) -> None:
    path = tmp_path / "m.py"
    path.write_text(text)
    program = load(str(path), {}, {})
    after = run_pipeline(program, "vm")
    assert [kind_of(op) for op in after.operations()] == SCRIPTS[text]
    assert print_ir(parse_ir(print_ir(after.module))) == print_ir(after.module)


def test_the_sample_of_the_seeds_compiles_to_the_same_code_with_and_without_passes(tmp_path) -> None:
    path = tmp_path / "m.py"
    path.write_text("a = 3\nb = 40\nc = a + b\nprint(c)\n")
    program = load(str(path), {}, {})
    plain, passed_ = (ByteCodeConverter(p).convert() for p in (program, run_pipeline(program, "vm")))
    assert str(plain) == str(passed_)
    assert plain.consts == [40, "device_add_sig_ii_i_ins_i32_i32_outs_i32", "python_print_sig_i_ins_i32"]


def test_filled_tensors_fold_only_where_all_elements_agree() -> None:
    from spelled import Array

    from fleet.ir.constants import constant
    from fleet.ir.types import tensor_type

    def model(m, x):
        ones = Array(m, m.emit(constant(1.0, tensor_type((4, 6), np.float32))))
        return x + m.exp(ones * 2.0 + 1).T.reshape(4, 6), x * ones.sum(-1, keepdims=True), x + m.call("cumsum", ones, axis=1)

    before = trace(model, x=(4, 6))
    after = passed(before, "fold-constants,dce")
    assert kinds(after) == ["add", "mul", "cumsum", "add"]
    assert_same_bits(before, after, data(before))
    values = [constant_value(op) for op in after.operations() if isinstance(op, ConstantOp)]
    assert float(np.exp(np.float32(3))) in values
    assert print_ir(parse_ir(print_ir(after.module))) == print_ir(after.module)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_folded_numbers_are_those_of_python(draw: st.DataObject) -> None:
    number = st.one_of(
        st.integers(-40, 40), st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda v: abs(v) < 1e6)
    )
    a, b = draw.draw(number), draw.draw(number)
    names = ["add", "sub", "mul", "maximum"] + (["div", "floor_div", "mod"] if b else [])
    name = draw.draw(st.sampled_from(names))
    before = trace(lambda m, x: x + m.binary(name, a, b), x=(2,), dtype="float64")
    after = passed(before, "fold-constants,dce")
    assert kinds(after) == ["add"]
    assert_same_bits(before, after, data(before))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_vm_s_pipeline_keeps_every_bit_of_random_programs(draw: st.DataObject) -> None:
    def model(m, x, y):
        values = [x, y]
        for _ in range(draw.draw(st.integers(2, 12))):
            one, two = (values[draw.draw(st.integers(0, len(values) - 1))] for _ in range(2))
            how = draw.draw(st.integers(0, 9))
            values.append(
                [
                    lambda a, b: a + b, lambda a, b: a * 1, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: -a,
                    lambda a, b: m.exp(a), lambda a, b: a / (b * b + 1.0), m.maximum,
                    lambda a, b: a.T.T, lambda a, b: a - a.mean(-1, keepdims=True),
                ][how](one, two)
            )  # fmt: skip
        return tuple(values[-3:])

    before = trace(model, x=(3, 3), y=(3, 3))
    after = passed(before, "canonicalise,fold-constants,cse,dce")
    assert len(kinds(after)) <= len(kinds(before))
    assert_same_bits(before, after, special(before))
