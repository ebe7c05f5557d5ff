"""The public script for dlavm runs with one edit: `from dlavm` becomes `from fleet.dlavm`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.ir.accel.nodes import post_order

BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (Path(__file__).parent / "seed_script.md").read_text(), re.S)
PYTHON = [text.replace("from dlavm", "from fleet.dlavm") for kind, text in BLOCKS if kind == "python"]
PRINTED = [text.rstrip("\n") for kind, text in BLOCKS if kind == "shell"]


def run(*numbers: int) -> dict[str, Any]:
    """Runs blocks one behind the other, as the user's script does. Returns what it defined."""
    space: dict[str, Any] = {}
    for n in numbers:
        exec(compile(PYTHON[n], f"block {n}", "exec"), space)
    return space


def test_the_blocks_are_those_of_the_description() -> None:
    assert [kind for kind, _ in BLOCKS] == ["python", "shell", "python", "python", "shell", "python", "python", "cpp"]
    assert "mvm(a, b)" in PYTHON[0]
    assert "setrecursionlimit" in PYTHON[1]  # which is never needed here
    assert "infer_type" in PYTHON[2]
    assert "backend.build" in PYTHON[3]


def test_the_two_printed_graphs_come_out_character_for_character() -> None:
    assert str(run(0)["c"]) == PRINTED[0]
    assert str(run(0, 2)["c"]) == PRINTED[1]


def test_infer_type_leaves_the_graph_that_it_was_given() -> None:
    before = run(0)["c"]
    space: dict[str, Any] = {"c": before}
    exec(compile(PYTHON[2], "block 2", "exec"), {"ne": __import__("fleet.dlavm.ne", fromlist=["ne"]), **space}, space)
    assert space["c"] is not before
    assert str(before) == PRINTED[0]
    assert all(n.checked_type is None for n in post_order(before))


def test_the_global_attributes_are_on_every_call() -> None:
    space = run(0, 2)
    assert space["c"].attrs["last_token"] is space["last_token"]


def test_devices_resolve_by_their_names_and_have_dlavms_sizes() -> None:
    from fleet.dlavm import device

    found = device.hbm_accel.HBM0923
    assert (found.name, found.MAX_TOKEN, found.Tin, found.Tout, found.HBM_Port, found.T_quant_block) == (
        "hbm",
        2048,
        128,
        32,
        32,
        128,
    )
    assert (found.DAT_BRAM_DEPTH, found.WT_BRAM_DEPTH, found.log2_Bank_Step, found.Pixel_Data_Bytes) == (8192, 1024, 28, 64)
    assert device.hbm_accel.HBM1128.DAT_BRAM_DEPTH == 4096
    assert "HBM0923" in dir(device.hbm_accel)
    with pytest.raises(AttributeError, match="no device 'hbm9999'"):
        _ = device.hbm_accel.HBM9999
    with pytest.raises(AttributeError, match="MAX_TOKEN"):
        _ = found.NO_SUCH


def test_importing_the_builder_does_not_import_what_compiles_and_runs() -> None:
    code = """import sys
from fleet.dlavm import ne, adr, backend, target, llm, runtime
print([m for m in sys.modules if m.startswith(("fleet.engines", "fleet.targets", "fleet.llm"))])"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
