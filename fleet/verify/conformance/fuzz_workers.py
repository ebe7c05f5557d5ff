"""The workers of a fuzz run: this process, or several processes with their own simulations."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Protocol

from fleet.core.processes import ends_with_parent
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.process import SimulationError
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.streams.bundle import save_bundle
from fleet.streams.case import Setting, StreamCase, StreamOutcome
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.fuzz_state import RanProgram
from fleet.verify.conformance.settings import memories, settings


@dataclass(frozen=True)
class FuzzOrder:
    """An order to run program `number`, the case `name`. whole: return the outcome too."""

    number: int
    name: str
    whole: bool = False


@dataclass(frozen=True)
class Done:
    """The result of an order. case, outcomes: only if they were requested and exist."""

    ran: RanProgram
    case: StreamCase | None = None
    outcomes: tuple[StreamOutcome, ...] = ()


class Workers(Protocol):
    """Runs orders; a context manager."""

    def __enter__(self) -> Workers: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    @property
    def free(self) -> bool:
        """True if another order can begin now."""
        ...

    def begin(self, order: FuzzOrder) -> None:
        """Begin an order. Requires `free`."""
        ...

    def ended(self) -> Sequence[Done]:
        """Wait for at least one order in progress and return the finished ones. Raises FleetError if an order cannot be run."""
        ...


def make_workers(device: str, folder: Path, power_on: int, count: int) -> Workers:
    """Make the workers. folder: for failing streams; power_on: as in `StreamRunner`; count: 1 for this process itself.

    Raises SetupError, DeviceError, BuildError, SimulationError.
    """
    return _Here(device, folder, power_on) if count == 1 else _Processes(device, folder, power_on, count)


def setting_of(device: str, number: int) -> Setting:
    """Return the setting of a program: memory models and ways of issue in turn, with the program's number as seed."""
    _, chip = find_device(device)
    ways = settings(device, 0, every=True)
    way = ways[(number + number // len(ways)) % len(ways)]  # every fourth program has refusals: vary its setting
    model = next(m for m in memories(chip, number) if m.partition(":")[0] == way.memory.partition(":")[0])
    return Setting(model, way.issue)


class _Runner:
    """Draws and runs programs, and stores failing ones."""

    def __init__(self, device: str, folder: Path, power_on: int) -> None:
        self._device, self._folder = device, folder
        self._streams = StreamRunner(device, power_on=power_on)

    def run(self, order: FuzzOrder) -> Done:
        """Run an order. The result reports a program that cannot be made or run."""
        self._streams.spent.clear()
        drawn = run_drawn(self._streams, order.name, [setting_of(self._device, order.number)])
        if not drawn.outcomes:
            failure = f"{order.number}: {drawn.failure}" if drawn.failure else ""
            return Done(RanProgram(order.number, 0, 0, 0, failure=failure, left_out=drawn.left_out))
        case, (outcome,), failure = drawn.case, drawn.outcomes, ""
        if not outcome.passed:
            stored = save_bundle(outcome, self._folder, power_on=self._streams.power_on)
            failure = f"{order.number}: {order.name} {outcome.setting.name}: {outcome.reasons[0]}; fleet stream run {stored}"
        refused = sum(bool(c.cause) for c in outcome.expected)
        ran = RanProgram(
            order.number, len(outcome.expected) - refused, refused, outcome.bytes_compared, outcome.cycles, failure,
            undefined=outcome.left_out, spent={"draw": drawn.seconds, **self._streams.spent},
        )  # fmt: skip
        return Done(ran, case, (outcome,)) if order.whole else Done(ran)

    def close(self) -> None:
        self._streams.close()


class _Here:
    """Runs orders one after the other in this process."""

    def __init__(self, device: str, folder: Path, power_on: int) -> None:
        self._runner = _Runner(device, folder, power_on)
        self._orders: list[FuzzOrder] = []

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._runner.close()

    @property
    def free(self) -> bool:
        return not self._orders

    def begin(self, order: FuzzOrder) -> None:
        self._orders.append(order)

    def ended(self) -> Sequence[Done]:
        orders, self._orders = self._orders, []
        return [self._runner.run(o) for o in orders]


def _serve(orders: Connection, device: str, folder: Path, power_on: int) -> None:
    """Main function of a worker: answers orders until the parent closes the pipe or is killed."""
    ends_with_parent()
    runner: _Runner | None = None
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            runner = _Runner(device, folder, power_on)
            while True:
                orders.send(runner.run(orders.recv()))
        except FleetError as error:
            orders.send(error)
        finally:
            if runner is not None:
                runner.close()


class _Processes:
    """Runs orders in several processes, each with its own simulation and pipe."""

    def __init__(self, device: str, folder: Path, power_on: int, count: int) -> None:
        instruction_set, chip = find_device(device)
        build(design_of(instruction_set, chip), "burst")  # build once, before all workers ask for it
        context = multiprocessing.get_context("spawn")
        self._idle: list[Connection] = []
        self._busy: dict[Connection, FuzzOrder] = {}
        self._processes: list[BaseProcess] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, device, folder, power_on), daemon=True)
            process.start()
            theirs.close()
            self._idle.append(ours)
            self._processes.append(process)

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for connection in (*self._idle, *self._busy):
            connection.close()  # each worker notices after its current order
        for process in self._processes if kind is not None else ():
            process.terminate()
        for process in self._processes:
            process.join(timeout=20)
            if process.is_alive():
                process.kill()
                process.join()

    @property
    def free(self) -> bool:
        return bool(self._idle)

    def begin(self, order: FuzzOrder) -> None:
        connection = self._idle.pop(0)
        self._busy[connection] = order
        with contextlib.suppress(BrokenPipeError):  # `ended` reports the worker's last message
            connection.send(order)

    def ended(self) -> Sequence[Done]:
        return [self._answer(c) for c in wait(list(self._busy)) if isinstance(c, Connection)]

    def _answer(self, connection: Connection) -> Done:
        order = self._busy.pop(connection)
        self._idle.append(connection)
        try:
            answer: object = connection.recv()
        except (EOFError, ConnectionResetError) as error:
            raise SimulationError("a worker process has ended", where=order.name, hint="run with --jobs 1") from error
        if isinstance(answer, Done):
            return answer
        if isinstance(answer, FleetError):
            raise answer
        raise SimulationError("a worker process gave no answer", where=order.name)
