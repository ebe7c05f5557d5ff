"""A stream on disk: what a device needs to run it, and nothing else. Nothing in the file is executed.

offset  0  8 bytes   magic "FLEETST" and a zero byte
        8  uint32    version of the format (1)
       12  uint32    zero
       16  uint64    length of the payload in bytes
       24  32 bytes  SHA-256 of the payload
       56            payload: uint64 length of the header, the header (JSON, UTF-8), then the blocks of bytes in order

The header names instruction set, device, description hash (a reader with another description refuses the file) and stream
hash, and for every block its kind: a part of a segment (a binary as the hardware fetches it, or pairs of uint32 register
address and value), or a memory image (space, bank, offset). A binary is stored twice: in its part, and in the image from which
the hardware fetches it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from fleet.core.files import replacing
from fleet.errors import DeviceError, ModelError
from fleet.isa.codec import register_writes
from fleet.isa.codec_binary import encode_binary
from fleet.isa.description import Description
from fleet.isa.memory import MemoryImage
from fleet.isa.reading.cache import load as load_description
from fleet.sdk import Call
from fleet.targets.accel.stream import DeviceSegment, DeviceStream

MAGIC = b"FLEETST\0"
VERSION = 1
_PREFIX = struct.Struct("<8sIIQ32s")
_NAMES = ("instruction_set", "device", "description_hash", "stream_hash")
_PAIR = struct.Struct("<II")


@dataclass(frozen=True)
class SegmentPart:
    """Instructions of a segment that are issued in one way.

    kind: "binary" (data: the bytes to be fetched, `tasks` tasks) or "writes" (data: pairs of uint32, byte address of a register
        and value; every write to a start register starts one of the `tasks` instructions).
    """

    kind: str
    tasks: int
    data: bytes

    @property
    def writes(self) -> tuple[tuple[int, int], ...]:
        """The pairs of a part of kind "writes"."""
        return tuple(cast("tuple[int, int]", pair) for pair in _PAIR.iter_unpack(self.data)) if self.kind == "writes" else ()


@dataclass(frozen=True)
class StreamFile:
    """The contents of a file.

    segments: parts in order, a tuple per device segment (the host computes between two of them).
    parameters: parameter register -> value, to be written first.
    """

    instruction_set: str
    device: str
    description_hash: str
    stream_hash: str
    parameters: Mapping[str, int]
    segments: tuple[tuple[SegmentPart, ...], ...]
    images: tuple[MemoryImage, ...]

    @property
    def binary(self) -> bytes:
        """All binaries one after the other: inst.bin."""
        return b"".join(part.data for parts in self.segments for part in parts if part.kind == "binary")


def stream_file(stream: DeviceStream) -> StreamFile:
    """Return a stream in the form of a file: calls issued as binaries, the rest as register writes."""
    d = load_description(stream.instruction_set.description)
    return StreamFile(
        stream.instruction_set.name, stream.device.name, stream.description_hash, stream.stream_hash, dict(stream.parameters),
        tuple(tuple(_parts(d, segment)) for segment in stream.segments), tuple(stream.images()),
    )  # fmt: skip


def _parts(d: Description, segment: DeviceSegment) -> Iterator[SegmentPart]:
    calls, at = segment.calls, 0
    for binary in segment.binaries:
        if at < binary.first:
            yield _writes(d, calls[at : binary.first])
        at = binary.first + binary.count
        if binary.count:
            yield SegmentPart("binary", binary.count, encode_binary(d, calls[binary.first : at]))
    if at < len(calls) or not calls:
        yield _writes(d, calls[at:])


def _writes(d: Description, calls: Sequence[Call]) -> SegmentPart:
    return SegmentPart("writes", len(calls), b"".join(_PAIR.pack(*pair) for call in calls for pair in register_writes(d, call)))


def save(stream: StreamFile, path: Path) -> None:
    """Write the file under a temporary name in the same folder, then rename it. Raises ModelError."""
    parts = [part for segment in stream.segments for part in segment]
    header = {
        "instruction_set": stream.instruction_set,
        "device": stream.device,
        "description_hash": stream.description_hash,
        "stream_hash": stream.stream_hash,
        "parameters": dict(stream.parameters),
        "segments": [[[p.kind, p.tasks, len(p.data)] for p in segment] for segment in stream.segments],
        "images": [[i.space, i.bank, i.offset, i.data.size] for i in stream.images],
    }
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    payload = (
        struct.pack("<Q", len(text)) + text + b"".join(p.data for p in parts) + b"".join(i.data.tobytes() for i in stream.images)
    )
    with replacing(path, kind=ModelError) as file:
        file.write(_PREFIX.pack(MAGIC, VERSION, 0, len(payload), hashlib.sha256(payload).digest()))
        file.write(payload)


def load(path: Path, description_hash: str | None = None) -> StreamFile:
    """Read a file.

    description_hash: of the installed set and device (`fleet.isa.registry.description_hash`); None accepts any.
    Raises ModelError if the file is truncated, damaged, of another version or not a stream; DeviceError if it was made for
    another description.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    if len(raw) < _PREFIX.size:
        _damaged(path, f"{len(raw)} bytes are shorter than the head")
    magic, version, _, size, digest = _PREFIX.unpack_from(raw)
    if magic != MAGIC:
        raise ModelError(
            "is not a stream file", where=str(path), hint="make one with `fleet compile --emit accel-aux -o FILE.stream`"
        )
    if version != VERSION:
        raise ModelError(f"is of version {version}, expected {VERSION}", where=str(path), hint="compile the model again")
    payload = raw[_PREFIX.size :]
    if len(payload) != size:
        _damaged(path, f"{len(payload)} bytes of payload, the head says {size}")
    if hashlib.sha256(payload).digest() != digest:
        _damaged(path, "the checksum is wrong")
    try:
        stream = _read(payload)
    except (ValueError, KeyError, TypeError, struct.error) as error:
        _damaged(path, " ".join(f"{type(error).__name__}: {error}".split()))
    if description_hash is not None and stream.description_hash != description_hash:
        raise DeviceError(
            f"the stream was compiled for description {stream.description_hash[:16]}, the installed one is {description_hash[:16]}",
            where=str(path),
            hint="compile it again",
        )
    return stream


