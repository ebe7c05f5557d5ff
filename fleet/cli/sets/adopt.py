"""The work of `fleet isa adopt` and `fleet isa replay`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.adopt.bench.plan import not_driven
from fleet.adopt.closure import closure_hash
from fleet.adopt.diff import moved, moved_registers
from fleet.adopt.filelist import Sources, read_sources
from fleet.adopt.first import write_workspace
from fleet.adopt.map_file import map_text, read_map, read_recorded
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.port_map import PortGroup, PortMap
from fleet.adopt.ports import Top
from fleet.adopt.registers import AdoptedRegister, read_registers, registers_file, shipped
from fleet.adopt.vhdl import with_verilog
from fleet.adopt.workspace import guesses, proposed
from fleet.core.files import write_atomically
from fleet.errors import DeviceError, ExitCode, FleetError, heaviest
from fleet.sdk.ports import Protocol

if TYPE_CHECKING:  # it loads pyslang
    from fleet.adopt.bench.replay import Outcome

_VERDICTS = {
    ExitCode.AGREED: "PASS",
    ExitCode.DIFFERS: "FAIL",
    ExitCode.INTERNAL: "the bench broke a protocol: a fault of fleet",
    ExitCode.INCOMPLETE: "NOTHING COMPARED",
}
_SHRINK_S = 120.0
_WIRES = ("clock", "reset", "interrupt")


@dataclass(frozen=True)
class AdoptRequest:
    """The options of the command line.

    parameters, defines: NAME=VALUE; known: a port map to check; old: a port map to compare with; registers: descriptions;
    protocols: files; output: where to write a map.
    """

    arguments: tuple[Path, ...]
    top: str
    parameters: tuple[str, ...]
    defines: tuple[str, ...]
    include_dirs: tuple[Path, ...]
    known: Path | None
    old: Path | None
    registers: tuple[Path, ...]
    protocols: tuple[Path, ...]
    output: Path | None
    machine: bool


def run_adopt(asked: AdoptRequest) -> int:
    """Read a design, map its ports and print the map. Returns INCOMPLETE for ports that no given map lists as unmapped."""
    # Loads pyslang, or reports how to install it.
    from fleet.adopt.classify import classify
    from fleet.adopt.top import read_top

    whole = asked.output is not None and asked.output.suffix != ".toml"
    if asked.output is not None and asked.output.exists() and not whole:
        raise DeviceError("is there already", where=str(asked.output), hint="check it with --map, or write another")
    if whole and asked.old is not None:
        raise click.UsageError("--diff writes a map: name a .toml file with -o")
    sources = read_sources(asked.arguments, include_dirs=asked.include_dirs)
    given = dict(_pairs(asked.defines, "--define"))
    sources = replace(sources, defines=tuple({**dict(sources.defines), **given}.items()))
    sources, parameters = with_verilog(sources, asked.top, dict(_pairs(asked.parameters, "--parameter", value=True)))
    top = read_top(sources, asked.top, parameters)
    protocols = known_protocols(asked.protocols)
    ports = classify(top, protocols) if asked.known is None else read_map(asked.known, top, protocols)
    closure = closure_hash(top, sources)
    if asked.old is not None:
        return _compare(asked, top, ports, closure, protocols)
    if asked.machine:
        click.echo(json.dumps(_table(top, sources, ports, closure, protocols), indent=1))
    else:
        for line in _lines(top, sources, ports, closure, protocols):
            click.echo(line)
    if asked.output is not None and whole:
        for path in _workspace(asked, asked.output, top, sources, ports, closure, protocols):
            if not asked.machine:
                click.echo(f"wrote {path}")
    elif asked.output is not None:
        write_atomically(asked.output, map_text(ports, closure, protocols, top).encode())
        if not asked.machine:
            click.echo(f"wrote {asked.output}")
    return ExitCode.INCOMPLETE if ports.unmapped and asked.known is None else ExitCode.AGREED


def _workspace(
    asked: AdoptRequest, folder: Path, top: Top, sources: Sources, ports: PortMap, closure: str, protocols: Mapping[str, Protocol]
) -> Sequence[Path]:
    """Write a workspace. Its registers come from --registers, else from descriptions beside the sources."""
    beside = dict.fromkeys(p.parent for p in (*sources.lists, *top.files))
    descriptions = asked.registers or shipped(beside, top.files)
    registers: list[AdoptedRegister] = []
    for path in descriptions:
        try:
            registers += read_registers(path)
        except DeviceError as error:
            if asked.registers:
                raise
            click.echo(f"registers not read: {error}", err=True)
    registers.sort(key=lambda r: r.offset)
    return write_workspace(
        folder, top, ports, closure, protocols, registers,
        sources=asked.arguments, include_dirs=asked.include_dirs,
        parameters=dict(_pairs(asked.parameters, "--parameter", value=True)), defines=dict(_pairs(asked.defines, "--define")),
        own=asked.protocols, described=", ".join(p.name for p in descriptions),
    )  # fmt: skip


def run_replay(
    folder: Path, test: Path | None, *, model: bool | None, seeds: int, shrink: bool, exported: Path | None, machine: bool,
    simulators: Sequence[str], waves: bool | None,
) -> int:  # fmt: skip
    """Run a test of a workspace (default: its smoke test) and print the verdict.

    model: whether to hold the design to its functional model; None: where it has one. seeds: of initial values to try.
    shrink: whether to make a failing test small. exported: where a failing test goes as a bench of its own. simulators: one after
    the other; their records must be the same. waves: whether to write waves; None: unless the design is large.
    """
    # Loads pyslang, or reports how to install it.
    from fleet.adopt.bench.export import export_case
    from fleet.adopt.bench.replay import record_of
    from fleet.adopt.bench.side_by_side import side_by_side
    from fleet.adopt.bench.simulators import VERILATOR
    from fleet.adopt.workspace import open_workspace
    from fleet.cosim.last_run import keep_file
    from fleet.verify.adopted.initial import from_other_values
    from fleet.verify.adopted.shrink import shrink_test

    if seeds and VERILATOR not in simulators:
        raise click.UsageError(f"--seeds sets initial values of {VERILATOR}; a simulator of four states has x instead")
    work = open_workspace(folder)
    path = folder / "smoke.toml" if test is None else test
    runs = [*side_by_side(work, path, model, simulators, waves)]
    for n, run in enumerate(runs):
        if seeds and run.simulator == VERILATOR and run.runner is not None and run.outcome is not None:
            found, outcome = from_other_values(run.runner, path, seeds), run.outcome
            differences = (*outcome.differences, *filter(None, [found.difference]))
            runs[n] = replace(run, outcome=replace(outcome, compared=outcome.compared + found.seeds, differences=differences))
            if not machine:
                click.echo(f"initial values: {found.seeds} of {seeds} seeds agree")
    code = heaviest(run.exit_code for run in runs)
    for run in sorted(runs, key=lambda r: r.exit_code is ExitCode.DIFFERS):  # one that fails last: `fleet why` tells of it
        if run.outcome is not None:
            keep_file(record_of(work, path, run.outcome, simulators if run.disagrees else ()).save(run.outcome.folder))
    if machine:
        tables = [_run_table(run.outcome) if run.outcome is not None else _error_table(run.simulator, run.error) for run in runs]
        click.echo(json.dumps(tables[0] if len(tables) == 1 else {"verdict": code.name, "runs": tables}, indent=1))
        return code
    for run in runs:
        if run.outcome is None:
            click.echo(f"{run.simulator}: not run: {run.error}")
            continue
        for line in _outcome_lines(path, work.top.name, run.outcome, named=simulators != (VERILATOR,)):
            click.echo(line)
        if run.agrees:
            click.echo(f"simulators agree: {run.agrees}")
    if len(runs) > 1:
        left = [run.simulator for run in runs if run.outcome is None]
        said = f"NOT RUN IN {', '.join(left)}" if left and code is not ExitCode.DIFFERS else _VERDICTS[code]
        click.echo(f"verdict of {len(runs)} simulators: {said}")
    failed = next((run for run in runs if run.fails_alone), None)
    if failed is None or failed.runner is None or failed.outcome is None:
        if (shrink or exported is not None) and code is ExitCode.DIFFERS:
            click.echo("no simulator fails the test by itself: nothing is made small or exported")
        return code
    outcome = failed.outcome
    if shrink:
        small = shrink_test(failed.runner, path, _SHRINK_S)
        words = f" and {small.words_after} of {small.words_before} words" if small.words_before else ""
        click.echo(f"wrote {small.path}: {small.after} of {small.before} tables{words} are left after {small.runs} runs")
        click.echo(f"it fails by: {small.reason}")
        path = small.path
        outcome = failed.runner.run(path) if exported is not None else outcome
    if exported is not None:
        claim = outcome.lockstep.claim if outcome.lockstep is not None else None
        runner = failed.runner
        said = record_of(work, path, outcome).reasons
        for written in export_case(work, runner.plan, runner.observed, runner.script(path), claim, said, exported):
            click.echo(f"wrote {written}")
    return code


def _run_table(outcome: Outcome) -> Mapping[str, object]:
    lockstep = None if outcome.lockstep is None else replace(outcome.lockstep, claim=None)
    texts = {"folder": str(outcome.folder), "wave": str(outcome.wave or ""), "verdict": outcome.exit_code.name}
    return asdict(replace(outcome, lockstep=lockstep)) | texts


def _error_table(simulator: str, error: FleetError | None) -> Mapping[str, object]:
    return {"simulator": simulator, "verdict": "NOT RUN", "error": str(error)}


def _outcome_lines(test: Path, top: str, outcome: Outcome, *, named: bool) -> Iterator[str]:
    """Return the findings of a run. named: whether to name its simulator."""
    where = f" in {outcome.simulator}" if named else ""
    yield f"{test.name} of {top}{where}: {outcome.cycles} cycles, {outcome.compared} values compared"
    for v in outcome.violations:
        yield f"protocol: {v.port}: {v.rule} (by the {v.blame}, first at cycle {v.cycle}, {v.times} times)"
    yield from outcome.differences
    if (found := outcome.lockstep) is not None:
        counts = (found.jobs, "job"), (found.commits, "commit"), (found.points, "point"), (found.compared, "value")
        jobs, commits, points, values = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts)
        yield f"model: {jobs}; {commits} and {points} at rest compared, {values}"
        if c := found.cycles:
            yield f"cycles from a command to its commit: {min(c)} to {max(c)}, {sum(c) / len(c):.1f} on average"
        yield from (f"scope: {line}" for line in found.scope)
    yield from (f"scope: {line}" for line in outcome.scope)
    yield from (f"not driven: {line}" for line in outcome.undriven)
    yield from (f"pause does nothing at {line}" for line in outcome.unpaused)
    for u in outcome.unknown:
        bits = f"{u.bits} bit{'' if u.bits == 1 else 's'}"
        yield f"x: {u.path}: {bits} without a value after the reset, between cycles {u.first} and {u.last}"
    if outcome.unwritten:
        yield f"{outcome.unwritten} bytes were read that nobody had written; they read as 0"
    if outcome.delays:
        yield f"{outcome.delays} waits by itself (#delay, wait), so the simulation has a scheduler of events and is slower"
    if wave := outcome.wave or outcome.no_wave:
        yield f"wave: {wave}"
    monitors = f"{outcome.monitors} monitors quiet" if not outcome.violations else f"{len(outcome.violations)} rules broken"
    left = outcome.lockstep.uncompared if outcome.lockstep is not None else 0
    uncompared = f"; {left:,} event{'' if left == 1 else 's'} of the design that nobody compared" if left else ""
    yield f"verdict: {_VERDICTS[outcome.exit_code]} ({monitors}{uncompared})"


def _compare(asked: AdoptRequest, top: Top, ports: PortMap, closure: str, protocols: Mapping[str, Protocol]) -> int:
    """Print the changes since a map was written. Returns DIFFERS if there are any."""
    assert asked.old is not None
    old = read_recorded(asked.old)
    found = moved(old, top, ports, protocols)
    lines = [f"the top is {top.name}, it was {old.top}"] if top.name != old.top else []
    lines += found.lines
    kept = asked.old.with_name("registers.toml")
    if asked.registers and kept.is_file():
        lines += moved_registers(registers_file(kept), [r for path in asked.registers for r in read_registers(path)])
    if asked.machine:
        click.echo(json.dumps({"moved": lines, "closure": closure, "old_closure": old.closure}, indent=1))
    else:
        for line in lines:
            click.echo(line)
        same = "same sources" if closure == old.closure else "the sources differ"
        click.echo(f"{len(lines)} differences; {same}")
    if asked.output is not None:
        write_atomically(asked.output, map_text(found.ports, closure, protocols, top).encode())
        if not asked.machine:
            click.echo(f"wrote {asked.output}")
    return ExitCode.DIFFERS if lines else ExitCode.AGREED


def _pairs(texts: Sequence[str], option: str, *, value: bool = False) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, given = text.partition("=")
        if not name.strip() or (value and not given):
            raise click.UsageError(f"{option} {text}: give NAME=VALUE")
        yield name.strip(), given if equals else ""


def _widths(top: Top) -> Mapping[str, int]:
    return {leaf.path: leaf.width * leaf.count for leaf in top.leaves()}


def _lines(top: Top, sources: Sources, ports: PortMap, closure: str, protocols: Mapping[str, Protocol]) -> Iterator[str]:
    widths = _widths(top)
    given = [f"{p.name}={p.value}" for p in top.parameters if p.given]
    defaults = len(top.parameters) - len(given)
    given += [f"parameters at their defaults: {defaults}"] if defaults else []
    yield f"top {top.name} ({top.where})" + "".join(f", {text}" for text in given)
    pruned = f", {len(top.pruned)} not needed" if top.pruned else ""
    yield f"files: {len(top.files)}{pruned}, {len(top.included)} included, modules: {len(top.modules)}; {top.tool}"
    yield f"closure {closure}"
    for word in sources.ignored:
        yield f"not used: {word.word} ({word.where})"
    for kind in _WIRES:
        found = [g for g in ports.groups if g.protocol == kind]
        if found:
            yield f"{kind}s: {', '.join(_wire(g, widths) for g in found)}"
    for g in ports.groups:
        if g.protocol not in _WIRES:
            yield f"{g.name}: {_kind(g)}"
            yield f"  {', '.join(_signal(name, paths, g, widths) for name, paths in g.signals.items())}"
    for g in ports.groups:
        yield from (f"note: {g.name}: {note}" for note in g.notes)
    for port in top.ports:
        for p in (p for p in port.interface_parameters if not p.given):
            of = f"{p.name.partition('.')[2]} of its interface {port.interface}"
            yield f"note: {port.name}: {of} is {p.value}, its default; --parameter {p.name}=..."
    yield from (f"note: {line}" for line in guesses(proposed(top, ports, protocols)))
    if ports.unmapped:
        yield f"not mapped: {len(ports.unmapped)} of {len(widths)}"
        yield from (f"  {u.path} [{widths[u.path]}]: {u.reason}" for u in ports.unmapped)
    for data in top.data:
        yield f"reads {data.name} ({data.where}): {data.path or 'not found; say data_dirs in adopt.toml'}"
    if top.missing:
        yield f"modules without a source: {len(top.missing)}"
        yield from (f"  {m.name} x{m.count} at {m.path} ({m.where}): {', '.join(m.ports)}" for m in top.missing)
    if silent := list(not_driven(ports, top, protocols)):
        yield f"mapped, but not driven by the bench: {len(silent)}"
        yield from (f"  {line}" for line in silent)
    yield f"{len(widths) - len(ports.unmapped)} of {len(widths)} ports mapped in {len(ports.groups)} groups"


def _kind(g: PortGroup) -> str:
    return f"{g.protocol} {g.role}" + (f", {g.lanes} side by side" if g.lanes > 1 else "")


def _signal(name: str, paths: Sequence[str], g: PortGroup, widths: Mapping[str, int]) -> str:
    bits = sum(widths[p] for p in paths) // g.lanes
    return f"{name}{'*' if name in g.low else ''}[{bits}]"


def _wire(g: PortGroup, widths: Mapping[str, int]) -> str:
    [path] = g.paths()
    facts = [f"{widths[path]} bits"] if widths[path] > 1 else []
    facts += ["active low"] if g.low else []
    facts += ["input" if g.role == "subordinate" else "output"] if (g.role == "manager") != (g.protocol == "interrupt") else []
    return " ".join((path, *([f"({', '.join(facts)})"] if facts else [])))


def _table(
    top: Top, sources: Sources, ports: PortMap, closure: str, protocols: Mapping[str, Protocol]
) -> dict[str, object]:  # fmt: skip
    widths = _widths(top)
    return {
        "top": top.name,
        "where": top.where,
        "closure": closure,
        "tool": top.tool,
        "parameters": {p.name: p.value for p in top.parameters},
        "defines": dict(sources.defines),
        "files": [str(p) for p in top.files],
        "not_needed": [str(p) for p in top.pruned],
        "included": [str(p) for p in top.included],
        "groups": [
            {
                "name": g.name, "protocol": g.protocol, "role": g.role, "lanes": g.lanes, "active_low": list(g.low),
                "signals": {n: [{"port": p, "bits": widths[p]} for p in paths] for n, paths in g.signals.items()},
                "notes": list(g.notes),
            }
            for g in ports.groups
        ],
        "unmapped": [{"port": u.path, "bits": widths[u.path], "reason": u.reason} for u in ports.unmapped],
        "guesses": list(guesses(proposed(top, ports, protocols))),
        "not_driven": list(not_driven(ports, top, protocols)),
        "missing": [
            {"module": m.name, "count": m.count, "path": m.path, "where": m.where, "ports": list(m.ports)} for m in top.missing
        ],
        "data": [{"name": d.name, "where": d.where, "path": None if d.path is None else str(d.path)} for d in top.data],
        "ignored": [{"word": i.word, "where": i.where} for i in sources.ignored],
        "warnings": list(top.warnings),
    }  # fmt: skip
