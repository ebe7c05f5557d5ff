"""The binary form of a stream (Aux mode): what the hardware fetches instead of taking register writes.

A block holds up to 32 tasks: one 64-byte beat of cfg_ids (uint8, one a task, 0 is not a task), then the register values of
each task in write order, the start register last, as uint32 little-endian, zero-filled to the instruction's whole beats.
A block is zero-filled to 32 slots of 2 beats, so it always takes 64 + 32 * 2 * 64 = 4,160 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from fleet.isa.codec import CodecError, call_from_words, description_of, words_of
from fleet.isa.description import MAX_BEATS, Description
from fleet.sdk import Call, InstructionSet

BEAT = 64
"""Bytes of a beat."""

TASKS = 32
"""Tasks of a block, at most."""

SLOT_BEATS = MAX_BEATS
"""Beats of a task's register data, at most."""

WORDS = BEAT // 4
"""Register values of a beat."""

BLOCK = BEAT + TASKS * SLOT_BEATS * BEAT
"""Bytes of a block."""


def encode(description: Description, calls: Sequence[Call]) -> bytes:
    """The calls as whole blocks; b"" for none. Raises CodecError as `fleet.isa.codec.register_writes` does."""
    return b"".join(_encode_block(description, calls[i : i + TASKS]) for i in range(0, len(calls), TASKS))


def _encode_block(description: Description, calls: Sequence[Call]) -> bytes:
    ids, data = bytearray(), bytearray()
    for call in calls:
        words = words_of(description, call)
        word = description.instructions[call.instruction]
        if not word.beats:
            raise CodecError("has no binary form", where=word.name, hint="write its registers")
        if word.beats > SLOT_BEATS:
            raise CodecError(f"takes {word.beats} beats, the binary form has {SLOT_BEATS} a task", where=word.name)
        ids.append(word.opcode)
        data += struct.pack(f"<{len(words)}I", *words).ljust(word.beats * BEAT, b"\0")
    return (bytes(ids).ljust(BEAT, b"\0") + bytes(data)).ljust(BLOCK, b"\0")


def decode(description: Description, data: bytes) -> list[Call]:
    """The calls that `encode` made the bytes of (without `ops`, which the binary does not carry).

    Raises CodecError (with the byte offset) if the size is not a whole number of blocks, a cfg_id is unknown, a task follows
    an empty one, or a word or a fill byte is not what the description says.
    """
    if len(data) % BLOCK:
        raise CodecError(f"{len(data)} bytes are no whole number of blocks of {BLOCK}", where=f"{description.name} binary")
    calls: list[Call] = []
    for base in range(0, len(data), BLOCK):
        calls += _decode_block(description, data[base : base + BLOCK], base)
    return calls


def _decode_block(description: Description, block: bytes, base: int) -> list[Call]:
    by_opcode = {i.opcode: i for i in description.instructions.values() if i.beats}
    ids = block[:BEAT].rstrip(b"\0")
    if len(ids) > TASKS:
        raise CodecError(f"more than {TASKS} tasks in a block", where=_place(description, base + TASKS))
    calls: list[Call] = []
    position = BEAT
    for n, cfg_id in enumerate(ids):
        word = by_opcode.get(cfg_id)
        if word is None:
            known = ", ".join(f"{o:#04x} ({i.name})" for o, i in by_opcode.items())
            what = "an empty task before the last one" if cfg_id == 0 else f"cfg_id {cfg_id:#04x} is no instruction"
            raise CodecError(what, where=_place(description, base + n), hint=f"known are {known}")
        count = len(description.words(word.name))
        end = position + word.beats * BEAT
        words = struct.unpack_from(f"<{count}I", block, position)
        try:
            calls.append(call_from_words(description, word.name, words))
        except CodecError as error:
            raise CodecError(str(error), where=_place(description, base + position)) from error
        _expect_zero(description, block, position + 4 * count, end, base)
        position = end
    _expect_zero(description, block, position, BLOCK, base)
    return calls


def _expect_zero(description: Description, block: bytes, begin: int, end: int, base: int) -> None:
    rest = block[begin:end]
    if rest.strip(b"\0"):
        first = begin + len(rest) - len(rest.lstrip(b"\0"))
        raise CodecError(f"fill byte is {block[first]:#04x}, expected 0", where=_place(description, base + first))


def _place(description: Description, offset: int) -> str:
    return f"{description.name} binary byte {offset:#x}"


def encode_binary(instruction_set: InstructionSet | Description, calls: Sequence[Call]) -> bytes:
    """The binary form of calls of a set or a description; as `encode`."""
    return encode(description_of(instruction_set), calls)


def decode_binary(instruction_set: InstructionSet | Description, data: bytes) -> list[Call]:
    """The calls of a binary of a set or a description; as `decode`."""
    return decode(description_of(instruction_set), data)
