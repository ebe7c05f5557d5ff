"""Schedules of loops: no choice changes a bit on any target; code does what is asked for; what does not fit is refused."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "gpu"))
from cuda_on_cpu import cuda_device

import fleet
from fleet import jit
from fleet.compiler import LoopSchedule, Schedule
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import FleetError
from fleet.frontend.source import load
from fleet.ir.dialect import FusedOp, op_id
from fleet.ir.program import Program
from fleet.targets.gpu.module import generate_gpu
from fleet.targets.gpu.run import LoadedModule
from fleet.targets.gpu.surface import CUDA
from fleet.targets.host.compile import compile_host
from fleet.targets.riscv.codegen import generate, in_kernels
from fleet.targets.riscv.prepare import prepared
from fleet.transforms.schedule_loops import ANY_CHOICE, axes_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
Arrays = Mapping[str, np.ndarray]

_STATEMENTS = (
    "v = {a} * 2 + {b}", "v = np.maximum({a} - {b}, 0) * {a}", "v = np.tanh({a}) + {b}.T.reshape({b}.shape)",
    "v = {a}.swapaxes(-1, -2) + 1 if {a}.shape == {a}.swapaxes(-1, -2).shape else {a}", "v = {a} / (1 + np.exp(-{b}))",
    "v = {a} - {a}.mean(axis=-1, keepdims=True)", "v = {a} - {a}.max(axis=0, keepdims=True)", "v = np.sqrt(np.abs({a})) * w",
    "e = np.exp({a} - {a}.max(axis=-1, keepdims=True))\n    v = e / e.sum(axis=-1, keepdims=True)",
    "v = np.where({a} > {b}, {a}, -{b}).astype(np.float64).astype(np.float32)", "v = {a} @ ({b}.swapaxes(-1, -2) @ {a})",
    "v = ({a} * {b}).sum(axis=-2, keepdims=True) + {a}", "v = {a} @ w2 + w", "v = np.floor({a}).astype(np.int32) % 5 + {b}",
)  # fmt: skip
_SHAPES = ((7, 9), (2, 5, 6), (12, 12), (3, 33))


def drawn(seed: int, folder: Path) -> tuple[Program, dict[str, np.ndarray]]:
    """A random program of chains, reductions, softmax, views and products, and its inputs."""
    rng = np.random.default_rng(seed)
    shape = _SHAPES[rng.integers(len(_SHAPES))]
    columns = shape[-1]
    lines, names = [], ["x", "y"]
    for n in range(int(rng.integers(3, 7))):
        a, b = rng.choice(names, 2)
        lines += [f"    {_STATEMENTS[rng.integers(len(_STATEMENTS))].format(a=a, b=b)}", f"    v{n} = v"]
        names.append(f"v{n}")
    dims = ", ".join(map(str, shape))
    source = folder / f"m{seed}.py"
    arguments = f'x: "float32[{dims}]", y: "float32[{dims}]", w: "float32[{columns}]", w2: "float32[{columns}, {columns}]"'
    source.write_text(
        f"import numpy as np\n\n\ndef f({arguments}):\n" + "\n".join(lines) + f"\n    return {', '.join(names[-2:])}\n"
    )
    of = {"x": shape, "y": shape, "w": (columns,), "w2": (columns, columns)}
    inputs = {name: rng.standard_normal(s).astype(np.float32) for name, s in of.items()}
    return load(f"{source}:f", {}, inputs), inputs


def scheduled(program: Program, rng: np.random.Generator, tiles: tuple[tuple[int, int], ...], *, fused: bool) -> Program:
    """The program with a schedule drawn for each of its kernels. tiles: of products; fused: kernels have several operations."""
    schedule, whole = Schedule(), prepared(program)
    for op in (in_kernels(whole, keep=False, choices=ANY_CHOICE) if fused else whole).operations():
        axes = axes_of(op)
        if axes is None or (op.name in ("fleet.linear", "fleet.matmul") and not tiles):
            continue
        product, rows = op.name in ("fleet.linear", "fleet.matmul"), len(axes.free) < len(axes.shape)
        order = tuple(rng.permutation(axes.free).tolist()) if rng.random() < 0.6 and not product else ()
        tile = tuple(int(rng.integers(0, n + 2)) if a in axes.free else 0 for a, n in enumerate(axes.shape))
        tile = tiles[rng.integers(len(tiles))] if product else tile
        numbers = [int(rng.integers(1, 9)), int(2 ** rng.integers(0, 5)), int(rng.integers(1, 5))]
        unroll, vectorise, parallel = [n if rng.random() < 0.6 else None for n in numbers]
        name = op_id(op.operations[-1]).removesuffix(".fused") if isinstance(op, FusedOp) else op_id(op)
        schedule = schedule.kernel(
            name, order=order, tile=tile if rng.random() < 0.7 else (), unroll=unroll, parallel=parallel,
            vectorise=None if product or rows else vectorise,
        )  # fmt: skip
    return replace(program, schedule=schedule)


def same_bits(found: Arrays, expected: Arrays, what: str) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].tobytes() == array.tobytes(), f"{what}: {name}"


def on_engine(name: str) -> Callable[[Program, Arrays], Arrays]:
    return lambda program, inputs: find_engine(name).engine.run(program, inputs, RunOptions(keep_tensors=False)).outputs


def on_threads_of_cpp(program: Program, inputs: Arrays) -> Arrays:
    """The CUDA text, compiled as C++."""
    module = generate_gpu(prepared(program), CUDA, keep=False)
    return LoadedModule(module, cuda_device().load(module)).run(inputs).outputs()


_PRODUCTS = ((1, 1), (3, 5), (4, 8), (7, 2), (2, 16))
_SQUARES = ((16, 16), (32, 32), (64, 64))
TARGETS = {
    "llvm-cpu": (on_engine("llvm-cpu"), _PRODUCTS),
    "riscv": (on_engine("riscv"), _PRODUCTS),
    "aarch64": (on_engine("aarch64"), _PRODUCTS),
    "cvm": (on_engine("cvm"), _PRODUCTS),
    "opencl": (on_engine("opencl"), _SQUARES),
    "cuda": (on_threads_of_cpp, _SQUARES),
}


def missing(target: str) -> str | None:
    if target == "cuda":
        return None if shutil.which("g++") else "g++ is not installed"
    return find_engine(target).engine.available()


def check(target: str, seeds: range, folder: Path) -> None:
    if (why := missing(target)) is not None:
        pytest.skip(why)
    run, tiles = TARGETS[target]
    for seed in seeds:
        program, inputs = drawn(seed, folder)
        chosen = scheduled(program, np.random.default_rng(seed + 1000), tiles, fused=target != "cvm")
        same_bits(run(chosen, inputs), run(program, inputs), f"{target}, seed {seed}, {chosen.schedule}\n{program.source}")


@pytest.mark.parametrize("target", TARGETS)
def test_no_schedule_changes_a_bit(target: str, tmp_path: Path) -> None:
    check(target, range(6 if target == "llvm-cpu" else 2), tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("target", TARGETS)
def test_no_schedule_changes_a_bit_of_many(target: str, tmp_path: Path) -> None:
    first = int(os.environ.get("FLEET_SCHEDULE_SEED", "100"))
    check(target, range(first, first + (120 if target == "llvm-cpu" else 25)), tmp_path)


def chain(a, b):
    y = (a.T + b) * 2
    return y - 1


def product(a, b):
    return a @ b


A = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)


def code(function: Callable[..., object], schedule: Schedule, stage: str = "llvm") -> str:
    return jit(target="riscv", schedule=schedule)(function).lower(A, A).text(stage)


def test_tiles_and_their_order_are_the_loops() -> None:
    plain, tiled = code(chain, Schedule()), code(chain, Schedule().every(tile=(16, 8)))
    assert (plain.count("phi  i64"), tiled.count("phi  i64")) == (2, 4)
    assert "tile = array<i64: 16, 8>" in code(chain, Schedule().every(tile=(16, 8)), "loops")
    turned = code(chain, Schedule().kernel("y", order=(1, 0)))
    assert turned != plain
    assert turned.count("phi  i64") == 2
    assert code(chain, Schedule().every(tile=(60, 0))).count("phi  i64") == 4  # 60 rows in one tile, and the last 4


def test_steps_between_branches_are_as_asked() -> None:
    one, two, eight = (code(chain, Schedule().every(unroll=n)).count("fmul") for n in (1, 2, 8))
    assert (one, two, eight) == (1, 2, 8)
    sums = [code(product, Schedule().every(tile=(2, 3), unroll=n)).count('@"llvm.fma.f32"(float') for n in (1, 2)]
    assert 0 < sums[0] < sums[1]


def test_vectors_are_as_asked() -> None:
    assert "<16 x float>" in code(lambda_of_sum, Schedule().every(vectorise=16))
    assert " x float>" not in code(lambda_of_sum, Schedule())


def lambda_of_sum(a, b):
    return a + b


def test_threads_divide_the_outermost_axis() -> None:
    program = jit(chain).lower(A, A).program
    threads = generate(prepared(replace(program, schedule=Schedule().every(parallel=3))), threads=True).llvm_ir
    assert {"_part_22", "_part_20"} == set(re.findall(r"_part_\d+", threads))
    assert threads.count('call i32 @"pthread_create"') == 2
    alone = generate(prepared(replace(program, schedule=Schedule().every(parallel=3)))).llvm_ir
    assert "pthread" not in alone  # a program of one hart


def test_a_part_that_no_thread_takes_is_computed(tmp_path: Path) -> None:
    """Threads that cannot be started: the kernel's own computes their parts."""
    program = replace(prepared(jit(chain).lower(A, A).program), schedule=Schedule().every(parallel=4))
    expected = compile_host(replace(program, schedule=Schedule()), keep=False)
    expected.run({"a": A, "b": A})
    refuses = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(lambda *_: 11)
    llvm.add_symbol("pthread_create", ctypes.cast(refuses, ctypes.c_void_p).value)
    try:
        made = compile_host(program, keep=False)
        made.run({"a": A, "b": A})
    finally:
        llvm.add_symbol("pthread_create", ctypes.cast(ctypes.CDLL(None).pthread_create, ctypes.c_void_p).value)
    for (_, buffer), (_, other) in zip(made.plan.outputs, expected.plan.outputs, strict=True):
        np.testing.assert_array_equal(made.fetch(buffer), expected.fetch(other))


