"""The part of a bench that records what is declared as a commit, and what the design keeps inside when it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fleet.adopt.bench.observe import (
    CommitRule,
    InsideState,
    Observation,
    ObservedSignal,
    Quiescence,
    ReadCommit,
    ResponseCommit,
    SignalCommit,
    WriteCommit,
)  # fmt: skip
from fleet.adopt.bench.plan import BenchPlan


def observer_lines(
    plan: BenchPlan, observed: Observation | None, value: Callable[[ObservedSignal], str], clock: Callable[[str], str],
    element: Callable[[InsideState, str], str], fetch: str,
) -> Iterator[str]:  # fmt: skip
    """SystemVerilog.

    value: what a probe reads; clock: the net of a clock; element: element `i` of an array inside; fetch: the statement that comes
    before these are read.

    `look` records the elements of the states inside that changed since it was called last: at rest (`snapshot`), and after each
    commit, once what was written in its cycle is there. `rests` counts the cycles of rest.
    """
    commits = observed.commits if observed is not None else ()
    for n, rule in enumerate(commits):
        if isinstance(rule, SignalCommit):
            bits = rule.probe.bits
            tag = f"64'({value(rule.tag)})" if rule.tag is not None else "64'd0"
            yield f"  wire o{n} = (({value(rule.probe)}) & {bits}'h{rule.mask:x}) == {bits}'h{rule.value:x};  // commit {rule.name}"
            again = "1" if rule.edge == "high" else f"!o{n}_was"
            yield f"  logic o{n}_was = 0;"
            yield (
                f"  always @(posedge {clock(rule.clock)}) begin o{n}_was <= o{n}; "
                f"if (!rst && o{n} && {again}) fleet_bench_pkg::commit({n}, {tag}); end"
            )
        elif isinstance(rule, WriteCommit):
            number = next(k for k, p in enumerate(plan.ports) if p.name == rule.port.name)
            ready = f" && g{number}_bready" if "bready" in rule.port.group.signals else ""
            tag = f"64'(g{number}_bid)" if rule.tagged else "64'd0"
            yield (
                f"  always @(posedge {clock(rule.port.settings.clock)}) if (!rst && g{number}_bvalid{ready}) "
                f"fleet_bench_pkg::commit({n}, {tag});  // commit {rule.name}"
            )
    yield from _rest(observed.quiescent if observed is not None else Quiescence(), value)
    yield "  int points = 0;"
    states = observed.states if observed is not None else ()
    yield from _looks(states, element, fetch if states else "")
    yield "  task automatic snapshot;"
    yield "    if (observing) begin"
    yield "      look();"
    yield '      $fdisplay(results, "Q|%0d|%0d|%0d", cycle, $time, points);'
    yield "      points++;"
    yield "    end"
    yield "  endtask"
    if commits and any(s.at_commits for s in states):
        yield from _at_commits(commits)


def _at_commits(commits: Sequence[CommitRule]) -> Iterator[str]:
    """Calls of `look`. The detour over nonblocking assignments lets the design's own come first."""
    events = ["commits"] * any(isinstance(c, SignalCommit | WriteCommit) for c in commits)
    events += ["words"] * any(isinstance(c, ResponseCommit) for c in commits)
    events += ["reads"] * any(isinstance(c, ReadCommit) for c in commits)
    for name in events:
        yield f"  int unsigned {name}_seen = 0;"
        yield f"  always @({name}) {name}_seen <= {name};"
    yield f"  always @({' or '.join(f'{name}_seen' for name in events)}) if (observing) begin"
    yield "    look();"
    yield '    $fdisplay(results, "P|%0d|%0d", cycle, $time);'
    yield "  end"


def _rest(quiescent: Quiescence, value: Callable[[ObservedSignal], str]) -> Iterator[str]:
    probe = quiescent.probe
    yield f"  localparam int REST = {quiescent.cycles};"
    yield f"  localparam bit RESTS = {int(probe is not None)};"
    yield "  int rests = 0;"
    if probe is not None:
        bits = probe.bits
        yield f"  wire at_rest = (({value(probe)}) & {bits}'h{quiescent.mask:x}) == {bits}'h{quiescent.value:x};"
        yield "  always @(posedge reference) begin"
        yield "    rests <= rst || !at_rest ? 0 : rests <= REST ? rests + 1 : rests;"
        yield "    if (!rst && at_rest && rests == REST) snapshot();"
        yield "  end"


def _looks(states: Sequence[InsideState], element: Callable[[InsideState, str], str], fetch: str) -> Iterator[str]:
    arrays = [(state, name) for state in states for name in state.keeper.names]
    for n, (state, _) in enumerate(arrays):
        yield f"  logic [{state.bits - 1}:0] seen{n} [{max(1, state.variable.elements)}];"
    yield "  task automatic look;"
    yield "    begin end"
    if fetch:
        yield f"    {fetch}"
    at = 0
    for n, (state, name) in enumerate(arrays):
        count, place = max(1, state.variable.elements), element(state, name)
        yield f"    for (int i = 0; i < {count}; i++)"
        yield f"      if (points == 0 || seen{n}[i] !== {place}) begin"
        yield f"        seen{n}[i] = {place};"
        yield f'        $fdisplay(results, "T|%0d|%h", {at} + i, seen{n}[i]);'
        yield "      end"
        at += count
    yield "  endtask"
