"""Matrix products on the RISC-V emulator: speed, instructions per multiply-add, and the time to compile.

    python benchmarks/riscv.py

MFLOP/s counts two operations a multiply-add and the emulator's run alone (best of three). Instructions are exact and do not
vary; everything else depends on the machine.
"""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.engines.riscv import run_image
from fleet.ir.build import make
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type
from fleet.targets.riscv.compile import compile_riscv

CASES = (
    (64, 64, 64, "float32"),
    (256, 256, 256, "float32"),
    (256, 256, 256, "float64"),
    (64, 64, 64, "int64"),
    (1, 1024, 1024, "float32"),
    (360, 64, 128, "float32"),
)


def product(m: int, k: int, n: int, dtype: str) -> Program:
    """x[m, k] @ w[k, n] with random contents."""
    x, w = tensor_type((m, k), dtype), tensor_type((k, n), dtype)
    block = Block(arg_types=[x, w])
    op = make("matmul", block.args)
    op.describe(id="product")
    block.add_ops([op, ReturnOp(op.results[0])])
    function = FuncOp("model", ([x, w], [op.results[0].type]), Region(block))
    weight = (np.random.default_rng(0).standard_normal((k, n)) * 9).astype(dtype)
    arguments = (Argument("x", (m, k), np.dtype(dtype), "input"), Argument("w", (k, n), np.dtype(dtype), "weight"))
    return Program(ModuleOp([function]), arguments, {"w": weight}, ("y",))


def main() -> None:
    """Prints the table."""
    table = Table(title="Matrix product M x K x N on RV64GC in Unicorn")
    for heading in ("M x K x N", "dtype", "MFLOP/s", "instructions", "per MAC", "MIPS", "compile ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for m, k, n, dtype in CASES:
        program = product(m, k, n, dtype)
        begun = time.perf_counter()
        compiled = compile_riscv(program)
        compile_s = time.perf_counter() - begun
        x = (np.random.default_rng(1).standard_normal((m, k)) * 9).astype(dtype)
        traces = [run_image(compiled, compiled.elf, {"x": x}) for _ in range(3)]
        counts = {trace.counters["instructions"] for trace in traces}
        assert len(counts) == 1, f"instruction counts differ between runs: {counts}"
        best, count, macs = min(trace.elapsed_s for trace in traces), counts.pop(), m * k * n
        figures = (
            f"{2 * macs / best / 1e6:.0f}",
            f"{count:,.0f}",
            f"{count / macs:.2f}",
            f"{count / best / 1e6:.0f}",
            f"{compile_s * 1e3:.0f}",
        )
        table.add_row(f"{m}x{k}x{n}", dtype, *figures)
    Console().print(table)


if __name__ == "__main__":
    main()