def test_work_items_are_as_asked() -> None:
    def text(schedule: Schedule) -> str:
        return jit(schedule=schedule)(product).lower(A, A).text("cuda")

    assert "float sums[4];" in text(Schedule().every(tile=(32, 32)))
    assert "float sums[1];" in text(Schedule())
    wide = jit(schedule=Schedule().every(unroll=8))(chain).lower(A, A).text("cuda")
    assert "for (int r = 0; r < 8; ++r)" in wide


def test_what_does_not_fit_is_refused_by_name() -> None:
    wrong = {
        r"kernel add.0..sub.0 has loops over axes \[0, 1\]; order is \[0, 2\]": Schedule().kernel("y", order=(0, 2)),
        r"kernel add.0..sub.0 has 2 axes; tile is \[4\]": Schedule().kernel("y", tile=(4,)),
        "no kernel has an operation z": Schedule().kernel("z", unroll=2),
    }
    for message, schedule in wrong.items():
        with pytest.raises(FleetError, match=message):
            code(chain, schedule)
    refused = {
        "is a product, whose order is its own": {"order": (1, 0)},
        "is a product with tiles of at most 256 elements; tile is [64, 64]": {"tile": (64, 64)},
        "is a product, whose vectors are the target's own": {"vectorise": 4},
    }
    for words, asked in refused.items():
        with pytest.raises(FleetError) as error:
            code(product, Schedule().kernel("matmul.0", **asked))  # pyright: ignore[reportArgumentType]
        assert words in error.value.what
    with pytest.raises(FleetError, match="is a product with tiles of 16 x 16, 32 x 32, 64 x 64, 128 x 128; tile is"):
        jit(schedule=Schedule().kernel("matmul.0", tile=(8, 8)))(product).lower(A, A).text("opencl")


