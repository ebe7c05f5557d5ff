"""Starts a host program and answers its requests to the device until it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fleet.core.processes import Child, start
from fleet.core.scratch import Scratch
from fleet.engines.host_port.port import DevicePort
from fleet.engines.host_port.protocol import (
    MESSAGE,
    SPACES,
    VERSION,
    HostError,
    MessageKind,
    answer,
    configuration,
    failure,
)
from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.targets.driver import DDR_BASE, HBM_BASE

VARIABLE = "FLEET_HOST"
"""Environment of the program: path of the socket."""

_LOOK_S = 0.05  # between checks whether the program still runs
_CHUNK = 1 << 16
_SOCKET_BYTES = 100  # a Unix socket's path is at most 107 bytes


class HostServer:
    """One device for one program (or several of a script, one after the other).

    Example:
        code = HostServer(ModelPort(instruction_set, device, memory), memory).run(["./program", "weights"], timeout=60)
    """

    def __init__(self, port: DevicePort, memory: MappedMemory, *, ddr_base: int = DDR_BASE, hbm_base: int = HBM_BASE) -> None:
        """Args:
        port: the device; memory: its images.
        ddr_base, hbm_base: the program's base addresses of the two.
        """
        self._port = port
        self._configuration = configuration(memory, ddr_base, hbm_base)
        self._client: socket.socket | None = None
        self._buffer = b""
        self._failure: FleetError | None = None
        self._listening: socket.socket | None = None
        self.accesses = 0
        """Register writes and reads so far."""
        self.connected = False
        """Whether a program has ever connected."""

    def run(self, command: Sequence[str], *, timeout: float | None = None, output: int | None = None) -> int:
        """Run the program to its end, with the standard streams of this process.

        Args:
            command: program and arguments.
            timeout: seconds after which it is ended.
            output: file descriptor that its standard output goes to instead.

        Returns:
            The program's exit code; minus the signal's number for one that crashed.

        Raises:
            HostError: a request of the program is invalid, the program cannot be started, or it took too long.
            FleetError: raised by the device: SimulationError or ComparisonFailure, exit code 1.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        self._port.set_deadline(deadline)
        with Scratch("host", _short_folder()) as folder:
            path = folder / "socket"
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
                listening.listen(1)
                self._listening = listening
                process = _started(command, path, output)
                try:
                    self._serve(process, deadline)
                finally:
                    process.end()
                    self._hang_up()
                    self._listening = None
        late = deadline is not None and time.monotonic() > deadline
        if late and (self._failure is not None or process.returncode == -signal.SIGKILL):
            raise HostError(f"the program did not end within {timeout:g} s", where=command[0], hint="allow more with --timeout")
        if self._failure is not None:
            raise self._failure
        return process.returncode

    def _serve(self, process: Child, deadline: float | None) -> None:
        while process.poll() is None:
            if deadline is not None and time.monotonic() > deadline:
                return
            self._turn(_LOOK_S)
        while self._turn(0.0):  # remaining messages in the socket
            pass

    def _turn(self, seconds: float) -> bool:
        """Wait for a message and handle it; return whether there was one."""
        assert self._listening is not None
        source = self._client or self._listening
        if not select.select([source], [], [], seconds)[0]:
            return False
        if self._client is None:
            self._client, _ = self._listening.accept()
            self._buffer = b""
            return True
        chunk = b""
        with contextlib.suppress(ConnectionError):
            chunk = self._client.recv(_CHUNK)
        if not chunk:
            self._hang_up()
            return True
        if self._failure is None:  # else it is only read, so that the program can read why it must end
            self._take(self._buffer + chunk)
        return True

    def _take(self, data: bytes) -> None:
        whole = len(data) - len(data) % MESSAGE.size
        self._buffer = data[whole:]
        try:
            for kind, number, a, b in MESSAGE.iter_unpack(data[:whole]):
                reply = self._message(kind, number, a, b)
                if reply is not None:
                    self._send(reply)
        except FleetError as error:
            self._failure = error
            self._send(failure(error.exit_code))

    def _message(self, kind: int, number: int, a: int, b: int) -> bytes | None:
        match kind:
            case MessageKind.WRITE if a < 1 << 32:
                self.accesses += 1
                self._port.write(number, a)
            case MessageKind.READ:
                self.accesses += 1
                return answer(self._port.read(number))
            case MessageKind.SYNC:
                self._port.sync()
                return answer()
            case MessageKind.WROTE if number & 0xFF < len(SPACES):
                self._port.wrote(SPACES[number & 0xFF], number >> 8, a, b)
            case MessageKind.BYE:
                self._port.settle()
                return answer()
            case MessageKind.HELLO:
                if a != VERSION:
                    what = f"the program was built with version {a} of fleet_host.h, this is version {VERSION}"
                    raise HostError(what, hint="build it again")
                self.connected = True
                return answer(text=self._configuration)
            case _:
                raise HostError(f"the program sent a message of unknown kind {kind}", hint="build it again")
        return None

    def _send(self, data: bytes) -> None:
        assert self._client is not None
        with contextlib.suppress(ConnectionError):  # the program has gone, which the next read detects
            self._client.sendall(data)

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


def _short_folder() -> str | None:
    """Return a folder in which a socket's path is short enough: that of temporary files, else /tmp."""
    return None if len(os.fsencode(tempfile.gettempdir())) < _SOCKET_BYTES - 40 else "/tmp"


def _started(command: Sequence[str], path: Path, output: int | None) -> Child:
    # At a terminal the program stays in its foreground group: it may read what is typed, and Ctrl-C reaches it.
    terminal = sys.stdin is not None and sys.stdin.isatty()
    try:
        return start(command, env={**os.environ, VARIABLE: str(path)}, stdin=None, stdout=output, foreground=terminal)
    except OSError as error:
        hint = "is it a program for this computer? `fleet host build` makes one"
        raise HostError(f"cannot be started ({error.strerror})", where=command[0], hint=hint) from error
