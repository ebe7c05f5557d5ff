"""The loader and the VM on what nobody wrote: one clear error or a module, never another exception, in bounded memory and time."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import FleetError, ModelError
from fleet.targets.bytecode import VM, ByteCodeModule, TypeCode
from fleet.targets.bytecode.container import MAGIC, VERSION
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.listing import disassemble
from fleet.targets.bytecode.opcodes import OpCode as Op

MODULE = ByteCodeModule(
    [40, -0.5, "device_add_sig_rr_r_ins_?x2xf32_2xf32_outs_?x2xf32", "python_print_sig_i_ins_i32",
     "device_reduce_sum_sig_r_r_ins_?x2xf32_outs_2xf32_axes_0_keepdims_False", np.arange(4, dtype=np.int64)],
    [Op.aload_0, Op.aload_1, Op.invokestatic, 2, Op.astore_2, Op.ldc, TypeCode.scalar, 0, Op.invokestatic, 3, Op.iconst_1,
     Op.if_false, 13, Op.aload_2, Op.invokestatic, 4, Op.astore_3,
     Op.ldc, TypeCode.tensor, 1, 4, TypeCode.int64, 5, Op.astore, 4],
    "python", 5, ("sum", "print", "total"),
    (ArgumentSlot("x", "input", (-1, 2), "float32"), ArgumentSlot("w", "weight", (2,), "float32")),
    (OutputSlot("y", 3, "2xf32"), OutputSlot("c", 4, "4xi64")),
    {"w": np.array([1, 2], np.float32)}, "hash",
)  # fmt: skip
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("fuzz") / "m.fbc"
    MODULE.save(path)
    return path, path.read_bytes()


def taken_apart(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack_from("<Q", data, 56)
    return json.loads(data[64 : 64 + length])


def put_together(header: Any, arrays: bytes = b"") -> bytes:
    """A file with this header and a right checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    payload = struct.pack("<Q", len(text)) + text
    payload += bytes(-(56 + len(payload)) % 64) * bool(arrays) + arrays
    return struct.pack("<8sIIQ32s", MAGIC, VERSION, 0, len(payload), hashlib.sha256(payload).digest()) + payload


