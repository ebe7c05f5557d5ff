"""Faults in what shows that hardware ran: an engine that simulates nothing, and cycles that nobody counted."""

from __future__ import annotations

import vgemm_faults
from data import DEVICE, digits
from planting import Choice, Edit, Fault

BITS = digits("--engines", "vm,iss,rtl", *DEVICE)
_REFUSED = "rtl did not run"
_INVENTED = """\
from dataclasses import replace

        from fleet.engines.iss import IssBackend

        trace = run_accel(program, inputs, options, IssBackend())
        invented = {{name: 10 for name in CYCLE_CLASSES}}
        trace.engine = "rtl"
        trace.commits = [replace(c, start=100 * c.seq, end=100 * c.seq + 60, cycles=invented) for c in trace.commits]
        trace.counters |= {{"cycles": 100.0 * len(trace.commits), "instruction_cycles": 60.0 * len(trace.commits)}}
        trace.evidence = {evidence}
        return trace"""


def _engine(evidence: str) -> tuple[Edit, ...]:
    """The engine hands on what iss computed, with cycles that it made up."""
    return (
        Edit(
            "fleet/engines/rtl.py",
            "return run_accel(program, inputs, options, RtlBackend(simulator=self._simulator))",
            _INVENTED.format(evidence=evidence),
        ),
    )


def _fault(name: str, what: str, place: str, edits: tuple[Edit, ...], at: str, *, quick: bool = False) -> Fault:
    return Fault(name, what, BITS, _REFUSED, (place,), edits, at=at, kind="harness", nightly=not quick)


FAULTS = (
    _fault(
        "fake-rtl",
        "engine rtl hands on iss's results with invented cycles",
        r"rtl did not run: has the name of hardware [(]rtl[)] and the evidence of a model: no simulation was launched for it",
        _engine("Evidence()"),
        "the evidence of engine rtl",
        quick=True,
    ),
    _fault(
        "fake-rtl-evidence",
        "the same, with evidence that it made up",
        r"rtl did not run: states a job with nonce 0123456789abcdef, which the launcher has not issued",
        _engine('Evidence("bench", (JobEvidence(1, "0123456789abcdef", "0" * 64, len(trace.commits), "0" * 64, 300, 1),))'),
        "the evidence of engine rtl",
    ),
    _fault(
        "fake-rtl-claim",
        "the same, with a simulation that it claims and that has no job",
        r"rtl did not run: claims a simulation, and none of its jobs is in its evidence",
        _engine('Evidence("bench")'),
        "the evidence of engine rtl",
    ),
    _fault(
        "cycles-scaled-records",
        "commit records: cycle classes are read 1.1 times as large, and the start is moved with them",
        r"the commit records that were read hash to \w+, the bench wrote \w+",
        (
            Edit("fleet/engines/rtl_sim/records.py", "name: int(n) for name, n", "name: int(n * 1.1) for name, n"),
            Edit(
                "fleet/engines/rtl_sim/records.py",
                'start=int(row["start"])',
                'start=int(row["end"]) - sum(int(n * 1.1) for n in row["cycles"])',
            ),
        ),
        "the commit records",
        quick=True,
    ),
    _fault(
        "cycles-scaled-commits",
        "the trace's commits have cycle classes 1.1 times as large as their records",
        r"rtl did not run: commit 0 [(]mvm_bn[)]: its trace says cycles of class \w+ \d+, its simulation wrote \d+",
        (
            Edit(
                "fleet/engines/rtl_sim/segment.py",
                "cycles=record.cycles",
                "cycles={k: int(n * 1.1) for k, n in record.cycles.items()}",
            ),
            Edit(
                "fleet/engines/rtl_sim/segment.py",
                "counted = sum(record.cycles.values())\n        return Commit(",
                "counted = sum(int(n * 1.1) for n in record.cycles.values())\n        return Commit(",
            ),
        ),
        "instruction 0 mvm_bn",
    ),
    _fault(
        "cycles-scaled-total",
        "the run's cycles are 1.1 times those of its jobs",
        r"rtl did not run: counts [\d,]+ cycles, its simulation [\d,]+",
        (Edit("fleet/engines/rtl.py", 'add("cycles", status.cycles)', 'add("cycles", int(status.cycles * 1.1))'),),
        "the cycles of engine rtl",
    ),
    Fault(
        "cycles-scaled-design",
        "the design's counters of cycles run an eighth too fast",
        vgemm_faults.streams("finish/directed/1"),
        "FAIL vgemm_small/finish/directed/1",
        (r"rtl, instruction \d+ .*the classes of cycles sum to \d+, from start to commit the bench measured \d+ [(]commit \d+, ",),
        at="the first instruction that it shows on",
        kind="bench",
        nightly=True,
        choices=(
            Choice(
                "rtl_models/bench/fleet_bench.sv",
                "192'(commit_cycles)",
                "192'({commit_cycles[5:1], commit_cycles[0] + (commit_cycles[0] >> 3) + 32'd1})",
            ),
        ),
    ),
)
