"""What one run or instruction leaves for the next, and registers that are too narrow: hardware that is right the first time."""

from __future__ import annotations

from planting import Choice, Fault

VGEMM, HBM = "rtl_models/vgemm/vgemm", "rtl_models/hbm0923/hbm0923"


def _fault(name: str, what: str, test: str, chosen: str, place: str, at: str, choice: Choice) -> Fault:
    """test: the file in which `chosen` (-k) finds it; place: what it says."""
    command = ("pytest", "-q", "-x", "-p", "no:cacheprovider", test, "-k", chosen)
    return Fault(name, what, command, f"FAILED {test}", (place,), at=at, kind="RTL", choices=(choice,), nightly=True)


FAULTS = (
    _fault(
        "vgemm-failed-run",
        "dispatch: an error that ended a binary is remembered after it",
        "sim/conformance/test_after_failures.py",
        "vgemm16-ideal",
        r"hang: nothing moved for \d+ cycles at script record \d+ [(]WAIT_IRQ[)]",
        "the wait for the binary behind",
        Choice(
            f"{VGEMM}_dispatch.sv",
            "fetch_end_o || !fetch_busy_i",
            "fetch_end_o && !run_error_q",
            "if (",
            ") begin\n        run_error_q",
        ),
    ),
    _fault(
        "fetch-over-early",
        "fetch of binaries: a refused run ends while beats that it asked for fly",
        "sim/conformance/test_after_failures.py",
        "hbm_small-fixed",
        r"after run \d+, a good one, behind \w+ refused for \d+ behind 0",
        "the binary behind the refused one",
        Choice(f"{HBM}_aux_fetch.sv", "flying_q == '0 && used_q == '0", "used_q == '0", "ask_q == '0 && ", " && !beat_valid_q"),
    ),
    _fault(
        "vgemm-first-cause",
        "the register of the cause keeps the first one",
        "sim/conformance/test_registers.py",
        "refusal and vgemm16",
        r"AssertionError: [(]'load', 3[)]",
        "the second cause of a load",
        Choice(
            f"{VGEMM}_top.sv",
            "commit_valid_o && commit_error_o != ErrNone",
            "commit_valid_o && commit_error_o != ErrNone && cause_q == ErrNone",
            "else if (",
            ") cause_q",
        ),
    ),
    _fault(
        "vgemm-counter-width",
        "loops: the inner counter is compared in 13 of its 14 bits",
        "sim/conformance/test_largest_fields.py",
        "vgemm16-gemm",
        r"gemm_w1[.]iter_in = 16383 in vgemm16/gemm/directed/\d+: 1 of \d+ commits differ; first: commit \d+ [(]gemm[)]",
        "the field iter_in of gemm",
        Choice(f"{VGEMM}_array.sv", "in_q == iter_in - 14'd1", "in_q[12:0] == iter_in[12:0] - 13'd1", "assign last_in  = ", ""),
    ),
    _fault(
        "vgemm-stale-tokens",
        "dispatch: a finish leaves the tokens that nothing took",
        "sim/vgemm/test_overlap.py",
        "finish_empties",
        r"1 of \d+ commits differ; first: commit \d+ [(]gemm[)]",
        "a gemm behind the finish",
        Choice(f"{VGEMM}_dispatch.sv", "in_take && finish", "1'b0", "assign clear_tokens_o = "),
    ),
    _fault(
        "second-written-range",
        "dispatch: younger coefficients are held against the first of two written ranges only",
        "sim/conformance/test_written_ranges.py",
        "hbm_small",
        r"range 1, then \w+ with \w+_addr there: 1 of \d+ commits differ",
        "a reader of the second range",
        Choice(f"{HBM}_dispatch.sv", "older.wr[w]", "older.wr[0]", "if (meets(younger.coef, ", ")"),
    ),
)