def tried(path: Path, data: bytes) -> ByteCodeModule | None:
    """Loads, lists and runs; any error must be one line of ours."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        module = ByteCodeModule.load(path)
        message = None
    except ModelError as error:
        module, message = None, str(error)
    finally:
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert used < MEGABYTE + 40 * len(data)
    if module is None:
        assert message is not None
        assert str(path) in message
        assert "\n" not in message
        return None
    inputs = {a.name: np.ones([3 if d < 0 else d for d in a.shape], a.dtype) for a in module.arguments
              if a.name not in module.weights and np.prod([max(d, 1) for d in a.shape], dtype=float) < 1e5}  # fmt: skip
    with contextlib.suppress(FleetError):
        disassemble(module)
    with contextlib.suppress(FleetError):
        VM(module, echo=lambda *_: None).run(inputs, max_steps=1000)
    return module


def test_the_module_itself_is_good(good) -> None:
    path, data = good
    module = tried(path, data)
    assert module is not None
    found = VM(module, echo=lambda *_: None).run({"x": np.ones((3, 2), np.float32)})
    assert found["y"].tolist() == [6.0, 9.0]
    assert found["c"].tolist() == [0, 1, 2, 3]
    assert tried(path, put_together(taken_apart(data), arrays_of(data))) is not None


def arrays_of(data: bytes) -> bytes:
    """The arrays as they lie in the file, from the first aligned place on."""
    (length,) = struct.unpack_from("<Q", data, 56)
    start = 64 + length
    return data[start + (-start % 64) :]


FUZZ = settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@FUZZ
@given(st.binary(max_size=300))
def test_random_bytes(good, data: bytes) -> None:
    assert tried(good[0], data) is None


@FUZZ
@given(st.binary(max_size=300))
def test_random_payloads_with_a_right_checksum(good, payload: bytes) -> None:
    tried(good[0], struct.pack("<8sIIQ32s", MAGIC, VERSION, 0, len(payload), hashlib.sha256(payload).digest()) + payload)


@FUZZ
@given(st.data())
def test_flipped_bits_and_cuts(good, data) -> None:
    path, whole = good
    bad = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        bad[data.draw(st.integers(0, len(bad) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(bad))))
    if bytes(bad[:cut]) != whole:
        assert tried(path, bytes(bad[:cut])) is None


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 60),
    st.sampled_from([1 << 31, 1 << 60, -(1 << 60), 10**30, 0.5, float("nan"), float("inf")]),
    st.text(max_size=8), st.sampled_from(["float32", "object", "input", "3x?xf32", "inf", "nan", "0x1p-3", "array", "float"]),
    st.sampled_from([c for c in MODULE.consts if isinstance(c, str)]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda v: st.one_of(st.lists(v, max_size=4), st.dictionaries(st.text(max_size=5), v, max_size=2)), max_leaves=6
)


def places(value: Any, path: tuple = ()) -> list[tuple]:
    found = [path]
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += places(value[key], (*path, key))
    return found


@settings(FUZZ, max_examples=300)
@given(st.data())
def test_changed_headers_with_a_right_checksum(good, data) -> None:
    path, whole = good
    header = taken_apart(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        header = copy.deepcopy(header)
        place = data.draw(st.sampled_from(places(header)[1:]))
        inner = header
        for key in place[:-1]:
            inner = inner[key]
        how = data.draw(st.sampled_from(["set", "set", "delete", "double"]))
        if how == "delete":
            del inner[place[-1]]
        elif how == "double" and isinstance(inner, list):
            inner.insert(place[-1], inner[place[-1]])
        else:
            inner[place[-1]] = data.draw(VALUES)
    tried(path, put_together(header, arrays_of(whole)))


@settings(FUZZ, max_examples=300)
@given(st.lists(st.integers(-1, 46), max_size=24))
def test_random_code(code: list[int]) -> None:
    module = ByteCodeModule(MODULE.consts, code, "python", 5, (), MODULE.arguments, (), MODULE.weights)
    with contextlib.suppress(ModelError):
        disassemble(module)
    with contextlib.suppress(ModelError):
        VM(module, echo=lambda *_: None).run({"x": np.ones((3, 2), np.float32)}, max_steps=200)


HINT = st.lists(
    st.sampled_from(["device", "python", "add", "slice", "print", "sig", "rr", "r", "i", "ins", "outs", "f32", "2xf32", "?x2xf32",
                     "9999999999x9999999999xf32", "axes", "0", "-1", "1e999", "True", "nan", "'a%2'", "''", "start", "size",
                     "splat",
                     "transpose", "permutation",
                     "pad", "low", "high", "99999999999", "einsum", "subscripts", "'ij->ji'"]),
    max_size=14,
).map("_".join)  # fmt: skip


@settings(FUZZ, max_examples=300)
@given(HINT)
def test_random_hints(hint: str) -> None:
    module = ByteCodeModule(
        [hint], [Op.aload_0, Op.aload_1, Op.invokestatic, 0, Op.astore_2], "python", 3, (), MODULE.arguments, (), MODULE.weights
    )
    with contextlib.suppress(ModelError):
        VM(module, echo=lambda *_: None).run({"x": np.ones((3, 2), np.float32)}, max_steps=200)


def header_with(**change: Any) -> dict[str, Any]:
    return {"target": "python", "variable_size": 1, "code": [], "consts": [], "invokes": [], "arguments": [], "outputs": [],
            "weights": {}, "program_hash": "", "arrays": []} | change  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"variable_size": 1 << 60},
        {"variable_size": True},
        {"variable_size": 2.0},
        {"arrays": [["float32", [1 << 60]]]},
        {"arrays": [["float32", [-1]]]},
        {"arrays": [["float32", [1 << 32, 1 << 32]]]},
        {"arrays": [["float32", [0, 1 << 52]]], "weights": {"w": 1}},
        {"code": [1.0]},
        {"code": [True]},
        {"code": [int(Op.ldc), 2, 1 << 60]},
        {"code": [int(Op.ldc), 2, -4, 4, 0]},
        {"consts": [{"array": -1}]},
        {"consts": [{"float": "1.5"}]},
        {"consts": [None]},
        {"consts": [[1, 2]]},
        {"invokes": [3]},
        {"arguments": [["x", "input", [-2], "float32"]]},
        {"arguments": [["x", "other", [2], "float32"]]},
        {"outputs": [["y", 1, "f32", False]]},
        {"outputs": [["y", 0, "f31", False]]},
        {"surplus": 1},
    ],
)
def test_headers_that_nobody_wrote_are_refused(tmp_path, change) -> None:
    path = tmp_path / "f.fbc"
    path.write_bytes(put_together(header_with(**change)))
    with pytest.raises(ModelError, match=r"its header is not that of a bytecode file .*compile the model again"):
        ByteCodeModule.load(path)


def test_a_module_without_code_returns_its_arguments() -> None:
    module = ByteCodeModule([], [], "python", 2, (), MODULE.arguments, (OutputSlot("x", 0, "?x2xf32"),), MODULE.weights)
    x = np.ones((3, 2), np.float32)
    np.testing.assert_array_equal(VM(module).run({"x": x})["x"], x)


def test_a_header_of_brackets_is_refused(tmp_path) -> None:
    path = tmp_path / "f.fbc"
    path.write_bytes(put_together(b"[" * 200_000))
    with pytest.raises(ModelError, match="its header is not"):
        ByteCodeModule.load(path)


@pytest.mark.parametrize("shape", [[1 << 40], [1 << 20, 1 << 20], [1 << 62, 4]])
def test_a_constant_beyond_two_gigabytes_is_refused_before_it_is_made(shape) -> None:
    code = [Op.ldc, 2, len(shape), *shape, 5, 0, Op.astore_0]
    with pytest.raises(ModelError, match=r"bytecode offset 0: constant of shape .* bytes, at most 2147483648"):
        VM(ByteCodeModule([1.0], code, "python", 1))


def test_results_beyond_what_a_program_may_name_are_refused() -> None:
    hint = "device_splat_sig_i_r_ins_i32_outs_65536x65536xf32"
    with pytest.raises(ModelError, match="bytecode offset 1: a result of type 65536x65536xf32: a tensor of shape"):
        VM(ByteCodeModule([hint], [Op.iconst_1, Op.invokestatic, 0, Op.astore_0], "python", 1))
    hint = "device_pad_sig_rf_r_ins_?xf32_f64_outs_?xf32_low_4294967296_high_0"
    code = [Op.aload_0, Op.fconst_0, Op.invokestatic, 0, Op.astore_1]
    module = ByteCodeModule([hint], code, "python", 2, ("padded",), (ArgumentSlot("x", "input", (-1,), "float32"),))
    with pytest.raises(ModelError, match="padded: fails on these values: a result of more than"):
        VM(module).run({"x": np.ones(1, np.float32)})


def test_a_file_of_the_first_version_says_what_to_do(good) -> None:
    path, whole = good
    path.write_bytes(whole[:8] + struct.pack("<I", 1) + whole[12:])
    with pytest.raises(ModelError, match="it has version 1, this program reads version 2; compile the model again"):
        ByteCodeModule.load(path)


def test_arrays_of_a_file_are_mapped_not_read(tmp_path) -> None:
    path = tmp_path / "m.fbc"
    big = np.zeros(8 << 20, np.float32)
    ByteCodeModule([big], [Op.ldc, 1, 0, Op.astore_0], "python", 1, outputs=(OutputSlot("c", 0, "8388608xf32"),)).save(path)
    tracemalloc.start()
    try:
        module = ByteCodeModule.load(path)
        found = VM(module).run()["c"]
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used < MEGABYTE
    assert not found.flags.owndata
    np.testing.assert_array_equal(found[:5], big[:5])
