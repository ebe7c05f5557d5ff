"""The stages of a stream (`--emit accel-regs`, `accel-aux`, `memory-map`), as text and as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.targets.accel.container import save, stream_file
from fleet.targets.accel.listing import aux_listing, memory_map, regs_listing
from fleet.targets.accel.stream import DeviceStream

STREAM_STAGES: Mapping[str, Callable[[DeviceStream], str]] = {
    "accel-regs": regs_listing, "accel-aux": aux_listing, "memory-map": memory_map,
}  # fmt: skip
"""Stage -> its text."""


def stream_text(stage: str, stream: DeviceStream) -> str:
    """Return a stage as text. For accel-aux, the stream must be compiled so that the device fetches its instructions."""
    return STREAM_STAGES[stage](stream)


def write_stream(stage: str, path: Path, stream: DeviceStream) -> None:
    """Write a stage to a file: with its memory images (.stream), the binary alone (.bin, of accel-aux), else as text.

    Raises FleetError if the file cannot be written.
    """
    if stage != "memory-map" and path.suffix == ".stream":
        save(stream_file(stream), path)
    elif stage == "accel-aux" and path.suffix == ".bin":
        write_atomically(path, stream_file(stream).binary)
    else:
        write_atomically(path, stream_text(stage, stream).encode(errors="replace"))
