"""The protocol between a host program and the server; the other side is fleet/targets/driver/fleet_host.h.

Messages of 24 bytes, little-endian: uint32 kind, uint32 number, uint64 a, uint64 b.

    HELLO   a: the version. Answered by a = length of a text that follows: the configuration.
    WRITE   number: register, a: value. Not answered.
    READ    number: register. Answered by a = its value.
    SYNC    answered when everything before has been done.
    WROTE   number: bank << 8 | space, a: offset, b: bytes that the program wrote into mapped memory. Not answered.
    BYE     the program's end; answered when what it started is over.
    ANSWER  see above.
    ERROR   in place of an answer; number: exit code that the program shall leave with. `fleet host run` says why.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.targets.driver import HBM_BANK_STEP

VERSION = 1
MESSAGE = struct.Struct("<IIQQ")

SPACES: tuple[str, ...] = ("ddr", "hbm")
"""Memory spaces as messages number them."""


class MessageKind(IntEnum):
    """Kinds of messages."""

    HELLO = 1
    WRITE = 2
    READ = 3
    SYNC = 4
    WROTE = 5
    BYE = 6
    ANSWER = 16
    ERROR = 17


class HostError(FleetError):
    """A host program requests something that the device does not have or would refuse."""


def answer(value: int = 0, text: bytes = b"") -> bytes:
    """Return an answer; with a text, its length is the value."""
    return MESSAGE.pack(MessageKind.ANSWER, 0, len(text) if text else value, 0) + text


def failure(exit_code: int) -> bytes:
    """Return the reply that ends the program."""
    return MESSAGE.pack(MessageKind.ERROR, exit_code, 0, 0)


def configuration(memory: MappedMemory, ddr_base: int, hbm_base: int) -> bytes:
    """Return the places of the memories as lines `<key> <value>`. Raises HostError for a path that does not fit a line."""
    lines = [f"ddr_base {ddr_base}", f"hbm_base {hbm_base}", f"bank_step {HBM_BANK_STEP}"]
    lines += list(_images(memory.paths.items(), memory))
    return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def _images(paths: Iterable[tuple[tuple[str, int], Path]], memory: MappedMemory) -> Iterable[str]:
    for (space, bank), path in paths:
        if "\n" in str(path.absolute()):
            raise HostError("a path with a line break cannot be told to a host program", where=repr(str(path)))
        yield f"image {SPACES.index(space)} {bank} {memory.device.memory[space]} {path.absolute()}"
