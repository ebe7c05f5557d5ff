"""Runs of cases in simulations that a session keeps running (`fleet.engines.legs.warm`)."""

from __future__ import annotations

from fleet.cosim.result import CosimResult
from fleet.engines.legs.warm import drop_waiting, times_reused
from fleet.errors import ComparisonFailure, FleetError
from fleet.regress.case_runs import CaseOptions, run_case
from fleet.regress.cases import CaseRun


def run_case_warm(run: CaseRun, options: CaseOptions) -> CosimResult:
    """Run a case once; if it does not pass in a simulation that another run used, repeat it in a new one, whose result counts.

    Raises what `run_case` raises, and ComparisonFailure if only the repetition passes: then a reset leaves state behind.
    """
    before = times_reused()
    failed = ""
    try:
        result = run_case(run, options)
        if result.verdict == "pass" or times_reused() == before:
            return result
        failed = result.reasons[0] if result.reasons else result.verdict
    except FleetError as error:
        if times_reused() == before:
            raise
        failed = str(error).splitlines()[0]
    drop_waiting()
    result = run_case(run, options)
    if result.verdict != "pass":
        return result
    raise ComparisonFailure(
        f"fails in a simulation that other runs used, passes in a new one: a reset leaves state behind: {failed}", where=run.name
    )
