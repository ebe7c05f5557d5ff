"""Values go after their last use, memory is reused only where nobody can see it, and the profile counts what ran."""

from __future__ import annotations

import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.bytecode.profile import Profile

N = 1 << 17
TYPE = f"{N}xf32"
UNARY = f"device_watch_sig_r_r_ins_{TYPE}_outs_{TYPE}"
ADD = f"device_add_sig_rr_r_ins_{TYPE}_{TYPE}_outs_{TYPE}"


class Watcher:
    """An operator that copies its operand and remembers which of its results are still there at each call."""

    def __init__(self) -> None:
        self.results: list[weakref.ref] = []
        self.alive: list[int] = []

    def __call__(self, _info):
        def run(x):
            self.alive.append(sum(r() is not None for r in self.results))
            result = x.copy()
            self.results.append(weakref.ref(result))
            return result

        return run


def chain(length: int) -> ByteCodeModule:
    code: list[int] = []
    for i in range(length):
        code += [Op.aload, i, Op.invokestatic, 0, Op.astore, i + 1]
    names = tuple(f"op{i}" for i in range(length))
    return ByteCodeModule([UNARY], code, "python", length + 1, names, (ArgumentSlot("x", "input", (N,), "float32"),),
                          (OutputSlot("y", length, TYPE),))  # fmt: skip


def test_only_what_is_still_needed_is_alive() -> None:
    x = {"x": np.zeros(N, np.float32)}
    for arguments in ({}, {"tensors": {}, "keep": []}, {"profile": Profile()}):
        watch = Watcher()
        VM(chain(6), operators={"watch": watch}).run(x, **arguments)
        assert watch.alive == [0, 1, 1, 1, 1, 1]


def test_only_the_tensors_that_are_asked_for_stay() -> None:
    watch, tensors = Watcher(), {}
    VM(chain(6), operators={"watch": watch}).run({"x": np.zeros(N, np.float32)}, tensors=tensors, keep={"op1", "op4"})
    assert sorted(tensors) == ["op1", "op4"]
    assert watch.alive == [0, 1, 1, 2, 2, 2]


def test_values_die_on_the_way_that_does_not_need_them() -> None:
    """Slot 1 is used on one side of a branch only: on the other it goes when the side is entered."""
    flag = "device_flag_sig_r_b_ins_1xi1_outs_i1"
    code = [Op.aload_0, 12, 0, Op.astore_1, Op.aload, 4, 12, 1, Op.if_true, 14, Op.aload_1, Op.astore_2, Op.goto, 16]
    code += [Op.aload_0, Op.astore_2, Op.aload_0, 12, 0, Op.astore_3]
    arguments = (ArgumentSlot("x", "input", (N,), "float32"), *(ArgumentSlot(f"u{i}", "input", (0,), "float32") for i in range(3)),
                 ArgumentSlot("c", "input", (1,), "bool"))  # fmt: skip
    module = ByteCodeModule([UNARY, flag], code, "python", 5, (), arguments, (OutputSlot("y", 3, TYPE),))
    empty = {f"u{i}": np.zeros(0, np.float32) for i in range(3)}
    for truth, alive in ((True, [0, 0]), (False, [0, 0])):
        watch = Watcher()
        operators = {"watch": watch, "flag": lambda _info: lambda c: bool(c[0])}
        VM(module, operators=operators).run({"x": np.zeros(N, np.float32), "c": np.array([truth]), **empty})
        assert watch.alive == alive


