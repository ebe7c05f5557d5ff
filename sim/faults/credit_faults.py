"""Faults in credits: a counter of room that is one too high, a request that does not wait for room, in every reader and queue.

An assertion beside the counter finds each, in the first stream that fills the buffer, and names the file. Choices: one build.
"""

from __future__ import annotations

import stream_faults
import vgemm_faults
from planting import Choice, Fault

HBM = "rtl_models/hbm0923/hbm0923"
VGEMM = "rtl_models/vgemm/vgemm"
SMALL = stream_faults.streams


def _credit(name: str, what: str, command: tuple[str, ...], choice: Choice, *, quick: bool = False) -> Fault:
    """Found by the assertion in the file that the fault is planted in, whatever the digests say."""
    file = choice.file.rsplit("/", 1)[1].replace(".", r"\.")
    return Fault(
        name, what, command, "an assertion of the design failed at", (rf"an assertion of the design failed at \S*{file}:\d+",),
        at=f"the assertion beside the credit, {choice.file.rsplit('/', 1)[1]}", kind="RTL", choices=(choice,), nightly=not quick,
    )  # fmt: skip


NORM = SMALL("norm/directed/0")
FULL = SMALL("norm/directed/13", "elementwise/directed/0")
MVM = SMALL("mvm_bn_res/directed/0")
ATTENTION = SMALL("trp_mvm/directed/1")
WT2HBM = SMALL("wt2hbm/directed/0")
LOAD = vgemm_faults.streams("load/directed/3")

