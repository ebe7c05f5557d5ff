"""Run tests on the workers of a cluster.

Dask carries calls and answers. An answer names the place of a record and holds no result, and its future is released at once: what
a worker has finished stays finished, whatever happens to the worker, the scheduler or this process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import re
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import dask.config
from distributed import Client, Future, LocalCluster, Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.security import Security

from fleet.core.scratch import Scratch
from fleet.errors import ExitCode, SetupError
from fleet.night.cluster.dispatch import BuildTask, Dispatch, RunTask
from fleet.night.cluster.pool import Pool, job_maker
from fleet.night.cluster.settings import ClusterSettings
from fleet.night.cluster.worker import END_S, PLUGIN, RunnerPlugin, TaskAnswer, WorkerCall, WorkerOrder, introduce, perform
from fleet.regress.night_records import NoteKind, RecordLocation

_TICK_S = 0.5
_LOOK_S = 5.0
"""Seconds between two looks for workers whose arrival was not heard."""


class Listener(Protocol):
    """Receives the events of a cluster run."""

    def begun(self, node: str) -> None:
        """A worker got a test."""
        ...

    def recorded(self, line: RecordLocation) -> None:
        """A test has its record."""
        ...

    def refused(self, run: RunTask, why: str, code: int) -> None:
        """A test cannot run; the listener must make its record. code: exit code, of `ExitCode`."""
        ...

    def said(self, kind: NoteKind, text: str) -> None:
        """An event of a worker, a host or a test."""
        ...

    def enough(self) -> bool:
        """Return whether no more tests may begin."""
        ...


class _Departures(SchedulerPlugin):
    """Logs the workers that have left."""

    name = "fleet-departures"

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: object) -> None:
        """Log that a worker has left."""
        scheduler.log_event(self._topic, {"gone": worker})


def run_on_cluster(
    runs: Sequence[RunTask], settings: ClusterSettings, order: WorkerOrder, prefix: str, listener: Listener
) -> Dispatch:
    """Run tests, each until it has a record or is given up. prefix: of the workers' names, unique to the session.

    Raises:
        SetupError: the scheduler cannot be reached, or the batch system refuses all jobs.
    """
    dispatch = Dispatch.of(runs, settings.lifetime)
    for node, why in dispatch.given_up.items():
        listener.said("not run", f"{node}: {why}")
    folder = settings.folder or Path(order.folder) / "jobs"
    with _connected(settings, folder) as (client, cluster, security):
        listener.said("dashboard", client.dashboard_link or "none")
        pool: Pool | None = None
        if cluster is not None:
            loop: Any = cluster.loop
            make = job_maker(settings, cluster.scheduler_address, security, folder, order.environment, order.cwd)
            pool = Pool(make, loop.asyncio_loop, prefix, settings.start_timeout, partial(listener.said, "worker"))
        drive = _Drive(client, pool, settings, dispatch, order, prefix, listener)
        try:
            drive.run()
        finally:
            if pool is not None:
                pool.close()
    return dispatch


@contextmanager
def _connected(settings: ClusterSettings, folder: Path) -> Generator[tuple[Client, LocalCluster | None, Security | None]]:
    """Yield (client, cluster of the scheduler or None if it runs elsewhere, keys of the workers or None if they have their own)."""
    quiet = {"distributed.scheduler.allowed-failures": 0, "logging.distributed": "error", "distributed.admin.log-length": 100}
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        if settings.kind == "scheduler":
            assert settings.address is not None
            files = {"tls_ca_file": settings.ca, "tls_client_cert": settings.certificate, "tls_client_key": settings.key}
            given = {name: str(path) for name, path in files.items() if path is not None}
            theirs = Security(require_encryption=True, **given) if given else None
            try:
                client = stack.enter_context(Client(settings.address, security=theirs, set_as_default=False))
            except (OSError, TimeoutError) as error:
                raise SetupError(f"the scheduler does not answer ({error})", where=settings.address) from error
            yield client, None, None
            return
        folder.mkdir(parents=True, exist_ok=True)
        security = _keys(stack.enter_context(Scratch("keys", folder))) if settings.tls else None
        local = settings.kind == "local"
        try:
            cluster: LocalCluster = stack.enter_context(  # pyright: ignore[reportAssignmentType]  # not asynchronous
                LocalCluster(
                    n_workers=0, protocol="tls://" if security else "tcp://", security=security, dashboard_address="127.0.0.1:0",
                    interface=settings.interface, host="127.0.0.1" if local and not settings.interface else None,
                    silence_logs=logging.CRITICAL,
                )
            )  # fmt: skip
        except (OSError, RuntimeError, ValueError) as error:
            raise SetupError(f"Dask's scheduler does not start ({error})", where=settings.interface or "dask") from error
        yield stack.enter_context(Client(cluster, security=security, set_as_default=False)), cluster, security


def _keys(folder: Path) -> Security:
    """Create keys for one night, as files that only this user can read."""
    made: Any = Security.temporary()
    paths = {"certificate": folder / "certificate.pem", "key": folder / "key.pem"}
    for path, text in ((paths["certificate"], made.tls_ca_file), (paths["key"], made.tls_worker_key)):
        path.touch(0o600)
        path.write_text(text, encoding="utf-8")
    roles = {f"tls_{role}_{what}": str(paths[file]) for role in ("client", "scheduler", "worker") for what, file in
             (("cert", "certificate"), ("key", "key"))}  # fmt: skip
    return Security(require_encryption=True, tls_ca_file=str(paths["certificate"]), **roles)


class _Drive:
    """The event loop: takes events of workers and tasks, gives tasks."""

    def __init__(
        self, client: Client, pool: Pool | None, settings: ClusterSettings, dispatch: Dispatch, order: WorkerOrder, prefix: str,
        listener: Listener,
    ) -> None:  # fmt: skip
        self._client, self._pool, self._settings, self._dispatch = client, pool, settings, dispatch
        self._order, self._prefix, self._listener = order, prefix, listener
        self._events: queue.SimpleQueue[Mapping[str, Any] | tuple[str, Future]] = queue.SimpleQueue()
        self._names: dict[str, str] = {}
        self._seen: set[str] = set()
        self._futures: dict[str, Future] = {}
        self._calls = 0
        self._looked = time.monotonic()
        self._alone = False

    def run(self) -> None:
        """Run until nothing is left to do."""
        topic = self._order.topic
        self._client.subscribe_topic(topic, lambda event: self._events.put(event[1]))
        self._client.register_plugin(_Departures(topic))
        self._client.register_plugin(RunnerPlugin(self._order))
        earlier: Any = self._client.get_events(topic)
        for _, event in earlier:  # logged before the subscription existed
            self._events.put(event)
        try:
            while self._dispatch.left and not (self._listener.enough() and not self._futures):
                self._step()
            self._dismiss()
            if self._pool is None:  # the workers belong to others and live on
                self._client.unregister_worker_plugin(PLUGIN)
        finally:
            for future in self._futures.values():
                future.release()
            self._client.unsubscribe_topic(topic)

    def _dismiss(self) -> None:
        """Let all workers end their sessions."""
        for address, worker in self._dispatch.workers.items():
            if not worker.leaving:
                worker.leaving = True
                self._submit(address, WorkerCall(end=True))
        end = time.monotonic() + 2 * END_S
        while self._futures and time.monotonic() < end:
            self._take()

    def _take(self) -> None:
        """Handle pending events; wait a moment if there are none."""
        with contextlib.suppress(queue.Empty):
            event = self._events.get(timeout=_TICK_S)
            while True:
                self._handle(event)
                event = self._events.get_nowait()

    def _step(self) -> None:
        dispatch = self._dispatch
        if self._pool is not None:
            self._pool.keep(min(self._settings.workers, dispatch.useful), time.monotonic())
        self._take()
        self._look()
        for run, error in dispatch.broken():
            self._listener.refused(run, f"its simulation was not built: {error}", ExitCode.BAD_INPUT)
        if self._listener.enough():
            return
        for address, worker in list(dispatch.workers.items()):
            if worker.task is None and not worker.leaving:
                self._give(address)

    def _look(self) -> None:
        """Find workers whose arrival was not heard: what a worker logs before its registration is complete is lost."""
        if not self._dispatch.waiting or time.monotonic() < self._looked + _LOOK_S:
            return
        there: Any = self._client.nthreads()  # pyright: ignore[reportUnknownMemberType]
        if unheard := sorted(there.keys() - self._seen):
            told: Any = self._client.run(introduce, workers=unheard, on_error="ignore")
            for event in told.values():
                if event is not None:
                    self._handle(event)
        if not there and self._pool is None and not self._alone:
            self._alone = True
            self._listener.said("worker", f"none has joined the scheduler at {self._settings.address} yet: tests wait for one")
        self._looked = time.monotonic()

    def _give(self, address: str) -> None:
        match self._dispatch.next(address, time.monotonic()):
            case "wait":
                return
            case "leave":
                if self._dispatch.waiting and self._dispatch.workers[address].until is not None:
                    self._listener.said("worker", f"{self._names[address]} ends: no run that is left fits into its walltime")
                self._submit(address, WorkerCall(end=True))
            case BuildTask() as build:
                self._submit(address, WorkerCall(build.node, "", build=True))
            case RunTask() as run:
                self._listener.begun(run.node)
                self._submit(address, WorkerCall(run.node, run.kind, judge=self._dispatch.died(run.node) > 0))

    def _submit(self, address: str, call: WorkerCall) -> None:
        self._calls += 1
        key = f"{self._prefix}-call-{self._calls}"
        future = self._client.submit(perform, call, key=key, workers=[address], allow_other_workers=False, pure=False, retries=0)
        self._futures[address] = future
        future.add_done_callback(lambda done: self._events.put((address, done)))

    def _retire(self, address: str) -> None:
        """Close the worker, which ends its job."""
        scheduler: Any = self._client.scheduler
        self._client.sync(scheduler.retire_workers, workers=[address], close_workers=True, remove=True)

    # -- events

    def _handle(self, event: Mapping[str, object] | tuple[str, Future]) -> None:
        if isinstance(event, tuple):
            self._finished(*event)
        elif "gone" in event:
            self._gone(str(event["gone"]))
        else:
            self._joined(event)

    def _joined(self, event: Mapping[str, Any]) -> None:
        address, name, host = str(event["worker"]), str(event["name"]), str(event["host"])
        if address in self._seen:
            return
        self._seen.add(address)
        self._names[address] = name
        lifetime = self._settings.lifetime
        until = None if lifetime is None else time.monotonic() + lifetime - float(event["age"])
        self._dispatch.join(address, host, until)
        if self._pool is not None:
            self._pool.joined(name)

    def _gone(self, address: str) -> None:
        name = self._names.pop(address, None)
        if name is None:
            return
        if (future := self._futures.pop(address, None)) is not None:
            future.release()
        worker = self._dispatch.workers[address]
        task = worker.task
        if isinstance(task, RunTask) and (line := _record_of(Path(self._order.folder), name, task.node)) is not None:
            self._dispatch.done(address, time.monotonic())
            self._listener.recorded(line)
        lost = self._dispatch.leave(address, time.monotonic())
        if lost is not None:
            what = lost.node if isinstance(lost, RunTask) else f"the build of {lost.name}"
            self._listener.said("interrupted", f"{what}: {name} on {worker.host} went away")
            self._given_up(lost)
        if self._pool is not None:
            self._pool.left(name)

    def _given_up(self, task: RunTask | BuildTask) -> None:
        if isinstance(task, RunTask) and (why := self._dispatch.given_up.get(task.node)) is not None:
            self._listener.said("not run", f"{task.node}: {why}")

    def _finished(self, address: str, future: Future) -> None:
        if self._futures.get(address) is not future:
            return  # its worker has already left
        del self._futures[address]
        error = future.exception(timeout=30) if future.status in ("error", "cancelled", "lost") else None
        answer = TaskAnswer(error=f"{type(error).__name__}: {error}") if future.status != "finished" else future.result(timeout=30)
        future.release()
        worker = self._dispatch.workers[address]
        now = time.monotonic()
        if isinstance(worker.task, BuildTask):
            self._dispatch.built(address, now, answer.error)
            return
        run = worker.task
        if run is None:
            if self._pool is not None:  # its session has ended
                self._retire(address)
            return
        if answer.line is not None:
            self._ended(address, answer.failed)
            self._listener.recorded(answer.line)
        elif answer.died is not None:
            self._dispatch.interrupt(address, now, died=True)
            self._listener.said("interrupted", f"{run.node}: {answer.died} on {worker.host}")
            self._given_up(run)
        elif isinstance(error, OSError) or (error is not None and type(error).__name__ in ("KilledWorker", "CancelledError")):
            self._dispatch.interrupt(address, now)  # its worker is about to leave
            self._listener.said("interrupted", f"{run.node}: {type(error).__name__} on {worker.host}")
            self._given_up(run)
        else:
            self._ended(address, True)
            self._listener.refused(run, f"{answer.error or 'no answer'} ({worker.host})", ExitCode.INTERNAL)

    def _ended(self, address: str, failed: bool) -> None:
        """Note that a worker has finished its run. failed: in a way that a bad machine can cause."""
        host = self._dispatch.workers[address].host
        good = host not in self._dispatch.bad_hosts
        self._dispatch.done(address, time.monotonic(), failed=failed)
        if good and (why := self._dispatch.bad_hosts.get(host)) is not None:
            self._listener.said("node", f"{host} is left out: {why}")


def _record_of(folder: Path, worker: str, node: str) -> RecordLocation | None:
    """Return the place of a test's record if a worker wrote it before it left, or None."""
    wanted = f'"node":{json.dumps(node)}'.encode()
    for path in sorted(folder.glob(f"*-{re.sub(r'[^A-Za-z0-9._-]', '-', worker)}-*.jsonl")):
        offset = 0
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n") and line.startswith(b'{"type":"record"') and wanted in line:
                return RecordLocation(str(path.absolute()), offset)
            offset += len(line)
    return None
