"""Faults in the units that no model reaches yet: planted in the hardware, found by streams of the conformance suite."""

from __future__ import annotations

from planting import Edit, Fault

RTL = "rtl_models/hbm0923/hbm0923"
SMALL = "hbm_small"


def streams(*names: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """`fleet stream run` of cases of the small device."""
    return ("fleet.cli.main", "stream", "run", *(f"{SMALL}/{name}" for name in names), *options)


TABLES = streams(*(f"softmax/directed/{i}" for i in (7, 8, 10)))
MASK = streams(*(f"softmax/directed/{i}" for i in (46, 47, 48)))
TREE = streams("norm/directed/20", "norm/directed/18", "norm/directed/13")
ONCHIP = streams(*(f"act/directed/{i}" for i in (38, 40)))
HAZARD = streams(*(f"program/{i}" for i in range(12)), options=("--issue", "aux", "--memory", "stall:1"))
CONTROLS = {"tables": TABLES, "mask": MASK, "tree": TREE, "on-chip": ONCHIP, "hazard": HAZARD}

FAULTS = (
    Fault(
        "rtl-exp-table",
        "exp: one bit of one of the 32 table entries",
        TABLES,
        f"FAIL {SMALL}/softmax",
        (r"first: commit 0 \(softmax\): digest expected \w+, found \w+",),
        (Edit("rtl_models/generated/hbm0923_tables_pkg.sv", "32'h3f85aac3", "32'h3f85eac3"),),
        nightly=True,
    ),
    Fault(
        "rtl-softmax-bound",
        "softmax: under the causal mask a token sees one position too many",
        MASK,
        f"FAIL {SMALL}/softmax",
        (r"first: commit 0 \(softmax\): digest expected \w+, found \w+",),
        (
            Edit(
                f"{RTL}_sfu_check.sv",
                "LaneBits'(smax.last) + LaneBits'(1'b1) : LaneBits'(smax.chin)",
                "LaneBits'(smax.last) + LaneBits'(2'd2) : LaneBits'(smax.chin)",
            ),
        ),
        nightly=True,
    ),
    Fault(
        "rtl-tree-order",
        "norm: the first round of the adder tree pairs lane i with lane i + 16 instead of 2i with 2i + 1",
        TREE,
        f"FAIL {SMALL}/norm",
        (r"first: commit 0 \(norm\): digest expected \w+, found \w+",),
        (Edit(f"{RTL}_sfu_tree.sv", "fp32_add(v_i[2*i], v_i[2*i+1])", "fp32_add(v_i[i], v_i[i+16])"),),
        nightly=True,
    ),
    Fault(
        "rtl-onchip-write",
        "on-chip memory: writes of odd beats of a half are dropped",
        ONCHIP,
        f"FAIL {SMALL}/act",
        (r"first: commit \d+ \(act\): digest expected \w+, found \w+",),
        (
            Edit(
                f"{RTL}_onchip.sv",
                "assign write = write_i && high(write_beat_i) == (h == 1);",
                "assign write = write_i && high(write_beat_i) == (h == 1) && !write_beat_i[0];",
            ),
        ),
        nightly=True,
    ),
    Fault(
        "rtl-hazard",
        "dispatcher: a younger instruction reads activations before the older one has written them",
        HAZARD,
        f"FAIL {SMALL}/program",
        (r"\d+ of \d+ commits differ; first: commit \d+ \(\w+\): digest expected \w+, found \w+",),
        (Edit(f"{RTL}_dispatch.sv", "if (meets(younger.data[r], older.wr[w]) && !data_q[order_q[i]])", "if (1'b0)"),),
        nightly=True,
    ),
)
