"""What units cost the simulation of hbm0923: `python benchmarks/units.py [--rounds N] [--mode fast] [--pgo] [--before CHECKOUT]`

Idle cost: the share of the time that the unit's own code takes while an MVM runs (one token, 4096 x 256), by perf's samples (see
`profiling/samples.py`): the unit does nothing then. Code of no instance (arithmetic, memories, simulator) is stated too.
Active: the unit's instruction, as it stands in a block of ChatGLM2 with 511 cached tokens, repeated as one job; cycles of the
simulation a second of processor time, the best of the rounds, and multiply-accumulates a second where it has such.
--before: the same jobs in turn on the simulation of another checkout, with the ratio; cycles must be equal.
--pgo: the fast build by a profile of all these jobs, each run once (`fleet build --pgo` runs streams of the conformance suite).
--instructions: host instructions a cycle by owner while an MVM runs, counted by valgrind, instead of perf's samples.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "transformer_block"))

from block import Block, build
from checkouts import other_executable
from profiling.instructions import can_count, counted
from profiling.samples import missing_tools, shares
from shapes import CHATGLM2

from fleet.engines.rtl_sim.build import build as build_simulation
from fleet.engines.rtl_sim.build import design_of, train
from fleet.engines.rtl_sim.job import JobScript
from fleet.engines.rtl_sim.modes.recipe import MODES, build_mode
from fleet.engines.rtl_sim.segment import Segment
from fleet.isa.registry import find_device
from fleet.sdk import Call, Write
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of
from fleet.streams.images import Images

DEVICE = "hbm0923"
SHAPE = replace(CHATGLM2, name="units", ffn=4096)
LAST = 511
UNITS = {
    "u_mvm": "MVM", "u_sfu": "SFU", "u_attention": "attention", "u_elementwise": "elementwise", "u_aux": "wt2hbm, fetch",
    "u_hbm_hub": "HBM hub", "u_ddr_hub": "DDR hub, on-chip", "u_dispatch": "dispatcher", "u_registers": "registers", "top": "top",
}  # fmt: skip


@dataclass(frozen=True)
class Active:
    """A unit at work: macs of one instruction, 0 where it has none."""

    name: str
    unit: str
    call: Call
    macs: int = 0


def instructions(one: Block, many: Block, room: int) -> tuple[list[Active], list[Active]]:
    """What runs on the memory of each block. room: of DDR behind the first one's tensors."""
    calls = {c.ops[0]: c for c in one.calls}
    elementwise = ElementwiseTensors(
        mode=ElementwiseMode.MUL, **groups_of(4096), lines=1, tokens=32, a_addr=room, b_addr=room + (1 << 20), a_surface=2048,
        a_line=2048, out_addr=room + (2 << 20), out_surface=2048, out_line=2048,
    )  # fmt: skip
    attended = SHAPE.heads * (LAST + 1) * SHAPE.head
    product = SHAPE.channels * SHAPE.key
    return [
        Active("mvm, 1 token", "MVM", calls["wk"], product),
        Active("norm", "SFU", calls["norm1"]),
        Active("softmax", "SFU", calls["softmax"]),
        Active("pos_emb", "SFU", calls["rope_q"]),
        Active("act", "SFU", calls["silu"]),
        Active("elementwise", "elementwise", Call("elementwise", elementwise.encode())),
        Active("trp_mvm", "attention", calls["scores"], attended),
        Active("f2w_mvm", "attention", calls["mix"], attended),
        Active("dat2hbm", "attention", calls["cache_k"]),
    ], [Active("mvm, 64 tokens", "MVM", next(c for c in many.calls if c.ops[0] == "wk"), 64 * product)]


