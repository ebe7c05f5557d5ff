"""Bytecode files: what goes out comes back, and any damage is found."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest

from fleet.errors import FleetError, ModelError
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule, OpCode, TypeCode
from fleet.targets.bytecode.container import VERSION
from fleet.targets.bytecode.listing import disassemble

TEXT = """import numpy as np
def forward(x: "f32[N, 3]", w: "f32[3, 2]", h: "f16[2]"):
    y = np.maximum(x @ w, -0.0) + h * np.inf + np.zeros((1, 2))
    return y, 7
"""


@pytest.fixture
def module(tmp_path) -> ByteCodeModule:
    (tmp_path / "m.py").write_text(TEXT)
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((3, 2)).astype(np.float32), "h": rng.standard_normal(2).astype(np.float16)}
    inputs = {"x": np.ones((4, 3), np.float32)}
    return ByteCodeConverter(load(f"{tmp_path / 'm.py'}:forward", weights, inputs)).convert()


def test_a_file_holds_all_of_it(module, tmp_path) -> None:
    path = tmp_path / "folder with blanks" / "m.bc"
    module.save(path)
    again = ByteCodeModule.load(path)
    assert again == module
    assert str(again) == str(module)
    assert [type(c) for c in again.code] == [type(c) for c in module.code]
    assert not again.weights["w"].flags.owndata  # mapped
    x = {"x": np.full((4, 3), 0.5, np.float32)}
    for a, b in zip(VM(module).run(x).values(), VM(again).run(x).values(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert list(path.parent.iterdir()) == [path]


def test_odd_constants_survive(tmp_path) -> None:
    consts = [math.inf, -math.inf, math.nan, -0.0, 0.1, 1 << 62, True, "text", np.arange(6, dtype=np.int8), np.float32([[1.5]])]
    module = ByteCodeModule(consts, [OpCode.ldc, TypeCode.tensor, 0, TypeCode.float64, 0, OpCode.astore_0], "python", 1)
    module.save(tmp_path / "c.bc")
    found = ByteCodeModule.load(tmp_path / "c.bc").consts
    assert repr(found[:8]) == repr(consts[:8])
    np.testing.assert_array_equal(found[8], consts[8])
    assert found[9].dtype == np.float32


def test_every_flipped_bit_is_found(module, tmp_path) -> None:
    path = tmp_path / "m.bc"
    module.save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in [*range(64), *rng.integers(64, len(good), 60)]:
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        with pytest.raises(ModelError, match="not a whole bytecode file"):
            ByteCodeModule.load(path)


@pytest.mark.parametrize("length", [0, 1, 8, 55, 56, 63, 200, -1])
def test_a_truncated_file_is_refused(module, tmp_path, length: int) -> None:
    path = tmp_path / "m.bc"
    module.save(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelError, match="not a whole bytecode file"):
        ByteCodeModule.load(path)


def test_another_version_says_so(module, tmp_path) -> None:
    path = tmp_path / "m.bc"
    module.save(path)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, VERSION + 1)
    path.write_bytes(data)
    with pytest.raises(ModelError, match=f"version {VERSION + 1}, this program reads version {VERSION}"):
        ByteCodeModule.load(path)


@pytest.mark.parametrize(
    "change", [{"code": [99]}, {"arrays": [["object", [1]]]}, {"arrays": [["float32", [1 << 40]]]}, {"consts": [{"float": "x"}]}]
)
def test_a_forged_header_with_a_right_checksum_is_refused(tmp_path, change) -> None:
    import hashlib

    header = {"target": "python", "variable_size": 0, "code": [], "consts": [], "invokes": [], "arguments": [], "outputs": [],
              "weights": {}, "program_hash": "", "arrays": []} | change  # fmt: skip
    text = json.dumps(header).encode()
    payload = struct.pack("<Q", len(text)) + text
    path = tmp_path / "f.bc"
    path.write_bytes(struct.pack("<8sIIQ32s", b"FLEETBC\0", VERSION, 0, len(payload), hashlib.sha256(payload).digest()) + payload)
    with pytest.raises(ModelError, match="its header is not"):
        ByteCodeModule.load(path)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(module, tmp_path, monkeypatch) -> None:
    path = tmp_path / "out" / "m.bc"
    module.save(path)
    good = path.read_bytes()

    def full(*_args) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(FleetError, match="No space left on device"):
        module.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == good
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(FleetError, match="cannot be written"):
        module.save(path / "below a file.bc")


def test_the_listing_shows_every_instruction(module) -> None:
    text = disassemble(module)
    assert "; slot 0: input x float32[4, 3]" in text
    assert "matmul.0: device_matmul_sig_rr_r_ins_4x3xf32_3x2xf32_outs_4x2xf32" in text
    assert "ldc tensor 1x2 float64" in text
    assert "; output y: slot" in text
    with pytest.raises(ModelError, match="bytecode offset 0: the code ends within"):
        disassemble(ByteCodeModule([], [OpCode.ldc, 1], "python", 0))