TEXT = """import numpy as np
def forward(x: "f32[512, 512]", w: "f32[512, 512]"):
    h = x
    h = np.tanh(h @ w) * 0.5 + h
    h = np.exp(h - h.max(axis=1, keepdims=True))
    h = h / h.sum(axis=1, keepdims=True)
    g = 0.5 * h * (1 + np.tanh(0.8 * (h + 0.04 * h ** 3)))
    v = g.reshape(512, 2, 256).transpose(1, 0, 2)
    g = g * 2.0 + g
    return (v[0] @ v[1].T) + g, v * 1.5
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.py"
    path.write_text(TEXT)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((512, 512)).astype(np.float32) for _ in range(2))
    scope: dict = {}
    exec(TEXT, scope)
    return load(f"{path}:forward", {"w": w}, {"x": x}), scope["forward"], x, w


def peak(run) -> int:
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_peak_memory_is_that_of_numpy(model) -> None:
    program, function, x, w = model
    vm = VM(ByteCodeConverter(program).convert())
    assert peak(lambda: vm.run({"x": x})) <= 1.2 * peak(lambda: function(x, w))


def test_reuse_of_memory_changes_no_bit(model) -> None:
    program, function, x, w = model
    before = x.copy(), w.copy()
    vm = VM(ByteCodeConverter(program).convert())
    tensors: dict[str, np.ndarray] = {}
    slow = vm.run({"x": x}, tensors=tensors)
    first = {k: v.copy() for k, v in tensors.items()}
    for _ in range(2):
        fast = vm.run({"x": x})
        for a, b, c in zip(fast.values(), slow.values(), function(x, w), strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)
    for name, value in first.items():
        np.testing.assert_array_equal(tensors[name], value)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(w, before[1])


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_aliases_are_never_written_over(data) -> None:
    """Random sums over values and their views: each result is what a fresh evaluation gives."""
    side = 1 << 9
    square = f"{side}x{side}xf32"
    consts = [f"device_add_sig_rr_r_ins_{square}_{square}_outs_{square}",
              f"device_transpose_sig_r_r_ins_{square}_outs_{square}_permutation_1_0",
              f"device_tanh_sig_r_r_ins_{square}_outs_{square}"]  # fmt: skip
    code, values = [], [np.full((side, side), 0.25, np.float32) + np.arange(side, dtype=np.float32)]
    x = values[0].copy()
    for slot in range(1, data.draw(st.integers(2, 7))):
        a, b = (data.draw(st.integers(max(0, slot - 3), slot - 1)) for _ in range(2))
        which = data.draw(st.integers(0, 2))
        code += [Op.aload, a, *([Op.aload, b] if which == 0 else []), Op.invokestatic, which, Op.astore, slot]
        values.append(values[a] + values[b] if which == 0 else values[a].T if which == 1 else np.tanh(values[a]))
    outputs = tuple(OutputSlot(f"s{i}", i, square) for i in {len(values) - 1, data.draw(st.integers(0, len(values) - 1))})
    module = ByteCodeModule(
        consts, code, "python", len(values), (), (ArgumentSlot("x", "input", (side, side), "float32"),), outputs
    )
    found = VM(module).run({"x": x})
    for output in outputs:
        np.testing.assert_array_equal(found[output.name], values[output.slot])
    np.testing.assert_array_equal(x, values[0])


def test_a_profile_counts_what_ran(model) -> None:
    program, _, x, _ = model
    profile = Profile()
    vm = VM(ByteCodeConverter(program).convert())
    for _ in range(2):
        vm.run({"x": x}, profile=profile)
    rows = {r.name: r for r in profile.operators()}
    assert rows["tanh"].calls == 4
    assert rows["matmul"].calls == 4
    # 512 x 512 squares in and out of h @ w; the other has operands of 512 x 256
    assert rows["matmul"].nbytes == 2 * 4 * (3 * 512 * 512 + 2 * 512 * 256 + 512 * 512)
    assert all(r.seconds > 0 for r in rows.values())
    assert list(rows) == [r.name for r in sorted(rows.values(), key=lambda r: -r.seconds)]
    assert sum(r.calls for r in profile.operations.values()) == sum(r.calls for r in rows.values())
    lines = profile.table().splitlines()
    assert lines[0].split() == ["operation", "calls", "time", "ms", "share", "bytes"]
    assert lines[-1].split()[0] == "all"
    assert lines[-1].split()[3] == "100.0%"
    assert len({len(line) for line in lines}) == 1


def test_the_profile_names_operations(model) -> None:
    profile = Profile()
    VM(chain(2), operators={"watch": Watcher()}).run({"x": np.zeros(N, np.float32)}, profile=profile)
    assert {n: (r.operator, r.calls, r.nbytes) for n, r in profile.operations.items()} == {
        f"op{i}": ("watch", 1, 2 * 4 * N) for i in range(2)
    }
