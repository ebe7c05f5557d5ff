"""Runs a transformer block on the simulated accelerator beside the functional model, and writes the report.

    python examples/transformer_block/run.py                          one small block, a few seconds
    python examples/transformer_block/run.py --shape chatglm2 --device hbm0923 --tokens 1 --last 127

Every instruction commit and every byte of memory must agree between `rtl` and `iss`, on every memory and both ways in; what
the stream computes must agree with a float64 reference. Exit code 1 where anything differs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np
from block import PLAIN, Block, Order, build
from reference import reference
from shapes import SHAPES, Shape

from fleet.compare.diverged import CommitRow
from fleet.errors import FleetError
from fleet.isa.reading.cache import load
from fleet.report.regression.streams import StreamReport, StreamRun, write_stream_report
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.streams.case import Issue, Setting, StreamCase, StreamOutcome
from fleet.streams.run import StreamRunner

MEMORIES = ("ideal", "fixed", "stall:1", "timed:0")
LEAST_SQNR_DB = 40.0
"""FP16 activations through seventeen instructions; a mask, a head or a position that is wrong leaves less than 20 dB."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    "matrix products": ("wq", "wk", "wv", "qkv", "wo", "gate", "up", "gate_up", "down"),
    "attention": ("scores", "mix"),
    "functions": ("norm1", "rope_q", "rope_k", "rope", "softmax", "norm2", "silu", "product"),
    "KV cache": ("cache_k", "cache_v"),
}


def limits(device: Device, shape: Shape, tokens: int, last: int, order: Order = PLAIN) -> dict[str, float]:
    """Operation -> least cycles of a block: HBM ports at a beat a cycle, the arrays at full rate; functions: DDR at a beat a cycle.

    A matrix product takes its weights and scales once (32 bytes a port and cycle), and the array Tin x Tout MACs every
    ceil(Tin * 4 / 256) cycles. Attention reads keys (values) once a query head and token, in beats of 16 FP16 of every port.
    """
    ports, group = device.parameters["HbmPorts"], shape.tblk
    peak = device.limits["macs_per_cycle"]
    sizes = {"wo": (shape.query, shape.channels), "down": (shape.ffn, shape.channels)}
    sizes |= (
        {"qkv": (shape.channels, shape.query + 2 * shape.key)}
        if order.fuse_qkv
        else {"wq": (shape.channels, shape.query), "wk": (shape.channels, shape.key), "wv": (shape.channels, shape.key)}
    )
    both = {"gate_up": (shape.channels, 2 * shape.ffn)}
    sizes |= both if order.fuse_gate else {"gate": (shape.channels, shape.ffn), "up": (shape.channels, shape.ffn)}
    found: dict[str, float] = {}
    for name, (inputs, outputs) in sizes.items():
        beats = sum(
            ceil_div(ceil_div(n, group), 16) + ceil_div(n, 64)
            for n in (min(2048, inputs - first) for first in range(0, inputs, 2048))
        )
        found[name] = max(ceil_div(outputs, ports) * beats, tokens * inputs * outputs / peak)
    total = last + tokens
    found["scores"] = shape.heads * tokens * ceil_div(total, ports) * shape.head / 16
    found["mix"] = shape.heads * tokens * ceil_div(shape.head, ports) * ceil_div(total, 16)
    lanes = {
        "norm1": 2 * shape.channels, "norm2": 2 * shape.channels, "softmax": 2 * shape.heads * total, "silu": 2 * shape.ffn,
        "cache_k": shape.key, "cache_v": shape.key,
    }  # fmt: skip
    lanes |= {"rope": 2 * (shape.query + shape.key)} if order.join_rope else {"rope_q": 2 * shape.query, "rope_k": 2 * shape.key}
    if order.fuse_gate:
        lanes["product"] = 3 * shape.ffn
    return found | {name: tokens * count * 2 / device.limits["ddr_bytes_per_cycle"] for name, count in lanes.items()}


def stream_case(block: Block, device: str) -> StreamCase:
    """The block as the runner of streams takes it."""
    blocks = [Write("ddr", offset, data) for offset, data in block.ddr]
    blocks += [Write("hbm", offset, data, port) for port, offset, data in block.hbm]
    return StreamCase(f"{block.shape.name}_{block.tokens}", device, tuple(block.calls), tuple(blocks))


def accuracy(block: Block, result: np.ndarray) -> float:
    """SQNR in dB of a result against the float64 reference."""
    wanted = reference(block)
    noise = float(((result.astype(np.float64) - wanted) ** 2).sum())
    return float(10 * np.log10((wanted**2).sum() / noise)) if noise else float("inf")


def _unit(chosen: InstructionSet, call: Call) -> str:
    """The hardware's unit that executes a call."""
    return chosen.instructions[call.instruction].executes_in or load(chosen.description).instructions[call.instruction].unit


def _run(outcome: StreamOutcome, chosen: InstructionSet) -> StreamRun:
    rows = tuple(
        CommitRow(
            seq=i, instruction=e.instruction, ops=call.ops, reference_digest=f"{e.digest:016x}", other_digest=f"{f.digest:016x}",
            bytes_written=e.bytes_written, result=e.result, start=f.start, end=f.end, cycles=f.cycles, macs=None, macs_issued=None,
            model_cycles=None, token_range=None, equal=e.architectural == f.architectural,
            unit=_unit(chosen, call),
        )
        for i, (e, f, call) in enumerate(zip(outcome.expected, outcome.found, outcome.case.calls, strict=False))
    )  # fmt: skip
    starts, ends = [r.start for r in rows if r.start is not None], [r.end for r in rows if r.end is not None]
    return StreamRun(
        outcome.setting.issue, outcome.setting.memory, "pass" if outcome.passed else "fail", outcome.reasons, rows,
        max(ends) - min(starts) if ends else 0, 8 * (outcome.bytes_compared + outcome.image_bytes), outcome.seconds,
        _counters(outcome.traffic),
    )  # fmt: skip


