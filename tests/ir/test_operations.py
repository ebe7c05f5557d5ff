"""Every operation: its type is what NumPy gives, it survives its text, the VM computes it, its error rule bounds it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from operations import CASES, Case, floats
from xdsl.dialects.builtin import FunctionType, ModuleOp, f64, i1, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from fleet.compare.rules.steps import Arithmetic, BoundStep
from fleet.compare.rules.table import RULES
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.dialect import OPERATIONS, FleetOp
from fleet.ir.expand import expand
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import InferenceError
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.bytecode.hints import DispatchHintParser, hint_of, info_of

PROVED = [c for c in CASES if c.name not in ("argmax", "argmin") and not c.by_numpy_alone]
BOUNDED = [c for c in PROVED if not any(np.isnan(v).any() for v in c.operands)]
IDS = [f"{c.name}-{i}" for i, c in enumerate(CASES)]


def type_of(value):
    if isinstance(value, np.ndarray):
        return tensor_type(value.shape, value.dtype)
    return i1 if isinstance(value, bool) else i32 if isinstance(value, int) else f64


def built(case: Case) -> FleetOp:
    block = Block(arg_types=[type_of(v) for v in case.operands])
    op = make(case.name, block.args, **case.attributes)
    op.describe(id="one")
    return op


def expected(case: Case) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(case.expected(*case.operands))


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_type_and_value_are_numpys(case: Case) -> None:
    op, wanted = built(case), expected(case)
    op.verify()
    type_ = op.results[0].type
    assert len(shape_of(type_)) == wanted.ndim
    assert all(t == w or (t == -1 and isinstance(op, d.SizedOp)) for t, w in zip(shape_of(type_), wanted.shape, strict=True))
    assert numpy_dtype(type_) == wanted.dtype
    found = apply(op, [np.asarray(v) for v in case.operands])
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    (np.testing.assert_array_equal if case.exact else close)(found, wanted)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hints_and_text_come_back(case: Case) -> None:
    op = built(case)
    if isinstance(op, d.CompositeOp):
        op.cover(["a", "one"])
    info = info_of(op)
    assert DispatchHintParser(hint_of(op)).parse().attrs == {k: one(v) for k, v in info.attrs.items()}
    block = op.operands[0].owner
    block.add_ops([op, ReturnOp(op.results[0])])
    function = FuncOp("f", FunctionType.from_lists([a.type for a in block.args], [op.results[0].type]), Region([block]))
    text = print_ir(ModuleOp([function]))
    again = parse_ir(text)
    assert print_ir(again) == text
    (copy,) = (o for o in again.walk() if isinstance(o, FleetOp))
    assert attributes_of(copy) == attributes_of(op)
    assert d.covered_ids(copy) == (("a", "one") if isinstance(op, d.CompositeOp) else ())


def one(value):
    """A list of one is written like a number."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def test_no_operation_is_missing() -> None:
    assert OPERATIONS.keys() - {"check", "constant", "print", "if", "while", "fused", "element", "item"} == {c.name for c in CASES}


@pytest.mark.parametrize("case", BOUNDED)
def test_the_error_rule_bounds_what_a_change_within_the_errors_does(case: Case) -> None:
    """Operands moved by up to their errors, computed in float32, stay within the bound of the undisturbed value."""
    op, rng = built(case), np.random.default_rng(3)
    x = [np.asarray(v, np.float64) for v in case.operands]
    moves = [isinstance(v, np.ndarray) and v.dtype.kind == "f" for v in case.operands]
    value = np.asarray(
        apply(op, [np.asarray(v).astype(np.float64) if m else np.asarray(v) for v, m in zip(case.operands, moves, strict=True)])
    )
    dtype = numpy_dtype(op.results[0].type)
    for size in (0.0, 1e-5, 1e-2):
        e = [np.full_like(v, size if m else 0.0) for v, m in zip(x, moves, strict=True)]
        with np.errstate(all="ignore"):
            bound = RULES[type(op)](
                BoundStep(op, x, e, dtype, Arithmetic(ulp=dict.fromkeys(("exp", "tanh", "log", "pow", "sin", "cos"), 4.0)))
            )
        assert not np.isnan(bound).any()
        if size < 1e-3:
            assert np.isfinite(np.broadcast_to(bound, value.shape)).all()
        for _ in range(20):
            other = [
                (v + rng.uniform(-1, 1, v.shape) * s).astype(np.float32) if m else np.asarray(o)
                for v, s, m, o in zip(x, e, moves, case.operands, strict=True)
            ]
            close_enough = [s + np.spacing(np.abs(v).astype(np.float32)) if m else s for s, v, m in zip(e, x, moves, strict=True)]
            with np.errstate(all="ignore"):
                found = apply(op, other).astype(np.float64)
                wide = RULES[type(op)](BoundStep(op, x, close_enough, dtype, Arithmetic(ulp=dict.fromkeys(ULPS, 4.0))))
            same = found == value
            assert (same | (np.abs(found - value) <= wide)).all()


