"""Work that grows with the program and not with its square: counted in lines of fleet that run, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block

import fleet
from fleet.core.unique import Taken
from fleet.frontend.onnx import reader
from fleet.ir.arguments import append_argument, erase_arguments
from fleet.ir.types import tensor_type
from fleet.targets.liveness import FOREVER, Life
from fleet.targets.planner import share
from fleet.targets.riscv.compile import compile_riscv
from fleet.transforms.edit import Edit
from fleet.transforms.pipeline import run_pipeline

FOLDER = str(Path(fleet.__file__).parent)
BODIES = {
    "one variable": "x = np.maximum(x, w)\n        x = x + w",
    "named by lines": "a = x * w\n        x = a - w",
    "views": "x = x.T.reshape(4, 4)\n        x = x + w",
    "nested functions": "x = np.tanh(x) + x",
    "roots": "x = np.sqrt(x * x + w) * x",
}


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of fleet run."""
    count = 0

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(FOLDER) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def assert_linear(work: Callable[[int], Callable[[], object]], n: int) -> None:
    """What the second n takes, twice, is what the next two n take."""
    one, two, four = (lines_of(work(k * n)) for k in (1, 2, 4))
    assert four - two <= 1.15 * 2 * (two - one), (one, two, four)


def source(kind: str, count: int, folder: Path) -> str:
    path = folder / f"chain{count}.py"
    path.write_text(
        "import numpy as np\n\ndef f(x: 'float32[4, 4]', w: 'float32[4, 4]'):\n"
        f"    for i in range({count}):\n        {BODIES[kind]}\n    return x\n"
    )
    return f"{path}:f"


def compiled(kind: str, count: int, folder: Path) -> fleet.Compiled:
    w = np.ones((4, 4), np.float32)
    return fleet.compile(source(kind, count, folder), weights={"w": w}, inputs={"x": w})


@pytest.mark.parametrize("kind", ["one variable", "named by lines"])
def test_reading_a_source(kind: str, tmp_path: Path) -> None:
    compiled(kind, 3, tmp_path)
    assert_linear(lambda n: lambda: compiled(kind, n, tmp_path), 60)


@pytest.mark.parametrize(("kind", "pipeline"), [("views", "accel"), ("nested functions", "riscv"), ("roots", "riscv")])
def test_pipelines(kind: str, pipeline: str, tmp_path: Path) -> None:
    run_pipeline(compiled(kind, 3, tmp_path).program, pipeline)

    def work(n: int) -> Callable[[], object]:
        program = compiled(kind, n, tmp_path).program
        return lambda: run_pipeline(program, pipeline)

    assert_linear(work, 25)


def test_looking_into_nested_functions_is_bounded(tmp_path: Path) -> None:
    """A normal form doubles with every function around it: what no formula has is not followed."""
    program = compiled("nested functions", 60, tmp_path).program
    assert lines_of(lambda: run_pipeline(program, "riscv")) < 1_000_000


@pytest.mark.parametrize("last", [FOREVER, 1])
def test_sharing_memory(last: int) -> None:
    def work(n: int) -> Callable[[], object]:
        lives = {i: Life(64 + i % 7, i, last if last == FOREVER else i + last) for i in range(n)}
        return lambda: share(lives, 64)

    assert_linear(work, 500)


def test_the_symbols_of_an_image_are_gathered_once(tmp_path: Path) -> None:
    program = compile_riscv(compiled("one variable", 2, tmp_path).program)
    assert program.symbols is program.symbols


def test_names() -> None:
    def work(n: int) -> Callable[[], object]:
        return lambda: [Taken().unique("x")] + [taken.unique("x") for taken in [Taken(["x.3"])] for _ in range(n)]

    assert_linear(work, 300)
    taken = Taken(["x", "x.2"])
    assert [taken.unique(n) for n in ("x", "x", "y", "x.1")] == ["x.1", "x.3", "y", "x.1.1"]


def test_the_names_of_a_graph_are_gathered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnx import helper

    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in range(20)]
    ports = [helper.make_tensor_value_info(name, 1, [2]) for name in ("t0", "t20")]
    seen: list[object] = []
    node = reader._Reading.node  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(reader._Reading, "node", lambda *given: seen.append(given[5]) or node(*given))
    reader._Reading("m.onnx", None).graph(helper.make_graph(nodes, "g", ports[:1], ports[1:]), "m.onnx", frozenset(), 0)
    assert len(seen) == 20
    assert all(names is seen[0] for names in seen)


def test_order_is_kept_up_to_date(tmp_path: Path) -> None:
    """After every change through an edit its numbers ascend in program order."""
    program = compiled("one variable", 40, tmp_path).program
    edit, rng = Edit(program), np.random.default_rng(3)
    edit.order()
    for i in range(400):
        ops = edit.operations()
        if i % 3:
            place = ops[int(rng.integers(len(ops))) if i % 2 else len(ops) // 2]  # often the same: numbers between run out
            edit.insert_before(place, place.clone(), f"new{i}")
        else:
            edit.sweep([ops[int(rng.integers(len(ops)))]])
        order = edit.order()
        numbers = [order[op] for op in edit.operations()]
        assert numbers == sorted(set(numbers))


def test_arguments_of_a_block() -> None:
    block = Block()
    values = [append_argument(block, tensor_type((i,), np.dtype(np.float32))) for i in range(6)]
    erase_arguments(block, [values[4], values[0], values[1]])
    assert [*block.args] == [values[2], values[3], values[5]]
    assert [value.index for value in block.args] == [0, 1, 2]
