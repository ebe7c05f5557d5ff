"""Files of every kind that a user may name first, small ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from command_line import DENSE
from onnx import TensorProto, helper, numpy_helper

from fleet.compiler import compile_model
from fleet.llm.files.tiny_files import write_gguf, write_hugging_face
from fleet.llm.tiny import tiny_model


def python(folder: Path) -> str:
    """A model whose function is not named on the command line."""
    (folder / "model.py").write_text(DENSE)
    return "model.py"


def script(folder: Path) -> str:
    (folder / "script.py").write_text("import numpy as np\n\nprint(np.ones((2, 3), np.float32) @ np.ones((3, 2), np.float32))\n")
    return "script.py"


def onnx_model(folder: Path) -> str:
    weights = {"w": np.eye(64, 32, dtype=np.float32), "b": np.arange(32, dtype=np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], "dense"), helper.make_node("Relu", ["h"], ["y"], "act")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 64])
    y = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(a, n) for n, a in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), folder / "m.onnx")
    return "m.onnx"


def gguf(folder: Path) -> str:
    write_gguf(folder / "m.gguf", tiny_model("llama"))
    return "m.gguf"


def hugging_face(folder: Path) -> str:
    write_hugging_face(folder / "hf", tiny_model("qwen2"))
    return "hf"


def bytecode(folder: Path) -> str:
    (folder / "model.py").write_text(DENSE)
    compile_model(f"{folder}/model.py:forward").write("bytecode", folder / "m.fbc")
    return "m.fbc"


def case(folder: Path) -> str:
    (folder / "model.py").write_text(DENSE)
    (folder / "c.toml").write_text('name = "c"\nmodel = "model.py:forward"\nengines = ["vm", "iss"]\ndevices = ["hbm_small"]\n')
    return "c.toml"


def instruction_set(folder: Path) -> str:
    return "vgemm_small"


def pytorch(folder: Path) -> str:
    with zipfile.ZipFile(folder / "net.pt", "w") as archive:
        archive.writestr("archive/data.pkl", "x")
    return "net.pt"


def arrays(folder: Path) -> str:
    np.savez(folder / "w.npz", w=np.zeros((64, 32), np.float32))
    return "w.npz"


FILES: Mapping[str, Callable[[Path], str]] = {
    f.__name__: f for f in (python, script, onnx_model, gguf, hugging_face, bytecode, case, instruction_set, pytorch, arrays)
}
