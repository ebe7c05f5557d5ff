"""Processes that run batches, each with its own folder. They end when their parent ends or is killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from fleet.errors import FleetError
from fleet.verify.programs.batches import Batch, BatchOrder, run_batch
from fleet.verify.programs.oracle import ProgramOracle


def _serve(orders: Connection) -> None:
    """Main function of a worker: answers until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), ProgramOracle() as oracle:
        while True:
            orders.send(run_batch(orders.recv(), oracle))


def in_order(orders: Iterator[BatchOrder | None], jobs: int) -> Iterator[Batch]:
    """Yield batches in the order of `orders`, `jobs` at a time; jobs 1: in this process. Raises FleetError if a worker ends.

    The next order is taken when a process is free. An order None means that the next one depends on batches in progress.
    """
    if jobs == 1:
        with ProgramOracle() as oracle:
            for order in orders:
                if order is not None:
                    yield run_batch(order, oracle)
        return
    context = multiprocessing.get_context("spawn")
    idle: list[Connection] = []
    processes: list[BaseProcess] = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            idle.append(ours)
            processes.append(process)
        yield from _run(orders, idle)
    finally:
        for connection in idle:
            connection.close()
        for process in processes:
            process.terminate()
            process.join()


def _run(orders: Iterator[BatchOrder | None], idle: list[Connection]) -> Iterator[Batch]:
    busy: dict[Connection, int] = {}
    done: dict[int, Batch] = {}
    given = told = 0
    over = False
    while not over or busy:
        while idle and not over:
            try:
                order = next(orders)
            except StopIteration:
                over = True
                break
            if order is None:
                break
            connection = idle.pop()
            connection.send(order)
            busy[connection], given = given, given + 1
        for connection in wait(list(busy)) if busy else ():
            assert isinstance(connection, Connection)
            try:
                done[busy.pop(connection)] = connection.recv()
            except (EOFError, ConnectionResetError) as error:
                raise FleetError("a worker process has ended", where="fleet fuzz", hint="run with --jobs 1") from error
            idle.append(connection)
        while told in done:
            yield done.pop(told)
            told += 1
