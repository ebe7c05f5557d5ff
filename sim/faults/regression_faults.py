"""Faults in what the regression itself is made of: hashes, norms, waivers, the campaign of a session."""

from __future__ import annotations

from planting import Edit, Fault, by_test

FAULTS = (
    by_test(
        "hash-without-imports",
        "hash of an instruction set: what the semantics import is not in it",
        "tests/isa/test_closure.py",
        "test_the_closure_holds_what_makes_the_compiled_kernels",
        Edit("fleet/isa/closure.py", "imported = imports(member.read(), package)", "imported = ()"),
    ),
    by_test(
        "bits-of-16-bytes",
        "comparison: of two arrays only the first 16 bytes are compared",
        "tests/compare/test_compare.py",
        "test_any_bit_of_any_byte_is_compared",
        Edit("fleet/compare/traces.py", ".view(np.uint8)", ".view(np.uint8)[:16]"),
    ),
    by_test(
        "first-output-left-out",
        "comparison: the first output is not compared in its bits",
        "tests/compare/test_compare.py",
        "test_each_output_is_compared",
        Edit("fleet/compare/traces.py", "in reference.outputs.items():", "in list(reference.outputs.items())[1:]:"),
    ),
    by_test(
        "softmax-before-opset-13",
        "ONNX: a softmax of opset 11 or 12 goes over one axis instead of all from that axis on",
        "tests/frontend/onnx/test_onnx_drawn.py",
        "test_drawn_attributes_give_what_onnxruntime_gives",
        Edit("fleet/frontend/onnx/operators/normalisation.py", "if n.opset >= 13:", "if n.opset >= 11:"),
    ),
    by_test(
        "pads-not-counted",
        "ONNX: an average pool that counts its padding leaves out that at the end",
        "tests/frontend/onnx/test_onnx_drawn.py",
        "test_drawn_attributes_give_what_onnxruntime_gives",
        Edit("fleet/frontend/onnx/operators/pooling.py", "counted &= i < size + a + b", "counted &= i < size + a"),
    ),
    Fault(
        "bounds-a-thousand-times",
        "tolerance: every bound is a thousand times as wide",
        ("fleet.cli.main", "case", "run", "digits", "--only", "hbm_small-ideal-0"),
        "bounds are wider than their norms",
        (r"golden/digits/norms\.toml: \d+ of \d+ bounds are wider than their norms; most: [\w-]+, \S+",),
        (
            Edit(
                "fleet/compare/bounds/tolerance.py",
                "    return Bound(array, candidates, rule)\n",
                "    return Bound(1000 * array, candidates, rule)\n",
            ),
        ),
        at="norms, an operation's bound",
        kind="harness",
    ),
    Fault(
        "memory-latency",
        "memory: the memory of fixed latency answers after 256 cycles instead of 64",
        ("fleet.cli.main", "case", "run", "digits", "--only", "hbm_small-fixed-0"),
        "norms: golden/digits/norms.toml: rtl took",
        (r"rtl took [\d,]+ cycles, the norm is [\d,]+ \(\d\.\d+ times as many\)",),
        (Edit("fleet/engines/rtl.py", "_FIXED_LATENCY = 64", "_FIXED_LATENCY = 256"),),
        at="norms, cycles of rtl",
        kind="memory",
    ),
    by_test(
        "content-without-constants",
        "identity: fleet's own code is not in the content",
        "tests/cosim/test_run_identity.py",
        "test_documentation_changes_no_content_and_a_constant_of_the_memory_does",
        Edit(
            "fleet/cosim/identity.py", "return _files_hash([*software_members(*more), *_beside()])", "return _files_hash(_beside())"
        ),
        nightly=True,
    ),
    by_test(
        "waiver-of-no-comparison",
        "waivers: an exception to a comparison that nobody makes is accepted",
        "tests/regress/test_cases.py",
        "test_a_waiver_for_no_comparison_or_for_ever_is_refused",
        Edit("fleet/regress/waivers.py", "if w.comparison not in comparisons[w.case]:", "if not comparisons[w.case]:"),
    ),
    by_test(
        "waiver-for-ever",
        "waivers: an exception may hold until the year 9999",
        "tests/regress/test_cases.py",
        "test_a_waiver_for_no_comparison_or_for_ever_is_refused",
        Edit("fleet/core/exemption.py", "LONGEST = datetime.timedelta(days=366)", "LONGEST = datetime.timedelta(days=366 * 7900)"),
    ),
    by_test(
        "red-session-green-page",
        "campaign: a failing test beside the cases is not in it",
        "tests/regress/test_pytest_campaign.py",
        "test_what_is_red_in_the_session_is_red_in_the_campaign",
        Edit(
            "fleet/regress/pytest_campaign.py",
            "for nodeid, reports in self._reports.items() if nodeid not in elsewhere]",
            'for nodeid, reports in self._reports.items() if nodeid not in elsewhere and ".toml" in nodeid]',
        ),
        nightly=True,
    ),
    by_test(
        "junit-without-run",
        "JUnit: a test case does not name its run",
        "tests/regress/test_pytest_campaign.py",
        "test_everything_that_was_collected_is_a_row_of_its_kind",
        Edit(
            "fleet/report/run/junit.py",
            '(f"{run}: {kind}", f"{run}.{kind}") if run else (kind, kind)',
            "(kind, kind)",
        ),
        nightly=True,
    ),
    by_test(
        "gate-figure-gone",
        "gates: a figure that a run no longer measures cannot move",
        "tests/night/test_night_gates.py",
        "test_a_figure_that_is_gone_is_red_until_that_is_accepted",
        Edit("fleet/night/gates.py", "[*_coverage(record, before), *_gone(record, before)]", "_coverage(record, before)"),
        nightly=True,
    ),
    by_test(
        "gate-first-figures",
        "gates: an accepted figure holds nothing where no night was before",
        "tests/cli/test_night_command.py",
        "test_the_first_figures_hold_in_a_checkout_without_nights",
        Edit(
            "fleet/night/gates.py",
            "then = accepted[figure].value if figure in accepted else None if before is None",
            "then = None if before is None",
        ),
        nightly=True,
    ),
    by_test(
        "gate-own-night",
        "history: a night that is collected again is compared with itself",
        "tests/night/test_night_gates.py",
        "test_a_night_that_is_collected_again_is_not_compared_with_itself",
        Edit("fleet/night/history.py", "WHERE night < ? AND outcome = ", "WHERE night <= ? AND outcome = "),
        nightly=True,
    ),
    by_test(
        "night-compare-gone",
        "comparison of nights: only figures that both sides have are looked at",
        "tests/night/test_night_causes.py",
        "test_figures_that_are_gone_are_worse",
        Edit("fleet/night/compare.py", "for n in x if n not in y and", "for n in () if n not in y and"),
        nightly=True,
    ),
    by_test(
        "lockstep-uncounted",
        "adopted hardware: events that nobody compared are not counted",
        "tests/adopt/test_lockstep.py",
        "test_events_that_no_job_names_and_words_that_no_job_gives_are_counted",
        Edit("fleet/adopt/lockstep/judge.py", "sum(e.rule == n for e in self._events.commits)", "0"),
        nightly=True,
    ),
    by_test(
        "headline-lost-sign",
        "report: the accuracy that is lost is shown as won",
        "tests/report/test_shown_figures.py",
        "test_the_figures_are_those_of_the_result",
        Edit("fleet/report/run/headline.py", "lost=lossy.lost if lossy else None", "lost=-(lossy.lost or 0.0) if lossy else None"),
        nightly=True,
    ),
)
