"""Bounds: sound on random programs in random summation orders, and not vacuous."""

from pathlib import Path

import numpy as np
import pytest
from ir_builder import Net, evaluate, shuffled_sum
from no_layout import NoLayout

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic, group_arithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds, local_bounds
from fleet.compare.metrics import absolute_error
from fleet.compare.rules.steps import rounded_store
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.program import Program
from fleet.sdk import Device, InstructionSet
from fleet.sdk.error_model import DeviceArithmetic, ErrorModel, FixedPoint

ELEMENTWISE = (d.AddOp, d.SubOp, d.MulOp, d.DivOp, d.MaximumOp, d.MinimumOp)
UNARY = (d.NegOp, d.AbsOp, d.TanhOp, d.ExpOp)


def random_program(rng: np.random.Generator, dtype: str = "float32") -> tuple[Program, dict[str, np.ndarray]]:
    """A dozen operations over (rows, width) tensors; every kind of rule is drawn sooner or later."""
    rows, width = int(rng.integers(2, 5)), int(rng.integers(3, 40))
    weights = {"w": rng.normal(0, 1 / np.sqrt(width), (width, width)).astype(dtype), "b": rng.normal(size=width).astype(dtype)}
    net = Net({"x": ((rows, width), "input"), "w": ((width, width), "weight"), "b": ((width,), "weight")}, weights, dtype)
    values = [net["x"]]
    for _ in range(12):
        a = values[int(rng.integers(len(values)))]
        kind = rng.integers(10)
        if kind <= 2:
            v = net.matmul(a, net["w"])
        elif kind <= 4:
            v = net.call(
                ELEMENTWISE[int(rng.integers(len(ELEMENTWISE)))],
                a,
                [net["b"], values[int(rng.integers(len(values)))]][int(rng.integers(2))],
            )
        elif kind == 5:
            v = net.call(UNARY[int(rng.integers(len(UNARY)))], net.call(d.TanhOp, a))
        elif kind == 6:
            square = net.call(d.MulOp, a, a)
            v = net.call(d.SqrtOp, net.call(d.AddOp, square, net.number(0.7)))
        elif kind == 7:
            v = net.call(d.LogOp, net.call(d.AddOp, net.call(d.AbsOp, a), net.number(0.3)))
        elif kind == 8:
            mean, var = net.reduce(d.MeanOp, a, 1), net.reduce(d.VarOp, a, 1)
            root = net.call(d.SqrtOp, net.call(d.AddOp, var, net.number(1e-3)))
            v = net.call(d.DivOp, net.call(d.SubOp, a, mean), root)
        else:
            e = net.call(d.ExpOp, net.call(d.SubOp, a, net.reduce(d.ReduceMaxOp, a, 1)))
            v = net.call(d.DivOp, net.call(d.PowOp, e, net.number(3)), net.reduce(d.ReduceSumOp, e, 1))
        values.append(v)
    return net.program(y=values[-1]), {"x": rng.normal(size=(rows, width)).astype(dtype)}


@pytest.mark.parametrize("seed", range(25))
def test_no_right_evaluation_exceeds_the_bound(seed: int):
    rng = np.random.default_rng(seed)
    program, inputs = random_program(rng)
    golden = evaluate(program, inputs)
    bounds = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())
    others = [evaluate(program, inputs, shuffled_sum(np.random.default_rng(seed * 7 + i))) for i in range(3)]
    others.append(evaluate(program, inputs, work="float64"))
    finite = 0
    for other in others:
        for op, bound in bounds.items():
            error = absolute_error(golden[op].astype(np.float64), other[op].astype(np.float64))
            assert np.all(error <= bound.array), (op, float(np.max(error / bound.array)))
            finite += int(np.isfinite(bound.array).sum())
    assert finite > 0


@pytest.mark.parametrize("seed", range(8))
def test_local_bounds_hold_for_each_operation_alone(seed: int):
    rng = np.random.default_rng(100 + seed)
    program, inputs = random_program(rng)
    golden = evaluate(program, inputs)
    values = Values(program, inputs, golden)
    whole, local = cumulative_bounds(values, FloatArithmetic()), local_bounds(values, FloatArithmetic())
    for op, bound in local.items():
        assert np.all(bound.array <= whole[op].array * (1 + 1e-9)), op
    from ir_builder import _one

    for op in program.operations():
        if isinstance(op, d.ConstantOp):
            continue
        name = op.properties["id"].data
        x = [values.of(v) for v in op.operands]
        other = np.asarray(_one(op, x, golden[name].dtype, shuffled_sum(rng))).reshape(golden[name].shape)
        assert np.all(absolute_error(golden[name], other) <= local[name].array), name


