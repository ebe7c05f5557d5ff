"""Every cycle of an instruction lies in the class in which it belongs: an account that does not come from the hardware's counters.

That the six classes sum to the cycles between start and commit is checked at every commit. Here each is held alone. Between
ideal memory and one that takes `LATER` cycles more to the first beat and to the answer of a write, nothing but waiting may change;
what an instruction reads and writes, and over which port, is known from its ranges and from the bench's count of bytes; so is
which classes it can have at all (docs/reading-a-report.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from chosen import devices

from fleet.cosim.streams.case import Setting, StreamCase, StreamCommit
from fleet.cosim.streams.run import StreamRunner
from fleet.cosim.streams.suite import make_case, names
from fleet.engines.rtl_sim.job import Status
from fleet.engines.trace import CYCLE_CLASSES
from fleet.sdk import Call
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.vgemm.operands import LoadOperands, MemoryType

LATER = 99
SLOW = Setting(f"fixed:{LATER + 1}")  # ideal memory answers after one cycle
STALLED = Setting("stall:3")
CASES = 8  # of an instruction
BEATS = {"ddr": PIXEL_BYTES, "hbm": 32}  # bytes that a port moves in a cycle

WEIGHTS = frozenset({"mvm", "mvm_bn", "mvm_bn_res", "trp_mvm", "f2w_mvm", "norm", "pos_emb", "wt2hbm"})
"""Instructions of hbm0923 that read weights, keys, values or coefficients; wt2hbm, which moves them, reads no activations."""

OVERLAPPING = frozenset({"norm", "pos_emb", "softmax", "act", "elementwise"})
"""Instructions of hbm0923 that work on one beat while they wait for the next: a cycle of both counts as one of them."""


ANSWERED = frozenset({"wt2hbm"})
"""Instructions of hbm0923 that write bursts one after the other: each is asked for in a cycle, and the last is waited for."""


def can_wait_for(instruction_set: str, call: Call) -> Mapping[str, bool]:
    """Class -> whether the instruction's text lets a cycle be in it."""
    if instruction_set == "hbm0923":
        reads_weights = call.instruction in WEIGHTS
        return {"compute": True, "weight_wait": reads_weights, "activation_wait": call.instruction != "wt2hbm", "write_back": True}
    if instruction_set != "vgemm":
        return dict.fromkeys(("compute", "weight_wait", "activation_wait", "write_back"), True)
    weights = call.instruction == "load" and LoadOperands.decode(call.fields).memory_type == MemoryType.WGT
    return {
        "compute": call.instruction in {"gemm", "alu"},
        "weight_wait": weights,
        "activation_wait": call.instruction == "load" and not weights,
        "write_back": call.instruction == "store",
    }


