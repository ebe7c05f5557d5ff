"""The simulated hardware behind the host's register port: every access goes over its bus."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from fleet.core.scratch import Scratch
from fleet.engines.base import RunOptions
from fleet.engines.host_port.beside import LockstepModel
from fleet.engines.host_port.port import Summary
from fleet.engines.host_port.protocol import HostError
from fleet.engines.host_port.registers import RegisterFile, StartWrite
from fleet.engines.rtl import memory_model, memory_timing
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.live import LiveJob
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord
from fleet.engines.trace import Commit
from fleet.errors import DeviceError
from fleet.isa.codec import interrupt
from fleet.isa.description import Register, Unit
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash
from fleet.isa.resolved import writes_of
from fleet.sdk import Call, Device, InstructionSet


class _UnderWay:
    """A start whose calls have not all committed."""

    def __init__(self, start: StartWrite) -> None:
        self.start = start
        self.left: deque[Call] = deque(start.calls)


class HardwarePort:
    """Engine `rtl` behind registers, from reset to `finish`.

    Simulation time does not advance while the program does something else, so cycles do not depend on the computer's
    speed. A read of the status of a running unit, or of the interrupt status, polls in the simulation.
    """

    def __init__(
        self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions, *, check: bool = False
    ) -> None:
        """Build the simulation (or take it from the cache), start it and compare the description's hash.

        Args:
            instruction_set, device: what runs.
            memory: the images that the program maps too.
            options: memory model, seed, progress of the build, workdir for logs (a temporary folder when None).
            check: run the functional model in parallel and compare every commit.

        Raises SetupError, DeviceError, BuildError or SimulationError.
        """
        self._set, self._device = instruction_set, device
        self._description = d = load(instruction_set.description)
        self._interrupt = interrupt(d)
        self._registers = RegisterFile(instruction_set, device)
        self._memory = memory
        self._under_way: deque[_UnderWay] = deque()
        self._commits: list[Commit] = []
        self._unsent = False
        hashes = d.with_role("description_hash")
        if not hashes:
            raise DeviceError("the description has no register with the role description_hash", where=str(d.path))
        self._identity = hashes[0]
        model = memory_model(options.memory, options.seed)
        timing = memory_timing(model, device)
        executable = build(design_of(instruction_set, device), "burst", options.progress)
        self._temporary: Scratch | None = None
        if options.workdir is None:
            self._temporary = Scratch("host-rtl")
            folder = self._temporary.path
        else:
            folder = options.workdir
        self._beside = LockstepModel(instruction_set, device, memory, folder / "beside") if check else None
        self._simulation = Simulation(executable, folder, seed=options.seed)
        self._job: LiveJob | None = None
        try:
            self._job = LiveJob(self._simulation, folder.absolute(), memory, model, timing)
            self._check_identity(self._job.read(self._identity.address))
        except BaseException:
            self.close()
            raise

    def set_deadline(self, moment: float | None) -> None:
        """Give up waiting at this moment of time.monotonic; None: never."""
        self._live.deadline = moment

    def write(self, number: int, value: int) -> None:
        """Write a register; a start register starts its unit."""
        register, unit = self._registers.write(number, value)
        if unit is not None:
            self._start(unit, register, value)
            return
        self._live.write(register.address, value)
        self._unsent = True
        if register.role == "parameter" and self._beside is not None:
            self._beside.parameter(register.address, value)

    def read(self, number: int) -> int:
        """Read a register; that of a busy unit once the unit is over."""
        register = self._registers.find(number)
        if register.role == "status" and any(u.start.unit.name == register.unit for u in self._under_way):
            self._live.poll(register.address, 0xFFFF_FFFF, 1)
        elif register.role == "irq_status" and self._under_way:
            self._live.poll(register.address, self._interrupt.done, self._interrupt.done)
        return self._ask(register)

    def sync(self) -> None:
        """Return when everything written has reached the registers."""
        if self._unsent:
            self._ask(self._identity)

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """Record bytes of the mapped memory that the host wrote."""
        self._memory.view(space, offset, size, bank)
        if self._beside is not None:
            self._beside.wrote(space, bank, offset, size)

    def settle(self) -> None:
        """Wait for everything in progress.

        Raises SimulationError if a started call has not committed when its unit reports that it has finished.
        """
        while self._under_way:
            first = self._under_way[0]
            status = first.start.unit.status
            if status is None:  # an earlier pending interrupt may end the first wait early; it is cleared, and waited for again
                self._live.poll(self._interrupt.status_address, self._interrupt.done, self._interrupt.done)
                self._live.write(self._interrupt.status_address, self._interrupt.done)
            else:
                self._live.poll(status.address, 0xFFFF_FFFF, 1)
            self._ask(self._identity)
            if status is not None and self._under_way and self._under_way[0] is first:
                raise SimulationError(f"over, with {len(first.left)} instructions uncommitted", where=first.start.where)
        self.sync()

    def finish(self) -> Summary:
        """Settle, end, and return the summary."""
        self.settle()
        status = self._live.close()
        self._match(self._live.commits())
        return Summary("rtl", self._commits, status.cycles, None if self._beside is None else self._beside.compared)

    def close(self) -> None:
        """Release everything; may be called twice."""
        if self._job is not None:
            self._job.abandon()
        self._simulation.close()
        if self._beside is not None:
            self._beside.close()
        if self._temporary is not None:
            self._temporary.close()

    @property
    def _live(self) -> LiveJob:
        assert self._job is not None
        return self._job

    def _check_identity(self, found: int) -> None:
        expected = description_hash(self._set, self._device)[:8]
        if found != int(expected, 16):
            raise SimulationError(
                f"the hardware carries description hash {found:08x}, the installed one is {expected}",
                where=self._device.name,
                hint="generate the hardware's register block again",
            )

    def _start(self, unit: Unit, register: Register, value: int) -> None:
        if self._under_way:  # it may have finished unnoticed
            self._ask(self._identity)
        start = self._registers.start(unit, self._memory)
        busy = next((u.start for u in self._under_way if u.start.fetched or start.fetched or u.start.unit.name == unit.name), None)
        if busy is not None:
            hint = f"read register {busy.unit.status.number} until it is 1" if busy.unit.status else "wait for the interrupt"
            raise HostError(f"started while {busy.where} is under way", where=start.where, hint=hint)
        overlaps = bool(self._under_way)
        # The bench times an instruction from its own start register; a task of a binary has none.
        self._live.write(register.address, value, start=not start.fetched, fetch=start.fetched)
        self._unsent = True
        self._under_way.append(_UnderWay(start))
        if self._beside is not None:
            self._beside.start(start.calls)
        if overlaps and self._live.read(self._interrupt.status_address) & self._interrupt.error:
            raise HostError("the hardware refused it beside what is under way", where=start.where, hint="wait before starting it")

    def _ask(self, register: Register) -> int:
        """Read a register now, while the functional model runs in parallel. Then compare the commits so far."""
        self._live.ask(register.address)
        if self._beside is not None:
            self._beside.catch_up()
        value = self._live.answer()
        self._unsent = False
        self._match(self._live.commits())
        return value

    def _match(self, records: Sequence[CommitRecord]) -> None:
        found = [self._commit(record) for record in records]
        self._commits += found
        if self._beside is not None:
            self._beside.compare(found)

    def _commit(self, record: CommitRecord) -> Commit:
        where = f"rtl, commit {len(self._commits)}"
        if not self._under_way:
            raise SimulationError(f"a commit of opcode {record.opcode:#x}, but nothing was started", where=where)
        first = self._under_way[0]
        call = first.left[0]
        where += f" ({call.instruction}, {first.start.where})"
        word = self._description.instructions[call.instruction]
        if record.error:
            raise SimulationError(f"the hardware refused the instruction with error cause {record.error}", where=where)
        if record.opcode != word.opcode:
            raise SimulationError(f"the commit carries opcode {record.opcode:#x}, expected {word.opcode:#x}", where=where)
        cls = self._set.instructions[call.instruction]
        if writes_of(cls, self._device, call.fields) and (record.bytes_written == 0 or record.digest == 0):
            raise SimulationError("the instruction committed without having written anything", where=where)
        first.left.popleft()
        if not first.left:
            self._under_way.popleft()
        return Commit(
            seq=record.seq,
            instruction=call.instruction,
            ops=(),
            digest=record.digest,
            bytes_written=record.bytes_written,
            result=record.result,
            start=record.end - sum(record.cycles.values()),
            end=record.end,
            cycles=record.cycles,
        )
