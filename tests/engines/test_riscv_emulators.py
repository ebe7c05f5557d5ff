"""One image on every emulator that is installed: the same bits and counts. Vector code: the same bits except for sums."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ir"))
from operations import CASES
from riscv_models import model

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE, run_image
from fleet.engines.riscv_emulators.base import EmulationError
from fleet.engines.riscv_emulators.boot import ASSEMBLY, BOOT
from fleet.engines.riscv_emulators.registry import EMULATORS, default_emulator, find_emulator
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, ModelError, SetupError
from fleet.ir.dialect import FLEET, SizedOp, kind_of
from fleet.ir.program import Program
from fleet.ir.types import element_type
from fleet.targets.riscv.compile import compile_riscv
from fleet.targets.riscv.elf import PF_X
from fleet.targets.riscv.isa import find_isa

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
OTHERS = [n for n in EMULATORS if n != "unicorn"]
needs_qemu = pytest.mark.skipif(EMULATORS["qemu"].available() is not None, reason="qemu-system-riscv64 is not installed")
RNG = np.random.default_rng(40)
IN_ORDER = {"reduce_sum", "mean", "var", "reduce_prod", "softmax", "layer_norm", "rms_norm", "attention"}
"""Operations whose sums vectors take in another order."""


SIZED = {kind_of(op) for op in FLEET.operations if issubclass(op, SizedOp)}
"""Operations whose sizes only the run knows: refused here, as memory is planned before the run."""
STATIC = [case for case in CASES if case.name not in SIZED and not case.by_numpy_alone]


def every_case() -> tuple[Program, dict[str, np.ndarray]]:
    """All cases of the IR's tests in one program."""
    arrays = {
        f"x{i}_{j}": np.asarray(v)
        for i, case in enumerate(STATIC)
        for j, v in enumerate(case.operands)
        if not isinstance(v, bool | int | float)
    }

    def body(m: Any, *values: Any) -> list[Any]:
        named = dict(zip(arrays, values, strict=True))
        found: list[Any] = []
        for i, case in enumerate(STATIC):
            operands = [
                named.get(f"x{i}_{j}") or m.constant(v, element_type("float64" if isinstance(v, float) else "int64"))
                for j, v in enumerate(case.operands)
            ]
            found.append(m(case.name, *operands, id=f"{case.name}.{i}", **case.attributes))
        return found

    return model(arrays, body), arrays


