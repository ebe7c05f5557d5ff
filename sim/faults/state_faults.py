"""Faults in architectural state that no observed write shows: found by the whole memories when a stream has ended."""

from __future__ import annotations

from planting import Choice, Fault

VGEMM = "rtl_models/vgemm/vgemm"
HBM = "rtl_models/hbm0923/hbm0923"


def _streams(*names: str) -> tuple[str, ...]:
    return ("fleet.cli.main", "stream", "run", *names)


FAULTS = (
    Fault(
        "vgemm-stray-write",
        "accumulators: every write also writes the last byte of its beat, which the observer does not report",
        _streams("vgemm_small/load/directed/3"),
        "FAIL vgemm_small/",
        (r"acc row 147, column 3 differs after the last instruction although no observed write says so: .*",),
        at="acc row 147, column 3",
        kind="RTL",
        choices=(Choice(f"{VGEMM}_pad.sv", "strb_i[b]", "strb_i[b] || (Reads == 3 && b == 63)", "if (", ") mem["),),
    ),
    Fault(
        "undefined-everywhere",
        "undefined state: every result is taken for one that depends on undefined memory",
        _streams("vgemm_small/undefined/1"),
        "vgemm_small/undefined/1: instruction 0 ",
        (r"instruction 0 \(\w+\) depends on .*: nothing is left to compare",),
        at="instruction 0",
        kind="harness",
        code=2,
        choices=(
            Choice(
                "fleet/streams/undefined.py", "a != b", "True",
                "next((n for n, (a, b) in enumerate(zip(*seen, strict=True)) if ", "), None)",
            ),
        ),
    ),
    Fault(
        "rtl-onchip-byte",
        "on-chip memory: byte 1 of every word of the second half is kept inverted",
        _streams("hbm_small/act/directed/40"),
        "FAIL hbm_small/",
        (r"onchip bank 1, row \d+, column 0 differs after the last instruction although no observed write says so: .*",),
        at="onchip bank 1, column 0",
        kind="RTL",
        choices=(
            Choice(
                f"{HBM}_onchip.sv", "write_data_i[8*b+:8]", "(h == 1 && b == 1) ? ~write_data_i[15:8] : write_data_i[8*b+:8]",
                "mem[addr][8*b+:8] <= ", ";",
            ),
        ),
        nightly=True,
    ),
)  # fmt: skip
