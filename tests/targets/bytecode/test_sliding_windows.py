"""Windows of convolutions in one step against pad, reshape and gather, to the bit, in every variant that this machine runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.sdk import native
from fleet.targets.bytecode import VM, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.generated.steps import GeneratedCode
from fleet.targets.bytecode.kernels import windows
from fleet.targets.bytecode.kernels.windows import SlidingWindows
from fleet.targets.bytecode.opcodes import OpCode as Op

VARIANTS = (*native.variants(), "numpy")
SPECIAL = np.array([0x7FC00001, 0x7F800001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 1, 0x80000001], np.uint32)
"""NaNs with payloads, quiet and signalling, infinities, -0.0, subnormals."""


@pytest.fixture(autouse=True)
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small windows too."""
    monkeypatch.setattr(windows, "_LEAST", 1)


def spelled(shape: tuple[int, ...], dtype: str) -> str:
    return "x".join([*map(str, shape), dtype])


def module(
    shape: tuple[int, ...], low: list[int], high: list[int], dtype: str, table: tuple[int, ...], *, shown: str = ""
) -> ByteCodeModule:
    """Pad (if there is any), reshape, gather; `shown`: an operation whose result is an output too."""
    padded = tuple(n + a + b for n, a, b in zip(shape, (0, 0, *low), (0, 0, *high), strict=True))
    flat = (*padded[:2], padded[2] * padded[3])
    widths = ["_".join(map(str, (0, 0, *side))) for side in (low, high)]
    consts = [
        f"device_pad_sig_r{'f' if dtype == 'f32' else 'i'}_r_ins_{spelled(shape, dtype)}_{dtype}_outs_{spelled(padded, dtype)}"
        f"_low_{widths[0]}_high_{widths[1]}",
        f"device_reshape_sig_r_r_ins_{spelled(padded, dtype)}_outs_{spelled(flat, dtype)}",
        f"device_gather_sig_rr_r_ins_{spelled(flat, dtype)}_{spelled(table, 'i64')}"
        f"_outs_{spelled((*flat[:2], *table), dtype)}_axis_2",
    ]
    code: list[int] = [Op.aload_0]
    names = ("reshape", "gather")
    if any((*low, *high)):
        names = ("pad", *names)
        code += [Op.aload_1, Op.invokestatic, 0]
    code += [Op.astore, 4, Op.aload, 4, Op.invokestatic, 1, Op.astore, 5, Op.aload, 5, Op.aload_2, Op.invokestatic, 2, Op.astore_3]
    arguments = (
        ArgumentSlot("x", "input", shape, {"f32": "float32", "i32": "int32"}[dtype]),
        ArgumentSlot("fill", "input", (), {"f32": "float32", "i32": "int32"}[dtype]),
        ArgumentSlot("table", "input", table, "int64"),
    )
    outputs = [OutputSlot("y", 3, spelled((*flat[:2], *table), dtype))]
    if shown:
        outputs.append(
            OutputSlot("shown", {"pad": 4, "reshape": 5}[shown], spelled({"pad": padded, "reshape": flat}[shown], dtype))
        )
    return ByteCodeModule(consts, code, "python", 6, names, arguments, tuple(outputs))


def places(
    padded: tuple[int, int], kernel: tuple[int, int], strides: tuple[int, int], dilations: tuple[int, int]
) -> np.ndarray | None:
    """The table [window, places]; None if the window does not fit."""
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(padded, reach, strides, strict=True)]
    if min(n - r for n, r in zip(padded, reach, strict=True)) < 0:
        return None
    rows = [
        [
            (ky * dilations[0] + y * strides[0]) * padded[1] + kx * dilations[1] + x * strides[1]
            for y in range(counts[0])
            for x in range(counts[1])
        ]
        for ky in range(kernel[0])
        for kx in range(kernel[1])
    ]
    return np.array(rows, np.int64)


def runs(made: ByteCodeModule, inputs: dict[str, np.ndarray]) -> tuple[VM, dict[str, np.ndarray]]:
    """The run without observers, held to the run that is observed, which takes the steps one by one."""
    vm = VM(made)
    found, expected = vm.run(inputs), vm.run(inputs, tensors={})
    for name, value in found.items():
        assert (value.dtype, value.shape) == (expected[name].dtype, expected[name].shape)
        assert value.tobytes() == expected[name].tobytes()
    return vm, found