def _counters(traffic: Mapping[str, int]) -> dict[str, float]:
    """HBM ports added up; shares of row hits where rows were counted."""
    found: dict[str, float] = {}
    for key, value in traffic.items():
        space, _, what = key.rpartition(".")
        name = f"{space.partition('.')[0]} {what.replace('_', ' ')}"
        found[name] = found.get(name, 0) + value
    for space in ("hbm", "ddr"):
        rows = [found.get(f"{space} row {kind}", 0) for kind in ("hits", "closed", "misses")]
        if sum(rows):
            found[f"{space} row hit rate"] = rows[0] / sum(rows)
    return found


def simulate(
    shape: Shape,
    device: str,
    *,
    tokens: int,
    last: int,
    memories: Sequence[str],
    issues: Sequence[Issue],
    order: Order = PLAIN,
    command: str,
) -> tuple[StreamReport, float]:
    """The report and the SQNR of the block. Raises FleetError where nothing can be run."""
    with StreamRunner(device) as runner:
        block = build(shape, runner.device, tokens=tokens, last=last, order=order)
        case = stream_case(block, device)
        outcomes = runner.run(case, [Setting(memory, issue) for issue in issues for memory in memories])
        runner.model(case)
        sqnr = accuracy(block, block.result(runner.expected.memory))
        bounds = limits(runner.device, shape, tokens, last, order)
        report = StreamReport(
            title=f"One transformer block of {shape.name}'s shape, {tokens} token{'s' if tokens > 1 else ''}",
            text=f"{shape.channels:,} channels, {shape.heads} heads of {shape.head} with {shape.kv_heads} key/value heads, "
            f"gated FFN of {shape.ffn:,}; {tokens} new behind {last} cached tokens; {len(block.calls)} instructions. "
            f"Against a float64 reference of the same weights: {sqnr:.1f} dB.",
            command=command, device=device, clock_mhz=runner.device.clock_mhz,
            runs=tuple(_run(outcome, runner.set) for outcome in outcomes),
            classes={op: name for name, ops in CLASSES.items() for op in ops},
            bounds=bounds,
            notes=(_note(shape, tokens, bounds),),
        )  # fmt: skip
    return report, sqnr


def _note(shape: Shape, tokens: int, bounds: Mapping[str, float]) -> str:
    products = sum(bounds.get(op, 0.0) for op in CLASSES["matrix products"])
    known = " (published for this shape: 102,736)" if shape.name == "chatglm2" and tokens == 1 else ""
    what = "weights and scales through the HBM ports, or the array"
    return f"Matrix products alone cannot take less than {products:,.0f} cycles{known}: {what}."


@click.command(help=__doc__)
@click.option("--shape", type=click.Choice(sorted(SHAPES)), default="small", show_default=True)
@click.option("--device", default="hbm_small", show_default=True)
@click.option("--tokens", default=1, show_default=True, help="New tokens.")
@click.option("--last", default=0, show_default=True, help="Tokens in the KV cache.")
@click.option("--memory", "memories", multiple=True, help=f"Memory model, again and again; default {', '.join(MEMORIES)}.")
@click.option("--issue", "issues", multiple=True, type=click.Choice(["regs", "aux"]), help="Way in; default both.")
@click.option("--onchip", is_flag=True, help="Short-lived activations on chip.")
@click.option("--fused", is_flag=True, help="Queries, keys and values as one product, their heads rotated together.")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("reports/transformer_block"), show_default=True)
def main(
    shape: str, device: str, tokens: int, last: int, memories: tuple[str, ...], issues: tuple[Issue, ...], onchip: bool,
    fused: bool, out: Path,
) -> None:  # fmt: skip
    command = "python examples/transformer_block/run.py " + " ".join(sys.argv[1:])
    try:
        report, sqnr = simulate(
            SHAPES[shape], device, tokens=tokens, last=last, memories=memories or MEMORIES, issues=issues or ("regs", "aux"),
            order=Order(fuse_qkv=fused, join_rope=fused, onchip=onchip), command=command,
        )  # fmt: skip
        page = write_stream_report(report, out)
    except FleetError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    bound = sum(report.bounds.values())
    print(f"{'way in':<7} {'memory':<9} {'verdict':<7} {'cycles':>10} {'of limit':>8} {'bits':>14} {'seconds':>8}")
    for run in report.runs:
        share = f"{100 * bound / run.cycles:.1f} %" if run.cycles else "-"
        print(f"{run.issue:<7} {run.memory:<9} {run.verdict:<7} {run.cycles:>10,} {share:>8} {run.bits:>14,} {run.seconds:>8.2f}")
        for reason in run.reasons[:3]:
            print(f"        {reason}")
    print(f"against float64: {sqnr:.1f} dB (at least {LEAST_SQNR_DB:.0f} wanted)")
    print(f"report: {page}")
    sys.exit(0 if report.verdict == "pass" and sqnr >= LEAST_SQNR_DB else 1)


if __name__ == "__main__":
    main()
