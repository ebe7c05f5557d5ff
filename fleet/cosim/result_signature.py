"""The signature of a failed co-simulation of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet.compare.diverged import Divergence
from fleet.compare.signature import FailureSignature, Kind, of_failure, without_numbers
from fleet.cosim.result import CosimResult

_WHAT = re.compile(r"digest expected|bytes written expected (?P<expected>\d+), found (?P<found>\d+)|result register expected")


def of_result(result: CosimResult) -> FailureSignature | None:
    """Return the signature of a model's co-simulation, from its first divergence, else its first reason; None if it passed."""
    if result.verdict == "pass":
        return None
    d = result.divergence
    if d is not None and d.instruction is not None:
        return FailureSignature(d.comparison, *_described(d))
    if d is not None:
        failed = next((c for c in result.comparisons if c.name == d.comparison), None)
        reasons = failed.reasons if failed is not None else ()
        return FailureSignature(d.comparison, "operation", _kind(d.ops[-1]) if d.ops else "", _of_reasons(reasons or (d.what,)))
    engine = next((e for e in result.engines if e.status == "failed" and e.error), None)
    if engine is not None and engine.error is not None:
        return of_failure(engine.name, engine.error)[1]
    return FailureSignature("verdict", "operation", "", _of_reasons(result.reasons or ("failed",)))


def _described(d: Divergence) -> tuple[Kind, str, str]:
    """Return (kind, instruction, class of difference) from the words of a commit's divergence."""
    name = d.instruction or ""
    found = _WHAT.search(d.what)
    if found is None:
        return "cause" if "cause" in d.what else "memory", name, ""
    if found["expected"]:
        return "commit", name, "fewer bytes" if int(found["found"]) < int(found["expected"]) else "more bytes"
    return "commit", name, "values" if found[0].startswith("digest") else "result register"


def _kind(op: str) -> str:
    """Return "matmul" for "matmul.3"; a name that the user gave stays as it is."""
    return op.rpartition(".")[0] if op.rpartition(".")[2].isdecimal() else op


def _of_reasons(reasons: Sequence[str]) -> str:
    text = reasons[0].split(": ", 1)
    return without_numbers(text[-1])
