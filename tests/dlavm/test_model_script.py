"""A script in the style of dlavm's own: options of the command line, a model that is ready, a header, a binary and a log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.dlavm import device, ne, transform, utils
from fleet.dlavm.driver import config
from fleet.dlavm.llm.chatglm import chatglm_expr_hbm
from fleet.dlavm.llm.llama import llama_expr_hbm
from fleet.dlavm.llm.qwen2 import qwen2_expr_hbm
from fleet.errors import DeviceError
from fleet.symbols.expr import ExprError

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
sys.setrecursionlimit(3000)
import os

import fleet.dlavm as dlavm
from fleet.dlavm import ne
from fleet.dlavm import transform
from fleet.dlavm import backend
from fleet.dlavm.target import targets
import fleet.dlavm.device
from fleet.dlavm.utils import StdCout
from fleet.dlavm.llm.llama import llama_expr_hbm

device = dlavm.device.hbm_accel.HBM0923
device.MAX_TOKEN = 512
name = f"llama_{device.MAX_TOKEN}_aux"
cout = StdCout()
cout += f"device {device.version}"
graph = llama_expr_hbm(device, "BLOCK_write_data", True, ir=True)
cout.separator()
kvcache = ne.Var("kvcache", 1)
last_token = ne.Var("last_token", device.MAX_TOKEN)
graph = transform.infer_type(graph, device, attrs={"kvcache": kvcache, "last_token": last_token})
blocks = {"global": 0x0, "weight": "global", "cache": "weight", "runtime": "cache", "insts": "runtime", "hbm": 0x0,
          "hbm_cache": "hbm", "onchip": 0x0}
settings = {"wt2hbm": False, "debug": True, "ddr_base": 0x20000_0000, "hbm_base": 0x0, "align": 0x4000, "lite": False,
            "namespace": False}
mod = backend.build(graph, blocks, name, True, targets.hpp, settings)
save = sys.argv[1]
with open(os.path.join(save, name + ".h"), "w") as f:
    f.write(mod.get_source())
with open(os.path.join(save, name + ".bin"), "wb") as f:
    f.write(mod.get_insts_bin())
dlavm.utils.LOG_WITH_PREFIX("expression", str(graph))
dlavm.utils.LOG_WITH_PREFIX("storage", str(mod.storage))
dlavm.utils.LOG_EXPORT(os.path.join(save, name + ".log"))
cout += "done"
print(cout.export())
"""


def test_the_script(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, tmp_path / "main.py", tmp_path], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("[INFO]  device hbm0923 ")
    assert "-" * 50 in ran.stdout
    header = (tmp_path / "llama_512_aux.h").read_text()
    assert 'blocks.0.attention.q_07.bin"' in header
    assert len((tmp_path / "llama_512_aux.bin").read_bytes()) % 64 == 0
    log = (tmp_path / "llama_512_aux.log").read_text()
    assert log.index(" expression ") < log.index("def main(") < log.index(" storage ")


@pytest.mark.parametrize("expression", [llama_expr_hbm, chatglm_expr_hbm, qwen2_expr_hbm])
def test_models_are_ready_and_passes_run_one_after_the_other(expression) -> None:
    chip = device.hbm_accel.HBM1128
    graph = transform.infer_type(expression(chip, "data", True), chip, attrs={"last_token": ne.Var("last_token", chip.MAX_TOKEN)})
    fused = transform.Sequential([transform.FusedOps(opt_level=1)])(graph)
    assert fused.checked_type == graph.checked_type
    assert transform.FusedOps(opt_level=0).visit(graph) is graph
    assert all(c.data.startswith("data/") for c in utils.constants(graph) if isinstance(c.data, str))


def test_the_largest_step_is_a_scripts_to_choose() -> None:
    chip = device.hbm_accel.HBM_SMALL
    most = chip.MAX_TOKEN
    chip.MAX_TOKEN = 7
    assert device.hbm_accel.HBM_SMALL.MAX_TOKEN == 7
    chip.MAX_TOKEN = most
    with pytest.raises(DeviceError, match=rf"MAX_TOKEN is 0, expected 1 to {most}"):
        chip.MAX_TOKEN = 0
    with pytest.raises(AttributeError, match="Tin of device hbm_small is its hardware's; MAX_TOKEN can be assigned"):
        chip.Tin = 3


def test_a_log_and_an_expression_as_text(tmp_path: Path) -> None:
    utils.LOG_CLEAR()
    utils.LOG_WITH_PREFIX("a", "one")
    utils.LOG_WITH_PREFIX("b", 2)
    utils.LOG_EXPORT(tmp_path / "log")
    assert (tmp_path / "log").read_text().splitlines()[1::2] == ["one", "2"]
    assert utils.GET_LOG() == {"a": ["one"], "b": ["2"]}
    config.sim_tool = "another"
    expression = (ne.Var("test", 9) + 2) * 12
    assert (expression.export("cpp"), expression.export("python")) == (expression.to_cpp(), expression.to_python())
    with pytest.raises(ExprError, match="no text of an expression in 'vhdl'"):
        expression.export("vhdl")
