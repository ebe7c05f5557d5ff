"""A running simulation: one process that serves many jobs."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from xml.etree import ElementTree

from fleet.core.processes import start
from fleet.engines.evidence import JobEvidence, register
from fleet.engines.rtl_sim.build import HOST_ARGUMENTS, built
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.logs import keep_log
from fleet.engines.rtl_sim.tools import python_library
from fleet.engines.rtl_sim.worker_protocol import FDS_VARIABLE, WORKER_MODULE
from fleet.errors import DeviceError, ExitCode, FleetError, SetupError

_START_SECONDS = 120  # for Python and cocotb to come up inside the simulator, on a busy machine
_LOG_LINES = 5


class SimulationError(FleetError):
    """The simulation crashed, hung, or found the design breaking a rule.

    seq: number of the instruction that ran, where it is known.
    """

    exit_code = ExitCode.DIFFERS
    seq: int | None = None


class LostSimulationError(SimulationError):
    """The process ended by itself, or was ended from outside: run again, the same job may do."""


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment variables of cocotb's libraries (its runner sets the same)."""
    import cocotb_tools.config

    library = python_library()
    environment = dict(os.environ)
    libs = str(cocotb_tools.config.libs_dir)
    environment |= {
        "GPI_USERS": f"{library};{cocotb_tools.config.pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "LD_LIBRARY_PATH": os.pathsep.join(p for p in (libs, os.environ.get("LD_LIBRARY_PATH")) if p),
        "COCOTB_TOPLEVEL": "fleet_tb",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_RESULTS_FILE": str(folder / "cocotb_results.xml"),
        "COCOTB_ANSI_OUTPUT": "0",
        "TOPLEVEL_LANG": "verilog",
        "PYTHONUNBUFFERED": "1",  # what the design says of a failed assertion must be in the log when the job is answered
    }
    # cocotb uses pytest to explain assertions; the plug-ins of the environment have no business in there.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in (
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "COCOTB_TEST_FILTER",
        "COCOTB_TESTCASE",
        "COCOTB_RANDOM_SEED",
        "PYTEST_CURRENT_TEST",
    ):
        environment.pop(name, None)
    return environment


def _command(executable: Path, folder: Path, seed: int, more: Sequence[str] = ()) -> list[str]:
    words = [str(executable), "--jobs", str(folder), "+verilator+rand+reset+2", f"+verilator+seed+{seed % (2**31 - 1) + 1}", *more]
    if (hosted := executable.with_name(HOST_ARGUMENTS)).is_file():
        words += hosted.read_text(encoding="utf-8").replace("@", str(executable.parent)).splitlines()
    return words


def _tail(log: Path) -> str | None:
    """The log's last lines that say something (cocotb ends with a table)."""
    lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines()]
    return "\n".join([line for line in lines if line and "**" not in line and not line.startswith("- :0:")][-_LOG_LINES:]) or None


