"""A program, or a file of weights, that nobody has room for: one line and exit code 2, before the memory is taken."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cli.main import main
from fleet.core.files import npz_bytes, read_npz
from fleet.engines.riscv import LoadedImage
from fleet.engines.trace import Trace
from fleet.errors import ModelError
from fleet.frontend.source import load
from fleet.ir.calibration import calibration_of
from fleet.llm.files.gguf_file import GgufFile
from fleet.llm.files.safetensors import TensorFolder
from fleet.targets.host.compile import compile_host
from fleet.targets.riscv.compile import compile_riscv

HEAD = "import numpy as np\n\n\ndef f(x: 'float32[4]'):\n"
ZEROS = (2000, 2000)


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_MEMORY", "8M")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("z = np.zeros((10**6, 10**6))\n    return x + z[0, :4]", "F603 an array of shape (1000000, 1000000)"),
        ("z = np.zeros((2000, 2000))\n    return x + z[0, :4]", "needs 32,000,000 bytes; the limit is 8,388,608"),
        (
            "y = x\n    for _ in range(20):\n        y = np.concatenate([y, y])\n    return y.sum()",
            "with the results that are needed beside it",
        ),
        (
            "y = x.repeat(1 << 18)\n    return (y * 2) @ (y * 3) + y.sum()",
            "matmul.0 (",
        ),
        ("y = np.ones((1200, 1200), np.float32)\n    return (y @ y)[0, :4] + x", "the limit is 8,388,608"),
    ],
)
def test_a_source_that_makes_too_much(tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, said: str) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"{HEAD}    {body}\n")
    assert main(["run", f"{path}:f"]) == 2
    line, *source = capsys.readouterr().err.splitlines()
    assert said in line
    assert "FLEET_MEMORY" in line or "give large arrays as weights or inputs" in line
    assert len(source) in (0, 2), "a source error shows its line"


def test_views_and_what_is_over_take_no_room(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        f"{HEAD}    y = np.broadcast_to(x, (1 << 20, 4))\n    return y[0] + x.repeat(1 << 18)[:4] + x.repeat(1 << 18)[4:8]\n"
    )
    fleet.compile(f"{path}:f").run("vm")


@pytest.mark.parametrize("engine", ["riscv", "llvm-cpu"])
def test_the_memory_of_a_compiled_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """All results at once, which a run that keeps them needs: more than the golden needs at any time."""
    path = tmp_path / "m.py"
    steps = "".join(f"    y = y * 2 + {n}\n" for n in range(8))
    path.write_text(f"{HEAD}    y = x.repeat(50000)\n{steps}    return y.sum()\n")
    program = load(f"{path}:f", {}, {"x": np.ones(4, np.float32)})
    monkeypatch.setenv("FLEET_MEMORY", "4M")
    with pytest.raises(ModelError, match=r"the memory of the program needs .* bytes; the limit is 4,194,304"):
        compile_host(program, keep=True) if engine == "llvm-cpu" else LoadedImage(compile_riscv(program, keep_tensors=True))


def trace(path: Path) -> Callable[[], object]:
    Trace("vm", "0" * 64, outputs={"y": np.zeros(ZEROS)}, complete=True).save(path)
    return lambda: Trace.load(path)


def result_arrays(path: Path) -> Callable[[], object]:
    data = npz_bytes({"y": np.zeros(ZEROS)})
    path.write_bytes(data)
    import hashlib

    return lambda: read_npz(path, hashlib.sha256(data).hexdigest(), recorded_in="result.json", hint="run it again")


def calibration(path: Path) -> Callable[[], object]:
    np.savez_compressed(path, **{"range y": np.zeros(ZEROS)})
    return lambda: calibration_of({"calibration": str(path)})


@pytest.mark.parametrize("stored", [trace, result_arrays, calibration])
def test_stored_arrays(tmp_path: Path, stored: Callable[[Path], Callable[[], object]]) -> None:
    read = stored(tmp_path / "stored.npz")
    with pytest.raises(ModelError, match=r"stored\.npz.*needs .* bytes; the limit is 8,388,608"):
        read()


def test_a_tensor_of_safetensors(tmp_path: Path) -> None:
    """Sparse: the file takes no room on the disk."""
    header = json.dumps({"w": {"dtype": "F16", "shape": [2000, 2000], "data_offsets": [0, 8_000_000]}}).encode()
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 8_000_000)
    folder = TensorFolder(tmp_path)
    with pytest.raises(ModelError, match=r"tensor w, F16\[2000, 2000\], needs 24,000,000 bytes"):
        folder.read("w")


def test_a_tensor_of_gguf(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    name = b"w"
    info = struct.pack("<Q", len(name)) + name + struct.pack("<IQQIQ", 2, 2000, 2000, 1, 0)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + info)
        start = -(-file.tell() // 32) * 32
        file.truncate(start + 8_000_000)
    with pytest.raises(ModelError, match=r"tensor w, F16\[2000, 2000\], needs 24,000,000 bytes"):
        GgufFile(path).read("w")


@pytest.mark.parametrize(
    ("tensors", "said"), [(1, "FLOAT[2000, 2000] needs 16,000,000"), (3, "the weights up to w2 needs 9,437,184")]
)
def test_external_data_of_onnx(tmp_path: Path, capsys: pytest.CaptureFixture[str], tensors: int, said: str) -> None:
    onnx = pytest.importorskip("onnx")
    shape = [2000, 2000] if tensors == 1 else [768, 1024]
    size = 4 * shape[0] * shape[1]
    weights = []
    for i in range(tensors):
        weight = onnx.TensorProto(
            name=f"w{i}", data_type=onnx.TensorProto.FLOAT, dims=shape, data_location=onnx.TensorProto.EXTERNAL
        )
        for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(size))):
            weight.external_data.add(key=key, value=value)
        weights.append(weight)
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(size)
    value = onnx.helper.make_tensor_value_info
    nodes = [onnx.helper.make_node("Add", ["x" if i == 0 else f"y{i - 1}", f"w{i}"], [f"y{i}"]) for i in range(tensors)]
    out = value(f"y{tensors - 1}", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph(nodes, "g", [value("x", onnx.TensorProto.FLOAT, [1])], [out], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert main(["run", str(tmp_path / "m.onnx")]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
