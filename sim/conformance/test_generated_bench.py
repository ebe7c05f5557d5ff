"""fleet's own sets as hardware that it did not write: their conformance cases on the bench that is made from their port map.

Bench, memories and monitors are those of adopted hardware; what commits and what must be in memory comes from the functional model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyslang")

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.adopt.workspace import open_workspace
from fleet.cli.main import main
from fleet.engines.rtl_sim.build import Design, design_of
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.rtl_sim.tools import rtl_models
from fleet.errors import ExitCode
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.isa.resolved import begun_state
from fleet.sdk import Call, Device, Write
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

pytestmark = pytest.mark.nightly

STORES = "vgemm_small"
MOST = {"vgemm_small": 100, "hbm_small": 2}
"""Device -> directed cases of each instruction, at most."""
PORTS = ("hbm", "ddr")
"""Spaces that a port of the design reads and writes; what lies inside cannot be set from outside."""
OBSERVE = 'extern "C" void fleet_observe_write(unsigned, unsigned long long, const void *, const void *) {}\n'
WRITE, WAIT, READ = 1, 2, 3


def _runner(folder: Path, design: Design) -> BenchRunner:
    """The bench of a design as somebody gets it who adopts it."""
    (folder / "observe.cpp").write_text(OBSERVE)
    axi = rtl_models() / "axi" / "fleet_axi_pkg.sv"
    words = [str(axi), *(str(p) for p in design.sources if p.name != axi.name), str(folder / "observe.cpp")]
    words += [w for name, value in design.dut.parameters.items() for w in ("--parameter", f"{name}={value}")]
    words += [w for path in design.include_dirs for w in ("--include", str(path))]
    work = folder / "w"
    assert (
        main(["isa", "adopt", *words, "--top", design.dut.top, "-o", str(work)]) == ExitCode.INCOMPLETE
    )  # two ports are not mapped
    manifest = work / "adopt.toml"
    text = manifest.read_text()
    assert "[ports.ddr]" in text
    head, ddr = text.split("[ports.ddr]")
    manifest.write_text(f"{head}[ports.ddr]{ddr.replace('space = 0', 'space = 1', 1)}")
    return BenchRunner(open_workspace(work), waves=False)


def _cases(device: str) -> Iterator[StreamCase]:
    """Directed cases whose memory lies outside of the design."""
    count = Counter[str]()
    for name in names(device):
        instruction, kind = name.split("/")[1:3]
        if kind == "directed" and count[instruction] < MOST[device]:
            case = make_case(name)
            if all(b.space in PORTS for b in case.blocks) and case.unwritten != "left out":
                count[instruction] += 1
                yield case


def _address(device: Device, block: Write) -> int:
    """As the port sees it: each port of HBM has a part of the addresses."""
    return block.offset + (block.bank << device.parameters.get("Log2BankStep", 0))


def _test(
    case: StreamCase, commits: Sequence[StreamCommit], opcodes: Sequence[int], streams: StreamRunner, written: list[Write]
) -> str:
    """The case as a test of an adopted design."""
    lines = ["limit = 4000000"]
    for n, b in enumerate(case.blocks):
        data = np.ascontiguousarray(b.data).view(np.uint8).tobytes()
        (streams.folder / f"block{n}.bin").write_bytes(data)
        lines += [
            "[[memory]]",
            f'port = "{b.space}"',
            f"address = {_address(streams.device, b):#x}",
            f'file = "{streams.folder / f"block{n}.bin"}"',
        ]
    segment = Segment(
        streams.set, streams.device, case.calls, refusals=True, parameters=case.parameters,
        before=begun_state(streams.device, case.blocks),
    )  # fmt: skip
    segment.job(streams.folder / "job", streams.found.memory, "ideal")
    for op, address, data, _ in np.fromfile(streams.folder / "job.script", "<u4").reshape(-1, 4).tolist():
        if op == WRITE:
            lines += ["[[step]]", 'write = "s_axil"', f"address = {address:#x}", f"data = {data:#x}"]
        elif op == WAIT:
            lines += ["[[step]]", 'wait = "irq_o"', "limit = 2000000"]
        elif op == READ:
            lines += ["[[step]]", 'read = "s_axil"', f"address = {address:#x}"]
    lines += ["[[step]]", "idle = 200", "[[expect]]", 'received = "commit"']
    words = [o << 48 | c.cause << 32 | (c.result or 0) for o, c in zip(opcodes, commits, strict=True)]
    lines.append(f"data = {words}")
    for w in written:
        if w.space in PORTS:
            held = streams.expected.memory.view(w.space, w.offset, np.asarray(w.data).nbytes, w.bank).tobytes()
            lines += ["[[expect]]", f'port = "{w.space}"', f"address = {_address(streams.device, w):#x}", f'bytes = "{held.hex()}"']
    return "\n".join(lines) + "\n"


def _outcome(runner: BenchRunner, streams: StreamRunner, case: StreamCase, folder: Path) -> Outcome:
    """The case on the generated bench, held to the functional model."""
    written: list[Write] = []

    def watch(_seq: int, _call: Call, writes: Sequence[Write]) -> None:
        written.extend(writes)

    streams.watch = watch
    commits = streams.model(case)
    described = load(streams.set.description)
    opcodes = [described.instructions[c.instruction].opcode for c in case.calls]
    test = folder / "case.toml"
    test.write_text(_test(case, commits, opcodes, streams, written))
    outcome = runner.run(test, folder / "run", wave=False)
    found, status = streams.hardware(case, Setting())
    assert [c.architectural for c in found] == [c.architectural for c in commits]
    print(f"{case.name}: {outcome.cycles} cycles, {outcome.compared} values; in the burst bench {status.cycles} cycles")
    return outcome


@pytest.mark.parametrize("device", MOST)
def test_the_commits_and_the_memory_are_those_of_the_functional_model(tmp_path: Path, device: str) -> None:
    cases = list(_cases(device))
    instructions = {c.name.split("/")[1] for c in cases}
    assert len(instructions) >= 5, instructions
    runner = _runner(tmp_path, design_of(*find_device(device)))
    with StreamRunner(device) as streams:
        for case in cases:
            outcome = _outcome(runner, streams, case, tmp_path)
            assert (outcome.differences, outcome.violations) == ((), ()), case.name
            assert outcome.exit_code is ExitCode.AGREED


def test_a_byte_lane_that_a_store_drops_is_found(tmp_path: Path) -> None:
    design = design_of(*find_device(STORES))
    path = next(p for p in design.sources if p.name == "vgemm_storer.sv")
    text = path.read_text()
    assert text.count("w.strb   = strb_q;") == 1
    changed = tmp_path / path.name
    changed.write_text(text.replace("w.strb   = strb_q;", "w.strb   = strb_q & ~{8{8'h20}};"))
    runner = _runner(tmp_path, replace(design, sources=tuple(changed if p == path else p for p in design.sources)))
    with StreamRunner(STORES) as streams:
        [store] = [c for c in _cases(STORES) if c.name == f"{STORES}/store/directed/0"]
        outcome = _outcome(runner, streams, store, tmp_path)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert any("bytes differ" in line for line in outcome.differences)