def wide() -> tuple[Program, dict[str, np.ndarray]]:
    """Operations on sizes that fill vectors and leave something over, of all dtypes."""
    arrays: dict[str, np.ndarray] = {
        "x": RNG.standard_normal((5, 75)).astype(np.float32) * 4,
        "y": RNG.standard_normal((5, 75)) * 4,
        "n": RNG.integers(-90, 90, (5, 75)),
        "k": RNG.integers(-90, 90, (75,)).astype(np.int32),
        "w": RNG.standard_normal((75, 83)).astype(np.float32),
        "q": RNG.standard_normal((11, 24)).astype(np.float32),
        "big": RNG.standard_normal((3, 2, 300)).astype(np.float32),
    }
    arrays["x"][1, 3], arrays["x"][2, 70], arrays["y"][0, 5] = np.nan, np.inf, -np.inf

    def body(m: Any, x: Any, y: Any, n: Any, k: Any, w: Any, q: Any, big: Any) -> list[Any]:
        clean = m("where", m("isnan", x), k, m("minimum", x, m.constant(9.0, element_type("float64"))), id="where")
        single = m("cast", clean, dtype="float32")
        found = [clean, single]
        for name in ("exp", "tanh", "erf", "sigmoid", "silu", "sin", "floor", "rint", "sign", "abs", "expm1"):
            found += [m(name, single if name == "sin" else x), m(name, y if name not in ("sin", "silu", "sigmoid") else single)]
        for name in ("log", "log1p", "sqrt", "rsqrt"):
            found += [m(name, m("abs", x)), m(name, m("abs", y))]
        found += [m(name, a, b) for name in ("add", "div", "maximum", "less", "equal", "pow") for a, b in ((x, y), (single, k))]
        found += [m(name, n, m("maximum", k, m("abs", k))) for name in ("floor_div", "mod", "mul", "less", "minimum")]
        for name in ("reduce_sum", "reduce_max", "reduce_min", "mean", "var", "reduce_prod"):
            found += [m(name, big, axes=axes, keepdims=False) for axes in ([2], [0, 2], [1], [0, 1, 2])]
        found += [m(name, n, axes=[1], keepdims=True) for name in ("reduce_any", "reduce_all", "reduce_max", "reduce_sum")]
        found += [m("argmax", x, axis=1), m("argmin", n, axis=0), m("cumsum", n, axis=0), m("cumsum", x, axis=1)]
        found += [
            m("matmul", single, w),
            m("matmul", m("transpose", w, permutation=[1, 0]), m("transpose", single, permutation=[1, 0])),
        ]
        found += [m("matmul", y, w), m("matmul", n, m("transpose", n, permutation=[1, 0]))]
        found += [m("softmax", big, axis=2), m("softmax", x, axis=1), m("softmax", big, axis=0), m("softmax", y, axis=1)]
        flat = m("slice", big, start=[0, 0, 0], size=[1, 1, 75])
        gamma = m("reshape", flat, shape=[75])
        found += [m("layer_norm", single, gamma, gamma, eps=1e-5), m("rms_norm", single, gamma, eps=1e-5)]
        found += [m("gelu", x, approximate=a) for a in ("tanh", "erf")] + [m("gelu", y, approximate="tanh")]
        found += [
            m("linear", single, w, m("slice", w, start=[1, 0], size=[1, 83]), activation=a) for a in ("gelu_tanh", "silu", "relu")
        ]
        found += [m("attention", q, q, q, heads=3, kv_heads=3, scale=0.3, causal=c) for c in (True, False)]
        found += [m("concat", x, x, axis=1), m("gather", w, m("sign", n)), m("cast", n, dtype="bool")]
        return [f for f in found if f is not None]

    return model(arrays, body), arrays


def run(program: Program, inputs: dict[str, np.ndarray], isa: str, emulator: str | None = None) -> Trace:
    return ENGINE.run(program, inputs, RunOptions(riscv={"isa": isa} | ({"emulator": emulator} if emulator else {})))


@pytest.mark.parametrize("emulator", OTHERS)
@pytest.mark.parametrize("make", [every_case, wide])
def test_the_same_bits_and_counts_as_unicorn(emulator: str, make: Any) -> None:
    if reason := EMULATORS[emulator].available():
        pytest.skip(reason)
    program, inputs = make()
    first, second = run(program, inputs, "rv64gc"), run(program, inputs, "rv64gc", emulator)
    cycles = second.counters.pop("estimated_cycles", None)
    assert (cycles is None) == (emulator != "rvsim")
    assert first.counters == second.counters
    assert first.counters["instructions"] > 10000
    assert {i: t.tobytes() for i, t in first.tensors.items()} == {i: t.tobytes() for i, t in second.tensors.items()}
    assert first.meta["image_hash"] == second.meta["image_hash"]
    assert emulator in second.meta["emulator"]


@needs_qemu
@pytest.mark.parametrize("isa", ["rv64gcv", "rv64gcv_zvl128b", "rv64gcv_zvl1024b"])
@pytest.mark.parametrize("make", [every_case, wide])
def test_vectors_give_the_scalar_code_s_bits_except_for_sums(make: Any, isa: str) -> None:
    program, inputs = make()
    scalar, vectors = run(program, inputs, "rv64gc"), run(program, inputs, isa)
    compared = 0
    for id_, want in scalar.tensors.items():
        got = vectors.tensors[id_]
        if id_.rpartition(".")[0] in IN_ORDER and want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6, err_msg=id_)
        else:
            np.testing.assert_array_equal(got, want, err_msg=id_)
            compared += want.size
    assert compared > 500
    if make is wide:
        assert vectors.counters["instructions"] < scalar.counters["instructions"]


