"""Evidence that seeds change what they seed: data, and the stalls of memory."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.cosim.result import CosimResult


def ignored_seeds(results: Sequence[CosimResult]) -> list[str]:
    """Return a line for each pair of runs that differ only in the seed, if the seed did not change what it should.

    With random data, the seed must change the inputs (the weights if inputs were given). With stalling memory, it must change the
    cycles.
    """
    found: list[str] = []
    for i, one in enumerate(results):
        for other in results[i + 1 :]:
            a, b = one.identity, other.identity
            if a.seed == b.seed or _setting(one) != _setting(other):
                continue
            seeds = f"{a.model}: seeds {a.seed} and {b.seed}"
            if one.data.kind == other.data.kind == "random":
                what = "inputs" if one.data.inputs is None else "weights"  # if inputs were given, only weights were drawn
                same = a.inputs_hash == b.inputs_hash if what == "inputs" else a.weights_hash == b.weights_hash
                found += [f"{seeds} drew the same {what}: the seed is ignored"] if same else []
            if a.memory == "stall":
                clocks = {e.name: e.cycles for e in one.engines if e.cycles}
                alike = [n for n, cycles in clocks.items() if any(e.name == n and e.cycles == cycles for e in other.engines)]
                found += [f"{seeds} stalled {name} at the same cycles: the memory's seed is ignored" for name in alike]
    return found


def _setting(result: CosimResult) -> tuple[object, ...]:
    """Return what must be equal in two runs for their seeds to be compared."""
    i = result.identity
    device = i.device.name if i.device else None
    return (i.model, (i.case or "").partition("[")[0], i.source_hash, device, i.memory, result.data.samples)
