"""Instructions retired of fleet's RISC-V kernels against clang's of plain C, counted in the same emulator.

    python benchmarks/riscv_clang.py

For every kernel the better of a naive and of tiled C loops (benchmarks/riscv_reference.c), compiled by clang-22 -O3 for rv64gc
with contraction allowed and sizes known at compile time, and fleet's own code for rv64gc and, where qemu-system-riscv64 is
installed, for rv64gcv with vectors of 256 bits. Results are compared with NumPy before anything is printed. Counts are exact.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engines"))
from riscv_models import model

from fleet.engines.riscv import run_image
from fleet.engines.riscv_emulators.registry import find_emulator
from fleet.engines.riscv_emulators.unicorn import UnicornEmulator
from fleet.ir.program import Program
from fleet.targets.riscv.compile import compile_riscv
from fleet.targets.riscv.elf import write_image
from fleet.targets.riscv.isa import find_isa
from fleet.targets.riscv.linker import link

REFERENCE = Path(__file__).with_name("riscv_reference.c")
CLANG = "clang-22"
DATA, STACK = 0x9000_0000, 0xF000_0000


@dataclass(frozen=True)
class Kernel:
    """One line of the table: name, unit, C kernels (number, TILE), sizes, program and what NumPy gives."""

    name: str
    variants: tuple[tuple[int, int], ...]
    sizes: tuple[int, int, int]
    units: int
    program: Program
    inputs: dict[str, np.ndarray]
    expected: np.ndarray


def _arrays(m: int, k: int, n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "a": rng.standard_normal((m, k if k else n)).astype(np.float32),
        "b": rng.standard_normal((k or 1, n)).astype(np.float32),
        "gain": rng.standard_normal(n).astype(np.float32),
        "shift": rng.standard_normal(n).astype(np.float32),
    }


def kernels() -> list[Kernel]:
    """The figures' kernels."""
    found: list[Kernel] = []
    for m, k, n in ((64, 64, 64), (256, 256, 256), (8, 768, 3072)):
        data = _arrays(m, k, n)
        given = {x: data[x] for x in "ab"}
        program = model(given, lambda mk, a, b: mk("matmul", a, b))
        want = data["a"].astype(np.float64) @ data["b"]
        found.append(Kernel(f"GEMM {m}x{k}x{n}", ((0, 1), (1, 1), (2, 4), (3, 32)), (m, k, n), m * k * n, program, given, want))
    data = _arrays(64, 0, 768)
    x = data["a"].astype(np.float64)
    e = np.exp(x - x.max(-1, keepdims=True))
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    rows: list[tuple[str, tuple[tuple[int, int], ...], Callable[..., Any], list[str], np.ndarray]] = [
        ("softmax 64x768", ((4, 1), (5, 1)), lambda mk, a: mk("softmax", a, axis=1), ["a"], e / e.sum(-1, keepdims=True)),
        (
            "layer norm 64x768", ((6, 1), (7, 1)), lambda mk, a, g, s: mk("layer_norm", a, g, s, eps=1e-5),
            ["a", "gain", "shift"], normal * data["gain"] + data["shift"],
        ),
        (
            "GELU 64x768", ((8, 1), (9, 1)), lambda mk, a: mk("gelu", a, approximate="tanh"), ["a"],
            0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        ),
    ]  # fmt: skip
    for name, variants, body, names, want in rows:
        given = {n: data[n] for n in names}
        found.append(Kernel(name, variants, (64, 0, 768), 64 * 768, model(given, body), given, want))
    return found


def clang(kernel: Kernel, number: int, tile: int) -> int:
    """Instructions of one C kernel."""
    m, k, n = kernel.sizes
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernel.o"
        subprocess.run(
            [CLANG, "-O3", "--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-ffreestanding",
             "-fno-builtin", "-fno-math-errno", "-ffp-contract=fast", "-fno-unwind-tables", f"-DKERNEL={number}", f"-DTILE={tile}",
             f"-DM={m}", f"-DK={k}", f"-DN={n}", "-c", str(REFERENCE), "-o", str(target)],
            check=True,
        )  # fmt: skip
        code = target.read_bytes()
    data = _arrays(m, k, n) | {"c": np.zeros((m, n), np.float32)}
    places: dict[str, tuple[int, int]] = {}
    at = DATA
    for name, array in data.items():
        places[name] = (at, array.nbytes)
        at += -(-array.nbytes // 0x1000) * 0x1000
    machine = UnicornEmulator()
    try:
        machine.load(link(code, 0x8000_0000, "entry", places))
        for name, array in data.items():
            machine.map(places[name][0], -(-array.nbytes // 0x1000) * 0x1000, writable=name == "c")
            machine.write(places[name][0], array.tobytes())
        machine.map(STACK, 0x10000, writable=True)
        run = machine.run(_entry(code, places), STACK + 0x10000, limit=1 << 40)
        result = np.frombuffer(machine.read(*places["c"]), np.float32).reshape(m, n)
    finally:
        machine.close()
    np.testing.assert_allclose(result, kernel.expected, rtol=1e-4, atol=1e-4)
    return run.instructions


def _entry(code: bytes, places: dict[str, tuple[int, int]]) -> int:
    return link(code, 0x8000_0000, "entry", places).entry


def ours(kernel: Kernel, isa: str, emulator: str) -> int:
    """Instructions of fleet's code for the operation itself."""
    compiled = compile_riscv(kernel.program, isa=find_isa(isa))
    trace = run_image(compiled, write_image(compiled.image), kernel.inputs, emulator=find_emulator(emulator).make(compiled.isa))
    np.testing.assert_allclose(trace.outputs["out0"], kernel.expected, rtol=1e-4, atol=1e-4)
    return int(trace.counters["instructions"])


def main() -> None:
    """Prints the table."""
    has_clang = shutil.which(CLANG) is not None
    has_vectors = find_emulator("qemu").available() is None
    title = "Instructions retired per multiply-add or element"
    if not has_clang:
        title += f" ({CLANG} is not installed: its columns are empty)"
    table = Table(title=title)
    for heading in ("kernel", "naive C", "tiled C", "rv64gc", "to C", "rv64gcv", "C to it"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right", no_wrap=True)
    for kernel in kernels():
        counts = [clang(kernel, *variant) for variant in kernel.variants] if has_clang else []
        half = len(counts) // 2
        naive, tiled = (min(c, default=0) / kernel.units for c in (counts[:half], counts[half:]))
        scalar = ours(kernel, "rv64gc", "unicorn") / kernel.units
        vector = ours(kernel, "rv64gcv", "qemu") / kernel.units if has_vectors else 0.0
        best = min(naive, tiled)
        table.add_row(
            kernel.name,
            *((f"{naive:.3f}", f"{tiled:.3f}") if counts else ("", "")),
            f"{scalar:.3f}",
            f"{scalar / best:.3f}" if counts else "",
            f"{vector:.3f}" if vector else "",
            f"{best / vector:.1f}" if vector and counts else "",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
