"""The C VM on files that nobody wrote, under ASan and UBSan: one line and exit code 2, or a run; never a crash."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import random
import struct
import sys
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

import numpy as np
import pytest
from vm_modules import fleet_vm, no_kernels

sys.path.insert(0, str(Path(__file__).parents[1] / "bytecode"))
from test_loader_fuzz import arrays_of, header_with, places, put_together, taken_apart

from fleet.cosim.models.loaded import load_model
from fleet.targets.bytecode import ByteCodeModule
from fleet.targets.bytecode.container import MAGIC, VERSION
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.cvm.build import build_kernels, host_toolchain
from fleet.targets.cvm.compile import TARGET, compile_vm
from fleet.targets.riscv.prepare import prepared

pytestmark = pytest.mark.skipif(host_toolchain().missing is not None, reason=str(host_toolchain().missing))

SOURCE = """
import numpy as np

def forward(x: "float32[4,6]", i: "int64[3]", n: "int64[]"):
    s = x[:, ::-2].T @ x
    t = s.reshape(9, 2)[i]
    k = 0
    while k < n:
        t = t + np.exp(-np.abs(t)) * x[0, 1]
        k = k + 1
    if np.sum(t) > 0:
        t = np.concatenate([t, t * 2.0])
    else:
        t = np.concatenate([t - 1.0, t])
    print("t", t, k, x.T)
    print(f"{np.sum(t):.3f} {k:>5} {x[0]!r}")
    return np.broadcast_to(t, (2, 6, 2)), np.full((4, 5), 0.5, np.float32), s + np.ones((3, 6), np.float32)
"""


class Model:
    """A model that uses views, loops, decisions, prints and constants, compiled."""

    def __init__(self, folder: Path) -> None:
        source = folder / "model.py"
        source.write_text(SOURCE)
        rng = np.random.default_rng(0)
        x, i, n = rng.standard_normal((4, 6)).astype(np.float32), np.array([0, 5, 8]), np.array(3)
        np.savez(folder / "inputs.npz", x=x, i=i, n=n)
        program = load_model(f"{source}:forward", None, folder / "inputs.npz", 0, None).program
        compiled = compile_vm(prepared(program, "riscv"))
        self.kernels = build_kernels(compiled, host_toolchain())
        self.path = folder / "model.fbc"
        compiled.module.save(self.path)
        self.whole = self.path.read_bytes()
        self.arguments: list[str] = []
        for name, array in (("x", x), ("i", i), ("n", n)):
            np.save(folder / f"{name}.npy", array)
            self.arguments.append(f"{name}={folder / name}.npy")

    def tried(self, data: bytes) -> int:
        """Runs; the exit code, after a look at what it said."""
        self.path.write_bytes(data)
        try:
            done = fleet_vm(self.path, self.kernels, *self.arguments, "--max-steps", "20000", sanitized=True, timeout=60)
        except TimeoutExpired:
            pytest.fail("no end")
        assert done.returncode in (0, 2), done.stderr
        assert "Sanitizer" not in done.stderr
        if done.returncode == 2:
            assert done.stderr.startswith("fleet-vm: ")
            assert done.stderr.count("\n") == 1
        return done.returncode


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return Model(tmp_path_factory.mktemp("cvm"))


def test_the_model_itself_runs(good: Model) -> None:
    assert good.tried(good.whole) == 0
    assert good.tried(put_together(taken_apart(good.whole), arrays_of(good.whole))) == 0


WORDS = [-1, 0, 1, 2, 3, 5, 7, 60, 1 << 31, 1 << 62, 10**30, 0.5, None, True, "", "x", "float64", "2x3xf32", [], {}, [4, 6], "inf"]
PARTS = ["0", "-1", "99999999999", "1x1", "'{0:>999}'", "'{9}'", "i64", "f32"]


def broken(header: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A header with one to three changes, most of them to code and hints."""
    header = copy.deepcopy(header)
    hints = [c for c in header["consts"] if isinstance(c, str)]
    for _ in range(rng.randint(1, 3)):
        with contextlib.suppress(
            TypeError, KeyError, IndexError, ValueError, AttributeError
        ):  # an earlier change took the place away
            _break(header, hints, rng)
    return header


def _break(header: dict[str, Any], hints: list[str], rng: random.Random) -> None:
    code, consts, kind = header["code"], header["consts"], rng.randrange(6)
    if kind == 0:
        code[rng.randrange(len(code))] = rng.choice([*range(-1, 47), *code])
    elif kind == 1:
        consts[rng.randrange(len(consts))] = rng.choice([*hints, 2, -1, 1 << 40, {"float": "0x1.8p+1"}, {"float": "nan"}, True])
    elif kind == 2:
        at = rng.choice([i for i, c in enumerate(consts) if isinstance(c, str)])
        parts = consts[at].split("_")
        parts[rng.randrange(len(parts))] = rng.choice([*(p for h in hints for p in h.split("_")), *PARTS])
        consts[at] = "_".join(parts)
    elif kind == 3 and rng.random() < 0.5:
        del code[rng.randrange(len(code))]
    elif kind == 3:
        code.insert(rng.randrange(len(code)), rng.randrange(47))
    else:
        inner: Any = header
        place = rng.choice(places(header)[1:])
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = rng.choice(WORDS)