def _cases(device: str) -> Iterator[StreamCase]:
    by_instruction: dict[str, list[str]] = {}
    for name in names(device):
        by_instruction.setdefault(name.split("/")[1], []).append(name)
    for group in by_instruction.values():
        chosen = min(CASES, len(group))
        for i in range(chosen):
            yield make_case(group[i * len(group) // chosen])


@pytest.mark.parametrize("device", devices())
def test_a_cycle_lies_in_its_class(device: str, runners: Callable[[str], StreamRunner]) -> None:
    runner = runners(device)
    wrong: list[str] = []
    seen = 0
    for case in _cases(device):
        (fast, traffic), (slow, _), (stalled, _) = ((found, status.traffic) for found, status in _runs(runner, case))
        for n, (call, a, b, c) in enumerate(zip(case.calls, fast, slow, stalled, strict=True)):
            if not a.cause:
                seen += 1
                alone = traffic if len(case.calls) == 1 else {}
                found = [*_wrong(runner, call, a, b, alone), *_moved(runner, call, a, c)]
                wrong += [f"{case.name}, instruction {n} ({call.instruction}): {w}" for w in found]
    assert seen > len(runner.set.instructions)
    assert not wrong, "\n".join(wrong[:100])


def _runs(runner: StreamRunner, case: StreamCase) -> Iterator[tuple[list[StreamCommit], Status]]:
    for setting in (Setting(), SLOW, STALLED):
        yield runner.hardware(case, setting)


def _moved(runner: StreamRunner, call: Call, fast: StreamCommit, stalled: StreamCommit) -> Iterator[str]:
    """What stalls at random may not change: issue and, where steps do not overlap with waiting, work to the cycle."""
    both = f"ideal {dict(fast.cycles)}, {STALLED.memory} {dict(stalled.cycles)}"
    if fast.cycles["issue"] != stalled.cycles["issue"] or stalled.cycles["dependency"]:
        yield f"issue or dependency depends on stalls: {both}"
    streaming = call.instruction in OVERLAPPING
    if abs(fast.cycles["compute"] - stalled.cycles["compute"]) > (max(2, fast.cycles["compute"] // 6) if streaming else 0):
        yield f"work depends on stalls: {both}"
    for c, allows in can_wait_for(runner.set.name, call).items():
        if not allows and stalled.cycles[c]:
            yield f"{c}, which it cannot have: {both}"


def _wrong(runner: StreamRunner, call: Call, fast: StreamCommit, slow: StreamCommit, traffic: Mapping[str, int]) -> Iterator[str]:
    """What the account forbids, a line each. traffic: of the job where it has no other instruction."""
    assert set(fast.cycles) == set(slow.cycles) == set(CYCLE_CLASSES)
    unit, allowed = runner.set.instructions[call.instruction], can_wait_for(runner.set.name, call)
    later = {c: slow.cycles[c] - fast.cycles[c] for c in CYCLE_CLASSES}
    both = f"ideal {dict(fast.cycles)}, {SLOW.memory} {dict(slow.cycles)}"
    for c, allows in allowed.items():
        if not allows and (fast.cycles[c] or slow.cycles[c]):
            yield f"{c}, which it cannot have: {both}"
    if fast.cycles["dependency"] or slow.cycles["dependency"]:
        yield f"waits for an earlier instruction, and there is none: {both}"
    if later["issue"]:
        yield f"reading and checking the operands depends on memory: {both}"
    # Some cycles are work and waiting at once: what goes through while the next beat has not come.
    if abs(later["compute"]) > max(2, fast.cycles["compute"] // 6):
        yield f"work depends on memory: {both}"
    reads, writes = (any(r.size and r.space in BEATS for r in f(runner.device, call.fields)) for f in (unit.reads, unit.writes))
    if not (later["write_back"] >= LATER if writes else later["write_back"] == 0):
        yield f"answers to writes come {LATER} cycles later: {both}"
    if traffic and call.instruction in ANSWERED:
        bursts = sum(n for k, n in traffic.items() if k.endswith("write_bursts"))
        for commit, latency in ((fast, 1), (slow, LATER + 1)):
            if commit.cycles["write_back"] != bursts + latency:
                yield f"{bursts} bursts, of which the last is answered after {latency} cycles: {both}"
    # A cycle in which it waited may be one of work when all comes later.
    waiting = later["weight_wait"] + later["activation_wait"]
    if not (waiting + max(later["compute"], 0) >= LATER if reads else waiting == 0):
        yield f"what it reads comes {LATER} cycles later: {both}"
    spaces = {r.space for r in unit.reads(runner.device, call.fields) if r.size}
    if "ddr" in spaces and "onchip" not in spaces and allowed["activation_wait"] and slow.cycles["activation_wait"] < LATER:
        yield f"the first activation comes after {LATER} cycles, and is not waited for: {both}"
    if traffic and allowed["compute"]:
        busiest = max(n // BEATS[k.split(".")[0]] for k, n in traffic.items() if k.endswith(("read_bytes", "write_bytes")))
        if 2 * fast.cycles["compute"] < busiest:  # a step takes a beat of each of two operands at most
            yield f"{busiest} beats went over one port, in {fast.cycles['compute']} cycles of work: {both}"
