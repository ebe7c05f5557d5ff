"""Jobs, register scripts and status files: the text and binary forms of rtl_models/README.md, from the Python side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np

from fleet.errors import DeviceError


class ScriptOp(IntEnum):
    """Operations of a register script."""

    END = 0
    WRITE = 1
    WAIT_IRQ = 2
    READ = 3
    POLL = 4


def write_mask(*, start: bool, fetch: bool) -> int:
    """The mask of a WRITE: bit 0 marks that it starts an instruction, bit 1 a binary."""
    return int(start) | int(fetch) << 1


class JobScript:
    """Builds a register script: what the host does on the register port, in order.

    Example:
        script = Script()
        script.write(0x24, 1)
        script.write(0x00, 1, start=True)
        script.wait_irq()
        position = script.read(0x2C)  # index into the job's results
    """

    def __init__(self) -> None:
        self._records: list[tuple[int, int, int, int]] = []
        self.reads = 0

    def __len__(self) -> int:
        """Records so far, without the END that `save` appends."""
        return len(self._records)

    def write(self, address: int, value: int, *, start: bool = False, fetch: bool = False) -> None:
        """Writes a register (byte address).

        start: this write starts an instruction; the bench times its commit. fetch: it starts a binary, before which no task starts.
        A script that marks the one marks the other too.
        """
        self._add(ScriptOp.WRITE, address, value, write_mask(start=start, fetch=fetch))

    def wait_irq(self, limit: int = 0) -> None:
        """Waits for the interrupt, at most `limit` cycles (0: only the job's own limits)."""
        self._add(ScriptOp.WAIT_IRQ, 0, limit, 0)

    def read(self, address: int) -> int:
        """Reads a register; returns its position in the job's results."""
        self._add(ScriptOp.READ, address, 0, 0)
        self.reads += 1
        return self.reads - 1

    def poll(self, address: int, mask: int, value: int) -> None:
        """Reads until (register & mask) == value."""
        self._add(ScriptOp.POLL, address, value, mask)

    def _add(self, op: ScriptOp, address: int, data: int, mask: int) -> None:
        if not (0 <= address <= 0xFFFC and address % 4 == 0 and 0 <= data < 1 << 32 and 0 <= mask < 1 << 32):
            raise DeviceError(
                f"{op.name} of address {address:#x} with {data:#x}: expected a word address below 64 KiB and 32-bit values",
                where=f"register script record {len(self._records)}",
            )
        self._records.append((int(op), address, data, mask))

    def save(self, path: Path) -> None:
        """Writes the script with its END record."""
        np.array([*self._records, (int(ScriptOp.END), 0, 0, 0)], dtype="<u4").tofile(path)


@dataclass(frozen=True)
class Job:
    """One job of a simulation.

    Attributes:
        ddr: image of DDR; hbm: port -> image. Mapped shared: what the design writes stands in the files afterwards.
        script, results, trace, status: files; the last three are written by the simulation.
        memory: "ideal", "fixed:<cycles>", "stall:<seed>" or "timed:<seed>"; timing: what "timed" needs, see
            `fleet.sdk.dram.timing_keys`.
        max_cycles: a limit on the whole job; quiet_cycles: cycles without any progress that count as a hang.
        waves: file for the waves (an executable built with waves is needed); window: first and last cycle of them;
            scopes: (levels, hierarchical name) of what they show; empty: all.
        expected: file of `fleet.engines.rtl_sim.expected.save_expected`; the job ends at the first commit that is another one.
        writes: file that every write beat is appended to (`fleet.engines.rtl_sim.beats`).
        arrays, arrays_from, arrays_to: arrays inside the design, as `Content.put` of `fleet.engines.rtl_sim.arrays` writes them:
            their list, what they hold before the first instruction, and the file for what they hold when the job is done.
        snapshots, snapshots_to: the list of what to read of DDR at which commit, and the file for the bytes.
        overlay: `fleet.engines.legs.pages` writes it: bytes over the images, which the job then only reads; what the design writes
            goes to `overlay_to`, page by page. None: the images themselves are written.
        start_cycle: of the bench's clock at reset, so that refreshes come when they would in a longer run.
        warm_commits: traffic and waits are counted from that commit on. last_commit: the job is done with that commit (0: with its
            script), whatever else has begun.
        nonce: written into the status file, which shows that this job left it; `Simulation.run` draws one.
    """

    ddr: Path
    script: Path
    results: Path
    trace: Path
    status: Path
    hbm: Mapping[int, Path] = field(default_factory=dict)
    memory: str = "ideal"
    max_cycles: int = 100_000_000
    quiet_cycles: int = 200_000
    waves: Path | None = None
    window: tuple[int, int] | None = None
    timing: Mapping[str, str] = field(default_factory=dict)
    scopes: Sequence[tuple[int, str]] = ()
    expected: Path | None = None
    writes: Path | None = None
    arrays: Path | None = None
    arrays_from: Path | None = None
    arrays_to: Path | None = None
    snapshots: Path | None = None
    snapshots_to: Path | None = None
    overlay: Path | None = None
    overlay_to: Path | None = None
    start_cycle: int = 0
    warm_commits: int = 0
    last_commit: int = 0
    nonce: str = ""

    def save(self, path: Path) -> None:
        """Writes the job file under a temporary name, then renames it. Raises DeviceError for a path with a line break."""
        pairs: list[tuple[str, object]] = [(k, getattr(self, k)) for k in ("ddr", "script", "results", "trace", "status", "memory")]
        pairs += [(f"hbm.{port}", image) for port, image in sorted(self.hbm.items())]
        pairs += [("max_cycles", self.max_cycles), ("quiet_cycles", self.quiet_cycles)]
        pairs += [(f"timing.{key}", value) for key, value in sorted(self.timing.items())]
        if self.waves is not None:
            pairs.append(("waves", self.waves))
        if self.scopes:
            pairs.append(("wave_scopes", ",".join(f"{levels}:{scope}" for levels, scope in self.scopes)))
        names = ("expected", "writes", "arrays", "arrays_from", "arrays_to", "snapshots", "snapshots_to", "overlay", "overlay_to")
        pairs += [(key, getattr(self, key)) for key in names if getattr(self, key) is not None]
        pairs += [(key, getattr(self, key)) for key in ("start_cycle", "warm_commits", "last_commit") if getattr(self, key)]
        if self.nonce:
            pairs.append(("nonce", self.nonce))
        if self.window is not None:
            pairs += [("waves_from", self.window[0]), ("waves_to", self.window[1])]
        for key, value in pairs:
            if "\n" in str(value):
                raise DeviceError(f"a path with a line break ({str(value)!r}) cannot stand in a job file", where=key)
        temporary = path.with_name(path.name + ".tmp")
        temporary.write_text("".join(f"{key}={value}\n" for key, value in pairs), encoding="utf-8", errors="surrogateescape")
        os.replace(temporary, path)


@dataclass(frozen=True)
class JobStatus:
    """The end of a job.

    Attributes:
        status: "done", "diverged" (a commit is not the expected one), "hang" or "error"; message: one line, empty when done.
        refusal: the first memory access that was answered with an error, in words; empty when there was none.
        nonce: the job's. records: SHA-256 of the commit records, as the bench wrote them.
        cycles: clock cycles since reset; commits: records in the trace; script: records of the script that were begun.
        seconds: wall time of the clock loop.
        traffic: "ddr.read_bytes", "hbm.3.write_bytes", "hbm.3.read_bursts", ... -> number; with timed memory also
            ".row_hits", ".row_closed", ".row_misses" (beats) and ".refresh_cycles". "<port>.<channel>_waits": transfers that waited
            for ready, also of "registers"; missing where none did.
    """

    status: str
    message: str
    refusal: str
    nonce: str
    records: str
    cycles: int
    commits: int
    script: int
    seconds: float
    traffic: Mapping[str, int]

    @classmethod
    def load(cls, path: Path) -> JobStatus:
        """Reads a status file. Raises DeviceError when it is not there or not whole."""
        try:
            pairs = dict(line.split("=", 1) for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
            return cls(
                status=pairs.pop("status"),
                message=pairs.pop("message"),
                refusal=pairs.pop("refusal"),
                nonce=pairs.pop("nonce"),
                records=pairs.pop("records"),
                cycles=int(pairs.pop("cycles")),
                commits=int(pairs.pop("commits")),
                script=int(pairs.pop("script")),
                seconds=float(pairs.pop("seconds")),
                traffic={key: int(value) for key, value in pairs.items()},
            )
        except (OSError, ValueError, KeyError) as error:
            raise DeviceError(f"the simulation left no whole status file ({error})", where=str(path)) from error


def read_results(path: Path) -> list[int]:
    """Values of the script's READs, in order."""
    return np.fromfile(path, dtype="<u4").tolist()
