"""`fleet.jit`: what Python gives, compiled; CPython running the same function is the reference."""

from __future__ import annotations

import cmath
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import layers_elsewhere as elsewhere
import numpy as np
import pytest
from layers_elsewhere import scaled

from fleet import Tensor, jit
from fleet.compiler.decorator import JitFunction
from fleet.compiler.executables import TARGETS
from fleet.errors import FleetError, ModelError, SourceError

RNG = np.random.default_rng(0)
W = RNG.standard_normal((3, 4)).astype(np.float32)
BIAS = {"b": RNG.standard_normal(4).astype(np.float32), "more": [np.arange(4.0), 2]}
GAIN = 0.5


def same(found: Any, wanted: Any, *, exact: bool) -> None:
    """The same structure of the same types; arrays equal in every bit, or within float32 rounding of a short sum."""
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        found, wanted = tuple(found.values()), tuple(wanted.values())
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            same(f, w, exact=exact)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if exact or wanted.dtype.kind != "f":
            assert found.tobytes() == wanted.tobytes()
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    else:
        assert found == wanted


# ---- what can be compiled


def affine(x):
    return x @ W + BIAS["b"]


def softmax(x, axis=-1, *, scale=1.0):
    e = np.exp((x - x.max(axis=axis, keepdims=True)) * scale)
    return e / e.sum(axis=axis, keepdims=True)


def loops(x, n=3):
    parts = []
    for i in range(n):
        if i % 2:
            parts.append(x * i)
        else:
            parts.append(x + GAIN)
    return np.concatenate(parts, axis=0), {"n": n, "last": parts[-1].sum()}


def of_other_files(x):
    return scaled(x) + elsewhere.scaled(x) * elsewhere.EPS + math.pi + cmath.exp(0.5j).imag


def structures(params, x):
    y = x * params["scale"]
    for w in params["layers"]:
        y = np.tanh(y @ w)
    return [y, (y.mean(), None, "text", 3)]


def integers(x):
    i = np.argmax(x, axis=-1)
    return i, i.astype(np.int32) // 2, x > 0


X = RNG.standard_normal((2, 3)).astype(np.float32)
CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (affine, (X,), {}),
    (softmax, (X,), {}),
    (softmax, (X, 0), {"scale": 0.3}),
    (softmax, (np.float64(2.0) * X,), {"axis": 1}),
    (loops, (X,), {}),
    (loops, (X, 2), {}),
    (of_other_files, (X,), {}),
    (structures, ({"scale": np.float32(3.0), "layers": [W, W.T.copy()]}, X), {}),
    (integers, (X,), {}),
]


@pytest.mark.parametrize("target", ["cpu", "vm"])
@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0].__name__)
def test_results_are_those_of_python(call: tuple[Any, tuple[Any, ...], dict[str, Any]], target: str) -> None:
    function, args, kwargs = call
    compiled = jit(target=target)(function)
    for _ in range(2):
        same(compiled(*args, **kwargs), function(*args, **kwargs), exact=target == "vm")


def test_squares_of_bools_are_int8_for_arrays_and_int64_for_scalars() -> None:
    def squares(x, s):
        return x**2, s**2, x.any() ** 2

    for x in (np.array(True), np.array([True, False])):
        same(jit(target="vm")(squares)(x, np.True_), squares(x, np.True_), exact=True)


@pytest.mark.parametrize("target", ["cpu", "vm"])
def test_numbers_that_a_run_computes_are_pythons(target: str) -> None:
    def counted(x):
        return int(x.sum()), {"first": float(x[0]), "positive": bool(x[1] > 0)}

    same(jit(target=target)(counted)(np.arange(4.0)), counted(np.arange(4.0)), exact=True)


@pytest.mark.parametrize("target", ["vm", "interp", "cpu"])
def test_one_program_serves_every_size_of_a_dimension_that_stays_unknown(target: str) -> None:
    @jit(target=target, dynamic=["N"])
    def centred(x: "float32[N, 3]", w: "float32[3, K]"):  # noqa: F821, UP037
        return (x - x.mean(axis=0)) @ w, len(x)

    for n in (1, 4, 2):
        x = RNG.standard_normal((n, 3)).astype(np.float32)
        same(centred(x, W), centred.python(x, W), exact=target == "vm")
    assert [p.inputs[0].shape for p in centred.programs] == [(-1, 3)]
    centred(X, W[:, :1].copy())
    assert [p.inputs[1].shape for p in centred.programs] == [(3, 4), (3, 1)]