def _damaged(path: Path, why: str) -> NoReturn:
    raise ModelError(f"not a whole stream file: {why}", where=str(path), hint="compile the model again")


def _read(payload: bytes) -> StreamFile:
    (length,) = struct.unpack_from("<Q", payload)
    if length > len(payload) - 8:
        raise ValueError("header length")
    header: dict[str, Any] = json.loads(payload[8 : 8 + length])
    position = 8 + length

    def block(size: object) -> bytes:
        nonlocal position
        if type(size) is not int or not 0 <= size <= len(payload) - position:
            raise ValueError(f"size {size} of a block")
        position += size
        return payload[position - size : position]

    segments: list[tuple[SegmentPart, ...]] = []
    for segment in header["segments"]:
        parts: list[SegmentPart] = []
        for kind, tasks, size in segment:
            if kind not in ("binary", "writes") or type(tasks) is not int or (kind == "writes" and size % _PAIR.size):
                raise ValueError(f"part {kind}")
            parts.append(SegmentPart(kind, tasks, block(size)))
        segments.append(tuple(parts))
    images = tuple(
        MemoryImage(str(space), int(bank), int(offset), np.frombuffer(block(size), np.uint8))
        for space, bank, offset, size in header["images"]
    )
    if position != len(payload):
        raise ValueError(f"{len(payload) - position} bytes too many")
    parameters = {str(name): int(value) for name, value in header["parameters"].items()}
    instruction_set, device, description_hash, stream_hash = (str(header[key]) for key in _NAMES)
    return StreamFile(instruction_set, device, description_hash, stream_hash, parameters, tuple(segments), images)
