"""Programs as long as programs may be: read, compiled, run and compared, out of ONNX and out of NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance

NODES = 19_990
"""A program has at most 20,000 operations."""


def from_onnx(folder: Path) -> str:
    """Relu and Add in turn."""
    nodes = [
        helper.make_node("Add", [f"t{i}", "w"], [f"t{i + 1}"]) if i % 2 else helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"])
        for i in range(NODES)
    ]
    ports = [helper.make_tensor_value_info(name, 1, [4, 8]) for name in ("t0", f"t{NODES}")]
    weight = numpy_helper.from_array(np.linspace(-0.5, 0.25, 8, dtype=np.float32), "w")
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "chain.onnx")
    return str(folder / "chain.onnx")


def from_numpy(folder: Path) -> str:
    """The same in NumPy, in one variable; two operations and one constant an iteration."""
    path = folder / "chain.py"
    path.write_text(
        "import numpy as np\n\ndef f(t0: 'float32[4, 8]', w: 'float32[8]'):\n"
        f"    for i in range({NODES // 3}):\n        t0 = np.maximum(t0, 0) + w\n    return t0\n"
    )
    return f"{path}:f"


@pytest.mark.nightly
@pytest.mark.parametrize(("make", "engines"), [(from_onnx, ("vm", "onnxruntime")), (from_numpy, ("vm", "riscv"))])
def test_a_chain_as_long_as_a_program(make: object, engines: tuple[str, ...], tmp_path: Path) -> None:
    assert callable(make)
    x = np.random.default_rng(7).standard_normal((4, 8)).astype(np.float32)
    weights = {"w": np.linspace(-0.5, 0.25, 8, dtype=np.float32)} if make is from_numpy else None
    program = fleet.compile(make(tmp_path), weights=weights, inputs={"t0": x}).program
    options = CosimOptions(model="chain", data=DataProvenance("random", 7, None, None, "drawn"))
    result = cosim(program, {"t0": x}, None, engines, options)
    assert result.verdict == "pass", result.reasons
    assert result.comparisons[0].elements >= x.size
