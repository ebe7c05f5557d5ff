"""The `riscv` engine as a whole: counts, reproducibility, the digits model, refusals, crashes and planted faults."""

from __future__ import annotations

import dataclasses
import importlib
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from riscv_models import Body, Maker, model, run

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE, run_image
from fleet.engines.riscv_emulators.base import EmulationError
from fleet.engines.riscv_emulators.unicorn import UnicornEmulator
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, FleetError, ModelError, SetupError
from fleet.frontend.source import load
from fleet.ir import dialect as d
from fleet.ir.program import Program
from fleet.ir.types import tensor_type
from fleet.targets.riscv.compile import RiscvProgram, compile_riscv
from fleet.targets.riscv.elf import PF_X

EXAMPLES = Path(__file__).parents[2] / "examples"
RNG = np.random.default_rng(30)
ARRAYS = {"x": RNG.standard_normal((5, 9), np.float32), "w": RNG.standard_normal((9, 6), np.float32)}


def layer(m: Maker, x: Any, w: Any) -> list[Any]:
    """Products, a function, a constant, a reduction: several operations with different blocks."""
    h = m("matmul", x, w, id="h")
    scaled = m("mul", h, m.constant(3.0, tensor_type((6,), "float32")), id="scaled")
    return [m("tanh", scaled, id="t"), m("argmax", scaled, axis=1, id="class")]


def compiled() -> RiscvProgram:
    return compile_riscv(model(ARRAYS, layer, weights=["w"]))


def bits(trace: Trace) -> dict[str, bytes]:
    return {id_: tensor.tobytes() for id_, tensor in trace.tensors.items()}


