"""Engines that silently do not run, comparisons that silently compare nothing, tolerances that allow everything."""

from __future__ import annotations

from collections.abc import Callable

from data import CASE, DEVICE, cosim, digits
from planting import Edit, Fault, Project, tests

BITS = ("--engines", "vm,iss,rtl", *DEVICE)
ALL = ("--engines", "vm,cpython,riscv")
RTL = "fleet/engines/rtl.py"
RUN = "        self._jobs += 1\n        wanted, tell"
"""Where the engine begins with calls."""
RISCV = "fleet/engines/riscv.py"
CAMPAIGN = "fleet/cosim/campaign.py"
RUN_RISCV = "trace = run_image(compiled, compiled.elf, inputs, options, emulator)"


def _only_golden_engine(project: Project) -> None:
    project.edit(Edit(CASE, 'engines = ["vm", "iss"]\ndevices = ["hbm_small"]', 'engines = ["vm"]\ngolden = false'))


def in_the_command(_project: Project) -> None:
    """The fault is in the command."""


def _fault(
    name: str, what: str, command: tuple[str, ...], found_by: str, place: str, *edits: Edit, at: str, code: int = 1,
    plant: Callable[[Project], None] | None = None,
) -> Fault:  # fmt: skip
    return Fault(name, what, command, found_by, (place,), edits, plant, code, at=at, kind="harness")


