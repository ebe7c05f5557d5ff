"""Figures of a generation beyond single steps: model sizes, cycles and bytes of a token, errors by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.cosim.generation import CommitTime, KindCost, LayerError, ModelFigures, TrafficRow
from fleet.engines.trace import Commit
from fleet.isa.reading.cache import load
from fleet.llm.config import ModelConfig
from fleet.llm.generate import sqnr_db
from fleet.llm.models import ModelGraph
from fleet.llm.quantisation import Quantisation
from fleet.llm.sessions.session import TokenStep
from fleet.llm.weights import weight_shapes
from fleet.sdk import Call, Device, InstructionSet


def parameters(config: ModelConfig) -> int:
    """Count the numbers in all weights; a tied head counts once."""
    shapes = weight_shapes(config)
    return sum(int(np.prod(shape)) for name, shape in shapes.items() if not (config.tied and name == "head"))


def model_figures(name: str, model: ModelGraph, choice: Quantisation | None, embedding_bytes: int) -> ModelFigures:
    """Return the model's figures. choice: of the device's weights; None without a device."""
    c, o = model.config, model.options
    shape = {
        "blocks": c.blocks, "channels": c.channels, "heads": c.heads, "kv_heads": c.kv_heads, "head_channels": c.head_channels,
        "ffn": c.ffn, "vocabulary": c.vocabulary,
    }  # fmt: skip
    sequence = {"fuse_qkv": o.fuse_qkv, "join_rope": o.join_rope, "onchip": o.onchip}
    weight_bytes = 0 if choice is None else choice.stored_bits(c) // 8
    shapes = weight_shapes(c)
    embedding_bytes += 0 if choice is None else sum(2 * int(np.prod(shapes[layer])) for layer in choice.host)
    counts = dict(sorted(model.counts().items(), key=lambda item: -item[1]))
    return ModelFigures(
        name, c.architecture, parameters(c), weight_bytes, embedding_bytes, shape, sequence, counts, o.tokens, o.positions
    )


def kind_of(node: str) -> tuple[int, str]:
    """Split a node's name into (block, kind): "blocks.3.down" gives (3, "down"), "logits" gives (-1, "logits")."""
    parts = node.split(".")
    return (int(parts[1]), parts[2]) if len(parts) == 3 and parts[0] == "blocks" else (-1, node)


def _own(commits: Sequence[Commit]) -> list[int]:
    """Return the cycles between successive commits; for the first, from its own start."""
    ends = [c.end or 0 for c in commits]
    return [end - before for end, before in zip(ends, [commits[0].start or 0, *ends], strict=False)] if commits else []


def kind_costs(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], commits: Sequence[Commit]
) -> tuple[KindCost, ...]:
    """Return a step's cycles and bytes by kind of node; () if there is no clock."""
    if not commits or commits[0].end is None:
        return ()
    rows: dict[tuple[str, str], list[tuple[Call, Commit, int]]] = {}
    for call, commit, own in zip(calls, commits, _own(commits), strict=True):
        kind = kind_of(call.ops[-1])[1] if call.ops else call.instruction
        rows.setdefault((kind, call.instruction), []).append((call, commit, own))
    return tuple(
        KindCost(
            kind, instruction, len(found), sum(own for *_, own in found),
            sum((c.end or 0) - (c.start or 0) for _, c, _ in found), _summed([c.cycles for _, c, _ in found]),
            sum(instruction_set.instructions[instruction].macs(device, call.fields)[0] for call, *_ in found),
            _summed([_bytes(instruction_set, device, call) for call, *_ in found]),
        )
        for (kind, instruction), found in rows.items()
    )  # fmt: skip


def _summed(tables: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for table in tables:
        for name, value in table.items():
            total[name] = total.get(name, 0) + value
    return total


def _bytes(instruction_set: InstructionSet, device: Device, call: Call) -> dict[str, int]:
    """Return an instruction's minimum bytes by memory and direction ("hbm_read"), without on-chip memory."""
    cls = instruction_set.instructions[call.instruction]
    moved: dict[str, int] = {}
    for what, ranges in (("read", cls.reads(device, call.fields)), ("write", cls.writes(device, call.fields))):
        for r in ranges:
            if r.space in device.memory:
                key = f"{r.space}_{what}"
                moved[key] = moved.get(key, 0) + r.size
    return moved


def timeline(instruction_set: InstructionSet, commits: Sequence[Commit]) -> tuple[CommitTime, ...]:
    """Return a step's instructions on the clock, relative to the first one's start; () if there is no clock."""
    if not commits or commits[0].start is None:
        return ()
    description = load(instruction_set.description)
    zero = commits[0].start
    made: list[CommitTime] = []
    for commit, own in zip(commits, _own(commits), strict=True):
        cls = instruction_set.instructions[commit.instruction]
        unit = cls.executes_in or description.instructions[commit.instruction].unit
        node = commit.ops[-1] if commit.ops else commit.instruction
        made.append(CommitTime(node, commit.instruction, unit, (commit.start or 0) - zero, (commit.end or 0) - zero, own))
    return tuple(made)


def traffic(
    instruction_set: InstructionSet,
    device: Device,
    calls: Sequence[Call],
    step: TokenStep,
    config: ModelConfig,
    choice: Quantisation,
) -> tuple[TrafficRow, ...]:
    """Return the bytes of one decode step; `moved` only if they were counted."""
    least = _summed([_bytes(instruction_set, device, call) for call in calls])
    cache = 2 * 2 * config.blocks * config.kv_channels  # keys and values of a position, FP16
    unpadded = {"hbm_read": choice.stored_bits(config) // 8 + cache * (step.position + 1), "hbm_write": cache}
    words = {"read": "read", "write": "written"}
    rows: list[TrafficRow] = []
    for space in ("hbm", "ddr"):
        for what in ("read", "write"):
            key = f"{space}_{what}"
            if key not in least:
                continue
            moved = step.ran.counters.get(f"{key}_bytes")
            rows.append(
                TrafficRow(
                    f"{space.upper()}, {words[what]}", None if moved is None else int(moved), least[key], unpadded.get(key, 0)
                )
            )
    return tuple(rows)


def estimate(instruction_set: InstructionSet, device: Device, calls: Sequence[Call], memory: str) -> int | None:
    """Return the estimated cycles of a step, instruction by instruction; None if an instruction has no estimate."""
    total = 0
    for call in calls:
        cycles = instruction_set.instructions[call.instruction].expected_cycles(device, call.fields, memory.partition(":")[0])
        if cycles is None:
            return None
        total += cycles
    return total


def layer_errors(
    device: Mapping[str, np.ndarray], rounded: Mapping[str, np.ndarray], golden: Mapping[str, np.ndarray]
) -> tuple[LayerError, ...]:
    """Return the errors of every node that all three have, in the device's order."""
    made: list[LayerError] = []
    for node, array in device.items():
        if node in rounded and node in golden:
            a, r, g = array.reshape(-1), rounded[node].reshape(-1), golden[node].reshape(-1)
            block, kind = kind_of(node)
            made.append(LayerError(node, block, kind, sqnr_db(r, a), sqnr_db(g, a), sqnr_db(g, r)))
    return tuple(made)