FAULTS = (
    _credit(
        "rtl-credit-beats",
        "beat reader: it begins with a credit of one beat more than its buffer has",
        NORM,
        Choice(f"{HBM}_beat_reader.sv", "Cw'(Depth)", "Cw'(Depth + 1)", "if (start_i) free_q <= "),
        quick=True,
    ),
    _credit(
        "rtl-credit-beats-ask",
        "beat reader: it asks for a burst with room for one beat less",
        FULL,
        Choice(
            f"{HBM}_beat_reader.sv",
            "32'(free_q) >= 32'(burst)",
            "32'(free_q) + 32'd1 >= 32'(burst)",
            "assign ask       = left2_q != '0 && ",
        ),
    ),
    _credit(
        "rtl-credit-ddr",
        "DDR reader: after reset it has a credit of one beat more than its ring has",
        MVM,
        Choice(f"{HBM}_ddr_reader.sv", "Cw'(Depth)", "Cw'(Depth + 1)", "free_q     <= "),
    ),
    _credit(
        "rtl-credit-ddr-ask",
        "DDR reader: it asks for a burst with room for one beat less",
        SMALL("mvm_bn_res/directed/41"),
        Choice(f"{HBM}_ddr_reader.sv", "32'(free_q) >= 32'(burst)", "32'(free_q) + 32'd1 >= 32'(burst)", "runs_q != 20'd0 && "),
    ),
    _credit(
        "rtl-credit-hbm",
        "HBM port: after reset it has a credit of one beat more than its FIFO has",
        MVM,
        Choice(f"{HBM}_hbm_port.sv", "(Aw + 1)'(Depth)", "(Aw + 1)'(Depth + 1)", "free_q    <= "),
    ),
    _credit(
        "rtl-credit-hbm-ask",
        "HBM port: it asks for a burst with room for one beat less",
        SMALL("mvm/directed/42"),
        Choice(f"{HBM}_hbm_port.sv", "free_q >= (Aw + 1)'(burst)", "free_q + (Aw + 1)'(1'b1) >= (Aw + 1)'(burst)", "launch = "),
    ),
    _credit(
        "rtl-credit-att",
        "attention's port: after reset it has a credit of one beat more than its FIFO has",
        ATTENTION,
        Choice(f"{HBM}_att_port.sv", "(Aw + 1)'(Depth)", "(Aw + 1)'(Depth + 1)", "free_q       <= "),
    ),
    _credit(
        "rtl-credit-att-ask",
        "attention's port: it asks for a burst with room for one beat less",
        SMALL("trp_mvm/directed/26", options=("--memory", "stall:1")),
        Choice(
            f"{HBM}_att_port.sv",
            "free_q >= (Aw + 1)'(next.beats)",
            "free_q + (Aw + 1)'(1'b1) >= (Aw + 1)'(next.beats)",
            "launch = ",
        ),
    ),
    _credit(
        "rtl-credit-pixels",
        "attention: the ring of input pixels has a credit of one pixel more than it holds",
        ATTENTION,
        Choice(f"{HBM}_att_pixels.sv", "(Aw + 1)'(Depth)", "(Aw + 1)'(Depth + 1)", "room_q <= ", ";"),
    ),
    _credit(
        "rtl-credit-pixels-ask",
        "attention: input pixels are asked for with room for one less",
        SMALL("trp_mvm/directed/26"),
        Choice(
            f"{HBM}_att_pixels.sv",
            "room[Rw'(asked_q.ring)] >= (Aw + 1)'(burst)",
            "room[Rw'(asked_q.ring)] + (Aw + 1)'(1'b1) >= (Aw + 1)'(burst)",
            "may != '0 && ",
        ),
    ),
    _credit(
        "rtl-credit-att-writer",
        "attention: the writer's room is counted one too high",
        ATTENTION,
        Choice(f"{HBM}_att_issue.sv", "Cw'(Credits)", "Cw'(Credits + 1)", "credit_q  <= ", ";"),
    ),
    _credit(
        "rtl-credit-results",
        "products: the writer's room is counted one too high",
        MVM,
        Choice(f"{HBM}_mvm_results.sv", "Cw'(Depth)", "Cw'(Depth + 1)", "room_q      <= "),
    ),
    _credit(
        "rtl-credit-elementwise",
        "elementwise: the writer's room is counted one too high",
        SMALL("elementwise/directed/0"),
        Choice(f"{HBM}_elementwise.sv", "Cw'(WriteDepth)", "Cw'(WriteDepth + 1)", "room_q     <= "),
    ),
    _credit(
        "rtl-credit-sfu",
        "norm: the writer's room is counted one too high",
        NORM,
        Choice(f"{HBM}_sfu.sv", "Cw'(WriteDepth)", "Cw'(WriteDepth + 1)", "if (!rst_ni) room_q <= "),
    ),
    _credit(
        "rtl-credit-exp",
        "softmax: exponentials have a credit of one beat more than their buffer has",
        SMALL("softmax/directed/7"),
        Choice(
            f"{HBM}_sfu_stats.sv",
            "(Ew + 1)'(EDepth)",
            "(Ew + 1)'(EDepth + 1)",
            "pop_q      <= '0;\n      e_free_q   <= ",
            ";\n    end else begin",
        ),
    ),
    _credit(
        "rtl-credit-wt2hbm",
        "copy to HBM: the ring has a credit of one beat more than it holds",
        WT2HBM,
        Choice(f"{HBM}_wt2hbm.sv", "(Aw + 1)'(Depth)", "(Aw + 1)'(Depth + 1)", "free_q      <= "),
    ),
    _credit(
        "rtl-credit-wt2hbm-ask",
        "copy to HBM: a burst is asked for with room for one beat less",
        SMALL("wt2hbm/directed/12"),
        Choice(
            f"{HBM}_wt2hbm.sv",
            "free_q >= (Aw + 1)'(burst)",
            "free_q + (Aw + 1)'(1'b1) >= (Aw + 1)'(burst)",
            "assign ask                = read_left_q != '0 && ",
        ),
    ),
    _credit(
        "vgemm-credit-load",
        "loader: it waits for a beat more than it has asked for",
        LOAD,
        Choice(f"{VGEMM}_loader.sv", "burst", "burst + 7'd1", "if (state_q == StAsk && ddr_rsp_i.ar_ready) left_q <= ", ";"),
    ),
)
