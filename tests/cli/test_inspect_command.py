"""`fleet inspect`: what a file is and holds; hostile, empty, truncated, huge and wrongly named ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import ten_files
from command_line import ROOT, Fleet, Refused

KINDS = {
    "python": "python", "script": "python", "onnx_model": "onnx", "gguf": "gguf", "hugging_face": "language-model",
    "bytecode": "bytecode", "case": "case", "instruction_set": "instruction-set", "arrays": "npz",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_a_page_and_the_same_as_json(name: str, tmp_path: Path, fleet: Fleet) -> None:
    file = ten_files.FILES[name](tmp_path)
    shown = fleet("inspect", file)
    assert shown.code == 0, shown.err
    assert shown.err == ""
    assert "\n  next         fleet " in shown.out
    found = json.loads(fleet("inspect", file, "--json").out)
    assert found["kind"] == KINDS[name]
    assert found["problem"] is None
    assert found["next"]
    for line in found["next"]:
        assert line in shown.out


def test_a_model_s_inputs_operators_work_and_devices(dense: Path, fleet: Fleet) -> None:
    shown = fleet("inspect", "model.py", "--weights", "w.npz").out
    assert "x float32[N, 64]" in shown
    assert "N: given by the data" in shown
    assert "matmul 1, add 1, argmax 1 (3 in all)" in shown
    assert "16,384 multiply-accumulates at N = 8" in shown  # 8 x 64 x 32
    assert "host: argmax.0: vgemm16 has no instruction for argmax" in shown
    found = json.loads(fleet("inspect", "model.py:forward", "--weights", "w.npz", "--batch", "2", "--json").out)["program"]
    assert found["macs"] == 2 * 64 * 32
    assert found["weight_numbers"] == 64 * 32 + 32
    assert found["symbols"] == {"N": 2}
    devices = {d["device"]: d for d in found["devices"]}
    assert devices["hbm_small"]["share"] == 1
    assert devices["hbm_small"]["cycles"] > 0
    assert devices["vgemm_small"]["reasons"][0]["operations"] == ["argmax.0"]


def test_one_device(dense: Path, fleet: Fleet, refused: Refused) -> None:
    found = json.loads(fleet("inspect", "model.py", "--device", "vgemm_small", "--json").out)["program"]
    assert [d["device"] for d in found["devices"]] == ["vgemm_small"]
    assert "no device" in fleet("inspect", "model.py", "--device", "nosuch").err


def test_several_functions_are_listed(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "m.py").write_text("def a(x):\n    return x\n\n\ndef b(x, y):\n    return x + y\n")
    shown = fleet("inspect", "m.py")
    assert shown.code == 0
    assert "b(x, y)" in shown.out
    assert "fleet inspect m.py:a" in shown.out


def test_without_annotations_shapes_come_from_the_data(dense: Path, fleet: Fleet) -> None:
    text = (dense / "model.py").read_text().replace(': "float32[N, 64]"', "").replace(': "float32[64, 32]"', "")
    (dense / "plain.py").write_text(text.replace(': "float32[32]"', ""))
    shown = fleet("inspect", "plain.py", "--weights", "w.npz", "--input", "x.npz")
    assert shown.code == 0, shown.err
    assert "16,384 multiply-accumulates" in shown.out
    without = fleet("inspect", "plain.py")
    assert without.code == 2
    assert "annotate it" in without.err


def test_operators_that_nobody_supports_are_named(tmp_path: Path, fleet: Fleet) -> None:
    import onnx
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 64])
    y = helper.make_empty_tensor_value_info("y")
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Sorcery", ["h"], ["y"], "spell", domain="com.example")]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    shown = fleet("inspect", "m.onnx")
    assert shown.code == 2
    assert "unsupported  com.example.Sorcery: spell" in shown.out
    assert "Relu 1, Sorcery 1" in shown.out
    assert "1 operator is not supported" in shown.err


@pytest.mark.parametrize(
    "name", ["a.onnx", "a.gguf", "a.fbc", "a.stream", "a.safetensors", "a.npz", "a.rdl", "a.py", "a.toml", "a", "result.json"]
)
@pytest.mark.parametrize("data", [b"", b"junk", bytes(range(256))], ids=["empty", "text", "bytes"])
def test_damaged_files_are_one_line(name: str, data: bytes, tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / name).write_bytes(data)
    ran = fleet("inspect", name)
    assert ran.code == 2, (ran.out, ran.err)
    assert ran.line.startswith("fleet: ")
    assert name in ran.line


@pytest.mark.parametrize("name", ["onnx_model", "gguf", "bytecode", "arrays"])
def test_truncated_files(name: str, tmp_path: Path, fleet: Fleet) -> None:
    file = tmp_path / ten_files.FILES[name](tmp_path)
    data = file.read_bytes()
    for part in (0.02, 0.5, 0.98):
        file.write_bytes(data[: int(len(data) * part)])
        ran = fleet("inspect", file.name)
        assert ran.code == 2, (part, ran.out, ran.err)
        assert len(ran.err.splitlines()) == 1, ran.err


def test_a_wrong_name_does_not_mislead(tmp_path: Path, fleet: Fleet) -> None:
    ten_files.onnx_model(tmp_path)
    (tmp_path / "m.onnx").rename(tmp_path / "m.py")
    ran = fleet("inspect", "m.py")
    assert (ran.code, "mv m.py m.onnx" in ran.out) == (2, True)
    assert "is an ONNX model by another name" in ran.err


def test_names_in_a_file_do_not_reach_the_terminal_as_they_are(tmp_path: Path, fleet: Fleet) -> None:
    import onnx
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x\x1b[2J", TensorProto.FLOAT, [1, 4])
    y = helper.make_empty_tensor_value_info("y\n\rfleet: all is well")
    nodes = [helper.make_node("Relu", ["x\x1b[2J"], ["y\n\rfleet: all is well"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    shown = fleet("inspect", "m.onnx")
    assert shown.code == 0, shown.err
    assert not {c for c in shown.out if not c.isprintable()} - {"\n"}
    assert "\nfleet: all" not in shown.out


def test_a_model_of_very_many_operations_is_still_a_page(tmp_path: Path, fleet: Fleet) -> None:
    """Placing it takes more than linear time: no device is looked at unless it is named."""
    lines = "".join(f"    x = np.maximum(x, {i})\n" for i in range(3100))
    (tmp_path / "m.py").write_text(f'import numpy as np\n\n\ndef f(x: "float32[N, 8]"):\n{lines}    return x\n')
    shown = fleet("inspect", "m.py")
    assert shown.code == 0
    assert "maximum 3100" in shown.out
    assert "hbm_small    not looked at: 3,100 operations take a while; --device hbm_small looks" in shown.out
    ran = fleet("try", "m.py")
    assert (ran.code, "would take longer than a minute" in ran.out) == (4, True)


def test_a_stored_stream(fleet: Fleet) -> None:
    shown = fleet("inspect", ROOT / "sim/bundles/overlapping-output-rows")
    assert shown.code == 0
    assert "hbm_small/act/illegal/0-shrunk on hbm_small" in shown.out


def test_a_large_file_of_nothing_takes_no_time(tmp_path: Path, refused: Refused) -> None:
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(1 << 36)
    refused("inspect", "huge.bin", words=("huge.bin",))
    os.mkfifo(tmp_path / "pipe")
    refused("inspect", "pipe", words=("neither a file nor a folder",))
    refused("inspect", "nosuch", words=("no such file, and no instruction set",))
    refused("inspect", "no/such.onnx", words=("cannot be read",))


def test_weights_beyond_every_memory_are_said(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "m.py").write_text('def f(x: "float32[N, 9000]", w: "float32[9000, 4096]"):\n    return x @ w\n')
    found = json.loads(fleet("inspect", "m.py", "--json").out)["program"]
    devices = {d["device"]: d for d in found["devices"]}
    assert devices["vgemm_small"]["refused"] == "36,864,000 weights need 18,432,000 bytes or more, it has 16,777,216"
    assert devices["hbm0923"]["share"] == 1
    assert not devices["hbm0923"]["compiled"]


def test_a_result_says_its_verdict(stored: Path, fleet: Fleet) -> None:
    assert "verdict      PASS" in fleet("inspect", stored).out
    assert json.loads(fleet("inspect", stored / "result.json", "--json").out)["verdict"] == "pass"


def test_what_a_device_lacks_is_one_reason_with_its_kinds(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\n\ndef f(x: 'float32[4, 16]', w: 'float32[16, 16]'):\n"
        "    return np.exp(np.sin(x) @ w) + np.sin(np.tanh(x))\n"
    )
    shown = fleet("inspect", "m.py:f", "--device", "vgemm_small").out
    assert "and 2 more: vgemm_small has no instruction for sin, exp, tanh, add" in " ".join(shown.split()), shown