def test_a_tensor_may_leave_sizes_open() -> None:
    def added(a: Tensor((None, 3), "float32"), b: Tensor((None, 3), "float32")):
        return a.sum(axis=0) + b

    each, one = jit(added), jit(target="vm", dynamic=True)(added)
    for n in (1, 3):
        x, y = np.ones((n, 3), np.float32), np.ones((n + 1, 3), np.float32)
        same(each(x, y), added(x, y), exact=True)
        same(one(x, y), added(x, y), exact=True)
    assert (len(each.programs), len(one.programs)) == (2, 1)
    held = Tensor((None, 3))
    held.data = np.ones((7, 3), np.float32)
    assert str(held) == "float32[?, 3]"
    with pytest.raises(ModelError, match=r"declared float32\[\?, 3\], the data are float32\[7, 2\]"):
        held.data = np.ones((7, 2), np.float32)
    with pytest.raises(ModelError):
        each(np.ones((2, 2), np.float32), np.ones((2, 3), np.float32))


def test_a_target_that_needs_all_sizes_says_so() -> None:
    @jit(target="riscv", dynamic=True)
    def twice(x: "float32[N]"):  # noqa: F821, UP037
        return x + x

    with pytest.raises(FleetError, match="the size N is unknown, and code on riscv needs all sizes"):
        twice(np.ones(3, np.float32))


def test_data_that_do_not_fit_a_tensor_are_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"declared float32\[2, 3\], the data are float32\[3\]"):
        Tensor((2, 3)).data = np.ones(3, np.float32)


def test_the_source_as_python_dumps_and_visits_it() -> None:
    @jit
    def doubled(x):
        return x + x

    low = doubled.lower(X)
    assert low.text("ast-dump").startswith("Module(body=[FunctionDef(name='doubled', args=arguments(")
    assert low.text("visits").split("\n")[:4] == ["Visit Module", "Visit FunctionDef", "Visit arguments", "Visit arg"]


def test_dataflow_regions_end_where_something_is_printed_or_decided() -> None:
    @jit
    def shown(x):
        y = x + 1
        print(y)
        if y.sum() > 3:
            y = y - x
        return y * 2

    lines = shown.lower(X).text("dataflow").splitlines()
    assert lines.count("    dataflow {") == 3
    assert "      output %y" in lines


def test_riscv_runs_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    @jit(target="riscv")
    def shown(x):
        print(f"sum {x.sum():.2f}", x.shape)
        print(x)
        return x + 1

    result = shown(X)
    said = capsys.readouterr().out
    shown.python(X)
    assert said == capsys.readouterr().out
    same(result, X + 1, exact=True)


def test_dtypes_that_the_processor_lacks_fall_back_to_the_vm() -> None:
    @jit
    def doubled(x):
        return x + x

    half = np.ones(3, np.float16)
    same(doubled(half), half + half, exact=True)
    assert doubled.lower(half).engine == doubled.lower(X).engine == "llvm-cpu"
    turned = np.array([1j, 2.0, -1j])
    same(doubled(turned), turned + turned, exact=True)
    assert doubled.lower(turned).engine == "vm"


def test_on_riscv_the_host_computes_what_it_lacks() -> None:
    @jit(target="riscv")
    def solved(a, x):
        return np.linalg.solve(a, x) * 2 + x

    a, x = np.eye(3) * 2 + 0.1, np.arange(3.0)
    same(solved(a, x), np.linalg.solve(a, x) * 2 + x, exact=True)
    assert solved.lower(a, x).engine == "riscv"


def test_nothing_of_the_function_is_run() -> None:
    ran: list[int] = []

    def noted(x):
        ran.append(1)
        return x

    with pytest.raises(SourceError, match=r"test_jit.py:\d+:\d+: F504 the list `ran` outlives the call"):
        jit(noted)(X)
    assert not ran


# ---- seed 003, chapter by chapter