def chain(dtype: str = "float32") -> tuple[Program, dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    w = {"w": rng.normal(0, 1 / 8, (64, 32)).astype(dtype), "b": rng.normal(size=32).astype(dtype)}
    net = Net({"x": ((9, 64), "input"), "w": ((64, 32), "weight"), "b": ((32,), "weight")}, w, dtype)
    biased = net.call(d.AddOp, net.matmul(net["x"], net["w"], "product"), net["b"], name="biased")
    relu = net.call(d.MaximumOp, biased, net.number(0), name="relu")
    return net.program(y=net.argmax(relu, 1, "digit")), {"x": rng.random((9, 64)).astype(dtype)}


@pytest.mark.parametrize("op", ["product", "biased"])
def test_a_relative_error_of_a_thousandth_is_caught(op: str):
    program, inputs = chain()
    golden = evaluate(program, inputs)
    bounds = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())
    wrong = golden[op].astype(np.float64) * (1 + 1e-3)
    caught = np.abs(wrong - golden[op]) > bounds[op].array
    assert caught.mean() > 0.9
    assert np.median(bounds[op].array / np.abs(golden[op])) < 1e-4


def test_a_swapped_operand_is_caught():
    net = Net({"a": ((4, 5), "input"), "b": ((4, 5), "input")})
    program = net.program(y=net.call(d.SubOp, net["a"], net["b"], name="y"))
    rng = np.random.default_rng(0)
    inputs = {"a": rng.random((4, 5)).astype(np.float32), "b": rng.random((4, 5)).astype(np.float32)}
    golden = evaluate(program, inputs)
    bound = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())["y"].array
    assert np.all(np.abs((inputs["b"] - inputs["a"]) - golden["y"]) > bound)


def a_set(error_model: ErrorModel | None = None) -> InstructionSet:
    return InstructionSet("toy", "2.0", Path("toy.rdl"), {}, {}, NoLayout(), error_model=error_model)


def device(error_model: ErrorModel | None = None) -> tuple[InstructionSet, Device]:
    chip = Device("chip", "toy", {"Tblk": 16}, {}, 100.0, {}, Path("chip.toml"))
    return a_set(error_model), chip


