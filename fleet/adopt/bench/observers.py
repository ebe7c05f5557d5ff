"""The part of a bench that records what is declared as a commit, and what the design keeps inside when it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fleet.adopt.bench.observe import InsideState, Observation, ObservedSignal, Quiescence, SignalCommit, WriteCommit
from fleet.adopt.bench.plan import BenchPlan

__all__ = ["observer_lines"]


def observer_lines(
    plan: BenchPlan, observed: Observation | None, value: Callable[[ObservedSignal], str], clock: Callable[[str], str]
) -> Iterator[str]:
    """SystemVerilog. value: what a probe reads; clock: the net of a clock.

    `snapshot` writes state<n>.txt, an element a line, and says so; `rests` counts the cycles of rest.
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
    yield "  task automatic snapshot();"
    yield "    int file;"
    yield "    if (observing) begin"
    states = observed.states if observed is not None else ()
    if states:
        yield '      file = $fopen($sformatf("state%0d.txt", points), "w");'
        for state in states:
            yield from _dump(state)
        yield "      $fclose(file);"
    yield '      $fdisplay(results, "Q|%0d|%0d|%0d", cycle, $time, points);'
    yield "      points++;"
    yield "    end"
    yield "  endtask"


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


def _dump(state: InsideState) -> Iterator[str]:
    part = f"[{state.lsb} +: {state.bits}]" if (state.lsb, state.bits) != (0, state.variable.bits) else ""
    v = state.variable
    for name in state.keeper.names:
        if v.elements:
            yield f'      for (int i = {v.first}; i < {v.first + v.elements}; i++) $fdisplay(file, "%h", dut.{name}[i]{part});'
        else:
            yield f'      $fdisplay(file, "%h", dut.{name}{part});'
