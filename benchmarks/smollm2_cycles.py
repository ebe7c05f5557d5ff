"""Cycles of a SmolLM2 token, and of a ChatGLM2 block, beside their traffic: `python benchmarks/smollm2_cycles.py [--last N]...`

The whole token runs in one binary: thirty blocks, the last norm, the product with the vocabulary and its argmax, behind so
many cached tokens; weights are random (time does not depend on them), and every commit is held against the functional model.

    limit       weights and scales as a model has them (4 bit and an FP16 scale for every 128; channels that HBM is padded with
                do not count) and keys and values of all positions, once, at 32 bytes a port and cycle
    cycles      of an operation: from the commit before to its own. Those of one column add up to the token's
    refresh     cycles less those of the same run where no refresh falls into it
    issue, dependency, latency, compute
                of that run without refresh: classes of the design's own account. What an instruction does before the commit of the
                one before it costs nothing: so many cycles are taken off the classes in this order, compute last. Latency is
                waiting for weights and activations and for the answers of writes. Waiting for an earlier instruction ends with
                its commit, so that dependency is what the account still shows behind it
    beyond      compute less limit: beats of padding, steps of functions; less than 0 where weights came in ahead

Excess = refresh + issue + dependency + latency + beyond. Timed memory: the mean over SEEDS sets of refresh phases.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "transformer_block"))

from block import SHORTEST, Block, build
from run import stream_case
from shapes import CHATGLM2, SMOLLM2, Shape

from fleet.sdk import Device
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.streams.binaries import binaries
from fleet.streams.case import Setting, StreamCommit
from fleet.streams.run import StreamRunner

DEVICE = "hbm0923"
LAYERS, VOCABULARY = 30, 49152
POSITIONS = (8, 40, 200, 500, 2000)
SEEDS = 8
HIDDEN_FIRST = ("dependency", "issue", "weight_wait", "activation_wait", "write_back", "compute")
NO_REFRESH_NS = 1e9


@dataclass
class Row:
    """One operation, summed over the blocks; cycles (means over the seeds)."""

    limit: float = 0.0
    cycles: float = 0.0
    refresh: float = 0.0
    issue: float = 0.0
    dependency: float = 0.0
    latency: float = 0.0
    compute: float = 0.0

    @property
    def beyond(self) -> float:
        """Of compute."""
        return self.compute - self.limit

    def add(self, other: Row) -> None:
        """Sums both."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def traffic(shape: Shape, name: str, total: int, vocabulary: int) -> int:
    """Bytes of weights, keys or values that a step needs, none twice."""
    s = shape
    sizes = {
        "qkv": (s.channels, s.query + 2 * s.key), "wo": (s.query, s.channels), "gate": (s.channels, s.ffn),
        "up": (s.channels, s.ffn), "down": (s.ffn, s.channels), "head": (s.channels, vocabulary),
    }  # fmt: skip
    if name in {"scores", "mix"}:
        return 2 * s.key * total
    if name not in sizes:
        return 0
    inputs, outputs = sizes[name]
    return (4 * inputs + 16 * ceil_div(inputs, s.tblk)) * outputs // 8


def visible(commits: Sequence[StreamCommit]) -> list[tuple[float, dict[str, float]]]:
    """Of every instruction: cycles from the commit before, and what they were spent on."""
    found: list[tuple[float, dict[str, float]]] = []
    before = commits[0].start or 0
    for c in commits:
        start, end = c.start or 0, c.end or 0
        spent = {name: float(c.cycles.get(name, 0)) for name in HIDDEN_FIRST}
        # A register or a block of the binary may also come late: then the account begins behind the commit before.
        hidden, late = max(0, before - start), max(0, start - before)
        for name in HIDDEN_FIRST:
            taken = min(hidden, spent[name])
            spent[name] -= taken
            hidden -= taken
        spent["issue"] += late
        found.append((end - before, spent))
        before = end
    return found


def without_refresh(device: Device) -> Device:
    """The same memories, whose refreshes lie too far apart to be met."""
    timing = {space: {**table, "t_refi_ns": NO_REFRESH_NS} for space, table in device.timing.items()}
    return replace(device, timing=timing)


def measure(runner: StreamRunner, block: Block, seeds: int) -> dict[str, Row]:
    """Operation -> row. Raises SystemExit where a bit is wrong."""
    case = stream_case(block, DEVICE)
    for outcome in runner.run(case, [Setting("timed:0", "aux")]):
        if not outcome.passed:
            raise SystemExit(f"{case.name}: {outcome.reasons}")
    plan = binaries(runner.set, runner.device, case, "aux")
    case = replace(case, blocks=(*case.blocks, *plan.blocks))
    device = runner.device
    rows: dict[str, Row] = {}
    peak = device.limits["hbm_bytes_per_cycle"]
    for seed in range(seeds):
        timed = visible(runner.hardware(case, Setting(f"timed:{seed}", "aux"), plan=plan)[0])
        runner.device = without_refresh(device)
        calm = visible(runner.hardware(case, Setting(f"timed:{seed}", "aux"), plan=plan)[0])
        runner.device = device
        for call, (cycles, _), (undisturbed, spent) in zip(block.calls, timed, calm, strict=True):
            name = call.ops[0]
            limit = traffic(block.shape, name, block.last + block.tokens, block.vocabulary) / peak
            one = Row(
                limit, cycles, cycles - undisturbed, spent["issue"], spent["dependency"],
                spent["weight_wait"] + spent["activation_wait"] + spent["write_back"], spent["compute"],
            )  # fmt: skip
            for field in one.__dataclass_fields__:
                setattr(one, field, getattr(one, field) / seeds)
            rows.setdefault(name, Row()).add(one)
    return rows


def show(title: str, rows: Mapping[str, Row]) -> None:
    """One table."""
    columns = "limit", "cycles", "refresh", "issue", "dependency", "latency", "beyond"
    total = Row()
    for row in rows.values():
        total.add(row)
    print(f"\n{title}: {total.cycles:,.0f} cycles, {total.cycles / total.limit:.2f} times the limit of {total.limit:,.0f}")
    print("| operation | limit | cycles | excess | refresh | issue | dependency | latency | beyond |\n|---|" + "---|" * 8)
    for name, row in {**rows, "all": total}.items():
        cells = [getattr(row, c) for c in columns]
        cells.insert(2, row.cycles - row.limit)
        print(f"| {name} | " + " | ".join(f"{np.round(c) + 0:,.0f}" for c in cells) + " |")
    sys.stdout.flush()


@click.command(help=__doc__)
@click.option("--last", "positions", type=int, multiple=True, default=POSITIONS, show_default=True, help="Cached tokens.")
@click.option("--seeds", type=click.IntRange(1), default=SEEDS, show_default=True, help="Sets of refresh phases.")
def main(positions: Sequence[int], seeds: int) -> None:
    with StreamRunner(DEVICE) as runner:
        for last in positions:
            block = build(SMOLLM2, runner.device, tokens=1, last=last, order=SHORTEST, layers=LAYERS, vocabulary=VOCABULARY)
            show(f"SmolLM2, a token behind {last}", measure(runner, block, seeds))
        block = build(CHATGLM2, runner.device, tokens=1, last=127, order=SHORTEST)
        show("ChatGLM2, one block behind 127", measure(runner, block, seeds))


if __name__ == "__main__":
    main()