def stated(ops, chip, _options):
    tblk = chip.parameters["Tblk"]
    terms = {op.properties["id"].data: op.lhs.type.get_shape()[-1] for op in ops if isinstance(op, d.MatmulOp)}
    return DeviceArithmetic(roundings={name: -(-n // tblk) + 2 for name, n in terms.items()})


def run_like_a_device(program: Program, inputs: dict[str, np.ndarray], tblk: int = 16) -> dict[str, np.ndarray]:
    """The group of `chain` by hand: exact sums in groups, binary32 accumulation, FP16 in memory."""
    w, b = program.weights["w"].astype(np.float64), program.weights["b"]
    x = inputs["x"].astype(np.float16).astype(np.float64)
    acc = np.zeros((x.shape[0], w.shape[1]), np.float32)
    for k in range(0, x.shape[1], tblk):
        acc = acc + (x[:, k : k + tblk] @ w[k : k + tblk]).astype(np.float32)
    relu = np.maximum(acc + b, np.float32(0)).astype(np.float16)
    return {"relu": relu.astype(np.float32), "digit": np.argmax(relu, axis=1)}


def test_the_device_model_is_sound_and_sharp():
    program, inputs = chain()
    golden = evaluate(program, inputs)
    groups = [("product", "biased", "relu", "digit")]
    got = run_like_a_device(program, inputs)
    limits = []
    for model in (None, stated):
        side = group_arithmetic(program, groups, *device(model))
        bounds = cumulative_bounds(Values(program, inputs, golden), side)
        error = np.abs(got["relu"] - golden["relu"])
        assert np.all(error <= bounds["relu"].array)
        assert error.max() > 0
        limits.append(bounds["relu"].array)
        local = local_bounds(Values(program, inputs, golden), side)["relu"].array
        np.testing.assert_array_equal(local, bounds["relu"].array)
        assert np.all(np.take_along_axis(bounds["digit"].candidates, got["digit"][:, None], axis=1))
    assert np.all(limits[1] <= limits[0])
    big = golden["relu"] > 0.5
    assert np.median(limits[1][big] / golden["relu"][big]) < 4e-3
    wrong = golden["relu"] * np.float32(1.01)
    assert np.mean(np.abs(wrong - golden["relu"])[big] > limits[1][big]) > 0.5


def test_a_value_that_is_already_stored_is_not_rounded_again():
    rng = np.random.default_rng(5)
    net = Net({"x": ((3, 8), "input")})
    first = net.call(d.AbsOp, net["x"], name="first")
    program = net.program(y=net.call(d.NegOp, first, name="second"))
    inputs = {"x": rng.random((3, 8)).astype(np.float32)}
    golden = evaluate(program, inputs)
    side = group_arithmetic(program, [("first",), ("second",)], *device())
    values = Values(program, inputs, golden)
    bounds, local = cumulative_bounds(values, side), local_bounds(values, side)
    step = 2.0**-11 * golden["first"]
    assert np.all(bounds["first"].array >= 2 * step)
    assert np.all(bounds["second"].array < bounds["first"].array + 1.5 * step)
    assert np.all(local["second"].array < bounds["first"].array * 1.01)


def test_fp16_overflow_leaves_nothing_proved():
    net = Net({"x": ((1, 2), "input")})
    program = net.program(y=net.call(d.AddOp, net["x"], net["x"], name="y"))
    inputs = {"x": np.array([[40000.0, 1.0]], np.float32)}
    golden = evaluate(program, inputs)
    bound = cumulative_bounds(Values(program, inputs, golden), group_arithmetic(program, [("y",)], *device()))["y"].array
    assert np.isinf(bound[0, 0])
    assert np.isfinite(bound[0, 1])


def test_argmax_is_decided_or_named_undecided():
    net = Net({"x": ((3, 3), "input")})
    shifted = net.call(d.AddOp, net["x"], net.number(0.1), name="shifted")
    program = net.program(y=net.argmax(shifted, 1, "class"))
    x = np.array([[1, 2, 3], [1, 3, 3], [1, np.nextafter(np.float32(3), np.float32(4)), 3]], np.float32)
    golden = evaluate(program, {"x": x})
    bound = cumulative_bounds(Values(program, {"x": x}, golden), FloatArithmetic())["class"]
    assert bound.candidates.tolist() == [[False, False, True], [False, True, True], [False, True, True]]
    assert np.isinf(bound.array).tolist() == [False, True, True]
    direct = Net({"x": ((3, 3), "input")})
    program = direct.program(y=direct.argmax(direct["x"], 1, "class"))
    exact = cumulative_bounds(Values(program, {"x": x}, evaluate(program, {"x": x})), FloatArithmetic())["class"]
    assert np.all(exact.array == 0), "exact operands leave no doubt, not even in a tie"


def test_what_has_no_value_cannot_be_bounded():
    program, inputs = chain()
    golden = evaluate(program, inputs)
    del golden["product"]
    with pytest.raises(ComparisonFailure, match="product: the golden kept no tensor"):
        cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())
    with pytest.raises(ComparisonFailure, match="'other'"):
        group_arithmetic(program, [("other",)], *device())


def wide_softmax() -> tuple[Program, dict[str, np.ndarray]]:
    """A softmax whose logits' bound is wider than the logits' own spread: the denominator's error exceeds its value."""
    rng = np.random.default_rng(1)
    weights = {"w": (rng.normal(0, 1, (512, 512))).astype("float32")}
    net = Net({"x": ((4, 512), "input"), "w": ((512, 512), "weight")}, weights, "float32")
    z = net.matmul(net.call(d.MulOp, net.matmul(net["x"], net["w"]), net.number(0.2)), net["w"])
    e = net.call(d.ExpOp, net.call(d.SubOp, z, net.reduce(d.ReduceMaxOp, z, 1)))
    total = net.reduce(d.ReduceSumOp, e, 1)
    return net.program(y=net.call(d.DivOp, e, total)), {"x": rng.normal(size=(4, 512)).astype("float32")}


def test_a_softmax_has_a_bound_however_wide_its_logits_bound_is():
    program, inputs = wide_softmax()
    golden = evaluate(program, inputs)
    values = Values(program, inputs, golden)
    bounds = cumulative_bounds(values, FloatArithmetic())
    e, total, y = list(bounds)[-3:]
    assert np.all(bounds[total].array >= golden[total])  # otherwise this test shows nothing
    assert np.all(np.isfinite(bounds[e].array))
    assert np.all(np.isfinite(bounds[y].array))
    for i in range(3):
        other = evaluate(program, inputs, shuffled_sum(np.random.default_rng(i)))
        assert np.all(absolute_error(golden[y], other[y]) <= bounds[y].array)


@pytest.mark.parametrize("seed", range(20))
def test_fixed_point_on_entry_is_bounded(seed: int) -> None:
    """Values within an error of others, rounded twice and limited, against the bound; at the edges it is met."""
    rng = np.random.default_rng(seed)
    grid = FixedPoint(step=2.0**-4, low=-8.0, high=7.9375, before=2.0**-6)
    value, error = rng.normal(0, 6, 1000), np.abs(rng.normal(0, 0.1, 1000))
    computed = value + error * rng.uniform(-1, 1, 1000)
    taken = grid.nearest(np.rint(computed / grid.before) * grid.before)
    assert (np.abs(taken - value) <= grid.taken(value, error)).all()
    far = np.array([20.0, -20.0])
    assert np.array_equal(grid.taken(far, np.zeros(2)), np.abs(grid.nearest(far) - far))
    tie = np.array([0.5 * grid.step])
    assert grid.taken(tie, np.zeros(1)) == np.abs(grid.nearest(tie) - tie) + grid.before / 2


def test_a_stated_fixed_point_enters_the_bound_of_a_product() -> None:
    """One product of one number: the bound is half a step times the weight, and a dtype's roundings of the rest."""
    net = Net({"x": ((1, 1), "input"), "w": ((1, 1), "weight")}, {"w": np.array([[3.0]], np.float32)}, "float32")
    program = net.program(y=net.matmul(net["x"], net["w"]))
    stated = DeviceArithmetic(load=FixedPoint(0.5, -4.0, 4.0), store=np.dtype(np.float32))
    sets = a_set(lambda *_: stated)
    device = Device("s", "s", {}, {}, 1.0, {}, Path())
    (op,) = program.operations()
    side = group_arithmetic(program, [[d.op_id(op)]], sets, device)
    for x, expected in ((1.1, 0.75), (5.0, 3.0)):
        inputs = {"x": np.array([[x]], np.float32)}
        bound = local_bounds(Values(program, inputs, {d.op_id(op): inputs["x"] * 3}), side)[d.op_id(op)].array
        assert expected <= bound.item() < expected * 1.001


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_correctly_rounded_value_is_bounded_up_to_where_it_overflows(dtype: str) -> None:
    """Masks of the most negative number, and sums with them, round to it; half a unit above the largest number is infinity."""
    info = np.finfo(dtype)
    largest = float(info.max)
    half = (largest - float(np.nextafter(info.max, info.dtype.type(0)))) / 2
    zero = np.zeros(())
    assert np.isfinite(rounded_store(np.asarray(-largest), zero, info.dtype))
    if dtype != "float64":  # whose sums have no wider type to be exact in
        assert np.isfinite(rounded_store(np.asarray(largest + half / 4), zero, info.dtype))
        assert np.isinf(rounded_store(np.asarray(largest + half), zero, info.dtype))
        assert np.isfinite(info.dtype.type(largest + half / 4))
    assert np.isinf(rounded_store(np.asarray(np.inf), zero, info.dtype))
    assert np.isinf(rounded_store(np.asarray(largest), zero, info.dtype, 4.0))


def test_a_quotient_of_large_numbers_keeps_its_errors() -> None:
    """Divisors whose square is beyond float64: the error of what was divided is bounded, not lost in 1 / infinity."""
    net = Net({"x": ((4,), "input")}, dtype="float64")
    divisor = net.call(d.AddOp, net.number(1.0), net.call(d.ExpOp, net.call(d.NegOp, net["x"])))
    program = net.program(y=net.call(d.DivOp, net["x"], divisor, name="y"))
    inputs = {"x": np.array([-500.0, -400, -366, 2])}
    golden = evaluate(program, inputs)
    bound = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic(ulp={"exp": 1e4}))["y"].array
    moved = np.abs(golden["y"]) * 1e4 * np.finfo(np.float64).eps / 2
    assert (bound[:3] > moved[:3]).all()
    assert (bound < 10 * moved + 1e-11).all()


def test_what_an_engine_states_beside_its_roundings() -> None:
    """An absolute error of a kind of operations or of one, in float32 alone; operands that were not rounded to float16."""
    values = {}
    for dtype in ("float32", "float64", "float16"):
        net = Net({"x": ((8,), "input")}, dtype=dtype)
        y = net.call(d.TanhOp, net["x"], name="y")
        program = net.program(z=net.call(d.AddOp, y, y, name="z"))
        inputs = {"x": np.linspace(-3, 3, 8).astype(dtype)}
        golden = evaluate(program, inputs)
        values[dtype] = {
            key: local_bounds(Values(program, inputs, golden), FloatArithmetic(absolute=absolute, unrounded=frozenset(unrounded)))
            for key, absolute, unrounded in (("plain", {}, ()), ("both", {"tanh": 1e-3, "z": 2e-3}, ()), ("wide", {}, ["float16"]))
        }
    for name, more in (("y", 1e-3), ("z", 2e-3)):
        narrow, wide = (values[t] for t in ("float32", "float64"))
        np.testing.assert_allclose(narrow["both"][name].array - narrow["plain"][name].array, more, rtol=1e-6)
        np.testing.assert_array_equal(wide["both"][name].array, wide["plain"][name].array)
        np.testing.assert_array_equal(narrow["wide"][name].array, narrow["plain"][name].array)
        assert (values["float16"]["wide"][name].array > values["float16"]["plain"][name].array).any()