class Simulation:
    """Starts the executable; `run` runs one job after the other; `close` ends it (also at exit, also after Ctrl-C).

    Use it as a context manager.
    """

    def __init__(
        self, executable: Path, folder: Path, *, seed: int = 0, arguments: Sequence[str] = (), leave_seconds: float = 5
    ) -> None:
        """Args:
        executable: from `build`, flavour "burst" or "waves".
        folder: for the log, job files and cocotb's own results.
        seed: of the power-on state (every register and memory of the design starts random).
        arguments: further ones of the simulator (plusargs that the design reads).
        leave_seconds: how long it may take to end by itself; a build of flavour "coverage" writes its counts then.
        """
        self._folder, self._leave_seconds = folder.absolute(), leave_seconds
        self._folder.mkdir(parents=True, exist_ok=True)
        self.log = self._folder / "simulation.log"
        self._jobs = 0
        before = time.monotonic()
        self._executable, self._key = built(executable).sha256, executable.parent.name
        environment = _environment(self._folder)
        request_read, self._requests = os.pipe()
        self._replies, reply_write = os.pipe()
        try:
            # The worker asserts nothing: pytest, which cocotb uses to explain assertions, need not be loaded.
            environment |= {
                "COCOTB_REWRITE_ASSERTION_FILES": "",
                "COCOTB_TEST_MODULES": WORKER_MODULE,
                FDS_VARIABLE: f"{request_read},{reply_write}",
            }
            with self.log.open("wb") as log:
                self._process = start(  # in a group of its own: Ctrl-C goes to this process alone, which then ends the simulation
                    _command(executable, self._folder, seed, arguments),
                    cwd=self._folder, env=environment, stdout=log, stderr=subprocess.STDOUT, pass_fds=(request_read, reply_write),
                )  # fmt: skip
        except OSError as error:
            os.close(self._requests)
            os.close(self._replies)
            raise SetupError(f"the simulation does not start ({error})", where=str(executable)) from error
        finally:
            os.close(request_read)
            os.close(reply_write)
        self._finalizer = weakref.finalize(self, self._process.end)
        atexit.register(self._finalizer)
        self.evidence: JobEvidence | None = None
        self._buffer = b""
        self._closed = False
        try:
            if "ready" not in self._reply(_START_SECONDS):
                raise self._crash("the simulation did not get ready")
        except BaseException:
            self.close()
            raise
        self.start_seconds = time.monotonic() - before
        """Wall time from the start of the process to its readiness."""

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it serves no job any more."""
        return self._closed

    @property
    def running(self) -> bool:
        """True while the process runs and takes jobs."""
        return not self._closed and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the simulation."""
        return self._process.pid

    def kill(self) -> None:
        """Ends the process at once, from any thread; whoever waits for an answer reads that it crashed."""
        self._process.kill()

    def run(self, job: Job, progress: Callable[[int], None] | None = None) -> JobStatus:
        """Runs one job and returns how it ended ("done", or "diverged" where the job says what to expect).

        The job gets a nonce, and `evidence` is then what the process wrote of it.

        progress: called with the cycles so far, several times a second.
        Raises SimulationError for a hang, a failed assertion, an error of the job, or a crash of the process.
        """
        if self._closed:
            raise SimulationError("the simulation has ended", where=self._kept())
        self._jobs += 1
        job = replace(job, nonce=secrets.token_hex(16))
        job.status.unlink(missing_ok=True)
        job.save(self._folder / f"job_{self._jobs}")
        try:
            try:
                os.write(self._requests, json.dumps({"job": self._jobs}).encode() + b"\n")
            except BrokenPipeError as error:  # it ended after the last job
                raise self._crash("the simulation crashed") from error
            while True:
                reply = self._reply(None)
                if "over" in reply:
                    break
                if progress:
                    progress(int(reply["cycles"]))
        except BaseException:
            self.close()
            raise
        try:
            status = JobStatus.load(job.status)
        except DeviceError as error:
            raise SimulationError(error.what, where=self._kept()) from error
        if status.status != "done" and not (status.status == "diverged" and job.expected is not None):
            raise SimulationError(f"the simulation ended in {status.status}: {status.message}", where=self._kept())
        self.evidence = self._evidence(job, status)
        (self._folder / f"job_{self._jobs}").unlink(missing_ok=True)
        return status

    def _evidence(self, job: Job, status: JobStatus) -> JobEvidence:
        """Read the process's evidence of a job. Raises SimulationError if it is not whole, or another process's."""
        if status.nonce != job.nonce:
            raise SimulationError(
                f"the status file carries nonce '{status.nonce}', the job was given {job.nonce}", where=self._kept()
            )
        try:
            records = job.trace.read_bytes()
        except OSError as error:
            raise SimulationError(f"the simulation left no trace of commits ({error.strerror})", where=self._kept()) from error
        found = hashlib.sha256(records).hexdigest()
        if found != status.records:
            raise SimulationError(
                f"the trace of commits hashes to {found[:16]}, the simulation wrote {status.records[:16]}", where=self._kept()
            )
        beats = sum(number for key, number in status.traffic.items() if key.endswith(("read_beats", "write_beats")))
        return register(
            job.nonce, self._executable, records, found, status.cycles, beats, warm_up=job.warm_commits, start=job.start_cycle
        )  # fmt: skip

    def close(self) -> None:
        """Ends the process; may be called twice."""
        if self._closed:
            return
        self._closed = True
        os.close(self._requests)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=self._leave_seconds)  # the closed pipe tells the worker to leave
        self._finalizer()
        atexit.unregister(self._finalizer)
        os.close(self._replies)

    def _kept(self) -> str:
        """A copy of the log, with the last job at its end: the simulation's folder may be a temporary one."""
        content = b""
        for path in (self.log, self._folder / f"job_{self._jobs}"):
            with contextlib.suppress(OSError):
                content += f"# {path.name}\n".encode() + path.read_bytes()
        try:
            return str(keep_log(self._key, content))
        except (OSError, SetupError):  # no room in the cache must not hide what happened
            return str(self.log)

    def _reply(self, timeout: float | None) -> dict[str, int]:
        """Next line of the worker. Raises SimulationError when the process died or says nothing within `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._buffer:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable, _, _ = select.select([self._replies], [], [], left)
            if not readable:
                raise self._crash(f"the simulation said nothing for {timeout} s")
            chunk = os.read(self._replies, 65536)
            if not chunk:
                raise self._crash("the simulation crashed")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)

    def _crash(self, what: str) -> LostSimulationError:
        try:
            code: int | None = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            code = None
        if code is not None:
            what += f" ({signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"
        return LostSimulationError(what, where=self._kept(), detail=_tail(self.log))


def run_cocotb_tests(
    executable: Path,
    module: str,
    folder: Path,
    *,
    paths: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    seed: int = 1,
    timeout: float = 600,
) -> dict[str, str | None]:
    """Runs the cocotb tests of a module in the simulator, clocked by cocotb: for benches that look at signals.

    Args:
        executable: from `build`, flavour "burst" or "waves".
        module: Python module with `@cocotb.test()` functions; paths: folders in which it is looked for first.
        folder: for log and results.
        environment: further variables for the module; seed: of power-on state and Python's random numbers.

    Returns:
        Test name -> None when it passed, else its message; every test that ran, at least one.
    Raises SimulationError when the simulation crashed, ran too long or ran no test.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    results, log = folder / "cocotb_results.xml", folder / "simulation.log"
    results.unlink(missing_ok=True)
    built(executable)
    variables = _environment(folder) | {"COCOTB_TEST_MODULES": module, "COCOTB_RANDOM_SEED": str(seed)} | dict(environment or {})
    variables["PYTHONPATH"] = os.pathsep.join([*map(str, paths), variables["PYTHONPATH"]])
    command = _command(executable, folder, seed)
    with (
        log.open("wb") as f,
        start(command, cwd=folder, env=variables, stdout=f, stderr=subprocess.STDOUT) as process,
    ):
        try:
            process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise SimulationError(f"the tests of {module} took more than {timeout:g} s", where=str(log)) from None
    try:
        cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        raise SimulationError(f"the simulation left no results ({error})", where=str(log), detail=_tail(log)) from error
    if not cases:
        raise SimulationError(f"no cocotb test in {module}", where=str(log), detail=_tail(log))
    outcome: dict[str, str | None] = {}
    for case in cases:
        bad = next((part for part in case if part.tag in {"failure", "error", "skipped"}), None)
        outcome[case.get("name", "?")] = None if bad is None else bad.get("error_msg") or bad.get("message") or bad.tag
    return outcome