def single_steps(program: RiscvProgram, inputs: dict[str, np.ndarray]) -> Counter[str]:
    """Instructions by function, one event an instruction, on a machine set up here and not by the engine.

    What a shared function ("fn_...") retires belongs to the function that entered it.
    """
    u: Any = importlib.import_module("unicorn")
    r: Any = importlib.import_module("unicorn.riscv_const")
    machine = u.Uc(u.UC_ARCH_RISCV, u.UC_MODE_RISCV64)
    for segment in program.image.segments:
        machine.mem_map(segment.address, -(-segment.size // 4096) * 4096)
        machine.mem_write(segment.address, segment.data)
    for region in program.plan.regions:
        machine.mem_map(region.address, region.size)
    for name, array in {**program.program.weights, **inputs}.items():
        buffer = program.plan.weights.get(name) or program.plan.inputs[name]
        machine.mem_write(buffer.address, array.tobytes())
    stop = 0x1000
    machine.mem_map(stop, 4096)
    machine.reg_write(r.UC_RISCV_REG_MSTATUS, 0x6600)
    machine.reg_write(r.UC_RISCV_REG_SP, program.plan.stack[1])
    machine.reg_write(r.UC_RISCV_REG_RA, stop)
    functions = [s for s in program.image.symbols if s.function]
    found: Counter[str] = Counter()
    current = ""

    def step(_machine: Any, address: int, _size: int, _data: object) -> None:
        nonlocal current
        (name,) = [s.name for s in functions if s.address <= address < s.address + s.size]
        current = current if name.startswith("fn_") else name
        found[current] += 1

    machine.hook_add(u.UC_HOOK_CODE, step)
    machine.emu_start(program.image.entry, stop)
    return found


def many(m: Maker, x: Any, w: Any) -> list[Any]:
    """Over 4 KiB of code, so that instructions cross pages, with loops, branches and divisions of all kinds."""
    h = m("matmul", x, w)
    twin = m("matmul", x, w)  # the same code as the line before
    found = [m(name, h) for name in ("exp", "tanh", "abs", "neg", "log", "sqrt")]
    total = m("concat", *found, axis=0)
    whole = m("cast", m("maximum", h, m.constant(0.0, tensor_type((), "float32"))), dtype="int64")
    rows = m("argmax", m("transpose", h, permutation=[1, 0]), axis=1)
    powers = [m("pow", found[0], h), m("pow", whole, whole), m("gather", h, rows)]
    wide = m("cast", h, dtype="float64")
    again = m("cast", found[1], dtype="float64")
    doubles = [
        m("add", again, again),
        m("exp", wide),
        m("pow", m("abs", wide), wide),
        m("div", wide, m("tanh", wide)),
        m("matmul", x, m("cast", w, dtype="float64")),
    ]
    return [m("var", total, axes=[0], keepdims=True), m("mean", whole, axes=[0, 1], keepdims=False), *powers, *doubles, twin]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("body", [layer, many])
def test_counts_equal_single_stepping(body: Body) -> None:
    program = compile_riscv(model(ARRAYS, body, weights=["w"]))
    inputs = {"x": ARRAYS["x"]}
    trace = run_image(program, program.elf, inputs)
    steps = single_steps(program, inputs)
    assert trace.counters["instructions"] == steps.total() > 1000
    for operation in program.operations:
        count = trace.counters[f"instructions.{operation.id}"]
        assert count == steps[operation.symbol] > 0
        assert count <= operation.work, "the estimate that limits a run is an upper bound"
    for id_ in program.views:
        assert trace.counters[f"instructions.{id_}"] == 0
    assert body is layer or len({o.body for o in program.operations}) < len(program.operations), "nothing is shared"
    assert trace.counters["instructions"] == steps["fleet_main"] + sum(steps[o.symbol] for o in program.operations)
    assert body is layer or len(program.image.segments[0].data) > 4096


def test_runs_repeat_in_bits_and_counts() -> None:
    first, second = (run(ARRAYS, layer, weights=["w"]) for _ in range(2))
    assert bits(first) == bits(second)
    assert first.counters == second.counters
    assert first.meta == second.meta
    assert first.complete
    assert set(first.tensors) == {"h", "constant.1", "scaled", "t", "class"}


def test_code_does_not_depend_on_weights(tmp_path: Path) -> None:
    other = {**ARRAYS, "w": ARRAYS["w"] + 1}
    programs = [compile_riscv(model(a, layer, weights=["w"]), cache=tmp_path) for a in (ARRAYS, other)]
    assert programs[0].elf == programs[1].elf
    traces = [run_image(p, p.elf, {"x": ARRAYS["x"]}) for p in programs]
    assert bits(traces[0]) != bits(traces[1])
    assert traces[0].program_hash != traces[1].program_hash


def digits(count: int) -> tuple[Program, dict[str, np.ndarray]]:
    weights = dict(np.load(EXAMPLES / "digits" / "weights.npz"))
    test = np.load(EXAMPLES / "digits" / "test.npz")
    inputs = {"x": np.resize(test["x"].astype(np.float32), (count, 64))}
    return load(f"{EXAMPLES / 'digits' / 'model.py'}:forward", weights, inputs), inputs


def test_digits_predict_what_numpy_predicts() -> None:
    program, inputs = digits(360)
    messages: list[tuple[float, str]] = []
    trace = ENGINE.run(program, inputs, RunOptions(progress=lambda part, text: messages.append((part, text))))
    w = program.weights
    x = inputs["x"]
    h1 = np.maximum(x @ w["w1"] + w["b1"], 0)
    h2 = np.maximum(h1 @ w["w2"] + w["b2"] + h1, 0)
    logits = h2 @ w["w3"] + w["b3"]
    got, classes = trace.outputs.values()
    np.testing.assert_array_equal(classes, np.argmax(logits, axis=-1))
    np.testing.assert_allclose(got, logits, atol=1e-4)
    assert got.dtype == np.float32
    assert classes.dtype == np.int64
    assert all(0 <= part <= 1 for part, _ in messages)
    assert trace.counters["instructions"] > 360 * 64 * 128


def test_outputs_may_be_arguments_and_prints_are_kept() -> None:
    def body(m: Maker, a: Any) -> list[Any]:
        b = m("add", a, a)
        m.print(a, b)
        m.print(m("reduce_sum", b, axes=[0], keepdims=False))
        return [a, b]

    x = np.arange(3, dtype=np.int64)
    trace = run({"x": x}, body)
    np.testing.assert_array_equal(trace.outputs["out0"], x)
    assert trace.meta["stdout"] == "[0 1 2] [0 2 4]\n6\n"
    assert "print.1" not in trace.tensors


def test_formatted_prints_look_as_python_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "prints.py"
    path.write_text("def f(x):\n    print(f'sum {x.sum():.2f} of', x.shape)\n    print(x[0], end='!')\n    return x\n")
    trace = ENGINE.run(load(f"{path}:f", {}, {"x": ARRAYS["x"]}), {"x": ARRAYS["x"]}, RunOptions())
    assert trace.meta["stdout"] == f"sum {ARRAYS['x'].sum():.2f} of (5, 9)\n{ARRAYS['x'][0]}!"


def test_keep_tensors_off_keeps_outputs() -> None:
    program = model(ARRAYS, layer, weights=["w"])
    trace = ENGINE.run(program, {"x": ARRAYS["x"]}, RunOptions(keep_tensors=False))
    assert not trace.tensors
    assert list(trace.outputs) == ["out0", "out1"]


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({}, "input 'x' is missing"),
        ({"x": np.zeros((5, 8), np.float32)}, r"is float32\[5, 8\]; expected float32\[5, 9\]"),
        ({"x": np.zeros((5, 9))}, "is float64"),
    ],
)
def test_wrong_inputs_are_refused(arrays: dict[str, np.ndarray], match: str) -> None:
    with pytest.raises(ModelError, match=match):
        ENGINE.run(model(ARRAYS, layer, weights=["w"]), arrays, RunOptions())


