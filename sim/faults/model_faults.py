"""Faults in the functional models of both instruction sets: choices, found by the hardware that does not share them."""

from __future__ import annotations

import stream_faults
import vgemm_faults
from planting import Choice, Fault

HBM, VGEMM = "fleet/sets/hbm0923", "fleet/sets/vgemm"
_DIGEST = r"digest expected \w+, found \w+"
SHIFTS = vgemm_faults.streams(*(f"alu/random/{i}" for i in (4, 5, 31)))
LOADS = vgemm_faults.streams(*(f"load/directed/{i}" for i in (12, 13, 14, 15)))
STORES = vgemm_faults.streams("store/directed/4", "store/directed/5")
NORMS = stream_faults.streams(*(f"norm/directed/{i}" for i in (0, 2, 43, 44)))
CACHE = stream_faults.streams(*(f"dat2hbm/directed/{i}" for i in (36, 37)))


def _fault(
    name: str, what: str, command: tuple[str, ...], at: str, choice: Choice, *, says: str = _DIGEST, quick: bool = False
) -> Fault:
    number, instruction = at.split()
    pattern = rf"first: commit {number} [(]{instruction}[)]: .*{says}"
    return Fault(
        name, what, command, "FAIL ", (pattern,), at=f"instruction {at}", kind="functional model", choices=(choice,),
        nightly=not quick,
    )  # fmt: skip


FAULTS = (
    _fault(
        "vgemm-iss-shift-left",
        "ALU: a shift left by exactly 32 shifts by 31",
        SHIFTS,
        "3 alu",
        Choice(f"{VGEMM}/loops.py", "by > 31", "by > 32", "np.where("),
    ),
    _fault(
        "vgemm-iss-shift-right",
        "ALU: a shift right by 32 and more takes the lowest five bits",
        SHIFTS,
        "3 alu",
        Choice(f"{VGEMM}/loops.py", "np.clip(b, 0, 31)", "b & 31", "right = a >> "),
    ),
    _fault(
        "vgemm-iss-pad-row",
        "LOAD: rows of zeros above a tile are forgotten",
        LOADS,
        "1 load",
        Choice(f"{VGEMM}/transfers.py", "t.y_pad_before + y", "y", "block["),
        quick=True,
    ),
    _fault(
        "vgemm-iss-saturates",
        "STORE of lowest bytes saturates",
        STORES,
        "2 store",
        Choice(
            f"{VGEMM}/transfers.py",
            "data[::4]",
            "np.clip(np.ascontiguousarray(data).view('<i4'), -128, 127).astype(np.int8).view(np.uint8)",
            "data = ",
        ),
    ),
    _fault(
        "vgemm-iss-step",
        "loops: the factor of the inner loop counts one more from its second iteration on",
        vgemm_faults.GEMM,
        "5 gemm",
        Choice(f"{VGEMM}/loops.py", "inner * factor[1]", "inner * (factor[1] + (inner > 1))"),
    ),
    _fault(
        "iss-eps",
        "norm: eps is a lower limit of the mean of squares, not added to it",
        NORMS,
        "0 norm",
        Choice(f"{HBM}/numerics/norm.py", "(channels * s << 12) + eps", "max(channels * s << 12, eps)"),
    ),
    _fault(
        "iss-mean",
        "layer norm: the mean of the first token is taken off all",
        NORMS,
        "0 norm",
        Choice(f"{HBM}/numerics/norm.py", "(first * 2.0**-24)[:, None]", "(first * 2.0**-24)[:1, None]"),
    ),
    _fault(
        "iss-cache-position",
        "KV cache: V goes one position further from the second one on",
        CACHE,
        "0 dat2hbm",
        Choice(f"{HBM}/units/dat2hbm.py", "2 * self.last", "2 * (self.last + (self.last > 0))", "(0, self.channels, "),
        says="",
    ),
)