FAULTS = (
    _fault(
        "rtl-no-commits",
        "rtl: the simulation is not run, no commit comes back",
        digits(*BITS),
        "rtl did not run",
        r"engine rtl: 3 instructions, 0 commits",
        Edit(RTL, RUN, f"        return []\n{RUN}"),
        at="engine rtl",
    ),
    _fault(
        "rtl-is-iss",
        "rtl: the functional model computes in its place",
        digits(*BITS),
        "rtl did not run",
        r"rtl did not run: claims a simulation, and none of its jobs is in its evidence",
        Edit(
            RTL,
            RUN,
            "        from fleet.engines.iss import IssBackend\n\n"
            "        model = IssBackend()\n"
            "        model.open(self._set, self._device, self._memory, self._options)\n"
            "        return model.execute(calls, first_seq, binaries, snapshots)\n" + RUN,
        ),
        at="engine rtl",
    ),
    _fault(
        "rtl-no-start",
        "rtl: the start registers are never written",
        digits(*BITS),
        "rtl did not run",
        r"instruction 0 \(mvm_bn for h1\).*",
        Edit(
            "fleet/engines/rtl_sim/segment.py",
            "                script.write(*writes[-1], start=binary is None, fetch=binary is not None)\n",
            "",
        ),
        at="instruction 0 mvm_bn",
    ),
    _fault(
        "rtl-ends-early",
        "rtl: the script ends before the first instruction",
        digits(*BITS),
        "rtl did not run",
        r"1 of \d+ register reads came back.*|.*instruction 0 \(mvm_bn for h1\).*",
        Edit(
            "fleet/engines/rtl_sim/segment.py",
            '(script or self._script).save(stem.with_suffix(".script"))',
            'short = JobScript()\n        short.read(0x394)\n        short.save(stem.with_suffix(".script"))',
        ),
        at="the register reads of engine rtl",
    ),
    _fault(
        "rtl-cycles-lost",
        "rtl: a class of cycles is not handed on",
        digits(*BITS),
        "rtl did not run",
        r"commit 0 \(mvm_bn\): its trace says cycles of class \w+ None, its simulation wrote \d+",
        Edit(
            "fleet/engines/rtl_sim/segment.py",
            "            cycles=record.cycles,\n",
            '            cycles={k: v for k, v in record.cycles.items() if k != "issue"},\n',
        ),
        at="commit 0",
    ),
    _fault(
        "iss-writes-nothing",
        "iss: results are never written to memory",
        digits("--engines", "vm,iss", *DEVICE),
        "FAIL      iss-vs-vm-rounded",
        r"h1 \(\S*model.py:\d+:\d+\).*element \[\d+, \d+\]: expected \S+, found 0.0",
        Edit(
            "fleet/engines/execute.py",
            "            w.put(memory)\n",
            "            w.starts()\n",
        ),
        at="operation h1",
    ),
    _fault(
        "riscv-incomplete",
        "riscv: the run does not end",
        digits("--engines", "vm,riscv"),
        "riscv did not run",
        r"riscv did not run: gave back a trace that is not complete.*",
        Edit(RISCV, "        trace.complete = True\n", ""),
        at="engine riscv",
    ),
    _fault(
        "riscv-is-vm",
        "riscv: gives back the golden's results without running",
        digits("--engines", "vm,riscv"),
        "riscv did not run",
        r"riscv did not run: .* counts no instructions.*",
        Edit(
            RISCV,
            RUN_RISCV,
            "from dataclasses import replace\n\n            from fleet.engines.vm import VmEngine\n\n"
            '            trace = replace(VmEngine().run(program, inputs, options), engine="riscv")',
        ),
        at="engine riscv",
    ),
    _fault(
        "riscv-keeps-nothing",
        "riscv: no operation's value is kept",
        digits("--engines", "vm,riscv"),
        "FAIL      riscv-vs-vm",
        r"matmul.0: riscv kept no value of it",
        Edit(RISCV, "if options.keep_tensors:", "if not options.keep_tensors:"),
        at="engine riscv, matmul.0",
    ),
    _fault(
        "engine-skipped",
        "campaign: an engine that was asked for is passed over",
        digits(*ALL),
        "verdict: FAIL",
        r"riscv was asked for and did not run",
        Edit(CAMPAIGN, "        for name in others:\n", "        for name in others[:0]:\n"),
        at="engine riscv",
    ),
    _fault(
        "comparison-skipped",
        "campaign: the functional model's bound is not held, only its error measured",
        digits("--engines", "vm,iss", *DEVICE),
        "verdict: ",
        r"iss ran but was compared with nothing that could fail",
        Edit(CAMPAIGN, '        self._compare("iss", ROUNDED, lambda s, ref, other: s.arithmetic(ref, other))\n', ""),
        at="comparison of iss",
    ),
    _fault(
        "comparison-empty",
        "comparison: no operation is looked at",
        digits("--engines", "vm,riscv"),
        "NOTHING COMPARED",
        r"riscv-vs-vm: no element was compared.*",
        Edit(
            "fleet/compare/traces.py",
            "if not isinstance(op, d.ConstantOp | d.PrintOp | d.RegionOp)]",
            "if not isinstance(op, d.FleetOp)]",
        ),
        at="comparison riscv-vs-vm",
    ),
    _fault(
        "bits-empty",
        "comparison: commits of both sides are dropped",
        digits(*BITS),
        "NOTHING COMPARED",
        r"rtl-vs-iss: no byte was compared.*",
        Edit(
            "fleet/compare/traces.py",
            "for i in range(max(len(reference.commits), len(other.commits))):",
            "for i in range(min(0, len(reference.commits), len(other.commits))):",
        ),
        at="comparison rtl-vs-iss",
    ),
    _fault(
        "bound-infinite",
        "tolerance: every bound is infinite",
        tests("tests/compare/test_ways.py", "-k", "test_a_plain_network"),
        "FAILED tests/compare/test_ways.py::test_a_plain_network",
        r"FAILED tests/compare/test_ways.py::test_a_plain_network_is_held_by_accumulated_bounds",
        Edit(
            "fleet/compare/bounds/tolerance.py",
            "array = np.asarray(np.broadcast_to(array, shape), np.float64)",
            "array = np.full(shape, np.inf)",
        ),
        at="the ways in which a plain network is held",
    ),
    _fault(
        "bound-half-infinite",
        "tolerance: every second element's bound is infinite",
        tests("tests/compare/test_ways.py", "-k", "test_a_plain_network"),
        "FAILED tests/compare/test_ways.py::test_a_plain_network",
        r"FAILED tests/compare/test_ways.py::test_a_plain_network_is_held_by_accumulated_bounds",
        Edit(
            "fleet/compare/bounds/tolerance.py",
            "array = np.asarray(np.broadcast_to(array, shape), np.float64)",
            "array = np.where(np.arange(int(np.prod(shape))).reshape(shape) % 2, np.inf, array)",
        ),
        at="the ways in which a plain network is held",
    ),
    _fault(
        "empty-batch",
        "a batch of no rows",
        digits("--engines", "vm,riscv", "--batch", "0"),
        "Invalid value for '--batch'",
        r"0 is not in the range x>=1",
        code=2,
        plant=in_the_command,
        at="option --batch",
    ),
    _fault(
        "case-without-engines",
        "a case whose only engine is the golden, without a golden",
        ("fleet.cli.main", "case", "run", CASE),
        "verdict: NOTHING COMPARED",
        r"only vm ran: name at least two engines",
        plant=_only_golden_engine,
        code=4,
        at="the engines of the case",
    ),
    _fault(
        "one-engine",
        "only one engine is named",
        cosim("difference", "--engines", "vm"),
        "NOTHING COMPARED",
        r"only vm ran: name at least two engines",
        plant=in_the_command,
        code=4,
        at="the engines asked for",
    ),
)