ULPS = ("exp", "expm1", "log", "log1p", "tanh", "pow", "sin", "cos", "erf")


@pytest.mark.parametrize("case", BOUNDED)
def test_the_error_rule_is_not_loose(case: Case) -> None:
    """Without errors of the operands, movement, comparisons and integers are exact, everything else within 1e-5."""
    op = built(case)
    x = [np.asarray(v, np.float64) for v in case.operands]
    dtype = numpy_dtype(op.results[0].type)
    bound = RULES[type(op)](BoundStep(op, x, [np.zeros_like(v) for v in x], dtype, Arithmetic()))
    exact = dtype.kind in "ib" or case.name in {"where", "slice", "gather", "concat", "pad", "broadcast_to", "reshape", "transpose"}
    assert np.max(bound, initial=0.0) <= (0.0 if exact or case.name in ("floor", "ceil", "rint", "sign", "abs", "neg") else 3e-5)


@pytest.mark.parametrize("case", [c for c in CASES if not c.exact and c.name != "erf"])
def test_a_composite_is_its_expansion(case: Case) -> None:
    op = built(case)
    steps = expand(op)
    assert not any(isinstance(s, d.CompositeOp) for s in steps)
    assert len({s.properties["id"].data for s in steps}) == len(steps)
    values = dict(zip(op.operands, map(np.asarray, case.operands), strict=True))
    for step in steps:
        step.verify()
        values[step.results[0]] = apply(step, [values[v] for v in step.operands])
    assert steps[-1].results[0].type == op.results[0].type
    close(values[steps[-1].results[0]], expected(case))


def test_a_primitive_has_no_expansion() -> None:
    assert expand(built(CASES[0])) == []


BINARY = {
    "add": np.add, "floor_div": np.floor_divide, "mod": np.remainder, "less": np.less, "equal": np.equal,
    "logical_or": np.logical_or, "maximum": np.maximum, "pow": np.power, "div": np.divide,
}  # fmt: skip
DTYPES = ("float16", "float32", "float64", "bool", "int8", "int32", "int64")


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(BINARY)),
    mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    st.sampled_from([*DTYPES, "int", "float"]),
    st.sampled_from([*DTYPES, "int", "float"]),
)
def test_shapes_and_dtypes_of_binary_operations(name, shapes, left, right) -> None:
    values = [
        {"int": 2, "float": 1.5}[t] if t in ("int", "float") else np.ones(s, t)
        for t, s in zip((left, right), shapes.input_shapes, strict=True)
    ]
    try:
        with np.errstate(all="ignore"):
            wanted = np.asarray(BINARY[name](*values))
    except TypeError:
        with pytest.raises(InferenceError):
            OPERATIONS[name].infer([type_of(v) for v in values], {})
        return
    found = OPERATIONS[name].infer([type_of(v) for v in values], {})
    if not is_tensor(found):
        assert wanted.shape == ()
        assert numpy_dtype(found).kind == wanted.dtype.kind
    else:
        assert (shape_of(found), numpy_dtype(found)) == (wanted.shape, wanted.dtype)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_slices_are_numpys(data) -> None:
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    slices = [
        data.draw(st.builds(slice, *[st.one_of(st.none(), st.integers(-8, 8))] * 2, st.sampled_from([None, 1, 2, 3, -1, -2])))
        for _ in shape
    ]
    x = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    ranges = [range(*s.indices(n)) for s, n in zip(slices, shape, strict=True)]
    start = [r.start if len(r) else 0 for r in ranges]
    for dims in (shape, [-1] * len(shape)):
        (value,) = Block(arg_types=[tensor_type(dims, np.int64)]).args
        op = make("slice", [value], start=start, size=[len(r) for r in ranges], step=[r.step for r in ranges])
        op.describe(id="s")
        np.testing.assert_array_equal(apply(op, [x]), x[tuple(slices)])


