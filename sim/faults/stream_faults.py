"""Faults in the hardware of hbm0923, most in units that no model here reaches: found by streams of the conformance suite."""

from __future__ import annotations

from planting import Choice, Fault, place_in_words

RTL = "rtl_models/hbm0923/hbm0923"
ARITH = "rtl_models/arith/fp_pkg.sv"
FUNCTIONS = "rtl_models/arith/fp_fn_pkg.sv"
SMALL = "hbm_small"


def streams(*names: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """`fleet stream run` of cases of the small device."""
    return ("fleet.cli.main", "stream", "run", *(f"{SMALL}/{name}" for name in names), *options)


TABLES = streams(*(f"softmax/directed/{i}" for i in (7, 8, 10)))
MASK = streams(*(f"softmax/directed/{i}" for i in (46, 47, 48)))
TIES = streams("softmax/directed/64")
SQUARES = streams("norm/directed/20", "norm/directed/18", "norm/directed/13")
MEANS = streams("norm/directed/43", "norm/directed/44")
ONCHIP = streams(*(f"act/directed/{i}" for i in (38, 40)))
HAZARD = streams(*(f"program/{i}" for i in range(12)), options=("--issue", "aux", "--memory", "stall:1"))
PRODUCTS = streams(*(f"mvm/directed/{i}" for i in (6, 7, 10)))
ELEMENTWISE = streams(*(f"elementwise/directed/{i}" for i in (10, 20, 34)))
STALLED = streams(*(f"elementwise/directed/{i}" for i in (2, 10, 20)), options=("--memory", "stall:1"))
ATTENTION_GROUPS = streams("trp_mvm/directed/46", "trp_mvm/directed/48")
ATTENTION = streams(*(f"trp_mvm/directed/{i}" for i in (1, 4, 10)))
GROUPS = streams(*(f"mvm/directed/{i}" for i in (70, 72, 73, 75)))
FLAGS = streams(*(f"mvm/directed/{i}" for i in (48, 49)))
SUMS = streams(*(f"trp_mvm/directed/{i}" for i in (50, 53, 56)))
ROTARY = streams(*(f"pos_emb/directed/{i}" for i in (0, 1, 3)))
ACTIVATION = streams(*(f"act/directed/{i}" for i in (1, 3, 20)))
ILLEGAL = streams(*(f"{name}/illegal/{i}" for name in ("mvm", "elementwise") for i in range(4)))
_DIGEST = r"digest expected \w+, found \w+"


def _rtl(
    name: str, what: str, command: tuple[str, ...], at: str, choice: Choice, *, says: str = _DIGEST, quick: bool = False
) -> Fault:
    """at: "0 softmax", number and name of the instruction that the first difference must be reported at."""
    number, instruction = at.split()
    pattern = rf"(first: commit {number} [(]{instruction}[)]: |rtl, instruction {number} [(]{instruction}[)]: ).*{says}"
    return Fault(
        name,
        what,
        command,
        f"FAIL {SMALL}/",
        (pattern,),
        at=place_in_words(number, instruction),
        kind="RTL",
        choices=(choice,),
        nightly=not quick,
    )


FAULTS = (
    _rtl(
        "rtl-exp-table",
        "exp: one bit of one of the 128 table entries, where it is read",
        TABLES,
        "0 softmax",
        Choice(f"{RTL}_sfu_softmax_pkg.sv", "ExpA[v[24:18]]", "ExpA[v[24:18]] ^ (32'(v[24:18] == 7'd9) << 20)", "return parabola("),
    ),
    _rtl(
        "rtl-softmax-bound",
        "softmax: under the causal mask a token sees one position too many",
        MASK,
        "0 softmax",
        Choice(
            f"{RTL}_sfu_check.sv",
            "LaneBits'(1'b1)",
            "LaneBits'(2'd2)",
            "LaneBits'(smax.last) + ",
            " : LaneBits'(smax.chin)",
            in_task=True,
        ),
    ),
    _rtl(
        "rtl-softmax-tie",
        "softmax: what lies exactly between two numbers of FP16 is rounded up instead of to the even one",
        TIES,
        "0 softmax",
        Choice(f"{RTL}_sfu_scale.sv", "p & ~(13'h1FFF << n)", "p | ~(13'h1FFF << n)", "lost = "),
    ),
    _rtl(
        "rtl-norm-squares",
        "norm: what a square has above its 40 lowest bits is counted half",
        SQUARES,
        "0 norm",
        Choice(f"{RTL}_sfu_norm_pkg.sv", "(p.square << 18)", "(p.square << 17)", "return "),
    ),
    _rtl(
        "rtl-norm-mean",
        "layer norm: the sum of a row begins with that of the row before",
        MEANS,
        "0 norm",
        Choice(f"{RTL}_sfu_moments.sv", "(first_q[3] ? row_sum_t'(0) : row_sum_q)", "row_sum_q", "row_sum_q <= "),
    ),
    _rtl(
        "rtl-onchip-write",
        "on-chip memory: writes of odd beats of a half are dropped",
        ONCHIP,
        "1 act",
        Choice(
            f"{RTL}_onchip.sv",
            "high(write_beat_i) == (h == 1)",
            "high(write_beat_i) == (h == 1) && !write_beat_i[0]",
            "assign write = write_i && ",
        ),
    ),
    _rtl(
        "rtl-hazard",
        "dispatcher: a younger instruction reads activations before the older one has written them",
        HAZARD,
        r"\d+ softmax",
        Choice(f"{RTL}_dispatch.sv", "meets(younger.data[r], older.wr[w]) && !data_q[order_q[i]]", "1'b0"),
    ),
    _rtl(
        "rtl-follow",
        "dispatcher: a younger instruction reads all of an output that an older one has begun to write",
        HAZARD,
        r"\d+ softmax",
        Choice(f"{RTL}_follow.sv", "meets(younger.data[r], older.wr[0])", "1'b0"),
    ),
    _rtl(
        "rtl-settled",
        "output: called settled a beat further than it is answered",
        HAZARD,
        r"\d+ trp_mvm",
        Choice(f"{RTL}_settled.sv", "done_q", "done_q + 28'd1", "assign settled_o = first_q + "),
    ),
    _rtl(
        "rtl-rounding-tie",
        "arithmetic: conversion to FP16 rounds ties away from zero, not to even",
        ELEMENTWISE,
        "0 elementwise",
        Choice(ARITH, "p.mag[45]", "1'b1", "(32'(p.mag[44]) & 32'(", " || ", in_task=True),
    ),
    _rtl(
        "rtl-scale-lane",
        "issue: scales of the groups from the ninth on are taken from eight groups before",
        PRODUCTS,
        "0 mvm",
        Choice(f"{RTL}_mvm_issue.sv", "group_q[3:0]", "{1'b0, group_q[2:0]}", "ctrl_o.scale_lane  = "),
    ),
    _rtl(
        "rtl-last-mask",
        "issue: lanes beyond the last input are not masked",
        PRODUCTS,
        "0 mvm",
        Choice(f"{RTL}_mvm_issue.sv", "last_beat", "1'b0", "ctrl_o.mask        = "),
    ),
    _rtl(
        "rtl-stuck-address",
        "beat reader: bit 12 of the next line's address is stuck at 0",
        ELEMENTWISE,
        "0 elementwise",
        Choice(
            f"{RTL}_beat_reader.sv",
            "line_q[31:0] + walk_q.stride2",
            "(line_q[31:0] + walk_q.stride2) & 32'hFFFF_EFFF",
            "run_q   <= {line_q[32], ",
        ),
        says="",
    ),
    _rtl(
        "rtl-ring-full",
        "elementwise: a beat of the second operand is taken for one of the first when both come in the same order",
        STALLED,
        "0 elementwise",
        Choice(f"{RTL}_elementwise.sv", "wr_q[1] != rd_q", "wr_q[0] != rd_q", "assign ready = {"),
        says="",
    ),
    _rtl(
        "rtl-rotary-sign",
        "rotary embedding: the sine's sign is not turned in even lanes",
        ROTARY,
        "0 pos_emb",
        Choice(f"{RTL}_sfu_lanes.sv", "product[31] ^ negated", "product[31]"),
    ),
    _rtl(
        "rtl-segment",
        "activation: a value that equals a segment's beginning is taken to the one before",
        ACTIVATION,
        "0 act",
        Choice(f"{RTL}_sfu_act_pkg.sv", "keys[i] <= x", "keys[i] < x", in_task=True),
    ),
    _rtl(
        "rtl-row-keep",
        "attention: the last row of a head is taken for a full one",
        ATTENTION,
        "0 trp_mvm",
        Choice(f"{RTL}_att_issue.sv", "row_last ? plan_i.keep : 6'(Ports)", "6'(Ports)"),
        says="",
    ),
    _rtl(
        "rtl-group-tail",
        "attention: a head's last group is taken for a full one, with the input of the next head's query",
        ATTENTION_GROUPS,
        "0 trp_mvm",
        Choice(f"{RTL}_att_pixels.sv", "4'(turn.ring) + 4'd1 == tail", "1'b0", "turn.groups == 20'd1 && "),
        says="",
    ),
    _rtl(
        "rtl-group-address",
        "attention: the first query's pixels of a group go on behind those of the group before",
        ATTENTION_GROUPS,
        "0 trp_mvm",
        Choice(f"{RTL}_att_collect.sv", "token_addr_q", "next_addr_q[0] + 33'(plan_i.out_surface)", "next_addr_q[0] <= ", ";"),
        says="",
    ),
    _rtl(
        "rtl-sum-top",
        "attention: the lower word of a beat's sum is four bits too narrow",
        SUMS,
        "0 trp_mvm",
        Choice(f"{RTL}_att_pkg.sv", "p.low[57:2]", "p.low[53:2]", "'{low: 64'($signed(", in_task=True),
    ),
    _rtl(
        "rtl-sum-bottom",
        "attention: the window of a sum begins at 2^-42",
        SUMS,
        "0 trp_mvm",
        Choice(f"{RTL}_att_pkg.sv", "product & ~upper", "product & ~upper & ~64'd255", "'{low: $signed(", in_task=True),
    ),
    _rtl(
        "rtl-sum-words",
        "attention: the lower word's carry into the upper one is lost when a sum is complete",
        SUMS,
        "0 trp_mvm",
        Choice(FUNCTIONS, "high + (low >>> split)", "high", "upper: $unsigned(", in_task=True),
    ),
    _rtl(
        "rtl-groups-order",
        "MVM: the sum over groups loses at each step what binary32 does not hold",
        GROUPS,
        "0 mvm",
        Choice(
            f"{RTL}_mvm_accumulate.sv",
            "product.low",
            "(high[c] >>> 24 != 64'sd0 && high[c] >>> 24 != -64'sd1 ? 64'sd0 : product.low)",
            "low[c]  = (first4_q ? 64'sd0 : low_q[c]) + ",
            ";",
        ),
        quick=True,
    ),
    _rtl(
        "rtl-groups-bottom",
        "MVM: the window of the sum over groups begins at 2^-42",
        GROUPS,
        "0 mvm",
        Choice(
            FUNCTIONS,
            "$unsigned(p.product) << p.shift[4:0]",
            "($unsigned(p.product) << p.shift[4:0]) & ~64'd63",
            "low: $signed((",
            ") &",
            in_task=True,
        ),
    ),
    _rtl(
        "rtl-groups-flags",
        "MVM: what is not finite in one group is forgotten in the next",
        FLAGS,
        "0 mvm",
        Choice(f"{RTL}_mvm_accumulate.sv", "first4_q ? '0 : odd_q", "first4_q ? odd_q : '0"),
    ),
    _rtl(
        "rtl-sum-early",
        "attention: a row's sum is rounded in the stage in which its last beat is added",
        ATTENTION,
        "0 trp_mvm",
        Choice(
            f"{RTL}_att_array.sv", "valid_q[Narrow] && beat_q[Narrow].last", "valid_q[Sum] && beat_q[Sum].last", "narrow_first = "
        ),
        says="",
    ),
    _rtl(
        "rtl-delay-order",
        "elementwise: of the results that wait for their latency the one that came last leaves first",
        ELEMENTWISE,
        "0 elementwise",
        Choice("rtl_models/arith/fp_delay.sv", "mem[rd_q]", "mem[wr_q - Aw'(1'b1)]", "d_i : "),
    ),
    _rtl(
        "rtl-refused-writes",
        "commit: an instruction that was refused reports no cause",
        ILLEGAL,
        r"\d+ (mvm|elementwise)",
        Choice(f"{RTL}_unit_ctrl.sv", "check_error_i", "check_error_i & 16'hFFFB", "error_q <= ", ";"),
        says="",
    ),
)
