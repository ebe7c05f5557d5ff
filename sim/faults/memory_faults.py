"""Faults in the memories and in the bench around the hardware: C++ that all instruction sets share, each on one of them."""

from __future__ import annotations

import stream_faults
import vgemm_faults
from data import DEVICE, digits
from planting import Choice, Edit, Fault

PORT = "rtl_models/memory/port.cpp"
BENCH = "rtl_models/bench/bench.cpp"
_DIGEST = r"digest expected \w+, found \w+"
HBM, VGEMM = stream_faults.SMALL, vgemm_faults.DEVICE
PROGRAM = vgemm_faults.streams("finish/directed/1")
BURSTS = vgemm_faults.streams("load/directed/5", "load/directed/7")
ORDER = stream_faults.streams(
    *(f"elementwise/directed/{i}" for i in (2, 10, 20)), options=("--memory", "stall:1", "--memory", "stall:3")
)


def _fault(
    name: str, what: str, command: tuple[str, ...], place: str, at: str, choice: Choice, *, kind: str = "memory",
    quick: bool = False,
) -> Fault:  # fmt: skip
    return Fault(name, what, command, "FAIL ", (place,), at=at, kind=kind, choices=(choice,), nightly=not quick)


FAULTS = (
    _fault(
        "memory-lost-write",
        "DDR: what comes with the fifth burst is not stored (the digest has it)",
        PROGRAM,
        r"memory differs at the end in \d+ bytes; first at ddr 0x\w+",
        "the end of memory",
        Choice(PORT, "in.data[i]", "write_bursts == 5 ? bytes[i] : in.data[i]", "bytes[i] = ", ";"),
        quick=True,
    ),
    _fault(
        "memory-stale-read",
        "memory: the last 4 bytes of a burst's third beat are those of the beat before",
        BURSTS,
        rf"first: commit 1 [(]load[)]: {_DIGEST}",
        "instruction 1 load",
        Choice(
            PORT,
            "geometry_.beat_bytes",
            "geometry_.beat_bytes - (burst.done == 2 ? 4 : 0)",
            "std::memcpy(rdata, bytes, ",
        ),
    ),
    _fault(
        "memory-strobe",
        "memory: the last byte of every beat is written whatever its strobe says",
        PROGRAM,
        r"first: commit \d+ [(]store[)]: bytes written expected \d+, found \d+",
        "the first store that does not fill its beat",
        Choice(PORT, "(in.strobe[i / 8] >> (i % 8) & 1) == 0", "i != 63 && (in.strobe[i / 8] >> (i % 8) & 1) == 0"),
    ),
    _fault(
        "memory-order-of-one-id",
        "memory that reorders: responses of one ID overtake each other",
        ORDER,
        rf"first: commit 0 [(]elementwise[)]: {_DIGEST}",
        "instruction 0 elementwise",
        Choice(PORT, "(seen & bit) == 0", "true", "if (", " && due"),
    ),
    _fault(
        "memory-wrap",
        "memory: from its ninth beat on a read burst begins again at its first address",
        BURSTS,
        rf"first: commit 1 [(]load[)]: {_DIGEST}",
        "instruction 1 load",
        Choice(
            PORT,
            "static_cast<uint64_t>(burst.done)",
            "static_cast<uint64_t>(burst.done % 8)",
            "Burst& burst = reads_[static_cast<size_t>(current_)];\n    const uint64_t address = burst.address + ",
        ),
    ),
    _fault(
        "memory-read-bit",
        "memory: a read of DDR at 0x240 gives one bit wrongly",
        BURSTS,
        rf"first: commit 1 [(]load[)]: {_DIGEST}",
        "instruction 1 load",
        Choice(
            PORT,
            "burst.id",
            "(rdata[5] ^= (geometry_.digest_space == kSpaceDdr && address - geometry_.base == 0x240) << 3, burst.id)",
            "rid = ",
        ),
    ),
    _fault(
        "bench-commit-lost",
        "bench: the twelfth commit is not recorded",
        PROGRAM,
        r"rtl, instruction \d+ [(]\w+[)]: .*",
        "instruction 11",
        Choice(
            BENCH,
            "state_ != State::Running",
            "state_ != State::Running || (cycle_ != 0 && commits_ == 11)",
            "const uint32_t* cycles) {\n    if (",
        ),
        kind="bench",
    ),
    _fault(
        "bench-digest-beat",
        "bench: one beat in sixteen is left out of the digest",
        PROGRAM,
        rf"first: commit \d+ [(]store[)]: .*{_DIGEST}",
        "a store",
        Choice(
            "rtl_models/memory/digest.h",
            "digest",
            "(digest & 15) == 0 ? 0 : digest",
            "        digest_ += ",
            ";\n        bytes_ += bytes;\n    }\n\n    /// Bytes",
        ),
        kind="bench",
    ),
    Fault(
        "bench-clock",
        "bench: the end of a commit is a cycle early",
        digits("--engines", "vm,iss,rtl", *DEVICE),
        "rtl did not run",
        (r"instruction 0 \(mvm_bn for h1\): .*the classes of cycles sum to \d+, from start to commit the bench measured \d+",),
        choices=(Choice(BENCH, "cycle + 1", "cycle", "record.end = "),),
        at="instruction 0 mvm_bn",
        kind="bench",
    ),
    Fault(
        "memory-image-vgemm",
        "one bit of a weight flips in DDR between the compile and the run",
        vgemm_faults.NETWORK,
        "FAIL      rtl-vs-iss",
        (r"first divergence \(rtl-vs-iss\): instruction 2 load.*",),
        (
            Edit(
                "fleet/engines/rtl.py",
                "self._model = memory_model(",
                'memory.view("ddr", 0x8004, 1)[0] ^= 16\n        self._model = memory_model(',
            ),
        ),
        at="instruction 2 load, of weight w1",
        kind="memory",
    ),
)