def unknown(*shape, dtype="float32"):
    return tensor_type(shape, dtype)


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "result"),
    [
        ("add", [(-1, 4), (4,)], {}, (-1, 4)),
        ("add", [(-1, 4), (1, 1)], {}, (-1, 4)),
        ("add", [(-1, 1), (3, 1)], {}, (3, 1)),
        ("add", [(-1,), (-1,)], {}, (-1,)),
        ("where", [(-1, 1), (1, 4), ()], {}, (-1, 4)),
        ("matmul", [(-1, 4), (4, 5)], {}, (-1, 5)),
        ("matmul", [(2, -1), (4, 5)], {}, (2, 5)),
        ("reduce_sum", [(-1, 4)], {"axes": [0], "keepdims": False}, (4,)),
        ("reduce_max", [(-1, 4)], {"axes": [1], "keepdims": True}, (-1, 1)),
        ("cumsum", [(-1,)], {"axis": 0}, (-1,)),
        ("transpose", [(-1, 4)], {"permutation": [1, 0]}, (4, -1)),
        ("reshape", [(-1, 4)], {"shape": [-1, 2, 2]}, (-1, 2, 2)),
        ("broadcast_to", [(-1, 1)], {"shape": [2, -1, 3]}, (2, -1, 3)),
        ("slice", [(-1, 4)], {"start": [-1, 0], "size": [1, 2]}, (1, 2)),
        ("slice", [(-1,)], {"start": [1], "size": [-1]}, (-1,)),
        ("concat", [(-1, 4), (2, 4)], {"axis": 0}, (-1, 4)),
        ("concat", [(-1, 4), (2, 4)], {"axis": 1}, (2, 8)),
        ("pad", [(-1, 4), ()], {"low": [1, 1], "high": [0, 0]}, (-1, 5)),
        ("einsum", [(-1, 4), (4, 2)], {"subscripts": "ij,jk->ki"}, (2, -1)),
        ("softmax", [(-1, 4)], {"axis": 1}, (-1, 4)),
        ("linear", [(-1, 4), (4, 2)], {"activation": "none"}, (-1, 2)),
        ("attention", [(-1, 8), (-1, 8), (-1, 8)], {"heads": 2, "kv_heads": 2, "scale": 1.0, "causal": True}, (-1, 8)),
        ("attention", [(-1, 4, 8), (2, -1, 8), (2, 5, 8)], {"heads": 2, "kv_heads": 2, "scale": 1.0, "causal": True}, (2, 4, 8)),
    ],
)
def test_unknown_dimensions_are_inferred(name, operands, attributes, result) -> None:
    assert OPERATIONS[name].infer([unknown(*s) for s in operands], attributes) == unknown(*result)


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "says"),
    [
        ("add", [(2,), (3,)], {}, r"\(2,\) and \(3,\), which do not broadcast"),
        ("where", [(2,), (3,), ()], {}, "do not broadcast"),
        ("reshape", [(-1, 4)], {"shape": [-1, -1]}, "at most one dimension"),
        ("broadcast_to", [(2,)], {"shape": [3]}, "broadcast_to of shape"),
        ("broadcast_to", [(4,)], {"shape": [-1, 4]}, "broadcast_to of shape"),
        ("broadcast_to", [(2, 2)], {"shape": [2]}, "broadcast_to of shape"),
        ("slice", [(4,)], {"start": [3], "size": [2], "step": [1]}, "slice of shape"),
        ("slice", [(4,)], {"start": [1], "size": [3], "step": [-1]}, "by "),
        ("slice", [(4,)], {"start": [1], "size": [1], "step": [0]}, "slice of shape"),
        ("gather", [(4,), (2,)], {}, "must be integers"),
        ("pad", [(4,), ()], {"low": [-1], "high": [0]}, "pad of shape"),
        ("pad", [(4,), (2,)], {"low": [1], "high": [0]}, "must be one number"),
        ("einsum", [(2, 3), (4, 2)], {"subscripts": "ij,jk->ik"}, "j is 3 in one array and 4"),
        ("einsum", [(2, 3)], {"subscripts": "ij"}, 'one "->"'),
        ("einsum", [(2, 3)], {"subscripts": "i->i"}, "term i for an array"),
        ("einsum", [(2, 3)], {"subscripts": "ij->ik"}, "that no array has"),
        ("softmax", [(2, 0)], {"axis": 1}, "over no elements"),
        ("gelu", [(2,)], {"approximate": "fast"}, "expected tanh or erf"),
        ("layer_norm", [(2, 3), (4,), (3,)], {"axis": -1, "eps": 0.1}, "do not broadcast"),
        ("rms_norm", [(3,), (2, 3)], {"eps": 0.1}, "a parameter of shape"),
        ("rope", [(2, 3), (2, 1), (2, 1)], {}, "must be even"),
        ("linear", [(2, 3), (3, 4), (5,)], {"activation": "none", "bias": True}, "do not broadcast"),
        ("linear", [(2, 3), (3, 4)], {"activation": "elu"}, 'activation "elu"'),
        ("linear", [(2, 3), (3, 4)], {"activation": "none", "bias": True}, "found 2 operands"),
        ("attention", [(4, 6), (4, 6), (4, 6)], {"heads": 4, "kv_heads": 4, "scale": 1.0, "causal": False}, "do not divide"),
        ("attention", [(4, 8), (4, 8), (4, 8)], {"heads": 4, "kv_heads": 2, "scale": 1.0, "causal": False}, "need 4 columns"),
        ("attention", [(4, 8), (3, 8), (3, 8)], {"heads": 2, "kv_heads": 2, "scale": 1.0, "causal": True}, "as many keys"),
        (
            "attention",
            [(2, 4, 8), (4, 8), (4, 8)],
            {"heads": 2, "kv_heads": 2, "scale": 1.0, "causal": True},
            "need rank 2, or rank 3",
        ),
        ("attention", [(2, 4, 8), (3, 4, 8), (3, 4, 8)], {"heads": 2, "kv_heads": 2, "scale": 1.0, "causal": True}, "of sequences"),
    ],
)
def test_operands_that_do_not_fit_are_refused(name, operands, attributes, says) -> None:
    with pytest.raises(InferenceError, match=says):
        OPERATIONS[name].infer([unknown(*s) for s in operands], attributes)