def joined(vm: VM) -> int:
    code = vm._generated  # pyright: ignore[reportPrivateUsage]
    assert isinstance(code, GeneratedCode)
    return sum(isinstance(s.function, SlidingWindows) for b in code._blocks for s in b.steps)  # pyright: ignore[reportPrivateUsage]


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    bits = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), bits)
    return bits.view({"f32": np.float32, "i32": np.int32}[dtype])


PAIR = st.tuples(st.integers(1, 4), st.integers(1, 4))
PADS = st.tuples(st.integers(0, 3), st.integers(0, 3))


@pytest.mark.parametrize("variant", VARIANTS)
def test_windows_are_pad_and_take(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, variant)

    @settings(max_examples=80, deadline=None)
    @given(
        st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 9), st.integers(1, 40)),
        PAIR, PAIR, PAIR, PADS, PADS, st.sampled_from(["f32", "i32"]), st.integers(0, 2**32 - 1),
    )  # fmt: skip
    def check(
        shape: tuple[int, int, int, int],
        kernel: tuple[int, int],
        strides: tuple[int, int],
        dilations: tuple[int, int],
        low: tuple[int, int],
        high: tuple[int, int],
        dtype: str,
        seed: int,
    ) -> None:
        padded = (shape[2] + low[0] + high[0], shape[3] + low[1] + high[1])
        table = places(padded, kernel, strides, dilations)
        if table is None:
            return
        rng = np.random.default_rng(seed)
        inputs = {"x": drawn(rng, shape, dtype), "fill": drawn(rng, (1,), dtype).reshape(()), "table": table}
        vm, found = runs(module(shape, list(low), list(high), dtype, table.shape), inputs)
        assert joined(vm) == 1
        wide = np.full((*shape[:2], *padded), inputs["fill"], inputs["x"].dtype)
        wide[:, :, low[0] : low[0] + shape[2], low[1] : low[1] + shape[3]] = inputs["x"]
        assert found["y"].tobytes() == np.take(wide.reshape(*shape[:2], -1), table, 2).tobytes()

    check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_table_and_one_that_changes(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that no window has takes NumPy's path, also where its array held a window's before."""
    monkeypatch.setenv(native.VARIABLE, variant)
    table = places((8, 22), (3, 3), (1, 1), (1, 1))
    assert table is not None
    rng = np.random.default_rng(3)
    inputs = {"x": drawn(rng, (1, 4, 6, 20), "f32"), "fill": np.array(-0.0, np.float32), "table": table}
    made = module((1, 4, 6, 20), [1, 1], [1, 1], "f32", table.shape)
    vm, before = runs(made, inputs)
    for place, value in (((4, 7), 70), ((0, 0), 71), ((8, 119), 93), ((2, 3), 95 - 8 * 22)):
        changed, table[place] = int(table[place]), value
        found = vm.run(inputs)["y"]
        assert found.tobytes() == vm.run(inputs, tensors={})["y"].tobytes()
        assert found.tobytes() != before["y"].tobytes()
        table[place] = changed
    assert vm.run(inputs)["y"].tobytes() == before["y"].tobytes()
    table[:] = rng.integers(0, 8 * 22, table.shape)
    runs(made, inputs)


@pytest.mark.parametrize("shown", ["pad", "reshape"])
def test_steps_whose_results_are_read_elsewhere_stay(shown: str) -> None:
    table = places((8, 22), (3, 3), (1, 1), (1, 1))
    assert table is not None
    inputs = {"x": drawn(np.random.default_rng(4), (1, 4, 6, 20), "f32"), "fill": np.array(7, np.float32), "table": table}
    vm, _ = runs(module((1, 4, 6, 20), [1, 1], [1, 1], "f32", table.shape, shown=shown), inputs)
    assert joined(vm) == (1 if shown == "pad" else 0)


@pytest.mark.skipif(not native.variants(), reason="nothing can be compiled here")
def test_layouts_that_are_not_contiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    table = places((8, 22), (3, 3), (2, 2), (1, 1))
    assert table is not None
    x = drawn(np.random.default_rng(5), (1, 4, 20, 6), "f32").swapaxes(2, 3)
    made = module((1, 4, 6, 20), [1, 1], [1, 1], "f32", table.shape)
    runs(made, {"x": x, "fill": np.array(0, np.float32), "table": table})