@needs_qemu
def test_a_longer_register_runs_the_code_of_a_shorter_one() -> None:
    program, inputs = wide()
    compiled = compile_riscv(program, isa=find_isa("rv64gcv_zvl128b"))
    short, long = (
        run_image(compiled, compiled.elf, inputs, emulator=find_emulator("qemu").make(find_isa(isa)))
        for isa in ("rv64gcv_zvl128b", "rv64gcv_zvl512b")
    )
    assert {i: t.tobytes() for i, t in short.tensors.items()} == {i: t.tobytes() for i, t in long.tensors.items()}
    # What LLVM itself vectorises takes the length that it finds.
    assert all(long.counters[name] <= count for name, count in short.counters.items())


@needs_qemu
def test_vector_code_is_at_least_three_times_shorter() -> None:
    a, b = RNG.standard_normal((16, 64)).astype(np.float32), RNG.standard_normal((64, 64)).astype(np.float32)

    def body(m: Any, x: Any, w: Any) -> list[Any]:
        return [m("matmul", x, w), m("softmax", w, axis=1), m("gelu", w, approximate="tanh"), m("add", w, w)]

    program = model({"x": a, "w": b}, body)
    scalar, vectors = (run(program, {"x": a, "w": b}, isa).counters for isa in ("rv64gc", "rv64gcv"))
    for name, count in scalar.items():
        assert count >= 3 * vectors[name], name


def endless() -> tuple[Any, bytes, dict[str, np.ndarray]]:
    x = np.ones(4, np.float32)
    compiled = compile_riscv(model({"x": x}, lambda m, a: m("exp", a, id="e")))
    return compiled, compiled.elf, {"x": x}


@needs_qemu
def test_a_bad_index_and_a_crash_are_told_as_with_unicorn() -> None:
    arrays = {"x": np.zeros((3, 2), np.float32), "i": np.array([0, 7])}
    program = model(arrays, lambda m, x, i: m("gather", x, i, id="bad"))
    with pytest.raises(ModelError, match="operation bad: index 7 is out of bounds"):
        run(program, arrays, "rv64gcv")
    compiled, image, inputs = endless()
    segment = next(s for s in compiled.image.segments if s.flags & PF_X)
    place = image.index(segment.data) + compiled.symbols[compiled.operations[0].body].address - segment.address
    for word, match in ((0xFFFFFFFF, "illegal instruction"), (0x00002003, "read of unmapped memory")):
        broken = image[:place] + struct.pack("<I", word) + image[place + 4 :]
        with pytest.raises(EmulationError, match=match) as caught:
            run_image(compiled, broken, inputs, emulator=find_emulator("qemu").make(find_isa("rv64gc")))
        assert "operation e crashed" in str(caught.value)


def test_names_are_checked() -> None:
    for name in ("rv64g", "rv64gcv_zvl64b", "rv64gcv_zvl300b", ""):
        with pytest.raises(DeviceError, match="is not supported"):
            find_isa(name)
    assert find_isa("rv64gcv") == find_isa("rv64gcv_zvl256b")
    with pytest.raises(SetupError, match="no RISC-V emulator"):
        find_emulator("bochs")
    with pytest.raises(SetupError, match="has no vector instructions"):
        find_emulator("unicorn").make(find_isa("rv64gcv"))
    assert default_emulator(find_isa("rv64gcv")).name == "qemu"
    assert default_emulator(find_isa("rv64gc")).name == "unicorn"


@pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")
def test_boot_words_are_their_text(tmp_path: Path) -> None:
    source, target = tmp_path / "boot.s", tmp_path / "boot.o"
    source.write_text(ASSEMBLY)
    command = ["clang-22", "--target=riscv64-unknown-elf", "-march=rv64g", "-mno-relax", "-c", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    assert BOOT in target.read_bytes()
