"""A job whose register script is written while it is played: for a host that decides from what it has read.

Script and results are named pipes (rtl_models/README.md). While no record is there, time stands still in the simulation, so
that cycles do not depend on how quick the host is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import struct
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from fleet.engines.rtl_sim.job import Job, JobStatus, ScriptOp, write_mask
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord, encoded, hold_records, read_records
from fleet.errors import DeviceError, FleetError
from fleet.isa.memory import MappedMemory

_RECORD = struct.Struct("<4I")
_NO_LIMIT = (1 << 63) - 1
"""Cycles of a job that lasts as long as its host wants; a hang is still noticed when nothing moves."""
_COLLECT = 1 << 15  # bytes of records that are kept back until an answer is wanted


class LiveJob:
    """The register port of a running simulation, from reset to `close`.

    Writes are collected and sent when an answer is wanted. Not for several threads.
    """

    def __init__(
        self, simulation: Simulation, folder: Path, memory: MappedMemory, model: str, timing: Mapping[str, str] | None = None
    ) -> None:
        """Resets the design and starts the job.

        Args:
            simulation: open, and used by nobody else until `close`.
            folder: for the pipes, the trace and the status file.
            memory: the images; model and timing: see `fleet.engines.rtl.memory_model` and `memory_timing`.

        Raises DeviceError where no pipes can be made in the folder.
        """
        self.deadline: float | None = None
        """Moment (time.monotonic) after which waiting ends in SimulationError; None: waits as long as something moves."""
        self._simulation, self._queue = simulation, bytearray()
        self._failure: FleetError | None = None
        self._status: JobStatus | None = None
        self._commits, self._hash = 0, hashlib.sha256()
        script, results = folder / "live.script", folder / "live.results"
        try:
            for path in (script, results):
                path.unlink(missing_ok=True)
                os.mkfifo(path)
            # Both ends are ours too: neither open waits, and the simulation sees an end only when this process has gone.
            self._script = os.open(script, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            self._results = os.open(results, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise DeviceError(f"cannot make a pipe ({error.strerror})", where=str(folder)) from error
        self._over_read, self._over_write = os.pipe()
        self._pipes: tuple[int, ...] = (self._script, self._results, self._over_read, self._over_write)
        self._job = Job(
            ddr=memory.paths["ddr", 0].absolute(),
            hbm={bank: path.absolute() for (space, bank), path in memory.paths.items() if space == "hbm"},
            script=script,
            results=results,
            trace=folder / "live.commits",
            status=folder / "live.status",
            memory=model,
            max_cycles=_NO_LIMIT,
            timing=timing or {},
        )
        self._job.trace.unlink(missing_ok=True)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def write(self, address: int, value: int, *, start: bool = False, fetch: bool = False) -> None:
        """Writes a register (byte address); `start`, `fetch`: as `Script.write` has them."""
        self._add(ScriptOp.WRITE, address, value, write_mask(start=start, fetch=fetch))

    def poll(self, address: int, mask: int, value: int) -> None:
        """Reads until (register & mask) == value, in the simulation."""
        self._add(ScriptOp.POLL, address, value, mask)

    def ask(self, address: int) -> None:
        """Sends what was collected and a read of a register, whose value `answer` gives: something may be done in between."""
        self._add(ScriptOp.READ, address, 0, 0)
        self._send()

    def answer(self) -> int:
        """The value of the oldest `ask`. Raises SimulationError when the simulation hung, failed or crashed."""
        data = b""
        while len(data) < 4:
            readable = self._wait([self._results], [])
            if self._results not in readable:
                raise self._over()
            with contextlib.suppress(BlockingIOError):
                data += os.read(self._results, 4 - len(data))
        return int.from_bytes(data, "little")

    def read(self, address: int) -> int:
        """`ask` and `answer`."""
        self.ask(address)
        return self.answer()

    def commits(self) -> list[CommitRecord]:
        """The commits since the last call; complete up to the last answer."""
        if not self._job.trace.exists():
            return []
        found = read_records(self._job.trace, self._commits)
        self._commits += len(found)
        self._hash.update(encoded(found))
        return found

    def close(self) -> JobStatus:
        """Ends the job; how it went. The simulation may serve another job then.

        Raises SimulationError as `answer` does, and where the commits that were read are not those that the bench wrote.
        """
        try:
            if self._status is None and self._failure is None:
                self._add(ScriptOp.END, 0, 0, 0)
                self._send()
                self._thread.join()
        finally:
            self.abandon()
        if self._status is None:
            raise self._over()
        self.commits()
        hold_records(self._commits, self._hash.hexdigest(), self._status, str(self._job.trace))
        return self._status

    def abandon(self) -> None:
        """Lets go of the job, and ends the simulation where it still plays; may be called twice, also after `close`."""
        if self._thread.is_alive():
            self._simulation.kill()
            self._thread.join()
        for fd in self._pipes:
            os.close(fd)
        self._pipes = ()

    def _add(self, op: ScriptOp, address: int, data: int, mask: int) -> None:
        self._queue += _RECORD.pack(op, address, data, mask)
        if len(self._queue) >= _COLLECT:
            self._send()

    def _send(self) -> None:
        while self._queue:
            self._wait([], [self._script])
            if self._failure is not None or self._status is not None:
                raise self._over()
            with contextlib.suppress(BlockingIOError):
                del self._queue[: os.write(self._script, self._queue)]

    def _wait(self, reads: list[int], writes: list[int]) -> list[int]:
        """Until one is ready or the job is over; what may be read or written."""
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        readable, writable, _ = select.select([*reads, self._over_read], writes, [], left)
        if not readable and not writable:
            raise SimulationError("the simulation did not answer in time", where=str(self._job.status))
        return [*readable, *writable]

    def _over(self) -> FleetError:
        self._thread.join()
        return self._failure or SimulationError("the simulation's job ended before its host", where=str(self._job.status))

    def _play(self) -> None:
        try:
            self._status = self._simulation.run(self._job)
        except FleetError as error:
            self._failure = error
        except Exception as error:  # of the thread: told in the host's
            self._failure = SimulationError(f"the simulation cannot be reached ({type(error).__name__}: {error})")
        finally:
            os.write(self._over_write, b"x")  # wakes who waits; stays readable
