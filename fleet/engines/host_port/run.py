"""Runs a host program against a device by its name: the Python interface of `fleet host run`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.core.scratch import Scratch
from fleet.engines.base import RunOptions
from fleet.engines.host_port.hardware import HardwarePort
from fleet.engines.host_port.model import ModelPort
from fleet.engines.host_port.port import DevicePort, Summary
from fleet.engines.host_port.server import HostServer
from fleet.errors import ComparisonFailure, DeviceError, FleetError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Device
from fleet.targets.driver import DDR_BASE, HBM_BASE


@dataclass(frozen=True)
class HostRun:
    """Result of a host program's run.

    Attributes:
        exit_code: the program's; minus the signal's number for one that crashed.
        output: its standard output if captured, else empty.
        summary: the device's summary.
        accesses: number of register writes and reads.
        used: whether the program ever opened the device.
        device: the device.
    """

    exit_code: int
    output: bytes
    summary: Summary
    accesses: int
    used: bool
    device: Device


def run_program(
    program: Path,
    arguments: Sequence[str],
    options: RunOptions,
    *,
    engine: str = "iss",
    check: bool = False,
    ddr_base: int = DDR_BASE,
    hbm_base: int = HBM_BASE,
    timeout: float | None = None,
    capture: bool = False,
) -> HostRun:
    """Run a program on a fresh device (memory 0, registers at their reset values).

    Args:
        program: file; arguments: its arguments.
        options: device; memory model, seed and progress for `rtl`; workdir keeps memory images and logs.
        engine: "iss" or "rtl".
        check: run the functional model beside `rtl` and compare every commit.
        ddr_base, hbm_base: where the program sees the memories.
        timeout: seconds after which the program is ended.
        capture: capture its standard output instead of passing it on.

    Raises:
        FleetError: no such program.
        HostError: it requests something that the device does not have, or does not end in time.
        DeviceError, SetupError, BuildError: the device cannot be created.
        SimulationError: the simulated hardware failed.
        ComparisonFailure: a commit differs, or `check` found nothing to compare.
    """
    if check and engine != "rtl":
        raise DeviceError("--check compares rtl with the functional model", where=f"engine {engine}", hint="use --engines rtl")
    if options.device is None:
        raise DeviceError("no device given", where=str(program), hint="name one with --device")
    instruction_set, device = find_device(options.device)
    file = _file(program)
    with Scratch("host") as temporary:
        folder = temporary if options.workdir is None else options.workdir
        for image in (folder / "memory").glob("*.bin"):  # of an earlier run in the same folder
            image.unlink()
        images = MappedMemory(device, folder / "memory")
        port: DevicePort | None = None
        try:
            if engine == "rtl":
                port = HardwarePort(instruction_set, device, images, replace(options, workdir=folder), check=check)
            else:
                port = ModelPort(instruction_set, device, images)
            server = HostServer(port, images, ddr_base=ddr_base, hbm_base=hbm_base)
            with tempfile.TemporaryFile() as output:
                code = server.run([str(file), *arguments], timeout=timeout, output=output.fileno() if capture else None)
                output.seek(0)
                said = output.read()
            summary = port.finish()
        finally:
            if port is not None:
                port.close()
            images.close()
    if check and code == 0 and not summary.compared:
        raise ComparisonFailure("nothing was compared: the program ran no instruction", where=str(file))
    return HostRun(code, said, summary, server.accesses, server.connected, device)


def _file(path: Path) -> Path:
    """Return the program with its folder, so that no other program of that name is started."""
    if not path.is_file():
        raise FleetError("no such program", where=str(path), hint="make it with `fleet host build`")
    if not os.access(path, os.X_OK):
        raise FleetError("is not a program that can be started", where=str(path), hint="make it with `fleet host build`")
    return path.absolute()
