"""What the engine refuses to believe: forged traces of a segment, each found and named. No simulation runs here."""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loopback import FIXTURES

from fleet.engines.rtl import RtlBackend, memory_model
from fleet.engines.rtl_sim import records
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.records import RECORD, CommitRecord, encoded, read_records
from fleet.engines.rtl_sim.segment import Segment
from fleet.errors import DeviceError, FleetError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import description_hash
from fleet.sdk import Call, Device, InstructionSet

CALLS = [
    Call(
        "vadd",
        {"vadd_a": 0, "vadd_b": 0x400, "vadd_out": 0x800, "vadd_beats": 3, "vadd_start": 1},
        ops=("sum",),
        token_range=(0, 3),
    ),
    Call("vadd", {"vadd_a": 0, "vadd_b": 0x800, "vadd_out": 0xC00, "vadd_beats": 2, "vadd_start": 1}, ops=("total",)),
]
DONE, ERROR = 1, 2


@pytest.fixture(scope="module")
def adder() -> Iterator[tuple[InstructionSet, Device]]:
    folder = str(FIXTURES / "one_instruction_set")
    sys.path.insert(0, folder)
    try:
        from vector_add import INSTRUCTION_SET

        yield INSTRUCTION_SET, next(iter(INSTRUCTION_SET.devices.values()))
    finally:
        sys.path.remove(folder)
        for name in [n for n in sys.modules if n.split(".")[0] == "vector_add"]:
            del sys.modules[name]


class Forger:
    """Writes what a simulation would leave, with changes."""

    def __init__(self, adder: tuple[InstructionSet, Device], folder: Path) -> None:
        self.segment = Segment(*adder, CALLS, first_seq=5)
        memory = MappedMemory(adder[1], folder / "images")
        self.job: Job = self.segment.job(folder / "segment", memory, "ideal")
        memory.close()
        self.hash = int(description_hash(*adder)[:8], 16)
        self.rows: list[dict[str, int]] = [
            {
                "seq": i,
                "opcode": self._opcode(adder),
                "error": 0,
                "digest": 77 + i,
                "start": 10 + 100 * i,
                "end": 60 + 100 * i,
                "bytes": 64,
            }
            for i in range(2)
        ]
        # The hash, then interrupt status and error cause of each call.
        self.results = [self.hash, DONE, 0, DONE, 0]
        self.status = JobStatus("done", "", "", "", "", 300, 2, 1, 0.1, {})

    @staticmethod
    def _opcode(adder: tuple[InstructionSet, Device]) -> int:
        from fleet.isa.reading.cache import load

        return load(adder[0].description).instructions["vadd"].opcode

    def check(self, base: int = 0):
        np.array(self.results, "<u4").tofile(self.job.results)
        self.job.trace.write_bytes(
            b"".join(
                struct.pack(
                    "<IHHQQQ6III",
                    r["seq"],
                    r["opcode"],
                    r["error"],
                    r["digest"],
                    r["start"],
                    r["end"],
                    40,
                    0,
                    0,
                    9,
                    0,
                    0,
                    r["bytes"],
                    0,
                )
                for r in self.rows
            )
        )
        hashed = hashlib.sha256(self.job.trace.read_bytes()).hexdigest()
        return self.segment.check(self.job, replace(self.status, commits=len(self.rows), records=hashed), base)


@pytest.fixture
def forger(adder: tuple[InstructionSet, Device], tmp_path: Path) -> Forger:
    return Forger(adder, tmp_path)


def test_an_honest_trace_passes(forger: Forger) -> None:
    commits, records = forger.check(base=1000)
    assert [(c.seq, c.instruction, c.ops, c.digest, c.bytes_written, c.result, c.token_range) for c in commits] == [
        (5, "vadd", ("sum",), 77, 64, None, (0, 3)),
        (6, "vadd", ("total",), 78, 64, None, None),
    ]
    assert [(c.start, c.end) for c in commits] == [(1011, 1060), (1111, 1160)], "start is that of the counted cycles"
    assert len(records) == 2


def test_an_engine_that_does_not_run_is_found(forger: Forger) -> None:
    forger.rows = []
    with pytest.raises(SimulationError, match=r"instruction 5 \(vadd for sum\): the hardware committed 0 of 2 instructions"):
        forger.check()


def test_a_missing_and_an_extra_commit(forger: Forger) -> None:
    last = forger.rows.pop()
    with pytest.raises(SimulationError, match=r"instruction 6 \(vadd for total\): the hardware committed 1 of 2"):
        forger.check()
    forger.rows += [last, last | {"seq": 2}]
    with pytest.raises(
        SimulationError, match=r"after rtl, instruction 6 \(vadd for total\): the hardware committed 3 instructions, 2 were"
    ):
        forger.check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"opcode": 0x99}, "the commit carries opcode 0x99, expected 0x"),
        ({"error": 4}, "refused the instruction with error cause 4"),
        ({"digest": 0}, "without having written anything"),
        ({"bytes": 0}, "without having written anything"),
        ({"end": 158}, "the classes of cycles sum to 49, from start to commit the bench measured 48"),
        ({"end": 176}, "the classes of cycles sum to 49, from start to commit the bench measured 66"),
    ],
)
def test_a_bad_commit_is_named(forger: Forger, change: dict[str, int], message: str) -> None:
    forger.rows[1] |= change
    with pytest.raises(SimulationError, match=rf"^rtl, instruction 6 \(vadd for total\): .*{message}"):
        forger.check()


