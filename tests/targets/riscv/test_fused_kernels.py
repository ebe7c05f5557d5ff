"""Kernels of several operations give the bits of the operations one after another, kept or not, on every instruction set."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.riscv import run_image
from fleet.errors import DeviceError, ModelError
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import op_id
from fleet.ir.program import Argument, Program
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.targets.host.compile import compile_host
from fleet.targets.riscv import codegen
from fleet.targets.riscv.compile import compile_riscv
from fleet.targets.riscv.isa import Isa
from fleet.transforms.schedule_loops import ANY_CHOICE

NEEDS_UNICORN = pytest.mark.skipif(RISCV.available() is not None, reason=str(RISCV.available()))
DTYPES = ("float32", "float64", "int8", "uint8", "int32", "int64", "uint64", "bool")
SHAPES = ((5, 67), (67,), (5, 1), ())
SPECIAL = (0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3e38, 1e-40)
UNARY = ("neg", "abs", "sqrt", "tanh", "exp", "sigmoid", "silu", "floor", "sign", "isnan", "logical_not", "rsqrt")
BINARY = (
    *("add", "sub", "mul", "div", "maximum", "minimum", "less", "equal", "greater_equal", "not_equal", "logical_and", "pow"),
    *("bitwise_xor", "floor_div"),
)


def drawn(rng: np.random.Generator) -> tuple[Program, dict[str, np.ndarray]]:
    """A random program of elementwise operations and a few others, and its inputs."""
    inputs: dict[str, np.ndarray] = {}
    for i in range(5):
        shape, dtype = SHAPES[rng.integers(len(SHAPES))] if i else SHAPES[0], np.dtype(DTYPES[rng.integers(len(DTYPES))])
        values = rng.standard_normal(shape) * 8
        if dtype.kind == "f" and values.size:
            places = rng.random(shape) < 0.2
            values = np.where(places, rng.choice(SPECIAL, shape), values)
        with np.errstate(all="ignore"):
            inputs[f"x{i}"] = np.asarray(
                values > 0 if dtype.kind == "b" else np.abs(values) if dtype.kind == "u" else values
            ).astype(dtype)
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in inputs.values()])
    values: list[SSAValue] = list(block.args)
    for n in range(int(rng.integers(6, 30))):
        operands = [values[i] for i in rng.integers(max(0, len(values) - 6), len(values), 3)]
        pick = rng.random()
        try:
            if pick < 0.35:
                op = make(UNARY[rng.integers(len(UNARY))], operands[:1])
            elif pick < 0.8:
                op = make(BINARY[rng.integers(len(BINARY))], operands[:2])
            elif pick < 0.87:
                op = make("where", operands)
            elif pick < 0.92:
                op = make("cast", operands[:1], dtype=np.dtype(DTYPES[rng.integers(len(DTYPES))]))
            elif pick < 0.95:
                op = make("reduce_max", operands[:1], axes=(), keepdims=False)
            else:
                number = constant(2, tensor_type((), numpy_dtype(operands[0].type)))
                number.describe(id=f"two.{n}")
                block.add_op(number)
                op = make("pow", [operands[0], number.results[0]])
            if numpy_dtype(op.results[0].type).name not in DTYPES:
                continue
        except (InferenceError, TypeError, ValueError):  # NumPy has no such loop
            continue
        op.describe(id=f"v{n}", at=f"m.py:{n}:1")
        block.add_op(op)
        values.append(op.results[0])
    outputs = values[-3:]
    block.add_op(ReturnOp(*outputs))
    function = FuncOp("model", ([v.type for v in block.args], [v.type for v in outputs]), Region(block))
    arguments = tuple(Argument(n, a.shape, a.dtype, "input") for n, a in inputs.items())
    return Program(ModuleOp([function]), arguments, {}, tuple(f"y{i}" for i in range(len(outputs))), source_name="m.py"), inputs


REDUCTIONS = ("sum", "mean", "max", "min", "var", "prod", "any", "all")


def drawn_rows(rng: np.random.Generator) -> tuple[Program, dict[str, np.ndarray]]:
    """A random program of elementwise operations and reductions of one shape over the same axes most of the time."""
    shape = [(5, 67), (3, 4, 37), (6, 70, 3), (130,), (2, 3, 4, 5)][rng.integers(5)]
    axes = tuple(sorted(rng.choice(len(shape), rng.integers(1, len(shape) + 1), replace=False).tolist()))
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
    inputs: dict[str, np.ndarray] = {}
    for i in range(5):
        of = (shape, shape[::-1], kept, shape[-1:], ())[i]
        dtype = np.dtype(("float32", "float64", "float32", "int32", "bool", "uint8", "int64")[rng.integers(7 if i else 2)])
        values = rng.standard_normal(of) * 3
        if dtype.kind == "f" and rng.random() < 0.3:
            values = np.where(rng.random(of) < 0.1, rng.choice(SPECIAL, of), values)
        inputs[f"x{i}"] = np.asarray(np.abs(values) if dtype.kind == "u" else values > 0 if dtype.kind == "b" else values).astype(
            dtype
        )
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in inputs.values()])
    values: list[SSAValue] = list(block.args)

    def add(name: str, operands: list[SSAValue], **attributes: object) -> None:
        with contextlib.suppress(InferenceError, TypeError, ValueError):  # NumPy has no such loop
            op = make(name, operands, **attributes)
            if numpy_dtype(op.results[0].type).name in DTYPES:
                op.describe(id=f"v{len(values)}", at=f"m.py:{len(values)}:1")
                block.add_op(op)
                values.append(op.results[0])

    add("transpose", [values[1]], permutation=tuple(range(len(shape)))[::-1])  # a view with other strides
    for _ in range(int(rng.integers(8, 26))):
        recent = [values[i] for i in rng.integers(max(0, len(values) - 5), len(values), 3)]
        operands = [v if rng.random() < 0.8 else values[rng.integers(len(values))] for v in recent]
        pick = rng.random()
        if pick < 0.3:
            of = next((v for v in operands if shape_of(v.type) == shape), operands[0])
            over = axes if rng.random() < 0.85 else tuple(range(len(shape_of(of.type))))[-1:]
            name = REDUCTIONS[rng.integers(len(REDUCTIONS))]
            name = name if name in ("mean", "var") else f"reduce_{name}"
            add(name, [of], axes=over, keepdims=bool(rng.random() < 0.7))
        elif pick < 0.4 and shape_of(operands[0].type) == tuple(n for i, n in enumerate(shape) if i not in axes):
            add("reshape", operands[:1], shape=kept)
        elif pick < 0.6:
            add(UNARY[rng.integers(len(UNARY))], operands[:1])
        elif pick < 0.65:
            add("where", operands)
        else:
            add(BINARY[rng.integers(len(BINARY))], operands[:2])
    outputs = values[-3:]
    block.add_op(ReturnOp(*outputs))
    function = FuncOp("model", ([v.type for v in block.args], [v.type for v in outputs]), Region(block))
    arguments = tuple(Argument(n, a.shape, a.dtype, "input") for n, a in inputs.items())
    return Program(ModuleOp([function]), arguments, {}, tuple(f"y{i}" for i in range(len(outputs))), source_name="m.py"), inputs


def results(
    program: Program, inputs: Mapping[str, np.ndarray], monkeypatch: pytest.MonkeyPatch, *, keep: bool, fuse: bool
) -> dict[str, bytes] | str:
    """Outputs and results by name, or why the program or its data are refused."""
    with monkeypatch.context() as patch:
        if not fuse:
            patch.setattr(codegen, "fusable", lambda _op: False)
        try:
            compiled = compile_host(program, keep=keep)
            compiled.run(inputs)
        except (DeviceError, ModelError) as refused:
            return str(refused)
    found = {f"output {n}": bits(compiled.fetch(b)) for n, b in compiled.plan.outputs}
    return found | {n: bits(compiled.fetch(b)) for n, b in compiled.plan.tensors.items()}


def bits(array: np.ndarray) -> bytes:
    """Its bytes. One NaN stands for all: x86 takes sign and payload from whichever operand LLVM puts first."""
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array).tobytes() if array.dtype.kind == "f" else array.tobytes()


@pytest.mark.parametrize("seed", range(24))
def test_fused_code_gives_the_bits_of_single_operations(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(*drawn(np.random.default_rng(seed)), monkeypatch)


@pytest.mark.parametrize("vlen", [0, 128, 512])
@pytest.mark.parametrize("seed", range(8))
def test_kernels_with_reductions_give_the_bits_of_single_operations(seed: int, vlen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen, "generate", partial(codegen.generate, isa=Isa(vlen)))  # this machine runs vectors of any length
    assert_same(*drawn_rows(np.random.default_rng(100 * vlen + seed)), monkeypatch)


@pytest.mark.parametrize("vlen", [0, 128, 512])
def test_sums_over_any_axes_keep_their_order(vlen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fused as apart, and NumPy's values: both sides share the code of a sum."""
    monkeypatch.setattr(codegen, "generate", partial(codegen.generate, isa=Isa(vlen)))
    program, inputs, expected = sums_over_axes()
    assert_same(program, inputs, monkeypatch)
    compiled = compile_host(program, keep=False)
    compiled.run(inputs)
    for (_, buffer), wanted in zip(compiled.plan.outputs, expected, strict=True):
        np.testing.assert_allclose(compiled.fetch(buffer), wanted, rtol=2e-5, atol=2e-4)