def test_a_target_refuses_what_it_cannot_choose() -> None:
    threads = Schedule().kernel("y", parallel=2)
    for target, schedule, words in (
        ("riscv", threads, "@jit, target riscv: kernel y cannot have parallel=2: one processor runs its code"),
        ("opencl", threads, "kernel y cannot have parallel=2: all its work items run side by side"),
        ("gpu", Schedule().kernel("y", vectorise=4), "kernel y cannot have vectorise=4: its compiler chooses vectors"),
        ("vm", Schedule().every(unroll=2), "@jit, target vm: it runs no loops that a schedule arranges"),
        ("hbm_small", threads, "@jit, target hbm_small: it runs no loops that a schedule arranges"),
    ):
        with pytest.raises(FleetError, match=words):
            jit(target=target, schedule=schedule)
        if target in ("riscv", "opencl"):
            with pytest.raises(FleetError, match=words):
                jit(target=target, tune=[Schedule(), schedule])
    assert np.array_equal(jit(target="riscv", schedule=Schedule().every(parallel=2, unroll=2))(chain)(A, A), chain(A, A))


def test_a_schedule_that_does_not_fit_is_no_reason_to_run_elsewhere() -> None:
    with pytest.raises(FleetError, match="no kernel has an operation z"):
        jit(schedule=Schedule().kernel("z", unroll=2))(chain)(A, A)

    @jit(schedule=Schedule().every(unroll=2))
    def placed(a):
        with fleet.device("riscv"):
            y = a + 1
        return y * 2

    with pytest.raises(FleetError, match="parts on devices have no schedule"):
        placed(A)


def test_a_model_of_a_file_has_a_schedule(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text('def f(x: "float32[64, 64]"):\n    return x * 2 + x.T\n')
    compiled = fleet.compile(f"{tmp_path}/m.py:f", inputs={"x": A}, schedule=Schedule().every(tile=(8, 8), parallel=2))
    assert "tile = array<i64: 8, 8>, parallel = 2 : i64" in compiled.text("loops")
    same_bits(compiled.run("llvm-cpu").outputs, compiled.run("vm").outputs, "llvm-cpu")


def test_fields_are_checked() -> None:
    for fields, words in (
        ({"unroll": 0}, "unroll is 0; expected a number from 1 to 64"), ({"parallel": 65}, "parallel is 65"),
        ({"vectorise": 3}, "a power of two"), ({"tile": (-1, 2)}, "a size for each axis"), ({"order": (1, 1)}, "each once"),
        ({"unroll": True}, "unroll is True"),
    ):  # fmt: skip
        with pytest.raises(FleetError, match=words):
            LoopSchedule(**fields)  # pyright: ignore[reportArgumentType]


def test_code_is_that_of_before_without_a_schedule() -> None:
    assert code(chain, Schedule()) == jit(target="riscv")(chain).lower(A, A).text("llvm")