def test_composites_refuse_integers() -> None:
    with pytest.raises(InferenceError, match="must be floating point"):
        d.SiluOp.infer([tensor_type((2,), np.int64)], {})


def test_python_numbers_stay_python_numbers() -> None:
    for name, operands, result in (
        ("floor_div", [i32, i32], i32), ("mod", [i64, i32], i64), ("mod", [f64, i32], f64),
        ("less", [i32, f64], i1), ("equal", [i32, i32], i1),
    ):  # fmt: skip
        found = OPERATIONS[name].infer(operands, {})
        assert found == result
    values = Block(arg_types=[i32, i32]).args
    op = make("floor_div", values)
    op.describe(id="q")
    assert apply(op, [np.array(-7), np.array(2)]) == -4


def test_verifier_refuses_a_wrong_type_of_a_new_operation() -> None:
    a, b = Block(arg_types=[unknown(2, 3), unknown(2, 3)]).args
    for op in (
        d.LessOp([a, b], unknown(2, 3)),
        d.SiluOp([a], unknown(3, 2)),
        d.DimOp([a], i64, axis=5),
        d.PadOp([a, b], a.type, low=[0, 0], high=[0, 0]),
    ):
        op.describe(id="culprit")
        with pytest.raises(VerifyException, match="culprit"):
            op.verify()


def test_where_chooses_by_a_python_bool() -> None:
    c, a = Block(arg_types=[i1, unknown(2)]).args
    op = make("where", [c, a, a])
    op.describe(id="w")
    x = floats(2)
    np.testing.assert_array_equal(apply(op, [np.array(True), x, -x]), x)