def changed(good: Model, seeds: range) -> None:
    header, arrays, codes = taken_apart(good.whole), arrays_of(good.whole), []
    for seed in seeds:
        rng = random.Random(seed)
        if seed % 10 == 9:
            payload = bytearray(good.whole[56:])
            payload[rng.randrange(len(payload))] ^= 1 << rng.randrange(8)
            data = struct.pack("<8sIIQ32s", MAGIC, VERSION, 0, len(payload), hashlib.sha256(payload).digest()) + bytes(payload)
        else:
            data = put_together(broken(header, rng), arrays)
        codes.append(good.tried(data))
    assert codes.count(2) > len(codes) / 4


def test_changed_headers_with_a_right_checksum(good: Model) -> None:
    changed(good, range(60))


@pytest.mark.parametrize(
    "change",
    [
        {"variable_size": 1 << 60}, {"variable_size": True}, {"variable_size": 2.0}, {"arrays": [["float32", [1 << 60]]]},
        {"arrays": [["float32", [-1]]]}, {"arrays": [["float32", [1 << 32, 1 << 32]]]}, {"code": [1.0]}, {"code": [True]},
        {"code": [int(Op.ldc), 2, 1 << 60]}, {"code": [int(Op.ldc), 2, -4, 4, 0]}, {"consts": [{"array": -1}]},
        {"consts": [{"float": "1.5"}]}, {"consts": [None]}, {"consts": [[1, 2]]}, {"invokes": [3]},
        {"arguments": [["x", "input", [-2], "float32"]]}, {"arguments": [["x", "other", [2], "float32"]]},
        {"arguments": [["x", "input", [2], "float32"]] * 9}, {"outputs": [["y", 1, "f32", False]]},
        {"outputs": [["y", 0, "f31", False]]}, {"surplus": 1}, {"target": "python"}, {"target": "cuda"},
        {"code": [int(Op.ldc), 2, 2, 1 << 31, 1 << 31, 5, 0], "consts": [1]},
        {"code": [int(Op.ldc), 2, 1, (1 << 29) + 1, 5, 0], "consts": [1]}, {"code": [int(Op.goto), 1]},
        {"code": [int(Op.goto), -1]},
        {"code": [int(Op.goto), 0]}, {"code": [int(Op.istore_0)]}, {"code": [99]}, {"code": [int(Op.invokestatic), 0]},
        {"code": [int(Op.iload_0), int(Op.istore_0)]}, {"code": [int(Op.iconst_1)] * 5 + [int(Op.if_true), 0]},
    ],
)  # fmt: skip
def test_headers_that_nobody_wrote_are_refused(good: Model, change: dict[str, Any]) -> None:
    assert good.tried(put_together(header_with(**{"target": "c-vm", **change}))) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"FLEETBC\0",
        bytes(64),
        b"x" * 200,
        put_together(b"[" * 100000),
        put_together(b'{"a": "\\ud800"}'),
        put_together(b'"\xff"'),
    ],
)
def test_what_is_no_bytecode_file_is_refused(good: Model, data: bytes) -> None:
    assert good.tried(data) == 2
    assert good.tried(good.whole[:-1]) == 2


def test_files_that_are_not_what_they_say(good: Model, tmp_path: Path) -> None:
    good.path.write_bytes(good.whole)
    x = tmp_path / "x.npy"
    rest = [a for a in good.arguments if not a.startswith("x=")]
    for data in (b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\xff\xff{", b"\x93NUMPY\x01\x00\x05\x00{'a':"):
        x.write_bytes(data)
        done = fleet_vm(good.path, good.kernels, *rest, f"x={x}", sanitized=True)
        assert (done.returncode, "not a .npy file" in done.stderr) == (2, True), done.stderr
    for array in (np.zeros((4, 6)), np.zeros((6, 4), np.float32), np.zeros((4, 6), np.float32, order="F")):
        np.save(x, array)
        done = fleet_vm(good.path, good.kernels, *rest, f"x={x}", sanitized=True)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as home:
        model, (first, last) = Model(Path(home)), map(int, sys.argv[1:3])
        for seed in range(first, last, 100):
            changed(model, range(seed, min(seed + 100, last)))
            print(f"seeds up to {min(seed + 100, last)}: no crash", flush=True)


def test_an_empty_tensor_may_have_sizes_whose_product_is_no_number(tmp_path: Path) -> None:
    size = 10**15
    code = [Op.ldc, 2, 4, 0, size, size, size, 5, 0, Op.istore_0]
    path = tmp_path / "vast.fbc"
    ByteCodeModule([0.5], [int(word) for word in code], TARGET, 1, (), ()).save(path)
    done = fleet_vm(path, no_kernels(), sanitized=True)
    assert (done.returncode, done.stderr) == (0, "")
