"""Faults in the second instruction set, vgemm: hardware, functional model, lowering, schedule, formats.

Those of the hardware and of the functional model are choices: one build serves them all.
"""

from __future__ import annotations

from planting import Choice, Fault, place_in_words

RTL = "rtl_models/vgemm/vgemm"
ISA = "fleet/sets/vgemm"
DEVICE = "vgemm_small"
OVERLAP = ("--issue", "aux", "--memory", "stall:1")
_DIGEST = r"digest expected \w+, found \w+"


def streams(*names: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """`fleet stream run` of cases of the conformance suite."""
    return ("fleet.cli.main", "stream", "run", *(f"{DEVICE}/{name}" for name in names), *options)


def digits(*more: str) -> tuple[str, ...]:
    """The INT8 convolutional network on 16 images."""
    base = "examples/digits"
    return (
        "fleet.cli.main", "cosim", f"{base}/conv_int8.py:forward", "--weights", f"{base}/conv_int8_weights.npz", "--input",
        f"{base}/conv_int8_test.npz", "--labels", f"{base}/labels.npz", "--batch", "16", "--device", DEVICE, *more,
    )  # fmt: skip


def _rtl(
    name: str, what: str, command: tuple[str, ...], commit: str, choice: Choice, *, says: str = _DIGEST, kind: str = "RTL",
    quick: bool = False,
) -> Fault:  # fmt: skip
    """commit: "5 (gemm)", the number and name of the instruction that the first difference must be reported at."""
    number, instruction = commit.split(" ", 1)
    named = f"[(]{instruction.strip('()')}[)]"
    pattern = rf"(first: commit {number} {named}: |rtl, instruction {number} {named}: ).*{says}"
    return Fault(
        name, what, command, f"FAIL {DEVICE}/", (pattern,), at=place_in_words(number, instruction), kind=kind,
        choices=(choice,), nightly=not quick,
    )  # fmt: skip


GEMM = streams(*(f"gemm/directed/{i}" for i in (1, 5, 6)))
TURNS = streams("finish/directed/2", options=("--issue", "aux"))
ALU = streams(*(f"alu/directed/{i}" for i in (1, 5)), "alu/random/4")
LOADS = streams(*(f"load/directed/{i}" for i in (3, 9, 14, 17)))
STORES = streams(*(f"store/directed/{i}" for i in (4, 5, 7)))
TOKENS = streams("finish/directed/1", "finish/directed/2", *(f"program/{i}" for i in range(12)), options=OVERLAP)
RESET = streams("finish/directed/0", options=("--power-on", "1"))
ILLEGAL = streams("load/illegal/1", "gemm/illegal/6")
NETWORK = digits("--engines", "vm,iss,rtl")

HARDWARE = (
    _rtl(
        "vgemm-sign-extension",
        "product: one weight of 16 (output 3, input 3) is not sign-extended",
        GEMM,
        "5 (gemm)",
        Choice(
            f"{RTL}_array.sv",
            "32'($signed(wgt_i[8*(o*Block+i)+:8]))",
            "(o == 3 && i == 3) ? 32'(wgt_i[8*(o*Block+i)+:8]) : 32'($signed(wgt_i[8*(o*Block+i)+:8]))",
        ),
        quick=True,
    ),
    _rtl(
        "vgemm-stuck-bit",
        "accumulators: bit 3 of byte 17 of a beat is stuck at 0 (seen where it is read)",
        STORES,
        "2 (store)",
        Choice(f"{RTL}_pad.sv", "data_i[8*b+:8]", "(Reads == 3 && b == 17) ? (data_i[8*b+:8] & 8'hF7) : data_i[8*b+:8]", after=";"),
    ),
    _rtl(
        "vgemm-loop-count",
        "loops: of three and more outer iterations the last one is left out",
        GEMM,
        "5 (gemm)",
        Choice(f"{RTL}_array.sv", "iter_out - 14'd1", "iter_out - ((iter_out > 14'd2) ? 14'd2 : 14'd1)", "last_out = out_q == "),
    ),
    _rtl(
        "vgemm-shift-limit",
        "ALU: a shift right by 32 and more takes the lowest five bits of its distance",
        ALU,
        "3 (alu)",
        Choice(f"{RTL}_array.sv", "(b > 32'd31) ? 5'd31 : b[4:0]", "b[4:0]"),
    ),
    _rtl(
        "vgemm-immediate-sign",
        "ALU: the immediate is not sign-extended",
        ALU,
        "3 (alu)",
        Choice(f"{RTL}_array.sv", "{{16{word_q.w3[31]}}, word_q.w3[31:16]}", "{16'd0, word_q.w3[31:16]}"),
    ),
    _rtl(
        "vgemm-compare-unsigned",
        "ALU: minimum and maximum compare without sign",
        ALU,
        "3 (alu)",
        Choice(f"{RTL}_array.sv", "$signed(a) < $signed(b)", "a < b"),
    ),
    _rtl(
        "vgemm-pad-row",
        "loader: the first row of zeros below a tile holds what was read last",
        LOADS,
        "1 (load)",
        Choice(f"{RTL}_loader.sv", "pad", "pad && y_q != 17'(t_q.y_pad_before) + 17'(t_q.y_size)", "assign unit = ", " ? '0"),
        quick=True,
    ),
    Fault(
        "vgemm-page-crossing",
        "loader: a burst does not end at 4 KiB",
        LOADS,
        f"FAIL {DEVICE}/load/directed/9",
        (
            r"AXI violation on ddr in cycle \d+: read burst of \d+ beats at 0x\w+ crosses a 4 KiB boundary",
            r"rtl, instruction 1 \(load.*",
        ),
        at="instruction 1 load",
        kind="RTL",
        choices=(Choice(f"{RTL}_loader.sv", "7'd64 - {1'b0, addr_q[11:6]}", "7'd64"),),
        nightly=True,
    ),
    _rtl(
        "vgemm-store-byte",
        "store of lowest bytes: one byte too many is written behind each row",
        STORES,
        "2 (store)",
        Choice(f"{RTL}_storer.sv", "out ? b < Block : b < 4 * Block", "out ? b <= Block : b < 4 * Block"),
        says=r"bytes written expected \d+, found \d+",
    ),
    _rtl(
        "vgemm-store-dropped",
        "store: the last beat of a tile is sent without strobes",
        STORES,
        "2 (store)",
        Choice(f"{RTL}_storer.sv", "strb_q", "over_q ? '0 : strb_q", "assign ddr_req_o.w.strb   = ", ";"),
        says=r"bytes written expected \d+, found \d+",
        quick=True,
    ),
    _rtl(
        "vgemm-store-stride",
        "store: rows lie x_size apart, not x_stride",
        STORES,
        "2 (store)",
        Choice(
            f"{RTL}_storer.sv",
            "row_q + (32'(t_q.x_stride) << log2_elem)",
            "row_q + (32'(t_q.x_size) << log2_elem)",
            "addr_q <= ",
        ),
    ),
    _rtl(
        "vgemm-missed-token",
        "compute does not wait for the load's token",
        TOKENS,
        "26 (gemm)",
        Choice(f"{RTL}_stage.sv", "head.pop & ~tokens_i", "head.pop & ~tokens_i & 4'b1110"),
    ),
    _rtl(
        "vgemm-missed-token-back",
        "load does not wait until compute has read what it overwrites",
        TURNS,
        r"18 (gemm)",
        Choice(f"{RTL}_dispatch.sv", "pop[q] && tokens_q[q] != '0", "pop[q] && q != QueueComputeLoad && tokens_q[q] != '0"),
    ),
    _rtl(
        "vgemm-store-early",
        "a store begins before what stands before it has committed",
        TOKENS,
        r"\d+ (store)",
        Choice(f"{RTL}_core.sv", "{store_oldest_i, 1'b1, 1'b1}", "3'b111"),
        says="",
    ),
    _rtl(
        "vgemm-reset-refusal",
        "a start that was refused is remembered over a reset",
        RESET,
        "0 (finish)",
        Choice(f"{RTL}_dispatch.sv", "1'b0", "refuse_q", "refuse_q        <= ", ";\n      refuse_opcode_q <= '0;"),
        says="",
    ),
    _rtl(
        "vgemm-fetch-block",
        "fetch: the second block of 32 tasks is looked for a beat too early",
        TOKENS,
        "32 (finish)",
        Choice(f"{RTL}_fetch.sv", "BlockBeats", "BlockBeats - 1", "block_q <= block_q + ", ";"),
        says="",
    ),
    _rtl(
        "vgemm-decode-reserved",
        "decoder: reserved bit 28 of a GEMM's second register is not looked at",
        ILLEGAL,
        r"\d+ (gemm)",
        Choice(f"{RTL}_check.sv", "word_i.w1[31:28] != '0", "word_i.w1[31:29] != '0", "reserved = gemm ? "),
        says="the simulation ended in hang",
    ),
    Fault(
        "vgemm-decode-scratchpad",
        "decoder: a tile that ends one element behind its scratchpad is taken",
        ("pytest", "-q", "-x", "-p", "no:cacheprovider", "sim/vgemm/test_limits.py"),
        "FAILED sim/vgemm/test_limits.py::test_a_tile_may_end_at_the_end_and_no_element_further",
        (r"(first: commit|rtl, instruction) 2 [(]load[)]: .*",),
        at="instruction 2 load",
        kind="RTL",
        choices=(Choice(f"{RTL}_check.sv", "sram_end > 36'(depth)", "sram_end > 36'(depth) + 36'd1"),),
        nightly=True,
    ),
    _rtl(
        "vgemm-cause-order",
        "decoder: out of range comes before an empty range",
        ILLEGAL,
        r"\d+ (load)",
        Choice(f"{RTL}_check.sv", "empty", "empty && !outside", "if (", ") error_o = ErrBadSize"),
        says="expected cause 2, found cause 4",
    ),
)

FAULTS = HARDWARE
