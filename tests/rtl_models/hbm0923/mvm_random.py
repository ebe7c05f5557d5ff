"""Random MVM instructions, run by the RTL in the bench and by the functional model, compared in every byte.

Also a program: `python mvm_random.py DEVICE COUNT SEED [MEMORY]`, which prints each case and stops at the first that differs.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fleet.engines.rtl import memory_timing
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.job import Job, JobScript, JobStatus, read_results
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.records import CommitRecord, read_records
from fleet.isa.digest import digest
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet
from fleet.sets.hbm0923.mvm_operands import FIELDS, MvmFields, ceil_div, channel_bytes, code_beats, row_words

OPCODES = {"mvm": 0x08, "mvm_bn": 0x48, "mvm_bn_res": 0xC8}
IRQ_EN, IRQ_STAT, STATUS, RESULT, ERR_CAUSE, CYCLES = 4 * 227, 4 * 228, 4 * 1, 4 * 40, 4 * 225, 4 * 230
PAGE = 4096
ODD_HALVES = np.array([0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF], np.uint16)
Played = tuple[JobStatus, list[CommitRecord], list[int]]


@dataclass(frozen=True)
class Case:
    """One instruction: sizes, mode, and how its data is made ("plain", "special": with NaN, infinities and subnormals)."""

    chin: int
    chout: int
    tokens: int
    tblk: int
    bn: bool = False
    residual: bool = False
    mul: bool = False
    relu: bool = False
    argmax: bool = False
    data: str = "plain"
    strided: bool = False
    kept: int = 0

    @property
    def instruction(self) -> str:
        return "mvm_bn_res" if self.residual else "mvm_bn" if self.bn else "mvm"


def random_case(device: Device, rng: np.random.Generator) -> Case:
    """Sizes around the unit's boundaries, small enough for a second of simulation."""
    p = device.parameters
    chin = int(rng.choice([1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 576, 2047, 2048, 2049, 2112, 4096, rng.integers(1, 700)]))
    chout = int(rng.choice([1, 7, 8, 9, 10, 31, 32, 33, 63, 64, 65, 96, rng.integers(1, 150)]))
    kept = int(rng.choice([0, 4, 4, 2, 2, 1, 1])) if p["Sparse"] else 0
    most = min(p["MaxToken"], p["DatDepth"] * p["Tin"] // 64 // row_words(chin, kept))
    tokens = min(most, int(rng.choice([1, 1, 2, 3, 17, 40])))
    bn = bool(rng.integers(0, 3))
    residual = bn and bool(rng.integers(0, 2))
    return Case(
        chin,
        chout,
        tokens,
        128 if kept else int(rng.choice([32, 64, 128])),
        bn=bn,
        residual=residual,
        mul=residual and bool(rng.integers(0, 2)),
        relu=bool(rng.integers(0, 2)),
        argmax=bn and bool(rng.integers(0, 2)),
        data=str(rng.choice(["plain", "special", "wild"])),
        strided=bool(rng.integers(0, 3) == 0),
        kept=kept,
    )


def _halves(rng: np.random.Generator, shape: tuple[int, ...], data: str) -> np.ndarray:
    """FP16 patterns (uint16): plain is normal; special adds a few NaN, infinities, zeros, subnormals; wild is any pattern."""
    values = rng.normal(0, 1, shape).astype(np.float16).view(np.uint16)
    if data == "wild":
        values = rng.integers(0, 65536, shape, dtype=np.uint16)
        return np.where(rng.random(shape) < 0.999, values & 0xBBFF, values).astype(np.uint16)
    if data == "special":
        odd = rng.choice(ODD_HALVES, shape)
        values = np.where(rng.random(shape) < 0.003, odd, values).astype(np.uint16)
    return values


class Place:
    """Hands out ranges of DDR and of the banks, one after the other. pages: each at the beginning of a page."""

    def __init__(self, *, pages: bool = False) -> None:
        self.ddr, self.hbm = PAGE, 0
        self._pages = pages

    def take(self, size: int, rng: np.random.Generator) -> int:
        at = self.ddr
        self.ddr += ceil_div(size, 64) * 64 + 64 * int(rng.integers(0, 4))
        if self._pages:
            self.ddr = ceil_div(self.ddr, PAGE) * PAGE
        return at


def prepare(device: Device, memory: MappedMemory, case: Case, place: Place, rng: np.random.Generator) -> MvmFields:
    """Fills memory (pad lanes and gaps with noise) and returns the operands."""
    c = case
    rows = c.tokens + (int(rng.integers(1, 4)) if c.strided else 0)
    in_surfaces, out_surfaces = ceil_div(c.chin, 32), ceil_div(c.chout, 32)

    def feature(surfaces: int, data: str) -> int:
        at = place.take(surfaces * rows * 64, rng)
        memory.view("ddr", at, surfaces * rows * 64)[:] = _halves(rng, (surfaces * rows * 32,), data).view(np.uint8)
        return at

    source = feature(in_surfaces, c.data)
    if c.chin % 32:  # lanes beyond CHin hold the worst
        memory.view("ddr", source, in_surfaces * rows * 64).view(np.uint16).reshape(in_surfaces, rows, 32)[-1, :, c.chin % 32 :] = (
            0x7E01
        )
    residual = feature(out_surfaces, "special") if c.residual else None
    bn = None
    if c.bn:
        bn = place.take(out_surfaces * 128, rng)
        words = _halves(rng, (out_surfaces * 64,), "special")
        memory.view("ddr", bn, out_surfaces * 128)[:] = words.view(np.uint8)
    output = place.take(out_surfaces * rows * 64, rng)
    memory.view("ddr", output, out_surfaces * rows * 64)[:] = rng.integers(0, 256, out_surfaces * rows * 64, dtype=np.uint8)
    argmax = place.take(4 * c.tokens, rng) if c.argmax else None
    size = channel_bytes(device, c.chin, c.tblk, c.kept)
    blocks = ceil_div(c.chout, device.parameters["Tout"])
    weights = place.hbm
    place.hbm += blocks * size + 32 * int(rng.integers(0, 20))
    for port in range(device.parameters["HbmPorts"]):
        bank = memory.view("hbm", weights, blocks * size, bank=port).reshape(blocks, size)
        bank[:] = rng.integers(0, 256, bank.shape, dtype=np.uint8)
        at = 0
        for first in range(0, c.chin, 2048):
            n = min(2048, c.chin - first)
            scales = ceil_div(ceil_div(n, c.tblk), 16) * 32
            values = _halves(rng, (blocks, scales // 2), "special" if c.data == "special" else "plain")
            bank[:, at : at + scales] = values.view(np.uint8)
            at += scales + 32 * sum(code_beats(n, c.kept))
    return MvmFields(
        chin=c.chin,
        chout=c.chout,
        tokens=c.tokens,
        tblk=c.tblk,
        input=source,
        weights=weights,
        output=output,
        in_surface=rows * 64,
        in_line=rows * 64,
        out_surface=rows * 64,
        out_line=rows * 64,
        bn=bn,
        residual=residual,
        argmax=argmax,
        relu=c.relu,
        mul=c.mul,
        kept=c.kept,
    )


class Runner:
    """A running simulation of a device, and a folder for its memory and jobs. `seed`: of the power-on state."""

    def __init__(self, name: str, folder: Path, seed: int = 1) -> None:
        self.set: InstructionSet
        self.set, self.device = find_device(name)
        self.folder = folder
        self.memory = MappedMemory(self.device, folder)
        self.simulation = Simulation(build(design_of(self.set, self.device)), folder / "simulation", seed=seed)

    def play(self, script: JobScript, memory: str = "ideal", max_cycles: int = 5_000_000, images: Path | None = None) -> Played:
        """Runs a script on the memory as it stands (or on that in another folder); a failed assertion of the RTL raises."""
        f = self.folder
        script.save(f / "script.bin")
        images = images or f
        hbm = {p: images / f"hbm_{p}.bin" for p in range(self.device.parameters["HbmPorts"])}
        job = Job(images / "ddr.bin", f / "script.bin", f / "results.bin", f / "trace.bin", f / "status", hbm, memory, max_cycles)
        job = dataclasses.replace(job, timing=memory_timing(memory, self.device))
        status = self.simulation.run(job)
        return status, read_records(f / "trace.bin"), read_results(f / "results.bin")

    def close(self) -> None:
        self.simulation.close()


def start(script: JobScript, fields: dict[str, int]) -> None:
    """Operand writes, the start, the wait for its interrupt, and its clearing."""
    for number, name in enumerate(FIELDS, start=2):
        script.write(4 * number, fields[name], start=name == "mvm_start")
    script.wait_irq(1_000_000)
    script.write(IRQ_STAT, 3)


def compare(
    runner: Runner, cases: list[Case], seed: int, memory: str = "ideal", *, pages: bool = False
) -> tuple[JobStatus, list[CommitRecord]]:
    """Runs the cases in one job and asserts that every byte of DDR, every digest and every result register is the model's."""
    rng = np.random.default_rng(seed)
    place, script = Place(pages=pages), JobScript()
    script.write(IRQ_EN, 3)
    runner.memory.view("ddr", 0, runner.device.memory["ddr"])[: 8 << 20] = 0
    operands = [prepare(runner.device, runner.memory, case, place, rng) for case in cases]
    expected = np.array(runner.memory.view("ddr", 0, place.ddr + PAGE))
    digests: list[int] = []
    results: list[int | None] = []
    for case, o in zip(cases, operands, strict=True):
        instruction = runner.set.instructions[case.instruction]
        fields = o.encode(runner.device)
        assert not instruction.legal(runner.device, fields), instruction.legal(runner.device, fields)
        writes = instruction.execute(runner.device, fields, runner.memory)
        total, result = 0, None
        for w in writes:
            if w.space == "reg":
                result = int(w.data.view("<u4")[0])
                continue
            expected[w.offset : w.offset + w.data.size] = w.data.reshape(-1).view(np.uint8)
            total += digest(0, w.offset, w.data)
        digests.append(total % 2**64)
        results.append(result)
        start(script, fields)
        script.read(STATUS)
        script.read(RESULT)
        script.read(CYCLES)
    status, records, reads = runner.play(script, memory)
    got = runner.memory.view("ddr", 0, expected.size)
    for i, (case, o) in enumerate(zip(cases, operands, strict=True)):
        what = f"case {i} of seed {seed}, memory {memory}: {case} {o}"
        assert i < len(records), what
        r = records[i]
        assert r.error == 0, f"{what}: error {r.error}"
        assert r.opcode == OPCODES[case.instruction], what
        size = ceil_div(case.chout, 32) * (o.out_surface if case.chout > 32 else case.tokens * 64)
        differ = np.flatnonzero(got[o.output : o.output + size] != expected[o.output : o.output + size])
        assert differ.size == 0, f"{what}: {differ.size} bytes differ, first at {differ[:8]}"
        if o.argmax is not None:
            a = slice(o.argmax, o.argmax + 4 * case.tokens)
            assert (got[a] == expected[a]).all(), f"{what}: argmax {got[a].view('<u4')} {expected[a].view('<u4')}"
        assert r.digest == digests[i], f"{what}: digest"
        assert r.result == results[i], f"{what}: result {r.result}, expected {results[i]}"
        assert sum(r.cycles.values()) == r.end - r.start, f"{what}: {r.cycles} do not sum to {r.end - r.start}"
        assert reads[3 * i] == 1, f"{what}: status"
        if results[i] is not None:
            assert reads[3 * i + 1] == results[i], f"{what}: register 40"
        assert reads[3 * i + 2] == r.end - r.start, f"{what}: CYCLES {reads[3 * i + 2]}"
    assert len(records) == len(cases), "more commits than instructions"
    assert (got == expected).all(), f"seed {seed}: a byte outside every destination changed: {np.flatnonzero(got != expected)[:8]}"
    return status, records


def main() -> None:
    name, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    memory = sys.argv[4] if len(sys.argv) > 4 else "ideal"
    folder = Path(tempfile.mkdtemp())
    try:
        runner = Runner(name, folder)
        for s in range(seed, seed + count):
            rng = np.random.default_rng([s, 7])
            cases = [random_case(runner.device, rng) for _ in range(6)]
            status, records = compare(runner, cases, s, memory.replace("SEED", str(s)))
            print(s, status.cycles, f"{status.cycles / status.seconds / 1e3:.0f} k cycles/s", [r.end - r.start for r in records])
        runner.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