def test_half_precision_without_its_pass_is_refused() -> None:
    """In memory the target has float16, arithmetic in it only after widen-halves."""
    refused = model({"x": np.zeros(3, np.float16)}, lambda m, a: m("neg", a, id="small"))
    with pytest.raises(DeviceError, match=r"operation small \(fleet\.neg\) on riscv: arithmetic in float16.*widen-halves"):
        compile_riscv(refused)


def test_an_operation_that_the_target_lacks_is_refused() -> None:
    x = {"x": np.zeros((2, 0), np.float32)}
    with pytest.raises(FleetError, match=r"model\.py:1:4: operation big \(fleet\.reduce_max\)"):
        run(x, lambda m, a: m.add(d.ReduceMaxOp([a], tensor_type((2,), "float32"), axes=[1], keepdims=False), "big"))


def test_too_large_a_model_is_refused() -> None:
    x = {"x": np.zeros(1, np.float32)}
    with pytest.raises(DeviceError, match=r"the model needs \d+ MiB"):
        run(x, lambda m, a: m("add", a, m.constant(0.0, tensor_type((1 << 29,), "float32"))))


@pytest.mark.parametrize(
    ("name", "arrays", "match"),
    [
        (
            "gather",
            [np.zeros((3, 2), np.float32), np.array([0, 3])],
            "operation bad: index 3 is out of bounds for axis 0 with size 3",
        ),
        ("gather", [np.zeros((3, 2), np.float32), np.array([-4])], "index -4 is out of bounds"),
        ("pow", [np.array([2, 2]), np.array([1, -1])], "negative integer powers"),
    ],
)
def test_bad_values_stop_the_program(name: str, arrays: list[np.ndarray], match: str) -> None:
    with pytest.raises(ModelError, match=match):
        run({f"x{i}": a for i, a in enumerate(arrays)}, lambda m, *v: m(name, *v, id="bad"))


def patched(program: RiscvProgram, symbol: str, offset: int, code: bytes) -> bytes:
    """The image with other bytes in a function."""
    segment = next(s for s in program.image.segments if s.flags & PF_X)
    at = program.elf.index(segment.data) + program.symbols[symbol].address - segment.address + offset
    return program.elf[:at] + code + program.elf[at + len(code) :]


def symbol_of(program: RiscvProgram, id_: str) -> str:
    """The function that does the operation's work."""
    return next(o.body for o in program.operations if o.id == id_)