def test_registers_that_disagree(forger: Forger) -> None:
    forger.results[3] = 0
    with pytest.raises(SimulationError, match=r"instruction 6 .*the interrupt was not that of completion"):
        forger.check()
    forger.results[3:] = [ERROR, 6]
    forger.status = replace(forger.status, refusal="ddr answered")
    with pytest.raises(SimulationError, match=r"instruction 6 .*refused the instruction with error cause 6; ddr answered"):
        forger.check()
    forger.results.pop()
    with pytest.raises(SimulationError, match="4 of 5 register reads came back"):
        forger.check()


def test_foreign_hardware_is_refused(forger: Forger) -> None:
    forger.results[0] ^= 1
    with pytest.raises(
        SimulationError, match=f"carries description hash {forger.hash ^ 1:08x}, the stream was made for {forger.hash:08x}"
    ):
        forger.check()


def test_a_trace_cut_short_is_found(forger: Forger) -> None:
    forger.check()
    with pytest.raises(SimulationError, match="the trace holds 2 of 3 commits"):
        forger.segment.check(forger.job, replace(forger.status, commits=3), 0)


def test_an_unknown_instruction(adder: tuple[InstructionSet, Device]) -> None:
    with pytest.raises(FleetError, match="no instruction 'vmul'"):
        Segment(*adder, [Call("vmul", {})])


def test_memory_models() -> None:
    assert [memory_model(m, 9) for m in ("ideal", "fixed", "fixed:7", "stall", "stall:3", "timed", "timed:8")] == [
        "ideal", "fixed:64", "fixed:7", "stall:9", "stall:3", "timed:9", "timed:8",
    ]  # fmt: skip
    for wrong in ("", "fast", "fixed:", "stall:-1", "ideal:1", "timed:", "timed:x"):
        with pytest.raises(DeviceError, match="no memory model"):
            memory_model(wrong, 0)


def test_counters_of_timed_memory() -> None:
    backend = RtlBackend()
    rows = {"hbm.0.row_hits": 90, "hbm.0.row_closed": 4, "hbm.0.row_misses": 6, "hbm.0.refresh_cycles": 50}
    idle = {key.replace("hbm.0", "hbm.1"): 0 for key in rows}
    ddr = {"ddr.row_hits": 3, "ddr.row_closed": 1, "ddr.row_misses": 0, "ddr.refresh_cycles": 0, "ddr.read_bytes": 256}
    status = JobStatus("done", "", "", "", "", 1000, 0, 1, 0.5, rows | idle | ddr)
    backend._count(status, [])
    backend._count(status, [])
    counters = backend.counters()
    assert (counters["hbm_row_hits"], counters["ddr_row_closed"], counters["hbm_refresh_cycles"]) == (180, 2, 100)
    assert counters["hbm_row_hit_rate"] == 0.9
    assert counters["ddr_row_hit_rate"] == 0.75
    assert counters["hbm_refresh_share"] == 0.05, "port 1 was not used"
    assert counters["ddr_refresh_share"] == 0
    ideal = RtlBackend()
    ideal._count(JobStatus("done", "", "", "", "", 1000, 0, 1, 0.5, {"ddr.read_bytes": 256}), [])
    assert not [name for name in ideal.counters() if "row" in name or "refresh" in name]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: {"cycles": {name: int(n * 1.1) for name, n in r.cycles.items()}},
        lambda r: {"cycles": {name: int(n * 1.1) for name, n in r.cycles.items()}, "end": r.end + 4},
        lambda r: {"cycles": dict(zip(r.cycles, reversed(r.cycles.values()), strict=True))},
        lambda r: {"start": r.start - 1},
        lambda r: {"start": r.start + 7, "end": r.end + 7},
        lambda r: {"digest": r.digest ^ 1 << 63},
        lambda r: {"bytes_written": r.bytes_written + 1},
        lambda r: {"result": 0},
    ],
    ids=["classes times 1.1", "and the end moved", "classes in another order", "start", "both", "digest", "bytes", "a result"],
)
def test_records_that_python_reads_otherwise_than_the_bench_wrote_them(
    forger: Forger, monkeypatch: pytest.MonkeyPatch, change: Callable[[CommitRecord], dict[str, object]]
) -> None:
    forger.check()
    honest = records.read_records
    monkeypatch.setattr(records, "read_records", lambda path: [replace(r, **change(r)) for r in honest(path)])
    with pytest.raises(SimulationError, match=r"the commit records that were read hash to .*, the bench wrote "):
        forger.check()


def test_what_is_read_is_encoded_back_to_the_same_bytes(forger: Forger) -> None:
    rng = np.random.default_rng(1)
    raw = np.frombuffer(rng.bytes(64 * 32), RECORD).copy()
    raw["seq"] = np.arange(32)
    raw["result"][raw["error"] < 0x8000] = 0  # the bench leaves 0 where no result is valid
    forger.job.trace.write_bytes(raw.tobytes())
    assert encoded(read_records(forger.job.trace)) == raw.tobytes()