def test_the_chapters_of_seed_003(capsys: pytest.CaptureFixture[str]) -> None:
    @jit
    def printed():
        print("add")

    @jit()
    def nothing():
        pass

    @jit(target="cpu")
    def numbers():
        out = 1 + 1
        return out  # noqa: RET504

    @jit(target="cpu")
    def add(a: Tensor(shape=(2, 3), dtype="float32"), b: Tensor(shape=(2, 3), dtype="float32")):
        out = a + b
        out = out + a
        return out  # noqa: RET504

    assert printed() is None
    assert capsys.readouterr().out == "add\n"
    assert "FunctionDef" in printed.lower().text("ast")
    assert nothing() is None
    print(numbers())
    a = Tensor(shape=(2, 3), dtype="float32")
    b = Tensor(shape=(2, 3), dtype="float32")
    a.data = np.ones((2, 3), np.float32)
    b.data = np.ones((2, 3), np.float32)
    print(add(a, b))
    assert capsys.readouterr().out == "2\n[[3. 3. 3.]\n [3. 3. 3.]]\n"
    assert str(a) == "float32[2, 3]"
    with pytest.raises(ModelError, match="declared float32"):
        add(np.ones((3, 2), np.float32), b)


@pytest.mark.parametrize("target", [t for t, engine in TARGETS.items() if engine is None])
def test_targets_without_code_are_refused_in_one_line(target: str) -> None:
    with pytest.raises(FleetError, match=f"no code is made for {target}; choose among cpu, vm") as caught:
        jit(target=target)
    assert "\n" not in str(caught.value)
    with pytest.raises(FleetError, match="no target is called nonsense"):
        jit("nonsense")


def test_a_declared_tensor_checks_its_data() -> None:
    tensor = Tensor((2, 3), "float32")
    with pytest.raises(ModelError, match="has no data"):
        _ = tensor.data
    for wrong in (np.ones((2, 3)), np.ones((3, 2), np.float32)):
        with pytest.raises(ModelError, match=r"declared float32\[2, 3\]"):
            tensor.data = wrong
    with pytest.raises(ModelError, match="cannot be had"):
        Tensor((2,), "M8[s]")
    with pytest.raises(ModelError, match="no shape and dtype"):
        Tensor("ab")


