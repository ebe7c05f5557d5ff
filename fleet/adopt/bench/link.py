"""The vectors that travel between the bench of an adopted design and another simulator."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.adopt.bench.observe import Observation, ObservedSignal, SignalCommit
from fleet.adopt.ports import Top
from fleet.engines.linked.link import BenchLink
from fleet.errors import DeviceError

_MOST = 1 << 20


def link_of(top: Top, observed: Observation | None) -> BenchLink:
    """The vectors of a design. Raises DeviceError for what cannot travel in them."""
    inputs: dict[str, tuple[int, int]] = {}
    outputs: dict[str, tuple[int, int]] = {}
    at = {"in": 0, "out": 0}
    for leaf in top.leaves():
        if not leaf.width:
            continue
        if leaf.direction == "inout":
            raise DeviceError(f"{leaf.path} is an inout port, which only Verilator's own bench has", where=top.where)
        width = leaf.width * leaf.count
        (inputs if leaf.direction == "in" else outputs)[leaf.path] = at[leaf.direction], width
        at[leaf.direction] += width
    probes: dict[str, tuple[int, int]] = {}
    for probe in _probes(observed):
        if probe.inside and probe.path not in probes:
            probes[probe.path] = at["out"], probe.bits
            at["out"] += probe.bits
    states: dict[str, tuple[int, int, int, int]] = {}
    low = 0
    for state in observed.states if observed is not None else ():
        v = state.variable
        for name in state.keeper.names:
            if name in states:
                continue
            states[name] = low, v.bits, v.elements, v.first
            low += v.bits * max(1, v.elements)
        if low > _MOST:
            raise DeviceError(
                f"state {state.name} makes {low:,} bits to look at, more than {_MOST:,}", where=state.where,
                hint="leave it out of observe.toml for this simulator, or run it under Verilator",
            )  # fmt: skip
    return BenchLink(inputs, outputs, probes, states)


def _probes(observed: Observation | None) -> Iterator[ObservedSignal]:
    if observed is None:
        return
    for rule in observed.commits:
        if isinstance(rule, SignalCommit):
            yield rule.probe
            if rule.tag is not None:
                yield rule.tag
    if observed.quiescent.probe is not None:
        yield observed.quiescent.probe
