"""fleet's own sets as hardware that it did not write: their conformance cases on the bench that is made from their port map.

Bench, memories and monitors are those of adopted hardware; what commits and what must be in memory comes from the functional model,
the cycles of each instruction from fleet's own bench, with its memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from as_adopted import PORTS, address_of, adopted, commit_cycles, script_lines

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.engines.rtl_sim.build import design_of
from fleet.engines.rtl_sim.records import read_records
from fleet.errors import ExitCode
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Call, Write
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

pytestmark = pytest.mark.nightly

STORES = "vgemm_small"
MOST = {("vgemm_small", "ideal"): 100, ("hbm_small", "ideal"): 2, ("vgemm_small", "fixed:9"): 2}
"""(device, memory) -> directed cases of each instruction, at most."""


def _cases(device: str, most: int) -> Iterator[StreamCase]:
    """Directed cases whose memory lies outside of the design."""
    count = Counter[str]()
    for name in names(device):
        instruction, kind = name.split("/")[1:3]
        if kind == "directed" and count[instruction] < most:
            case = make_case(name)
            if all(b.space in PORTS for b in case.blocks) and case.unwritten != "left out":
                count[instruction] += 1
                yield case


def _outcome(runner: BenchRunner, streams: StreamRunner, case: StreamCase, memory: str, folder: Path) -> Outcome:
    """The case on the generated bench, held to the functional model, and to fleet's own bench in its cycles."""
    written: list[Write] = []

    def watch(_seq: int, _call: Call, writes: Sequence[Write]) -> None:
        written.extend(writes)

    streams.watch = watch
    commits = streams.model(case)
    held = [(w, streams.expected.memory.view(w.space, w.offset, w.data.nbytes, w.bank).tobytes()) for w in written]
    found, _ = streams.hardware(case, Setting(memory))
    assert [c.architectural for c in found] == [c.architectural for c in commits]
    described = load(streams.set.description)
    opcodes = [described.instructions[c.instruction].opcode for c in case.calls]
    words = [o << 48 | c.cause << 32 | (c.result or 0) for o, c in zip(opcodes, commits, strict=True)]
    script, test = streams.folder / "job.script", folder / "case.toml"
    lines = [*script_lines(streams.device, case, script, streams.folder), f'[[expect]]\nreceived = "commit"\ndata = {words}']
    for w, data in held:
        if w.space in PORTS:
            place = address_of(streams.device, w)
            lines.append(f'[[expect]]\nport = "{w.space}"\naddress = {place:#x}\nbytes = "{data.hex()}"')
    test.write_text("\n".join(lines) + "\n")
    outcome = runner.run(test, folder / "run", wave=False)
    assert outcome.delays == "", "without a scheduler of events it is as fast as fleet's own bench"
    own = [r.end - r.start for r in read_records(streams.folder / "job.commits")]
    cycles = commit_cycles(runner, test, script, outcome.folder)
    print(f"{case.name}: {outcome.compared} values, cycles {cycles}")
    assert cycles == own, f"{case.name}: {cycles} cycles on the generated bench, {own} on fleet's own"
    return outcome


@pytest.mark.parametrize(("device", "memory"), MOST)
def test_commits_memory_and_cycles_are_those_of_fleets_own_bench(tmp_path: Path, device: str, memory: str) -> None:
    cases = list(_cases(device, MOST[device, memory]))
    instructions = {c.name.split("/")[1] for c in cases}
    assert len(instructions) >= 5, instructions
    runner = adopted(tmp_path, design_of(*find_device(device)), memory)
    with StreamRunner(device) as streams:
        for case in cases:
            outcome = _outcome(runner, streams, case, memory, tmp_path)
            assert (outcome.differences, outcome.violations) == ((), ()), case.name
            assert outcome.exit_code is ExitCode.AGREED


def test_a_bench_that_answers_a_cycle_later_has_other_cycles(tmp_path: Path) -> None:
    runner = adopted(tmp_path, design_of(*find_device(STORES)), "fixed:2")
    with StreamRunner(STORES) as streams:
        [load_] = [c for c in _cases(STORES, 1) if "/load/" in c.name]
        with pytest.raises(AssertionError, match="on the generated bench"):
            _outcome(runner, streams, load_, "ideal", tmp_path)


def test_a_byte_lane_that_a_store_drops_is_found(tmp_path: Path) -> None:
    design = design_of(*find_device(STORES))
    path = next(p for p in design.sources if p.name == "vgemm_storer.sv")
    text = path.read_text()
    assert text.count("w.strb   = strb_q;") == 1
    changed = tmp_path / path.name
    changed.write_text(text.replace("w.strb   = strb_q;", "w.strb   = strb_q & ~{8{8'h20}};"))
    runner = adopted(tmp_path, replace(design, sources=tuple(changed if p == path else p for p in design.sources)))
    with StreamRunner(STORES) as streams:
        [store] = [c for c in _cases(STORES, 1) if c.name == f"{STORES}/store/directed/0"]
        outcome = _outcome(runner, streams, store, "ideal", tmp_path)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert any("bytes differ" in line for line in outcome.differences)