class Foreign:
    """An array of another library: memory, and DLPack to share it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_come_by_dlpack() -> None:
    same(jit(affine)(Foreign(X)), jit(affine)(X), exact=True)


# ---- what is compiled again, and when


def test_one_program_a_signature() -> None:
    compiled = jit(loops)
    for _ in range(3):
        compiled(X)
    assert len(compiled.programs) == 1
    compiled(X, 3)  # the default's value
    assert len(compiled.programs) == 1
    compiled(X, 2)
    compiled(X.astype(np.float64))
    compiled(X[:1])
    assert len(compiled.programs) == 4
    assert [a.shape for a in compiled.programs[-1].inputs] == [(1, 3)]


def test_numbers_of_other_types_are_other_programs() -> None:
    @jit(target="vm")
    def times(x, n):
        return x * n

    ones = np.ones(2, np.int32)
    for n in (1, True, 1.0, np.float32(1), -0.0, 0.0):
        same(times(ones, n), times.python(ones, n), exact=True)
    assert len(times.programs) == 6


def test_weights_are_named_once_wherever_they_come_from() -> None:
    table = [np.ones(3), np.zeros(3)]

    def used(x):
        for _ in range(3):
            x = x * elsewhere.SCALE + table[1] + len(x) + scaled(x) + W.sum()
        return x + table[0]

    compiled = jit(target="vm")(used)
    same(compiled(X), used(X), exact=True)
    assert sorted(compiled.programs[0].weights) == ["SCALE", "W", "table.0", "table.1"]
    (versions,) = compiled._versions.values()
    assert len(versions[0].traced.watched.entries) == 8  # elsewhere, SCALE, table, scaled, EPS, W, range, len


def test_the_same_program_is_compiled_once() -> None:
    first, second = jit(target="vm")(affine), jit(target="vm")(affine)
    first(X), second(X)
    (a,), (b,) = first._versions.values(), second._versions.values()
    assert a[0].code is b[0].code


def test_changes_around_the_function_are_seen() -> None:
    global GAIN  # noqa: PLW0603
    kept = GAIN
    compiled = jit(loops)
    compiled(X)
    try:
        GAIN = 4.0
        same(compiled(X), loops(X), exact=True)
    finally:
        GAIN = kept
    same(compiled(X), loops(X), exact=True)
    assert len(compiled.programs) == 2  # the first is used again


def test_changes_in_arrays_lists_and_closures_are_seen() -> None:
    weights = {"w": np.ones(3, np.float32), "layers": [1, 2]}
    factor = 2

    @jit
    def scaled_sum(x):
        return (x * weights["w"]).sum(axis=0) * factor + len(weights["layers"])

    def check() -> None:
        same(scaled_sum(X), scaled_sum.python(X), exact=False)

    check()
    weights["w"][1] = 7
    check()
    weights["layers"].append(3)
    check()
    factor = 5
    check()
    weights["w"] = np.full(3, -1.0, np.float32)
    check()
    assert len(scaled_sum.programs) == 4  # at most so many are kept


def test_changed_defaults_and_functions_are_seen() -> None:
    def inner(x, by=1):
        return x + by

    @jit(target="vm")
    def outer(x):
        return inner(x)

    same(outer(X), X + 1, exact=True)
    inner.__defaults__ = (2,)
    same(outer(X), X + 2, exact=True)

    def inner(x):
        return x - 1

    same(outer(X), X - 1, exact=True)


def test_a_read_only_array_is_not_copied() -> None:
    frozen = np.arange(6.0).reshape(2, 3).copy()
    frozen.flags.writeable = False

    @jit(target="vm")
    def shifted(x):
        return x + frozen

    same(shifted(X), X + frozen, exact=True)
    assert shifted.programs[0].weights["frozen"] is frozen


def test_results_share_no_memory() -> None:
    @jit(target="vm")
    def views(x):
        return x, x.T, W, W[0], np.ones(2)

    for _ in range(2):
        for result in views(X):
            assert not np.shares_memory(result, X)
            assert not np.shares_memory(result, W)
            result[...] = 99
    same(views(X), views.python(X), exact=True)


def test_threads() -> None:
    compiled = jit(affine)
    inputs = [RNG.standard_normal((2, 3)).astype(np.float32) for _ in range(32)]
    barrier = threading.Barrier(4)

    def work(i: int) -> list[np.ndarray]:
        barrier.wait()
        return [compiled(x) for x in inputs[i::4]]

    with ThreadPoolExecutor(4) as pool:
        for i, found in enumerate(pool.map(work, range(4))):
            for f, x in zip(found, inputs[i::4], strict=True):
                same(f, affine(x), exact=False)
    assert len(compiled.programs) == 1


# ---- functions and names


def test_functions_call_each_other_compiled_or_not() -> None:
    inner = jit(affine)

    @jit
    def outer(x, f):
        return f(inner(x))

    same(outer(X, np.abs), np.abs(affine(X)), exact=False)
    same(outer(X, softmax), softmax(affine(X)), exact=False)


def test_closures_of_one_definition_are_different_functions() -> None:
    def layer(w, then):
        def apply(x):
            y = np.tanh(x @ w)
            return y if then is None else then(y)

        return apply

    model = layer(W, layer(W.T.copy(), None))
    same(jit(target="vm")(model)(X), model(X), exact=True)


def test_a_method_of_static_state_is_refused_and_a_static_method_is_not() -> None:
    class Model:
        @staticmethod
        @jit
        def pure(x):
            return x * 2

        @jit
        def bound(self, x):
            return x

    same(Model.pure(X), X * 2, exact=True)
    with pytest.raises(ModelError, match='argument "self" is an object of type Model'):
        Model().bound(X)


def test_lower_shows_every_stage() -> None:
    compiled = jit(affine)
    lowered = compiled.lower(X)
    for stage in ("token", "ast", "ir", "mlir", "vm", "bytecode", "riscv-asm"):
        assert lowered.text(stage).strip()
    assert "fleet.matmul" in lowered.text("ir")
    assert lowered.program is compiled.programs[0]
    same(lowered.run("interp").outputs["out0"], affine(X), exact=True)
    assert compiled.python is affine
    assert isinstance(compiled, JitFunction)
    assert compiled.__name__ == "affine"