def sums_over_axes() -> tuple[Program, dict[str, np.ndarray], list[np.ndarray]]:
    """Sums and variances of functions, which later passes need again, over every choice of three axes; and NumPy's values."""
    rng = np.random.default_rng(5)
    inputs = {n: rng.standard_normal((3, 4, 37)).astype(np.float32) for n in "xy"}
    x, y = (inputs[n].astype(np.float64) for n in "xy")
    first, second = np.tanh(x * y), np.exp(y)
    block = Block(arg_types=[tensor_type((3, 4, 37), "float32")] * 2)
    outputs: list[SSAValue] = []
    expected: list[np.ndarray] = []
    for n, axes in enumerate(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))):
        values: list[SSAValue] = list(block.args)
        total, over = {"axes": axes, "keepdims": True}, {"axes": axes, "keepdims": False}
        steps = (("mul", (0, 1), {}), ("tanh", (2,), {}), ("exp", (1,), {}), ("mul", (3, 4), {}), ("reduce_sum", (5,), total))
        for name, operands, attributes in (*steps, ("sub", (3, 6), {}), ("mul", (7, 4), {}), ("var", (8,), over)):
            op = make(name, [values[i] for i in operands], **attributes)
            op.describe(id=f"{name}.{n}.{len(values)}", at=f"m.py:{n}:1")
            block.add_op(op)
            values.append(op.results[0])
        outputs += values[-2:]
        scaled = (first - (first * second).sum(axes, keepdims=True)) * second
        expected += [scaled, scaled.var(axes)]
    block.add_op(ReturnOp(*outputs))
    function = FuncOp("model", ([v.type for v in block.args], [v.type for v in outputs]), Region(block))
    arguments = tuple(Argument(n, a.shape, a.dtype, "input") for n, a in inputs.items())
    names = tuple(f"y{i}" for i in range(len(outputs)))
    return Program(ModuleOp([function]), arguments, {}, names, source_name="m.py"), inputs, expected