@pytest.mark.parametrize(
    ("code", "match", "address"),
    [
        (0xFFFFFFFF, "illegal instruction", None),
        (0x00002003, "read of unmapped memory, 4 bytes at 0x0", 0),
        (0x00000067, "jump to unmapped memory", 0),
        (0x0005A023, "write to read-only memory, 4 bytes at 0x8400", None),
        (0x0000006F, "no end after", None),
        (0x00100073, "operation h", None),
        (0x00000073, "environment call", None),
    ],
)
def test_a_crash_names_operation_pc_and_address(code: int, match: str, address: int | None) -> None:
    program = compiled()
    symbol = symbol_of(program, "h")
    with pytest.raises(EmulationError, match=match) as caught:
        run_image(program, patched(program, symbol, 0, struct.pack("<I", code)), {"x": ARRAYS["x"]})
    error = caught.value
    if "jump" not in match:
        assert "operation h crashed on riscv" in str(error)
        assert str(error).startswith("model.py:1:4: ")
        assert error.symbol == next(o.symbol for o in program.operations if o.id == "h")
        assert error.pc == program.symbols[symbol].address
    if address is not None:
        assert error.address == address
    assert f"{error.pc:#x}" in str(error)


def test_a_wrong_immediate_shows_in_its_operation() -> None:
    program = compiled()
    inputs = {"x": ARRAYS["x"]}
    sound = run_image(program, program.elf, inputs)
    symbol = symbol_of(program, "constant.1")
    start = program.symbols[symbol].address - program.image.segments[0].address
    code = program.image.segments[0].data[start : start + program.symbols[symbol].size]
    # lui rd, 0x40400: the upper half of 3.0
    offset = next(i for i in range(0, len(code) - 3, 2) if struct.unpack_from("<I", code, i)[0] & 0xFFFFF07F == 0x40400037)
    (word,) = struct.unpack_from("<I", code, offset)
    wrong = run_image(program, patched(program, symbol, offset, struct.pack("<I", word ^ 0x00400000)), inputs)
    different = {id_ for id_, data in bits(sound).items() if bits(wrong)[id_] != data}
    assert "h" not in different
    assert {"constant.1", "scaled"} <= different
    assert wrong.meta["image_hash"] != sound.meta["image_hash"]


@pytest.mark.parametrize("size", [0, 10, 63, 200, 4096, 5000])
def test_a_truncated_image_is_refused(size: int) -> None:
    program = compiled()
    with pytest.raises(FleetError):
        run_image(program, program.elf[:size], {"x": ARRAYS["x"]})


def test_damaged_images_end_in_one_clear_error_or_a_trace() -> None:
    program = compiled()
    rng = np.random.default_rng(31)
    errors: list[str] = []
    for _ in range(60):
        image = bytearray(program.elf)
        place = int(rng.choice(np.r_[0:176, 4096 : 4096 + 700, len(image) - 500 : len(image)]))
        image[place] ^= 1 << int(rng.integers(8))
        try:
            run_image(program, bytes(image), {"x": ARRAYS["x"]})
        except FleetError as error:
            errors.append(str(error))
    assert len(errors) > 5
    assert not any("\n" in error for error in errors)


def test_without_unicorn_the_engine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ENGINE.available() is None
    real = importlib.import_module

    def broken(name: str, *rest: Any) -> Any:
        if name.startswith("unicorn"):
            raise ImportError("no such package")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", broken)
    assert "unicorn" in str(ENGINE.available())
    with pytest.raises(SetupError, match="fleet doctor"):
        UnicornEmulator()


def test_a_watcher_can_stop_a_run() -> None:
    """Ctrl-C takes the same way: an exception in the waiting thread stops the machine."""
    program = compiled()
    image = patched(program, symbol_of(program, "h"), 0, struct.pack("<I", 0x0000006F))  # jumps to itself
    endless = dataclasses.replace(program, operations=tuple(dataclasses.replace(o, work=1 << 50) for o in program.operations))

    def stop(_part: float, _text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_image(endless, image, {"x": ARRAYS["x"]}, RunOptions(progress=stop))
