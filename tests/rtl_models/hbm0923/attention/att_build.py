"""Builds the attention unit's bench: Verilator, the bench's memories and att_main.cpp."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from hardware_files import listed
from verilated import verilated

from fleet.engines.rtl_sim.cache import cache_folder, locked
from fleet.engines.rtl_sim.tools import find_toolchain

HERE = Path(__file__).parent
RTL = HERE.parents[3] / "rtl_models"
PACKAGES = (
    "arith/fp_pkg.sv",
    "arith/fp_fn_pkg.sv",
    "arith/fp_view_pkg.sv",
    "arith/fp_cut.sv",
    "arith/fp_delay.sv",
    "arith/fixed_pair_to_fp32_pipe.sv",
    "arith/fp32_mul_short_pipe.sv",
    "arith/fp32_to_fp16_pipe.sv",
    "generated/hbm0923.vlt",
    "generated/hbm0923_pkg.sv",
    "axi/fleet_axi_pkg.sv",
    "hbm0923/hbm0923_unit_pkg.sv",
)
OPTIONS = ["--top-module", "att_bench", "-O3", "--x-assign", "fast", "--x-initial", "unique"]
OPTIONS += [
    "--no-timing",
    "--assert",
    "--timescale",
    "1ns/1ps",
    "-Wno-fatal",
    "--quiet-stats",
]


def sources() -> list[Path]:
    """The unit's files in compile order, then the bench."""
    unit = sorted((RTL / "hbm0923").glob("hbm0923_att_*.sv"))
    first = [p for p in unit if p.name.endswith("_pkg.sv")]
    rest = [p for p in unit if p not in first]
    ctrl = [RTL / f"hbm0923/hbm0923_{name}.sv" for name in ("beat_errors", "settled", "unit_ctrl", "attention")]
    memory = [RTL / "memory/fleet_axi_checker.sv", RTL / "memory/fleet_memory.sv"]
    return [*(listed("hbm0923", p) for p in PACKAGES), *first, *rest, *ctrl, *memory, HERE / "att_bench.sv"]


def build(parameters: dict[str, int]) -> Path:
    """The executable for these parameters of att_bench; built once for the same sources and tools."""
    tools = find_toolchain()
    cpp = [*sorted((RTL / "memory").glob("*.cpp")), HERE / "att_main.cpp"]
    headers = sorted((RTL / "memory").glob("*.h"))
    files = [*sources(), *cpp, *headers]
    settings = [*OPTIONS, *(f"-G{name}={value}" for name, value in parameters.items())]
    text = "\n".join([*settings, str(tools.verilator)]).encode()
    key = hashlib.sha256(text + b"".join(p.name.encode() + p.read_bytes() for p in files)).hexdigest()[:24]
    folder = cache_folder() / f"att_bench-{key}"
    with locked(folder.with_suffix(".lock"), lambda: None):
        done = folder / "Vtop"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for path in files:
                shutil.copy(path, folder / path.name)
            names = [p.name for p in (*sources(), *cpp)]
            shutil.copy(verilated([*settings, *names], folder, "Vtop"), done)
    return done