def assert_same(program: Program, inputs: Mapping[str, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    """Fused, kept or not, gives what the operations give apart."""
    apart = results(program, inputs, monkeypatch, keep=True, fuse=False)
    together = results(program, inputs, monkeypatch, keep=True, fuse=True)
    shipped = results(program, inputs, monkeypatch, keep=False, fuse=True)
    if isinstance(apart, str):
        assert together == shipped == apart
        return
    assert not isinstance(together, str), together
    assert not isinstance(shipped, str), shipped
    for name, data in apart.items():
        assert together[name] == data, name
        if name.startswith("output"):
            assert shipped[name] == data, name


def test_most_drawn_programs_have_kernels() -> None:
    fused = [codegen.in_kernels(drawn(np.random.default_rng(seed))[0], keep=False, choices=ANY_CHOICE) for seed in range(24)]
    assert sum(any(op.name == "fleet.fused" for op in p.operations()) for p in fused) > 18


def chain(*operations: str) -> Program:
    block = Block(arg_types=[tensor_type((65536,), "float32")] * 2)
    value, (x, y) = block.args[0], block.args
    for n, name in enumerate(operations):
        op = make(name, [value, x if n % 2 else y])
        op.describe(id=f"v{n}")
        block.add_op(op)
        value = op.results[0]
    block.add_op(ReturnOp(value))
    function = FuncOp("chain", ([v.type for v in block.args], [value.type]), Region(block))
    arguments = tuple(Argument(n, (65536,), np.dtype(np.float32), "input") for n in "xy")
    return Program(ModuleOp([function]), arguments, {}, ("out",), source_name="m.py")


@NEEDS_UNICORN
def test_a_chain_of_six_costs_two_additions() -> None:
    """Six operations: 2.0 times the instructions of one addition, two loads and one store an element."""
    inputs = {n: np.random.default_rng(3).standard_normal(65536).astype(np.float32) for n in "xy"}
    counts: list[float] = []
    for names in (("add",), ("add", "mul", "sub", "mul", "add", "sub")):
        compiled = compile_riscv(chain(*names), keep_tensors=False)
        counts.append(run_image(compiled, compiled.elf, inputs).counters["instructions"])
    assert counts[1] <= 2.0 * counts[0]
    loads = [line for line in compiled.asm().splitlines() if line.strip().startswith(("flw", "fsw"))]
    assert sum("flw" in line for line in loads) == 2 * sum("fsw" in line for line in loads)


@NEEDS_UNICORN
def test_kept_results_are_read_by_their_names() -> None:
    program = chain("add", "mul", "sub")
    inputs = {n: np.random.default_rng(3).standard_normal(65536).astype(np.float32) for n in "xy"}
    compiled = compile_riscv(program)
    trace = run_image(compiled, compiled.elf, inputs)
    assert list(trace.tensors) == [op_id(op) for op in program.operations()]
    x, y = inputs["x"], inputs["y"]
    np.testing.assert_array_equal(trace.tensors["v0"], x + y)
    np.testing.assert_array_equal(trace.tensors["v2"], (x + y) * x - y)
    assert trace.counters["instructions.v0..v2"] > 0
    assert trace.counters["instructions.v1"] == 0
