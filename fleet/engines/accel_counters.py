"""Counters that depend only on the stream: work, least traffic, estimated cycles, the host's share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from xdsl.ir import Operation

from fleet.ir.dialect import IfOp, MatmulOp, RegionOp
from fleet.ir.operations.composite import AttentionOp, LinearOp
from fleet.ir.types import shape_of
from fleet.sdk import Call, Device, InstructionSet
from fleet.targets.accel.program import AccelProgram, HostStep

_TOTALS = ("macs", "macs_issued", "hbm_read_bytes", "ddr_read_bytes", "ddr_write_bytes", "cycles_estimate")


def static_counters(compiled: AccelProgram, memory: str = "ideal") -> dict[str, float]:
    """Return the counters known before a run; `run_compiled` lists the names. memory: the memory model of "cycles_estimate"."""
    counters: defaultdict[str, float] = defaultdict(float, dict.fromkeys(_TOTALS, 0.0))
    for group in compiled.groups:
        for name, number in call_counters(compiled.instruction_set, compiled.device, group.calls, memory).items():
            counters[name] += number
            if not name.startswith("hbm_port_bytes"):
                counters[f"{name}.{group.ops[-1]}"] += number
    host = [s.op for s in compiled.steps if isinstance(s, HostStep)]
    host_macs = float(sum(matmul_macs(op) for op in host))
    counters["host_macs"] = host_macs
    counters["host_share"] = host_macs / (host_macs + counters["macs"]) if host_macs else 0.0
    counters["host_ops"] = float(len(host))
    counters["device_ops"] = float(sum(where == "device" for where in compiled.placement.values()))
    return dict(counters)


def call_counters(instruction_set: InstructionSet, device: Device, calls: Iterable[Call], memory: str) -> dict[str, float]:
    """Return work, least bytes by memory and direction, and estimated cycles of calls. memory: the model for the cycles."""
    found: defaultdict[str, float] = defaultdict(float)
    kind = memory.partition(":")[0]
    for call in calls:
        cls = instruction_set.instructions[call.instruction]
        useful, issued = cls.macs(device, call.fields)
        found["macs"] += useful
        found["macs_issued"] += issued
        expected = cls.expected_cycles(device, call.fields, kind)
        found["cycles_estimate"] += cls.cost(device, call.fields) if expected is None else expected
        for r in cls.reads(device, call.fields):
            found[f"{r.space}_read_bytes"] += r.size
            if r.space == "hbm":
                found[f"hbm_port_bytes.{r.bank}"] += r.size
        for r in cls.writes(device, call.fields):
            found[f"{r.space}_write_bytes"] += r.size
    return found


def matmul_macs(op: Operation) -> int:
    """Return multiply-accumulates of a product, or of the products inside an operation; 0 for other operations.

    A loop counts one round, because the run decides their number; a decision counts its larger branch.
    """
    if isinstance(op, AttentionOp):
        # Scores, then weights by values: every query channel is multiplied with every position twice.
        return 2 * int(np.prod(shape_of(op.q.type), dtype=np.int64)) * shape_of(op.k.type)[-2]
    if isinstance(op, RegionOp):
        bodies = [sum(map(matmul_macs, block.ops)) for block in op.bodies]
        return max(bodies, key=abs) if isinstance(op, IfOp) else sum(bodies)
    if not isinstance(op, MatmulOp | LinearOp):
        return 0
    return int(np.prod(shape_of(op.results[0].type), dtype=np.int64)) * shape_of(op.operands[0].type)[-1]
