"""fleet's own sets as somebody gets them who adopts them: a workspace, and conformance cases as tests of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fleet.adopt.bench.replay import BenchRunner
from fleet.adopt.workspace import open_workspace
from fleet.cli.main import main
from fleet.engines.rtl_sim.build import Design
from fleet.errors import ExitCode
from fleet.sdk import Device, Write, rtl_models
from fleet.streams.case import StreamCase

OBSERVE = 'extern "C" void fleet_observe_write(unsigned, unsigned long long, const void *, const void *) {}\n'
PORTS = ("hbm", "ddr")
"""Spaces that a port of the design reads and writes; what lies inside cannot be set from outside."""
CYCLES = ', "commit_cycles_o"]'
"""End of what a commit carries, as it is guessed: how long each class of cycles took is not compared here."""
ANSWERS = "latency = 1\npause = 0"
WRITE, WAIT, READ = 1, 2, 3
STARTS = 1
"""Bit of a record's mask: the write starts an instruction."""


def adopted(folder: Path, design: Design, memory: str = "ideal") -> BenchRunner:
    """The bench of a design as somebody gets it who adopts it. memory: how its ports are answered."""
    (folder / "observe.cpp").write_text(OBSERVE)
    axi = rtl_models() / "axi" / "fleet_axi_pkg.sv"
    words = [str(axi), *(str(p) for p in design.sources if p.name != axi.name), str(folder / "observe.cpp")]
    words += [w for name, value in design.dut.parameters.items() for w in ("--parameter", f"{name}={value}")]
    words += [w for path in design.include_dirs for w in ("--include", str(path))]
    work = folder / "w"
    assert main(["isa", "adopt", *words, "--top", design.dut.top, "-o", str(work)]) == ExitCode.INCOMPLETE
    ports = work / "ports.toml"
    text = ports.read_text()
    assert CYCLES in text
    ports.write_text(text.replace(CYCLES, "]") + '[[unmapped]]\nport = "commit_cycles_o"\nreason = "counted by the test"\n')
    manifest = work / "adopt.toml"
    text = manifest.read_text()
    assert "[ports.ddr]" in text
    head, ddr = text.split("[ports.ddr]")
    text = f"{head}[ports.ddr]{ddr.replace('space = 0', 'space = 1', 1)}"
    for port in PORTS:
        if f"[ports.{port}]" in text:
            before, after = text.split(f"[ports.{port}]")
            answered = after.replace(ANSWERS, f'memory = "{memory}"', 1)
            text = f"{before}[ports.{port}]{answered}"
    manifest.write_text(text)
    return BenchRunner(open_workspace(work), waves=False)


def address_of(device: Device, block: Write) -> int:
    """As the port sees it: each port of HBM has a part of the addresses."""
    return block.offset + (block.bank << device.parameters.get("Log2BankStep", 0))


def script_lines(device: Device, case: StreamCase, script: Path, folder: Path) -> Iterator[str]:
    """A case as a test of the adopted design: its memory before, and its register script, the one of fleet's own bench."""
    yield "limit = 2000000000"
    for n, b in enumerate(case.blocks):
        data = np.ascontiguousarray(b.data).view(np.uint8).tobytes()
        (folder / f"block{n}.bin").write_bytes(data)
        yield f'[[memory]]\nport = "{b.space}"\naddress = {address_of(device, b):#x}\nfile = "{folder / f"block{n}.bin"}"'
    for op, address, data, _ in np.fromfile(script, "<u4").reshape(-1, 4).tolist():
        if op == WRITE:
            yield f'[[step]]\nwrite = "s_axil"\naddress = {address:#x}\ndata = {data:#x}'
        elif op == WAIT:
            yield '[[step]]\nwait = "irq_o"\nlimit = 2000000'
        elif op == READ:
            yield f'[[step]]\nread = "s_axil"\naddress = {address:#x}'
    yield "[[step]]\nidle = 200"


def commit_cycles(runner: BenchRunner, test: Path, script: Path, folder: Path) -> list[int]:
    """Cycles of each instruction: from the write that starts it, once the design took it, to its commit."""
    records = np.fromfile(script, "<u4").reshape(-1, 4).tolist()
    starts = [mask & STARTS for op, _, _, mask in records if op == WRITE]
    writes = [n for n, op in enumerate(runner.script(test).ops) if op.code == WRITE]
    lines = [line.split("|") for line in (folder / "results.txt").read_text().splitlines()]
    taken = {int(words[1]): int(words[5]) for words in lines if words[0] == "R"}
    begun = [taken[n] for n, start in zip(writes, starts, strict=True) if start]
    ended = [int(words[4]) for words in lines if words[0] == "S" and words[2] == "commit"]
    (clock,) = runner.work.settings.clocks.values()
    return [(end - begin) // clock.period for begin, end in zip(begun, ended, strict=True)]
