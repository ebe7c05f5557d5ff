"""iss against rtl on 4096 x 256 and 4096 x 4096 products: the same instructions, interleaved, digests on.

    python benchmarks/iss_vs_rtl.py [--rounds N] [--device NAME ...] [--outputs N ...] [--tokens N ...]

Both are timed through their backend's `execute`: `iss` does legality, semantics, digest and apply, `rtl` lasts from the
request of the job to its end (cocotb in burst mode, process and build apart). A short instruction would not last long enough
to be timed, so both sides repeat it. Best of the rounds on both sides; commits of both are compared.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.engines.rtl import RtlBackend
from fleet.frontend.source import load
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel

CHIN = 4096
MODEL = """def forward(a: "float32[N, 4096]", b: "float32[4096, M]"):
    c = a @ b
    return c
"""


def race(name: str, tokens: int, chout: int, rounds: int) -> tuple[float, float, int]:
    """(iss seconds, rtl seconds, rtl cycles) of one pass over `tokens` tokens; the commits are held to be equal."""
    instruction_set, device = find_device(name)
    rng = np.random.default_rng(tokens)
    weights = {"b": rng.normal(0, 0.02, (CHIN, chout)).astype(np.float32)}
    inputs = {"a": rng.normal(0, 1, (tokens, CHIN)).astype(np.float32)}
    repeat = max(1, 64 * 256 // (tokens * chout))
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.py"
        model.write_text(MODEL)
        compiled = compile_accel(load(f"{model}:forward", weights, inputs), instruction_set, device)
        calls = list(compiled.calls)
        memory = MappedMemory.fresh(device, Path(folder) / "memory", compiled.images(), compiled.registers)
        packed = instruction_set.layout.pack(inputs["a"])
        memory.view("ddr", compiled.plan.buffers["%a"].offset, packed.size)[:] = packed
        functional, backend = IssBackend(), RtlBackend()
        for opened in (functional, backend):
            opened.open(instruction_set, device, memory, RunOptions(device=name, workdir=Path(folder)))
        iss, rtl, cycles = float("inf"), float("inf"), 0
        try:
            for _ in range(rounds):
                start = time.perf_counter()
                expected = [functional.execute(calls, 0) for _ in range(max(repeat, 8))][-1]
                iss = min(iss, (time.perf_counter() - start) / max(repeat, 8))
                start = time.perf_counter()
                found = backend.execute(calls * repeat, 0)
                rtl = min(rtl, (time.perf_counter() - start) / repeat)
                assert [c.digest for c in found] == [c.digest for c in expected] * repeat
                cycles = sum((c.end or 0) - (c.start or 0) for c in found[: len(calls)])
        finally:
            backend.close()
            memory.close()
    return iss, rtl, cycles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--outputs", type=int, action="append", help="output channels (default: 256 and 4096)")
    parser.add_argument("--tokens", type=int, action="append", help="default: 1 and 64")
    parser.add_argument("--device", action="append", help="may be given several times (default: hbm0923)")
    args = parser.parse_args()
    heads = ("device", "outputs", "tokens", "iss ms", "rtl ms", "rtl/iss", "rtl cycles", "iss M MAC/s", "rtl M MAC/s")
    print("".join(f"{h:>14}" for h in heads))
    for name, chout, tokens in product(args.device or ["hbm0923"], args.outputs or [256, 4096], args.tokens or [1, 64]):
        iss, rtl, cycles = race(name, tokens, chout, args.rounds)
        macs = tokens * CHIN * chout / 1e6
        times = f"{iss * 1e3:.3f}", f"{rtl * 1e3:.2f}", f"{rtl / iss:.1f}"
        row = (name, chout, tokens, *times, cycles, f"{macs / iss:.0f}", f"{macs / rtl:.0f}")
        print("".join(f"{v:>14}" for v in row), flush=True)


if __name__ == "__main__":
    main()
