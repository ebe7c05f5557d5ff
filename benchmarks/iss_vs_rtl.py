"""iss against rtl on the 4096 x 256 product: the same instructions, interleaved, digests on.

    python benchmarks/iss_vs_rtl.py [--rounds N] [--device NAME ...]

`iss` is timed through `execute_calls` (legality, semantics, digest, apply), `rtl` from the request of the job to its end
(cocotb in burst mode, process and build apart). One instruction would not last long enough to be timed in the simulation, so
a job repeats it. Best of the rounds on both sides; commits of both are compared.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.iss import execute_calls
from fleet.engines.rtl import RtlBackend
from fleet.frontend.source import load
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel

ROOT = Path(__file__).resolve().parents[1]
CHIN, CHOUT = 4096, 256


def race(name: str, tokens: int, rounds: int) -> tuple[float, float, int]:
    """(iss seconds, rtl seconds, rtl cycles) of one pass over `tokens` tokens; the commits are held to be equal."""
    from fleet.engines.accel import load_constants

    instruction_set, device = find_device(name)
    rng = np.random.default_rng(tokens)
    weights = {"b": rng.normal(0, 0.02, (CHIN, CHOUT)).astype(np.float32)}
    inputs = {"a": rng.normal(0, 1, (tokens, CHIN)).astype(np.float32)}
    program = load(f"{ROOT / 'examples/mvm4096/model.py'}:forward", weights, inputs)
    compiled = compile_accel(program, instruction_set, device, {})
    calls = list(compiled.calls)
    repeat = max(1, 64 // tokens)
    with tempfile.TemporaryDirectory() as folder:
        memory = MappedMemory(device, Path(folder) / "memory")
        load_constants(compiled, memory)
        packed = instruction_set.layout.pack(inputs["a"])
        memory.view("ddr", compiled.plan.buffers["%a"].offset, packed.size)[:] = packed
        backend = RtlBackend()
        backend.open(instruction_set, device, memory, RunOptions(device=name, workdir=Path(folder)))
        iss, rtl, cycles = float("inf"), float("inf"), 0
        try:
            for _ in range(rounds):
                start = time.perf_counter()
                expected = [list(execute_calls(instruction_set, device, memory, calls, 0)) for _ in range(repeat)][-1]
                iss = min(iss, (time.perf_counter() - start) / repeat)
                start = time.perf_counter()
                found = backend.execute(calls * repeat, 0)
                rtl = min(rtl, (time.perf_counter() - start) / repeat)
                assert [c.digest for c in found[: len(calls)]] == [c.digest for c in expected]
                cycles = sum((c.end or 0) - (c.start or 0) for c in found[: len(calls)])
        finally:
            backend.close()
            memory.close()
    return iss, rtl, cycles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--device", action="append", help="may be given several times (default: hbm0923)")
    args = parser.parse_args()
    print(
        "".join(f"{h:>14}" for h in ("device", "tokens", "iss ms", "rtl ms", "rtl/iss", "rtl cycles", "iss M MAC/s", "rtl M MAC/s"))
    )
    for name in args.device or ["hbm0923"]:
        for tokens in (1, 64):
            iss, rtl, cycles = race(name, tokens, args.rounds)
            macs = tokens * CHIN * CHOUT / 1e6
            row = (
                name,
                tokens,
                f"{iss * 1e3:.3f}",
                f"{rtl * 1e3:.2f}",
                f"{rtl / iss:.1f}",
                cycles,
                f"{macs / iss:.0f}",
                f"{macs / rtl:.0f}",
            )
            print("".join(f"{v:>14}" for v in row))


if __name__ == "__main__":
    main()