def play(executable: Path, job: Path) -> tuple[int, float]:
    """Cycles and seconds of processor time of one job."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([str(executable), str(job)], check=True, capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    found = re.search(r": (\d+) cycles", run.stdout)
    if found is None:
        raise SystemExit(f"no cycles in {run.stdout!r}")
    return int(found[1]), seconds


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=100_000, help="of a job, about")
    parser.add_argument("--mode", choices=MODES, help="of the build; default: FLEET_RTL_BUILD, else checked")
    parser.add_argument("--pgo", action="store_true", help="a fast build, by a profile of these jobs")
    parser.add_argument("--before", type=Path, help="another checkout, built as it builds")
    parser.add_argument("--only", default="", help="jobs whose name has this in it")
    parser.add_argument("--instructions", action="store_true", help="count them with valgrind")
    args = parser.parse_args()
    instruction_set, device = find_device(DEVICE)
    design = design_of(instruction_set, device)
    mode = build_mode("fast" if args.pgo else args.mode)
    before = other_executable(args.before.resolve(), DEVICE) if args.before else None
    with tempfile.TemporaryDirectory(prefix="fleet-units-") as name:
        folder = Path(name)
        one, many = build(SHAPE, device, tokens=1, last=LAST), build(SHAPE, device, tokens=64)
        jobs: list[tuple[str, str, int, Path]] = []  # name, unit, multiply-accumulates of the job, file
        for i, (block, actives) in enumerate(zip((one, many), instructions(one, many, one.ddr_end), strict=True)):
            images = Images(device, folder / f"memory{i}")
            writes = [Write("ddr", o, x) for o, x in block.ddr] + [Write("hbm", o, x, p) for p, o, x in block.hbm]
            images.fill(writes)
            for active in actives:
                repeat = max(1, args.cycles // Segment(instruction_set, device, [active.call]).expected_cycles)
                job = folder / active.name
                Segment(instruction_set, device, [active.call] * repeat).job(job, images.memory, "ideal").save(job)
                jobs.append((active.name, active.unit, active.macs * repeat, job))
            if i == 0:
                script = JobScript()
                for _ in range(args.cycles // 2):
                    script.read(4)
                idle = folder / "idle"
                segment = Segment(instruction_set, device, [actives[0].call])
                segment.job(idle, images.memory, "ideal", script=script).save(idle)
                jobs.insert(0, ("nothing (a register is polled)", "", 0, idle))
        if args.pgo:
            with train(design, "profile") as counting:
                for *_, job in jobs:
                    play(counting, job)
        executable = build_simulation(design, "profile", mode=mode)
        jobs = [job for job in jobs if args.only in job[0]]
        best: dict[str, tuple[int, float]] = {}
        other: dict[str, float] = {}
        for _ in range(args.rounds):
            for job_name, _, _, job in jobs:
                if before is not None:
                    cycles, seconds = play(before, job)
                    if best.get(job_name, (cycles,))[0] != cycles:
                        raise SystemExit(f"{job_name}: the cycles differ")
                    other[job_name] = min(seconds, other.get(job_name, seconds))
                cycles, seconds = play(executable, job)
                if job_name not in best or seconds < best[job_name][1]:
                    best[job_name] = cycles, seconds
        print(f"{'active':32} {'unit':12} {'k cycles/s':>11} {'M MAC/s':>8} {'before':>8} {'ratio':>6}")
        for job_name, unit, macs, _ in jobs:
            cycles, seconds = best[job_name]
            row = f"{job_name:32} {unit:12} {cycles / seconds / 1e3:11.0f} {f'{macs / seconds / 1e6:.0f}' if macs else '':>8}"
            print(row + (f" {cycles / other[job_name] / 1e3:8.0f} {other[job_name] / seconds:6.2f}" if other else ""))
        if args.instructions:
            if not can_count():
                raise SystemExit("valgrind is not installed")
            cycles, _ = play(executable, folder / "mvm, 1 token")
            owners = counted(executable, folder / "mvm, 1 token", folder)
            whole = sum(owners.values())
            print(f"\n{'while an MVM runs':32} {'instructions a cycle':>21} {'share':>7}")
            for key, count in [("all", whole), *owners.most_common()]:
                print(f"{UNITS.get(key, key):32} {count / cycles:21,.0f} {100 * count / whole:6.1f}%")
            return
        if absent := missing_tools():
            print(f"no profile: {', '.join(absent)} not installed")
            return
        found = shares(executable, folder / "mvm, 1 token", folder)
        print(f"\n{'while an MVM runs':32} {'share of time':>13}")
        for key, share in found.items():
            print(f"{UNITS.get(key, key):32} {100 * share:12.1f}%")


if __name__ == "__main__":
    main()
